//! Hermes Agent: the rows of `~/.hermes/state.db`, and exports of sessions as JSON lines.
//!
//! A row of `messages` has the fields of a message of Chat Completions in columns. A content that is not a text follows
//! the mark `\0json:`. Rows that a rewind has taken back have `active = 0`. Before it sends, Hermes answers calls
//! without a result, and drops results without a call and repeated ones. Source: `SCHEMA_SQL`,
//! `get_messages_as_conversation` and `export_session` in `hermes_state.py`, and `sanitize_api_messages` in
//! `agent/agent_runtime_helpers.py` of hermes-agent 0.19.0 (<https://github.com/NousResearch/hermes-agent>).

use super::{BASE, CHAT, Form, Framing, Mark, Sends, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Hermes,
    generation: "export",
    file: Framing::Each(&[""], &["/messages"]),
    #[cfg(feature = "sqlite")]
    other: Some(super::hermes_rows::ROWS),
    marks: &[
        Mark::Root(&["/source", "/started_at", "/parent_session_id"]),
        Mark::Every(&["/session_id", "/role", "/tool_call_id"]),
    ],
    shape: Shape::Speakers(CHAT),
    model: &["/model"],
    sends: Sends::Restores("[Result unavailable — see context summary above]"),
    ..BASE
};
