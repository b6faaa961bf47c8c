//! The elements of a scenario, and the scenario without some of them.

use super::plain;
use crate::fixup;
use brickbat_scenario::scenario::{Block, Call, Reply, Scenario, Tool};

/// One element that is taken out, or one value that is made plain. All indices count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// A turn.
    Turn(usize),
    /// An action of a turn.
    Action(usize, usize),
    /// A reply of a turn.
    Reply(usize, usize),
    /// An attempt of a reply of a turn.
    Attempt(usize, usize, usize),
    /// A block of an attempt of a reply of a turn.
    Block(usize, usize, usize, usize),
    /// An entry of the order in which the calls of a turn settle.
    Settle(usize, usize),
    /// What is expected of a call.
    Expectation(String),
    /// What a system must be able to do beyond what the scenario needs anyway.
    Need(usize),
    /// The limit of steps.
    Limits,
    /// The strictness.
    Profile,
    /// The history that is found in the store.
    Given,
    /// The second process of a turn.
    Process(usize),
    /// The deltas of a reply arrive in turns.
    Interleave(usize, usize),
    /// The stop reason of a reply that is wrong.
    Stop(usize, usize),
    /// How the calls of a reply are numbered wrongly.
    Indices(usize, usize),
    /// The id of a call that is not its own.
    Id(String),
    /// The arguments of a call that are no arguments.
    Raw(String),
    /// A tool that nobody calls.
    Tool(String),
    /// A trait of a tool.
    Trait(String, Trait),
    /// A value that could be plainer.
    Plain(plain::Value),
}

/// What is odd about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trait {
    /// It does not hear the stop.
    Deaf,
    /// The user is asked.
    Asks,
    /// It does not settle.
    Hangs,
    /// It ends the turn.
    Ends,
    /// The system was never given it.
    Missing,
    /// The name by which it is called is not its own.
    Called,
    /// It does not succeed.
    Failing,
}

/// Elements that are tried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Turns,
    Actions,
    Replies,
    Attempts,
    Calls,
    Texts,
    Switches,
    Values,
}

impl Kind {
    /// Every kind, the coarsest first.
    pub const ALL: [Kind; 8] = [
        Kind::Turns,
        Kind::Actions,
        Kind::Replies,
        Kind::Attempts,
        Kind::Calls,
        Kind::Texts,
        Kind::Switches,
        Kind::Values,
    ];
}

/// Every element of a scenario that could go, and every value that could be plainer.
pub fn singles(scenario: &Scenario) -> impl Iterator<Item = (Edit, Scenario)> {
    let edits = Kind::ALL.into_iter().flat_map(|kind| elements(scenario, kind));
    edits.map(|edit| (edit.clone(), without(scenario, &[edit])))
}

/// How many elements a scenario has: turns, replies, attempts, blocks, arguments, actions, entries of orders and
/// expectations, and tools.
pub fn size(scenario: &Scenario) -> usize {
    let of_block = |block: &Block| match block {
        Block::Call(call) => 1 + call.args.len(),
        Block::Think(_) | Block::Text(_) => 1,
    };
    let of_attempt = |blocks: &Vec<Block>| 1 + blocks.iter().map(of_block).sum::<usize>();
    let of_reply = |reply: &Reply| 1 + reply.attempts.iter().map(of_attempt).sum::<usize>();
    let turns = scenario
        .turns
        .iter()
        .map(|turn| 1 + turn.replies.iter().map(of_reply).sum::<usize>() + turn.settle.len() + turn.at.len());
    turns.sum::<usize>() + scenario.tools.len() + scenario.expect.executed.len()
}

/// The elements of one kind, the last first: what comes later goes first, and what is taken out moves nothing that is
/// still to be taken out.
pub(super) fn elements(scenario: &Scenario, kind: Kind) -> Vec<Edit> {
    let mut found = match kind {
        Kind::Turns => (0..scenario.turns.len()).map(Edit::Turn).collect(),
        Kind::Switches => switches(scenario),
        Kind::Values => plain::values(scenario).into_iter().map(Edit::Plain).collect(),
        _ => in_turns(scenario, kind),
    };
    found.reverse();
    found
}

fn in_turns(scenario: &Scenario, kind: Kind) -> Vec<Edit> {
    let mut found = Vec::new();
    for (turn, said) in scenario.turns.iter().enumerate() {
        if kind == Kind::Actions {
            found.extend((0..said.at.len()).map(|at| Edit::Action(turn, at)));
        }
        for (reply, said) in said.replies.iter().enumerate() {
            if kind == Kind::Replies {
                found.push(Edit::Reply(turn, reply));
            }
            for (attempt, blocks) in said.attempts.iter().enumerate() {
                if kind == Kind::Attempts && said.attempts.len() > 1 {
                    found.push(Edit::Attempt(turn, reply, attempt));
                }
                let is_wanted = |block: &Block| match block {
                    Block::Call(_) => kind == Kind::Calls,
                    Block::Think(_) | Block::Text(_) => kind == Kind::Texts,
                };
                let blocks = blocks.iter().enumerate().filter(|(_, block)| is_wanted(block));
                found.extend(blocks.map(|(block, _)| Edit::Block(turn, reply, attempt, block)));
            }
        }
    }
    found
}

