//! BUG: A call with an invalid tool name is taken for a part of the call before it. Neither of them runs, and the history
//! contains the arguments of both in one call. The AI SDK does this for an empty name over Chat Completions; no public
//! issue is known.

use super::prelude::*;

flaw! {
    Flaw::new("nameless-call-joined", "healthy-untouched").class("bad-tool-name")
        .not_on(&[Dialect::Gemini], "calls always have a name, and any name is accepted");

    fn starts_early(&self) -> bool {
        false
    }

    fn call_of_piece(&self, reply: &Step, index: u64) -> u64 {
        let calls: Vec<&StepCall> = reply.calls().collect();
        let at = calls.iter().position(|call| call.index == index && is_invalid(call));
        at.and_then(|at| calls.get(at.checked_sub(1)?)).map_or(index, |before| before.index)
    }

    fn takes_call(&self, reply: &Step, index: u64) -> bool {
        !reply.calls().any(|call| call.index == index && is_invalid(call))
    }

    fn invalid(&self, args: &mut String, problem: InvalidCall) -> Option<InvalidCall> {
        if problem != InvalidCall::NotJson {
            return Some(problem);
        }
        *args = serde_json::json!({ "raw": args }).to_string();
        Some(InvalidCall::SchemaMismatch)
    }
}

/// True if the name had to be changed: it begins with an underscore then.
fn is_invalid(call: &StepCall) -> bool {
    call.call.tool.starts_with('_')
}
