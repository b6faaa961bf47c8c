//! The provider's memory of a conversation, which consists of its replies.
//!
//! A body that refers to part of an earlier reply (a response, an item, a signature) can be judged only
//! with the replies that the provider issued. Without a memory, such references pass.

use serde_json::Value;

use crate::Dialect;
use crate::dialects::{Issued, Replies, Thoughts};
use crate::json::{Document, Json};

/// The provider's replies, with one field for each kind of thing that later requests may refer to.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// True if the memory has all replies. Then anything that is not in it was never issued.
    is_whole: bool,
    /// Stored `openai-responses` replies.
    pub(crate) replies: Replies,
    /// Thought signatures of `gemini`.
    pub(crate) signatures: Issued,
    /// `anthropic-messages` thinking.
    pub(crate) thoughts: Thoughts,
}

/// The part of a reply that the provider keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// Nothing.
    Nothing,
    /// Only the thinking. A reply without thinking leaves nothing.
    Thinking,
    /// The complete reply.
    All,
}

/// The part of a reply that the provider could send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The complete reply.
    Whole,
    /// A part: a fault or the user interrupted the reply. It is unknown what the provider keeps, so
    /// later requests may refer to its content, but need not.
    Cut,
}

impl Memory {
    /// Creates a memory for a provider that has not replied yet. Every reply must be added.
    pub fn of_nothing_said() -> Memory {
        Memory { is_whole: true, ..Memory::default() }
    }

    /// Creates a memory for a provider that has given exactly these replies to these requests.
    pub fn of_exchanges<'e>(
        dialect: Dialect,
        exchanges: impl IntoIterator<Item = (&'e Value, &'e Value)>,
    ) -> Memory {
        let mut memory = Memory::of_nothing_said();
        for (request, reply) in exchanges {
            let text = request.to_string();
            let document = Document::parse(text.as_bytes()).unwrap_or_default();
            memory.add(dialect, document.root(), reply, Delivery::Whole);
        }
        memory
    }

    /// Returns whether the memory has all replies.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole && !self.is_full()
    }

    /// Returns whether the limit is reached, so that replies are no longer added.
    pub fn is_full(&self) -> bool {
        self.replies.overflowed() || self.signatures.overflowed() || self.thoughts.overflowed()
    }

    /// Returns the part of its reply to a request that a provider keeps. [`Memory::add`] does nothing if
    /// there is none.
    pub fn keeps(dialect: Dialect, request: Json) -> Retention {
        (dialect.definition().keeps)(request)
    }

    /// Adds a reply in the form of an unstreamed body.
    pub fn add(&mut self, dialect: Dialect, request: Json, reply: &Value, delivery: Delivery) {
        if Memory::keeps(dialect, request) != Retention::Nothing {
            (dialect.definition().remember)(self, request, reply, delivery);
        }
    }

    /// Returns a request with its references replaced by their content. `None` if it has no references, or
    /// an unknown one.
    pub fn expanded(&self, request: Json) -> Option<ExpandedRequest> {
        if self.replies.is_empty() { None } else { self.replies.expand(request) }
    }
}

/// A request together with the items of earlier replies and requests that it refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpandedRequest {
    /// The body.
    pub body: Value,
    /// The name of the item list.
    pub(crate) list: &'static str,
    /// The name of the field that refers to the items before the request's own.
    pub(crate) named_by: &'static str,
    pub(crate) n_before: usize,
}

impl ExpandedRequest {
    /// Converts a pointer into this body to a pointer into the request as it was sent.
    pub fn pointer_as_sent(&self, pointer: &str) -> String {
        let inside =
            pointer.strip_prefix('/').and_then(|rest| rest.strip_prefix(self.list)?.strip_prefix('/'));
        let Some(inside) = inside else { return pointer.to_owned() };
        let (index, rest) = inside.split_at(inside.find('/').unwrap_or(inside.len()));
        match index.parse::<usize>() {
            Ok(index) if index < self.n_before => format!("/{}", self.named_by),
            Ok(index) => format!("/{}/{}{rest}", self.list, index - self.n_before),
            Err(_) => pointer.to_owned(),
        }
    }
}
