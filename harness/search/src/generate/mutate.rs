//! Mutation: changes scenarios in terms of the format.

use super::calls::{self, Manner, Names};
use super::{MAX_ACTIONS, MAX_BATCH, MAX_TURNS, Source, actions, normalize, turns};
use crate::{fixup, points};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::scenario::{Block, Call, Indices, Reply, Scenario, Stop};

/// One in this many mutants gets a last change without repair, whether or not it can then be run.
const UNFIXED: usize = 24;

/// The number of tries to make a change that has an effect.
const N_TRIES: usize = 4;

/// A mutant of a scenario, with one to three changes.
pub fn mutate(scenario: &Scenario, source: &mut Source<'_>) -> Scenario {
    let mut mutant = scenario.clone();
    let n_changes = 1 + *source.weigh(&[(5, 0), (2, 1), (1, 2)]).unwrap_or(&0);
    for _ in 0..n_changes {
        for _ in 0..N_TRIES {
            let before = mutant.clone();
            change(&mut mutant, source);
            if mutant != before {
                break;
            }
        }
    }
    if source.one_in(UNFIXED) {
        spoil(&mut mutant, source);
    }
    mutant
}

type Mutation = fn(&mut Scenario, &mut Source<'_>);

/// Every change, with its weight.
const CHANGES: [(usize, Mutation); 21] = [
    (5, move_action),
    (5, add_action),
    (3, drop_action),
    (3, change_action),
    (2, swap_actions),
    (3, add_call),
    (3, drop_call),
    (2, change_call),
    (2, change_id),
    (2, reorder_blocks),
    (3, reorder_results),
    (2, add_attempt),
    (1, drop_attempt),
    (1, change_reply),
    (2, add_reply),
    (1, drop_reply),
    (2, add_turn),
    (1, drop_turn),
    (1, change_limits),
    (1, change_provider),
    (1, change_thinking),
];

fn change(scenario: &mut Scenario, source: &mut Source<'_>) {
    if let Some(change) = source.weigh(&CHANGES) {
        change(scenario, source);
        normalize::normalize(scenario);
    }
}

/// Makes one change that may make the scenario unplayable.
pub(super) fn spoil(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(index) = turn(scenario, source) else { return };
    match source.below(6) {
        0 => scenario.turns[index].settle.push("nobody".to_owned()),
        1 => with_call(scenario, source, |call, _| call.deltas = 0),
        2 => with_call(scenario, source, |call, _| call.name = "a".to_owned()),
        3 => with_call(scenario, source, |call, _| call.tool = "none".to_owned()),
        4 => scenario.turns[index].replies.clear(),
        _ => {
            let spots = points::of(scenario, index);
            let action = source
                .pick(&spots)
                .and_then(|spot| actions::fitting(source, scenario, index, (&spots, spot)));
            if let (Some(spot), Some(action)) = (source.pick(&spots), action) {
                scenario.turns[index].at.push(spot.at(action));
            }
        }
    }
}

fn turn(scenario: &Scenario, source: &mut Source<'_>) -> Option<usize> {
    (!scenario.turns.is_empty()).then(|| source.below(scenario.turns.len()))
}

/// A random action, as the index of its turn and its index in the turn.
fn action(scenario: &Scenario, source: &mut Source<'_>) -> Option<(usize, usize)> {
    let turns = scenario.turns.iter().enumerate();
    let all: Vec<(usize, usize)> =
        turns.flat_map(|(index, turn)| (0..turn.at.len()).map(move |at| (index, at))).collect();
    source.pick(&all).copied()
}

fn attempt<'s>(scenario: &'s mut Scenario, source: &mut Source<'_>) -> Option<&'s mut Vec<Block>> {
    let index = turn(scenario, source)?;
    let replies = &mut scenario.turns[index].replies;
    let n_replies = replies.len();
    let attempts = &mut replies.get_mut(source.below(n_replies))?.attempts;
    let n_attempts = attempts.len();
    attempts.get_mut(source.below(n_attempts))
}

fn with_call(scenario: &mut Scenario, source: &mut Source<'_>, change: impl Fn(&mut Call, &mut Source<'_>)) {
    let mut calls: Vec<&mut Call> = scenario.calls_mut().collect();
    let at = source.below(calls.len());
    if let Some(call) = calls.get_mut(at) {
        change(call, source);
    }
}

