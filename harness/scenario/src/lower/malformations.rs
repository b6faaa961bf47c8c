//! Malformed calls and replies: whether the dialect can send them, and how they are made.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::plan::{Malformation, PlannedCall, WellFormedCall};
use crate::scenario::{Action, Block, Call, CallId, Need, Reply, Scenario, Stop, Tool};
use crate::surrogate::HALF_CHARACTER;
use crate::wire;
use brickbat_rules::dialect::Dialect;

use super::fragments::cut;
use super::limits::MAX_STRING;
use super::position::{self, BlockPosition};
use super::problem::{Problem, Problems};

/// The maximum length of an id from a model. The longest seen in public has 391 characters.
const MAX_ID: usize = 512;

/// Checks the malformations of a call.
pub(super) fn check_call(scenario: &Scenario, place: BlockPosition, call: &Call, problems: &mut Problems) {
    let base = format!("{place}/call");
    if let Some(raw) = &call.raw {
        problems.add_if(!call.args.is_empty(), || {
            Problem::new(format!("{base}/raw"), "a call must have either `args` or `raw`")
        });
        problems.add_if(raw.len() > MAX_STRING, || {
            Problem::new(format!("{base}/raw"), format!("the arguments are longer than {MAX_STRING} bytes"))
        });
    }
    match &call.id {
        Some(CallId::Text(id)) => problems.add_if(id.len() > MAX_ID, || {
            Problem::new(format!("{base}/id/text"), format!("the id is longer than {MAX_ID} bytes"))
        }),
        Some(CallId::Same(name)) => {
            let mut earlier = position::calls(scenario).take_while(|(at, _)| *at != place);
            match earlier.find(|(_, other)| other.name == *name) {
                None => problems.add(
                    Problem::new(format!("{base}/id/same"), format!("there is no earlier call `{name}`"))
                        .with_hint("name a call that comes earlier in the file"),
                ),
                Some((_, other)) => problems.add_if(asks(scenario, other), || {
                    let message =
                        format!("the user is asked about the call `{name}` and identifies it by its id");
                    Problem::new(format!("{base}/id/same"), message)
                        .with_hint("name a call of a tool that does not ask")
                }),
            }
        }
        Some(CallId::Missing) | None => {}
    }
    problems.add_if(asks(scenario, call) && call.id.is_some(), || {
        Problem::new(format!("{base}/id"), "the user is asked about this call and identifies it by its id")
            .with_hint("use a tool that does not ask")
    });
}

/// True if the user is asked about a call.
fn asks(scenario: &Scenario, call: &Call) -> bool {
    scenario.tools.get(&call.tool).is_some_and(|tool| tool.asks)
}

/// Checks the keys of a tool that the system is never given.
pub(super) fn check_tool(base: &str, tool: &Tool, tools: &BTreeMap<String, Tool>, problems: &mut Problems) {
    problems.add_if(tool.missing && tool.asks, || {
        Problem::new(format!("{base}/asks"), "the user is never asked about a `missing` tool")
    });
    problems.add_if(tool.missing && tool.deaf, || {
        Problem::new(format!("{base}/deaf"), "a `missing` tool never runs, so `deaf` has no effect")
    });
    let Some(called) = &tool.called else { return };
    let pointer = format!("{base}/called");
    problems.add_if(!tool.missing, || {
        Problem::new(&pointer, "`called` is only for a tool that is `missing`")
            .with_hint("add `missing: true`")
    });
    problems.add_if(called.len() > MAX_STRING, || {
        Problem::new(&pointer, format!("the name is longer than {MAX_STRING} bytes"))
    });
    let given = |name: &str| tools.get(name).is_some_and(|tool| !tool.missing);
    problems.add_if(given(called), || {
        Problem::new(&pointer, format!("the system has a tool `{called}`"))
            .with_hint("choose a name that no tool has")
    });
}

/// Checks the malformations of a reply.
pub(super) fn check_reply(base: &str, reply: &Reply, problems: &mut Problems) {
    problems.add_if(reply.interleave && reply.indices.is_some(), || {
        Problem::new(
            format!("{base}/indices"),
            "interleaved deltas cannot be assigned to calls that share a number or have none",
        )
        .with_hint("leave out `interleave` or `indices`")
    });
    problems.add_if(reply.indices.is_some() && reply.repeats_ids(), || {
        Problem::new(
            format!("{base}/indices"),
            "without a number, a call that reuses the id of another cannot be told apart from it",
        )
        .with_hint("leave out `indices`, or give each call its own id")
    });
}

