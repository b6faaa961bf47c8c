//! What stands together in a scenario, and how often that was tried: two things at a time.
//!
//! Most failures of a turn take two things that meet, such as a stop and a tool that does not hear it. Which scenario is
//! tried next is therefore decided by how rare its pairs are among those that were tried, without a look at the system.

use std::collections::BTreeSet;

use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::plan::Side;
use brickbat_scenario::scenario::{Action, At, Block, Call, CallId, Indices, Scenario, Turn};

/// Kinds of pairs that are distinguished. There are some ten thousand; two that fall together are taken for one.
const N_KINDS: usize = 1 << 16;

/// How often each kind of pair was tried.
#[derive(Debug)]
pub(super) struct Tried(Vec<u32>);

impl Default for Tried {
    fn default() -> Tried {
        Tried(vec![0; N_KINDS])
    }
}

impl Tried {
    /// The first of those whose pairs are rarest, which counts as tried.
    pub fn rarest(&mut self, candidates: impl Iterator<Item = Scenario>) -> Option<Scenario> {
        let mut best: Option<(u64, Scenario, Vec<u16>)> = None;
        for candidate in candidates {
            let pairs = pairs(&candidate);
            let rarity = self.rarity(&pairs);
            if best.as_ref().is_none_or(|(most, ..)| rarity > *most) {
                best = Some((rarity, candidate, pairs));
            }
        }
        let (_, candidate, pairs) = best?;
        pairs.iter().for_each(|pair| self.0[usize::from(*pair)] += 1);
        Some(candidate)
    }

    /// A pair that was never tried counts fully, one that was tried once half as much, and so on. The sum is not divided by the
    /// number of pairs: that was tried, and the smaller scenarios that it prefers find less.
    fn rarity(&self, pairs: &[u16]) -> u64 {
        pairs.iter().map(|pair| NEVER_TRIED / (1 + u64::from(self.0[usize::from(*pair)]))).sum()
    }
}

/// What a pair counts that was never tried: enough for fractions of it to be whole numbers.
const NEVER_TRIED: u64 = 1 << 20;

/// The kinds of the pairs of things that a scenario holds, each once. A thing makes a pair with itself, too.
pub(super) fn pairs(scenario: &Scenario) -> Vec<u16> {
    let things = things(scenario);
    let mut pairs = Vec::with_capacity(things.len() * (things.len() + 1) / 2);
    for (at, one) in things.iter().enumerate() {
        let with = things[at..].iter().map(|other| (one ^ other.rotate_left(32)).wrapping_mul(SPREAD));
        pairs.extend(with.map(|both| (both >> 48) as u16));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// An odd number by which a product's upper bits depend on all bits: that of SplitMix64.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a scenario holds, as hashes: what happens and where, the tools, and all that is odd in a reply.
fn things(scenario: &Scenario) -> Vec<u64> {
    let mut words = BTreeSet::new();
    let mut add = |parts: &[&str]| {
        words.insert(fnv1a(parts.join(" ").as_bytes()));
    };
    add(&["turns", number(scenario.turns.len())]);
    if scenario.thinks() {
        add(&["thinks"]);
    }
    if scenario.limits.steps.is_some() {
        add(&["limit"]);
    }
    if scenario.limits.window.is_some() {
        add(&["window"]);
    }
    if let Some(profile) = &scenario.profile {
        add(&["profile", profile]);
    }
    for turn in &scenario.turns {
        of_turn(turn, &mut add);
    }
    words.into_iter().collect()
}

fn of_turn(turn: &Turn, add: &mut impl FnMut(&[&str])) {
    add(&["replies", number(turn.replies.len())]);
    if turn.process != 1 {
        add(&["another process"]);
    }
    if !is_in_order(turn) {
        add(&["out of order"]);
    }
    for at in &turn.at {
        of_action(at, add);
    }
    for reply in &turn.replies {
        if let Some(stop) = reply.stop {
            add(&["stop", stop.name()]);
        }
        if let Some(indices) = reply.indices {
            add(&[match indices {
                Indices::Same => "one index",
                Indices::Missing => "no index",
            }]);
        }
        if reply.interleave {
            add(&["interleaved"]);
        }
        add(&["attempts", number(reply.attempts.len())]);
        add(&["batch", number(reply.n_calls() as usize)]);
        for block in reply.attempts.iter().flatten() {
            match block {
                Block::Call(call) => of_call(call, add),
                Block::Text(text) if text.is_empty() => add(&["empty text"]),
                Block::Search(search) if search.finds.is_none() => add(&["search goes on"]),
                Block::Search(_) => add(&["search"]),
                Block::Text(_) | Block::Think(_) | Block::Found(_) => {}
            }
        }
    }
}

fn of_action(at: &At, add: &mut impl FnMut(&[&str])) {
    let name = at.action.spec().name;
    let which = match &at.action {
        Action::Http(fault) => format!("{name} {} {}", fault.status, number(fault.times as usize)),
        Action::Interrupt(cause) => format!("{name} {}", cause.name()),
        _ => name.to_owned(),
    };
    add(&["do", &which]);
    if let Some((side, point)) = at.place() {
        let side = if side == Side::Before { "before" } else { "after" };
        let place = format!("{side} {}", point.spec().name);
        add(&["at", &place, number(at.reply as usize)]);
        add(&["do", name, &place]);
    }
}

fn of_call(call: &Call, add: &mut impl FnMut(&[&str])) {
    add(&["tool", &call.tool]);
    if let Some(raw) = &call.raw {
        add(&["raw", raw]);
    }
    match &call.id {
        Some(CallId::Missing) => add(&["no id"]),
        Some(CallId::Same(_)) => add(&["the id of another"]),
        Some(CallId::Text(id)) => add(&["id", id]),
        None => {}
    }
}

/// None, one, two, or more.
fn number(n: usize) -> &'static str {
    ["0", "1", "2"].get(n).copied().unwrap_or("more")
}

/// Whether the calls of a turn settle in the order in which they are made.
fn is_in_order(turn: &Turn) -> bool {
    let place = |name: &String| turn.calls().position(|call| call.name == *name);
    turn.settle.iter().map(place).is_sorted()
}
