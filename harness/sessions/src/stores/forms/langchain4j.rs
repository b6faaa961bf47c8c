//! LangChain4j: the list that `ChatMessageSerializer.messagesToJson` writes, as a `ChatMemoryStore` keeps it.
//!
//! Source: `langchain4j-core/src/main/java/dev/langchain4j/data/message/ChatMessageSerializer.java` of
//! <https://github.com/langchain4j/langchain4j>. Its windows drop results together with their calls, but a store of an
//! application may cut between them (<https://github.com/langchain4j/langchain4j/issues/3133>).

use brickbat_rules::histories::{Call, Role};
use serde_json::{Value, json};

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Langchain4j,
    generation: "JSON list",
    file: Framing::List(&["", "/messages"]),
    marks: &[
        Mark::EveryIs("/type", &["SYSTEM", "USER", "AI", "TOOL_EXECUTION_RESULT", "CUSTOM"]),
        Mark::SomeIs("/type", &["USER", "AI", "TOOL_EXECUTION_RESULT"]),
    ],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/type",
            &[
                ("SYSTEM", Role::System),
                ("USER", Role::User),
                ("AI", Role::Assistant),
                ("TOOL_EXECUTION_RESULT", Role::Tool),
            ],
        ),
        pieces: &[
            Piece::Result(ResultAt {
                call: "/id",
                name: "/toolName",
                output: "/text",
                failed: Some(("/isError", "true")),
            }),
            Piece::Thinking("/thinking", "/attributes/thinking_signature"),
            Piece::Text("/text"),
            Piece::Parts(
                "/contents",
                "/type",
                &[
                    ("TEXT", Piece::Text("/text")),
                    ("IMAGE", Piece::Skip),
                    ("AUDIO", Piece::Skip),
                    ("VIDEO", Piece::Skip),
                    ("PDF", Piece::Skip),
                ],
            ),
            Piece::Calls(
                "/toolExecutionRequests",
                CallAt { id: "/id", name: "/name", arguments: "/arguments" },
            ),
        ],
    }]),
    answer: Some(answer),
    ..BASE
};

fn answer(call: &Call, words: &str) -> Value {
    json!({ "id": call.id, "toolName": call.name, "text": words, "type": "TOOL_EXECUTION_RESULT" })
}
