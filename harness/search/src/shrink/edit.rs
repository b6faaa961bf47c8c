//! The elements of a scenario, and the scenario without some of them.

use std::fmt::Debug;

use super::plain::with_call;
use super::{given, plain};
use crate::fixup;
use brickbat_scenario::scenario::{Block, Call, Reply, Scenario, Tool};

/// One element to remove, or one value to simplify. All indices are 0-based.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    /// A message in the given history, with the results of its calls.
    Given(usize),
    /// A part of such a message: a block, with its results if it is a call, or a result.
    GivenPart(usize, usize),
    /// The oddity in a part of such a message.
    GivenOddity(usize, usize),
    Turn(usize),
    Action(usize, usize),
    Reply(usize, usize),
    Attempt(usize, usize, usize),
    Block(usize, usize, usize, usize),
    /// A reply to the sub-agent of this call, or a block of that reply.
    OfSubAgent(String, usize, Option<usize>),
    /// An entry in the order in which a turn's calls settle.
    Settle(usize, usize),
    /// The expectation about a call.
    Expectation(String),
    /// A listed capability that the scenario does not itself need.
    Need(usize),
    /// The second process of a turn.
    Process(usize),
    /// An unused tool.
    Tool(String),
    /// One of the switches below.
    OfScenario(usize),
    OfReply(usize, usize, usize),
    OfCall(String, usize),
    OfTool(String, usize),
    Plain(plain::Value),
}

/// An odd property: a test for it, and how to remove it.
type Switch<T> = (fn(&T) -> bool, fn(&mut T));

const OF_SCENARIO: [Switch<Scenario>; 5] = [
    (|scenario| scenario.limits.steps.is_some(), |scenario| scenario.limits.steps = None),
    (|scenario| scenario.limits.window.is_some(), |scenario| scenario.limits.window = None),
    (|scenario| scenario.model.is_some(), |scenario| scenario.model = None),
    // A model is named together with its provider.
    (|scenario| scenario.profile.is_some(), |scenario| (scenario.profile, scenario.model) = (None, None)),
    (|scenario| scenario.given.is_some(), |scenario| scenario.given = None),
];

const OF_REPLY: [Switch<Reply>; 3] = [
    (|reply| reply.interleave, |reply| reply.interleave = false),
    (|reply| reply.stop.is_some(), |reply| reply.stop = None),
    (|reply| reply.indices.is_some(), |reply| reply.indices = None),
];

const OF_CALL: [Switch<Call>; 3] = [
    (|call| call.id.is_some(), |call| call.id = None),
    (|call| call.raw.is_some(), |call| call.raw = None),
    (
        |call| call.agent.as_ref().is_some_and(|agent| agent.refused.is_some()),
        |call| call.agent.iter_mut().for_each(|agent| agent.refused = None),
    ),
];

const OF_TOOL: [Switch<Tool>; 10] = [
    (|tool| tool.deaf, |tool| tool.deaf = false),
    (|tool| tool.asks, |tool| tool.asks = false),
    (|tool| tool.hangs, |tool| tool.hangs = false),
    (|tool| tool.ends, |tool| tool.ends = false),
    (|tool| tool.hands_over, |tool| tool.hands_over = false),
    (|tool| tool.client, |tool| tool.client = false),
    (|tool| tool.bytes.is_some(), |tool| tool.bytes = None),
    (|tool| tool.missing, |tool| (tool.missing, tool.called) = (false, None)),
    (|tool| tool.called.is_some(), |tool| tool.called = None),
    (
        |tool| tool.fails.is_some() || tool.throws.is_some() || tool.denies.is_some(),
        |tool| (tool.fails, tool.throws, tool.denies) = (None, None, None),
    ),
];

