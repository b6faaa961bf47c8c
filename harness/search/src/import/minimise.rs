//! Removes from a structure everything without which it still fails: messages in ever smaller runs, then
//! calls with their results, single results and texts. Finally, oddities that are not part of the fault are
//! normalized.

use std::collections::BTreeSet;
use std::ops::Range;

use super::shape::{ANY_PICTURE, Shape, ShapeArgs, ShapeBlock, ShapeId, ShapeMessage, Words};
use brickbat_scenario::scenario::Signature;

/// The maximum number of reductions that are tried. A thread of ten thousand messages takes about fifty
/// thousand.
const MAX_TRIED: usize = 200_000;

/// The minimum number of parts for which the search begins around the rejected part. Each try on such a large
/// structure takes milliseconds.
const MIN_FOCUSED: usize = 2_000;

/// The smallest structure found for which `fails` returns true, and the number of reductions tried. `at` is
/// the message and the part that the provider rejects first.
pub(super) fn minimise(
    shape: Shape,
    at: Option<(usize, usize)>,
    fails: impl Fn(&Shape) -> bool,
) -> (Shape, usize) {
    let n_parts = shape.messages.iter().map(n_parts).sum();
    let mut search = Search { best: shape, n_tried: 0, fails };
    if let Some(at) = at.filter(|_| n_parts >= MIN_FOCUSED) {
        search.focus(at, n_parts);
    }
    loop {
        let before = search.n_tried;
        let is_smaller = search.drop_runs() | search.drop_parts() | search.make_plain();
        if !is_smaller || search.n_tried >= MAX_TRIED || search.n_tried == before {
            return (search.best, search.n_tried);
        }
    }
}

struct Search<F> {
    best: Shape,
    n_tried: usize,
    fails: F,
}

impl<F: Fn(&Shape) -> bool> Search<F> {
    fn try_it(&mut self, candidate: Shape) -> bool {
        // A conversation begins with the user. Some providers require that, so removing the user would be
        // another fault.
        if self.n_tried >= MAX_TRIED || (self.best.begins_with_user() && !candidate.begins_with_user()) {
            return false;
        }
        self.n_tried += 1;
        let is_smaller = candidate != self.best && (self.fails)(&candidate);
        if is_smaller {
            self.best = candidate;
            self.best.prune();
        }
        is_smaller
    }

    /// Drops everything except the neighbourhood of a part, in ever wider neighbourhoods.
    fn focus(&mut self, at: (usize, usize), n_parts: usize) {
        let mut reach = 4;
        while reach < n_parts {
            let near = self.best.near(at, reach);
            if self.try_it(near) {
                return;
            }
            reach *= 8;
        }
    }

    /// Drops runs of messages: halves first, then quarters, down to single ones.
    fn drop_runs(&mut self) -> bool {
        let mut has_dropped = false;
        let mut run = self.best.messages.len().div_ceil(2);
        while run > 0 {
            let mut at = 0;
            while at < self.best.messages.len() {
                let mut fewer = self.best.clone();
                let end = (at + run).min(fewer.messages.len());
                let gone: BTreeSet<usize> =
                    fewer.messages[at..end].iter().flat_map(ShapeMessage::made).collect();
                fewer.messages.drain(at..end);
                fewer.forget(&gone);
                match self.try_it(fewer) {
                    true => has_dropped = true,
                    false => at += run,
                }
            }
            run /= 2;
        }
        has_dropped
    }

    /// Drops calls with their results, results and texts of each message: halves first, then quarters, down
    /// to single ones.
    fn drop_parts(&mut self) -> bool {
        let mut has_dropped = false;
        let mut n = 0;
        while let Some(message) = self.best.messages.get(n) {
            let mut run = n_droppable(message).div_ceil(2);
            while run > 0 {
                has_dropped |= self.drop_parts_of(n, run);
                run /= 2;
            }
            n += 1;
        }
        has_dropped
    }

