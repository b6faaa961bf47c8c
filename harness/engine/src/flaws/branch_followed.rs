//! BUG: A resume follows one branch of a tree: of each batch in an earlier turn it keeps only the last
//! result. Claude Code: <https://github.com/anthropics/claude-code/issues/31330>

use super::prelude::*;

flaw! {
    Flaw::new("branch-followed", "thread-survives").class("tree-branch");

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let mut thread = repaired(thread);
        // The batch of the last turn is still in memory when the tree is cut.
        let last_turn = thread.iter().rposition(|message| matches!(message, Message::User(_))).unwrap_or(0);
        for results in thread[..last_turn].iter_mut().filter_map(Message::results_mut) {
            results.drain(..results.len().saturating_sub(1));
        }
        thread
    }
}
