//! Rebuilds the branch by replaying all records in order.
//!
//! `reconstruct_history_from_rollout` in `codex-rs/core/src/session/rollout_reconstruction.rs` begins at the
//! newest compaction that survives. Replaying everything gives the same result, since a compaction with a
//! replacement replaces all items before it.

use brickbat_rules::histories::{Block, Role};

use super::items::{Item, Standing};
use crate::{Ending, FormError, Message};

/// The items of a rollout, and the subset that is sent.
#[derive(Default)]
pub(super) struct Replay {
    items: Vec<Item>,
    /// The indices of the sent items, in order.
    branch: Vec<usize>,
    /// The number of items visited by compactions and rollbacks.
    n_steps: usize,
    pub(super) n_compactions: usize,
    pub(super) n_rollbacks: usize,
}

/// Maximum number of items that all compactions and rollbacks together may visit. In the worst case, each
/// visits the complete branch. A real rollout contains tens of compactions and rollbacks, and a few
/// thousand items.
const MAX_STEPS: usize = 10_000_000;

/// Number of user message bytes that a compaction without a replacement keeps: 20,000 tokens of four
/// bytes (`COMPACT_USER_MESSAGE_MAX_TOKENS` in `codex-rs/core/src/compact.rs`).
const MAX_KEPT_BYTES: usize = 80_000;

impl Replay {
    /// Appends an item.
    pub(super) fn push(&mut self, item: Item) {
        self.branch.push(self.items.len());
        self.items.push(item);
    }

    /// Adds an item that is never sent.
    pub(super) fn set_aside(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Marks the last reply as stopped.
    pub(super) fn abort(&mut self, ending: Ending) {
        let last = self.branch.last().and_then(|last| self.items.get_mut(*last));
        if let Some(last) = last.filter(|last| last.message.role == Role::Assistant) {
            last.message.ending = ending;
        }
    }

    /// Applies a compaction that replaces all items.
    pub(super) fn replace(&mut self, items: Vec<Item>) {
        self.n_compactions += 1;
        self.branch.clear();
        for item in items {
            self.push(item);
        }
    }

    /// Applies a compaction of an old version: it keeps the newest user messages and appends the summary
    /// (`build_compacted_history` in `codex-rs/core/src/compact.rs`).
    pub(super) fn compact(&mut self, summary: Item) -> Result<(), FormError> {
        self.n_compactions += 1;
        self.step(self.branch.len())?;
        let mut left = MAX_KEPT_BYTES;
        let mut kept = Vec::new();
        for n in self.branch.iter().rev() {
            if left == 0 {
                break;
            }
            if self.standing(*n) != Some(Standing::Turn) {
                continue;
            }
            left = left.saturating_sub(self.items.get(*n).map_or(0, |item| n_bytes(&item.message)));
            kept.push(*n);
        }
        kept.reverse();
        self.branch = kept;
        self.push(summary);
        Ok(())
    }

    /// Removes the last user turns, with the context before the first of them (`drop_last_n_user_turns` in
    /// `codex-rs/core/src/context_manager/history.rs`). Items before the first turn in the conversation stay.
    pub(super) fn roll_back(&mut self, n_turns: u64) -> Result<(), FormError> {
        if n_turns == 0 {
            return Ok(());
        }
        self.n_rollbacks += 1;
        let mut left = n_turns;
        let mut cut = self.branch.len();
        let mut n_seen = 0;
        let mut is_first = true;
        for (at, n) in self.branch.iter().enumerate().rev() {
            n_seen += 1;
            if self.standing(*n) != Some(Standing::Turn) && self.standing(*n) != Some(Standing::Summary) {
                continue;
            }
            if left == 0 {
                is_first = false;
                break;
            }
            (left, cut) = (left - 1, at);
        }
        self.step(n_seen)?;
        while !is_first && cut > 0 && self.standing(self.branch[cut - 1]) == Some(Standing::Context) {
            cut -= 1;
        }
        self.branch.truncate(cut);
        Ok(())
    }

    /// The messages that are sent, and those that are not.
    pub(super) fn finish(self) -> (Vec<Message>, Vec<Message>) {
        let mut slots: Vec<Option<Message>> = self.items.into_iter().map(|item| Some(item.message)).collect();
        let mut messages = Vec::new();
        for n in self.branch {
            messages.extend(slots.get_mut(n).and_then(Option::take));
        }
        (group(messages), group(slots.into_iter().flatten().collect()))
    }

    fn standing(&self, n: usize) -> Option<Standing> {
        self.items.get(n).map(|item| item.standing)
    }

    fn step(&mut self, n: usize) -> Result<(), FormError> {
        self.n_steps += n;
        if self.n_steps > MAX_STEPS { Err(FormError::Replay) } else { Ok(()) }
    }
}

/// Groups the items of one reply into one message, and consecutive outputs as well. A message has only one
/// text item's id, so a second text item begins another message.
pub(super) fn group(items: Vec<Message>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for item in items {
        match messages.last_mut() {
            Some(last) if is_one_go(last, &item) => {
                last.blocks.extend(item.blocks);
                last.ending = item.ending;
                last.id = last.id.take().or(item.id);
            }
            _ => messages.push(item),
        }
    }
    messages
}

fn is_one_go(last: &Message, item: &Message) -> bool {
    let says = |message: &Message| {
        message.blocks.iter().any(|block| matches!(block.content, Block::Text(_) | Block::Image(_)))
    };
    let has_id = last.id.is_some() || item.id.is_some();
    match item.role {
        Role::Assistant => last.role == Role::Assistant && !(has_id && says(last) && says(item)),
        Role::Tool => last.role == Role::Tool,
        Role::User | Role::System => false,
    }
}

fn n_bytes(message: &Message) -> usize {
    let texts = message.blocks.iter().map(|block| match &block.content {
        Block::Text(words) => words.len(),
        _ => 0,
    });
    texts.sum()
}
