//! The faults of a scenario: as text, as kinds, and as a file name.

use std::collections::BTreeSet;

use super::Signature;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::scenario::{
    Action, Block, Call, Given, GivenBlock, GivenMessage, Limits, Reply, Scenario, Tool, Turn,
};

/// The faults as text: each action with its position, and all other oddities.
pub fn words(scenario: &Scenario) -> String {
    let mut wrong = Vec::new();
    for (turn, said) in scenario.turns.iter().enumerate() {
        wrong.extend(said.at.iter().map(|at| format!("{} in turn {}", at.words(), turn + 1)));
    }
    wrong.extend(oddities(scenario).into_iter().map(|odd| odd.replace('-', " ")));
    if wrong.is_empty() { "nothing goes wrong".to_owned() } else { wrong.join(", and ") }
}

/// The kinds of faults, without their positions.
pub fn kinds(scenario: &Scenario) -> BTreeSet<String> {
    let actions = scenario.turns.iter().flat_map(|turn| &turn.at).map(|at| action(&at.action));
    actions.chain(oddities(scenario)).collect()
}

/// The file name for a regression. Equal causes have equal names; different causes have different names.
pub fn file_name(signature: &Signature, scenario: &Scenario) -> String {
    let kinds: Vec<String> = kinds(scenario).into_iter().collect();
    let Signature { severity, check, says, trigger: _, calls: _ } = signature;
    let key = format!("{} {check} {says} {}", severity.name(), kinds.join(" "));
    let name = kinds.iter().take(MAX_NAMED).fold(check.clone(), |name, kind| format!("{name}-{kind}"));
    format!("{name}-{:06x}.yaml", fnv1a(key.as_bytes()) & 0x00ff_ffff)
}

/// The maximum number of kinds in a file name. The hash covers all of them.
const MAX_NAMED: usize = 3;

fn action(action: &Action) -> String {
    let name = action.spec().name;
    if let Some(fault) = action.http() {
        return format!("{name}-{}", fault.status);
    }
    match action {
        Action::Interrupt(cause) => format!("{name}-{}", cause.name()),
        Action::Fail(how) => format!("{name}-{}", how.name()),
        // Actions that differ only in their texts are of one kind.
        _ => name.to_owned(),
    }
}

/// Oddities besides the actions: in the model's replies, and in how tools end. Every field is named, so that a new one
/// is an oddity or is left out on purpose.
fn oddities(scenario: &Scenario) -> Vec<String> {
    let mut odd = BTreeSet::new();
    let mut add = |is_so: bool, name: &str| {
        if is_so {
            odd.insert(name.to_owned());
        }
    };
    // `class` to `model` and `premise` describe the scenario, and `expect` its verdict.
    let Scenario {
        schema: _,
        comment: _,
        class: _,
        evidence: _,
        found: _,
        profile: _,
        model: _,
        premise: _,
        needs: _,
        vary: _,
        expect: _,
        given,
        tools,
        limits: Limits { steps, window },
        turns,
    } = scenario;
    tools.values().for_each(|tool| in_tool(tool, &mut add));
    add(given.is_some(), "given-history");
    given.iter().for_each(|given| in_given(given, &mut add));
    add(steps.is_some(), "step-limit");
    add(window.is_some(), "small-window");
    // `at` has the actions.
    for Turn { user: _, process, replies, settle, at: _ } in turns {
        add(*process != 1, "second-process");
        replies.iter().for_each(|reply| in_reply(reply, &mut add));
        add(!settle.is_empty(), "order");
    }
    odd.into_iter().collect()
}

fn in_tool(tool: &Tool, add: &mut impl FnMut(bool, &str)) {
    let Tool {
        returns,
        fails,
        throws,
        denies,
        deaf,
        asks,
        missing,
        called,
        hangs,
        ends,
        hands_over,
        bytes,
        agent: _,
        client,
    } = tool;
    add(fails.is_some(), "failing-tool");
    add(throws.is_some(), "throwing-tool");
    add(denies.is_some(), "denied-tool");
    add(*deaf, "deaf-tool");
    add(*asks, "asking-tool");
    add(*missing, "missing-tool");
    add(called.is_some(), "odd-tool-name");
    add(*hangs, "hanging-tool");
    add(*ends, "final-tool");
    add(*hands_over, "handoff");
    add(*client, "client-tool");
    add(bytes.is_some(), "large-result");
    add([returns, fails, throws].into_iter().flatten().any(String::is_empty), "silent-tool");
}

fn in_reply(reply: &Reply, add: &mut impl FnMut(bool, &str)) {
    let Reply { attempts, interleave, stop, indices } = reply;
    add(*interleave, "interleaved-calls");
    add(stop.is_some() && !reply.pauses(), "odd-stop-reason");
    add(reply.pauses(), "pause");
    add(indices.is_some(), "odd-indices");
    for block in attempts.iter().flatten() {
        match block {
            Block::Call(call) => in_call(call, add),
            Block::Text(text) => add(text.is_empty(), "empty-text"),
            Block::Think(_) => add(true, "thinking"),
            Block::Search(_) => add(true, "search"),
            Block::Found(_) => {}
        }
    }
}

fn in_call(call: &Call, add: &mut impl FnMut(bool, &str)) {
    let Call { name: _, tool: _, args: _, raw, id, deltas: _, agent: _ } = call;
    add(id.is_some(), "odd-call-id");
    add(raw.is_some(), "odd-arguments");
}

/// Oddities in the given history. A given history alone is not one.
fn in_given(given: &Given, add: &mut impl FnMut(bool, &str)) {
    add(!given.lost().is_empty(), "lost-call");
    for message in given.messages() {
        match message {
            GivenMessage::Picture(_) => add(true, "stored-picture"),
            GivenMessage::System(_) => add(true, "stored-instructions"),
            GivenMessage::Failed(_) => add(true, "stored-failure"),
            GivenMessage::Compacted(_) => add(true, "stored-compaction"),
            GivenMessage::User(text) => add(text.trim().is_empty(), "blank-text"),
            GivenMessage::Assistant(_) | GivenMessage::Results(_) => {}
        }
        for block in message.blocks() {
            match block {
                GivenBlock::Call(call) => in_call(call, add),
                GivenBlock::Text(text) => add(text.trim().is_empty(), "blank-text"),
                GivenBlock::Think(_) => add(true, "stored-thinking"),
            }
        }
        add(message.results().iter().any(|result| result.shows.is_some()), "stored-picture");
    }
}
