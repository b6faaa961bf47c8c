//! The given history: reads its file, checks it, and lowers it to the ids that a provider would have minted.

use std::collections::BTreeSet;
use std::io;

use crate::parse::{self, Diagnostic, Variant, suggestion};
use crate::plan::{self, CallKey, MARKER, Plan, ToolOutcome};
use crate::scenario::{
    Call, CallId, GivenBlock, GivenHistory, GivenMessage, GivenResult, Need, Picture, Scenario, Signature,
};
use crate::wire;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::histories::Signs;

use super::call_table::CallTable;
use super::header::is_evidence;
use super::limits::{MAX_CALLS, MAX_STRING};
use super::problem::{Problem, Problems};
use super::tools::{fill, kind};

/// Reads a file by its path below the scenario's folder, or returns why it cannot be read.
pub type Files<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// The maximum number of messages in a given history. The longest that a failure class needs has about
/// twenty.
pub const MAX_GIVEN: usize = 256;

/// Reads the given history of a variant, if it has one; a variant can be lowered only after that.
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
        given.content = Some(history);
    }
    Ok(())
}

const HISTORY: &str = "/given/history";

fn is_below(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    path.ends_with(".json") && path.split('/').all(is_name)
}

/// The location and the message of an error in the history itself. Breaking the rules of providers is not an
/// error.
fn complaint(history: &GivenHistory) -> Option<(String, String)> {
    let GivenHistory { schema, comment, source, lost, messages } = history;
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
        return at("/messages", format!("a history must have 1 to {MAX_GIVEN} messages"));
    }
    let there: Vec<&Call> = calls(messages).map(|(_, call)| call).collect();
    if there.len() + lost.len() > MAX_CALLS {
        return at("/messages", format!("a history may have at most {MAX_CALLS} calls"));
    }
    let names: Vec<&str> = there.iter().copied().chain(lost).map(|call| call.name.as_str()).collect();
    let mut seen = BTreeSet::new();
    let twice = names.iter().find(|name| !seen.insert(**name));
    if let Some(name) = twice {
        return at("/messages", format!("two calls are named `{name}`"));
    }
    let pictures: u64 = pictures(messages).map(|picture| u64::from(picture.bytes)).sum();
    if pictures > u64::from(Picture::MAX_BYTES) {
        return at("/messages", format!("the images take more than {} bytes", Picture::MAX_BYTES));
    }
    let wrong = lost
        .iter()
        .enumerate()
        .find_map(|(index, call)| Some((format!("/lost/{index}"), of_lost_call(call, messages)?)));
    wrong.or_else(|| {
        messages.iter().enumerate().find_map(|(index, message)| {
            let wrong = of_message(message, &there, &names)?;
            Some((format!("/messages/{index}{}", wrong.0), wrong.1))
        })
    })
}

fn of_message(message: &GivenMessage, there: &[&Call], names: &[&str]) -> Option<(String, String)> {
    let whole = |key: &str, why: Option<String>| why.map(|why| (format!("/{key}"), why));
    match message {
        GivenMessage::User(text) => whole("user", short(text)),
        GivenMessage::System(text) => whole("system", said(text)),
        GivenMessage::Failed(text) => whole("failed", said(text)),
        GivenMessage::Compacted(text) => whole("compacted", said(text)),
        GivenMessage::Picture(picture) => whole("picture", picture.complaint()),
        GivenMessage::Assistant(blocks) => blocks.iter().enumerate().find_map(|(index, block)| {
            let why = match block {
                GivenBlock::Think(thought) => short(&thought.text),
                GivenBlock::Text(text) => short(text),
                GivenBlock::Call(call) => of_call(call, there),
            };
            why.map(|why| (format!("/assistant/{index}"), why))
        }),
        GivenMessage::Results(results) => results.iter().enumerate().find_map(|(index, result)| {
            let why = match result {
                GivenResult { of, .. } if !names.contains(&of.as_str()) => {
                    Some(format!("no call of the history is named `{of}`, and `lost` has none"))
                }
                GivenResult { returns: Some(text), fails: None, shows, .. }
                | GivenResult { returns: None, fails: Some(text), shows, .. } => {
                    said(text).or_else(|| shows.as_ref().and_then(Picture::complaint))
                }
                GivenResult { returns: None, fails: None, shows: Some(picture), .. } => picture.complaint(),
                _ => {
                    Some("a result must have either `returns` or `fails`, or it `shows` an image".to_owned())
                }
            };
            why.map(|why| (format!("/results/{index}"), why))
        }),
    }
}

