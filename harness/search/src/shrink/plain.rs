//! Simplifies values: texts, arguments, and counts.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::fixup::SAID;
use brickbat_scenario::action::Payload;
use brickbat_scenario::scenario::{
    Action, At, Block, Call, CallId, HttpFault, Point, SOON_MS, Scenario, Tool, Which,
};

/// The default result of a tool.
pub(super) const RETURNED: &str = "ok";

/// The text of a tool that does not succeed.
const FAILED: &str = "no";

/// A value that could be plainer. All indices are 0-based.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// The names of all calls, which become letters.
    Names,
    /// The user's message in a turn.
    User(usize),
    /// The model's text or thinking, by turn, reply, attempt and block.
    Text(usize, usize, usize, usize),
    /// An argument of a call, which is removed.
    Arg(String, String),
    /// A call argument, whose value becomes plain.
    Content(String, String),
    Deltas(String),
    /// The tool of a call, if another tool is equal.
    Tool(String),
    Ending(String),
    /// The point of an action in a turn.
    Point(usize, usize),
    /// The text or count of an action in a turn.
    Action(usize, usize),
}

/// Every value that is not plain.
pub(super) fn values(scenario: &Scenario) -> Vec<Value> {
    let mut found = Vec::new();
    for call in scenario.all_calls() {
        let arg = |key: &String| Value::Arg(call.name.clone(), key.clone());
        found.extend(call.args.keys().map(arg));
        let long = call.args.iter().filter(|(_, value)| **value != plain_arg(value));
        found.extend(long.map(|(key, _)| Value::Content(call.name.clone(), key.clone())));
        found.extend((call.deltas > DELTAS).then(|| Value::Deltas(call.name.clone())));
        found.extend(twin(scenario, call).map(|_| Value::Tool(call.name.clone())));
    }
    for (turn, said) in scenario.turns.iter().enumerate() {
        found.extend((said.user.len() > user(turn).len()).then_some(Value::User(turn)));
        for (reply, said) in said.replies.iter().enumerate() {
            for (attempt, blocks) in said.attempts.iter().enumerate() {
                let is_long = |block: &Block| match block {
                    Block::Think(text) | Block::Text(text) => text.len() > SAID.len(),
                    Block::Call(_) | Block::Search(_) | Block::Found(_) => false,
                };
                let long = blocks.iter().enumerate().filter(|(_, block)| is_long(block));
                found.extend(long.map(|(block, _)| Value::Text(turn, reply, attempt, block)));
            }
        }
        for (index, at) in said.at.iter().enumerate() {
            found.extend((plain_point(at) != *at).then_some(Value::Point(turn, index)));
            found.extend((plain_action(&at.action) != at.action).then_some(Value::Action(turn, index)));
        }
    }
    let odd = scenario.tools.iter().filter(|(_, tool)| plain_tool(tool) != **tool);
    found.extend(odd.map(|(name, _)| Value::Ending(name.clone())));
    found.extend((!renamed(scenario).is_empty()).then_some(Value::Names));
    found
}

pub(super) fn make(scenario: &mut Scenario, value: &Value) {
    match value {
        Value::Names => rename(scenario),
        Value::User(turn) => scenario.turns[*turn].user = user(*turn),
        Value::Text(turn, reply, attempt, block) => {
            match &mut scenario.turns[*turn].replies[*reply].attempts[*attempt][*block] {
                Block::Think(text) | Block::Text(text) => *text = SAID.to_owned(),
                Block::Call(_) | Block::Search(_) | Block::Found(_) => {}
            }
        }
        Value::Arg(name, key) => with_call(scenario, name, |call| drop(call.args.remove(key))),
        Value::Content(name, key) => with_call(scenario, name, |call| {
            if let Some(value) = call.args.get_mut(key) {
                *value = plain_arg(value);
            }
        }),
        Value::Deltas(name) => with_call(scenario, name, |call| call.deltas = call.deltas.min(DELTAS)),
        Value::Tool(name) => {
            let call = scenario.calls().find(|call| call.name == *name);
            if let Some(twin) = call.and_then(|call| twin(scenario, call)).cloned() {
                with_call(scenario, name, |call| call.tool = twin);
            }
        }
        Value::Ending(name) => {
            if let Some(tool) = scenario.tools.get_mut(name) {
                *tool = plain_tool(tool);
            }
        }
        Value::Point(turn, at) => {
            let at = &mut scenario.turns[*turn].at[*at];
            *at = plain_point(at);
        }
        Value::Action(turn, at) => {
            let at = &mut scenario.turns[*turn].at[*at];
            at.action = plain_action(&at.action);
        }
    }
}

/// The default number of deltas per call.
const DELTAS: u32 = 3;

