//! Changes of the list of tools: whether they are possible, and which calls name a tool that the system does not have then.

use crate::action::{Action, DETAIL, ToolChange};
use crate::point::{Point, Which};
use crate::scenario::{At, Block, Call, Reply, Scenario, Tool, Turn};

use super::position;
use super::problem::{Problem, Problems};
use super::tools;

/// A change of the list of tools, and the first reply to a request that knows of it.
struct PlacedChange<'a> {
    /// The turn, and the index of its action.
    place: (usize, usize),
    /// The turn and the index of the reply.
    known_from: (usize, usize),
    change: &'a ToolChange,
}

/// The changes in a scenario, in causal order.
fn changes(scenario: &Scenario) -> Vec<PlacedChange<'_>> {
    let mut placed = Vec::new();
    for (turn, said) in scenario.turns.iter().enumerate() {
        for (index, at) in said.at.iter().enumerate() {
            let Action::Tools(change) = &at.action else { continue };
            let reply = first_after(scenario, said, at);
            placed.push(PlacedChange { place: (turn, index), known_from: (turn, reply), change });
        }
    }
    placed.sort_by_key(|placed| placed.known_from);
    placed
}

/// The index of the first reply to a request that a turn sends after an action between two turns or while tools run.
fn first_after(scenario: &Scenario, turn: &Turn, at: &At) -> usize {
    let runs = |call: &&Call| scenario.tools.get(&call.tool).is_some_and(|tool| !tool.missing);
    let of_count = |count: u32| {
        let mut n_calls = 0;
        let reaches = |reply: &Reply| {
            n_calls +=
                reply.attempts.last().into_iter().flatten().filter_map(Block::call).filter(runs).count();
            n_calls >= (count as usize).max(1)
        };
        turn.replies.iter().position(reaches)
    };
    let of_call =
        |name: &str| turn.replies.iter().position(|reply| reply.calls().any(|call| call.name == name));
    let batch = match at.point() {
        Some(Point::Started(Which::Count(count)) | Point::Settled(Which::Count(count))) => of_count(*count),
        Some(point) => point.call().and_then(of_call),
        None => None,
    };
    batch.map_or(0, |reply| reply + 1)
}

/// True if the system does not have the tool of a call when it sends the request for this turn and reply: the tool was
/// withdrawn, or is offered only later.
pub(super) fn is_gone(scenario: &Scenario, call: &Call, reply: (usize, usize)) -> bool {
    let changes = changes(scenario);
    let of_tool = || changes.iter().filter(|placed| placed.change.tool() == call.tool);
    let known = of_tool().filter(|placed| placed.known_from <= reply);
    let now = known.filter_map(|placed| placed.change.presence()).next_back();
    !now.unwrap_or_else(|| ToolChange::is_there_before(of_tool().map(|placed| placed.change)))
}

/// True if a call names a tool that the system does not have when the model makes it, because the list changes.
pub fn has_call_without_tool(scenario: &Scenario) -> bool {
    position::calls(scenario).any(|(place, call)| is_gone(scenario, call, (place.turn, place.reply)))
}

/// The turn of a change that is not possible, and the index of its action there.
pub fn impossible_tool_change(scenario: &Scenario) -> Option<(usize, usize)> {
    first_problem(scenario).map(|(place, _)| place)
}

/// Checks that each change is possible: the tool has the state that the change ends, and the model always has a tool left.
pub(super) fn check(scenario: &Scenario, problems: &mut Problems) {
    first_problem(scenario).into_iter().for_each(|(_, problem)| problems.add(problem));
    check_calls(scenario, problems);
}

/// The first change that is not possible, by its turn and the index of its action, with the reason.
fn first_problem(scenario: &Scenario) -> Option<((usize, usize), Problem)> {
    let changes = changes(scenario);
    let first = changes.first()?.place;
    let at_first = |problem: Problem| Some((first, problem));
    let of_tool = |name: &str| {
        let name = name.to_owned();
        changes.iter().filter(move |placed| placed.change.tool() == name).map(|placed| placed.change)
    };
    let given = scenario.tools.iter().filter(|(_, tool)| !tool.missing).map(|(name, _)| name.as_str());
    let mut there: Vec<&str> = given.filter(|name| ToolChange::is_there_before(of_tool(name))).collect();
    if there.is_empty() {
        let message = "the system has no tool before the first change";
        return at_first(Problem::new("/tools", message).with_hint(KEEP_ONE));
    }
    if scenario.turns.iter().any(|turn| turn.process != 1) {
        let message = "the list of tools cannot be changed in a scenario with two processes";
        let problem = Problem::new(format!("/turns/{}/at/{}/do", first.0, first.1), message);
        return at_first(
            problem.with_hint("each process has its own list, so put the change into a separate scenario"),
        );
    }
    let mut extended: Vec<&str> = Vec::new();
    for PlacedChange { place, change, .. } in &changes {
        let (turn, index) = place;
        let wrong = |problem: Problem| Some((*place, problem));
        let name = change.tool();
        let pointer = format!("/turns/{turn}/at/{index}/do/tools");
        let Some(tool) = scenario.tools.get(name) else {
            let known: Vec<&String> = scenario.tools.keys().collect();
            return wrong(Problem::unknown(pointer, "tool", name, "`tools` has", &known));
        };
        if let Some(key) = unchangeable(tool) {
            let message =
                format!("the tool `{name}` is `{key}`, and the list of such tools cannot be changed");
            return wrong(Problem::new(pointer, message).with_hint("name another tool"));
        }
        let is_there = there.contains(&name);
        let message = match change {
            ToolChange::Withdraw(_) if is_there && there.len() == 1 => {
                Some("this leaves the model without a tool".to_owned())
            }
            ToolChange::Withdraw(_) | ToolChange::Extend(_) if !is_there => {
                Some(format!("the system does not have the tool `{name}` at this point"))
            }
            ToolChange::Offer(_) if is_there => Some(format!("the system already has the tool `{name}`")),
            ToolChange::Extend(_) if extended.contains(&name) => {
                Some(format!("the schema of `{name}` has changed already"))
            }
            ToolChange::Extend(_) if has_detail(scenario, name) => Some(format!(
                "a call of `{name}` already has the argument `{DETAIL}`, which this change adds"
            )),
            ToolChange::Withdraw(_) | ToolChange::Offer(_) | ToolChange::Extend(_) => None,
        };
        if let Some(message) = message {
            return wrong(Problem::new(pointer, message).with_hint(KEEP_ONE));
        }
        match change {
            ToolChange::Withdraw(_) => there.retain(|other| *other != name),
            ToolChange::Offer(_) => there.push(name),
            ToolChange::Extend(_) => extended.push(name),
        }
    }
    None
}