    /// Drops `run` parts of one message at a time.
    fn drop_parts_of(&mut self, n: usize, run: usize) -> bool {
        let mut has_dropped = false;
        let mut part = 0;
        while let Some(message) = self.best.messages.get(n)
            && part < n_droppable(message)
        {
            let mut fewer = self.best.clone();
            fewer.drop_run(n, part..part + run);
            match self.try_it(fewer) {
                true => has_dropped = true,
                false => part += run,
            }
        }
        has_dropped
    }

    /// Normalizes all oddities at once, then one after another.
    fn make_plain(&mut self) -> bool {
        let mut has_changed = false;
        let mut all = self.best.clone();
        (0..all.n_oddities()).rev().for_each(|n| all.straighten(n));
        has_changed |= self.try_it(all);
        for n in (0..self.best.n_oddities()).rev() {
            let mut plainer = self.best.clone();
            plainer.straighten(n);
            has_changed |= self.try_it(plainer);
        }
        has_changed
    }
}

impl Shape {
    /// True if the user, or a summary, comes before any reply. Instructions may come before that.
    fn begins_with_user(&self) -> bool {
        let first = self.messages.iter().find(|message| !matches!(message, ShapeMessage::System(_)));
        matches!(first, Some(ShapeMessage::User(_) | ShapeMessage::Picture(_) | ShapeMessage::Compacted))
    }

    /// The beginning of the conversation, the messages and parts that are at most `reach` away from a part, and
    /// the results of their calls.
    fn near(&self, (message, part): (usize, usize), reach: usize) -> Shape {
        let around = |n: usize| n.saturating_sub(reach)..n.saturating_add(reach + 1);
        let first = self.messages.iter().position(|message| !matches!(message, ShapeMessage::System(_)));
        let is_near = |n: usize| n <= first.unwrap_or(0) || around(message).contains(&n);
        let mut calls = BTreeSet::new();
        let mut messages = Vec::new();
        for (n, own) in self.messages.iter().enumerate() {
            let parts = if n == message { around(part) } else { 0..reach };
            match own {
                ShapeMessage::Assistant(blocks) if is_near(n) => {
                    let parts = parts.start.min(blocks.len())..parts.end.min(blocks.len());
                    let near = ShapeMessage::Assistant(blocks[parts].to_vec());
                    calls.extend(near.made());
                    messages.push(near);
                }
                ShapeMessage::Results(results) => {
                    let is_rejected = |at: usize| n == message && parts.contains(&at);
                    let results = results.iter().enumerate();
                    let near =
                        results.filter(|(at, result)| is_rejected(*at) || calls.contains(&result.call));
                    let near: Vec<_> = near.map(|(_, result)| *result).collect();
                    messages.extend((!near.is_empty()).then_some(ShapeMessage::Results(near)));
                }
                _ if is_near(n) => messages.push(own.clone()),
                _ => {}
            }
        }
        let mut near = Shape { messages, calls: self.calls.clone(), tools: self.tools.clone() };
        near.prune();
        near
    }

    /// Removes parts of a message, and everything that refers to them.
    fn drop_run(&mut self, message: usize, parts: Range<usize>) {
        let mut gone = BTreeSet::new();
        match self.messages.get_mut(message) {
            Some(ShapeMessage::Assistant(blocks)) => {
                let parts = parts.start.min(blocks.len())..parts.end.min(blocks.len());
                gone.extend(blocks.drain(parts).filter_map(|block| match block {
                    ShapeBlock::Call { call, .. } => Some(call),
                    ShapeBlock::Text(_) | ShapeBlock::Think { .. } => None,
                }));
            }
            Some(ShapeMessage::Results(results)) => {
                results.drain(parts.start.min(results.len())..parts.end.min(results.len()));
            }
            _ => {}
        }
        let is_empty = |message: &ShapeMessage| match message {
            ShapeMessage::Assistant(blocks) => blocks.is_empty(),
            ShapeMessage::Results(results) => results.is_empty(),
            _ => false,
        };
        if self.messages.get(message).is_some_and(is_empty) {
            self.messages.remove(message);
        }
        self.forget(&gone);
    }