/// The plain user message of a turn, different in each turn.
fn user(turn: usize) -> String {
    format!("Do step {}.", turn + 1)
}

fn plain_arg(value: &Json) -> Json {
    match value {
        Json::String(text) if text.len() > 1 => Json::from("x"),
        Json::Number(_) => Json::from(0),
        Json::Bool(_) => Json::from(false),
        other => other.clone(),
    }
}

/// Simplifies the texts of a tool. A shorter text is kept, because an empty text may be the purpose of the
/// tool.
fn plain_tool(tool: &Tool) -> Tool {
    let say = |said: &Option<String>, plain: &str| {
        said.as_ref().map(|said| if said.len() > plain.len() { plain.to_owned() } else { said.clone() })
    };
    Tool {
        returns: say(&tool.returns, RETURNED),
        fails: say(&tool.fails, FAILED),
        throws: say(&tool.throws, FAILED),
        denies: say(&tool.denies, FAILED),
        ..tool.clone()
    }
}

/// The first tool that equals the tool of a call, if it is another one.
fn twin<'a>(scenario: &'a Scenario, call: &Call) -> Option<&'a String> {
    let own = scenario.tools.get(&call.tool)?;
    let mut alike = scenario.tools.iter().filter(|(_, tool)| *tool == own).map(|(name, _)| name);
    alike.next().filter(|name| **name != call.tool)
}

/// The earliest point of its kind.
fn plain_point(at: &At) -> At {
    let mut at = at.clone();
    let is_before = at.before.is_some();
    match at.point_mut() {
        Some(Point::Settled(Which::Count(count))) => *count = u32::from(is_before),
        Some(Point::Started(Which::Count(count)) | Point::Compaction(count)) => *count = 1,
        Some(Point::Delta(_, number) | Point::Text(number) | Point::Think(number)) => *number = 1,
        _ => {}
    }
    at
}

fn plain_action(action: &Action) -> Action {
    match (&action.spec().payload, action) {
        (Payload::Http(make), Action::Http(fault)) => {
            make(HttpFault { times: 1, retry_after_ms: SOON_MS, ..fault.clone() })
        }
        (Payload::Text { make, plain }, _) if action.text().is_some_and(|said| said.len() > plain.len()) => {
            make((*plain).to_owned())
        }
        (Payload::Keep { make, .. }, Action::Trim(keep) | Action::Summarise(keep)) => make((*keep).min(1)),
        _ => action.clone(),
    }
}

/// The new names of calls whose names change: letters, in file order.
fn renamed(scenario: &Scenario) -> BTreeMap<String, String> {
    let name = |at: usize| {
        let letter = char::from(b'a' + (at % 26) as u8);
        if at < 26 { letter.to_string() } else { format!("{letter}{}", at / 26) }
    };
    let new = scenario.calls().enumerate().map(|(at, call)| (call.name.clone(), name(at)));
    let new: BTreeMap<String, String> = new.collect();
    // The calls of sub-agents keep their names, which may be letters.
    if scenario.calls().any(|call| call.agent.is_some()) {
        return BTreeMap::new();
    }
    if new.iter().all(|(old, new)| old == new) { BTreeMap::new() } else { new }
}

fn rename(scenario: &mut Scenario) {
    let new = renamed(scenario);
    let change = |name: &mut String| {
        if let Some(new) = new.get(name) {
            name.clone_from(new);
        }
    };
    for call in scenario.calls_mut() {
        change(&mut call.name);
        if let Some(CallId::Same(name)) = &mut call.id {
            change(name);
        }
    }
    for turn in &mut scenario.turns {
        turn.settle.iter_mut().for_each(change);
        for at in &mut turn.at {
            at.action.call_mut().into_iter().for_each(change);
            at.point_mut().and_then(Point::call_mut).into_iter().for_each(change);
        }
    }
    let executed = std::mem::take(&mut scenario.expect.executed);
    scenario.expect.executed = executed
        .into_iter()
        .map(|(mut name, times)| {
            change(&mut name);
            (name, times)
        })
        .collect();
}

/// Changes the call with this name, if there is one.
pub(super) fn with_call(scenario: &mut Scenario, name: &str, change: impl FnOnce(&mut Call)) {
    if let Some(call) = scenario.calls_mut().find_map(|call| named(call, name)) {
        change(call);
    }
}

/// The call with this name: this one, or one that its sub-agent makes.
fn named<'c>(call: &'c mut Call, name: &str) -> Option<&'c mut Call> {
    if call.name == name {
        return Some(call);
    }
    let blocks = call.agent.as_mut()?.replies.iter_mut().flatten();
    blocks.filter_map(Block::call_mut).find(|inner| inner.name == name)
}
