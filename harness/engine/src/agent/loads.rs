//! What our agent makes of a thread that it loads, and what canaries make of it.
//!
//! Each canary here reads its store as a real one did: by a parent link, by a key that is not unique, by the order of
//! ids. Whoever loads a small thread of one turn sees nothing of it.

use super::canary::Canary;
use super::heal::healed;
use super::step::interrupted;
use super::thread::{Block, CallResult, Message};

/// The thread that an agent goes on with.
pub(super) fn loaded(thread: Vec<Message>, canary: Option<Canary>) -> Vec<Message> {
    match canary {
        Some(Canary::KillDangles) => thread,
        Some(Canary::BranchFollowed) => along_one_branch(healed(thread)),
        Some(Canary::RepairAddsResult) => repaired_in_the_next_message(thread),
        Some(Canary::PartsOverwritten) => healed(without_overwritten(thread)),
        Some(Canary::ThinkingForgotten) => without_thoughts(healed(thread)),
        Some(Canary::HealsTheEndAlone) => healed_at_the_end(thread),
        Some(Canary::OrderFromIds) => in_order_of_ids(healed(thread)),
        Some(Canary::ErrorsNotLowered) => {
            let failed: Vec<String> = results(&thread)
                .filter(|result| result.is_error)
                .map(|result| result.call_id.clone())
                .collect();
            let mut thread = healed(thread);
            each_results(&mut thread, |results| results.retain(|result| !failed.contains(&result.call_id)));
            without_empty(thread)
        }
        _ => healed(thread),
    }
}

/// The results of a batch are siblings in a tree, and one chain of parents leads to the last of them only. The batch of
/// the last turn is still in memory when the tree is cut.
fn along_one_branch(mut thread: Vec<Message>) -> Vec<Message> {
    let last_turn = thread.iter().rposition(|message| matches!(message, Message::User(_))).unwrap_or(0);
    each_results(&mut thread[..last_turn], |results| {
        let last = results.len().saturating_sub(1);
        results.drain(..last);
    });
    thread
}

/// Looks for the results of a batch in the next message alone, and makes up those that stand further on.
fn repaired_in_the_next_message(thread: Vec<Message>) -> Vec<Message> {
    let mut whole = Vec::with_capacity(thread.len() + 1);
    let mut messages = thread.into_iter().peekable();
    while let Some(message) = messages.next() {
        let calls = match &message {
            Message::Assistant(blocks) => blocks.iter().filter_map(Block::call).cloned().collect(),
            Message::User(_) | Message::Results(_) => Vec::new(),
        };
        whole.push(message);
        if calls.is_empty() {
            continue;
        }
        let mut answers = match messages.next_if(|next| matches!(next, Message::Results(_))) {
            Some(Message::Results(results)) => results,
            _ => Vec::new(),
        };
        for call in &calls {
            if !answers.iter().any(|result| result.call_id == call.id) {
                answers.push(interrupted(call));
            }
        }
        answers.sort_by_key(|result| calls.iter().position(|call| call.id == result.call_id));
        whole.push(Message::Results(answers));
    }
    whole
}

/// Results are stored under the place of their call in its batch, and all batches of a turn share the places.
fn without_overwritten(mut thread: Vec<Message>) -> Vec<Message> {
    let mut turn = 0;
    let mut places: Vec<((usize, usize), String)> = Vec::new();
    for message in &thread {
        match message {
            Message::User(_) => turn += 1,
            Message::Assistant(blocks) => {
                let calls = blocks.iter().filter_map(Block::call).enumerate();
                places.extend(calls.map(|(place, call)| ((turn, place), call.id.clone())));
            }
            Message::Results(_) => {}
        }
    }
    let answered: Vec<String> = results(&thread).map(|result| result.call_id.clone()).collect();
    places.retain(|(_, id)| answered.contains(id));
    let is_overwritten = |result: &CallResult| {
        let own = places.iter().position(|(_, id)| *id == result.call_id);
        own.is_some_and(|own| places[own + 1..].iter().any(|(place, _)| *place == places[own].0))
    };
    each_results(&mut thread, |results| results.retain(|result| !is_overwritten(result)));
    without_empty(thread)
}

/// Answers the calls of the last message alone; whatever was left open before that stays open.
fn healed_at_the_end(mut thread: Vec<Message>) -> Vec<Message> {
    let last = thread.iter().rposition(|message| matches!(message, Message::Assistant(_))).unwrap_or(0);
    let is_last = thread[last..].iter().all(|message| !matches!(message, Message::User(_)));
    if is_last {
        let end = thread.split_off(last);
        thread.extend(healed(end));
    }
    thread
}

/// Messages have ids that count up, and are sorted by them as texts.
fn in_order_of_ids(thread: Vec<Message>) -> Vec<Message> {
    let mut named: Vec<(String, Message)> =
        thread.into_iter().enumerate().map(|(index, message)| (format!("msg_{index}"), message)).collect();
    named.sort_by(|(one, _), (other, _)| one.cmp(other));
    named.into_iter().map(|(_, message)| message).collect()
}

/// What the model thought is not stored.
fn without_thoughts(mut thread: Vec<Message>) -> Vec<Message> {
    for message in &mut thread {
        if let Message::Assistant(blocks) = message {
            blocks.retain(|block| !matches!(block, Block::Thought(_)));
        }
    }
    thread
}

fn results(thread: &[Message]) -> impl Iterator<Item = &CallResult> {
    thread.iter().flat_map(|message| match message {
        Message::Results(results) => results.as_slice(),
        Message::User(_) | Message::Assistant(_) => &[],
    })
}

fn each_results(thread: &mut [Message], change: impl Fn(&mut Vec<CallResult>)) {
    for message in thread {
        if let Message::Results(results) = message {
            change(results);
        }
    }
}

fn without_empty(mut thread: Vec<Message>) -> Vec<Message> {
    thread.retain(|message| !matches!(message, Message::Results(results) if results.is_empty()));
    thread
}
