//! Grok CLI, by xAI: `chat_history.jsonl` in the folder of a session.
//!
//! `synthetic_reason` marks a message that the program has added. Source, in want of xAI's own:
//! <https://github.com/jazzyalex/agent-sessions/pull/55> (141 sessions of version 1.0.0), and `src/providers/grok.rs` of
//! <https://github.com/quangdang46/cross_agent_session_resumer>, which reads and writes them.

use brickbat_rules::histories::{Call, Role};
use serde_json::{Value, json};

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::GrokCli,
    generation: "JSONL",
    file: Framing::Lines,
    marks: &[
        Mark::EveryIs(
            "/type",
            &["system", "user", "assistant", "tool_result", "reasoning", "backend_tool_call"],
        ),
        Mark::Some(&["/tool_call_id", "/prompt_index", "/model_id", "/synthetic_reason"]),
    ],
    skips: Some(("/type", &["backend_tool_call"])),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/type",
            &[
                ("system", Role::System),
                ("user", Role::User),
                ("assistant", Role::Assistant),
                ("reasoning", Role::Assistant),
                ("tool_result", Role::Tool),
            ],
        ),
        pieces: &[
            Piece::Result(ResultAt {
                call: "/tool_call_id",
                name: "/none",
                output: "/content",
                failed: None,
            }),
            Piece::Thinking("/summary/0/text", "/none"),
            Piece::Parts("/content", "/type", &[("text", Piece::Text("/text")), ("image", Piece::Skip)]),
            Piece::Calls("/tool_calls", CallAt { id: "/id", name: "/name", arguments: "/arguments" }),
        ],
    }]),
    model: &["/model_id"],
    answer: Some(answer),
    ..BASE
};

fn answer(call: &Call, words: &str) -> Value {
    json!({ "type": "tool_result", "tool_call_id": call.id, "content": words })
}
