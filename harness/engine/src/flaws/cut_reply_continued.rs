//! BUG: Tools start when the reply is over, even if it ended without its terminal event. A report of this class:
//! <https://github.com/pydantic/pydantic-ai/issues/6610>

use super::prelude::*;

flaw! {
    Flaw::new("cut-reply-continued", "truncation-noticed").class("stream-break");

    fn starts_early(&self) -> bool {
        false
    }

    fn is_complete(&self, reply: &mut Step, has_terminal_event: bool) -> bool {
        let is_object = |args: &str| serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(args).is_ok();
        let whole = reply.calls().filter(|call| call.state == CallState::Open && is_object(&call.call.args));
        let whole: Vec<u64> = whole.map(|call| call.index).collect();
        // In some dialects only the stop reason ends a call.
        if !has_terminal_event {
            reply.put_off = whole;
        }
        reply.drop_incomplete_calls();
        has_terminal_event || !reply.put_off.is_empty()
    }
}
