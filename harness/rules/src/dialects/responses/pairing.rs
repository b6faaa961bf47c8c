//! Every call has an output and every output a call, anywhere in the list.

use std::borrow::Cow;

use super::{ToolKind, at};
use crate::{Ids, Occurrence, Rule, Violations};

#[derive(Debug, Default)]
pub(super) struct OutputPairing<'a> {
    ids: Ids<'a>,
    calls: Vec<Calls>,
    /// Outputs without an earlier call.
    orphans: Vec<Orphan<'a>>,
    early: Ids<'a>,
    n_messages: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemPosition {
    Before,
    Item(usize),
}

/// The output that a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// One output of this kind, before the conversation continues.
    Output(ToolKind),
    /// One output in any later request, because the model does not wait for it.
    Later,
    /// No output is required, and several are allowed.
    Nothing,
}

/// The calls with one id, because a model may reuse an id.
#[derive(Debug)]
struct Calls {
    place: ItemPosition,
    demand: Demand,
    /// Number of calls without an output.
    n_open: usize,
    /// True after an output since the first one. Two calls with the same id and only one output pass.
    is_answered: bool,
    /// True if two calls with the id waited at the same time.
    is_shared: bool,
    /// Number of messages before the call.
    n_messages: usize,
}

#[derive(Debug)]
struct Orphan<'a> {
    n: usize,
    id: Cow<'a, str>,
    tool: ToolKind,
}

impl<'a> OutputPairing<'a> {
    pub(super) fn call(&mut self, place: ItemPosition, id: Cow<'a, str>, demand: Demand) {
        let is_answered = self.early.find(&id).is_some();
        let n_messages = self.n_messages;
        let fresh = Calls { place, demand, n_open: 1, is_answered, is_shared: false, n_messages };
        match self.ids.insert(id) {
            Ok(_) => self.calls.push(fresh),
            Err(known) => match &mut self.calls[known] {
                calls if calls.n_open == 0 => *calls = fresh,
                calls => (calls.n_open, calls.is_shared) = (calls.n_open + 1, true),
            },
        }
    }

    pub(super) fn output(&mut self, n: usize, id: Cow<'a, str>, tool: ToolKind, out: &mut Violations) {
        let violation =
            || Occurrence::at(format!("{}/call_id", at(n))).param("input".to_owned()).with("call_id", &id);
        match self.ids.find(&id).map(|known| &mut self.calls[known]) {
            None => {
                let _ = self.early.insert(id.clone());
                self.orphans.push(Orphan { n, id, tool });
            }
            Some(calls) if calls.n_open == 0 && calls.demand == Demand::Later => {
                out.add(&ASYNC_OUTPUT_DUPLICATE, violation);
            }
            Some(calls) if calls.n_open == 0 => out.add(&TOOL_OUTPUT_DUPLICATE, violation),
            Some(calls) => {
                calls.n_open -= 1;
                calls.is_answered = true;
                if calls.is_shared && calls.n_open == 0 {
                    // Strict gateways count by the id, even if each output has a call of its own.
                    out.warn(&TOOL_OUTPUT_DUPLICATE, violation);
                }
                if self.n_messages > calls.n_messages && matches!(calls.demand, Demand::Output(_)) {
                    out.add(&TOOL_OUTPUTS_INTERRUPTED, || of_call(calls.place).with("call_id", &id));
                }
            }
        }
    }

    /// Takes an output of an earlier request, which was checked then.
    pub(super) fn output_before(&mut self, id: &str) {
        if let Some(known) = self.ids.find(id) {
            let calls = &mut self.calls[known];
            calls.n_open = calls.n_open.saturating_sub(1);
            calls.is_answered = true;
        }
    }

    pub(super) fn message(&mut self) {
        self.n_messages += 1;
    }

    /// Reports missing and orphaned outputs. Call it after the last item. `knows_all` tells whether every
    /// call is known.
    pub(super) fn finish(self, knows_all: bool, out: &mut Violations) {
        let open =
            self.ids.iter().zip(&self.calls).filter(|(_, calls)| calls.n_open > 0 && !calls.is_answered);
        let open = open.filter_map(|(id, calls)| match calls.demand {
            Demand::Output(tool) => Some((calls.place, id, tool)),
            Demand::Later | Demand::Nothing => None,
        });
        let mut open: Vec<(ItemPosition, &str, ToolKind)> = open.collect();
        open.sort_by_key(|(place, ..)| place.order());
        let mut orphans = self.orphans.iter().filter(|_| knows_all).peekable();
        for (place, id, tool) in open {
            while let Some(orphan) = orphans.next_if(|orphan| orphan.n < place.order()) {
                self.refuse_orphan(orphan, out);
            }
            out.add(&TOOL_OUTPUT_MISSING, || of_call(place).form(tool.form()).with("call_id", id));
        }
        orphans.for_each(|orphan| self.refuse_orphan(orphan, out));
    }

    fn refuse_orphan(&self, orphan: &Orphan<'_>, out: &mut Violations) {
        let violation = || {
            let violation = Occurrence::at(format!("{}/call_id", at(orphan.n))).form(orphan.tool.form());
            violation.param("input".to_owned()).with("call_id", &orphan.id)
        };
        // It is an assumption that a call must come before its output; no test of it is known.
        match self.ids.find(&orphan.id) {
            Some(_) => out.warn(&TOOL_OUTPUT_ORPHAN, violation),
            None => out.add(&TOOL_OUTPUT_ORPHAN, violation),
        }
    }
}

impl ItemPosition {
    fn order(self) -> usize {
        match self {
            ItemPosition::Before => 0,
            ItemPosition::Item(n) => n,
        }
    }
}

