//! Corrects model errors, so that the reply can be kept.
//!
//! A name that no tool could have, an id that is missing, taken or foreign, arguments that are not an object:
//! with any of these in a thread, the provider rejects it permanently. They are corrected once, on arrival,
//! so that the call, its result and every later request agree. The result of such a call tells the model
//! truthfully what was wrong.

use serde_json::Value;

use super::Agent;
use super::step::{CallState, Step, StepCall};
use super::thread::{CallResult, Message};
use brickbat_scenario::trace::ShownState;
use brickbat_scenario::wire::{IdForm, ReplyEvent};

/// The number of characters in the name of a tool that every provider accepts.
const MAX_NAME: usize = 64;

/// The reason why a call cannot be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvalidCall {
    UnknownTool,
    /// There are no arguments.
    Empty,
    /// The arguments are cut off.
    CutOff,
    /// They contain an unpaired surrogate.
    LoneSurrogate,
    NotJson,
    NotObject,
    /// They are an object that does not match the tool's schema.
    SchemaMismatch,
}

/// The reason why the id of a call cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdProblem {
    Missing,
    /// Another call of the thread has it.
    Taken,
    /// The provider would not accept it in a later request.
    Refused,
}

impl InvalidCall {
    /// The message for the model.
    fn text(self) -> &'static str {
        match self {
            InvalidCall::UnknownTool => "Not run: there is no such tool.",
            InvalidCall::Empty => "Not run: there are no arguments.",
            InvalidCall::CutOff => "Not run: the arguments break off before their end.",
            InvalidCall::LoneSurrogate => "Not run: the arguments hold half of a character.",
            InvalidCall::NotJson => "Not run: the arguments are not JSON.",
            InvalidCall::NotObject => "Not run: the arguments are not a JSON object.",
            InvalidCall::SchemaMismatch => "Not run: the arguments are not those that this tool takes.",
        }
    }
}

/// The reason why a tool with this schema cannot run with these arguments, if there is one.
pub(super) fn problem(schema: Option<&Value>, text: &str) -> Option<InvalidCall> {
    let args: Value = match serde_json::from_str(text) {
        Ok(args) => args,
        Err(_) if text.is_empty() => return Some(InvalidCall::Empty),
        Err(error) if error.is_eof() => return Some(InvalidCall::CutOff),
        // The JSON is valid except for an escape that is half of a surrogate pair.
        Err(_) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => {
            return Some(InvalidCall::LoneSurrogate);
        }
        Err(_) => return Some(InvalidCall::NotJson),
    };
    let Value::Object(args) = args else { return Some(InvalidCall::NotObject) };
    let schema = schema?;
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lacks = |name: &Value| name.as_str().is_some_and(|name| !args.contains_key(name));
    let is_wrong = |(name, value): (&String, &Value)| match schema["properties"][name]["type"].as_str() {
        Some("string") => !value.is_string(),
        Some("number") => !value.is_number(),
        Some("boolean") => !value.is_boolean(),
        _ => false,
    };
    (required.iter().any(lacks) || args.iter().any(is_wrong)).then_some(InvalidCall::SchemaMismatch)
}

impl Agent {
    /// Takes events of the model's reply, and starts each call that they complete.
    pub(super) fn hear(&mut self, step: &mut Step, events: Vec<ReplyEvent>) {
        for event in events {
            let Some(event) = self.corrected(step, event) else { continue };
            match step.take_event(event) {
                Some(index) if self.decisions.starts_early() => self.start_call(step, index),
                Some(index) => step.put_off.push(index),
                None => {}
            }
        }
    }

    /// The event, with a valid name and id if it opens a call. `None` if it repeats an earlier event.
    fn corrected(&mut self, step: &mut Step, event: ReplyEvent) -> Option<ReplyEvent> {
        match event {
            ReplyEvent::CallStart { index, id, .. } if step.has_begun(index, &id) => None,
            ReplyEvent::CallStart { index, id: said, name } => {
                let (id, name) = (self.kept_id(step, said.clone()), self.kept_name(name));
                step.ids.push((said, id.clone()));
                Some(ReplyEvent::CallStart { index, id, name })
            }
            ReplyEvent::CallArgs { index, fragment } => {
                let index = self.decisions.call_of_piece(step, index);
                Some(ReplyEvent::CallArgs { index, fragment })
            }
            ReplyEvent::CallEnd { index } => {
                step.drop_repeated(index);
                Some(ReplyEvent::CallEnd { index })
            }
            other => Some(other),
        }
    }