fn of_call(call: &Call, there: &[&Call]) -> Option<String> {
    if call.raw.is_some() && !call.args.is_empty() {
        return Some("a call must have either `args` or `raw`".to_owned());
    }
    if call.raw.as_ref().is_some_and(|raw| raw.len() > MAX_STRING) {
        return Some(format!("the arguments are longer than {MAX_STRING} bytes"));
    }
    if call.agent.is_some() {
        return Some("a given history cannot contain sub-agents".to_owned());
    }
    let wrong = call.args.iter().find_map(|(key, value)| match kind(value) {
        None => Some(format!("the argument `{key}` must be a string, a number or a boolean")),
        Some(_) => {
            (key == MARKER).then(|| format!("the argument name `{MARKER}` is reserved for the harness"))
        }
    });
    wrong.or_else(|| match &call.id {
        None => None,
        Some(CallId::Text(id)) => {
            (id.len() > MAX_STRING).then(|| format!("the id is longer than {MAX_STRING} bytes"))
        }
        Some(CallId::Missing) => Some("write a stored call without an id as `id: { text: \"\" }`".to_owned()),
        Some(CallId::Same(name)) => {
            let mut earlier = there.iter().take_while(|other| other.name != call.name);
            let is_there = earlier.any(|other| other.name == *name);
            (!is_there).then(|| format!("there is no earlier call `{name}` in the history"))
        }
    })
}

/// A lost call is known only from its results, so it has a name, a tool and perhaps an id.
fn of_lost_call(call: &Call, messages: &[GivenMessage]) -> Option<String> {
    let is_spoken_of = messages.iter().flat_map(GivenMessage::results).any(|result| result.of == call.name);
    if !is_spoken_of {
        return Some(format!("no result refers to the lost call `{}`", call.name));
    }
    if call.raw.is_some() || !call.args.is_empty() {
        return Some("a lost call cannot have arguments".to_owned());
    }
    match &call.id {
        None => None,
        Some(CallId::Text(id)) => {
            (id.len() > MAX_STRING).then(|| format!("the id is longer than {MAX_STRING} bytes"))
        }
        Some(CallId::Missing | CallId::Same(_)) => {
            Some("a lost call must have its own id, or `id: { text: … }`".to_owned())
        }
    }
}

/// The error in a text of the user or the model, if there is one.
fn said(text: &str) -> Option<String> {
    let fits = !text.trim().is_empty() && text.len() <= MAX_STRING;
    (!fits).then(|| format!("a text must not be blank or longer than {MAX_STRING} bytes"))
}

/// The error in a text that may be blank, as in a store, if there is one.
fn short(text: &str) -> Option<String> {
    (text.len() > MAX_STRING).then(|| format!("a text must not be longer than {MAX_STRING} bytes"))
}

/// The calls in a history, each with the index of its message.
pub(super) fn calls(messages: &[GivenMessage]) -> impl Iterator<Item = (usize, &Call)> + Clone {
    messages.iter().enumerate().flat_map(|(index, message)| {
        message.blocks().iter().filter_map(GivenBlock::call).map(move |call| (index, call))
    })
}

fn pictures(messages: &[GivenMessage]) -> impl Iterator<Item = &Picture> {
    messages.iter().flat_map(|message| {
        let shown = match message {
            GivenMessage::Picture(picture) => Some(picture),
            _ => None,
        };
        shown.into_iter().chain(message.results().iter().filter_map(|result| result.shows.as_ref()))
    })
}

/// Checks whether the history fits its scenario.
pub(super) fn check(scenario: &Scenario, problems: &mut Problems) {
    let Some(given) = &scenario.given else { return };
    let wrong = |message: String| Problem::new(HISTORY, message);
    problems.add_if(given.content.is_none(), || {
        wrong("the history has not been read".to_owned())
            .with_hint("a scenario with `given` must be read from a file")
    });
    let own: BTreeSet<&str> = super::position::calls(scenario).map(|(_, call)| call.name.as_str()).collect();
    for call in calls(given.messages()).map(|(_, call)| call).chain(given.lost()) {
        problems.add_if(!scenario.tools.contains_key(&call.tool), || {
            let known: Vec<&String> = scenario.tools.keys().collect();
            wrong(format!("the history calls the tool `{}`, which the scenario does not define", call.tool))
                .with_any_hint(suggestion(&call.tool, "`tools` has", &known))
        });
        problems.add_if(own.contains(call.name.as_str()), || {
            wrong(format!("the history and a turn both have a call `{}`", call.name))
        });
    }
}

