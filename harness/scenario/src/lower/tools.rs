//! The tools of a scenario: whether its calls fit them, how they are declared, and how a call ends.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::plan::{MARKER, PlannedTool, ToolOutcome};
use crate::scenario::{Call, Need, Scenario, Tool};

use super::limits;
use super::malformations;
use super::position::{self, BlockPosition};
use super::problem::{Problem, Problems};
use super::sub_agents;

/// The maximum number of characters in a tool's name. Providers refuse longer ones:
/// <https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview> gives `^[a-zA-Z0-9_-]{1,64}$`.
const MAX_TOOL_NAME: usize = 64;

/// The maximum number of characters in a call's name, which becomes part of markers, reports and file names.
const MAX_CALL_NAME: usize = 32;

/// Checks the tools and every call against them.
pub(super) fn check(scenario: &Scenario, problems: &mut Problems) {
    for (name, tool) in &scenario.tools {
        check_tool(name, tool, problems);
        malformations::check_tool(
            &format!("/tools/{}", position::step(name)),
            tool,
            &scenario.tools,
            problems,
        );
        check_ending(name, tool, problems);
        check_handoff(name, tool, problems);
        check_client(name, tool, problems);
        if tool.agent {
            sub_agents::check_tool(name, tool, problems);
        }
    }
    sub_agents::check_scenario(scenario, problems);
    let mut named: BTreeMap<&str, BlockPosition> = BTreeMap::new();
    for (place, call) in position::calls(scenario) {
        check_call(scenario, place, call, problems);
        malformations::check_call(scenario, place, call, problems);
        problems.add_if(named.insert(&call.name, place).is_some(), || {
            Problem::new(format!("{place}/call/as"), format!("two calls are named `{}`", call.name))
                .with_hint("give every call of the file its own name")
        });
    }
    scenario.tools.keys().for_each(|name| check_kinds(scenario, name, problems));
    let is_missing = scenario.tools.values().all(|tool| tool.missing);
    problems.add_if(is_missing && !scenario.tools.is_empty(), || {
        Problem::new("/tools", "every tool is `missing`, so the model has none to call")
            .with_hint("add a tool that is not `missing`")
    });
}

/// The system's tools, and those that it lacks.
pub(super) fn planned(scenario: &Scenario) -> (Vec<PlannedTool>, Vec<PlannedTool>) {
    let (missing, given): (Vec<_>, Vec<_>) = scenario.tools.iter().partition(|(_, tool)| tool.missing);
    let planned = |(name, tool): (&String, &Tool)| {
        // The others concern the outcome of a call, or its name. A new field has to be placed here.
        let Tool {
            deaf,
            asks,
            ends,
            hands_over,
            agent,
            client,
            returns: _,
            fails: _,
            throws: _,
            denies: _,
            missing: _,
            called: _,
            hangs: _,
            bytes: _,
        } = *tool;
        PlannedTool {
            name: name.clone(),
            params: params(scenario, name),
            deaf,
            asks,
            ends,
            hands_over,
            agent,
            client,
        }
    };
    (given.into_iter().map(planned).collect(), missing.into_iter().map(planned).collect())
}

