//! What goes wrong in a turn: an action is drawn for a point, and taken if it leaves the others room.

use super::calls::{Manner, Names};
use super::points::{self, Region, Spot};
use super::{MAX_ACTIONS, Source, turns};
use brickbat_scenario::scenario::{
    Action, At, Block, Call, CallId, Cause, ErrorKind, HttpFault, Point, Scenario, Turn, Which,
};

/// How often a place for an action is looked for.
const N_TRIES: usize = 4;

/// Draws what goes wrong in a turn (from 0).
pub(super) fn draw(source: &mut Source<'_>, scenario: &mut Scenario, index: usize) {
    let n_actions = *source.weigh(&[(3, 0), (8, 1), (4, 2), (2, 3)]).unwrap_or(&0);
    for _ in 0..n_actions {
        add(source, scenario, index);
    }
    let turn = &scenario.turns[index];
    let calls = turn.replies.iter().flat_map(turns::calls_of);
    let hangs = calls.into_iter().any(|call| points::hangs(scenario, call));
    if hangs && !turn.at.iter().any(ends) {
        end(source, scenario, index);
    }
}

/// Adds one more action to a turn, if a place is found for it.
pub(super) fn add(source: &mut Source<'_>, scenario: &mut Scenario, index: usize) -> bool {
    let spots = points::of(scenario, index);
    (0..N_TRIES).any(|_| {
        let Some(spot) = choose(source, &spots) else { return false };
        let Some(action) = fitting(source, scenario, index, (&spots, spot)) else { return false };
        take(source, scenario, index, &spots, spot.at(action))
    })
}

/// Ends a turn in which something hangs.
fn end(source: &mut Source<'_>, scenario: &mut Scenario, index: usize) {
    let spots = points::of(scenario, index);
    let last = spots.iter().filter(|spot| matches!(spot.region(), Region::Tools | Region::Result));
    let last: Vec<&Spot> = last.collect();
    for _ in 0..N_TRIES {
        let Some(spot) = source.pick(&last) else { return };
        if take(source, scenario, index, &spots, spot.at(Action::Abort)) {
            return;
        }
    }
}

/// Some kinds of points are few, and as worthy as those that are many.
fn choose<'s>(source: &mut Source<'_>, spots: &'s [Spot]) -> Option<&'s Spot> {
    let regions = [
        (6, Region::Result),
        (5, Region::Tools),
        (8, Region::Stream),
        (3, Region::Headers),
        (3, Region::Prompt),
        (4, Region::Question),
        (1, Region::Store),
    ];
    let has = |region: Region| spots.iter().any(|spot| spot.region() == region);
    let regions: Vec<(usize, Region)> = regions.into_iter().filter(|(_, region)| has(*region)).collect();
    let region = *source.weigh(&regions)?;
    let own: Vec<&Spot> = spots.iter().filter(|spot| spot.region() == region).collect();
    source.pick(&own).copied()
}

/// An action that can happen at such a point.
pub(super) fn fitting(
    source: &mut Source<'_>,
    scenario: &Scenario,
    index: usize,
    (spots, spot): (&[Spot], &Spot),
) -> Option<Action> {
    let is_last = matches!(spot.point, Point::Reply) && !spot.is_before;
    // That a piece was sent twice can be told of what has a name.
    let is_piece = matches!(spot.point, Point::Headers | Point::Delta(..) | Point::Think(_));
    let is_sent = !spot.is_before && !is_piece && !is_nameless(scenario, index, spot);
    let kinds: &[(usize, Word)] = match spot.region() {
        Region::Stream if is_last && is_nameless(scenario, index, spot) => STREAMED_TO_THE_END,
        Region::Prompt => BETWEEN,
        Region::Headers => BEFORE_HEADERS,
        Region::Stream if is_last => AFTER_ALL,
        Region::Stream if is_sent => SENT,
        Region::Stream => STREAMED,
        Region::Question => ASKED,
        Region::Tools => RUNNING,
        Region::Result => BEHIND_RESULT,
        Region::Store => return Some(Action::Kill),
    };
    let n_said = n_said(scenario);
    let said = || format!("Mind note {n_said}.");
    let action = match source.weigh(kinds)? {
        Word::Abort => Action::Abort,
        Word::Kill => Action::Kill,
        Word::Stall => Action::Stall,
        Word::Pause => Action::Pause,
        Word::Reset => Action::Reset,
        Word::Eof => Action::Eof,
        Word::EndEarly => Action::EndEarly,
        Word::Error => {
            let kinds = [ErrorKind::Overloaded, ErrorKind::Server, ErrorKind::RateLimit];
            Action::Error(*source.pick(&kinds)?)
        }
        Word::Http => Action::Http(http(source)?),
        Word::Settle => Action::Settle(settling(source, scenario, index, (spots, spot))?),
        Word::Duplicate => Action::Duplicate,
        Word::Malformed => Action::Malformed,
        Word::StopAgain => Action::StopAgain,
        Word::Interrupt => Action::Interrupt(*source.pick(&CAUSES)?),
        Word::Steer => Action::Steer(said()),
        Word::Prompt => Action::Prompt(said()),
        Word::Inject => Action::Inject(said()),
        Word::Ignore => Action::Ignore,
        Word::Trim => Action::Trim(1 + source.below(6) as u32),
        Word::Summarise => Action::Summarise(source.below(6) as u32),
        Word::Rewind => Action::Rewind((index - source.below(index)) as u32),
        Word::Aside => Action::Aside(said()),
    };
    Some(action)
}

