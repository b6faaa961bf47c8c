//! Haystack: a list of messages as `ChatMessage.to_dict` writes them.
//!
//! Source: `haystack/dataclasses/chat_message.py` of <https://github.com/deepset-ai/haystack>.

use brickbat_rules::histories::Call;
use serde_json::{Value, json};

use super::{BASE, BY_ROLE, CallAt, Form, Framing, Mark, Piece, ResultAt, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Haystack,
    generation: "JSON list",
    file: Framing::List(&["", "/messages"]),
    marks: &[Mark::Every(&["/role", "/meta", "/name", "/content/0"])],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[Piece::Parts(
            "/content",
            "/none",
            &[
                ("text", Piece::Text("/text")),
                ("reasoning", Piece::Thinking("/reasoning/reasoning_text", "/none")),
                ("tool_call", Piece::Call(CALL)),
                ("tool_call_result", Piece::Result(RESULT)),
            ],
        )],
    }]),
    model: &["/meta/model"],
    answer: Some(answer),
    ..BASE
};

const CALL: CallAt =
    CallAt { id: "/tool_call/id", name: "/tool_call/tool_name", arguments: "/tool_call/arguments" };
const RESULT: ResultAt = ResultAt {
    call: "/tool_call_result/origin/id",
    name: "/tool_call_result/origin/tool_name",
    output: "/tool_call_result/result",
    failed: Some(("/tool_call_result/error", "true")),
};

fn answer(call: &Call, words: &str) -> Value {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let origin = json!({ "tool_name": call.name, "arguments": arguments, "id": call.id, "extra": null });
    let result = json!({ "result": words, "error": true, "origin": origin });
    json!({ "role": "tool", "meta": {}, "name": null, "content": [{ "tool_call_result": result }] })
}
