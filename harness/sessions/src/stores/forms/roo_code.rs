//! Roo Code: `api_conversation_history.json` in version 2, with messages of the AI SDK.
//!
//! Version 1 is a list of Anthropic messages, as Cline has it. Source: `RooMessageHistory` in
//! `src/core/task-persistence/rooMessage.ts` and `saveRooMessages` in `apiMessages.ts` beside it, of
//! <https://github.com/RooCodeInc/Roo-Code>.

use brickbat_rules::histories::Call;
use serde_json::{Value, json};

use super::aider_desk::{MODEL_PARTS, result_of};
use super::{BASE, BY_ROLE, Form, Framing, Mark, Piece, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::RooCode,
    generation: "JSON object",
    file: Framing::List(&["/messages"]),
    marks: &[Mark::Name(&["api_conversation_history.json"]), Mark::Root(&["/version", "/messages"])],
    skips: Some(("/type", &["reasoning"])),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[Piece::Parts("/content", "/type", MODEL_PARTS)],
    }]),
    answer: Some(answer),
    ..BASE
};

fn answer(call: &Call, words: &str) -> Value {
    json!({ "role": "tool", "content": [result_of(call, words)] })
}