    /// Adds the result of a call that cannot be run.
    pub(super) fn turn_down(&mut self, call: &mut StepCall, problem: InvalidCall) {
        if !self.decisions.keeps_arguments(problem) {
            call.call.args = "{}".to_owned();
        }
        if !self.decisions.answers_invalid(problem) {
            call.state = CallState::Forgotten;
            return;
        }
        let (call_id, text) = (call.call.id.clone(), problem.text().to_owned());
        self.session.show(&call_id, ShownState::Failed);
        call.state = CallState::Done(CallResult::text(call_id, text, true));
    }

    /// The name of the tool, or the closest name that providers accept.
    fn kept_name(&self, name: String) -> String {
        let is_known = self.setup.tools.iter().any(|tool| tool.name == name);
        if is_known || self.decisions.keeps_name(&name) {
            return name;
        }
        fitted_name(&name)
    }

    /// The id of the call, or a new one.
    fn kept_id(&mut self, step: &Step, id: String) -> String {
        let problem = match id.as_str() {
            "" => Some(IdProblem::Missing),
            id if self.is_taken(Some(step), id) => Some(IdProblem::Taken),
            id => (!(self.setup.dialect.codec().takes_id)(id)).then_some(IdProblem::Refused),
        };
        match problem {
            Some(problem) if self.decisions.replaces_id(problem) => self.new_id(Some(step)),
            _ => id,
        }
    }

    /// Replaces ids in a stored thread from another provider by ids that this provider accepts, in calls and
    /// results.
    pub(super) fn fit_stored_ids(&mut self) {
        for id in self.refused_ids() {
            let problem = if id.is_empty() { IdProblem::Missing } else { IdProblem::Refused };
            if self.decisions.replaces_id(problem) {
                self.replace_id(&id);
            }
        }
    }

    /// The ids of calls in the thread that this provider does not accept.
    pub(super) fn refused_ids(&self) -> Vec<String> {
        let codec = self.setup.dialect.codec();
        let ids = self.session.thread.iter().flat_map(Message::calls).map(|call| &call.id);
        ids.filter(|id| !(codec.takes_id)(id)).cloned().collect()
    }

    /// Gives the call with this id a new id, in the call and in its result.
    pub(super) fn replace_id(&mut self, id: &str) {
        let new = self.new_id(None);
        self.session.thread.iter_mut().for_each(|message| message.rename_call(id, &new));
    }

    fn new_id(&mut self, step: Option<&Step>) -> String {
        let IdForm { prefix, n_letters, .. } = self.setup.dialect.codec().call_id;
        loop {
            let id = format!("{prefix}{:0n_letters$}", self.session.counter.id());
            if !self.is_taken(step, &id) {
                return id;
            }
        }
    }

    fn is_taken(&self, step: Option<&Step>, id: &str) -> bool {
        let said = step.into_iter().flat_map(Step::calls).map(|call| &call.call);
        let mut calls = self.session.thread.iter().flat_map(Message::calls).chain(said);
        calls.any(|call| call.id == id)
    }
}

/// The closest name that every provider accepts.
pub(super) fn fitted_name(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("_{}", name.chars().map(fit).take(MAX_NAME - 1).collect::<String>())
}

/// True if every provider accepts the name. Some require a letter or an underscore at the beginning.
pub(super) fn is_valid_name(name: &str) -> bool {
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
    fn invalid_arguments_are_distinguished() {
        let schema = json!({ "required": ["ref"], "properties": { "ref": { "type": "string" } } });
        let of = |text| problem(Some(&schema), text);
        assert_eq!(of(r#"{"ref":"x","more":1}"#), None);
        assert_eq!(of(r#"{"ref":1}"#), Some(InvalidCall::SchemaMismatch));
        assert_eq!(of("{}"), Some(InvalidCall::SchemaMismatch));
        assert_eq!(of("null"), Some(InvalidCall::NotObject));
        assert_eq!(of(r#"{"ref":"\ud83d"}"#), Some(InvalidCall::LoneSurrogate));
        assert_eq!(of(r#"{"ref":"x"#), Some(InvalidCall::CutOff));
        assert_eq!(of(""), Some(InvalidCall::Empty));
        assert_eq!(of("{ref: x}"), Some(InvalidCall::NotJson));
        assert_eq!(problem(None, "{}"), None);
    }
}
