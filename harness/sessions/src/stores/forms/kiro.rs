//! Kiro CLI, before Amazon Q: a conversation as `/save` exports it.
//!
//! An entry of `history` has what the user said and the reply. Source: `crates/chat-cli/src/cli/chat/message.rs` and
//! `conversation.rs` of <https://github.com/aws/amazon-q-developer-cli>.

use brickbat_rules::histories::Role;

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Kiro,
    generation: "JSON export",
    file: Framing::List(&["/history"]),
    other: Some(super::kiro_lines::LINES),
    marks: &[Mark::Root(&["/conversation_id", "/history"]), Mark::Every(&["/user", "/assistant"])],
    shape: Shape::Speakers(&[
        super::kiro_lines::SPEAKER,
        Speaker {
            at: "/user/content",
            role: Saying::Is(Role::User),
            pieces: &[
                Piece::Results("/ToolUseResults/tool_use_results", RESULT),
                Piece::Results("/CancelledToolUses/tool_use_results", RESULT),
                Piece::Text("/CancelledToolUses/prompt"),
                Piece::Text("/Prompt/prompt"),
            ],
        },
        Speaker {
            at: "/assistant",
            role: Saying::Is(Role::Assistant),
            pieces: &[
                Piece::Text("/Response/content"),
                Piece::Text("/ToolUse/content"),
                Piece::Calls("/ToolUse/tool_uses", CallAt { id: "/id", name: "/name", arguments: "/args" }),
            ],
        },
    ]),
    model: &["/model", "/model_info/model_id"],
    ..BASE
};

const RESULT: ResultAt =
    ResultAt { call: "/tool_use_id", name: "/none", output: "/content", failed: Some(("/status", "Error")) };
