//! jcode: `~/.jcode/sessions/<session>.json`.
//!
//! The messages that a compaction covers are not sent. jcode answers calls without a result. The journal beside the file,
//! which has the messages since the last snapshot, is not read. Source: `Session` in `src/session.rs`, `ContentBlock` in
//! `crates/jcode-message-types/src/lib.rs` and `repair_missing_tool_outputs` in `src/agent.rs` of
//! <https://github.com/1jehuang/jcode>.

use brickbat_rules::histories::Role;

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Jcode,
    generation: "JSON file",
    file: Framing::List(&["/messages"]),
    marks: &[
        Mark::Root(&["/id", "/parent_id", "/created_at", "/updated_at", "/is_canary", "/is_debug"]),
        Mark::Every(&["/id", "/role", "/content"]),
    ],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named("/role", &[("user", Role::User), ("assistant", Role::Assistant)]),
        pieces: &[Piece::Parts("/content", "/type", PARTS)],
    }]),
    model: &["/model"],
    sent_from: Some("/compaction/compacted_count"),
    sends: Sends::Fills("Tool output missing (session interrupted before tool execution completed)"),
    ..BASE
};

const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    // Sent only to providers that want it.
    ("reasoning", Piece::Skip),
    ("reasoning_trace", Piece::Skip),
    ("anthropic_thinking", Piece::Thinking("/thinking", "/signature")),
    ("open_a_i_reasoning", Piece::Skip),
    ("open_a_i_compaction", Piece::Skip),
    ("tool_use", Piece::Call(CallAt { id: "/id", name: "/name", arguments: "/input" })),
    (
        "tool_result",
        Piece::Result(ResultAt {
            call: "/tool_use_id",
            name: "/none",
            output: "/content",
            failed: Some(("/is_error", "true")),
        }),
    ),
    ("image", Piece::Image("/data", "/media_type")),
];