/// Moves an action to the next point, or a few points further.
fn move_action(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some((index, at)) = action(scenario, source) else { return };
    let spots = points::of(scenario, index);
    let moved = scenario.turns[index].at[at].clone();
    let Some(place) = spots.iter().position(|spot| spot.is_of(&moved)) else { return };
    let by = *source.weigh(&[(5, 1), (2, 2), (1, 5)]).unwrap_or(&1);
    let to = if source.one_in(2) { place.saturating_sub(by) } else { place + by };
    if let Some(spot) = spots.get(to) {
        scenario.turns[index].at[at] = spot.at(moved.action);
    }
}

fn add_action(scenario: &mut Scenario, source: &mut Source<'_>) {
    if let Some(index) = turn(scenario, source) {
        actions::add(source, scenario, index);
    }
}

fn drop_action(scenario: &mut Scenario, source: &mut Source<'_>) {
    if let Some((index, at)) = action(scenario, source) {
        scenario.turns[index].at.remove(at);
    }
}

/// Replaces an action by another one at the same point.
fn change_action(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some((index, at)) = action(scenario, source) else { return };
    let spots = points::of(scenario, index);
    let Some(spot) = spots.iter().find(|spot| spot.is_of(&scenario.turns[index].at[at])) else { return };
    if let Some(other) = actions::fitting(source, scenario, index, (&spots, spot)) {
        scenario.turns[index].at[at].action = other;
    }
}

/// Swaps two actions of a turn.
fn swap_actions(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(index) = turn(scenario, source) else { return };
    let actions = &mut scenario.turns[index].at;
    if actions.len() > 1 {
        let (one, other) = (source.below(actions.len()), source.below(actions.len()));
        let (first, second) = (actions[one].action.clone(), actions[other].action.clone());
        actions[one].action = second;
        actions[other].action = first;
    }
}

fn add_call(scenario: &mut Scenario, source: &mut Source<'_>) {
    let mut names = Names::of(scenario);
    let manner = if source.one_in(3) { Manner::Stopped } else { Manner::Settling };
    let call = calls::draw(source, &mut names, &mut scenario.tools, manner);
    let Some(blocks) = attempt(scenario, source) else { return };
    if blocks.iter().filter_map(|block| block.call()).count() < 2 * MAX_BATCH {
        let at = blocks.len() - source.below(blocks.len());
        blocks.insert(at, Block::Call(call));
    }
}

fn drop_call(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(blocks) = attempt(scenario, source) else { return };
    if !blocks.is_empty() {
        blocks.remove(source.below(blocks.len()));
    }
}

/// Gives a call another tool or other arguments.
fn change_call(scenario: &mut Scenario, source: &mut Source<'_>) {
    let mut names = Names::of(scenario);
    let drawn = calls::draw(source, &mut names, &mut scenario.tools, Manner::Stopped);
    with_call(scenario, source, |call, source| match source.below(4) {
        0 => call.deltas = drawn.deltas,
        1 => (call.args, call.raw) = (drawn.args.clone(), drawn.raw.clone()),
        _ => {
            let name = call.name.clone();
            *call = Call { name, ..drawn.clone() };
        }
    });
}

/// Gives a call the id of another call, or an id that no call has.
fn change_id(scenario: &mut Scenario, source: &mut Source<'_>) {
    let all: Vec<String> = scenario.calls().map(|call| call.name.clone()).collect();
    let earlier = source.pick(&all).cloned();
    with_call(scenario, source, |call, source| {
        call.id = match call.id {
            Some(_) => None,
            None => Some(calls::foreign_id(source, earlier.clone())),
        };
    });
}

fn reorder_blocks(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(blocks) = attempt(scenario, source) else { return };
    if blocks.len() > 1 {
        let at = source.below(blocks.len() - 1);
        blocks.swap(at, at + 1);
    }
}

/// Reorders two results, or all of them.
fn reorder_results(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(index) = turn(scenario, source) else { return };
    let n_settled = scenario.turns[index].settle.len();
    if n_settled > 1 && source.one_in(2) {
        let at = source.below(n_settled - 1);
        scenario.turns[index].settle.swap(at, at + 1);
    } else {
        let order = turns::order(source, &scenario.turns[index], &scenario.tools);
        scenario.turns[index].settle = order;
    }
}

