//! Codewhale, formerly DeepSeek TUI: `~/.codewhale/sessions/<session>.json`.
//!
//! `messages` has the branch that is sent; since 0.9.5 a journal of all branches is beside it, from which Codewhale derives
//! `messages`, so an edit there would not last. Source: `SavedSession` in `crates/tui/src/session_manager.rs` and
//! `ContentBlock` in `crates/protocol/src/request.rs` of <https://github.com/Hmbown/Codewhale>.

use brickbat_rules::histories::Role;

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Codewhale,
    generation: "JSON file",
    file: Framing::List(&["/messages"]),
    marks: &[
        Mark::Root(&["/schema_version", "/metadata/message_count", "/metadata/workspace", "/metadata/model"]),
        Mark::Every(&["/role", "/content"]),
    ],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[
                ("system", Role::System),
                ("developer", Role::System),
                ("user", Role::User),
                ("assistant", Role::Assistant),
                ("assistant_interrupted", Role::Assistant),
            ],
        ),
        pieces: &[Piece::Parts("/content", "/type", PARTS)],
    }]),
    model: &["/metadata/model"],
    ..BASE
};

const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    ("image_url", Piece::Skip),
    ("thinking", Piece::Thinking("/thinking", "/signature")),
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
    ("server_tool_use", Piece::Skip),
    ("tool_search_tool_result", Piece::Skip),
    ("code_execution_tool_result", Piece::Skip),
];