/// The capabilities that a system needs to store the history.
pub(super) fn needs(scenario: &Scenario) -> Vec<Need> {
    let Some(given) = &scenario.given else { return Vec::new() };
    let mut needs = vec![Need::GivenHistory];
    let messages = given.messages();
    let mut blocks = messages.iter().flat_map(GivenMessage::blocks);
    if blocks.clone().any(|block| matches!(block, GivenBlock::Think(_))) {
        needs.push(Need::GivenThinking);
    }
    if blocks.any(|block| block.call().is_some_and(|call| raw_of(call).is_some())) {
        needs.push(Need::GivenRawArguments);
    }
    if pictures(messages).next().is_some() {
        needs.push(Need::GivenPictures);
    }
    let is_mark = |message: &GivenMessage| {
        matches!(message, GivenMessage::System(_) | GivenMessage::Failed(_) | GivenMessage::Compacted(_))
    };
    if messages.iter().any(is_mark) {
        needs.push(Need::GivenMarks);
    }
    if !given.lost().is_empty() {
        needs.push(Need::GivenOrphans);
    }
    needs
}

/// The reason why no session of a dialect can contain such a history, if there is one.
pub(super) fn impossible(scenario: &Scenario, dialect: Dialect) -> Option<String> {
    let messages = scenario.given.as_ref()?.messages();
    let mut blocks = messages.iter().flat_map(GivenMessage::blocks);
    let thought = blocks.find_map(|block| match block {
        GivenBlock::Think(thought) => Some(thought),
        _ => None,
    });
    if thought.is_some() && !wire::of(dialect).shows_thinking() {
        return Some(format!(
            "our {dialect} provider does not show the model's thinking, so the given history has none"
        ));
    }
    let codec = dialect.codec();
    if thought.is_some() && codec.signs == Signs::Calls {
        return Some(format!("{dialect} signs calls, not thoughts, so a stored thought has no effect there"));
    }
    let is_shown = messages.iter().flat_map(GivenMessage::results).any(|result| result.shows.is_some());
    (is_shown && !codec.has_pictures_in_results)
        .then(|| format!("{dialect} does not support images in tool results"))
}

/// Lowers the history to wire ids and markers. Its calls become calls in the plan, after all others.
pub(super) fn lower(scenario: &Scenario, table: &mut CallTable<'_>) -> Vec<plan::GivenMessage> {
    let Some(given) = &scenario.given else { return Vec::new() };
    let keys: Vec<(&Call, CallKey)> =
        calls(given.messages()).map(|(index, call)| (call, table.give(index, call))).collect();
    let mut lowering = Lowering { keys, lost: given.lost(), table };
    given.messages().iter().map(|message| lowering.message(message)).collect()
}

struct Lowering<'a, 't, 's> {
    keys: Vec<(&'a Call, CallKey)>,
    lost: &'a [Call],
    table: &'t mut CallTable<'s>,
}

