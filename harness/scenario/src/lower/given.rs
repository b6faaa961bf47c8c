//! The given history: its file is read, looked at, and lowered to the ids that a provider would have minted.

use std::collections::BTreeSet;
use std::io;

use crate::parse::{self, Diagnostic, Variant, suggestion};
use crate::plan::{self, MARKER, ToolOutcome};
use crate::scenario::{Block, Call, CallId, GivenHistory, GivenMessage, GivenResult, Scenario};

use super::call_table::CallTable;
use super::header::{MAX_CALLS, MAX_STRING, is_evidence};
use super::problem::{Problem, Problems};
use super::tools::{fill, kind};

/// Reads a file by its path below the folder of the scenario, or says why it cannot be read.
pub type Files<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// Messages of a given history. The longest that a class of failure needs has about twenty.
pub const MAX_GIVEN: usize = 256;

/// Reads the history of a variant, if one is given; without it the variant cannot be lowered.
pub fn fetch(file_name: &str, variant: &mut Variant, files: Files<'_>) -> Result<(), Diagnostic> {
    let Some(given) = &variant.scenario.given else { return Ok(()) };
    let wrong = |message: &str, hint: &str| {
        variant.diagnose_own(HISTORY, message, (!hint.is_empty()).then(|| hint.to_owned()))
    };
    let path = given.history.as_str();
    if !is_below(path) {
        let hint =
            "write the path of a `.json` file below the folder of the scenario, with `/` and without `..`";
        return Err(wrong(&format!("`{path}` cannot be the path of a history"), hint));
    }
    let text = files(path).map_err(|why| wrong(&format!("cannot read the history `{path}`: {why}"), ""))?;
    let folder = file_name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let history: GivenHistory = parse::document(&format!("{folder}{path}"), &text, complaint)?;
    if let Some(given) = &mut variant.scenario.given {
        given.messages = history.messages;
    }
    Ok(())
}

const HISTORY: &str = "/given/history";

fn is_below(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    path.ends_with(".json") && path.split('/').all(is_name)
}

/// What is wrong with a history by itself: where, and what. That it breaks the rules of providers is not wrong.
fn complaint(history: &GivenHistory) -> Option<(String, String)> {
    let GivenHistory { schema, comment, source, messages } = history;
    let at = |pointer: &str, message: String| Some((pointer.to_owned(), message));
    if *schema != 1 {
        return at("/schema", format!("format version {schema} is unknown"));
    }
    if comment.trim().is_empty() {
        return at("/comment", "the comment is empty".to_owned());
    }
    if !source.is_empty() && !is_evidence(source) {
        return at(
            "/source",
            "this is not a link to a public thread; leave it out if there is none".to_owned(),
        );
    }
    if !(1..=MAX_GIVEN).contains(&messages.len()) {
        return at("/messages", format!("a history has 1 to {MAX_GIVEN} messages"));
    }
    let calls: Vec<&str> = calls(messages).map(|(_, call)| call.name.as_str()).collect();
    if calls.len() > MAX_CALLS {
        return at("/messages", format!("a history has at most {MAX_CALLS} calls"));
    }
    let mut seen = BTreeSet::new();
    let twice = calls.iter().find(|name| !seen.insert(**name));
    if let Some(name) = twice {
        return at("/messages", format!("two calls are named `{name}`"));
    }
    messages.iter().enumerate().find_map(|(index, message)| {
        let wrong = of_message(message, &calls)?;
        Some((format!("/messages/{index}{}", wrong.0), wrong.1))
    })
}

fn of_message(message: &GivenMessage, calls: &[&str]) -> Option<(String, String)> {
    match message {
        GivenMessage::User(text) => said(text).map(|why| ("/user".to_owned(), why)),
        GivenMessage::Assistant(blocks) => blocks.iter().enumerate().find_map(|(index, block)| {
            let why = match block {
                Block::Think(_) => Some("`think` is not allowed in a given history".to_owned()),
                Block::Text(text) => said(text),
                Block::Call(call) if call.raw.is_some() || !has_id_to_store(call) => {
                    Some("`raw` and an `id` without a `text` are not allowed in a given history".to_owned())
                }
                Block::Call(call) => call.args.iter().find_map(|(key, value)| match kind(value) {
                    None => Some(format!("the argument `{key}` must be a string, a number or a boolean")),
                    Some(_) => (key == MARKER)
                        .then(|| format!("the argument name `{MARKER}` is reserved for the harness")),
                }),
            };
            why.map(|why| (format!("/assistant/{index}"), why))
        }),
        GivenMessage::Results(results) => results.iter().enumerate().find_map(|(index, result)| {
            let why = match result {
                GivenResult { of, .. } if !calls.contains(&of.as_str()) => {
                    Some(format!("no call of the history is named `{of}`"))
                }
                GivenResult { returns: Some(text), fails: None, .. }
                | GivenResult { returns: None, fails: Some(text), .. } => said(text),
                _ => Some("a result has either `returns` or `fails`".to_owned()),
            };
            why.map(|why| (format!("/results/{index}"), why))
        }),
    }
}

