//! A history: the messages of a conversation, whatever the dialect, lossless.
//!
//! Every item knows where it came from. What is not understood is carried as it is.
//! Histories are read off requests by [`crate::wire::history()`].

use serde::Serialize;
use serde_json::Value;

/// The messages of a conversation as a flat list of items, in order.
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

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The user, or the program on the user's behalf.
    User,
    /// The model.
    Assistant,
    /// A tool, in dialects where tools have a role.
    Tool,
    /// Instructions, and roles that are not known.
    Other,
}

/// What a block is.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Content {
    Thought {
        /// As it stands in the request, with what it is signed with.
        value: Value,
    },
    Text {
        text: String,
    },
    Call {
        id: String,
        name: String,
        /// The arguments; a string where the dialect carries a string that is not a JSON object.
        args: Value,
    },
    Result {
        /// The id of the call.
        id: String,
        /// Its text; other content is written as JSON.
        text: String,
        /// Whether it says that it is an error; nothing where the dialect cannot say.
        is_error: Option<bool>,
    },
    Raw {
        /// As it stands in the request.
        value: Value,
    },
}

impl History {
    /// The shape in one line, for people: `u[text] a[text,call a,call b] u[result a,error b]`.
    /// `name` gives the word for a wire id.
    pub fn shape(&self, name: impl Fn(&str) -> String) -> String {
        self.shape_with(name, |_, _, is_error| result_word(is_error))
    }

    /// The same, where `word` gives the word for a result with that id and that text.
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
                Content::Text { .. } => shape.push_str("text"),
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

/// What a result is called, for people: an error if it says that it is one.
pub fn result_word(is_error: Option<bool>) -> &'static str {
    if is_error == Some(true) { "error" } else { "result" }
}

/// The same of a result that no tool has returned.
pub fn made_up_word(is_error: Option<bool>) -> &'static str {
    if is_error == Some(true) { "made-up error" } else { "made-up" }
}