/// Whether calls without ids are made in the attempt of a point.
fn is_nameless(scenario: &Scenario, index: usize, spot: &Spot) -> bool {
    let reply = scenario.turns.get(index).and_then(|turn| turn.replies.get(spot.of_reply));
    let blocks = reply.and_then(|reply| reply.attempts.get(spot.attempt as usize - 1));
    blocks.is_some_and(|blocks| points::of_attempt(blocks).any(|call| call.id == Some(CallId::Missing)))
}

/// An action, without what it says.
#[derive(Debug, Clone, Copy)]
enum Word {
    Abort,
    Kill,
    Stall,
    Pause,
    Reset,
    Eof,
    EndEarly,
    Error,
    Http,
    Settle,
    Duplicate,
    Malformed,
    StopAgain,
    Interrupt,
    Steer,
    Prompt,
    Inject,
    Ignore,
    Trim,
    Summarise,
    Rewind,
    Aside,
}

const BETWEEN: &[(usize, Word)] =
    &[(3, Word::Kill), (2, Word::Trim), (2, Word::Summarise), (2, Word::Rewind), (1, Word::Aside)];

const BEFORE_HEADERS: &[(usize, Word)] = &[
    (2, Word::Abort),
    (4, Word::Http),
    (1, Word::Kill),
    (1, Word::Stall),
    (1, Word::Reset),
    (1, Word::Eof),
    (1, Word::Pause),
    (1, Word::StopAgain),
    (1, Word::Interrupt),
    (1, Word::Steer),
    (1, Word::Prompt),
    (1, Word::Settle),
];

const STREAMED: &[(usize, Word)] = &[
    (4, Word::Abort),
    (2, Word::Kill),
    (2, Word::Reset),
    (1, Word::Stall),
    (1, Word::Eof),
    (2, Word::EndEarly),
    (2, Word::Error),
    (1, Word::Pause),
    (2, Word::Settle),
    (1, Word::Malformed),
    (1, Word::StopAgain),
    (1, Word::Interrupt),
    (1, Word::Steer),
    (1, Word::Prompt),
];

const SENT: &[(usize, Word)] = &[
    (4, Word::Abort),
    (2, Word::Kill),
    (2, Word::Reset),
    (1, Word::Stall),
    (1, Word::Eof),
    (2, Word::EndEarly),
    (2, Word::Error),
    (1, Word::Pause),
    (3, Word::Settle),
    (1, Word::Duplicate),
    (1, Word::Malformed),
    (1, Word::StopAgain),
    (1, Word::Interrupt),
    (1, Word::Steer),
    (1, Word::Prompt),
];

const STREAMED_TO_THE_END: &[(usize, Word)] =
    &[(2, Word::Abort), (2, Word::StopAgain), (1, Word::Kill), (1, Word::Settle), (1, Word::Interrupt)];

const AFTER_ALL: &[(usize, Word)] = &[
    (2, Word::Abort),
    (2, Word::StopAgain),
    (1, Word::Kill),
    (1, Word::Settle),
    (1, Word::Stall),
    (1, Word::Reset),
    (1, Word::Eof),
    (1, Word::Error),
    (1, Word::Pause),
    (1, Word::Duplicate),
    (1, Word::Interrupt),
    (1, Word::Steer),
];

const ASKED: &[(usize, Word)] = &[
    (3, Word::Abort),
    (2, Word::Kill),
    (2, Word::Ignore),
    (2, Word::Prompt),
    (1, Word::Steer),
    (1, Word::StopAgain),
    (1, Word::Interrupt),
    (1, Word::Settle),
];

const RUNNING: &[(usize, Word)] = &[
    (5, Word::Abort),
    (3, Word::Kill),
    (1, Word::Settle),
    (1, Word::StopAgain),
    (3, Word::Interrupt),
    (2, Word::Steer),
    (2, Word::Prompt),
    (1, Word::Trim),
    (1, Word::Summarise),
];

