//! Pairs of elements that occur together in a scenario, and how often each pair was tried.
//!
//! Most turn failures need a combination of two elements, such as a stop and a tool that ignores it. The
//! rarity of a scenario's pairs among those already tried therefore decides which scenario is tried next,
//! without looking at the system.

use std::collections::BTreeSet;

use brickbat_scenario::action::ToolChange;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::plan::Side;
use brickbat_scenario::scenario::{Action, At, Block, Call, CallId, Indices, Scenario, Turn};

/// The number of pair kinds that are distinguished. There are some ten thousand; two that collide count as
/// one.
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
    /// The first of the candidates with the rarest pairs. It counts as tried.
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

    /// The sum of the pair weights: 1 for an untried pair, half of that for one that was tried once, and so
    /// on. The sum is not divided by the number of pairs. That was tried, and it prefers smaller scenarios,
    /// which find less.
    fn rarity(&self, pairs: &[u16]) -> u64 {
        pairs.iter().map(|pair| NEVER_TRIED / (1 + u64::from(self.0[usize::from(*pair)]))).sum()
    }
}

/// The weight of an untried pair. It is large enough that fractions of it are integers.
const NEVER_TRIED: u64 = 1 << 20;

/// The kinds of pairs in a scenario, without duplicates. An element also forms a pair with itself.
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

/// An odd multiplier that makes the upper bits of a product depend on all bits: that of SplitMix64.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The elements of a scenario, as hashes: the actions and their points, the tools, and everything odd in a
/// reply.
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
        Action::Tools(ToolChange::Withdraw(_)) => format!("{name} withdraw"),
        Action::Tools(ToolChange::Offer(_)) => format!("{name} offer"),
        Action::Fail(how) => format!("{name} {}", how.name()),
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

/// A number as a word: none, one, two, or more.
fn number(n: usize) -> &'static str {
    ["0", "1", "2"].get(n).copied().unwrap_or("more")
}

/// True if the calls of a turn settle in the order in which they are made.
fn is_in_order(turn: &Turn) -> bool {
    let place = |name: &String| turn.calls().position(|call| call.name == *name);
    turn.settle.iter().map(place).is_sorted()
}