/// Rejects special properties of a tool for calls that come while the system does not have the tool: no such call runs.
fn check_calls(scenario: &Scenario, problems: &mut Problems) {
    let plain = ["returns", "fails", "throws", "denies", "bytes", "missing", "called"];
    for (place, call) in position::calls(scenario) {
        let Some(tool) = scenario.tools.get(&call.tool) else { continue };
        let Some(key) = tools::keys_beside(tool, &plain).next() else { continue };
        problems.add_if(is_gone(scenario, call, (place.turn, place.reply)), || {
            let message =
                format!("the system does not have the tool `{}` then, so `{key}` has no effect", call.tool);
            Problem::new(format!("{place}/call/tool"), message).with_hint("call a tool without that key")
        });
    }
}

/// The advice for a change that is not possible.
const KEEP_ONE: &str = "change a tool that the system has at this point, and keep another one";

/// The property of a tool that belongs to the system's own structure and not to a list that an application changes.
fn unchangeable(tool: &Tool) -> Option<&'static str> {
    let keys = [("missing", tool.missing), ("agent", tool.agent), ("hands_over", tool.hands_over)];
    keys.into_iter().find(|(_, is_set)| *is_set).map(|(key, _)| key)
}

fn has_detail(scenario: &Scenario, name: &str) -> bool {
    position::calls(scenario).any(|(_, call)| call.tool == name && call.args.contains_key(DETAIL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn scenario(at: &str) -> Scenario {
        let text = format!(
            "schema: 1\ncomment: Tools come and go.\nclass: [tools-changed]\n\
             tools: {{ lookup: {{ returns: found }}, order: {{ returns: done }} }}\nturns:\n\
             - user: One.\n  replies:\n  - [{{ call: {{ as: a, tool: lookup }} }}, {{ call: {{ as: b, tool: order }} }}]\n\
             \x20 - [{{ call: {{ as: c, tool: lookup }} }}]\n  - [{{ text: Yes. }}]\n  at: [{at}]\n"
        );
        let variants = parse::parse("tools.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
        variants[0].scenario.clone()
    }

    fn problem(at: &str) -> Option<String> {
        let mut problems = Problems::default();
        check(&scenario(at), &mut problems);
        problems.first().map(|problem| problem.message)
    }

    #[test]
    fn a_call_after_the_withdrawal_of_its_tool_names_no_tool() {
        let changed = scenario("{ after: { started: b }, do: { tools: { withdraw: lookup } } }");
        let gone: Vec<bool> = position::calls(&changed)
            .map(|(at, call)| is_gone(&changed, call, (at.turn, at.reply)))
            .collect();
        assert_eq!(gone, [false, false, true]);
        let changed = scenario("{ after: { settled: 2 }, do: { tools: { offer: lookup } } }");
        let gone: Vec<bool> = position::calls(&changed)
            .map(|(at, call)| is_gone(&changed, call, (at.turn, at.reply)))
            .collect();
        assert_eq!(gone, [true, false, false]);
    }

    #[test]
    fn impossible_changes_are_refused() {
        let of = |changes: &[&str]| {
            let at = changes
                .iter()
                .map(|change| format!("{{ after: {{ settled: 1 }}, do: {{ tools: {{ {change} }} }} }}"));
            problem(&at.collect::<Vec<_>>().join(", "))
        };
        assert_eq!(of(&["withdraw: lookup"]), None);
        assert_eq!(of(&["withdraw: lookup", "offer: lookup"]), None);
        let said = |changes: &[&str]| of(changes).unwrap();
        assert!(said(&["withdraw: look"]).contains("no tool `look`"));
        assert!(said(&["withdraw: lookup", "withdraw: order"]).contains("without a tool"));
        assert!(said(&["offer: lookup", "offer: order"]).contains("no tool before"));
        assert!(said(&["withdraw: lookup", "extend: lookup"]).contains("does not have"));
        assert!(said(&["withdraw: lookup", "offer: lookup", "offer: lookup"]).contains("already has"));
        assert!(said(&["extend: lookup", "extend: lookup"]).contains("has changed already"));
    }
}
