//! The content of a request body in any dialect: texts, thoughts, calls and their results.

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Block, CallResult, Role};
use serde_json::Value;

use crate::words::canonical;

/// The content of a body, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// The instructions of the program, wherever they are.
    pub system: Vec<String>,
    /// The conversation.
    pub parts: Vec<Part>,
}

/// One part of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text of the user.
    User(String),
    /// Text of the model.
    Reply(String),
    /// Thinking of the model, and its signature.
    Thought {
        /// The text.
        text: String,
        /// The signature.
        signature: Option<String>,
    },
    /// A call.
    Call(CallFact),
    /// The result of a call.
    Result(ResultFact),
    /// The data of an image.
    Picture(String),
    /// A part that only one dialect has.
    Other(Value),
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFact {
    /// The id; empty if the dialect has none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, normalised so that equal arguments have equal texts.
    pub arguments: String,
    /// The signature of the thought before it.
    pub signature: Option<String>,
}

/// A result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultFact {
    /// The id of the call, as given in the result.
    pub id: String,
    /// The call that it answers, as an index into the calls.
    pub call: Option<usize>,
    /// The text of the result.
    pub text: String,
    /// True if it is marked as an error.
    pub is_error: bool,
}

/// A call without a result so far.
struct OpenCall {
    at: usize,
    name: String,
    has_id: bool,
}

impl Facts {
    /// Reads the content of a body.
    pub fn of(body: &Value, dialect: Dialect) -> Facts {
        let mut facts = Facts::default();
        let mut results = Vec::new();
        for message in histories::read(dialect, body) {
            for block in message.blocks {
                facts.take(message.role, block, &mut results);
            }
        }
        facts.pair(&results);
        facts
    }

    fn take(&mut self, role: Role, block: Block, names: &mut Vec<String>) {
        let part = match block {
            Block::Text(text) => match role {
                Role::System => return self.system.push(text),
                Role::Assistant => Part::Reply(text),
                Role::User | Role::Tool => Part::User(text),
            },
            Block::Thinking(thinking) => Part::Thought { text: thinking.text, signature: thinking.signature },
            Block::Call(call) => Part::Call(CallFact {
                arguments: arguments(&call.arguments),
                id: call.id,
                name: call.name,
                signature: call.signature,
            }),
            Block::Result(result) => {
                let text = output(&result);
                names.push(result.name);
                Part::Result(ResultFact { id: result.call, call: None, text, is_error: result.is_error })
            }
            Block::Image(image) => Part::Picture(image.data),
            Block::Native { value, .. } => Part::Other(value),
        };
        self.parts.push(part);
    }

    /// Finds the call that each result answers: the last one before it with its id. A result without an id
    /// answers the first call of its name that has no result yet, even if calls have ids, as Gemini accepts
    /// it. Gemini also accepts results with ids after calls without ids: Google's own agent sent such
    /// requests (<https://github.com/google-gemini/gemini-cli/issues/6974>).
    fn pair(&mut self, names: &[String]) {
        let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
        let mut open: Vec<OpenCall> = Vec::new();
        let (mut n_calls, mut n_results) = (0, 0);
        for part in &mut self.parts {
            match part {
                Part::Call(call) => {
                    let has_id = !call.id.is_empty();
                    open.push(OpenCall { at: n_calls, name: call.name.clone(), has_id });
                    if !call.id.is_empty() {
                        by_id.insert(call.id.clone(), n_calls);
                    }
                    n_calls += 1;
                }
                Part::Result(result) => {
                    let name = names.get(n_results).map_or("", String::as_str);
                    n_results += 1;
                    let by_id = by_id.get(&result.id).copied().filter(|_| !result.id.is_empty());
                    let is_meant = |call: &OpenCall| match by_id {
                        Some(at) => call.at == at,
                        None => {
                            let is_of_its_name =
                                call.name == name || (name.is_empty() && result.id.is_empty());
                            is_of_its_name && (result.id.is_empty() || !call.has_id)
                        }
                    };
                    let at = open.iter().position(is_meant).map(|at| open.remove(at).at);
                    result.call = by_id.or(at);
                }
                _ => {}
            }
        }
    }

    /// The calls, in order.
    pub fn calls(&self) -> Vec<&CallFact> {
        let calls = self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        calls.collect()
    }

    /// The results, in order.
    pub fn results(&self) -> Vec<&ResultFact> {
        let results = self.parts.iter().filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        });
        results.collect()
    }

    /// For each call, its results.
    pub fn answers(&self) -> Vec<Vec<&ResultFact>> {
        let mut answers = vec![Vec::new(); self.calls().len()];
        for result in self.results() {
            if let Some(call) = result.call {
                answers[call].push(result);
            }
        }
        answers
    }

    /// All text of the user, joined.
    pub fn user(&self) -> String {
        self.joined(|part| match part {
            Part::User(text) => Some(text),
            _ => None,
        })
    }

    /// All text of the model, joined.
    pub fn replies(&self) -> String {
        self.joined(|part| match part {
            Part::Reply(text) => Some(text),
            _ => None,
        })
    }

    fn joined(&self, words: impl Fn(&Part) -> Option<&String>) -> String {
        self.parts.iter().filter_map(words).fold(String::new(), |text, next| text + next + "\n")
    }

    /// The content without ids, which a filter may generate differently each time.
    pub fn without_ids(&self) -> Facts {
        let part = |part: &Part| match part {
            Part::Call(call) => Part::Call(CallFact { id: String::new(), ..call.clone() }),
            Part::Result(result) => Part::Result(ResultFact { id: String::new(), ..result.clone() }),
            other => other.clone(),
        };
        Facts { system: self.system.clone(), parts: self.parts.iter().map(part).collect() }
    }
}

