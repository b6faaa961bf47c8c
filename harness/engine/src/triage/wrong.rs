//! The faults of a scenario: as text, as kinds, and as a file name.

use std::collections::BTreeSet;

use super::Signature;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::scenario::{Action, Block, Given, GivenBlock, GivenMessage, Scenario};

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
        // Actions that differ only in their texts are of one kind.
        _ => name.to_owned(),
    }
}

/// Oddities besides the actions: in the model's replies, and in how tools end.
fn oddities(scenario: &Scenario) -> Vec<String> {
    let mut odd = BTreeSet::new();
    let mut add = |is_so: bool, name: &str| {
        if is_so {
            odd.insert(name.to_owned());
        }
    };
    for tool in scenario.tools.values() {
        add(tool.fails.is_some(), "failing-tool");
        add(tool.throws.is_some(), "throwing-tool");
        add(tool.denies.is_some(), "denied-tool");
        add(tool.deaf, "deaf-tool");
        add(tool.asks, "asking-tool");
        add(tool.missing, "missing-tool");
        add(tool.called.is_some(), "odd-tool-name");
        add(tool.hangs, "hanging-tool");
        add(tool.ends, "final-tool");
        add(tool.hands_over, "handoff");
        add(tool.client, "client-tool");
        add(tool.bytes.is_some(), "large-result");
        add(
            [&tool.returns, &tool.fails, &tool.throws].into_iter().flatten().any(String::is_empty),
            "silent-tool",
        );
    }
    add(scenario.given.is_some(), "given-history");
    scenario.given.iter().for_each(|given| in_given(given, &mut add));
    add(scenario.limits.steps.is_some(), "step-limit");
    add(scenario.limits.window.is_some(), "small-window");
    for turn in &scenario.turns {
        add(turn.process != 1, "second-process");
        for reply in &turn.replies {
            add(reply.interleave, "interleaved-calls");
            add(reply.stop.is_some() && !reply.pauses(), "odd-stop-reason");
            add(reply.pauses(), "pause");
            add(reply.indices.is_some(), "odd-indices");
            for block in reply.attempts.iter().flatten() {
                match block {
                    Block::Call(call) => {
                        add(call.id.is_some(), "odd-call-id");
                        add(call.raw.is_some(), "odd-arguments");
                    }
                    Block::Text(text) => add(text.is_empty(), "empty-text"),
                    Block::Think(_) => add(true, "thinking"),
                    Block::Search(_) => add(true, "search"),
                    Block::Found(_) => {}
                }
            }
        }
        add(!turn.settle.is_empty(), "order");
    }
    odd.into_iter().collect()
}

/// Oddities in the given history. A given history alone is not one.
fn in_given(given: &Given, add: &mut impl FnMut(bool, &str)) {
    add(!given.lost().is_empty(), "lost-call");
    for message in given.messages() {
        add(matches!(message, GivenMessage::Picture(_)), "stored-picture");
        add(matches!(message, GivenMessage::System(_)), "stored-instructions");
        add(matches!(message, GivenMessage::Failed(_)), "stored-failure");
        add(matches!(message, GivenMessage::Compacted(_)), "stored-compaction");
        add(matches!(message, GivenMessage::User(text) if text.trim().is_empty()), "blank-text");
        for block in message.blocks() {
            match block {
                GivenBlock::Call(call) => {
                    add(call.id.is_some(), "odd-call-id");
                    add(call.raw.is_some(), "odd-arguments");
                }
                GivenBlock::Text(text) => add(text.trim().is_empty(), "blank-text"),
                GivenBlock::Think(_) => add(true, "stored-thinking"),
            }
        }
        add(message.results().iter().any(|result| result.shows.is_some()), "stored-picture");
    }
}