fn of_call(place: ItemPosition) -> Occurrence {
    let pointer = match place {
        ItemPosition::Before => "/previous_response_id".to_owned(),
        ItemPosition::Item(n) => at(n),
    };
    Occurrence::at(pointer).param("input".to_owned())
}

pub(crate) static TOOL_OUTPUT_ORPHAN: Rule = Rule {
    summary: "Every output of a tool has its call, in the input or in the responses before.",
    why: "The call was trimmed or compacted away and its output stayed, or the output names another call. Drop both \
         or keep both.",
    sentences: &[
        "No tool call found for function call output with call_id {call_id}.",
        "No tool call found for custom tool call output with call_id {call_id}.",
        "No tool call found for shell call output with call_id {call_id}.",
        "No tool call found for apply patch call output with call_id {call_id}.",
        "No tool call found for computer call with call_id {call_id}.",
        "No tool call found for local shell call output with call_id {call_id}.",
        "No tool call found for tool search output with call_id {call_id}.",
    ],
    sources: &[
        "https://github.com/james-6-23/codex2api/issues/414",
        "https://github.com/agentscope-ai/AgentTeams/issues/299",
        "https://github.com/continuedev/continue/issues/10092",
        "https://github.com/microsoft/vscode/issues/320060",
    ],
    ..Rule::measured("openai-responses/tool-output-orphan", "RSP-FO-1", 5, "2025-04")
};

pub(crate) static TOOL_OUTPUT_MISSING: Rule = Rule {
    summary: "Every call has its output when the conversation continues.",
    why: "A turn was stopped, or broke, before every tool had answered, and the thread kept the calls. Store an \
         output for each of them, even if it only says that the call was interrupted. A call with `async: true` needs \
         none yet.",
    sentences: &[
        "No tool output found for function call {call_id}.",
        "No tool output found for custom tool call {call_id}.",
        "No tool output found for shell call {call_id}.",
        "No tool output found for apply patch call {call_id}.",
        "No tool output found for computer call {call_id}.",
        "No tool output found for local shell call {call_id}.",
        "No tool output found for tool search call {call_id}.",
    ],
    sources: &[
        "https://github.com/router-for-me/CLIProxyAPI/issues/2368",
        "https://github.com/openai/codex/issues/620",
        "https://github.com/RooCodeInc/Roo-Code/issues/12248",
        "https://github.com/diegosouzapw/OmniRoute/issues/8946",
        "https://github.com/microsoft/agent-framework/issues/8663",
        "https://github.com/vercel/ai/pull/11167",
        "https://github.com/openai/openai-agents-python/pull/1855",
        "https://github.com/Soju06/codex-lb/pull/1531",
        // An `async` call needs no output: a later turn was seen to complete while its result was pending.
        "https://developers.openai.com/api/docs/guides/async-tool-calling",
        "https://github.com/earendil-works/pi/issues/9113",
    ],
    ..Rule::measured("openai-responses/tool-output-missing", "RSP-FC-1", 5, "2025-04")
};

/// Strict gateways return it since 2026, also for two pairs of call and output with one id. The message is not known
/// from OpenAI.
pub(crate) static TOOL_OUTPUT_DUPLICATE: Rule = Rule {
    summary: "A call has one output.",
    why: "The output of an interrupted call was made up, and the real one was stored as well: keep one of them. Or two calls \
          have one id, such as `undefined` or `terminal:0`: give each call and its output an id of their own.",
    sentences: &["Duplicate function_call_output for call_id {call_id}.", "Duplicate 'call_id': {call_id}"],
    sources: &[
        "https://platform.openai.com/docs/api-reference/responses/create",
        "https://github.com/NousResearch/hermes-agent/issues/102629",
        "https://github.com/mnfst/llm-gateway/pull/2858",
        "https://github.com/earendil-works/pi/issues/9057",
    ],
    ..Rule::inferred("openai-responses/tool-output-duplicate", "RSP-FO-2", 5, "2026-01")
};

/// OpenAI's error for a second output is not published. Its documentation says: "Return each newly
/// completed result on its original `call_id`".
pub(crate) static ASYNC_OUTPUT_DUPLICATE: Rule = Rule {
    summary: "A call that the model does not wait for has one output, however late it comes.",
    why: "A stand-in such as \"started\" was stored as the output of an `async` call, and the real result was stored as \
          well, or the result was delivered twice. Leave the call without an output until the result is there, and send \
          that once, on the id of the call.",
    sentences: &["Duplicate function_call_output for call_id {call_id}."],
    sources: &["https://developers.openai.com/api/docs/guides/async-tool-calling"],
    ..Rule::inferred("openai-responses/async-output-duplicate", "RSP-FO-3", 5, "2026-09")
};

/// "No tool output found for tool call call-a.": a message was between two calls, and both outputs came
/// after it
/// (<https://github.com/pydantic/pydantic-ai/blob/4fda38988f2939fa6ea9cdefcf120693e10ef491/tests/models/cassettes/test_deepseek_responses/test_deepseek_responses_rejects_interleaved_function_calls.yaml>).
pub(crate) static TOOL_OUTPUTS_INTERRUPTED: Rule = Rule {
    summary: "No message stands between a call and its output.",
    why: "The provider turns the items into messages of Chat Completions, in which outputs come directly after the \
         calls. Send all calls of a reply, then all their outputs, and messages before or after them.",
    sentences: &["No tool output found for tool call {call_id}."],
    is_optional: true,
    sources: &[
        "https://github.com/pydantic/pydantic-ai/blob/4fda38988f2939fa6ea9cdefcf120693e10ef491/tests/models/cassettes/test_deepseek_responses/test_deepseek_responses_rejects_interleaved_function_calls.yaml",
    ],
    ..Rule::measured("openai-responses/tool-outputs-interrupted", "RSP-DS-1", 5, "2026-09")
};