const BEHIND_RESULT: &[(usize, Word)] = &[
    (5, Word::Abort),
    (3, Word::Kill),
    (1, Word::Settle),
    (1, Word::StopAgain),
    (3, Word::Interrupt),
    (2, Word::Inject),
    (2, Word::Steer),
    (2, Word::Prompt),
    (1, Word::Trim),
    (1, Word::Summarise),
];

const CAUSES: [Cause; 8] = [
    Cause::Credits,
    Cause::Guardrail,
    Cause::Steps,
    Cause::Tokens,
    Cause::EndpointTimeout,
    Cause::IdleTimeout,
    Cause::Superseded,
    Cause::Shutdown,
];

/// Statuses of refusals, those first of which a client should come back.
const STATUSES: [u16; 10] = [529, 429, 500, 503, 400, 402, 401, 404, 413, 422];

fn http(source: &mut Source<'_>) -> Option<HttpFault> {
    let status = *source.pick(&STATUSES)?;
    let times = *source.weigh(&[(6, 1), (2, 2), (1, 20)])?;
    Some(HttpFault { status, times, retry_after_ms: *source.pick(&[10, 0, 500])? })
}

/// A call that may settle at such a point: one whose tool runs, or one of an earlier turn that did not hear the stop.
fn settling(
    source: &mut Source<'_>,
    scenario: &Scenario,
    index: usize,
    (spots, spot): (&[Spot], &Spot),
) -> Option<String> {
    let turn = scenario.turns.get(index)?;
    let settles =
        |call: &&Call| points::runs(call, scenario.tools.get(&call.tool)) && !points::hangs(scenario, call);
    let started = points::started(spots, spot);
    let own = turn.replies.iter().flat_map(turns::calls_of).filter(settles);
    let own = own.map(|call| call.name.as_str()).filter(|name| started.contains(name));
    let deaf = |call: &&Call| {
        let tool = scenario.tools.get(&call.tool);
        tool.is_some_and(|tool| tool.deaf) && points::runs(call, tool)
    };
    let earlier = scenario.turns.iter().take(index).filter(|turn| stays(turn));
    let late = earlier.flat_map(|turn| &turn.replies).flat_map(turns::calls_of).filter(deaf);
    let names: Vec<&str> =
        own.chain(late.map(|call| call.name.as_str())).filter(|name| !is_settled(scenario, name)).collect();
    source.pick(&names).map(|name| (*name).to_owned())
}

/// Whether a turn is stopped, so that tools that do not hear it go on.
fn stays(turn: &Turn) -> bool {
    turn.at.iter().any(|at| ends(at) && at.action != Action::Kill)
}

fn is_settled(scenario: &Scenario, name: &str) -> bool {
    let mut actions = scenario.turns.iter().flat_map(|turn| &turn.at);
    actions.any(|at| matches!(&at.action, Action::Settle(other) if other == name))
}

fn n_said(scenario: &Scenario) -> usize {
    let actions = scenario.turns.iter().flat_map(|turn| &turn.at);
    actions.filter(|at| is_said(&at.action)).count()
}

fn is_said(action: &Action) -> bool {
    matches!(action, Action::Steer(_) | Action::Prompt(_) | Action::Inject(_) | Action::Aside(_))
}

/// Whether a turn is over with it.
pub(super) fn ends_turn(action: &Action) -> bool {
    matches!(action, Action::Abort | Action::Stall | Action::StopAgain | Action::Kill | Action::Interrupt(_))
}

/// Whether its own turn is over with it: what happens before the prompt is over when the turn begins.
pub(super) fn ends(at: &At) -> bool {
    ends_turn(&at.action) && at.before != Some(Point::Prompt)
}

/// Whether an attempt is over with it, so that a client may ask again.
pub(super) fn breaks(action: &Action) -> bool {
    matches!(action, Action::Reset | Action::Eof | Action::EndEarly | Action::Error(_))
}

/// Lets the last attempt of a reply break somewhere, and writes out the one that is served then.
pub(super) fn break_off(
    source: &mut Source<'_>,
    scenario: &mut Scenario,
    index: usize,
    (reply, attempt): (usize, usize),
) {
    let spots = points::of(scenario, index);
    let is_own = |spot: &&Spot| {
        spot.region() == Region::Stream
            && (spot.reply as usize, spot.attempt as usize) == (reply + 1, attempt)
            && (spot.is_before || spot.point != Point::Reply)
    };
    let own: Vec<&Spot> = spots.iter().filter(is_own).collect();
    let Some(spot) = source.pick(&own) else { return };
    let actions = [Action::Reset, Action::Error(ErrorKind::Overloaded), Action::Eof, Action::EndEarly];
    let Some(action) = source.pick(&actions) else { return };
    let at = spot.at(action.clone());
    if has_room(scenario, index, &spots, &at) {
        scenario.turns[index].at.push(at);
        write_attempt(source, scenario, index, reply, attempt);
    }
}

