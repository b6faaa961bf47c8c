//! What the model says wrongly, made fit to be kept.
//!
//! A name that no tool could have, an id that is missing, taken or foreign, and arguments that are no object: with any
//! of them in it the provider refuses the thread for good. They are put right once, when they come, so that the call,
//! its result and every later request say the same. What the model is told about such a call is the truth.

use serde_json::Value;

use super::canary::Canary;
use super::step::{CallState, Step, StepCall};
use super::thread::{Block, CallResult, Message};
use super::{Agent, Output};
use brickbat_scenario::trace::ShownState;
use brickbat_scenario::wire::{self, IdForm, ReplyEvent};

/// Characters that every provider takes in the name of a tool.
const MAX_NAME: usize = 64;

/// Why a tool cannot run with some arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// They break off.
    CutOff,
    /// They hold half of a surrogate pair.
    Surrogate,
    /// They are no JSON.
    NotJson,
    /// They are no object.
    NotObject,
    /// They are an object that the tool does not take.
    NotTaken,
}

impl Misfit {
    /// What the model is told.
    pub(super) fn text(self) -> &'static str {
        match self {
            Misfit::CutOff => "Not run: the arguments break off before their end.",
            Misfit::Surrogate => "Not run: the arguments hold half of a character.",
            Misfit::NotJson => "Not run: the arguments are not JSON.",
            Misfit::NotObject => "Not run: the arguments are not a JSON object.",
            Misfit::NotTaken => "Not run: the arguments are not those that this tool takes.",
        }
    }
}

/// Why a tool with that schema cannot run with these arguments, if so.
pub(super) fn misfit(schema: Option<&Value>, text: &str) -> Option<Misfit> {
    let args: Value = match serde_json::from_str(text) {
        Ok(args) => args,
        Err(error) if error.is_eof() => return Some(Misfit::CutOff),
        // What is JSON but for the characters that its escapes stand for is passed over without them.
        Err(_) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => {
            return Some(Misfit::Surrogate);
        }
        Err(_) => return Some(Misfit::NotJson),
    };
    let Value::Object(args) = args else { return Some(Misfit::NotObject) };
    let schema = schema?;
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lacks = |name: &Value| name.as_str().is_some_and(|name| !args.contains_key(name));
    let is_wrong = |(name, value): (&String, &Value)| match schema["properties"][name]["type"].as_str() {
        Some("string") => !value.is_string(),
        Some("number") => !value.is_number(),
        Some("boolean") => !value.is_boolean(),
        _ => false,
    };
    (required.iter().any(lacks) || args.iter().any(is_wrong)).then_some(Misfit::NotTaken)
}

/// Answers a call that cannot be run: of a tool that is not known, or with arguments that its tool does not take.
pub(super) fn turn_down(
    call: &mut StepCall,
    misfit: Option<Misfit>,
    canary: Option<Canary>,
    outputs: &mut Vec<Output>,
) {
    let keeps = match misfit {
        None | Some(Misfit::NotTaken) => true,
        Some(Misfit::NotObject) => canary == Some(Canary::NotObjectKept),
        Some(Misfit::Surrogate) => canary == Some(Canary::SurrogateKept),
        Some(Misfit::NotJson | Misfit::CutOff) => false,
    };
    let forgets = match canary {
        Some(Canary::UnknownToolDangles) => misfit.is_none(),
        Some(Canary::BadArgumentsSkipped) => misfit == Some(Misfit::NotJson),
        _ => false,
    };
    if !keeps {
        call.call.args = "{}".to_owned();
    }
    if forgets {
        call.state = CallState::Forgotten;
        return;
    }
    let text = misfit.map_or("Not run: there is no such tool.", Misfit::text).to_owned();
    outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
    call.state = CallState::Done(CallResult { call_id: call.call.id.clone(), text, is_error: true });
}

