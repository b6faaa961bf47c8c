//! Takes out of a changed scenario what does not fit the rest of it any more.

use std::collections::BTreeSet;

use super::calls::{self, plain};
use super::{actions, points, turns};
use brickbat_scenario::scenario::{Action, At, Block, Call, CallId, Point, Reply, Scenario, Turn, Which};

/// Mends a scenario after a change, so that it can be played in most cases.
pub(super) fn mend(scenario: &mut Scenario) {
    if scenario.turns.is_empty() {
        scenario.turns.push(Turn {
            user: turns::user(0),
            process: 1,
            replies: Vec::new(),
            settle: Vec::new(),
            at: Vec::new(),
        });
    }
    ids(scenario);
    let tools = scenario.tools.clone();
    for (index, turn) in scenario.turns.iter_mut().enumerate() {
        let ends = |call: &Call| tools.get(&call.tool).is_some_and(|tool| tool.ends);
        replies(turn, ends);
        references(turn, index);
    }
    if turns::thinks(scenario) {
        let replies = scenario.turns.iter_mut().flat_map(|turn| &mut turn.replies);
        replies.flat_map(|reply| &mut reply.attempts).for_each(turns::thinking);
    }
    first_process(scenario);
    said(scenario);
    limit(scenario);
    turns::put_off(scenario);
    let used: BTreeSet<String> = calls::calls(scenario).map(|call| call.tool.clone()).collect();
    scenario.tools.retain(|name, _| used.contains(name));
    let lacking: Vec<&String> = used.iter().filter(|name| !scenario.tools.contains_key(*name)).collect();
    if !lacking.is_empty() {
        untooled(scenario);
    }
    offered(scenario);
    let names: BTreeSet<String> = calls::calls(scenario).map(|call| call.name.clone()).collect();
    scenario.expect.executed.retain(|name, _| names.contains(name));
}

/// Ids are those of earlier calls, and the user knows a call by its own.
fn ids(scenario: &mut Scenario) {
    // The user knows a call by its id, so nobody shares it.
    let mut earlier: BTreeSet<String> = BTreeSet::new();
    let tools = &scenario.tools;
    let replies = scenario.turns.iter_mut().flat_map(|turn| &mut turn.replies);
    for block in replies.flat_map(|reply| &mut reply.attempts).flatten() {
        let Block::Call(call) = block else { continue };
        let asks = tools.get(&call.tool).is_some_and(|tool| tool.asks);
        let is_unknown = matches!(&call.id, Some(CallId::Same(name)) if !earlier.contains(name));
        if asks || is_unknown {
            call.id = None;
        }
        if call.raw.is_some() {
            call.args.clear();
        }
        if !asks {
            earlier.insert(call.name.clone());
        }
    }
}

/// Each attempt but the last breaks, each reply but the last makes calls, and none is empty.
fn replies(turn: &mut Turn, ends: impl Fn(&Call) -> bool) {
    for (number, reply) in turn.replies.iter_mut().enumerate() {
        let breaks = |attempt: usize| {
            let here = |at: &&At| (at.reply as usize, at.attempt as usize) == (number + 1, attempt);
            turn.at.iter().filter(here).any(|at| actions::breaks(&at.action))
        };
        let n_served = (1..reply.attempts.len()).take_while(|attempt| breaks(*attempt)).count() + 1;
        reply.attempts.truncate(n_served);
        reply.attempts.iter_mut().for_each(blocks);
        let n_calls = reply.attempts.iter().map(|blocks| points::of_attempt(blocks).count()).max();
        reply.interleave &= n_calls > Some(1);
        let has_same = turns::calls_of(reply).any(|call| matches!(call.id, Some(CallId::Same(_))));
        if reply.interleave || has_same {
            reply.indices = None;
        }
    }
    let goes_on = |reply: &Reply| {
        let calls = reply.attempts.last().map_or(0, |blocks| points::of_attempt(blocks).count());
        calls > 0 && !turns::calls_of(reply).any(&ends)
    };
    let n_asked = turn.replies.iter().take_while(|reply| goes_on(reply)).count() + 1;
    turn.replies.truncate(n_asked);
    if turn.replies.last().is_none_or(goes_on) {
        turn.replies.push(turns::last(&mut super::Source::of_bytes(&[])));
    }
}