fn check_tool(name: &str, tool: &Tool, problems: &mut Problems) {
    let base = format!("/tools/{}", position::step(name));
    let fits = (1..=MAX_TOOL_NAME).contains(&name.len()) && name.chars().all(is_name_char);
    problems.add_if(!fits, || {
        Problem::new(&base, format!("`{name}` is not a valid tool name"))
            .with_hint(format!("use 1 to {MAX_TOOL_NAME} letters, digits, `_` and `-`"))
    });
    let is_too_long = tool.bytes.is_some_and(|bytes| bytes > MAX_BYTES);
    problems.add_if(is_too_long || (tool.bytes.is_some() && tool.returns.is_none()), || {
        Problem::new(
            format!("{base}/bytes"),
            format!("`bytes` requires `returns`, and is at most {MAX_BYTES}"),
        )
    });
    let ends: Vec<(&str, &str)> = endings(tool).collect();
    match ends.as_slice() {
        [(key, _)] if tool.missing => problems.add(
            Problem::new(format!("{base}/{key}"), "a `missing` tool never runs, so it has no outcome")
                .with_hint(format!("remove `{key}`, or `missing`")),
        ),
        [(key, _)] if tool.hands_over => problems.add(
            Problem::new(
                format!("{base}/{key}"),
                "a tool that hands over has no outcome: the system decides what its result says",
            )
            .with_hint(format!("remove `{key}`, or `hands_over`")),
        ),
        [] if tool.missing || tool.hands_over || tool.agent => {}
        // A tool's result may be empty; only a refusal needs a reason.
        [(key, said)] if !said.is_empty() || *key == "denies" => {
            limits::text(&format!("{base}/{key}"), "the tool's text", said, problems)
        }
        [_] => {}
        [] => problems.add(
            Problem::new(&base, format!("the tool `{name}` has no outcome"))
                .with_hint("give one of `returns`, `fails`, `throws` and `denies`"),
        ),
        [(first, _), (second, _), ..] => problems.add(
            Problem::new(format!("{base}/{second}"), format!("the tool `{name}` has two outcomes"))
                .with_hint(format!("keep either `{first}` or `{second}`")),
        ),
    }
}

/// Checks a tool that ends the turn: it must succeed and settle, because otherwise it ends nothing.
fn check_ending(name: &str, tool: &Tool, problems: &mut Problems) {
    let base = format!("/tools/{}", position::step(name));
    problems.add_if(tool.ends && tool.returns.is_none(), || {
        Problem::new(
            format!("{base}/ends"),
            format!("the tool `{name}` never succeeds, so it cannot end the turn"),
        )
        .with_hint("give it an outcome with `returns`")
    });
    problems.add_if(tool.ends && tool.hangs, || {
        Problem::new(format!("{base}/hangs"), format!("the tool `{name}` ends the turn, so it cannot hang"))
    });
}

/// The capabilities that a scenario needs for its tools.
pub(super) fn needs<'a>(tools: impl Iterator<Item = &'a PlannedTool>) -> impl Iterator<Item = Need> {
    tools.flat_map(|tool| {
        // Every system can run a tool with the others. A new field has to be placed here.
        let PlannedTool { name: _, params: _, deaf: _, asks, ends, hands_over, agent, client } = *tool;
        let needs = [
            asks.then_some(Need::Approvals),
            ends.then_some(Need::FinalTools),
            hands_over.then_some(Need::Handoffs),
            agent.then_some(Need::SubAgents),
            client.then_some(Need::ClientTools),
        ];
        needs.into_iter().flatten()
    })
}

/// Checks a handoff: it ends when the other agent continues, and no system supports other settings for it. Its
/// outcomes, `agent` and `client` are checked elsewhere.
fn check_handoff(name: &str, tool: &Tool, problems: &mut Problems) {
    let allowed = ["returns", "fails", "throws", "denies", "called", "hands_over", "agent", "client"];
    if tool.hands_over {
        exclude(name, ("hands_over", "hands over"), (tool, &allowed), problems);
    }
}

/// Checks a client tool: it ends with a result, and the system neither runs it nor can stop it.
fn check_client(name: &str, tool: &Tool, problems: &mut Problems) {
    let allowed = ["returns", "fails", "bytes", "called", "hangs", "agent", "client"];
    if tool.client {
        exclude(name, ("client", "runs on the user's side"), (tool, &allowed), problems);
    }
}

/// Rejects keys of a tool that cannot be combined with the key `own`, which makes the tool do `does`.
fn exclude(
    name: &str,
    (own, does): (&str, &str),
    (tool, allowed): (&Tool, &[&str]),
    problems: &mut Problems,
) {
    for key in keys_beside(tool, allowed) {
        problems.add(
            Problem::new(
                format!("/tools/{}/{key}", position::step(name)),
                format!("the tool `{name}` {does}, which cannot be combined with `{key}`"),
            )
            .with_hint(format!("remove `{key}`, or `{own}`")),
        );
    }
}

