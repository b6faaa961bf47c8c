//! Continue: `~/.continue/sessions/<id>.json`.
//!
//! The results of a reply are in its `toolCallStates`. When it sends, Continue answers a call without an output with
//! `Tool cancelled`. Source: `core/util/history.ts` and `core/util/messageConversion.ts` of
//! <https://github.com/continuedev/continue>.

use brickbat_rules::histories::Role;

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Continue,
    generation: "JSON file",
    file: Framing::List(&["/history"]),
    marks: &[Mark::Root(&["/sessionId", "/history"]), Mark::Every(&["/message/role"])],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/message/role",
            &[
                ("system", Role::System),
                ("user", Role::User),
                ("assistant", Role::Assistant),
                ("thinking", Role::Assistant),
                ("tool", Role::Tool),
            ],
        ),
        pieces: &[
            Piece::Result(ResultAt {
                call: "/message/toolCallId",
                name: "/none",
                output: "/message/content",
                failed: None,
            }),
            Piece::Text("/message/content"),
            Piece::Calls(
                "/message/toolCalls",
                CallAt { id: "/id", name: "/function/name", arguments: "/function/arguments" },
            ),
            Piece::Results(
                "/toolCallStates",
                ResultAt {
                    call: "/toolCallId",
                    name: "/toolCall/function/name",
                    output: "/output",
                    failed: Some(("/status", "errored")),
                },
            ),
        ],
    }]),
    model: &["/chatModelTitle"],
    sends: Sends::Fills("Tool cancelled"),
    ..BASE
};
