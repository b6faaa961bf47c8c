//! Small worlds: every conversation of at most two turns that contains at most three elements: calls, one
//! action, and one oddity.
//!
//! Conversations that differ only in names or texts count as one: calls are named in the order in which they
//! are made. The oddity comes from the generator's palette: the order of results, a tool, a malformed call,
//! how a reply ends or is sent, a limit, or another process. Nothing is run here.

use std::collections::BTreeMap;

use crate::generate::calls::{ODD_IDS, ODD_RAW, PLAIN_TOOL, tools};
use crate::generate::{blank, turns};
use crate::points;
use brickbat_scenario::action::{ActionSpec, Actor, Ends, FULL_CONTEXT, Payload, SOON_MS, ToolChange};
use brickbat_scenario::scenario::{
    Action, Block, Call, CallId, ErrorKind, HttpFault, Indices, InterruptCause, Reply, Scenario, Stop, Turn,
};

/// The maximum number of turns in a small world.
pub const MAX_TURNS: usize = 2;

/// The maximum number of elements in a small world: calls, an action, and an oddity.
pub const MAX_THINGS: usize = 3;

/// Every small world, in a fixed order: smallest conversations first.
pub fn all() -> impl Iterator<Item = Scenario> {
    shapes().into_iter().flat_map(|shape| {
        let plain = conversation(&shape);
        let n_left = MAX_THINGS - plain.calls().count();
        let mut worlds = Vec::new();
        if n_left >= 1 {
            worlds.extend(injected(&plain, |_| true));
            worlds.extend(odd(&plain));
        }
        if n_left >= 2 && is_whole(&shape) {
            worlds.extend(odd(&plain).iter().flat_map(|odd| injected(odd, is_plainest)));
        }
        std::iter::once(plain).chain(worlds)
    })
}

/// True if the shape has a turn with calls and another turn after it. Worlds with both an oddity and an
/// action use only such shapes; a single turn is followed by the turns that every plan ends with.
fn is_whole(shape: &Shape) -> bool {
    shape.len() == MAX_TURNS && !shape[0].is_empty()
}

/// Selects the actions for worlds that also have an oddity: one of the actions that end the same thing, and
/// all actions on the history.
fn is_plainest(spec: &ActionSpec) -> bool {
    let first = ActionSpec::ALL.into_iter().find(|other| other.ends == spec.ends);
    match spec.ends {
        Ends::Nothing => spec.actor == Actor::History,
        _ => first.is_some_and(|first| first.name == spec.name),
    }
}

/// The batch sizes in each turn.
type Shape = Vec<Vec<usize>>;

/// Every shape of one or two turns, fewest calls first.
fn shapes() -> Vec<Shape> {
    let batches: Vec<Vec<usize>> = (0..=MAX_THINGS).flat_map(sums).collect();
    let one = batches.iter().map(|first| vec![first.clone()]);
    let two =
        batches.iter().flat_map(|first| batches.iter().map(|second| vec![first.clone(), second.clone()]));
    let n_calls = |shape: &Shape| shape.iter().flatten().sum::<usize>();
    let mut shapes: Vec<Shape> = one.chain(two).filter(|shape| n_calls(shape) <= MAX_THINGS).collect();
    shapes.sort_by_key(|shape| (n_calls(shape), shape.len()));
    shapes
}

/// Every way to make `n_calls` calls in batches, in order.
fn sums(n_calls: usize) -> Vec<Vec<usize>> {
    if n_calls == 0 {
        return vec![Vec::new()];
    }
    let first = |size: usize| sums(n_calls - size).into_iter().map(move |rest| [vec![size], rest].concat());
    (1..=n_calls).flat_map(first).collect()
}

/// The conversation of a shape, without oddities.
fn conversation(shape: &Shape) -> Scenario {
    let mut scenario = blank();
    let mut names = (b'a'..).map(|letter| char::from(letter).to_string());
    for (index, batches) in shape.iter().enumerate() {
        let mut replies: Vec<Reply> = Vec::new();
        for size in batches {
            replies
                .push(Reply::new(names.by_ref().take(*size).map(|name| Block::Call(call(&name))).collect()));
        }
        replies.push(Reply::new(vec![Block::Text("Here they are.".to_owned())]));
        scenario.turns.push(Turn::new(turns::user(index), replies));
    }
    scenario.tools.extend(tools().filter(|(name, _)| name == PLAIN_TOOL));
    scenario
}