/// A thought stands first and alone nowhere, and something is said.
fn blocks(blocks: &mut Vec<Block>) {
    let mut n = 0;
    blocks.retain(|block| {
        n += 1;
        n == 1 || !matches!(block, Block::Think(_))
    });
    let says = |block: &Block| match block {
        Block::Think(_) => false,
        Block::Text(text) => !text.is_empty(),
        Block::Call(_) => true,
    };
    if !blocks.iter().any(says) {
        blocks.push(Block::Text("Here they are.".to_owned()));
    }
}

/// Orders and actions speak of what is there.
fn references(turn: &mut Turn, index: usize) {
    let names: BTreeSet<String> =
        turn.replies.iter().flat_map(turns::calls_of).map(|call| call.name.clone()).collect();
    let mut told = BTreeSet::new();
    turn.settle.retain(|name| names.contains(name) && told.insert(name.clone()));
    let attempts =
        |at: &At| turn.replies.get((at.reply as usize).wrapping_sub(1)).map(|reply| reply.attempts.len());
    let n_calls =
        |reply: &Reply| reply.attempts.iter().map(|blocks| points::of_attempt(blocks).count()).max();
    let n_calls = turn.replies.iter().filter_map(n_calls).sum::<usize>() as u32;
    let is_there = |at: &At| {
        let point = at.before.as_ref().or(at.after.as_ref());
        let stands = match point {
            Some(Point::Prompt) => index > 0,
            Some(Point::Start(name) | Point::Delta(name, _) | Point::End(name) | Point::Asked(name)) => {
                names.contains(name)
            }
            Some(Point::Started(Which::Call(name)) | Point::Settled(Which::Call(name))) => {
                names.contains(name)
            }
            Some(Point::Started(Which::Count(count)) | Point::Settled(Which::Count(count))) => {
                *count <= n_calls
            }
            Some(Point::Saved(entry)) => *entry <= 1 + 2 * n_calls,
            Some(_) => true,
            None => false,
        };
        let rewinds = matches!(at.action, Action::Rewind(turn) if turn as usize > index);
        stands
            && !rewinds
            && attempts(at).is_some_and(|n_attempts| (1..=n_attempts).contains(&(at.attempt as usize)))
    };
    turn.at.retain(is_there);
    let is_own = |name: &String| index > 0 || names.contains(name);
    turn.at.retain(|at| !matches!(&at.action, Action::Settle(name) if !is_own(name)));
}

/// The first process opens the session, and where there are two none is killed.
fn first_process(scenario: &mut Scenario) {
    if let Some(first) = scenario.turns.first_mut() {
        first.process = 1;
    }
    if scenario.turns.iter().any(|turn| turn.process != 1) {
        scenario.turns.iter_mut().for_each(|turn| turn.at.retain(|at| at.action != Action::Kill));
    }
}

/// Everything that is said is said once.
fn said(scenario: &mut Scenario) {
    let mut n_said = 0;
    for (index, turn) in scenario.turns.iter_mut().enumerate() {
        turn.user = turns::user(index);
        for at in &mut turn.at {
            if let Action::Steer(text) | Action::Prompt(text) | Action::Inject(text) | Action::Aside(text) =
                &mut at.action
            {
                *text = format!("Mind note {n_said}.");
                n_said += 1;
            }
        }
    }
}

/// A limit that no turn reaches is none.
fn limit(scenario: &mut Scenario) {
    let longest = scenario.turns.iter().map(|turn| turn.replies.len()).max().unwrap_or(0);
    scenario.limits.steps = scenario.limits.steps.filter(|steps| (*steps as usize) < longest);
}

/// A model that calls tools is offered one; and a request for a summary is known by offering none.
pub(super) fn offered(scenario: &mut Scenario) {
    let mut actions = scenario.turns.iter().flat_map(|turn| &turn.at);
    let asks_beside = actions.any(|at| matches!(at.action, Action::Summarise(_) | Action::Aside(_)));
    if asks_beside || scenario.tools.values().any(|tool| tool.missing) {
        plain(&mut scenario.tools);
    }
}

/// Calls of tools that there are not call the plain one.
fn untooled(scenario: &mut Scenario) {
    let known = scenario.tools.clone();
    let name = plain(&mut scenario.tools);
    let replies = scenario.turns.iter_mut().flat_map(|turn| &mut turn.replies);
    for block in replies.flat_map(|reply| &mut reply.attempts).flatten() {
        match block {
            Block::Call(call) if !known.contains_key(&call.tool) => {
                call.tool.clone_from(&name);
                if call.raw.is_none() {
                    call.args.entry("key".to_owned()).or_insert_with(|| call.name.as_str().into());
                }
            }
            _ => {}
        }
    }
}
