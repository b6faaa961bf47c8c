//! What is left makes sense: what names something that is gone goes with it, and counts stay within what there is.

use std::collections::{BTreeMap, BTreeSet};

use super::edit::{calls, calls_mut, is_of_reply};
use super::plain;
use brickbat_scenario::scenario::{
    Action, At, Block, Call, CallId, Expect, Point, Reply, Scenario, Tool, Turn, Which,
};

/// Takes out a turn. What takes back a later one counts it no more.
pub(super) fn remove_turn(scenario: &mut Scenario, turn: usize) {
    scenario.turns.remove(turn);
    for later in &mut scenario.turns {
        later.at.retain_mut(|at| match &mut at.action {
            Action::Rewind(number) => shifted(number, turn),
            _ => true,
        });
    }
}

/// Takes out a reply, with what happens in it.
pub(super) fn remove_reply(turn: &mut Turn, reply: usize) {
    let gone = turn.replies[reply].attempts.iter().flat_map(|blocks| of(blocks));
    let gone: Vec<String> = gone.map(|call| call.name.clone()).collect();
    gone.iter().for_each(|name| count_without(turn, name));
    turn.replies.remove(reply);
    turn.at.retain_mut(|at| !is_of_reply(at) || shifted(&mut at.reply, reply));
}

/// Takes out an attempt, with what happens in it; with its only attempt a reply goes as well.
pub(super) fn remove_attempt(turn: &mut Turn, reply: usize, attempt: usize) {
    if turn.replies[reply].attempts.len() == 1 {
        return remove_reply(turn, reply);
    }
    turn.replies[reply].attempts.remove(attempt);
    let is_there = |at: &At| is_of_reply(at) && at.reply as usize == reply + 1;
    turn.at.retain_mut(|at| !is_there(at) || shifted(&mut at.attempt, attempt));
}

/// Takes out a block. What waits for so many calls waits for one call less, if this is one of them.
pub(super) fn remove_block(turn: &mut Turn, (reply, attempt, block): (usize, usize, usize)) {
    if let Block::Call(call) = &turn.replies[reply].attempts[attempt][block] {
        let name = call.name.clone();
        count_without(turn, &name);
    }
    turn.replies[reply].attempts[attempt].remove(block);
}

