//! Chat messages, one on each line, as many programs log them and as OpenAI takes them for fine-tuning.

use brickbat_rules::Dialect;

use super::{BASE, Form, Framing, Mark, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::MessageLines,
    generation: "JSONL",
    file: Framing::Lines,
    marks: &[
        Mark::Every(&["/content"]),
        Mark::EveryIs("/role", &["system", "developer", "user", "assistant", "tool"]),
    ],
    shape: Shape::Speakers(super::CHAT),
    dialect: Some(Dialect::OpenaiChat),
    model: &["/model"],
    answer: Some(super::chat_answer),
    ..BASE
};
