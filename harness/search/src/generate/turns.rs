//! Draws turns and replies.

use std::collections::BTreeMap;

use super::calls::{self, Manner, Names};
use super::{MAX_BATCH, Source};
use brickbat_scenario::scenario::{At, Block, Call, Indices, Reply, Scenario, Stop, Tool, Turn};

/// The user's message in each turn; none is part of another.
const USER: [&str; 4] = ["Look up the orders.", "What happened?", "Go on now.", "Is that all?"];

/// The user's message in the turn with this 0-based index.
pub(crate) fn user(index: usize) -> String {
    USER.get(index).map_or_else(|| format!("Take step {index}."), |said| (*said).to_owned())
}

/// A turn in which nothing goes wrong except in the model and tool output.
pub(super) fn draw(
    source: &mut Source<'_>,
    names: &mut Names,
    tools: &mut BTreeMap<String, Tool>,
    index: usize,
) -> Turn {
    let manner = if source.one_in(3) { Manner::Stopped } else { Manner::Settling };
    let n_steps = *source.weigh(&[(1, 0), (6, 1), (3, 2), (1, 3)]).unwrap_or(&1);
    let mut replies = Vec::with_capacity(n_steps + 1);
    let mut is_over = false;
    for _ in 0..n_steps {
        let reply = step(source, names, tools, manner);
        is_over = reply.calls().any(|call| tools.get(&call.tool).is_some_and(|tool| tool.ends));
        replies.push(reply);
        if is_over {
            break;
        }
    }
    if !is_over {
        replies.push(last(source));
    }
    let mut turn = Turn::new(user(index), replies);
    if source.one_in(2) {
        turn.settle = order(source, &turn, tools);
    }
    turn
}

fn step(
    source: &mut Source<'_>,
    names: &mut Names,
    tools: &mut BTreeMap<String, Tool>,
    manner: Manner,
) -> Reply {
    let blocks = batch(source, names, tools, manner);
    let n_calls = blocks.iter().filter(|block| matches!(block, Block::Call(_))).count();
    let interleave = source.one_in(24) && n_calls > 1;
    let is_numbered_wrongly = source.one_in(16);
    let indices =
        if is_numbered_wrongly { source.pick(&[Indices::Same, Indices::Missing]).copied() } else { None };
    let stop = odd_stop(source, [Stop::Length, Stop::End, Stop::Pause, Stop::Refusal]);
    Reply { interleave, stop, indices, ..Reply::new(blocks) }
}

fn odd_stop(source: &mut Source<'_>, of: [Stop; 4]) -> Option<Stop> {
    if source.one_in(16) { source.pick(&of).copied() } else { None }
}

/// The blocks of an attempt that makes calls.
pub(super) fn batch(
    source: &mut Source<'_>,
    names: &mut Names,
    tools: &mut BTreeMap<String, Tool>,
    manner: Manner,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    match source.below(12) {
        11 => blocks.push(Block::Text(String::new())),
        6..=10 => blocks.push(Block::Text("Let me look.".to_owned())),
        _ => {}
    }
    for n in 0..1 + source.below(MAX_BATCH) {
        if n > 0 && source.one_in(12) {
            blocks.push(Block::Text("And this.".to_owned()));
        }
        blocks.push(Block::Call(calls::draw(source, names, tools, manner)));
    }
    blocks
}

pub(super) fn last(source: &mut Source<'_>) -> Reply {
    let blocks = vec![Block::Text("Here they are.".to_owned())];
    let stop = odd_stop(source, [Stop::Length, Stop::Calls, Stop::Pause, Stop::Refusal]);
    Reply { stop, ..Reply::new(blocks) }
}

/// A random order in which the calls of a turn may settle, reply by reply.
pub(super) fn order(source: &mut Source<'_>, turn: &Turn, tools: &BTreeMap<String, Tool>) -> Vec<String> {
    let hangs = |call: &&Call| tools.get(&call.tool).is_some_and(|tool| tool.hangs);
    let mut order = Vec::new();
    for reply in &turn.replies {
        let mut left: Vec<&Call> = reply.calls().filter(|call| !hangs(call)).collect();
        while !left.is_empty() {
            let at = left.len() - 1 - source.below(left.len());
            order.push(left.remove(at).name.clone());
        }
    }
    order
}

/// Sometimes limits the steps of turns.
pub(super) fn limit(source: &mut Source<'_>, scenario: &mut Scenario) {
    let longest = scenario.turns.iter().map(|turn| turn.replies.len()).max().unwrap_or(0);
    if longest > 1 && source.one_in(16) {
        scenario.limits.steps = Some(1 + source.below(longest - 1) as u32);
    }
}

/// Sometimes lets another process run a turn.
pub(super) fn share(source: &mut Source<'_>, scenario: &mut Scenario) {
    if scenario.turns.len() > 1 && source.one_in(16) {
        for turn in scenario.turns.iter_mut().skip(1) {
            turn.process = 2 - source.below(2) as u32;
        }
    }
}

/// Sometimes lets the model think before all other output, because the request asks for it.
pub(super) fn think(source: &mut Source<'_>, scenario: &mut Scenario) {
    if source.one_in(8) {
        scenario.turns.iter_mut().flat_map(|turn| &mut turn.replies).for_each(|reply| {
            reply.attempts.iter_mut().for_each(thinking);
        });
    }
}

/// Makes an attempt begin with a thought.
pub(crate) fn thinking(blocks: &mut Vec<Block>) {
    if !blocks.iter().any(|block| matches!(block, Block::Think(_))) {
        blocks.insert(0, Block::Think("The user wants to know.".to_owned()));
    }
}

/// Replaces tools that hang in turns that nothing ends.
pub(super) fn put_off(scenario: &mut Scenario) {
    for turn in &mut scenario.turns {
        if turn.at.iter().any(At::ends_turn) {
            continue;
        }
        let blocks = turn.replies.iter_mut().flat_map(|reply| &mut reply.attempts).flatten();
        for block in blocks {
            let Block::Call(call) = block else { continue };
            if scenario.tools.get(&call.tool).is_some_and(|tool| tool.hangs) {
                call.tool = calls::plain(&mut scenario.tools);
            }
        }
    }
}
