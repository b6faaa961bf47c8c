//! Removes parts of a scenario and repairs the rest: references to a removed part are removed too, and counts
//! stay within their range.

mod searches;

use std::collections::{BTreeMap, BTreeSet};

use brickbat_scenario::lower::impossible_tool_change;
use brickbat_scenario::point::{Point, Which};
use brickbat_scenario::scenario::{Action, At, Block, Call, CallId, Expect, Reply, Scenario, Tool, Turn};

/// The default text of the model.
pub(crate) const SAID: &str = "Ok.";

/// Removes a turn. Rewinds of later turns are renumbered.
pub(crate) fn remove_turn(scenario: &mut Scenario, turn: usize) {
    scenario.turns.remove(turn);
    for later in &mut scenario.turns {
        later.at.retain_mut(|at| match &mut at.action {
            Action::Rewind(number) => shifted(number, turn),
            _ => true,
        });
    }
}

/// Removes a reply, and the actions in it.
pub(crate) fn remove_reply(turn: &mut Turn, reply: usize) {
    let gone: Vec<String> = turn.replies[reply].all_calls().map(|call| call.name.clone()).collect();
    gone.iter().for_each(|name| count_without(turn, name));
    turn.replies.remove(reply);
    turn.at.retain_mut(|at| !at.is_of_reply() || shifted(&mut at.reply, reply));
}

/// Removes an attempt, and the actions in it. If it is the only attempt, the reply is also removed.
pub(crate) fn remove_attempt(turn: &mut Turn, reply: usize, attempt: usize) {
    if turn.replies[reply].attempts.len() == 1 {
        return remove_reply(turn, reply);
    }
    turn.replies[reply].attempts.remove(attempt);
    let is_there = |at: &At| at.is_of_reply() && at.reply as usize == reply + 1;
    turn.at.retain_mut(|at| !is_there(at) || shifted(&mut at.attempt, attempt));
}

/// Removes a block. If it is a call, counts of calls that include it decrease by one.
pub(crate) fn remove_block(turn: &mut Turn, (reply, attempt, block): (usize, usize, usize)) {
    if let Block::Call(call) = &turn.replies[reply].attempts[attempt][block] {
        let name = call.name.clone();
        count_without(turn, &name);
    }
    turn.replies[reply].attempts[attempt].remove(block);
}

/// Updates a turn's counts after the removal of one call.
fn count_without(turn: &mut Turn, name: &str) {
    let Turn { replies, settle, at, .. } = turn;
    let of_reply = |(reply, said): (usize, &'_ Reply)| {
        said.calls().map(|call| (reply, call.name.clone())).collect::<Vec<(usize, String)>>()
    };
    let started: Vec<(usize, String)> = replies.iter().enumerate().flat_map(of_reply).collect();
    let mut settled = started.clone();
    let place = |name: &str| settle.iter().position(|other| other == name).unwrap_or(settle.len());
    settled.sort_by_key(|(reply, name)| (*reply, place(name)));
    let comes_in = |order: &[(usize, String)], count: u32| {
        order.iter().take(count as usize).any(|(_, other)| other == name)
    };
    for at in at {
        let is_before = at.before.is_some();
        match at.point_mut() {
            Some(Point::Started(Which::Count(count))) if *count > 1 && comes_in(&started, *count) => {
                *count -= 1
            }
            Some(Point::Settled(Which::Count(count)))
                if *count > u32::from(is_before) && comes_in(&settled, *count) =>
            {
                *count -= 1;
            }
            _ => {}
        }
    }
}

/// Renumbers a 1-based reference after the removal of the element with the 0-based index `gone`. Returns
/// false if it referred to that element.
fn shifted(number: &mut u32, gone: usize) -> bool {
    let own = *number as usize;
    if own > gone + 1 {
        *number -= 1;
    }
    own != gone + 1
}

/// Repairs the searches of a scenario.
pub(crate) fn searches(scenario: &mut Scenario) {
    searches::fix(scenario);
}

/// Repairs a scenario after parts were removed, until nothing changes.
pub(crate) fn fix(scenario: &mut Scenario) {
    loop {
        let before = scenario.clone();
        fix_once(scenario);
        if *scenario == before {
            return;
        }
    }
}

