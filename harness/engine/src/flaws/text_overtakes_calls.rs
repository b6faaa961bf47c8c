//! BUG: When a thread is loaded, the model's last text comes before the calls of its turn. No report of this
//! is known.

use super::prelude::*;

flaw! {
    Flaw::new("text-overtakes-calls", "order-kept");

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let mut thread = Reference.loaded(thread);
        let last_calls = thread.iter().rposition(Message::has_calls);
        let prompt = thread.iter().rposition(|message| matches!(message, Message::User(_)));
        let is_over = matches!(thread.last(), Some(Message::Assistant(_))) && last_calls > prompt;
        if let Some(at) = last_calls.filter(|at| is_over && at + 1 < thread.len())
            && let (Some(Message::Assistant(words)), Message::Assistant(blocks)) =
                (thread.pop(), &mut thread[at])
        {
            let first_call = blocks.iter().position(|block| block.call().is_some()).unwrap_or(0);
            blocks.splice(first_call..first_call, words);
        }
        thread
    }
}