/// The reason why the dialect cannot send what the scenario contains, if there is one.
pub(super) fn impossible(scenario: &Scenario, dialect: Dialect) -> Option<String> {
    let wire = wire::of(dialect);
    for reply in scenario.turns.iter().flat_map(|turn| &turn.replies) {
        if reply.interleave && !wire.traits.interleaves {
            return Some(format!("{dialect} sends one call after another"));
        }
        if reply.repeats_ids() && !wire.traits.may_lack_ids {
            return Some(format!("{dialect} gives every call its own id"));
        }
        if reply.indices.is_some() && !wire.traits.numbers_calls {
            return Some(format!("{dialect} does not number calls separately from blocks"));
        }
        if reply.indices.is_some() && reply.attempts.iter().any(|blocks| has_unmarked(scenario, blocks)) {
            return Some(
                "a call without number, id and name looks like a continuation of the previous call"
                    .to_owned(),
            );
        }
        for blocks in &reply.attempts {
            if let Some(stop) = reply.stop {
                let has_calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
                let own = wire.stop_word(if has_calls { Stop::Calls } else { Stop::End });
                match wire.stop_word(stop) {
                    None => return Some(format!("{dialect} has no stop reason for `{}`", stop.name())),
                    word if word == own => {
                        return Some(format!(
                            "in {dialect}, this reply's stop reason is already `{}`",
                            stop.name()
                        ));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    let actions = scenario.turns.iter().flat_map(|turn| &turn.at).map(|at| &at.action);
    if !wire.traits.opens_twice && actions.clone().any(|action| *action == Action::Duplicate) {
        return Some(format!("no gateway is known to open {dialect} streams twice"));
    }
    for (_, call) in position::calls(scenario) {
        if !wire.traits.may_lack_ids && call.id.as_ref().is_some_and(is_no_id) {
            return Some(format!("{dialect} gives every call its own id"));
        }
        if call.raw.as_ref().is_some_and(|raw| !is_json_object(raw)) && !wire.traits.streams_arguments {
            return Some(format!("{dialect} always sends arguments as JSON objects"));
        }
    }
    let is_nameless = |tool: &Tool| tool.called.as_deref() == Some("");
    if !wire.traits.streams_arguments && scenario.tools.values().any(is_nameless) {
        return Some(format!("{dialect} sends calls as named values"));
    }
    if !wire.traits.refuses_half_characters && scenario.tools.values().any(has_half_character) {
        return Some(format!("{dialect} is not known to refuse half of a character"));
    }
    None
}

/// The capabilities that a system needs to receive the malformations: some of them exist only in streams.
pub(super) fn needs(scenario: &Scenario, dialect: Dialect) -> Vec<Need> {
    let mut replies = scenario.turns.iter().flat_map(|turn| &turn.replies);
    let mut raws = position::calls(scenario).filter_map(|(_, call)| call.raw.as_ref());
    let is_streamed = replies.any(|reply| reply.indices.is_some())
        || (!wire::of(dialect).traits.writes_arguments && raws.any(|raw| !is_json(raw)));
    if is_streamed { vec![Need::Streaming] } else { Vec::new() }
}

/// True if a call after another one has neither an id nor a name.
fn has_unmarked(scenario: &Scenario, blocks: &[Block]) -> bool {
    let is_nameless =
        |tool: &str| scenario.tools.get(tool).is_some_and(|tool| tool.called.as_deref() == Some(""));
    let mut later = blocks.iter().filter_map(Block::call).skip(1);
    later.any(|call| is_nameless(&call.tool) && call.id.as_ref().is_some_and(is_no_id))
}

/// True if an id identifies nothing: it is missing or empty, or it is that of another call.
fn is_no_id(id: &CallId) -> bool {
    match id {
        CallId::Missing | CallId::Same(_) => true,
        CallId::Text(text) => text.is_empty(),
    }
}

/// True if the text of the tool's outcome contains half a character.
fn has_half_character(tool: &Tool) -> bool {
    let texts = [&tool.returns, &tool.fails, &tool.throws, &tool.denies];
    texts.into_iter().flatten().any(|text| text.contains(HALF_CHARACTER))
}

fn is_json_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok()
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok()
}

/// Adds the scenario's malformations to a correct call. `is_gone` is true if the system no longer has its tool, or not yet. `same` finds the id of an earlier call.
pub(super) fn apply(
    planned: &mut PlannedCall,
    call: &Call,
    (tool, is_gone): (&Tool, bool),
    same: impl Fn(&str) -> Option<String>,
) {
    let is_missing = tool.missing || is_gone;
    if !is_missing && call.raw.is_none() && call.id.is_none() {
        return;
    }
    let PlannedCall { id, tool: name, args, deltas, .. } = planned.clone();
    let right = WellFormedCall { id, tool: name, args, deltas };
    let no_id = call.id == Some(CallId::Missing);
    planned.malformation =
        Some(Box::new(Malformation { tool: is_missing, args: call.raw.is_some(), no_id, right }));
    if let Some(called) = &tool.called {
        planned.tool.clone_from(called);
    }
    if let Some(raw) = &call.raw {
        // A body in one piece can carry only JSON; other text is sent only in streams.
        planned.args = serde_json::from_str(raw).unwrap_or_else(|_| Value::Object(serde_json::Map::new()));
        planned.deltas = cut(raw, call.deltas as usize);
    }
    match &call.id {
        Some(CallId::Missing) => planned.id.clear(),
        Some(CallId::Text(id)) => planned.id.clone_from(id),
        Some(CallId::Same(name)) => planned.id = same(name).unwrap_or_default(),
        None => {}
    }
}