fn arguments(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => canonical(&value).to_string(),
        // No arguments and an empty object mean the same.
        Err(_) if text.trim().is_empty() => "{}".to_owned(),
        Err(_) => text.to_owned(),
    }
}

/// The text of a result; parts that are not text are written as JSON.
fn output(result: &CallResult) -> String {
    let texts = result.output.iter().map(|block| match block {
        Block::Text(text) => parts(text).unwrap_or_else(|| text.clone()),
        Block::Image(image) => image.data.clone(),
        Block::Native { value, .. } => value.to_string(),
        other => format!("{other:?}"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The text in a list of parts: a result may be written as such a list, which means the same as its texts.
fn parts(text: &str) -> Option<String> {
    let parts = list_of_parts(text)?;
    let texts: Option<Vec<&str>> = parts.iter().map(text_of).collect();
    Some(texts?.join("\n"))
}

/// True if a result is written as a list of parts and some of them are not text, such as an image.
pub(crate) fn has_other_parts(text: &str) -> bool {
    list_of_parts(text).is_some_and(|parts| parts.iter().any(|part| text_of(part).is_none()))
}

fn list_of_parts(text: &str) -> Option<Vec<Value>> {
    if !text.starts_with('[') {
        return None;
    }
    let parts: Vec<Value> = serde_json::from_str(text).ok()?;
    let is_part = |part: &Value| text_of(part).is_some() || part.get("type").is_some_and(Value::is_string);
    (!parts.is_empty() && parts.iter().all(is_part)).then_some(parts)
}

fn text_of(part: &Value) -> Option<&str> {
    part.get("text")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_in_parts_has_the_text_of_its_parts() {
        let content = json!([{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }]);
        let chat = json!({ "messages": [
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "f", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "a", "content": content }] });
        assert_eq!(Facts::of(&chat, Dialect::OpenaiChat).results()[0].text, "one\ntwo");
        assert_eq!(parts(r#"["text"]"#), None);
        assert_eq!(parts("[]"), None);
        assert_eq!(parts(r#"[{"text":"one"}]"#).as_deref(), Some("one"));
        assert!(has_other_parts(
            r#"[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:,"}]"#
        ));
        assert!(!has_other_parts(r#"[{"type":"text","text":"a"}]"#) && !has_other_parts("[1]"));
    }

    #[test]
    fn gemini_pairs_results_without_ids_by_name_and_accepts_both_spellings() {
        let body = json!({ "contents": [
            { "role": "model", "parts": [
                { "function_call": { "id": "x", "name": "f", "args": {} } },
                { "functionCall": { "id": "y", "name": "g", "args": {} } }] },
            { "role": "user", "parts": [
                { "functionResponse": { "name": "g", "response": { "output": "of g" } } },
                { "function_response": { "name": "f", "response": { "output": "of f" } } }] }] });
        let facts = Facts::of(&body, Dialect::Gemini);
        let texts: Vec<&str> = facts.answers().iter().map(|results| results[0].text.as_str()).collect();
        assert_eq!(texts, ["of f", "of g"]);
        let with_id = json!({ "contents": [
            { "role": "model", "parts": [
                { "functionCall": { "id": "x", "name": "f", "args": {} } },
                { "functionCall": { "id": "y", "name": "f", "args": {} } }] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "x", "name": "f", "response": { "output": "one" } } },
                { "functionResponse": { "name": "f", "response": { "output": "two" } } }] }] });
        let facts = Facts::of(&with_id, Dialect::Gemini);
        assert_eq!(facts.answers()[1][0].text, "two");
        let with_ids_of_results = |id: Option<&str>| {
            json!({ "contents": [
            { "role": "model", "parts": [{ "functionCall": { "id": id, "name": "f", "args": {} } }] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "x", "name": "f", "response": { "output": "one" } } }] }] })
        };
        let answers = |id| Facts::of(&with_ids_of_results(id), Dialect::Gemini).answers()[0].len();
        assert_eq!((answers(None), answers(Some("x")), answers(Some("y"))), (1, 1, 0));
    }

    #[test]
    fn a_conversation_has_the_same_facts_in_two_dialects() {
        let chat = json!({ "messages": [
            { "role": "system", "content": "Be kind." },
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "f", "arguments": "{\"y\": 2, \"x\": 1.0}" } }] },
            { "role": "tool", "tool_call_id": "a", "content": "found" }] });
        let gemini = json!({
            "systemInstruction": { "parts": [{ "text": "Be kind." }] },
            "contents": [
                { "role": "user", "parts": [{ "text": "Look." }] },
                { "role": "model", "parts": [{ "functionCall": { "name": "f", "args": { "x": 1, "y": 2 } } }] },
                { "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": { "output": "found" } } }] }] });
        let one = Facts::of(&chat, Dialect::OpenaiChat);
        let other = Facts::of(&gemini, Dialect::Gemini);
        assert_eq!(one.without_ids(), other.without_ids());
        assert_eq!(one.answers()[0][0].text, "found");
    }
}