/// Adds an attempt to a reply: the last one breaks off, and the client asks again.
fn add_attempt(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(index) = turn(scenario, source) else { return };
    let n_replies = scenario.turns[index].replies.len();
    let reply = source.below(n_replies);
    let Some(n_attempts) = scenario.turns[index].replies.get(reply).map(|reply| reply.attempts.len()) else {
        return;
    };
    if n_attempts < MAX_ACTIONS {
        actions::break_off(source, scenario, index, (reply, n_attempts));
    }
}

fn drop_attempt(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(index) = turn(scenario, source) else { return };
    let replies = &mut scenario.turns[index].replies;
    let n_replies = replies.len();
    if let Some(reply) = replies.get_mut(source.below(n_replies)).filter(|reply| reply.attempts.len() > 1) {
        reply.attempts.remove(source.below(reply.attempts.len()));
    }
}

fn change_reply(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(index) = turn(scenario, source) else { return };
    let replies = &mut scenario.turns[index].replies;
    let n_replies = replies.len();
    let Some(reply) = replies.get_mut(source.below(n_replies)) else { return };
    match source.below(3) {
        0 => reply.interleave = !reply.interleave,
        1 => {
            let stops = [None, Some(Stop::Length), Some(Stop::Calls), Some(Stop::End), Some(Stop::Pause)];
            reply.stop = source.pick(&stops).copied().flatten();
        }
        _ => {
            let indices = [None, Some(Indices::Same), Some(Indices::Missing)];
            reply.indices = source.pick(&indices).copied().flatten();
        }
    }
}

/// Adds a step before the last reply.
fn add_reply(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(index) = turn(scenario, source) else { return };
    let n_replies = scenario.turns[index].replies.len();
    if n_replies >= 2 * super::MAX_REPLIES {
        return;
    }
    let mut names = Names::of(scenario);
    let blocks = turns::batch(source, &mut names, &mut scenario.tools, Manner::Settling);
    let at = source.below(n_replies);
    let reply = Reply::new(blocks);
    scenario.turns[index].replies.insert(at, reply);
    let turn = &mut scenario.turns[index];
    for action in turn.at.iter_mut().filter(|action| action.is_of_reply() && action.reply > at as u32) {
        action.reply += 1;
    }
}

fn drop_reply(scenario: &mut Scenario, source: &mut Source<'_>) {
    let Some(index) = turn(scenario, source) else { return };
    let n_replies = scenario.turns[index].replies.len();
    if n_replies > 1 {
        fixup::remove_reply(&mut scenario.turns[index], source.below(n_replies));
    }
}

fn add_turn(scenario: &mut Scenario, source: &mut Source<'_>) {
    if scenario.turns.len() > MAX_TURNS {
        return;
    }
    let mut names = Names::of(scenario);
    let at = scenario.turns.len() - source.below(scenario.turns.len() + 1);
    let drawn = turns::draw(source, &mut names, &mut scenario.tools, at);
    scenario.turns.insert(at, drawn);
    actions::draw(source, scenario, at);
}

fn drop_turn(scenario: &mut Scenario, source: &mut Source<'_>) {
    if scenario.turns.len() > 1 {
        let at = source.below(scenario.turns.len());
        scenario.turns.remove(at);
    }
}

fn change_limits(scenario: &mut Scenario, source: &mut Source<'_>) {
    match source.below(2) {
        0 => {
            let n_steps = 1 + source.below(super::MAX_REPLIES) as u32;
            scenario.limits.steps = if scenario.limits.steps.is_some() { None } else { Some(n_steps) };
        }
        _ => {
            if let Some(index) = turn(scenario, source) {
                let turn = &mut scenario.turns[index];
                turn.process = if turn.process == 1 { 2 } else { 1 };
            }
        }
    }
}

/// Limits the scenario to one provider, or removes the limit.
fn change_provider(scenario: &mut Scenario, source: &mut Source<'_>) {
    let name = |dialect: &Dialect| Profile::newest(*dialect).name.to_owned();
    scenario.model = None;
    scenario.profile = match scenario.profile {
        Some(_) => None,
        None => source.pick(&Dialect::ALL).map(name),
    };
}

/// Makes the model think in every reply, or in none.
fn change_thinking(scenario: &mut Scenario, _: &mut Source<'_>) {
    let thinks = scenario.thinks();
    let replies = scenario.turns.iter_mut().flat_map(|turn| &mut turn.replies);
    for blocks in replies.flat_map(|reply| &mut reply.attempts) {
        if thinks {
            blocks.retain(|block| !matches!(block, Block::Think(_)));
        } else {
            turns::thinking(blocks);
        }
    }
}