fn call(name: &str) -> Call {
    Call { args: BTreeMap::from([("key".to_owned(), name.into())]), deltas: 1, ..Call::new(name, PLAIN_TOOL) }
}

/// The conversation with each possible oddity.
fn odd(plain: &Scenario) -> Vec<Scenario> {
    let mut all = orders(plain);
    let n_calls = plain.calls().count();
    for at in 0..n_calls {
        let others = tools().filter(|(name, _)| name != PLAIN_TOOL);
        all.extend(others.map(|(name, tool)| {
            let mut scenario = with_call(plain, at, |call| call.tool.clone_from(&name));
            scenario.tools.insert(name, tool);
            scenario
        }));
        all.extend(ODD_RAW.map(|raw| {
            with_call(plain, at, |call| {
                call.raw = Some(raw.to_owned());
                call.args.clear();
            })
        }));
        let texts = ODD_IDS.map(|id| CallId::Text(id.to_owned()));
        let earlier = plain.calls().take(at).map(|call| CallId::Same(call.name.clone()));
        let ids = texts.into_iter().chain([CallId::Missing]).chain(earlier);
        all.extend(ids.map(|id| with_call(plain, at, |call| call.id = Some(id.clone()))));
    }
    for (turn, said) in plain.turns.iter().enumerate() {
        for (at, own) in said.replies.iter().enumerate() {
            all.extend(odd_replies(own).into_iter().map(|reply| {
                let mut scenario = plain.clone();
                scenario.turns[turn].replies[at] = reply;
                scenario
            }));
        }
        let mut elsewhere = plain.clone();
        elsewhere.turns[turn].process = 2;
        all.extend((turn > 0).then_some(elsewhere));
    }
    let mut thinking = plain.clone();
    let replies = thinking.turns.iter_mut().flat_map(|turn| &mut turn.replies);
    replies.flat_map(|reply| &mut reply.attempts).for_each(turns::thinking);
    all.push(thinking);
    let longest = plain.turns.iter().map(|turn| turn.replies.len()).max().unwrap_or(0);
    all.extend((1..longest).map(|steps| {
        let mut limited = plain.clone();
        limited.limits.steps = Some(steps as u32);
        limited
    }));
    all
}

/// Every other order in which the calls of one batch can settle.
fn orders(plain: &Scenario) -> Vec<Scenario> {
    let mut all = Vec::new();
    for (turn, said) in plain.turns.iter().enumerate() {
        for batch in &said.replies {
            let own: Vec<String> = batch.calls().map(|call| call.name.clone()).collect();
            let others = permutations(&own).into_iter().filter(|order| *order != own);
            all.extend(others.map(|order| {
                let names = said.calls().map(|call| call.name.clone());
                let mut places = order.into_iter();
                let settle = names.map(|name| if own.contains(&name) { places.next() } else { Some(name) });
                let mut scenario = plain.clone();
                scenario.turns[turn].settle = settle.flatten().collect();
                scenario
            }));
        }
    }
    all
}

fn permutations(of: &[String]) -> Vec<Vec<String>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let rest = [&of[..at], &of[at + 1..]].concat();
        permutations(&rest).into_iter().map(move |rest| [vec![of[at].clone()], rest].concat())
    };
    (0..of.len()).flat_map(first).collect()
}

fn with_call(plain: &Scenario, at: usize, change: impl Fn(&mut Call)) -> Scenario {
    let mut scenario = plain.clone();
    scenario.calls_mut().nth(at).into_iter().for_each(change);
    scenario
}

/// The reply with one change: its end, its content besides the calls, or the way in which the calls are sent.
fn odd_replies(own: &Reply) -> Vec<Reply> {
    let has_calls = own.n_calls() > 0;
    let other_end = if has_calls { Stop::End } else { Stop::Calls };
    let stops = [Stop::Length, other_end, Stop::Pause, Stop::Refusal];
    let mut all: Vec<Reply> = stops.map(|stop| Reply { stop: Some(stop), ..own.clone() }).into();
    let with_text = |at: usize, text: &str| {
        let mut reply = own.clone();
        reply.attempts[0].insert(at, Block::Text(text.to_owned()));
        reply
    };
    if has_calls {
        all.push(with_text(0, "Let me look."));
        all.push(with_text(0, ""));
        all.extend([Indices::Same, Indices::Missing].map(|it| Reply { indices: Some(it), ..own.clone() }));
    } else {
        all.push(Reply { attempts: vec![vec![Block::Text(String::new())]], ..own.clone() });
    }
    if own.n_calls() > 1 {
        all.push(with_text(1, "And this."));
        all.push(Reply { interleave: true, ..own.clone() });
    }
    all
}

