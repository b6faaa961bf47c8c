//! Google Gemini: reads the conversation in a request.
//!
//! Ids are optional here: the provider pairs a response with its call by their number, order and name. A call
//! or response without an id gets one, so that the rest of the harness can refer to it:
//!
//! - a call without an id is named by its position, such as `/contents/1/parts/0`;
//! - a response without an id, or with an unknown id, answers the first call of the last batch that has its
//!   name and no response yet, or otherwise the first call without a response;
//! - a response without any call is named by its own position.

use std::collections::{BTreeMap, VecDeque};

use super::either;
use crate::history::{Content, History, Item, Role};
use crate::wire::history::string;
use brickbat_rules::json::{Json, JsonType};

/// The conversation. Calls are parts of the model's contents, and responses are parts of the user's.
pub(super) fn history(body: Json) -> History {
    let mut items = Vec::new();
    let mut batch = OpenBatch::default();
    let contents = body.field("contents");
    if contents.is_object() {
        content("/contents", 0, contents, &mut batch, &mut items);
    }
    for (message, value) in contents.items().enumerate() {
        content(&format!("/contents/{message}"), message, value, &mut batch, &mut items);
    }
    History { items }
}

fn content(pointer: &str, message: usize, value: Json, batch: &mut OpenBatch, items: &mut Vec<Item>) {
    let role = role_of(value);
    let parts = value.field("parts");
    let has_calls = |part: Json| either(part, "functionCall", "function_call").is_object();
    // Successive contents of the model are one reply, which a client may store in pieces.
    if role != Role::Assistant {
        batch.is_over = true;
    } else if batch.is_over && parts.items().any(has_calls) {
        *batch = OpenBatch::default();
    }
    let mut push = |pointer: String, part: Json| {
        let content = part_of(&pointer, part, batch);
        items.push(Item { pointer, message, role, content });
    };
    match parts.kind() {
        JsonType::Null => {}
        JsonType::Array => {
            for (b, part) in parts.items().enumerate() {
                push(format!("{pointer}/parts/{b}"), part);
            }
        }
        _ => push(format!("{pointer}/parts"), parts),
    }
}

/// The role of a content: the user if none is given. Upper and lower case are equal.
fn role_of(content: Json) -> Role {
    match content.field("role").as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
        "user" | "" => Role::User,
        "model" => Role::Assistant,
        "function" | "tool" => Role::Tool,
        _ => Role::Other,
    }
}

fn part_of(pointer: &str, part: Json, batch: &mut OpenBatch) -> Content {
    let call = either(part, "functionCall", "function_call");
    if call.is_object() {
        let (id, name) = (string(call.field("id")), string(call.field("name")));
        let id = batch.ask(if id.is_empty() { pointer.to_owned() } else { id }, &name);
        return Content::Call { id, name, args: call.field("args").to_value() };
    }
    let response = either(part, "functionResponse", "function_response");
    if response.is_object() {
        let (id, name) = (string(response.field("id")), string(response.field("name")));
        let id = batch.answer(&id, &name).unwrap_or(if id.is_empty() { pointer.to_owned() } else { id });
        let said = response.field("response");
        // Without the keys `error` and `output`, the dialect does not say whether the tool failed.
        let is_error = said.get("error").map(|_| true).or_else(|| said.get("output").map(|_| false));
        return Content::Result { id, text: text_of(said), is_error };
    }
    match part.get("text").filter(|text| text.is_str()) {
        Some(_) if part.field("thought").as_bool() == Some(true) => {
            Content::Thought { value: part.to_value() }
        }
        Some(text) => Content::Text { text: string(text) },
        _ => Content::Raw { value: part.to_value() },
    }
}

/// The text of a response with a single text under one of the documented names; any other response as JSON.
fn text_of(response: Json) -> String {
    let mut fields = response.fields();
    match (fields.next(), fields.next()) {
        (Some((name, text)), None) if text.is_str() && (name.is("output") || name.is("error")) => {
            string(text)
        }
        _ => response.to_value().to_string(),
    }
}

