//! Chat messages, one on each line, as many programs log them and as OpenAI takes them for fine-tuning.

use brickbat_rules::Dialect;

use super::{Form, Framing, Mark, Sends, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::MessageLines,
    generation: "JSONL",
    file: Framing::Lines,
    other: None,
    marks: &[
        Mark::Every(&["/content"]),
        Mark::EveryIs("/role", &["system", "developer", "user", "assistant", "tool"]),
    ],
    skips: None,
    shape: Shape::Speakers(super::CHAT),
    dialect: Some(Dialect::OpenaiChat),
    model: &["/model"],
    among: None,
    tree: None,
    sends: Sends::AsStored,
    answer: Some(super::chat_answer),
    finish: None,
};