/// What is said beside what happens.
fn switches(scenario: &Scenario) -> Vec<Edit> {
    let mut found: Vec<Edit> = scenario.expect.executed.keys().cloned().map(Edit::Expectation).collect();
    found.extend((0..scenario.needs.len()).map(Edit::Need));
    let whole = [
        (scenario.limits.steps.is_some(), Edit::Limits),
        (scenario.profile.is_some(), Edit::Profile),
        (scenario.given.is_some(), Edit::Given),
    ];
    found.extend(whole.into_iter().filter(|(is_there, _)| *is_there).map(|(_, edit)| edit));
    for (turn, said) in scenario.turns.iter().enumerate() {
        found.extend((0..said.settle.len()).map(|entry| Edit::Settle(turn, entry)));
        found.extend((said.process != 1).then_some(Edit::Process(turn)));
        for (reply, said) in said.replies.iter().enumerate() {
            found.extend(said.interleave.then_some(Edit::Interleave(turn, reply)));
            found.extend(said.stop.is_some().then_some(Edit::Stop(turn, reply)));
            found.extend(said.indices.is_some().then_some(Edit::Indices(turn, reply)));
        }
    }
    for call in scenario.calls() {
        found.extend(call.id.is_some().then(|| Edit::Id(call.name.clone())));
        found.extend(call.raw.is_some().then(|| Edit::Raw(call.name.clone())));
    }
    for (name, tool) in &scenario.tools {
        let odd = traits(tool).into_iter();
        found.extend(odd.map(|odd| Edit::Trait(name.clone(), odd)));
        let is_called = scenario.calls().any(|call| call.tool == *name);
        found.extend((!is_called).then(|| Edit::Tool(name.clone())));
    }
    found
}

fn traits(tool: &Tool) -> Vec<Trait> {
    let all = [
        (tool.deaf, Trait::Deaf),
        (tool.asks, Trait::Asks),
        (tool.hangs, Trait::Hangs),
        (tool.ends, Trait::Ends),
        (tool.missing, Trait::Missing),
        (tool.called.is_some(), Trait::Called),
        (tool.fails.is_some() || tool.throws.is_some() || tool.denies.is_some(), Trait::Failing),
    ];
    all.into_iter().filter(|(is_there, _)| *is_there).map(|(_, odd)| odd).collect()
}

/// A scenario without some elements of one kind, given in the order of [`elements`], and without what needed them.
pub(super) fn without(scenario: &Scenario, edits: &[Edit]) -> Scenario {
    let mut less = scenario.clone();
    edits.iter().for_each(|edit| take_out(&mut less, edit));
    fixup::fix(&mut less);
    less
}

fn take_out(scenario: &mut Scenario, edit: &Edit) {
    match edit {
        Edit::Turn(turn) => fixup::remove_turn(scenario, *turn),
        Edit::Action(turn, at) => drop(scenario.turns[*turn].at.remove(*at)),
        Edit::Reply(turn, reply) => fixup::remove_reply(&mut scenario.turns[*turn], *reply),
        Edit::Attempt(turn, reply, attempt) => {
            fixup::remove_attempt(&mut scenario.turns[*turn], *reply, *attempt);
        }
        Edit::Block(turn, reply, attempt, block) => {
            fixup::remove_block(&mut scenario.turns[*turn], (*reply, *attempt, *block));
        }
        Edit::Settle(turn, entry) => drop(scenario.turns[*turn].settle.remove(*entry)),
        Edit::Expectation(call) => drop(scenario.expect.executed.remove(call)),
        Edit::Need(need) => drop(scenario.needs.remove(*need)),
        Edit::Limits => scenario.limits.steps = None,
        Edit::Profile => scenario.profile = None,
        Edit::Given => scenario.given = None,
        Edit::Process(turn) => scenario.turns[*turn].process = 1,
        Edit::Interleave(turn, reply) => scenario.turns[*turn].replies[*reply].interleave = false,
        Edit::Stop(turn, reply) => scenario.turns[*turn].replies[*reply].stop = None,
        Edit::Indices(turn, reply) => scenario.turns[*turn].replies[*reply].indices = None,
        Edit::Id(name) => with_call(scenario, name, |call| call.id = None),
        Edit::Raw(name) => with_call(scenario, name, |call| call.raw = None),
        Edit::Tool(name) => drop(scenario.tools.remove(name)),
        Edit::Trait(name, odd) => {
            if let Some(tool) = scenario.tools.get_mut(name) {
                put_right(tool, *odd);
            }
        }
        Edit::Plain(value) => plain::make(scenario, value),
    }
}

pub(super) fn with_call(scenario: &mut Scenario, name: &str, change: impl FnOnce(&mut Call)) {
    if let Some(call) = scenario.calls_mut().find(|call| call.name == name) {
        change(call);
    }
}

fn put_right(tool: &mut Tool, odd: Trait) {
    match odd {
        Trait::Deaf => tool.deaf = false,
        Trait::Asks => tool.asks = false,
        Trait::Hangs => tool.hangs = false,
        Trait::Ends => tool.ends = false,
        Trait::Called => tool.called = None,
        Trait::Missing => (tool.missing, tool.called) = (false, None),
        Trait::Failing => (tool.fails, tool.throws, tool.denies) = (None, None, None),
    }
    // What ends in no way succeeds.
    let ends = [&tool.returns, &tool.fails, &tool.throws, &tool.denies];
    if !tool.missing && ends.iter().all(|said| said.is_none()) {
        tool.returns = Some(plain::RETURNED.to_owned());
    }
}
