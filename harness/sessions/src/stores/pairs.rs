//! Changes that products make when sending: to calls without a result, and results without a call.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use brickbat_rules::histories::{Block as Content, Role};

use crate::{Block, Ending, Message};

/// Removes the results that have no call before them. Returns the messages, and the number of removed results.
pub(super) fn without_orphans(messages: &[Message]) -> (Vec<Message>, usize) {
    let mut called: BTreeSet<&str> = BTreeSet::new();
    let mut n_dropped = 0;
    let mut kept = Vec::with_capacity(messages.len());
    for message in messages {
        called.extend(message.calls().map(|call| call.id.as_str()));
        let is_kept = |block: &&Block| match &block.content {
            Content::Result(result) => called.contains(result.call.as_str()),
            _ => true,
        };
        let blocks: Vec<Block> = message.blocks.iter().filter(is_kept).cloned().collect();
        let n = message.blocks.len() - blocks.len();
        n_dropped += n;
        if n == 0 || !blocks.is_empty() {
            kept.push(Message { blocks, ..message.clone() });
        }
    }
    (kept, n_dropped)
}

/// The calls that no later result answers, as message and block indices. A result answers the oldest open
/// call with its id. A call with the id of an earlier call closes that call.
pub(super) fn dangling(messages: &[Message]) -> BTreeMap<usize, Vec<usize>> {
    let mut open: BTreeMap<&str, VecDeque<(usize, usize)>> = BTreeMap::new();
    let mut dangling: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        for (n, block) in message.blocks.iter().enumerate() {
            match &block.content {
                Content::Call(call) => {
                    let same = open.entry(&call.id).or_default();
                    if same.back().is_some_and(|(before, _)| *before != at) {
                        same.drain(..).for_each(|(at, n)| dangling.entry(at).or_default().push(n));
                    }
                    same.push_back((at, n));
                }
                Content::Result(result) => {
                    if let Some(same) = open.get_mut(result.call.as_str()) {
                        same.pop_front();
                    }
                }
                _ => {}
            }
        }
    }
    open.into_values().flatten().for_each(|(at, n)| dangling.entry(at).or_default().push(n));
    dangling.values_mut().for_each(|blocks| blocks.sort_unstable());
    dangling
}

/// Adds a result with this text for each of these calls, after the existing results of the call's message.
/// Returns the number of added results.
pub(super) fn fill(
    messages: &mut Vec<Message>,
    mut dangling: BTreeMap<usize, Vec<usize>>,
    words: &str,
) -> usize {
    let n_filled = dangling.values().map(Vec::len).sum();
    // From the end, so that the results after a message are already known, and into a new list, since
    // inserting in place would move all later messages.
    let mut reversed: Vec<Message> = Vec::with_capacity(messages.len() + dangling.len());
    // The index in `reversed` of the result message that follows this message.
    let mut last_result: Option<usize> = None;
    for (at, message) in std::mem::take(messages).into_iter().enumerate().rev() {
        if let Some(blocks) = dangling.remove(&at) {
            let results = blocks.into_iter().filter_map(|n| made_up(&message.blocks[n], words)).collect();
            match last_result.and_then(|last| reversed.get_mut(last)) {
                Some(last) => last.blocks.extend::<Vec<Block>>(results),
                None => {
                    let place = message.place.clone();
                    last_result = Some(reversed.len());
                    reversed.push(Message {
                        role: Role::Tool,
                        blocks: results,
                        id: None,
                        place,
                        ending: Ending::Whole,
                    });
                }
            }
        }
        last_result = match message.role {
            Role::Tool => last_result.or(Some(reversed.len())),
            Role::System | Role::User | Role::Assistant => None,
        };
        reversed.push(message);
    }
    reversed.reverse();
    *messages = reversed;
    n_filled
}

/// Puts the first later result of each call directly behind the message with the call. Returns the number of results
/// that were elsewhere; those without a call stay where they are.
pub(super) fn pair(messages: &mut Vec<Message>) -> usize {
    let mut results: BTreeMap<String, VecDeque<(usize, usize)>> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        for (n, block) in message.blocks.iter().enumerate() {
            if let Content::Result(result) = &block.content {
                results.entry(result.call.clone()).or_default().push_back((at, n));
            }
        }
    }
    // The message with the call, by the place of its result.
    let mut homes: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        for call in message.calls() {
            let Some(own) = results.get_mut(&call.id) else { continue };
            let later = own.iter().position(|(result, _)| *result >= at);
            homes.extend(later.and_then(|later| own.remove(later)).map(|result| (result, at)));
        }
    }
    // A result is at home if only other results are between it and its call.
    let is_home = |at: usize, home: usize| messages[home + 1..=at].iter().all(|own| own.role == Role::Tool);
    homes.retain(|(at, _), home| *at > *home && !is_home(*at, *home));
    let mut moved: BTreeMap<usize, Vec<Message>> = BTreeMap::new();
    for ((at, n), home) in &homes {
        let from = &messages[*at];
        let blocks = vec![from.blocks[*n].clone()];
        moved.entry(*home).or_default().push(Message { role: Role::Tool, blocks, ..from.clone() });
    }
    let mut paired = Vec::with_capacity(messages.len());
    for (at, mut message) in std::mem::take(messages).into_iter().enumerate() {
        let mut n = 0;
        let had = message.blocks.len();
        message.blocks.retain(|_| {
            n += 1;
            !homes.contains_key(&(at, n - 1))
        });
        if had == 0 || !message.blocks.is_empty() {
            paired.push(message);
        }
        paired.extend(moved.remove(&at).into_iter().flatten());
    }
    *messages = paired;
    homes.len()
}

/// A result for a call without one.
fn made_up(call: &Block, words: &str) -> Option<Block> {
    let Content::Call(made) = &call.content else { return None };
    Some(Block { place: call.place.clone(), content: Content::Result(made.failed(words)), state: None })
}
