//! SWE-agent: the `history` of a trajectory (`.traj`).
//!
//! Source: `HistoryItem` in `sweagent/types.py` of <https://github.com/SWE-agent/SWE-agent>. A history without function
//! calls has the commands in the texts.

use brickbat_rules::histories::{Call, Role};
use serde_json::{Value, json};

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::SweAgent,
    generation: "trajectory",
    file: Framing::List(&["/history"]),
    marks: &[Mark::Root(&["/trajectory", "/info"]), Mark::Every(&["/role", "/content"])],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named("/role", ROLES),
        pieces: &[
            Piece::Parts(
                "/thinking_blocks",
                "/type",
                &[("thinking", Piece::Thinking("/thinking", "/signature"))],
            ),
            Piece::Result(ResultAt {
                call: "/tool_call_ids/0",
                name: "/none",
                output: "/content",
                failed: None,
            }),
            Piece::Text("/content"),
            Piece::Calls(
                "/tool_calls",
                CallAt { id: "/id", name: "/function/name", arguments: "/function/arguments" },
            ),
        ],
    }]),
    model: &["/replay_config/agent/model/name"],
    answer: Some(answer),
    ..BASE
};

const ROLES: &[(&str, Role)] =
    &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool)];

fn answer(call: &Call, words: &str) -> Value {
    json!({
        "role": "tool", "content": words, "agent": "main", "message_type": "observation",
        "tool_call_ids": [call.id],
    })
}