impl Agent {
    /// Takes what the model said, and starts each call that is complete with it.
    pub(super) fn hear(&mut self, step: &mut Step, events: Vec<ReplyEvent>, outputs: &mut Vec<Output>) {
        for event in events {
            let Some(event) = self.taken_in(step, event) else { continue };
            if let Some(index) = step.said(event) {
                self.start_call(step, index, outputs);
            }
        }
    }

    /// What the model said, with a name and an id that can be kept where it opens a call; nothing where it says again
    /// what it has said.
    pub(super) fn taken_in(&mut self, step: &mut Step, event: ReplyEvent) -> Option<ReplyEvent> {
        match event {
            ReplyEvent::CallStart { index, id, .. } if step.has_begun(index, &id) => None,
            ReplyEvent::CallStart { index, id: said, name } => {
                let (id, name) = (self.kept_id(step, said.clone()), self.kept_name(name));
                step.ids.push((said, id.clone()));
                Some(ReplyEvent::CallStart { index, id, name })
            }
            ReplyEvent::CallArgs { fragment, .. } if self.is(Canary::DeltasToLatest) => {
                let index = step.calls().last().map_or(0, |call| call.index);
                Some(ReplyEvent::CallArgs { index, fragment })
            }
            ReplyEvent::CallEnd { index } => {
                step.drop_repeated(index);
                Some(ReplyEvent::CallEnd { index })
            }
            other => Some(other),
        }
    }

    /// The name of a tool, or the nearest that a provider takes.
    fn kept_name(&self, name: String) -> String {
        let is_known = self.setup.tools.iter().any(|tool| tool.name == name);
        if is_known || is_name(&name) || self.is(Canary::BadNameKept) {
            return name;
        }
        let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        format!("_{}", name.chars().map(fit).take(MAX_NAME - 1).collect::<String>())
    }

    /// The id of a call, or a new one.
    fn kept_id(&mut self, step: &Step, id: String) -> String {
        let keeps = match id.as_str() {
            "" => self.is(Canary::EmptyIdKept),
            id if self.is_taken(step, id) => self.is(Canary::SameIdKept),
            id => wire::of(self.setup.dialect).takes_id(id) || self.is(Canary::ForeignIdKept),
        };
        if keeps { id } else { self.new_id(step) }
    }

    fn new_id(&mut self, step: &Step) -> String {
        let IdForm { prefix, n_letters, .. } = wire::of(self.setup.dialect).traits.call_id;
        loop {
            let id = format!("{prefix}{:0n_letters$}", self.counter.id());
            if !self.is_taken(step, &id) {
                return id;
            }
        }
    }

    fn is_taken(&self, step: &Step, id: &str) -> bool {
        let blocks = self.thread.iter().flat_map(|message| match message {
            Message::Assistant(blocks) => blocks.as_slice(),
            Message::User(_) | Message::Results(_) => &[],
        });
        let mut ids = blocks.filter_map(Block::call).chain(step.calls().map(|call| &call.call));
        ids.any(|call| call.id == id)
    }
}

/// Whether every provider takes a name. Some want it to begin with a letter or an underscore.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins
        && name.len() <= MAX_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_that_do_not_fit_are_told_apart() {
        let schema = json!({ "required": ["ref"], "properties": { "ref": { "type": "string" } } });
        let of = |text| misfit(Some(&schema), text);
        assert_eq!(of(r#"{"ref":"x","more":1}"#), None);
        assert_eq!(of(r#"{"ref":1}"#), Some(Misfit::NotTaken));
        assert_eq!(of("{}"), Some(Misfit::NotTaken));
        assert_eq!(of("null"), Some(Misfit::NotObject));
        assert_eq!(of(r#"{"ref":"\ud83d"}"#), Some(Misfit::Surrogate));
        assert_eq!(of(r#"{"ref":"x"#), Some(Misfit::CutOff));
        assert_eq!(of("{ref: x}"), Some(Misfit::NotJson));
        assert_eq!(misfit(None, "{}"), None);
    }
}