    /// Removes the results of removed calls, and messages that contained only those, so that a pair is
    /// removed together.
    fn forget(&mut self, gone: &BTreeSet<usize>) {
        if gone.is_empty() {
            return;
        }
        self.messages.retain_mut(|message| {
            let ShapeMessage::Results(results) = message else { return true };
            let n_before = results.len();
            results.retain(|result| !gone.contains(&result.call));
            results.len() == n_before || !results.is_empty()
        });
    }

    /// The number of positions that may be odd: one for each call and tool, and one for each part of a
    /// message.
    fn n_oddities(&self) -> usize {
        let parts: usize = self.messages.iter().map(n_parts).sum();
        self.calls.len() + self.tools.len() + parts
    }

    /// Normalizes the oddity at a position.
    fn straighten(&mut self, n: usize) {
        if let Some(call) = self.calls.values_mut().nth(n) {
            call.id = ShapeId::Own;
            return;
        }
        let Some(mut n) = n.checked_sub(self.calls.len() + self.tools.len()) else {
            if let Some(tool) = self.tools.keys().nth(n - self.calls.len()).copied() {
                self.tools.remove(&tool);
            }
            return;
        };
        for message in &mut self.messages {
            let own = n_parts(message);
            if n < own {
                return straighten_part(message, n);
            }
            n -= own;
        }
    }
}

/// The number of removable parts in a message.
fn n_droppable(message: &ShapeMessage) -> usize {
    match message {
        ShapeMessage::Assistant(blocks) => blocks.len(),
        ShapeMessage::Results(results) => results.len(),
        _ => 0,
    }
}

fn n_parts(message: &ShapeMessage) -> usize {
    match message {
        ShapeMessage::Assistant(blocks) => blocks.len(),
        ShapeMessage::Results(results) => results.len(),
        _ => 1,
    }
}

