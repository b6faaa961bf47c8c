//! What the model gets wrong, made fit to be kept.
//!
//! A name that no tool could have, an id that is missing, taken or foreign, and arguments that are no object: with any
//! of them in it the provider refuses the thread for good. They are corrected once, when they come, so that the call,
//! its result and every later request agree. What the model reads about such a call is the truth.

use serde_json::Value;

use super::Agent;
use super::step::{CallState, Step, StepCall};
use super::thread::{CallResult, Message};
use brickbat_scenario::trace::ShownState;
use brickbat_scenario::wire::{self, IdForm, ReplyEvent};

/// Characters that every provider takes in the name of a tool.
const MAX_NAME: usize = 64;

/// Why a call cannot be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvalidCall {
    UnknownTool,
    /// There are no arguments.
    Empty,
    /// The arguments break off.
    CutOff,
    /// They hold half of a surrogate pair.
    LoneSurrogate,
    NotJson,
    NotObject,
    /// They are an object that the tool does not take.
    SchemaMismatch,
}

/// Why an id of a call cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdProblem {
    Missing,
    /// Another call of the thread has it.
    Taken,
    /// The provider would not take it back.
    Refused,
}

impl InvalidCall {
    /// What the model reads.
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

/// Why a tool with that schema cannot run with these arguments, if so.
pub(super) fn problem(schema: Option<&Value>, text: &str) -> Option<InvalidCall> {
    let args: Value = match serde_json::from_str(text) {
        Ok(args) => args,
        Err(_) if text.is_empty() => return Some(InvalidCall::Empty),
        Err(error) if error.is_eof() => return Some(InvalidCall::CutOff),
        // Valid JSON apart from an escape that is half a surrogate pair.
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
    /// Takes what the model said, and starts each call that is complete with it.
    pub(super) fn hear(&mut self, step: &mut Step, events: Vec<ReplyEvent>) {
        for event in events {
            let Some(event) = self.corrected(step, event) else { continue };
            if let Some(index) = step.take_event(event) {
                self.start_call(step, index);
            }
        }
    }

    /// What the model said, with a name and an id that can be kept where it opens a call; nothing where it repeats
    /// itself.
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

    /// Gives a call that cannot be run its result.
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

    /// The name of a tool, or the nearest that a provider takes.
    fn kept_name(&self, name: String) -> String {
        let is_known = self.setup.tools.iter().any(|tool| tool.name == name);
        if is_known || self.decisions.keeps_name(&name) {
            return name;
        }
        fitted_name(&name)
    }

    /// The id of a call, or a new one.
    fn kept_id(&mut self, step: &Step, id: String) -> String {
        let problem = match id.as_str() {
            "" => Some(IdProblem::Missing),
            id if self.is_taken(Some(step), id) => Some(IdProblem::Taken),
            id => (!wire::of(self.setup.dialect).takes_id(id)).then_some(IdProblem::Refused),
        };
        match problem {
            Some(problem) if self.decisions.replaces_id(problem) => self.new_id(Some(step)),
            _ => id,
        }
    }

    /// Gives the calls of a stored thread that was begun at another provider ids that this one takes, and their results
    /// with them.
    pub(super) fn fit_stored_ids(&mut self) {
        for id in self.refused_ids() {
            let problem = if id.is_empty() { IdProblem::Missing } else { IdProblem::Refused };
            if self.decisions.replaces_id(problem) {
                self.replace_id(&id);
            }
        }
    }

    /// The ids of calls in the thread that this provider does not take.
    pub(super) fn refused_ids(&self) -> Vec<String> {
        let wire = wire::of(self.setup.dialect);
        let ids = self.session.thread.iter().flat_map(Message::calls).map(|call| &call.id);
        ids.filter(|id| !wire.takes_id(id)).cloned().collect()
    }

    /// Gives the call of that id another one, and its result with it.
    pub(super) fn replace_id(&mut self, id: &str) {
        let new = self.new_id(None);
        self.session.thread.iter_mut().for_each(|message| message.rename_call(id, &new));
    }

    fn new_id(&mut self, step: Option<&Step>) -> String {
        let IdForm { prefix, n_letters, .. } = wire::of(self.setup.dialect).traits.call_id;
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

/// The nearest name that every provider takes.
pub(super) fn fitted_name(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("_{}", name.chars().map(fit).take(MAX_NAME - 1).collect::<String>())
}

/// Whether every provider takes a name. Some want it to begin with a letter or an underscore.
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
    fn arguments_that_do_not_fit_are_distinguished() {
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
