//! Microsoft Agent Framework: the messages of a serialised thread.
//!
//! Source: `python/packages/core/agent_framework/_types.py` of <https://github.com/microsoft/agent-framework>.

use brickbat_rules::histories::Role;

use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::AgentFramework,
    generation: "JSON list",
    file: Framing::List(&[
        "/messages",
        "/chat_message_store_state/messages",
        "/state/in_memory/messages",
        "",
    ]),
    other: Some(super::agent_framework_dotnet::SESSION),
    marks: &[Mark::Every(&["/role", "/contents"])],
    shape: Shape::Speakers(&[
        Speaker { at: "", role: Saying::Named("/role", ROLES), pieces: PIECES },
        Speaker { at: "", role: Saying::Named("/role/value", ROLES), pieces: PIECES },
    ]),
    ..BASE
};

const ROLES: &[(&str, Role)] =
    &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool)];

const PIECES: &[Piece] = &[Piece::Parts(
    "/contents",
    "/type",
    &[
        ("text", Piece::Text("/text")),
        ("text_reasoning", Piece::Thinking("/text", "/none")),
        ("function_call", Piece::Call(CallAt { id: "/call_id", name: "/name", arguments: "/arguments" })),
        ("function_result", Piece::Result(RESULT)),
        // Content of .NET that the client handles before it sends.
        ("toolApprovalRequest", Piece::Skip),
        ("toolApprovalResponse", Piece::Skip),
        ("functionApprovalRequest", Piece::Skip),
        ("functionApprovalResponse", Piece::Skip),
        ("usage", Piece::Skip),
        ("data", Piece::Skip),
        ("uri", Piece::Skip),
    ],
)];

const RESULT: ResultAt = ResultAt { call: "/call_id", name: "/none", output: "/result", failed: None };
