//! LiveKit Agents: the `items` of a `ChatContext`, as `to_dict` returns them.
//!
//! Since 1.0 the SDK leaves out calls without an output, and outputs without a call, when it asks a provider. Source:
//! `livekit-agents/livekit/agents/llm/chat_context.py` and `_provider_format/utils.py` of version 1.8.9, which wrote a
//! stored session, and <https://github.com/livekit/agents/issues/5092>, in which an older version sent a call
//! without its output to Responses.

use brickbat_rules::histories::Role;

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Livekit,
    generation: "chat context",
    file: Framing::List(&["/items", "/chat_history/items"]),
    marks: &[Mark::Every(&["/id"]), Mark::EveryIs("/type", TYPES), Mark::Some(&["/interrupted"])],
    skips: Some(("/type", &["agent_handoff", "agent_config_update"])),
    shape: Shape::Speakers(&[
        Speaker {
            at: "",
            role: Saying::Named(
                "/role",
                &[
                    ("system", Role::System),
                    ("developer", Role::System),
                    ("user", Role::User),
                    ("assistant", Role::Assistant),
                ],
            ),
            pieces: &[Piece::Text("/content")],
        },
        Speaker {
            at: "",
            role: Saying::When("/type", "function_call", "/call_id", Role::Assistant),
            pieces: &[Piece::Call(CallAt { id: "/call_id", name: "/name", arguments: "/arguments" })],
        },
        Speaker {
            at: "",
            role: Saying::When("/type", "function_call_output", "/call_id", Role::Tool),
            pieces: &[Piece::Result(ResultAt {
                call: "/call_id",
                name: "/name",
                output: "/output",
                failed: Some(("/is_error", "true")),
            })],
        },
    ]),
    sends: Sends::LeavesOut,
    finish: Some(grouped),
    ..BASE
};

const TYPES: &[&str] =
    &["message", "function_call", "function_call_output", "agent_handoff", "agent_config_update"];

/// Puts consecutive items of the model into one message, and each output behind the calls of its group, as
/// `group_tool_calls` does.
fn grouped(session: &mut crate::Session) {
    let mut grouped: Vec<crate::Message> = Vec::new();
    let mut results: Vec<crate::Message> = Vec::new();
    for message in std::mem::take(&mut session.messages) {
        if message.role == Role::Tool {
            results.push(message);
            continue;
        }
        let has_call = message.calls().next().is_some();
        match grouped.last_mut() {
            Some(last) if has_call && last.role == Role::Assistant => last.blocks.extend(message.blocks),
            _ => grouped.push(message),
        }
    }
    for message in grouped {
        let own: Vec<String> = message.calls().map(|call| call.id.clone()).collect();
        session.messages.push(message);
        let is_own = |result: &crate::Message| result.results().any(|result| own.contains(&result.call));
        let (mine, others) = std::mem::take(&mut results).into_iter().partition(is_own);
        session.messages.extend::<Vec<_>>(mine);
        results = others;
    }
    session.messages.extend(results);
}
