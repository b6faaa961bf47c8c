//! Repairs a changed scenario, so that in most cases it can be run.

use std::collections::BTreeSet;

use super::{calls, turns};
use crate::fixup;
use brickbat_scenario::scenario::{Action, Block, Call, CallId, Expect, Scenario, Turn};

/// Repairs a scenario after a change.
pub(super) fn normalize(scenario: &mut Scenario) {
    if scenario.turns.is_empty() {
        let user = turns::user(0);
        scenario.turns.push(Turn::new(user, Vec::new()));
    }
    // The expectations about calls apply to the original scenario, not to a mutant.
    scenario.expect = Expect::default();
    let thinks = scenario.thinks();
    own_ids(scenario);
    numbered(scenario);
    fixup::fix_once(scenario);
    let tools = scenario.tools.clone();
    for turn in &mut scenario.turns {
        last_reply(turn, |call| tools.get(&call.tool).is_some_and(|tool| tool.ends));
    }
    thought_first(scenario, thinks);
    said_once(scenario);
    turns::put_off(scenario);
    let used: BTreeSet<String> = scenario.all_calls().map(|call| call.tool.clone()).collect();
    let changed: BTreeSet<String> =
        actions(scenario).filter_map(Action::changed_tool).map(str::to_owned).collect();
    scenario.tools.retain(|name, _| used.contains(name) || changed.contains(name));
    if used.iter().any(|name| !scenario.tools.contains_key(name)) {
        untooled(scenario);
    }
    offered(scenario);
    fixup::tool_changes(scenario);
}

/// Gives a call about which the user is asked a unique id, because the user identifies it by its id.
fn own_ids(scenario: &mut Scenario) {
    let tools = scenario.tools.clone();
    let asks = |call: &Call| tools.get(&call.tool).is_some_and(|tool| tool.asks);
    let asked: BTreeSet<String> =
        scenario.calls().filter(|call| asks(call)).map(|call| call.name.clone()).collect();
    for call in scenario.calls_mut() {
        let is_asked = |name: &String| asked.contains(name);
        if asks(call) || matches!(&call.id, Some(CallId::Same(name)) if is_asked(name)) {
            call.id = None;
        }
        if call.raw.is_some() {
            call.args.clear();
        }
    }
}

/// Resets numbering and interleaving in scenarios with thinking, because no dialect that exposes thinking
/// numbers or interleaves its calls. Also resets the numbering of calls with equal ids, because these calls
/// need different numbers.
pub(super) fn numbered(scenario: &mut Scenario) {
    let thinks = scenario.thinks();
    let replies = scenario.turns.iter_mut().flat_map(|turn| &mut turn.replies);
    for reply in replies {
        reply.interleave &= !thinks;
        if thinks || reply.interleave || reply.repeats_ids() {
            reply.indices = None;
        }
    }
}

/// Ends each turn with a reply without calls, or with a tool's result.
fn last_reply(turn: &mut Turn, ends: impl Fn(&Call) -> bool) {
    let last = turn.replies.last().and_then(|reply| reply.attempts.last());
    let mut calls = last.into_iter().flatten().filter_map(Block::call).peekable();
    if calls.peek().is_some() && !calls.any(ends) {
        turn.replies.push(turns::last(&mut super::Source::of_bytes(&[])));
    }
}

/// If the model thinks, makes every reply begin with thinking and contain no further thinking.
fn thought_first(scenario: &mut Scenario, thinks: bool) {
    let replies = scenario.turns.iter_mut().flat_map(|turn| &mut turn.replies);
    for blocks in replies.flat_map(|reply| &mut reply.attempts).filter(|_| thinks) {
        let mut n = 0;
        blocks.retain(|block| {
            n += 1;
            n == 1 || !matches!(block, Block::Think(_))
        });
        turns::thinking(blocks);
    }
}

/// Makes every message unique.
fn said_once(scenario: &mut Scenario) {
    let mut n_said = 0;
    for (index, turn) in scenario.turns.iter_mut().enumerate() {
        turn.user = turns::user(index);
        for text in turn.at.iter_mut().filter_map(|at| at.action.text_mut()) {
            *text = format!("Mind note {n_said}.");
            n_said += 1;
        }
    }
}

/// Adds a tool that the system is offered, if the scenario needs one: a model that calls tools must be
/// offered one, and a request for a summary is recognised because it offers none.
pub(super) fn offered(scenario: &mut Scenario) {
    let asks_beside =
        actions(scenario).any(|action| matches!(action, Action::Summarise(_) | Action::Aside(_)));
    let is_changed = actions(scenario).any(|action| action.changed_tool().is_some());
    if asks_beside || is_changed || scenario.tools.values().any(|tool| tool.missing) {
        calls::plain(&mut scenario.tools);
    }
}

fn actions(scenario: &Scenario) -> impl Iterator<Item = &Action> {
    scenario.turns.iter().flat_map(|turn| &turn.at).map(|at| &at.action)
}

/// Makes calls of missing tools call the plain tool.
fn untooled(scenario: &mut Scenario) {
    let known = scenario.tools.clone();
    let name = calls::plain(&mut scenario.tools);
    for call in scenario.calls_mut().filter(|call| !known.contains_key(&call.tool)) {
        call.tool.clone_from(&name);
        if call.raw.is_none() {
            call.args.entry("key".to_owned()).or_insert_with(|| call.name.as_str().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Source, cross, mutate::mutate};
    use brickbat_scenario::scenario::Times;

    #[test]
    fn a_mutant_has_no_expectations() {
        for seed in 0..20 {
            let mut scenario = generate::scenario(seed);
            let names: Vec<String> = scenario.calls().map(|call| call.name.clone()).collect();
            scenario.expect.executed = names.into_iter().map(|name| (name, Times::Never)).collect();
            let source = &mut Source::seeded(seed);
            for changed in [mutate(&scenario, source), cross(&scenario, &scenario, source)] {
                assert_eq!(changed.expect, Expect::default());
            }
        }
    }
}
