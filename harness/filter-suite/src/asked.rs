//! Questions to a filter and its answers: the messages of the protocol, and the trait for filters.

use brickbat_rules::Dialect;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::{Budget, Form, Input, Route, SuiteError, written};

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The mode.
    pub mode: String,
    /// The dialect of the request.
    pub from: Dialect,
    /// The dialect of the answer.
    pub to: Dialect,
    /// The model that the answer must name.
    pub model: Option<String>,
    /// The format of the request.
    pub form: Form,
    /// The body, or the message list in another format.
    pub request: Value,
    /// True for a control: the same conversion without the filter.
    pub is_control: bool,
    /// The maximum size of the answer.
    pub budget: Option<(Budget, u64)>,
}

/// A filter's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// The request that would be sent.
    Request {
        /// The body.
        body: Value,
        /// The changes that the filter reports.
        notes: Vec<String>,
        /// The size according to the filter's own counter.
        size: Option<u64>,
    },
    /// An error.
    Raised {
        /// The class or the code.
        kind: String,
        /// The message.
        message: String,
    },
    /// The converter around the filter does not support the input.
    Unsupported(String),
}

/// An answer, with the number of its question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The number of the question.
    pub id: u64,
    /// The answer.
    pub said: Said,
}

/// The filter no longer answers: its process is gone, or it violates the protocol. This is not a verdict
/// on the filter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Broken(pub String);

/// Something that answers questions.
pub trait Filter {
    /// Returns the answers, in the order of the questions.
    ///
    /// # Errors
    ///
    /// Fails if the filter no longer answers.
    fn ask(&mut self, asked: &[Asked]) -> Result<Vec<Said>, Broken>;

    /// Starts again, without a memory of earlier questions.
    ///
    /// # Errors
    ///
    /// Fails if the filter does not start again.
    fn fresh(&mut self) -> Result<(), Broken>;
}

/// A filter that is a function.
#[derive(Debug, Clone)]
pub struct Function<F>(pub F);

impl<F: FnMut(&Asked) -> Said + Clone> Filter for Function<F> {
    fn ask(&mut self, asked: &[Asked]) -> Result<Vec<Said>, Broken> {
        Ok(asked.iter().map(&mut self.0).collect())
    }

    fn fresh(&mut self) -> Result<(), Broken> {
        Ok(())
    }
}

impl Asked {
    /// Creates the question about an input on a route. Inputs that the format cannot represent are not put
    /// to a filter.
    pub fn about(route: &Route<'_>, input: &Input) -> Asked {
        let model = route.model.clone().or_else(|| model_in(&input.body));
        Asked {
            mode: route.mode.name.clone(),
            from: route.from,
            to: route.to,
            model,
            form: route.mode.form,
            request: written(route.mode.form, &input.body, route.from).unwrap_or_default(),
            is_control: false,
            budget: input.budget(route),
        }
    }

    /// Writes the question as a line, without its end.
    pub fn to_line(&self, id: u64) -> String {
        let mut head = Map::new();
        head.insert("id".to_owned(), json!(id));
        head.insert("mode".to_owned(), json!(self.mode));
        head.insert("from".to_owned(), json!(self.from.name()));
        head.insert("to".to_owned(), json!(self.to.name()));
        head.insert("model".to_owned(), json!(self.model));
        if self.form != Form::Request {
            head.insert("form".to_owned(), json!(self.form.name()));
        }
        if self.is_control {
            head.insert("control".to_owned(), json!(true));
        }
        match self.budget {
            Some((Budget::Messages, n)) => _ = head.insert("budget".to_owned(), json!({ "messages": n })),
            Some((Budget::Tokens, n)) => _ = head.insert("budget".to_owned(), json!({ "tokens": n })),
            _ => {}
        }
        let head = Value::Object(head).to_string();
        let fields = head.strip_suffix('}').unwrap_or(&head);
        format!("{fields},\"request\":{}}}", self.request)
    }
}

fn model_in(body: &Value) -> Option<String> {
    let model = body.get("model").or_else(|| body.get("modelId"))?;
    Some(model.as_str()?.to_owned())
}

impl Answer {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// Fails if the line is invalid.
    pub fn parse(line: &str) -> Result<Answer, SuiteError> {
        let mut value: Value = serde_json::from_str(line).map_err(SuiteError::NotJson)?;
        let request = value.as_object_mut().and_then(|fields| fields.remove("request"));
        let id = value.get("id").and_then(Value::as_u64).ok_or(SuiteError::NoId)?;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let said = match (request, value.get("error"), value.get("unsupported")) {
            (Some(body), None, None) => {
                let notes = value.get("notes").and_then(Value::as_array).into_iter().flatten();
                let notes = notes.map(|note| note.as_str().map_or_else(|| note.to_string(), str::to_owned));
                let size = value.get("size").and_then(Value::as_u64);
                Said::Request { body, notes: notes.collect(), size }
            }
            (None, Some(error), None) => {
                let kind = text(error, "kind").ok_or(SuiteError::NoKind)?;
                Said::Raised { kind, message: text(error, "message").unwrap_or_default() }
            }
            (None, None, Some(why)) => {
                Said::Unsupported(why.as_str().ok_or(SuiteError::NoReason)?.to_owned())
            }
            _ => return Err(SuiteError::NotOneForm),
        };
        Ok(Answer { id, said })
    }
}

impl Said {
    /// Creates an answer with only a body.
    pub fn request(body: Value) -> Said {
        Said::Request { body, notes: Vec::new(), size: None }
    }

    /// Returns the body, if there is one.
    pub fn body(&self) -> Option<&Value> {
        match self {
            Said::Request { body, .. } => Some(body),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_line() {
        let asked = Asked {
            mode: "trim".to_owned(),
            from: Dialect::OpenaiChat,
            to: Dialect::OpenaiChat,
            model: Some("gpt-5.2".to_owned()),
            form: Form::Request,
            request: json!({ "messages": [{ "role": "user", "content": "a\n\"b\"" }] }),
            is_control: true,
            budget: Some((Budget::Messages, 4)),
        };
        let line = asked.to_line(7);
        let expected = json!({
            "id": 7, "mode": "trim", "from": "openai-chat", "to": "openai-chat", "model": "gpt-5.2", "control": true,
            "budget": { "messages": 4 }, "request": asked.request });
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
        assert!(!line.contains('\n'));
    }

    #[test]
    fn answers_are_read_and_invalid_lines_are_reported() {
        let said =
            |line: &str| Answer::parse(line).map(|answer| answer.said).map_err(|error| error.to_string());
        assert_eq!(said(r#"{"id":1,"request":{"a":1}}"#), Ok(Said::request(json!({ "a": 1 }))));
        assert_eq!(
            said(r#"{"id":1,"error":{"kind":"ValueError","message":"no"}}"#),
            Ok(Said::Raised { kind: "ValueError".to_owned(), message: "no".to_owned() })
        );
        assert_eq!(said(r#"{"id":1,"unsupported":"x"}"#), Ok(Said::Unsupported("x".to_owned())));
        for (line, words) in [
            ("hello", "not JSON"),
            (r#"{"request":{}}"#, "without a number `id`"),
            (r#"{"id":1}"#, "one of"),
            (r#"{"id":1,"request":{},"error":{"kind":"E"}}"#, "one of"),
            (r#"{"id":1,"error":{}}"#, "without a text `kind`"),
        ] {
            let error = said(line).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
