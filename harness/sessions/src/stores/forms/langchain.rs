//! LangChain: the messages that `messages_to_dict` returns.
//!
//! A message is `{type, data}`, with the fields of its class in `data`. Source: `message_to_dict` in
//! `langchain_core/messages/base.py` and `langchain_core/messages/ai.py` of
//! <https://github.com/langchain-ai/langchain>, run as langchain-core 1.x.

use brickbat_rules::histories::{Call, Role};
use serde_json::{Value, json};

use super::{CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Langchain,
    generation: "JSON list",
    file: Framing::List(&["", "/messages"]),
    other: None,
    marks: &[
        Mark::EveryIs("/type", &["human", "ai", "system", "tool", "AIMessageChunk", "function", "chat"]),
        Mark::Every(&["/data/content"]),
    ],
    skips: None,
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/type",
            &[
                ("human", Role::User),
                ("ai", Role::Assistant),
                ("AIMessageChunk", Role::Assistant),
                ("system", Role::System),
                ("tool", Role::Tool),
            ],
        ),
        pieces: &[
            Piece::Result(ResultAt {
                call: "/data/tool_call_id",
                name: "/data/name",
                output: "/data/content",
                failed: Some(("/data/status", "error")),
            }),
            Piece::Parts("/data/content", "/type", PARTS),
            Piece::Calls("/data/tool_calls", CallAt { id: "/id", name: "/name", arguments: "/args" }),
        ],
    }]),
    dialect: None,
    model: &["/data/response_metadata/model_name"],
    among: None,
    tree: None,
    sends: Sends::AsStored,
    answer: Some(answer),
    finish: None,
};

/// The parts of a content list. Calls in it are repeated in `tool_calls`.
const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    ("thinking", Piece::Thinking("/thinking", "/signature")),
    ("image", Piece::Image("/source/data", "/source/media_type")),
    ("tool_use", Piece::Text("/none")),
];

fn answer(call: &Call, words: &str) -> Value {
    json!({
        "type": "tool",
        "data": {
            "content": words, "additional_kwargs": {}, "response_metadata": {}, "type": "tool",
            "name": call.name, "id": null, "tool_call_id": call.id, "artifact": null, "status": "error",
        },
    })
}
