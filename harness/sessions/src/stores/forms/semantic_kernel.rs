//! Semantic Kernel: a `ChatHistory` as Python's `serialize` writes it.
//!
//! .NET writes a form of its own, which `semantic_kernel_dotnet` reads. Source: `python/semantic_kernel/contents/chat_history.py` of <https://github.com/microsoft/semantic-kernel>.

use brickbat_rules::histories::{Call, Role};
use serde_json::{Value, json};

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::SemanticKernel,
    generation: "JSON list",
    file: Framing::List(&["/messages"]),
    other: Some(super::semantic_kernel_dotnet::HISTORY),
    marks: &[Mark::Every(&["/role", "/items"]), Mark::EveryIs("/content_type", &["message"])],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[
                ("system", Role::System),
                ("developer", Role::System),
                ("user", Role::User),
                ("assistant", Role::Assistant),
                ("tool", Role::Tool),
            ],
        ),
        pieces: &[Piece::Parts(
            "/items",
            "/content_type",
            &[
                ("text", Piece::Text("/text")),
                ("function_call", Piece::Call(CallAt { id: "/id", name: "/name", arguments: "/arguments" })),
                ("function_result", Piece::Result(RESULT)),
                ("image", Piece::Skip),
                ("ImageContent", Piece::Skip),
                ("ReasoningContent", Piece::Skip),
            ],
        )],
    }]),
    model: &["/ai_model_id"],
    answer: Some(answer),
    finish: Some(crate::names::note_provider_of_model),
    ..BASE
};

const RESULT: ResultAt = ResultAt { call: "/id", name: "/name", output: "/result", failed: None };

fn answer(call: &Call, words: &str) -> Value {
    let item =
        json!({ "content_type": "function_result", "id": call.id, "name": call.name, "result": words });
    json!({ "content_type": "message", "role": "tool", "items": [item], "metadata": {} })
}
