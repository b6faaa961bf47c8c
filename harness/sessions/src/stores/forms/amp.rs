//! Amp: `~/.local/share/amp/threads/T-<id>.json`.
//!
//! Blocks resemble those of Anthropic, with `toolUseID` and a `run` in results. The source is closed; the form is described
//! in <https://github.com/noamsto/houston> (`docs/AMP_AGENT_SUPPORT.md`).

use brickbat_rules::histories::Role;

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Amp,
    generation: "JSON thread",
    file: Framing::List(&["/messages"]),
    marks: &[Mark::Root(&["/id", "/messages"]), Mark::Every(&["/role", "/messageId", "/content"])],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named("/role", &[("user", Role::User), ("assistant", Role::Assistant)]),
        pieces: &[Piece::Parts(
            "/content",
            "/type",
            &[
                ("text", Piece::Text("/text")),
                ("thinking", Piece::Thinking("/thinking", "/signature")),
                ("tool_use", Piece::Call(CallAt { id: "/id", name: "/name", arguments: "/input" })),
                (
                    "tool_result",
                    Piece::Result(ResultAt {
                        call: "/toolUseID",
                        name: "/none",
                        output: "/run",
                        failed: Some(("/run/status", "error")),
                    }),
                ),
            ],
        )],
    }]),
    model: &["/usage/model"],
    ..BASE
};
