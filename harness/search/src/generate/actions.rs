//! Draws the actions of a turn: each is drawn for a point, and added if it is compatible with the others.

use super::calls::{Manner, Names};
use super::{MAX_ACTIONS, Source, tool_changes, turns};
use crate::points::{self, Spot};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::action::{ActionSpec, Actor, FULL_CONTEXT, Payload, ProviderChoice};
use brickbat_scenario::point::{Point, Region, Which};
use brickbat_scenario::scenario::{
    Action, At, Block, Call, CallId, ErrorKind, HttpFault, InterruptCause, Scenario, Turn,
};

/// The number of tries to find a point for an action.
const N_TRIES: usize = 4;

/// Draws the actions of a turn (from 0).
pub(super) fn draw(source: &mut Source<'_>, scenario: &mut Scenario, index: usize) {
    let n_actions = *source.weigh(&[(3, 0), (8, 1), (4, 2), (2, 3)]).unwrap_or(&0);
    for _ in 0..n_actions {
        add(source, scenario, index);
    }
    let turn = &scenario.turns[index];
    let hangs = turn.calls().any(|call| points::hangs(scenario, call));
    if hangs && !turn.at.iter().any(At::ends_turn) {
        end(source, scenario, index);
    }
}

/// Adds one more action to a turn. Returns false if no point is found for it.
pub(super) fn add(source: &mut Source<'_>, scenario: &mut Scenario, index: usize) -> bool {
    let spots = points::of(scenario, index);
    (0..N_TRIES).any(|_| {
        let Some(spot) = choose(source, &spots) else { return false };
        let Some(action) = fitting(source, scenario, index, (&spots, spot)) else { return false };
        take(source, scenario, index, &spots, spot.at(action))
    })
}

/// Ends a turn that hangs.
fn end(source: &mut Source<'_>, scenario: &mut Scenario, index: usize) {
    let spots = points::of(scenario, index);
    let last = spots.iter().filter(|spot| matches!(spot.region, Region::Tools | Region::Result));
    let last: Vec<&Spot> = last.collect();
    for _ in 0..N_TRIES {
        let Some(spot) = source.pick(&last) else { return };
        if take(source, scenario, index, &spots, spot.at(Action::Abort)) {
            return;
        }
    }
}

/// Weighted groups of regions: some kinds of points are rare, but as valuable as the frequent ones.
const GROUPS: [(usize, &[Region]); 8] = [
    (6, &[Region::Result]),
    (5, &[Region::Tools]),
    (8, &[Region::Opened, Region::Stream, Region::Over]),
    (3, &[Region::Unanswered]),
    (3, &[Region::Between]),
    (4, &[Region::Question]),
    (1, &[Region::Store, Region::Stored]),
    (12, &[Region::Unsummarised, Region::Summary]),
];

fn choose<'s>(source: &mut Source<'_>, spots: &'s [Spot]) -> Option<&'s Spot> {
    let has = |regions: &[Region]| spots.iter().any(|spot| regions.contains(&spot.region));
    let groups: Vec<(usize, &[Region])> = GROUPS.into_iter().filter(|(_, regions)| has(regions)).collect();
    let regions = *source.weigh(&groups)?;
    let own: Vec<&Spot> = spots.iter().filter(|spot| regions.contains(&spot.region)).collect();
    source.pick(&own).copied()
}

/// An action that can happen at this point.
pub(super) fn fitting(
    source: &mut Source<'_>,
    scenario: &Scenario,
    index: usize,
    (spots, spot): (&[Spot], &Spot),
) -> Option<Action> {
    let is_nameless = spot.region.is_of_reply() && is_nameless(scenario, index, spot);
    let weight = |spec: &ActionSpec| match (spot.region, is_nameless) {
        (Region::Over, true) if spec.actor == Actor::Provider || spec.is_said() => None,
        (region, _) => spec.weight(region),
    };
    let specs = ActionSpec::ALL.into_iter().filter_map(|spec| Some((weight(spec)?, spec)));
    let specs: Vec<(usize, &ActionSpec)> = specs.filter(|(weight, _)| *weight > 0).collect();
    let action = match &source.weigh(&specs)?.payload {
        Payload::Nothing(make) => make(),
        Payload::Error(make) => make(*source.pick(&ErrorKind::ALL)?),
        Payload::Http(make) => make(http(source, spot.region)?),
        Payload::Call(make) => make(settling(source, scenario, index, (spots, spot))?),
        Payload::Cause(make) => make(*source.pick(&CAUSES)?),
        Payload::Text { make, .. } => make(format!("Mind note {}.", n_said(scenario))),
        Payload::Tokens(make) => make(FULL_CONTEXT),
        Payload::Keep { make, least } => make(least + source.below(6) as u32),
        Payload::Turn(make) => make((index - source.below(index)) as u32),
        Payload::Switch(make) => make(source.below(2) == 1),
        Payload::OneOf(all) => source.pick(all)?.clone(),
        Payload::Provider(make) => make(ProviderChoice::Of(*source.pick(&Dialect::ALL)?)),
        Payload::Tools(make) => {
            make(tool_changes::draw(source, scenario, index, |change| spot.at(make(change)))?)
        }
    };
    Some(action)
}

