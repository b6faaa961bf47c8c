//! AutoGen: the state of an `AssistantAgent`, as `save_state` returns it.
//!
//! Source: `autogen_core/models/_types.py` and `autogen_agentchat/state/_states.py` of
//! <https://github.com/microsoft/autogen>.

use brickbat_rules::histories::{Call, Role};
use serde_json::{Value, json};

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Autogen,
    generation: "agent state",
    file: Framing::List(&["/llm_context/messages", "/agent_state/llm_context/messages"]),
    marks: &[Mark::EveryIs(
        "/type",
        &["SystemMessage", "UserMessage", "AssistantMessage", "FunctionExecutionResultMessage"],
    )],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/type",
            &[
                ("SystemMessage", Role::System),
                ("UserMessage", Role::User),
                ("AssistantMessage", Role::Assistant),
                ("FunctionExecutionResultMessage", Role::Tool),
            ],
        ),
        pieces: &[
            Piece::Text("/content"),
            Piece::Calls("/content", CallAt { id: "/id", name: "/name", arguments: "/arguments" }),
            Piece::Results("/content", RESULT),
        ],
    }]),
    answer: Some(answer),
    ..BASE
};

const RESULT: ResultAt =
    ResultAt { call: "/call_id", name: "/name", output: "/content", failed: Some(("/is_error", "true")) };

fn answer(call: &Call, words: &str) -> Value {
    let result = json!({ "content": words, "name": call.name, "call_id": call.id, "is_error": true });
    json!({ "content": [result], "type": "FunctionExecutionResultMessage" })
}