fn straighten_part(message: &mut ShapeMessage, part: usize) {
    match message {
        // An image stays an image, and instructions stay instructions.
        ShapeMessage::User(words) | ShapeMessage::System(words) => *words = Words::plain(),
        ShapeMessage::Picture(picture) => *picture = ANY_PICTURE,
        ShapeMessage::Compacted => *message = ShapeMessage::User(Words::plain()),
        ShapeMessage::Failed => {}
        ShapeMessage::Assistant(blocks) => match &mut blocks[part] {
            ShapeBlock::Text(words) => *words = Words::plain(),
            ShapeBlock::Think { has_words, signature } => {
                (*has_words, *signature) = (true, Signature::Full);
            }
            ShapeBlock::Call { args, .. } => *args = ShapeArgs::Object(serde_json::Map::new()),
        },
        ShapeMessage::Results(results) => {
            let picture = results[part].picture.map(|_| ANY_PICTURE);
            (results[part].is_error, results[part].picture) = (false, picture);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::shape::{ShapeCall, ShapeResult};

    fn call(number: usize) -> ShapeBlock {
        ShapeBlock::Call { call: number, args: ShapeArgs::Raw("null") }
    }

    fn result(call: usize) -> ShapeResult {
        ShapeResult { call, is_error: true, picture: None }
    }

    fn shape(messages: Vec<ShapeMessage>) -> Shape {
        let foreign = |n: usize| (n, ShapeCall { tool: 0, id: ShapeId::Foreign(format!("fc_{n}")) });
        Shape { messages, calls: (0..4).map(foreign).collect(), ..Shape::default() }
    }

    #[test]
    fn pairs_are_removed_together_and_oddities_become_plain() {
        let user = || ShapeMessage::User(Words::plain());
        let whole = shape(vec![
            user(),
            ShapeMessage::Assistant(vec![call(0), call(1)]),
            ShapeMessage::Results(vec![result(0), result(1)]),
            ShapeMessage::Failed,
            user(),
            ShapeMessage::Assistant(vec![call(2), call(3)]),
            ShapeMessage::Results(vec![result(2)]),
        ]);
        let fails = |shape: &Shape| {
            let made: Vec<usize> = shape.messages.iter().flat_map(ShapeMessage::made).collect();
            let answered = |call: &usize| {
                shape.messages.iter().flat_map(ShapeMessage::results).any(|result| result.call == *call)
            };
            made.iter().any(|call| !answered(call))
        };
        let (smallest, _) = minimise(whole, None, fails);
        let plain = ShapeBlock::Call { call: 3, args: ShapeArgs::Object(serde_json::Map::new()) };
        assert_eq!(smallest.messages, [user(), ShapeMessage::Assistant(vec![plain])]);
        assert_eq!(smallest.calls[&3].id, ShapeId::Own);
    }

    #[test]
    fn the_user_stays_first_if_the_store_begins_with_instructions() {
        let user = ShapeMessage::User(Words::plain());
        let reply = ShapeMessage::Assistant(vec![call(0)]);
        let whole = shape(vec![ShapeMessage::System(Words::plain()), user.clone(), reply]);
        let (smallest, _) =
            minimise(whole, None, |shape| shape.messages.iter().any(|message| message.made().count() > 0));
        let plain = ShapeBlock::Call { call: 0, args: ShapeArgs::Object(serde_json::Map::new()) };
        assert_eq!(smallest.messages, [user, ShapeMessage::Assistant(vec![plain])]);
    }

    #[test]
    fn what_stays_keeps_its_kind() {
        let wide = brickbat_scenario::scenario::Picture { width: 9_000, ..ANY_PICTURE };
        let whole = shape(vec![ShapeMessage::Picture(wide), ShapeMessage::System(Words::plain())]);
        let (smallest, _) = minimise(whole, None, |shape| shape.messages.len() == 2);
        let kept = [ShapeMessage::Picture(ANY_PICTURE), ShapeMessage::System(Words::plain())];
        assert_eq!(smallest.messages, kept);
    }

    #[test]
    fn a_result_without_a_call_stays_if_it_is_the_fault() {
        let lost = shape(vec![
            ShapeMessage::User(Words::plain()),
            ShapeMessage::Assistant(vec![call(0)]),
            ShapeMessage::Results(vec![result(0), result(1)]),
        ]);
        let (smallest, _) = minimise(lost, None, |shape| !shape.lost().is_empty());
        let results: Vec<usize> =
            smallest.messages.iter().flat_map(ShapeMessage::results).map(|result| result.call).collect();
        assert_eq!(results, [1]);
        assert_eq!(smallest.named().lost(), [0]);
    }

    #[test]
    fn a_large_structure_is_searched_around_the_rejected_part_first() {
        let n_calls = 5_000;
        let user = || ShapeMessage::User(Words::plain());
        for lost in [0, 2_500, n_calls - 1] {
            let mut messages = vec![user(), ShapeMessage::Assistant((0..n_calls).map(call).collect())];
            let answered = (0..n_calls).filter(|call| *call != lost);
            messages.extend(answered.map(|call| ShapeMessage::Results(vec![result(call)])));
            messages.push(user());
            let n_looked_at = std::cell::Cell::new(0);
            let fails = |shape: &Shape| {
                n_looked_at.set(n_looked_at.get() + shape.messages.iter().map(n_parts).sum::<usize>());
                let made: Vec<usize> = shape.messages.iter().flat_map(ShapeMessage::made).collect();
                let results = shape.messages.iter().flat_map(|message| message.results());
                let answered: Vec<usize> = results.map(|result| result.call).collect();
                made.iter().any(|call| !answered.contains(call))
            };
            let (smallest, _) = minimise(shape(messages), Some((1, lost)), fails);
            assert_eq!(smallest.messages.len(), 2, "{smallest:?}");
            let n_looked_at = n_looked_at.get();
            assert!(n_looked_at < n_calls, "{n_looked_at} parts of {n_calls} calls");
        }
    }
}