/// Counts a turn's calls without one that goes.
fn count_without(turn: &mut Turn, name: &str) {
    let Turn { replies, settle, at, .. } = turn;
    let mut started: Vec<(usize, &str)> = Vec::new();
    for (reply, said) in replies.iter().enumerate() {
        started.extend(
            said.attempts.iter().flat_map(|blocks| of(blocks)).map(|call| (reply, call.name.as_str())),
        );
    }
    let mut settled = started.clone();
    let place = |name: &str| settle.iter().position(|other| other == name).unwrap_or(settle.len());
    settled.sort_by_key(|(reply, name)| (*reply, place(name)));
    let comes_in = |order: &[(usize, &str)], count: u32| {
        order.iter().take(count as usize).any(|(_, other)| *other == name)
    };
    for at in at {
        let is_before = at.before.is_some();
        match at.before.as_mut().or(at.after.as_mut()) {
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

/// Counts a number, from 1, without the one that is gone, from 0. False for that one itself.
fn shifted(number: &mut u32, gone: usize) -> bool {
    let own = *number as usize;
    if own > gone + 1 {
        *number -= 1;
    }
    own != gone + 1
}

/// Mends a scenario of which something was taken out.
pub(super) fn mend(scenario: &mut Scenario) {
    loop {
        let before = scenario.clone();
        scenario.turns.iter_mut().for_each(|turn| {
            blocks(turn);
            attempts(turn);
            replies(turn, &scenario.tools);
        });
        if let Some(first) = scenario.turns.first_mut() {
            first.at.retain(|at| at.before != Some(Point::Prompt));
        }
        names(scenario);
        let most = scenario.turns.iter().map(|turn| turn.replies.len()).max().unwrap_or(0);
        scenario.limits.steps = scenario.limits.steps.map(|steps| steps.min(most.saturating_sub(1) as u32));
        scenario.limits.steps = scenario.limits.steps.filter(|steps| *steps > 0);
        let tools = &scenario.tools;
        scenario.turns.iter_mut().for_each(|turn| actions(turn, tools));
        if *scenario == before {
            return;
        }
    }
}

/// An attempt that says nothing goes. A turn in which nothing is said gets a plain reply.
fn blocks(turn: &mut Turn) {
    let says = |block: &Block| match block {
        Block::Think(_) => false,
        Block::Text(text) => !text.is_empty(),
        Block::Call(_) => true,
    };
    for reply in (0..turn.replies.len()).rev() {
        for attempt in (0..turn.replies[reply].attempts.len()).rev() {
            if !turn.replies[reply].attempts[attempt].iter().any(says) {
                remove_attempt(turn, reply, attempt);
            }
        }
    }
    if turn.replies.is_empty() {
        let attempts = vec![vec![Block::Text(plain::SAID.to_owned())]];
        turn.replies.push(Reply { attempts, interleave: false, stop: None, indices: None });
    }
}

/// An attempt is asked for only when the one before has failed.
fn attempts(turn: &mut Turn) {
    for reply in 0..turn.replies.len() {
        let fails = |attempt: usize| {
            let of_attempt = |at: &&At| {
                is_of_reply(at) && (at.reply as usize, at.attempt as usize) == (reply + 1, attempt + 1)
            };
            turn.at.iter().filter(of_attempt).any(|at| ends_attempt(&at.action))
        };
        let n_attempts = turn.replies[reply].attempts.len();
        let n_asked = 1 + (0..n_attempts).take_while(|attempt| fails(*attempt)).count();
        for attempt in (n_asked..n_attempts).rev() {
            remove_attempt(turn, reply, attempt);
        }
    }
}

fn ends_attempt(action: &Action) -> bool {
    matches!(action, Action::Reset | Action::Eof | Action::EndEarly | Action::Error(_))
}

/// A reply is asked for only when the one before makes calls, and none of them ends the turn.
fn replies(turn: &mut Turn, tools: &BTreeMap<String, Tool>) {
    let ends = |call: &Call| tools.get(&call.tool).is_some_and(|tool| tool.ends);
    let goes_on = |reply: &Reply| {
        let calls: Vec<&Call> = reply.attempts.last().into_iter().flat_map(|blocks| of(blocks)).collect();
        !calls.is_empty() && !calls.iter().any(|call| ends(call))
    };
    let n_asked = 1 + turn.replies.iter().take_while(|reply| goes_on(reply)).count();
    for reply in (n_asked..turn.replies.len()).rev() {
        remove_reply(turn, reply);
    }
    for reply in &mut turn.replies {
        let n_calls = reply.attempts.iter().map(|blocks| of(blocks).count()).max().unwrap_or(0);
        reply.interleave &= n_calls > 1;
        reply.indices = reply.indices.filter(|_| n_calls > 0);
    }
}

fn of(blocks: &[Block]) -> impl Iterator<Item = &Call> {
    blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        Block::Think(_) | Block::Text(_) => None,
    })
}

/// Nobody names a call that is gone.
fn names(scenario: &mut Scenario) {
    let all: BTreeSet<String> = calls(scenario).map(|call| call.name.clone()).collect();
    let Expect { executed } = &mut scenario.expect;
    executed.retain(|name, _| all.contains(name));
    for turn in &mut scenario.turns {
        let own: BTreeSet<String> = turn
            .replies
            .iter()
            .flat_map(|reply| &reply.attempts)
            .flat_map(|blocks| of(blocks))
            .map(|call| call.name.clone())
            .collect();
        turn.settle.retain(|name| own.contains(name));
        turn.at.retain(|at| {
            let settles = match &at.action {
                Action::Settle(name) => all.contains(name),
                _ => true,
            };
            let point = at.before.as_ref().or(at.after.as_ref());
            settles && point.and_then(named).is_none_or(|name| own.contains(name))
        });
    }
    let mut earlier = BTreeSet::new();
    for call in calls_mut(scenario) {
        if let Some(CallId::Same(name)) = &call.id
            && !earlier.contains(name)
        {
            call.id = None;
        }
        earlier.insert(call.name.clone());
    }
}

/// The call that a point names.
fn named(point: &Point) -> Option<&str> {
    match point {
        Point::Start(name)
        | Point::Delta(name, _)
        | Point::End(name)
        | Point::Asked(name)
        | Point::Started(Which::Call(name))
        | Point::Settled(Which::Call(name)) => Some(name),
        _ => None,
    }
}

/// Points stay within what the turn has; what has no place any more goes.
fn actions(turn: &mut Turn, tools: &BTreeMap<String, Tool>) {
    let Turn { replies, at, .. } = turn;
    at.retain_mut(|at| {
        let (reply, attempt) = (at.reply as usize, at.attempt as usize);
        let is_of_reply = is_of_reply(at);
        let blocks = replies.get(reply - 1).and_then(|reply| reply.attempts.get(attempt - 1));
        if is_of_reply && blocks.is_none() {
            return false;
        }
        let blocks = blocks.map_or(&[][..], Vec::as_slice);
        let n_calls: usize = replies.iter().map(most_calls).sum();
        let Some(point) = at.before.as_mut().or(at.after.as_mut()) else { return true };
        match point {
            Point::Text(fragment) => {
                within(fragment, fragments(blocks, |block| matches!(block, Block::Text(_))))
            }
            Point::Think(fragment) => {
                within(fragment, fragments(blocks, |block| matches!(block, Block::Think(_))))
            }
            Point::Delta(name, delta) => {
                let call = of(blocks).find(|call| call.name == *name);
                call.is_some_and(|call| within(delta, call.deltas))
            }
            Point::Start(name) | Point::End(name) => of(blocks).any(|call| call.name == *name),
            Point::Calls => of(blocks).next().is_some(),
            Point::Asked(name) => {
                let asks = |call: &Call| tools.get(&call.tool).is_some_and(|tool| tool.asks);
                let all = replies.iter().flat_map(|reply| &reply.attempts);
                all.flat_map(|blocks| of(blocks)).any(|call| call.name == *name && asks(call))
            }
            Point::Started(Which::Count(count)) => within(count, n_calls as u32),
            Point::Settled(Which::Count(count)) => {
                *count == 0 && n_calls > 0 || within(count, n_calls as u32)
            }
            Point::Saved(entry) => within(entry, 1 + 2 * n_calls as u32),
            Point::Started(Which::Call(_)) | Point::Settled(Which::Call(_)) => n_calls > 0,
            Point::Prompt | Point::Headers | Point::Stop | Point::Reply => true,
        }
    });
}

/// Calls of a reply that can settle: only one of its attempts comes to its end.
fn most_calls(reply: &Reply) -> usize {
    reply.attempts.iter().map(|blocks| of(blocks).count()).max().unwrap_or(0)
}

/// A text is sent in two fragments, if it has as many characters.
fn fragments(blocks: &[Block], is_meant: impl Fn(&Block) -> bool) -> u32 {
    let lengths = blocks.iter().filter(|block| is_meant(block)).map(|block| match block {
        Block::Think(text) | Block::Text(text) => text.chars().count().clamp(1, 2) as u32,
        Block::Call(_) => 0,
    });
    lengths.sum()
}

/// Brings a number, from 1, down to the most that there are. False if there are none.
fn within(number: &mut u32, most: u32) -> bool {
    *number = (*number).min(most);
    most > 0
}