/// The conversation with each wanted action, at every point that the table of actions allows.
fn injected(base: &Scenario, is_wanted: fn(&ActionSpec) -> bool) -> Vec<Scenario> {
    let mut all = Vec::new();
    for index in 0..base.turns.len() {
        for spot in points::of(base, index) {
            let is_allowed = |spec: &&ActionSpec| is_wanted(spec) && spec.refusal(spot.region).is_none();
            let specs = ActionSpec::ALL.into_iter().filter(is_allowed);
            for action in specs.flat_map(|spec| actions(&spec.payload, base, index)) {
                let mut scenario = base.clone();
                scenario.turns[index].at.push(spot.at(action));
                all.push(scenario);
            }
        }
    }
    all
}

/// HTTP error statuses: one after which a client should retry, and one after which it should not.
const STATUSES: [u16; 2] = [529, 400];

/// The actions in a table row, except those that differ only in texts and numbers.
fn actions(payload: &Payload, base: &Scenario, index: usize) -> Vec<Action> {
    let refused =
        |status: &u16| HttpFault { status: *status, overflow: false, times: 1, retry_after_ms: SOON_MS };
    match payload {
        Payload::Nothing(make) => vec![make()],
        Payload::Error(make) => vec![make(ErrorKind::Overloaded)],
        Payload::Http(make) => STATUSES.iter().map(refused).map(make).collect(),
        Payload::Call(make) => base.turns[index].calls().map(|call| make(call.name.clone())).collect(),
        Payload::Cause(make) => CAUSES.map(make).into(),
        Payload::Text { make, plain } => vec![make((*plain).to_owned())],
        Payload::Tokens(make) => vec![make(FULL_CONTEXT)],
        Payload::Keep { make, least } => (*least..=least + MAX_KEPT).map(make).collect(),
        Payload::Turn(make) => (1..=index as u32).map(make).collect(),
        Payload::Switch(make) => [false, true].map(make).into(),
        Payload::OneOf(all) => all.to_vec(),
        // A small world has a single provider: `scenarios/switch` has all pairs.
        Payload::Provider(_) => Vec::new(),
        // A small world has one tool, which stays.
        Payload::Tools(make) => {
            base.tools.keys().take(1).map(|tool| make(ToolChange::Extend(tool.clone()))).collect()
        }
    }
}

/// One cause of each kind that interrupts a turn: the application's means, its judgement, its limits, and its
/// end.
const CAUSES: [InterruptCause; 4] =
    [InterruptCause::Credits, InterruptCause::Guardrail, InterruptCause::Hook, InterruptCause::Shutdown];

/// The number of messages that stay in a cut history, above the minimum: as many as a batch and its results
/// have.
const MAX_KEPT: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_28_distinct_shapes() {
        let mut shapes = shapes();
        assert_eq!(shapes.len(), 28);
        assert_eq!((&shapes[0], &shapes[1]), (&vec![vec![]], &vec![vec![], vec![]]));
        shapes.sort();
        shapes.dedup();
        assert_eq!(shapes.len(), 28);
    }

    #[test]
    fn every_world_is_small_and_distinct() {
        let mut texts: Vec<String> = Vec::new();
        for world in all() {
            assert!(world.turns.len() <= MAX_TURNS && world.calls().count() <= MAX_THINGS);
            assert!(world.turns.iter().map(|turn| turn.at.len()).sum::<usize>() <= 1);
            texts.push(serde_json::to_string(&world).unwrap());
        }
        let n_all = texts.len();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), n_all);
    }

    #[test]
    fn results_arrive_in_every_order() {
        let three = conversation(&vec![vec![3]]);
        assert_eq!(orders(&three).len(), 5);
        let two_batches = conversation(&vec![vec![1, 2]]);
        let orders = orders(&two_batches);
        assert_eq!(orders.len(), 1);
        assert_eq!(orders[0].turns[0].settle, ["a", "c", "b"]);
    }
}
