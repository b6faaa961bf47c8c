//! Cuts of a thread: where it may be cut, and which part stays.
//!
//! A call is never separated from its result. The thread begins with the user or a summary, and the user's
//! messages of a running turn stay. Cutting a cut thread again does not change it.

use std::fmt::Write;

use super::server_tools::without_orphans;
use super::thread::{Block, Message, ServerBlock};

/// The beginning of every summary.
const SUMMARY: &str = "Summary of the conversation so far: ";

/// The messages of a step: the calls and their results. They stay while a turn runs, because the model has
/// not seen them.
pub(super) const STEP: usize = 2;

/// The start of roughly the last `keep` messages: results are not separated from their calls.
pub(crate) fn start(thread: &[Message], keep: usize) -> usize {
    let start = thread.len().saturating_sub(keep);
    match thread.get(start) {
        Some(Message::Results(_)) => start.saturating_sub(1),
        _ => start,
    }
}

/// The part that stays when a thread is trimmed. It begins with a user message, if necessary the last one.
pub(crate) fn trimmed(thread: &[Message], keep: usize) -> Vec<Message> {
    let kept = &thread[start(thread, keep)..];
    let mut trimmed: Vec<Message> = match kept.iter().position(is_user) {
        Some(first) => kept[first..].to_vec(),
        None => last_prompt(thread).into_iter().chain(kept).cloned().collect(),
    };
    without_orphans(&mut trimmed);
    trimmed
}

/// A summary that replaces the beginning of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary<'a> {
    /// The number of messages that stay.
    pub(crate) keep: usize,
    /// The text of the summary.
    pub(crate) text: &'a str,
    /// True if a turn is running.
    pub(crate) is_turn_running: bool,
}

/// The thread with its beginning replaced by a summary. The user's messages of a running turn stay.
pub(crate) fn summarised(thread: &[Message], by: Summary<'_>) -> Vec<Message> {
    let kept = &thread[start(thread, by.keep)..];
    let summary = summary(by.text);
    let prompt = last_prompt(thread).filter(|_| by.is_turn_running && !kept.iter().any(is_user));
    let mut summarised: Vec<Message> = std::iter::once(&summary).chain(prompt).chain(kept).cloned().collect();
    without_orphans(&mut summarised);
    summarised
}

/// The message that contains a summary.
pub(crate) fn summary(text: &str) -> Message {
    Message::User(format!("{SUMMARY}{text}"))
}

/// The thread without the user's last `prompts` messages and everything after the first of these.
pub(crate) fn rewound(thread: &[Message], prompts: usize) -> &[Message] {
    let mut said = thread.iter().enumerate().rev().filter(|(_, message)| is_user(message));
    match prompts.checked_sub(1).and_then(|others| said.nth(others)) {
        Some((at, _)) => &thread[..at],
        None => thread,
    }
}

/// True if the thread begins with a summary.
pub(crate) fn has_summary(thread: &[Message]) -> bool {
    matches!(thread.first(), Some(Message::User(text)) if text.starts_with(SUMMARY))
}

/// The index of the user's last message, or the length of the thread if there is none.
fn last_prompt_at(thread: &[Message]) -> usize {
    thread.iter().rposition(is_user).unwrap_or(thread.len())
}

/// The user's first message of a turn, given the length of the thread before it. The user may have said more
/// since.
pub(crate) fn prompt_from(thread: &[Message], mark: usize) -> Option<Message> {
    thread.get(mark..)?.iter().find(|message| is_user(message)).cloned()
}

/// Inserts the prompt of a running turn at this index again, if a cut has removed it.
pub(crate) fn keep_prompt(thread: &mut Vec<Message>, at: usize, prompt: Option<&Message>) {
    if let Some(prompt) = prompt.filter(|prompt| !thread.contains(prompt)) {
        thread.insert(at.min(thread.len()), prompt.clone());
    }
}

/// The index of the running turn's prompt, or the length of the thread if the prompt is not in it.
pub(crate) fn place_of(thread: &[Message], prompt: Option<&Message>) -> usize {
    thread.iter().rposition(|message| Some(message) == prompt).unwrap_or(thread.len())
}

