//! Deep Code: `~/.deepcode/projects/<project>/<session>.jsonl`, a message on each line.
//!
//! The fields of the Chat Completions API beside the content are in `messageParams`. When it sends, Deep Code puts each
//! result behind its call, answers calls without one, and leaves out the other results and what it has compacted. Source:
//! `SessionMessage`, `buildOpenAIMessages` and `pairToolMessages` in `src/session.ts` of
//! <https://github.com/lessweb/deepcode-cli>.

use brickbat_rules::Dialect;

use super::{BASE, BY_ROLE, CallAt, Form, Framing, Mark, Piece, ResultAt, Sends, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Deepcode,
    generation: "JSONL",
    file: Framing::Lines,
    marks: &[Mark::Every(&["/role", "/messageParams", "/contentParams", "/sessionId"])],
    skips: Some(("/compacted", &["true"])),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[
            Piece::Result(ResultAt {
                call: "/messageParams/tool_call_id",
                name: "/meta/function/name",
                output: "/content",
                failed: None,
            }),
            Piece::Text("/content"),
            Piece::Calls(
                "/messageParams/tool_calls",
                CallAt { id: "/id", name: "/function/name", arguments: "/function/arguments" },
            ),
        ],
    }]),
    dialect: Some(Dialect::OpenaiChat),
    sends: Sends::Pairs("Previous tool call did not complete."),
    ..BASE
};
