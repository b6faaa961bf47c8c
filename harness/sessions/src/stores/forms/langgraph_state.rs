//! LangChain messages with their fields beside the type, as LangGraph's server returns the state of a thread.
//!
//! A message is `{type, content, …}`, without the `data` of `messages_to_dict`. Source: `BaseMessage.model_dump` of
//! langchain-core 1.8.3, which wrote the stored sessions, and `GET /threads/{thread_id}/state` in
//! <https://reference.langchain.com/python/langgraph/pregel/remote/RemoteGraph/aget_state>.

use brickbat_rules::histories::{Call, Role};
use serde_json::{Value, json};

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::LanggraphState,
    generation: "JSON list",
    file: Framing::List(&["/values/messages", "/messages", ""]),
    marks: &[Mark::EveryIs("/type", TYPES), Mark::Every(&["/content"]), Mark::Some(FIELDS)],
    shape: Shape::Speakers(&[Speaker { at: "", role: Saying::Named("/type", ROLES), pieces: PIECES }]),
    model: &["/response_metadata/model_name"],
    answer: Some(answer),
    ..BASE
};

/// The types of LangChain's messages.
pub(super) const TYPES: &[&str] = &["human", "ai", "system", "tool", "AIMessageChunk", "remove"];

/// Fields that only LangChain's messages have.
pub(super) const FIELDS: &[&str] =
    &["/additional_kwargs", "/response_metadata", "/invalid_tool_calls", "/tool_calls"];

pub(super) const ROLES: &[(&str, Role)] = &[
    ("human", Role::User),
    ("ai", Role::Assistant),
    ("AIMessageChunk", Role::Assistant),
    ("system", Role::System),
    ("tool", Role::Tool),
];

pub(super) const PIECES: &[Piece] = &[
    Piece::Result(ResultAt {
        call: "/tool_call_id",
        name: "/name",
        output: "/content",
        failed: Some(("/status", "error")),
    }),
    Piece::Parts(
        "/content",
        "/type",
        &[
            ("text", Piece::Text("/text")),
            ("thinking", Piece::Thinking("/thinking", "/signature")),
            ("image", Piece::Image("/source/data", "/source/media_type")),
            // Calls are repeated in `tool_calls`.
            ("tool_use", Piece::Skip),
        ],
    ),
    Piece::Calls("/tool_calls", CallAt { id: "/id", name: "/name", arguments: "/args" }),
];

fn answer(call: &Call, words: &str) -> Value {
    json!({
        "content": words, "additional_kwargs": {}, "response_metadata": {}, "type": "tool", "name": call.name, "id": null,
        "tool_call_id": call.id, "artifact": null, "status": "error",
    })
}
