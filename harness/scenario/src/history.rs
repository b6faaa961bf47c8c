//! A history: the messages of a conversation in any dialect, without loss.
//!
//! Every item keeps its position in the request. Parts that are not understood are kept unchanged.
//! [`crate::wire::history()`] reads histories from requests.

use serde::Serialize;
use serde_json::Value;

/// The messages in a conversation as a flat list of items, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct History {
    /// The items, in the order of the request.
    pub items: Vec<Item>,
}

/// One block of one message.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// JSON pointer into the request.
    pub pointer: String,
    /// Index of the message in the request.
    pub message: usize,
    pub role: Role,
    pub content: Content,
}

/// The author of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The user, or the program on the user's behalf.
    User,
    /// The model.
    Assistant,
    /// A tool, in dialects where tools have a role.
    Tool,
    /// Instructions, and unknown roles.
    Other,
}

impl Role {
    /// The name, as in the roles of most dialects.
    pub fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Other => "other",
        }
    }
}

/// The content of a block.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Content {
    Thought {
        /// The block as it appears in the request, including its signature.
        value: Value,
    },
    Text {
        text: String,
    },
    Call {
        id: String,
        name: String,
        /// The arguments; a string if the dialect carries a string that is not a JSON object.
        args: Value,
    },
    Result {
        /// The id of the call.
        id: String,
        /// The text of the result; other content is written as JSON.
        text: String,
        /// True if the result is marked as an error; `None` if the dialect cannot mark it.
        is_error: Option<bool>,
    },
    Raw {
        /// The block as it appears in the request.
        value: Value,
    },
}

impl History {
    /// The human-readable shape on one line: `u[text] a[text,call a,call b] u[result a,error b]`. `name`
    /// returns the name for a wire id.
    pub fn shape(&self, name: impl Fn(&str) -> String) -> String {
        self.shape_with(name, |_, _, is_error| result_word(is_error))
    }

    /// Like [`History::shape`]; `word` returns the word for a result with this id and this text.
    pub fn shape_with(
        &self,
        name: impl Fn(&str) -> String,
        word: impl Fn(&str, &str, Option<bool>) -> &'static str,
    ) -> String {
        let mut shape = String::new();
        let mut previous = None;
        for item in &self.items {
            if previous == Some(item.message) {
                shape.push(',');
            } else {
                let letter = match item.role {
                    Role::User => 'u',
                    Role::Assistant => 'a',
                    Role::Tool => 't',
                    Role::Other => 's',
                };
                shape.push_str(if previous.is_some() { "] " } else { "" });
                shape.push(letter);
                shape.push('[');
            }
            previous = Some(item.message);
            match &item.content {
                Content::Thought { .. } => shape.push_str("thinking"),
                Content::Text { text } => shape.push_str(text_word(text)),
                Content::Call { id, .. } => shape.push_str(&format!("call {}", name(id))),
                Content::Result { id, text, is_error } => {
                    shape.push_str(&format!("{} {}", word(id, text, *is_error), name(id)));
                }
                Content::Raw { .. } => shape.push_str("raw"),
            }
        }
        if previous.is_some() {
            shape.push(']');
        }
        shape
    }
}

/// The word for a text in a shape: `""` if it is empty.
pub fn text_word(text: &str) -> &'static str {
    if text.is_empty() { "\"\"" } else { "text" }
}

/// The human-readable name of a result: `error` if the result is marked as one.
pub fn result_word(is_error: Option<bool>) -> &'static str {
    if is_error == Some(true) { "error" } else { "result" }
}

/// The word for a result that no tool returned.
pub fn made_up_word(is_error: Option<bool>) -> &'static str {
    if is_error == Some(true) { "made-up error" } else { "made-up" }
}
