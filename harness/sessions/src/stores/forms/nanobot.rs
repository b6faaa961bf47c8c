//! nanobot: `sessions/<channel>_<chat>.jsonl`, a line of bookkeeping and a message on each further one.
//!
//! The messages before `last_consolidated` are in its memory, and not sent. nanobot answers calls without a result, and
//! leaves out results without a call. Source: `Session.get_history` in `nanobot/session/manager.py` and
//! `backfill_missing_tool_results` in `nanobot/agent/context_governance.py` of nanobot-ai 0.3.5
//! (<https://github.com/HKUDS/nanobot>).

use brickbat_rules::Dialect;

use super::{BASE, CHAT, Form, Framing, Mark, Sends, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Nanobot,
    generation: "JSONL",
    file: Framing::Lines,
    marks: &[
        Mark::RootIs("/_type", &["metadata"]),
        Mark::Root(&["/last_consolidated"]),
        Mark::Every(&["/role"]),
    ],
    skips: Some(("/_type", &["metadata", "provider_state"])),
    shape: Shape::Speakers(CHAT),
    dialect: Some(Dialect::OpenaiChat),
    sent_from: Some("/last_consolidated"),
    sends: Sends::Restores("[Tool result unavailable — call was interrupted or lost]"),
    answer: Some(super::chat_answer),
    ..BASE
};
