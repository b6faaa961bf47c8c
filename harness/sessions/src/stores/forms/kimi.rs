//! Kimi CLI: `context.jsonl`, a message on each line, with marks of checkpoints and usage between them.
//!
//! Source: `src/kimi_cli/soul/context.py` of <https://github.com/MoonshotAI/kimi-cli>.

use brickbat_rules::Dialect;

use super::{BASE, Form, Framing, Mark, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Kimi,
    generation: "JSONL",
    file: Framing::Lines,
    marks: &[Mark::SomeIs("/role", &["_system_prompt", "_checkpoint", "_usage"])],
    skips: Some(("/role", &["_system_prompt", "_checkpoint", "_usage"])),
    shape: Shape::Speakers(super::CHAT),
    dialect: Some(Dialect::OpenaiChat),
    model: &["/model"],
    answer: Some(super::chat_answer),
    ..BASE
};