/// The keys of a tool beside the allowed ones. Every field is named, so that a new key cannot be combined with a
/// handoff, a client tool or a sub-agent until it is allowed there.
pub(super) fn keys_beside(tool: &Tool, allowed: &[&str]) -> impl Iterator<Item = &'static str> {
    let Tool {
        returns,
        fails,
        throws,
        denies,
        bytes,
        deaf,
        asks,
        missing,
        called,
        hangs,
        ends,
        hands_over,
        agent,
        client,
    } = tool;
    let keys = [
        ("returns", returns.is_some()),
        ("fails", fails.is_some()),
        ("throws", throws.is_some()),
        ("denies", denies.is_some()),
        ("bytes", bytes.is_some()),
        ("deaf", *deaf),
        ("asks", *asks),
        ("missing", *missing),
        ("called", called.is_some()),
        ("hangs", *hangs),
        ("ends", *ends),
        ("hands_over", *hands_over),
        ("agent", *agent),
        ("client", *client),
    ];
    keys.into_iter().filter(|(key, is_given)| *is_given && !allowed.contains(key)).map(|(key, _)| key)
}

fn check_call(scenario: &Scenario, place: BlockPosition, call: &Call, problems: &mut Problems) {
    let base = format!("{place}/call");
    check_name(&format!("{base}/as"), "call", &call.name, problems);
    for (key, value) in &call.args {
        let pointer = format!("{base}/args/{}", position::step(key));
        problems.add_if(key == MARKER, || {
            Problem::new(&pointer, format!("the argument name `{MARKER}` is reserved for the harness"))
                .with_hint("choose another name")
        });
        problems.add_if(kind(value).is_none(), || {
            Problem::new(&pointer, format!("the argument `{key}` must be a string, a number or a boolean"))
        });
    }
    let Some(tool) = scenario.tools.get(&call.tool) else {
        let known: Vec<&String> = scenario.tools.keys().collect();
        problems.add(Problem::unknown(format!("{base}/tool"), "tool", &call.tool, "`tools` has", &known));
        return;
    };
    sub_agents::check_call((place, call), (tool, scenario), problems);
    for key in endings(tool).flat_map(|(_, said)| keys(said)) {
        problems.add_if(call.raw.is_none() && !call.args.contains_key(key), || {
            Problem::new(
                &base,
                format!("the tool `{}` uses `{{{key}}}`, but this call has no such argument", call.tool),
            )
            .with_hint(format!("add the argument `{key}` to the call"))
        });
    }
}

/// Checks the name of a call or of a search.
pub(super) fn check_name(pointer: &str, what: &str, name: &str, problems: &mut Problems) {
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = begins_well && name.len() <= MAX_CALL_NAME && name.chars().all(is_name_char);
    problems.add_if(!fits, || {
        Problem::new(pointer, format!("`{name}` is not a valid {what} name")).with_hint(format!(
            "use up to {MAX_CALL_NAME} letters, digits, `_` and `-`, and begin with a letter"
        ))
    });
}

/// Checks that every call gives an argument of a tool the same type.
fn check_kinds(scenario: &Scenario, name: &str, problems: &mut Problems) {
    let params = params(scenario, name);
    for (place, key, kind) in arguments(scenario, name) {
        let Some((_, first)) = params.iter().find(|(param, first)| param == key && *first != kind) else {
            continue;
        };
        let pointer = format!("{place}/call/args/{}", position::step(key));
        let message = format!("`{key}` is a {kind} here and a {first} in an earlier call");
        problems.add(Problem::new(pointer, message));
    }
}