/// The calls in the last reply that has any, and which of them are answered.
#[derive(Debug, Default)]
struct OpenBatch {
    ids: Vec<String>,
    by_id: BTreeMap<String, usize>,
    by_name: BTreeMap<String, VecDeque<usize>>,
    is_answered: Vec<bool>,
    /// All calls before this one are answered.
    first_open: usize,
    /// True if anyone except the model has spoken since then.
    is_over: bool,
}

impl OpenBatch {
    fn ask(&mut self, id: String, name: &str) -> String {
        let at = self.ids.len();
        self.by_id.entry(id.clone()).or_insert(at);
        self.by_name.entry(name.to_owned()).or_default().push_back(at);
        self.is_answered.push(false);
        self.ids.push(id.clone());
        id
    }

    /// The id of the call that a response answers.
    fn answer(&mut self, id: &str, name: &str) -> Option<String> {
        let at = match self.by_id.get(id) {
            Some(at) => *at,
            None => self.open_call(name)?,
        };
        self.is_answered[at] = true;
        Some(self.ids[at].clone())
    }

    fn open_call(&mut self, name: &str) -> Option<usize> {
        if let Some(places) = self.by_name.get_mut(name) {
            while let Some(at) = places.pop_front() {
                if !self.is_answered[at] {
                    return Some(at);
                }
            }
        }
        while self.is_answered.get(self.first_open) == Some(&true) {
            self.first_open += 1;
        }
        (self.first_open < self.ids.len()).then_some(self.first_open)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use brickbat_rules::json::Document;

    fn ids(contents: serde_json::Value) -> Vec<String> {
        let text = json!({ "contents": contents }).to_string();
        let items = history(Document::parse(text.as_bytes()).unwrap().root()).items;
        let id_of = |item: Item| match item.content {
            Content::Call { id, .. } | Content::Result { id, .. } => Some(id),
            _ => None,
        };
        items.into_iter().filter_map(id_of).collect()
    }

    #[test]
    fn a_reply_that_is_stored_in_pieces_is_one_batch() {
        let call =
            |id: &str| json!({ "role": "model", "parts": [{ "functionCall": { "name": "n", "id": id } }] });
        let response = |id: &str| json!({ "functionResponse": { "name": "n", "id": id } });
        let words = json!({ "role": "model", "parts": [{ "text": "" }] });
        let answers = json!({ "role": "user", "parts": [response("a"), response("b")] });
        let said = ids(json!([call("a"), call("b"), words, answers, call("c"), words]));
        assert_eq!(said, ["a", "b", "a", "b", "c"]);
    }

    #[test]
    fn calls_without_ids_are_paired_by_name_and_order() {
        let call = |name: &str| json!({ "functionCall": { "name": name, "args": {} } });
        let response = |name: &str| json!({ "function_response": { "name": name, "response": {} } });
        let read = ids(json!([
            { "role": "model", "parts": [call("a"), call("b"), call("a")] },
            { "role": "user", "parts": [response("b"), response("a"), response("x"), response("a")] },
        ]));
        let place = |b: usize| format!("/contents/0/parts/{b}");
        let stray = "/contents/1/parts/3".to_owned();
        assert_eq!(read, [place(0), place(1), place(2), place(1), place(0), place(2), stray]);
    }

    #[test]
    fn an_unknown_id_answers_the_remaining_call() {
        let read = ids(json!([
            { "role": "model", "parts": [{ "functionCall": { "name": "a", "id": "x1" } }] },
            { "parts": [{ "functionResponse": { "name": "a", "id": "own", "response": {} } }] },
            { "parts": { "functionResponse": { "name": "a", "id": "x1", "response": {} } } },
        ]));
        assert_eq!(read, ["x1", "x1", "x1"]);
    }
}
