//! Agno: a stored session, with the messages of each run. The rows of Agno 3 are in [`agno_rows`](super::agno_rows).
//!
//! A run repeats earlier messages with `from_history`. Source: `libs/agno/agno/session/agent.py` and
//! `libs/agno/agno/models/message.py` of <https://github.com/agno-agi/agno>.

use super::{BASE, Form, Framing, Mark, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Agno,
    generation: "JSON session",
    file: Framing::Nested("/runs", "/messages"),
    #[cfg(feature = "sqlite")]
    other: Some(super::agno_rows::ROWS),
    marks: &[Mark::Root(&["/session_id", "/runs"]), Mark::Every(&["/role"])],
    skips: Some(("/from_history", &["true"])),
    shape: Shape::Speakers(super::CHAT),
    model: &["/model"],
    answer: Some(super::chat_answer),
    ..BASE
};
