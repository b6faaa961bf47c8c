//! Takes out of a structure whatever it still fails without: messages in ever smaller runs, then single calls with their
//! results, results, and texts.

use super::shape::{Shape, ShapeBlock, ShapeMessage};

/// Reductions that are tried at most. A thread of ten thousand messages takes about fifty thousand.
const MAX_TRIED: usize = 200_000;

/// The smallest structure that was found for which `fails` is true, and how many were tried.
pub(super) fn minimise(shape: Shape, fails: impl Fn(&Shape) -> bool) -> (Shape, usize) {
    let mut search = Search { best: shape, n_tried: 0, fails };
    loop {
        let before = search.n_tried;
        let is_smaller = search.drop_runs() | search.drop_parts();
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
        // A conversation begins with the user; some providers demand that, which would be another fault.
        let begins = matches!(candidate.messages.first(), Some(ShapeMessage::User));
        let began = matches!(self.best.messages.first(), Some(ShapeMessage::User));
        if self.n_tried >= MAX_TRIED || (began && !begins) {
            return false;
        }
        self.n_tried += 1;
        let is_smaller = (self.fails)(&candidate);
        if is_smaller {
            self.best = candidate;
        }
        is_smaller
    }

    /// Runs of messages: halves first, then quarters, down to single ones.
    fn drop_runs(&mut self) -> bool {
        let mut has_dropped = false;
        let mut run = self.best.messages.len().div_ceil(2);
        while run > 0 {
            let mut at = 0;
            while at < self.best.messages.len() {
                let mut fewer = self.best.clone();
                let end = (at + run).min(fewer.messages.len());
                fewer.messages.drain(at..end);
                fewer.forget_orphans();
                match self.try_it(fewer) {
                    true => has_dropped = true,
                    false => at += run,
                }
            }
            run /= 2;
        }
        has_dropped
    }

    /// Single calls, results and texts.
    fn drop_parts(&mut self) -> bool {
        let mut has_dropped = false;
        let (mut n, mut part) = (0, 0);
        while n < self.best.messages.len() {
            let mut fewer = self.best.clone();
            if !fewer.drop_part(n, part) {
                (n, part) = (n + 1, 0);
                continue;
            }
            match self.try_it(fewer) {
                true => has_dropped = true,
                false => part += 1,
            }
        }
        has_dropped
    }
}

impl Shape {
    /// Takes a part of a message out, and what speaks of it; false if there is none of that number.
    fn drop_part(&mut self, message: usize, part: usize) -> bool {
        let is_there = match self.messages.get_mut(message) {
            Some(ShapeMessage::Assistant(blocks)) if part < blocks.len() => {
                blocks.remove(part);
                true
            }
            Some(ShapeMessage::Results(results)) if part < results.len() => {
                results.remove(part);
                true
            }
            _ => false,
        };
        self.forget_orphans();
        is_there
    }

    /// Takes out results whose call is gone, and messages that nothing is left of: a given history cannot say them.
    fn forget_orphans(&mut self) {
        let mut calls = std::collections::BTreeSet::new();
        for message in &mut self.messages {
            match message {
                ShapeMessage::User => {}
                ShapeMessage::Assistant(blocks) => {
                    for block in blocks {
                        if let ShapeBlock::Call { call, .. } = block {
                            calls.insert(*call);
                        }
                    }
                }
                ShapeMessage::Results(results) => results.retain(|result| calls.contains(&result.call)),
            }
        }
        self.messages.retain(|message| match message {
            ShapeMessage::User => true,
            ShapeMessage::Assistant(blocks) => !blocks.is_empty(),
            ShapeMessage::Results(results) => !results.is_empty(),
        });
    }
}