/// Repairs a scenario in one pass, which is enough in most cases.
pub(crate) fn fix_once(scenario: &mut Scenario) {
    searches(scenario);
    scenario.turns.iter_mut().for_each(|turn| {
        blocks(turn);
        attempts(turn);
        replies(turn, &scenario.tools);
    });
    first_turn(scenario);
    names(scenario);
    let most = scenario.turns.iter().map(|turn| turn.replies.len()).max().unwrap_or(0);
    scenario.limits.steps = scenario.limits.steps.map(|steps| steps.min(most.saturating_sub(1) as u32));
    scenario.limits.steps = scenario.limits.steps.filter(|steps| *steps > 0);
    let tools = &scenario.tools;
    scenario.turns.iter_mut().enumerate().for_each(|(index, turn)| actions(turn, index, tools));
    compactions(scenario);
    tool_changes(scenario);
}

/// Removes changes of the list of tools that are no longer possible.
pub(crate) fn tool_changes(scenario: &mut Scenario) {
    while let Some((turn, index)) = impossible_tool_change(scenario) {
        scenario.turns[turn].at.remove(index);
    }
}

/// Removes actions at requests for a summary that cannot happen there.
fn compactions(scenario: &mut Scenario) {
    let is_there = |at: &At| matches!(at.point(), Some(Point::Compaction(_)));
    for index in 0..scenario.turns.len() {
        let mut at = std::mem::take(&mut scenario.turns[index].at);
        scenario.turns[index].at.clone_from(&at);
        at.retain(|at| !is_there(at) || scenario.allows_at_summary(index, &at.action));
        scenario.turns[index].at = at;
    }
}

/// Removes actions before the first turn, which runs in the first process; if there are two processes,
/// removes kills.
fn first_turn(scenario: &mut Scenario) {
    if let Some(first) = scenario.turns.first_mut() {
        first.at.retain(|at| !at.is_between_turns());
        first.process = 1;
    }
    if scenario.turns.iter().any(|turn| turn.process != 1) {
        scenario.turns.iter_mut().for_each(|turn| turn.at.retain(|at| at.action != Action::Kill));
    }
}

/// Removes attempts without a text or a call. A turn that becomes empty gets a plain reply.
fn blocks(turn: &mut Turn) {
    let says = |block: &Block| match block {
        Block::Think(_) => false,
        Block::Text(_) | Block::Call(_) | Block::Search(_) | Block::Found(_) => true,
    };
    for reply in (0..turn.replies.len()).rev() {
        for attempt in (0..turn.replies[reply].attempts.len()).rev() {
            if !turn.replies[reply].attempts[attempt].iter().any(says) {
                remove_attempt(turn, reply, attempt);
            }
        }
    }
    if turn.replies.is_empty() {
        turn.replies.push(Reply::new(vec![Block::Text(SAID.to_owned())]));
    }
}

/// Removes attempts that are never requested, because the one before does not fail.
fn attempts(turn: &mut Turn) {
    for reply in 0..turn.replies.len() {
        let fails = |attempt: usize| {
            let of_attempt = |at: &&At| {
                at.is_of_reply() && (at.reply as usize, at.attempt as usize) == (reply + 1, attempt + 1)
            };
            turn.at.iter().filter(of_attempt).any(|at| at.action.ends_attempt())
        };
        let n_attempts = turn.replies[reply].attempts.len();
        let n_asked = 1 + (0..n_attempts).take_while(|attempt| fails(*attempt)).count();
        for attempt in (n_asked..n_attempts).rev() {
            remove_attempt(turn, reply, attempt);
        }
    }
}

/// Removes replies that are never requested, because the one before does not pause, and makes no call or one
/// that ends the turn.
fn replies(turn: &mut Turn, tools: &BTreeMap<String, Tool>) {
    let ends = |call: &Call| tools.get(&call.tool).is_some_and(|tool| tool.ends);
    let goes_on = |reply: &Reply| {
        let mut calls = reply.attempts.last().into_iter().flatten().filter_map(Block::call).peekable();
        reply.pauses() || (calls.peek().is_some() && !calls.any(ends))
    };
    let n_asked = 1 + turn.replies.iter().take_while(|reply| goes_on(reply)).count();
    for reply in (n_asked..turn.replies.len()).rev() {
        remove_reply(turn, reply);
    }
    for reply in &mut turn.replies {
        let n_calls = reply.n_calls();
        reply.interleave &= n_calls > 1;
        reply.indices = reply.indices.filter(|_| n_calls > 0);
    }
}