/// The parameters of a tool: the arguments that its calls give, each with the type in the first call.
fn params(scenario: &Scenario, name: &str) -> Vec<(String, &'static str)> {
    let mut params: Vec<(String, &'static str)> = Vec::new();
    for (_, key, kind) in arguments(scenario, name) {
        if !params.iter().any(|(param, _)| param == key) {
            params.push((key.clone(), kind));
        }
    }
    params
}

/// The arguments that the calls of a tool give, with their types.
fn arguments<'a>(
    scenario: &'a Scenario,
    name: &'a str,
) -> impl Iterator<Item = (BlockPosition, &'a String, &'static str)> {
    let calls = position::calls(scenario).filter(move |(_, call)| call.tool == name);
    calls.flat_map(|(place, call)| {
        call.args.iter().filter_map(move |(key, value)| Some((place, key, kind(value)?)))
    })
}

/// The outcome of a call with these arguments. A returned text contains the marker, so that a result is
/// recognised wherever the system puts it; an empty result contains no marker.
pub(super) fn outcome(tool: &Tool, args: &BTreeMap<String, Value>, marker: &str) -> ToolOutcome {
    let said = |text: &String| fill(text, args);
    match tool {
        Tool { hands_over: true, .. } => ToolOutcome::Return(String::new()),
        Tool { fails: Some(text), .. } => ToolOutcome::Error(said(text)),
        Tool { throws: Some(text), .. } => ToolOutcome::Throw(said(text)),
        Tool { denies: Some(text), .. } => ToolOutcome::Deny(said(text)),
        Tool { returns: Some(text), .. } if text.is_empty() => ToolOutcome::Return(String::new()),
        Tool { returns, .. } => {
            let text = returns.as_ref().map(said).unwrap_or_default();
            let n_missing = tool.bytes.map_or(0, |bytes| (bytes as usize).saturating_sub(text.len()));
            let filler: String = FILLER.chars().cycle().take(n_missing).collect();
            ToolOutcome::Return(format!("{text}{filler} [{marker}]"))
        }
    }
}

/// The text that pads a result.
const FILLER: &str = " and one crate of apples";

/// The maximum size, in bytes, to which a result may be padded: a few of these exceed any window.
const MAX_BYTES: u32 = 1_000_000;

fn endings(tool: &Tool) -> impl Iterator<Item = (&'static str, &str)> {
    let all = [
        ("returns", &tool.returns),
        ("fails", &tool.fails),
        ("throws", &tool.throws),
        ("denies", &tool.denies),
    ];
    all.into_iter().filter_map(|(key, said)| said.as_deref().map(|said| (key, said)))
}

/// The JSON Schema type of an argument.
pub(super) fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(_) => Some("string"),
        Value::Number(_) => Some("number"),
        Value::Bool(_) => Some("boolean"),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A piece of a tool's text, either literal or an argument.
enum TextPiece<'a> {
    Plain(&'a str),
    Key(&'a str),
}

/// Cuts a text into literal parts and `{key}` references. Other braces are literal.
fn pieces(text: &str) -> Vec<TextPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut searched = 0;
    while let Some(open) = rest[searched..].find('{').map(|at| searched + at) {
        let inside = &rest[open + 1..];
        let length = inside.find(|c: char| !is_name_char(c)).unwrap_or(inside.len());
        if length > 0 && inside[length..].starts_with('}') {
            pieces.push(TextPiece::Plain(&rest[..open]));
            pieces.push(TextPiece::Key(&inside[..length]));
            rest = &inside[length + 1..];
            searched = 0;
        } else {
            searched = open + 1;
        }
    }
    pieces.push(TextPiece::Plain(rest));
    pieces
}

fn keys(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        TextPiece::Key(key) => Some(key),
        TextPiece::Plain(_) => None,
    })
}

pub(super) fn fill(text: &str, args: &BTreeMap<String, Value>) -> String {
    let said = |piece| match piece {
        TextPiece::Plain(plain) => plain.to_owned(),
        TextPiece::Key(key) => match args.get(key) {
            Some(Value::String(value)) => value.clone(),
            Some(other) => other.to_string(),
            None => format!("{{{key}}}"),
        },
    };
    pieces(text).into_iter().map(said).collect()
}
