//! Microsoft Agent Framework on Durable Task: the state of an agent's entity.
//!
//! An entry of `conversationHistory` is a request or a response, with its messages. The next request has the messages of
//! all entries but failed ones. Source: `DurableAgentState` in `agent_framework_durabletask/_durable_agent_state.py` of
//! agent-framework-durabletask 1.0.0b260922 (<https://github.com/microsoft/agent-framework>), and the classes of that name
//! for .NET.

use brickbat_rules::histories::Call;
use serde_json::{Value, json};

use super::{BASE, BY_ROLE, CallAt, Form, Framing, Mark, Piece, ResultAt, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::DurableAgent,
    generation: "entity state",
    file: Framing::Nested("/data/conversationHistory", "/messages"),
    marks: &[
        Mark::Root(&["/schemaVersion", "/data/conversationHistory"]),
        Mark::Every(&["/role", "/contents"]),
    ],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[Piece::Parts("/contents", "/$type", PARTS)],
    }]),
    answer: Some(answer),
    ..BASE
};

const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    ("reasoning", Piece::Thinking("/text", "/none")),
    ("functionCall", Piece::Call(CallAt { id: "/callId", name: "/name", arguments: "/arguments" })),
    (
        "functionResult",
        Piece::Result(ResultAt { call: "/callId", name: "/none", output: "/result", failed: None }),
    ),
    ("data", Piece::Skip),
    ("uri", Piece::Skip),
    ("error", Piece::Skip),
    ("hostedFile", Piece::Skip),
    ("hostedVectorStore", Piece::Skip),
    ("usage", Piece::Skip),
    ("unknown", Piece::Skip),
];

fn answer(call: &Call, words: &str) -> Value {
    json!({ "role": "tool", "contents": [{ "$type": "functionResult", "callId": call.id, "result": words }] })
}