impl Lowering<'_, '_, '_> {
    fn message(&mut self, message: &GivenMessage) -> plan::GivenMessage {
        match message {
            GivenMessage::User(text) => plan::GivenMessage::User(text.clone()),
            GivenMessage::Picture(picture) => plan::GivenMessage::Picture(blank(picture)),
            GivenMessage::System(text) => plan::GivenMessage::System(text.clone()),
            GivenMessage::Failed(text) => plan::GivenMessage::Failed(text.clone()),
            GivenMessage::Compacted(text) => plan::GivenMessage::Compacted(text.clone()),
            GivenMessage::Assistant(blocks) => {
                plan::GivenMessage::Assistant(blocks.iter().filter_map(|block| self.block(block)).collect())
            }
            GivenMessage::Results(results) => {
                plan::GivenMessage::Results(results.iter().filter_map(|result| self.result(result)).collect())
            }
        }
    }

    fn block(&self, block: &GivenBlock) -> Option<plan::GivenBlock> {
        Some(match block {
            // `sign` adds the signature once there is a plan.
            GivenBlock::Think(thought) => {
                plan::GivenBlock::Thinking { text: thought.text.clone(), signature: None }
            }
            GivenBlock::Text(text) => plan::GivenBlock::Text(text.clone()),
            GivenBlock::Call(call) => {
                let (_, key) = self.keys.iter().find(|(known, _)| known.name == call.name)?;
                let plan::PlannedCall { id, tool, args, .. } = &self.table[*key];
                let raw = raw_of(call).map(ToOwned::to_owned);
                let args = match &raw {
                    Some(raw) => serde_json::from_str(raw).unwrap_or_else(|_| raw.as_str().into()),
                    None => args.clone(),
                };
                plan::GivenBlock::Call { id: id.clone(), tool: tool.clone(), args, raw }
            }
        })
    }

    fn result(&mut self, result: &GivenResult) -> Option<plan::GivenResult> {
        let known = self.keys.iter().find(|(call, _)| call.name == result.of).copied();
        let lost = || (0..).zip(self.lost).find(|(_, call)| call.name == result.of);
        let call = known.map(|(call, _)| call).or_else(|| lost().map(|(_, call)| call))?;
        let said = |text: &Option<String>| text.as_ref().map(|text| fill(text, &call.args));
        let marker = known.map_or_else(String::new, |(_, key)| format!(" [{}]", self.table[key].marker));
        let outcome = match (said(&result.returns), said(&result.fails)) {
            (Some(text), _) => ToolOutcome::Return(format!("{text}{marker}")),
            (None, Some(text)) => ToolOutcome::Error(text),
            (None, None) => ToolOutcome::Return(String::new()),
        };
        let (text, is_error) = (outcome.text().to_owned(), !outcome.is_success());
        let picture = result.shows.as_ref().map(blank);
        let (id, orphan_of) = match known {
            Some((_, key)) => {
                let id = self.table[key].id.clone();
                self.table.settle_given(key, outcome);
                (id, None)
            }
            None => {
                let (n, call) = lost()?;
                let called = self.table.scenario().tools.get(&call.tool).and_then(|tool| tool.called.clone());
                (self.table.lost_id(n, call), Some(called.unwrap_or_else(|| call.tool.clone())))
            }
        };
        Some(plan::GivenResult { id, text, is_error, picture, orphan_of })
    }
}

/// The text of a call's arguments as the model wrote it, if it is not a JSON object.
fn raw_of(call: &Call) -> Option<&str> {
    let is_object =
        |raw: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw).is_ok();
    call.raw.as_deref().filter(|raw| !is_object(raw))
}

fn blank(picture: &Picture) -> plan::GivenPicture {
    let media_type = picture.format.media_type().to_owned();
    plan::GivenPicture { media_type, data: picture.base64() }
}

/// Signs the thinking in the given history, with as much of each signature as the store should have.
pub(super) fn sign(scenario: &Scenario, plan: &mut Plan) {
    let Some(given) = &scenario.given else { return };
    let mut signatures = wire::given_thoughts(plan).into_iter().map(|(_, signatures)| signatures);
    for (said, planned) in given.messages().iter().zip(&mut plan.given) {
        let (GivenMessage::Assistant(said), plan::GivenMessage::Assistant(planned)) = (said, planned) else {
            continue;
        };
        let states = said.iter().filter_map(|block| match block {
            GivenBlock::Think(thought) => Some(thought.signature),
            GivenBlock::Text(_) | GivenBlock::Call(_) => None,
        });
        let thoughts = planned.iter_mut().filter_map(|block| match block {
            plan::GivenBlock::Thinking { signature, .. } => Some(signature),
            _ => None,
        });
        let mut thoughts = states.zip(thoughts).peekable();
        if thoughts.peek().is_none() {
            continue;
        }
        let given_out = signatures.next().unwrap_or_default();
        for ((state, signature), whole) in thoughts.zip(given_out) {
            *signature = left_of(state, &whole);
        }
    }
}

/// The part of a signature that the store has. If the signature is an object, only its encrypted part is
/// changed.
fn left_of(state: Signature, whole: &str) -> Option<String> {
    const PART: &str = "encrypted_content";
    let altered = |text: &str| text.chars().rev().collect::<String>();
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(whole) {
        Err(_) => match state {
            Signature::Full => Some(whole.to_owned()),
            Signature::Empty => Some(String::new()),
            Signature::Absent => None,
            Signature::Altered => Some(altered(whole)),
        },
        Ok(mut object) => {
            let own = object.get(PART).and_then(|part| part.as_str()).unwrap_or_default().to_owned();
            match state {
                Signature::Full => {}
                Signature::Empty => drop(object.insert(PART.to_owned(), "".into())),
                Signature::Absent => drop(object.shift_remove(PART)),
                Signature::Altered => drop(object.insert(PART.to_owned(), altered(&own).into())),
            }
            Some(serde_json::Value::Object(object).to_string())
        }
    }
}
