//! Factory's Droid: `~/.factory/sessions/<folder>/<id>.jsonl`.
//!
//! A line of the type `message` has a message with blocks as Anthropic has them. The source is closed; other readers agree
//! on this form, for example `src/connectors/factory.rs` of
//! <https://github.com/Dicklesworthstone/coding_agent_session_search>.

use brickbat_rules::Dialect;

use super::{BASE, Form, Framing, Mark, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Droid,
    generation: "JSONL",
    file: Framing::Lines,
    marks: &[Mark::RootIs("/type", &["session_start"])],
    skips: Some(("/type", &["session_start", "todo_state"])),
    shape: Shape::Native("/message", Dialect::AnthropicMessages),
    model: &["/message/model"],
    ..BASE
};