/// The number of bytes kept at the beginning and at the end of a long result.
const CUT: usize = 100;

/// Cuts the middle out of long results. Returns whether there were any.
pub(crate) fn cut_results(thread: &mut [Message]) -> bool {
    let mut is_cut = false;
    for result in thread.iter_mut().filter_map(Message::results_mut).flatten() {
        let text = &result.text;
        let (head, tail) =
            (text.floor_char_boundary(CUT), text.ceil_char_boundary(text.len().saturating_sub(CUT)));
        if head < tail {
            result.text = format!("{} [too long, cut] {}", &text[..head], &text[tail..]);
            is_cut = true;
        }
    }
    is_cut
}

/// The thread as one text, for requests about it. Rules about calls and results do not apply to text, so
/// faults in the thread do no harm.
pub(crate) fn transcript(thread: &[Message]) -> String {
    let mut text = String::new();
    for message in thread {
        // Writing to a string cannot fail.
        let _ = match message {
            Message::User(said) => writeln!(text, "User: {said}"),
            Message::Assistant(blocks) => blocks.iter().try_for_each(|block| match block {
                Block::Thought(_) | Block::Server(ServerBlock::Result { .. }) => Ok(()),
                Block::Server(ServerBlock::Call { tool, args, .. }) => {
                    writeln!(text, "The provider runs {tool} with {args}")
                }
                Block::Text(said) => writeln!(text, "Assistant: {said}"),
                Block::Call(call) => writeln!(text, "Assistant calls {} with {}", call.tool, call.args),
            }),
            Message::Results(results) => {
                results.iter().try_for_each(|result| writeln!(text, "Result: {}", result.text))
            }
        };
    }
    text
}

fn last_prompt(thread: &[Message]) -> Option<&Message> {
    thread.get(last_prompt_at(thread))
}

fn is_user(message: &Message) -> bool {
    matches!(message, Message::User(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::thread::{Call, CallResult};

    fn thread() -> Vec<Message> {
        let call = |id: &str| {
            let (tool, args) = ("lookup".to_owned(), "{}".to_owned());
            Message::Assistant(vec![Block::Call(Call::new(id, tool, args))])
        };
        let result = |id: &str| {
            let (call_id, text) = (id.to_owned(), "found".to_owned());
            Message::Results(vec![CallResult::text(call_id, text, false)])
        };
        let said = |text: &str| Message::User(text.to_owned());
        let spoken = |text: &str| Message::Assistant(vec![Block::Text(text.to_owned())]);
        vec![
            said("one"),
            call("a"),
            result("a"),
            spoken("found"),
            said("two"),
            call("b"),
            result("b"),
            call("c"),
            result("c"),
        ]
    }

    #[test]
    fn every_cut_thread_begins_with_the_user_and_keeps_results_with_calls() {
        for length in 1..=thread().len() {
            let whole = &thread()[..length];
            for keep in 0..=length {
                let summary = Summary { keep, text: "short", is_turn_running: true };
                let (trimmed, summarised) = (trimmed(whole, keep), summarised(whole, summary));
                for kept in [&trimmed, &summarised] {
                    assert!(is_user(&kept[0]), "{length} {keep}: {kept:?}");
                    let is_parted = |pair: &[Message]| {
                        matches!(pair[1], Message::Results(_)) && !matches!(pair[0], Message::Assistant(_))
                    };
                    assert!(!kept.windows(2).any(is_parted), "{length} {keep}: {kept:?}");
                    assert!(kept.contains(&whole[last_prompt_at(whole)]), "{length} {keep}: {kept:?}");
                }
                assert_eq!(super::trimmed(&trimmed, keep), trimmed, "{length} {keep}");
            }
        }
    }

    #[test]
    fn a_rewind_counts_prompts() {
        assert_eq!(rewound(&thread(), 1), &thread()[..4]);
        assert_eq!(rewound(&thread(), 2), &[]);
        assert_eq!(rewound(&thread(), 3), thread());
    }
}
