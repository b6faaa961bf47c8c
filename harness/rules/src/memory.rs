//! What a provider remembers of a conversation: the replies that it gave.
//!
//! A body that names something of an earlier reply (a response, an item, a signature) can only be judged by a
//! provider that knows what it issued. Without a memory such names pass.

use serde_json::Value;

use crate::Dialect;
use crate::dialects::{Issued, Replies, Thoughts};
use crate::json::{Document, Json};

/// What a provider said, with one field for each thing that later requests may name.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Whether it holds all that the provider ever said, so that what is not in it was never said.
    is_whole: bool,
    /// The replies of `openai-responses` that were stored.
    pub(crate) replies: Replies,
    /// The thought signatures of `gemini`.
    pub(crate) signatures: Issued,
    /// The thinking of `anthropic-messages`.
    pub(crate) thoughts: Thoughts,
}

/// What a provider keeps of its answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// Nothing.
    Nothing,
    /// What the model thought, so an answer without thinking leaves nothing.
    Thinking,
    /// All of it.
    All,
}

/// How much of a reply the provider could finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// All of it.
    Whole,
    /// The reply was broken off, by a fault or by the user. What the provider keeps of such a reply is not
    /// known, so later requests may name what it holds and need not.
    Cut,
}

impl Memory {
    /// The memory of a provider that has said nothing yet, and to which every reply will be added.
    pub fn of_nothing_said() -> Memory {
        Memory { is_whole: true, ..Memory::default() }
    }

    /// The memory of a provider that has answered these requests with these replies, and has said nothing else.
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

    /// Whether what is not in it was never said.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole && !self.is_full()
    }

    /// Whether more was said than is kept, so that nothing is added any more.
    pub fn is_full(&self) -> bool {
        self.replies.overflowed() || self.signatures.overflowed() || self.thoughts.overflowed()
    }

    /// What a provider of that dialect keeps of its answer to this request. Where that is nothing, [`Memory::add`] does
    /// nothing.
    pub fn keeps(dialect: Dialect, request: Json) -> Retention {
        (dialect.definition().keeps)(request)
    }

    /// Adds a reply, as the body that says it in one piece.
    pub fn add(&mut self, dialect: Dialect, request: Json, reply: &Value, delivery: Delivery) {
        if Memory::keeps(dialect, request) != Retention::Nothing {
            (dialect.definition().remember)(self, request, reply, delivery);
        }
    }

    /// A request with all that it only names put in its place. Nothing where it names nothing, or something unknown.
    pub fn expanded(&self, request: Json) -> Option<ExpandedRequest> {
        if self.replies.is_empty() { None } else { self.replies.expand(request) }
    }
}

/// A request with the items of earlier replies and requests that it only names.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpandedRequest {
    /// The body.
    pub body: Value,
    /// Where the items of the conversation are.
    pub(crate) list: &'static str,
    /// What names the items before the request's own.
    pub(crate) named_by: &'static str,
    pub(crate) n_before: usize,
}

impl ExpandedRequest {
    /// Where something of this body is in the request as it was sent.
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