/// Adds the action if it leaves the others of its turn room, and they it.
fn take(source: &mut Source<'_>, scenario: &mut Scenario, index: usize, spots: &[Spot], at: At) -> bool {
    let turn = &scenario.turns[index];
    if turn.at.len() >= MAX_ACTIONS || !has_room(scenario, index, spots, &at) {
        return false;
    }
    if let Action::Settle(name) = &at.action {
        let name = name.clone();
        scenario.turns[index].settle.retain(|other| *other != name);
    }
    let again = breaks(&at.action) && source.one_in(3);
    let (reply, attempt) = (at.reply as usize - 1, at.attempt as usize);
    scenario.turns[index].at.push(at);
    if again {
        write_attempt(source, scenario, index, reply, attempt);
    }
    true
}

/// Writes out the attempt that is served when the last one has failed.
fn write_attempt(
    source: &mut Source<'_>,
    scenario: &mut Scenario,
    index: usize,
    reply: usize,
    attempt: usize,
) {
    let mut names = Names::of(scenario);
    let Some(said) = scenario.turns[index].replies.get_mut(reply) else { return };
    if said.attempts.len() != attempt {
        return;
    }
    let has_calls = said.attempts.iter().any(|blocks| points::of_attempt(blocks).next().is_some());
    let mut blocks = match has_calls {
        true => turns::batch(source, &mut names, &mut scenario.tools, Manner::Settling),
        false => vec![Block::Text("Once more.".to_owned())],
    };
    if said.attempts.iter().flatten().any(|block| matches!(block, Block::Think(_))) {
        turns::thinking(&mut blocks);
    }
    said.attempts.push(blocks);
}

fn has_room(scenario: &Scenario, index: usize, spots: &[Spot], at: &At) -> bool {
    let turn = &scenario.turns[index];
    let place = |at: &At| spots.iter().position(|spot| spot.is_of(at));
    let Some(own) = place(at) else { return false };
    let has_other = scenario.turns.iter().any(|turn| turn.process != 1);
    if at.action == Action::Kill && has_other {
        return false;
    }
    turn.at.iter().all(|other| {
        let Some(theirs) = place(other) else { return true };
        let (one, two) = (&spots[own], &spots[theirs]);
        let (first, second, later) = match own < theirs {
            true => (at, other, two),
            false => (other, at, one),
        };
        if one.region() == Region::Prompt || two.region() == Region::Prompt {
            return own != theirs
                || std::mem::discriminant(&at.action) != std::mem::discriminant(&other.action);
        }
        if one.region() == Region::Store || two.region() == Region::Store {
            return false;
        }
        let same_kind = |is: fn(&Action) -> bool| is(&at.action) && is(&other.action);
        let settles = |at: &At| matches!(at.action, Action::Settle(_));
        if same_kind(ends_turn) || same_kind(|action| matches!(action, Action::Prompt(_))) {
            return false;
        }
        // A change waits for the results of its step, and the next one would take its place.
        if same_kind(|action| matches!(action, Action::Trim(_) | Action::Summarise(_))) {
            return false;
        }
        if own == theirs {
            return settles(at) != settles(other) && !is_final(&at.action) && !is_final(&other.action);
        }
        let of_one_attempt =
            one.is_streamed() && two.is_streamed() && (one.reply, one.attempt) == (two.reply, two.attempt);
        let is_named = matches!(
            later.point,
            Point::Asked(_) | Point::Started(Which::Call(_)) | Point::Settled(Which::Call(_))
        );
        // The calls of a reply that breaks may never start, and those of the next attempt have other names.
        let of_broken = first.reply as usize == later.of_reply + 1 && is_named;
        let is_cut =
            (breaks(&first.action) || first.action == Action::Malformed) && (of_one_attempt || of_broken);
        let settles_cut = breaks(&first.action) && settles(second);
        !is_final(&first.action) && !is_cut && !settles_cut
    })
}

/// Whether nothing else of the turn happens after it.
fn is_final(action: &Action) -> bool {
    let is_refused = |fault: &HttpFault| fault.times > 2 || matches!(fault.status, 400..=428 | 430..=499);
    ends_turn(action) || matches!(action, Action::Http(fault) if is_refused(fault))
}