/// Whether a call has an id that a store can hold: that of the provider, or one that another provider gave it.
fn has_id_to_store(call: &Call) -> bool {
    match &call.id {
        None => true,
        Some(CallId::Text(id)) => !id.is_empty() && id.len() <= MAX_STRING,
        Some(CallId::Missing | CallId::Same(_)) => false,
    }
}

fn said(text: &str) -> Option<String> {
    let fits = !text.trim().is_empty() && text.len() <= MAX_STRING;
    (!fits).then(|| format!("a text must not be blank or longer than {MAX_STRING} bytes"))
}

/// The calls of a history, each with the number of its message.
pub(super) fn calls(messages: &[GivenMessage]) -> impl Iterator<Item = (usize, &Call)> + Clone {
    messages.iter().enumerate().flat_map(|(index, message)| {
        let blocks = match message {
            GivenMessage::Assistant(blocks) => blocks.as_slice(),
            GivenMessage::User(_) | GivenMessage::Results(_) => &[],
        };
        blocks.iter().filter_map(move |block| match block {
            Block::Call(call) => Some((index, call)),
            Block::Think(_) | Block::Text(_) => None,
        })
    })
}

/// Whether the history fits the scenario that it is given to.
pub(super) fn check(scenario: &Scenario) -> Result<(), Vec<Problem>> {
    let Some(given) = &scenario.given else { return Ok(()) };
    let mut problems = Problems::default();
    let wrong = |message: String| Problem::new(HISTORY, message);
    problems.add_if(given.messages.is_empty(), || {
        wrong("the history has not been read".to_owned())
            .with_hint("a scenario with `given` must be read from a file")
    });
    let own: BTreeSet<&str> = super::position::calls(scenario).map(|(_, call)| call.name.as_str()).collect();
    for (_, call) in calls(&given.messages) {
        problems.add_if(!scenario.tools.contains_key(&call.tool), || {
            let known: Vec<&String> = scenario.tools.keys().collect();
            wrong(format!("the history calls the tool `{}`, which the scenario does not define", call.tool))
                .with_any_hint(suggestion(&call.tool, "`tools` has", &known))
        });
        problems.add_if(scenario.tools.get(&call.tool).is_some_and(|tool| tool.missing), || {
            wrong(format!("the history calls the tool `{}`, which is `missing`", call.tool))
        });
        problems.add_if(own.contains(call.name.as_str()), || {
            wrong(format!("the history and a turn both have a call `{}`", call.name))
        });
    }
    problems.settle()
}

/// The history with wire ids and markers. Its calls become calls of the plan, after all others.
pub(super) fn lower(scenario: &Scenario, table: &mut CallTable<'_>) -> Vec<plan::GivenMessage> {
    let messages = scenario.given.as_ref().map_or(&[][..], |given| &given.messages);
    let keys: Vec<_> = calls(messages).map(|(index, call)| (call, table.give(index, call))).collect();
    let find = |name: &str| keys.iter().find(|(call, _)| call.name == name);
    let mut given = Vec::with_capacity(messages.len());
    for message in messages {
        given.push(match message {
            GivenMessage::User(text) => plan::GivenMessage::User(text.clone()),
            GivenMessage::Assistant(blocks) => {
                let block = |block: &Block| match block {
                    Block::Think(_) => None,
                    Block::Text(text) => Some(plan::GivenBlock::Text(text.clone())),
                    Block::Call(call) => find(&call.name).map(|(_, key)| {
                        let plan::PlannedCall { id, tool, args, .. } = &table[*key];
                        plan::GivenBlock::Call { id: id.clone(), tool: tool.clone(), args: args.clone() }
                    }),
                };
                plan::GivenMessage::Assistant(blocks.iter().filter_map(block).collect())
            }
            GivenMessage::Results(results) => {
                let mut answered = Vec::with_capacity(results.len());
                for result in results {
                    let Some((call, key)) = find(&result.of) else { continue };
                    let said = |text: &Option<String>| text.as_ref().map(|text| fill(text, &call.args));
                    let outcome = match (said(&result.returns), said(&result.fails)) {
                        (Some(text), _) => ToolOutcome::Return(format!("{text} [{}]", table[*key].marker)),
                        (None, text) => ToolOutcome::Error(text.unwrap_or_default()),
                    };
                    let (text, is_error) = (outcome.text().to_owned(), !outcome.is_success());
                    answered.push(plan::GivenResult { id: table[*key].id.clone(), text, is_error });
                    table.settle_given(*key, outcome);
                }
                plan::GivenMessage::Results(answered)
            }
        });
    }
    given
}