/// True if the attempt of a point makes calls without ids.
fn is_nameless(scenario: &Scenario, index: usize, spot: &Spot) -> bool {
    let reply = scenario.turns.get(index).and_then(|turn| turn.replies.get(spot.of_reply));
    let blocks = reply.and_then(|reply| reply.attempts.get(spot.attempt as usize - 1));
    let mut calls = blocks.into_iter().flatten().filter_map(Block::call);
    calls.any(|call| call.id == Some(CallId::Missing))
}

const CAUSES: [InterruptCause; 9] = [
    InterruptCause::Credits,
    InterruptCause::Guardrail,
    InterruptCause::Hook,
    InterruptCause::Steps,
    InterruptCause::Tokens,
    InterruptCause::EndpointTimeout,
    InterruptCause::IdleTimeout,
    InterruptCause::Superseded,
    InterruptCause::Shutdown,
];

/// HTTP error statuses. Those after which a client should retry come first.
const STATUSES: [u16; 10] = [529, 429, 500, 503, 400, 402, 401, 404, 413, 422];

fn http(source: &mut Source<'_>, region: Region) -> Option<HttpFault> {
    let status = *source.pick(&STATUSES)?;
    let most = if region == Region::Unsummarised { 60 } else { 20 };
    let times = *source.weigh(&[(6, 1), (2, 2), (1, most)])?;
    Some(HttpFault { status, overflow: false, times, retry_after_ms: *source.pick(&[10, 0, 500])? })
}

/// A call that may settle at this point: one whose tool runs, or one of an earlier turn whose tool ignored
/// the stop.
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
    let own = turn.calls().filter(settles);
    let own = own.map(|call| call.name.as_str()).filter(|name| started.contains(name));
    let deaf = |call: &&Call| {
        let tool = scenario.tools.get(&call.tool);
        tool.is_some_and(|tool| tool.deaf) && points::runs(call, tool)
    };
    let earlier = scenario.turns.iter().take(index).filter(|turn| stays(turn));
    let late = earlier.flat_map(Turn::calls).filter(deaf);
    let names: Vec<&str> =
        own.chain(late.map(|call| call.name.as_str())).filter(|name| !is_settled(scenario, name)).collect();
    source.pick(&names).map(|name| (*name).to_owned())
}

/// True if a turn is stopped but its process survives, so that tools that ignore the stop continue.
fn stays(turn: &Turn) -> bool {
    turn.at.iter().any(|at| at.ends_turn() && at.action != Action::Kill)
}

fn is_settled(scenario: &Scenario, name: &str) -> bool {
    let mut actions = scenario.turns.iter().flat_map(|turn| &turn.at);
    actions.any(|at| at.action.call().is_some_and(|other| other == name))
}

fn n_said(scenario: &Scenario) -> usize {
    let actions = scenario.turns.iter().flat_map(|turn| &turn.at);
    actions.filter(|at| at.action.text().is_some()).count()
}

