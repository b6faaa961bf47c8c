//! AiderDesk: `.aider-desk/tasks/<task>/context.json`.
//!
//! The messages are `ModelMessage`s of the AI SDK with an id, and are sent without a change to calls and results. Source:
//! `ContextManager.save` in `src/main/task/context-manager.ts` and `optimizeMessages` in `src/main/agent/optimizer.ts` of
//! <https://github.com/hotovo/aider-desk>.

use brickbat_rules::histories::Call;
use serde_json::{Value, json};

use super::{BASE, BY_ROLE, CallAt, Form, Framing, Mark, Piece, ResultAt, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::AiderDesk,
    file: Framing::List(&["/contextMessages"]),
    marks: &[Mark::Root(&["/contextMessages", "/contextFiles"]), Mark::Every(&["/id", "/role", "/content"])],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[Piece::Parts("/content", "/type", MODEL_PARTS)],
    }]),
    answer: Some(answer),
    ..BASE
};

/// The parts of a `ModelMessage` of the AI SDK 5 and later.
pub(super) const MODEL_PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    ("reasoning", Piece::Thinking("/text", "/providerOptions/anthropic/signature")),
    ("image", Piece::Skip),
    ("file", Piece::Skip),
    // Roo Code keeps blocks of Anthropic's API from older versions.
    ("tool_use", Piece::Call(CallAt { id: "/id", name: "/name", arguments: "/input" })),
    (
        "tool_result",
        Piece::Result(ResultAt {
            call: "/tool_use_id",
            name: "/none",
            output: "/content",
            failed: Some(("/is_error", "true")),
        }),
    ),
    ("tool-call", Piece::Call(CallAt { id: "/toolCallId", name: "/toolName", arguments: "/input" })),
    (
        "tool-result",
        Piece::Result(ResultAt {
            call: "/toolCallId",
            name: "/toolName",
            output: "/output/value",
            failed: Some(("/output/type", "error-text")),
        }),
    ),
];

fn answer(call: &Call, words: &str) -> Value {
    json!({ "id": format!("no-result-{}", call.id), "role": "tool", "content": [result_of(call, words)] })
}

/// A result as a part of a `ModelMessage`.
pub(super) fn result_of(call: &Call, words: &str) -> Value {
    let output = json!({ "type": "error-text", "value": words });
    json!({ "type": "tool-result", "toolCallId": call.id, "toolName": call.name, "output": output })
}
