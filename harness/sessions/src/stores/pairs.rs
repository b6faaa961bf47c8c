//! What products do at send to calls without a result, and to results without a call.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block as Content, Call, CallResult, Role};

use crate::{Block, Ending, Message};

/// The messages without the results whose call does not stand before them, and how many those were.
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

/// The calls that no later result answers, as message and block. A result answers the oldest open call of its id; a call
/// with the id of an earlier one closes that.
pub(super) fn dangling(messages: &[Message]) -> BTreeMap<usize, Vec<usize>> {
    let mut open: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    let mut dangling: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        for (n, block) in message.blocks.iter().enumerate() {
            match &block.content {
                Content::Call(call) => {
                    let same = open.entry(&call.id).or_default();
                    if same.last().is_some_and(|(before, _)| *before != at) {
                        same.drain(..).for_each(|(at, n)| dangling.entry(at).or_default().push(n));
                    }
                    same.push((at, n));
                }
                Content::Result(result) => {
                    if let Some(same) = open.get_mut(result.call.as_str()).filter(|same| !same.is_empty()) {
                        same.remove(0);
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

/// Puts a result with these words after the results of each of these messages, one for each of these calls, and says how
/// many they are.
pub(super) fn fill(messages: &mut Vec<Message>, dangling: BTreeMap<usize, Vec<usize>>, words: &str) -> usize {
    let n_filled = dangling.values().map(Vec::len).sum();
    // From the end, so that the places before stay.
    for (at, blocks) in dangling.into_iter().rev() {
        let results: Vec<Block> =
            blocks.into_iter().filter_map(|n| made_up(&messages[at].blocks[n], words)).collect();
        match messages[at + 1..].iter().take_while(|message| message.role == Role::Tool).count() {
            0 => {
                let place = messages[at].place.clone();
                let message =
                    Message { role: Role::Tool, blocks: results, id: None, place, ending: Ending::Whole };
                messages.insert(at + 1, message);
            }
            n => messages[at + n].blocks.extend(results),
        }
    }
    n_filled
}

/// A result for a call that has none.
fn made_up(call: &Block, words: &str) -> Option<Block> {
    let Content::Call(Call { id, name, .. }) = &call.content else { return None };
    let output = vec![Content::Text(words.to_owned())];
    let result = CallResult { call: id.clone(), name: name.clone(), output, is_error: true, item: None };
    Some(Block { place: call.place.clone(), content: Content::Result(result), state: None })
}
