//! Mistral Vibe: `messages.jsonl`, a message on each line.
//!
//! Before it sends, it answers calls without a result (`_fill_missing_tool_responses`). Source:
//! `vibe/core/session/session_loader.py` and `vibe/core/agent_loop.py` of <https://github.com/mistralai/mistral-vibe>.

use brickbat_rules::Dialect;

use super::{BASE, Form, Framing, Mark, Sends, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::MistralVibe,
    generation: "JSONL",
    file: Framing::Lines,
    marks: &[
        Mark::Name(&["messages.jsonl"]),
        Mark::EveryIs("/role", &["system", "user", "assistant", "tool"]),
    ],
    shape: Shape::Speakers(super::CHAT),
    dialect: Some(Dialect::Mistral),
    model: &["/model"],
    sends: Sends::Fills("<tool call was interrupted>"),
    answer: Some(super::chat_answer),
    ..BASE
};