/// Removes references to calls that are gone.
fn names(scenario: &mut Scenario) {
    let all: BTreeSet<String> = scenario.all_calls().map(|call| call.name.clone()).collect();
    let Expect { executed } = &mut scenario.expect;
    executed.retain(|name, _| all.contains(name));
    for turn in &mut scenario.turns {
        let own: BTreeSet<String> = turn.all_calls().map(|call| call.name.clone()).collect();
        let mut settled = BTreeSet::new();
        turn.settle.retain(|name| own.contains(name) && settled.insert(name.clone()));
        turn.at.retain(|at| {
            let settles = at.action.call().is_none_or(|name| all.contains(name));
            settles && at.point().and_then(Point::call).is_none_or(|name| own.contains(name))
        });
    }
    let mut earlier = BTreeSet::new();
    for call in scenario.calls_mut() {
        if let Some(CallId::Same(name)) = &call.id
            && !earlier.contains(name)
        {
            call.id = None;
        }
        earlier.insert(call.name.clone());
    }
}

/// Brings points into the range of the turn, and removes actions without a possible point.
fn actions(turn: &mut Turn, index: usize, tools: &BTreeMap<String, Tool>) {
    let (n_calls, n_saved) = (turn.n_calls(), turn.n_saved());
    let Turn { replies, at, .. } = turn;
    at.retain_mut(|at| {
        if matches!(at.action, Action::Rewind(turn) if turn as usize > index) {
            return false;
        }
        let (reply, attempt) = (at.reply as usize, at.attempt as usize);
        let blocks =
            replies.get(reply.wrapping_sub(1)).and_then(|reply| reply.attempts.get(attempt.wrapping_sub(1)));
        if at.is_of_reply() && blocks.is_none() {
            return false;
        }
        let blocks = blocks.map_or(&[][..], Vec::as_slice);
        let calls = || blocks.iter().filter_map(Block::call);
        let Some(point) = at.point_mut() else { return false };
        match point {
            Point::Text(fragment) => {
                within(fragment, fragments(blocks, |block| matches!(block, Block::Text(_))))
            }
            Point::Think(fragment) => {
                within(fragment, fragments(blocks, |block| matches!(block, Block::Think(_))))
            }
            Point::Delta(name, delta) => {
                let call = calls().find(|call| call.name == *name);
                call.is_some_and(|call| within(delta, call.deltas))
            }
            Point::Search(name) => {
                blocks.iter().any(|block| matches!(block, Block::Search(search) if search.name == *name))
            }
            Point::Found(name) => blocks.iter().any(|block| match block {
                Block::Search(search) => search.name == *name && search.finds.is_some(),
                Block::Found(found) => found.search == *name,
                Block::Think(_) | Block::Text(_) | Block::Call(_) => false,
            }),
            Point::Start(name) | Point::End(name) => calls().any(|call| call.name == *name),
            Point::Calls => calls().next().is_some(),
            Point::Asked(name) => {
                let asks = |call: &Call| tools.get(&call.tool).is_some_and(|tool| tool.asks);
                replies.iter().flat_map(Reply::calls).any(|call| call.name == *name && asks(call))
            }
            Point::Started(Which::Count(count)) => within(count, n_calls),
            Point::Settled(Which::Count(count)) => *count == 0 && n_calls > 0 || within(count, n_calls),
            Point::Saved(entry) => within(entry, n_saved),
            // `compactions` removes it if nothing makes the system compact its history.
            Point::Compaction(_) => true,
            Point::Started(Which::Call(_)) | Point::Settled(Which::Call(_)) => n_calls > 0,
            Point::Prompt | Point::Headers | Point::Stop | Point::Reply => true,
        }
    });
}

/// The number of fragments in the blocks: a text is sent in two if it has at least two characters.
fn fragments(blocks: &[Block], is_meant: impl Fn(&Block) -> bool) -> u32 {
    let lengths = blocks.iter().filter(|block| is_meant(block)).map(|block| match block {
        Block::Think(text) | Block::Text(text) => text.chars().count().clamp(1, 2) as u32,
        Block::Call(_) | Block::Search(_) | Block::Found(_) => 0,
    });
    lengths.sum()
}

/// Lowers a 1-based number to the maximum. Returns false if the maximum is 0.
fn within(number: &mut u32, most: u32) -> bool {
    *number = (*number).min(most);
    most > 0
}