fn on<T>(switches: &[Switch<T>], of: &T) -> impl Iterator<Item = usize> {
    switches.iter().enumerate().filter(|(_, (is_on, _))| is_on(of)).map(|(index, _)| index)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementKind {
    Turns,
    Given,
    Actions,
    Replies,
    Attempts,
    Calls,
    Texts,
    GivenParts,
    Switches,
    Values,
}

impl ElementKind {
    /// All kinds, coarsest first.
    pub const ALL: [ElementKind; 10] = [
        ElementKind::Turns,
        ElementKind::Given,
        ElementKind::Actions,
        ElementKind::Replies,
        ElementKind::Attempts,
        ElementKind::Calls,
        ElementKind::Texts,
        ElementKind::GivenParts,
        ElementKind::Switches,
        ElementKind::Values,
    ];
}

/// Every way to remove a single element of a scenario, or to make a single value plainer.
pub fn singles(scenario: &Scenario) -> impl Iterator<Item = (impl Debug, Scenario)> {
    let edits = ElementKind::ALL.into_iter().flat_map(|kind| elements(scenario, kind));
    edits.map(|edit| (edit.clone(), without(scenario, &[edit])))
}

/// The number of elements in a scenario: turns, replies, attempts, blocks, arguments, actions, entries in
/// orders and expectations, tools, and the messages, blocks, arguments and results of a given history.
pub fn size(scenario: &Scenario) -> usize {
    let of_block = |block: &Block| match block {
        Block::Call(call) => 1 + call.args.len(),
        Block::Think(_) | Block::Text(_) | Block::Search(_) | Block::Found(_) => 1,
    };
    let of_attempt = |blocks: &Vec<Block>| 1 + blocks.iter().map(of_block).sum::<usize>();
    let of_reply = |reply: &Reply| 1 + reply.attempts.iter().map(of_attempt).sum::<usize>();
    let turns = scenario
        .turns
        .iter()
        .map(|turn| 1 + turn.replies.iter().map(of_reply).sum::<usize>() + turn.settle.len() + turn.at.len());
    turns.sum::<usize>() + scenario.tools.len() + scenario.expect.executed.len() + given::size(scenario)
}

/// The elements of one kind, in reverse order. Later elements are removed first, so that a removal does not
/// move the elements that are still to be removed.
pub(super) fn elements(scenario: &Scenario, kind: ElementKind) -> Vec<Edit> {
    let mut found = match kind {
        ElementKind::Turns => (0..scenario.turns.len()).map(Edit::Turn).collect(),
        ElementKind::Given => given::messages(scenario),
        ElementKind::GivenParts => given::parts(scenario),
        ElementKind::Switches => switches(scenario),
        ElementKind::Values => plain::values(scenario).into_iter().map(Edit::Plain).collect(),
        _ => in_turns(scenario, kind),
    };
    found.reverse();
    found
}

fn in_turns(scenario: &Scenario, kind: ElementKind) -> Vec<Edit> {
    let mut found = Vec::new();
    for (turn, said) in scenario.turns.iter().enumerate() {
        if kind == ElementKind::Actions {
            found.extend((0..said.at.len()).map(|at| Edit::Action(turn, at)));
        }
        for (reply, said) in said.replies.iter().enumerate() {
            if kind == ElementKind::Replies {
                found.push(Edit::Reply(turn, reply));
            }
            for (attempt, blocks) in said.attempts.iter().enumerate() {
                if kind == ElementKind::Attempts && said.attempts.len() > 1 {
                    found.push(Edit::Attempt(turn, reply, attempt));
                }
                let is_wanted = |block: &Block| match block {
                    Block::Call(_) => kind == ElementKind::Calls,
                    Block::Think(_) | Block::Text(_) | Block::Search(_) | Block::Found(_) => {
                        kind == ElementKind::Texts
                    }
                };
                let blocks = blocks.iter().enumerate().filter(|(_, block)| is_wanted(block));
                found.extend(blocks.map(|(block, _)| Edit::Block(turn, reply, attempt, block)));
            }
        }
    }
    if kind == ElementKind::Calls {
        found.extend(scenario.calls().flat_map(of_sub_agent));
    }
    found
}

/// The replies to a sub-agent and their blocks, except for its last text.
fn of_sub_agent(call: &Call) -> Vec<Edit> {
    let replies = call.agent.iter().flat_map(|agent| agent.replies.iter().enumerate().rev().skip(1).rev());
    let edits = replies.flat_map(|(reply, blocks)| {
        let block = move |block| Edit::OfSubAgent(call.name.clone(), reply, Some(block));
        let whole = Edit::OfSubAgent(call.name.clone(), reply, None);
        std::iter::once(whole).chain((0..blocks.len()).map(block))
    });
    edits.collect()
}

/// The switches of a scenario, its replies, calls and tools.
fn switches(scenario: &Scenario) -> Vec<Edit> {
    let mut found: Vec<Edit> = scenario.expect.executed.keys().cloned().map(Edit::Expectation).collect();
    found.extend(given::oddities(scenario));
    found.extend((0..scenario.needs.len()).map(Edit::Need));
    found.extend(on(&OF_SCENARIO, scenario).map(Edit::OfScenario));
    for (turn, said) in scenario.turns.iter().enumerate() {
        found.extend((0..said.settle.len()).map(|entry| Edit::Settle(turn, entry)));
        found.extend((said.process != 1).then_some(Edit::Process(turn)));
        for (reply, said) in said.replies.iter().enumerate() {
            found.extend(on(&OF_REPLY, said).map(|switch| Edit::OfReply(turn, reply, switch)));
        }
    }
    for call in scenario.calls() {
        found.extend(on(&OF_CALL, call).map(|switch| Edit::OfCall(call.name.clone(), switch)));
    }
    for (name, tool) in &scenario.tools {
        found.extend(on(&OF_TOOL, tool).map(|switch| Edit::OfTool(name.clone(), switch)));
        let is_called = scenario.all_calls().chain(given::calls(scenario)).any(|call| call.tool == *name);
        found.extend((!is_called).then(|| Edit::Tool(name.clone())));
    }
    found
}

/// A scenario without some elements of one kind, given in the order of [`elements`], and without everything
/// that depends on them.
pub(super) fn without(scenario: &Scenario, edits: &[Edit]) -> Scenario {
    let mut less = scenario.clone();
    edits.iter().for_each(|edit| take_out(&mut less, edit));
    fixup::fix(&mut less);
    less
}

fn take_out(scenario: &mut Scenario, edit: &Edit) {
    match edit {
        Edit::Given(message) => given::take_message(scenario, *message),
        Edit::GivenPart(message, part) => given::take_part(scenario, *message, *part),
        Edit::GivenOddity(message, part) => given::straighten(scenario, *message, *part),
        Edit::Turn(turn) => fixup::remove_turn(scenario, *turn),
        Edit::Action(turn, at) => drop(scenario.turns[*turn].at.remove(*at)),
        Edit::Reply(turn, reply) => fixup::remove_reply(&mut scenario.turns[*turn], *reply),
        Edit::Attempt(turn, reply, attempt) => {
            fixup::remove_attempt(&mut scenario.turns[*turn], *reply, *attempt);
        }
        Edit::Block(turn, reply, attempt, block) => {
            fixup::remove_block(&mut scenario.turns[*turn], (*reply, *attempt, *block));
        }
        Edit::OfSubAgent(call, reply, block) => with_call(scenario, call, |call| {
            let Some(agent) = &mut call.agent else { return };
            match block {
                Some(block) => drop(agent.replies[*reply].remove(*block)),
                None => drop(agent.replies.remove(*reply)),
            }
        }),
        Edit::Settle(turn, entry) => drop(scenario.turns[*turn].settle.remove(*entry)),
        Edit::Expectation(call) => drop(scenario.expect.executed.remove(call)),
        Edit::Need(need) => drop(scenario.needs.remove(*need)),
        Edit::Process(turn) => scenario.turns[*turn].process = 1,
        Edit::Tool(name) => drop(scenario.tools.remove(name)),
        Edit::OfScenario(switch) => OF_SCENARIO[*switch].1(scenario),
        Edit::OfReply(turn, reply, switch) => OF_REPLY[*switch].1(&mut scenario.turns[*turn].replies[*reply]),
        Edit::OfCall(name, switch) => with_call(scenario, name, OF_CALL[*switch].1),
        Edit::OfTool(name, switch) => {
            if let Some(tool) = scenario.tools.get_mut(name) {
                OF_TOOL[*switch].1(tool);
                // A tool without an outcome succeeds.
                let ends = [&tool.returns, &tool.fails, &tool.throws, &tool.denies];
                if !tool.missing && !tool.hands_over && ends.iter().all(|said| said.is_none()) {
                    tool.returns = Some(plain::RETURNED.to_owned());
                }
            }
        }
        Edit::Plain(value) => plain::make(scenario, value),
    }
}

#[cfg(test)]
mod tests {
    use brickbat_scenario::scenario::{CallId, Indices, Limits, Stop, SubAgent};

    use super::*;

    /// The value after all switches that are on.
    fn straight<T: Clone>(switches: &[Switch<T>], odd: &T) -> T {
        let mut value = odd.clone();
        for switch in on(switches, odd) {
            switches[switch].1(&mut value);
        }
        value
    }

    /// Every field is named, so that a new one needs a switch, or a value that stays.
    #[test]
    fn each_odd_field_of_a_tool_has_a_switch() {
        let text = || Some("odd".to_owned());
        let odd = Tool {
            returns: text(),
            fails: text(),
            throws: text(),
            denies: text(),
            deaf: true,
            asks: true,
            missing: true,
            called: text(),
            hangs: true,
            ends: true,
            hands_over: true,
            bytes: Some(1),
            // Its conversation is in its calls.
            agent: true,
            client: true,
        };
        assert_eq!(straight(&OF_TOOL, &odd), Tool { returns: text(), agent: true, ..Tool::default() });
    }

    #[test]
    fn each_odd_field_of_a_call_has_a_switch() {
        let agent = |refused| Some(SubAgent { asked: String::new(), replies: Vec::new(), refused });
        let plain = Call { agent: agent(None), ..Call::new("a", "lookup") };
        let odd = Call {
            name: "a".to_owned(),
            tool: "lookup".to_owned(),
            // `plain` simplifies these.
            args: plain.args.clone(),
            deltas: plain.deltas,
            raw: Some("{".to_owned()),
            id: Some(CallId::Missing),
            agent: agent(Some(500)),
        };
        assert_eq!(straight(&OF_CALL, &odd), plain);
    }

    #[test]
    fn each_odd_field_of_a_reply_has_a_switch() {
        let odd = Reply {
            attempts: Vec::new(),
            interleave: true,
            stop: Some(Stop::Length),
            indices: Some(Indices::Same),
        };
        assert_eq!(straight(&OF_REPLY, &odd), Reply { attempts: Vec::new(), ..Reply::new(Vec::new()) });
    }

    #[test]
    fn each_limit_has_a_switch() {
        let odd =
            Scenario { limits: Limits { steps: Some(1), window: Some(100) }, ..Scenario::new("One turn.") };
        assert_eq!(straight(&OF_SCENARIO, &odd).limits, Limits::default());
    }
}
