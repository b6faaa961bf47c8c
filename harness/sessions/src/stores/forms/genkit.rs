//! Genkit: messages, and sessions with threads of messages.
//!
//! Source: `MessageSchema` and `PartSchema` in `js/ai/src/model-types.ts`, and `SessionData` in `js/ai/src/session.ts` of
//! <https://github.com/firebase/genkit>.

use brickbat_rules::histories::{Call, Role};
use serde_json::{Value, json};

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Genkit,
    generation: "JSON list",
    file: Framing::List(&["/messages", "/threads/main", ""]),
    marks: &[
        Mark::EveryIs("/role", &["system", "user", "model", "tool"]),
        Mark::Every(&["/content/0"]),
        Mark::SomeIs("/role", &["model", "tool"]),
    ],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[
                ("system", Role::System),
                ("user", Role::User),
                ("model", Role::Assistant),
                ("tool", Role::Tool),
            ],
        ),
        pieces: &[Piece::Parts(
            "/content",
            "/none",
            &[
                ("text", Piece::Text("/text")),
                ("reasoning", Piece::Thinking("/reasoning", "/none")),
                ("toolRequest", Piece::Call(REQUEST)),
                ("toolResponse", Piece::Result(RESPONSE)),
            ],
        )],
    }]),
    answer: Some(answer),
    finish: Some(super::with_ids),
    ..BASE
};

const REQUEST: CallAt =
    CallAt { id: "/toolRequest/ref", name: "/toolRequest/name", arguments: "/toolRequest/input" };
const RESPONSE: ResultAt = ResultAt {
    call: "/toolResponse/ref",
    name: "/toolResponse/name",
    output: "/toolResponse/output",
    failed: None,
};

fn answer(call: &Call, words: &str) -> Value {
    let response = json!({ "name": call.name, "ref": call.id, "output": words });
    json!({ "role": "tool", "content": [{ "toolResponse": response }] })
}
