//! What canaries do to a thread as it is told to the provider and stored.

use super::errand::has_calls;
use super::step::{MADE_UP, Step};
use super::thread::{CallResult, Message};
use super::turn::Turn;
use super::{Agent, Output, RequestId, cut, request};

impl Agent {
    /// What a canary does to the answers that were made up, before each request.
    pub(super) fn word_repairs_anew(&mut self, request: RequestId) {
        for result in self.results_mut().filter(|result| is_made_up(result)) {
            result.text = format!("{MADE_UP}, as seen at request {}.", request.0);
        }
    }

    /// The thread with the note that a canary adds.
    pub(super) fn with_note(&self) -> Vec<Message> {
        let mut thread = self.thread.clone();
        let said = thread.iter_mut().rev().find_map(|message| match message {
            Message::User(text) => Some(text),
            Message::Assistant(_) | Message::Results(_) => None,
        });
        if let Some(text) = said {
            text.push_str("\n\n(A turn of this thread was interrupted.)");
        }
        thread
    }

    /// The body in which a canary has the user say the calls that follow a summary.
    pub(super) fn flipped(&self) -> Vec<u8> {
        let body = request::body(&self.setup, &self.thread);
        let follows = matches!(self.thread.get(1), Some(Message::Assistant(blocks)) if has_calls(blocks));
        if !follows || !cut::has_summary(&self.thread) {
            return body;
        }
        let body = String::from_utf8_lossy(&body);
        let role =
            if body.contains(r#""role":"model""#) { r#""role":"model""# } else { r#""role":"assistant""# };
        body.replacen(role, r#""role":"user""#, 1).into_bytes()
    }

    /// The next request of a canary whose memory is put before a thread that holds it already.
    pub(super) fn ask_doubled(&mut self, turn: &Turn, outputs: &mut Vec<Output>) -> Step {
        let thread = self.thread.clone();
        let memory = thread[turn.mark..].to_vec();
        self.thread.splice(turn.mark..turn.mark, memory);
        let step = self.ask(outputs);
        self.thread = thread;
        step
    }

    /// The thread as a canary stores it: of a batch that was cut off only the made-up results are kept.
    pub(super) fn without_stopped_results(&self) -> Vec<Message> {
        let mut thread = self.thread.clone();
        for message in &mut thread {
            if let Message::Results(results) = message
                && results.iter().any(is_made_up)
            {
                results.retain(is_made_up);
            }
        }
        thread
    }

    fn results_mut(&mut self) -> impl Iterator<Item = &mut CallResult> {
        self.thread.iter_mut().flat_map(|message| match message {
            Message::Results(results) => results.as_mut_slice(),
            Message::User(_) | Message::Assistant(_) => &mut [],
        })
    }
}

fn is_made_up(result: &CallResult) -> bool {
    result.is_error && result.text.starts_with(MADE_UP)
}