/// Breaks off the last attempt of a reply at some point, and adds the attempt that is served next.
pub(super) fn break_off(
    source: &mut Source<'_>,
    scenario: &mut Scenario,
    index: usize,
    (reply, attempt): (usize, usize),
) {
    let spots = points::of(scenario, index);
    let is_own = |spot: &&Spot| {
        matches!(spot.region, Region::Opened | Region::Stream)
            && (spot.reply as usize, spot.attempt as usize) == (reply + 1, attempt)
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

/// Adds the action if it is compatible with the other actions of its turn.
fn take(source: &mut Source<'_>, scenario: &mut Scenario, index: usize, spots: &[Spot], at: At) -> bool {
    let turn = &scenario.turns[index];
    if turn.at.len() >= MAX_ACTIONS || !has_room(scenario, index, spots, &at) {
        return false;
    }
    if let Action::Settle(name) = &at.action {
        let name = name.clone();
        scenario.turns[index].settle.retain(|other| *other != name);
    }
    let again = at.action.ends_attempt() && source.one_in(3);
    let (reply, attempt) = (at.reply as usize - 1, at.attempt as usize);
    scenario.turns[index].at.push(at);
    if again {
        write_attempt(source, scenario, index, reply, attempt);
    }
    true
}

/// Adds the attempt that is served when the last one has failed.
fn write_attempt(
    source: &mut Source<'_>,
    scenario: &mut Scenario,
    index: usize,
    reply: usize,
    attempt: usize,
) {
    let mut names = Names::of(scenario);
    let Some(said) = scenario.turns[index].replies.get_mut(reply) else { return };
    // A search continues in the attempt that lowering adds.
    if said.attempts.len() != attempt || said.attempts.iter().flatten().any(Block::is_of_search) {
        return;
    }
    let mut blocks = if said.n_calls() > 0 {
        turns::batch(source, &mut names, &mut scenario.tools, Manner::Settling)
    } else {
        vec![Block::Text("Once more.".to_owned())]
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
    if at.action.ends_process() && has_other {
        return false;
    }
    turn.at.iter().all(|other| {
        let Some(theirs) = place(other) else { return true };
        let (one, two) = (&spots[own], &spots[theirs]);
        let (first, second, later) = if own < theirs { (at, other, two) } else { (other, at, one) };
        if one.region == Region::Between || two.region == Region::Between {
            return own != theirs || at.action.spec().name != other.action.spec().name;
        }
        if [one, two].iter().any(|spot| matches!(spot.region, Region::Store | Region::Stored)) {
            return false;
        }
        let same_kind = |is: fn(&Action) -> bool| is(&at.action) && is(&other.action);
        let settles = |at: &At| matches!(at.action, Action::Settle(_));
        if same_kind(Action::ends_turn) || same_kind(|action| matches!(action, Action::Prompt(_))) {
            return false;
        }
        // A change waits for the results of its step, and the next change would replace it.
        if same_kind(|action| matches!(action, Action::Trim(_) | Action::Summarise(_))) {
            return false;
        }
        // A system decides itself when it asks for a summary.
        if [one, two].iter().any(|spot| matches!(spot.region, Region::Unsummarised | Region::Summary)) {
            let commands = same_turn_commands(at, other);
            return own != theirs && !commands;
        }
        if own == theirs {
            return settles(at) != settles(other) && !is_final(&at.action) && !is_final(&other.action);
        }
        let of_one_attempt = one.region.is_of_reply()
            && two.region.is_of_reply()
            && (one.reply, one.attempt) == (two.reply, two.attempt);
        let is_named = matches!(
            later.point,
            Point::Asked(_) | Point::Started(Which::Call(_)) | Point::Settled(Which::Call(_))
        );
        // The calls of a reply that breaks off may never start, and those of the next attempt have other
        // names.
        let of_broken = first.reply as usize == later.of_reply + 1 && is_named;
        let is_cut = (first.action.ends_attempt() || first.action == Action::Malformed)
            && (of_one_attempt || of_broken);
        let settles_cut = first.action.ends_attempt() && settles(second);
        !is_final(&first.action) && !is_cut && !settles_cut
    })
}

/// True if one of two actions has the application summarise the history, and the other would happen meanwhile although it
/// is not the provider's.
fn same_turn_commands(one: &At, other: &At) -> bool {
    let commands = |at: &At| matches!(at.action, Action::Summarise(_));
    (commands(one) && !other.action.is_of_reply()) || (commands(other) && !one.action.is_of_reply())
}

/// True if nothing else happens in the turn after this action.
fn is_final(action: &Action) -> bool {
    let is_refused = |fault: &HttpFault| fault.times > 2 || matches!(fault.status, 400..=428 | 430..=499);
    action.ends_turn() || action.http().is_some_and(is_refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_region_is_in_one_group() {
        let mut grouped: Vec<Region> = GROUPS.iter().flat_map(|(_, regions)| *regions).copied().collect();
        grouped.sort_unstable();
        assert_eq!(grouped, Region::ALL);
    }
}
