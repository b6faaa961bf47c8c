//! VS Code chat: `chatSessions/<id>.json`, and since 1.109 a log of changes.
//!
//! A request has what the user said and, in `result.metadata`, the rounds of calls and their results by id. Source:
//! `src/vs/workbench/contrib/chat/common/model/chatModel.ts` of <https://github.com/microsoft/vscode>, and
//! `src/extension/prompt/common/toolCallRound.ts` of <https://github.com/microsoft/vscode-copilot-chat>.

use brickbat_rules::histories::Role;

use super::assembled::Assembly;
use super::{BASE, CallAt, Form, Framing, Mark, Piece, Saying, Shape, Speaker, vscode_log};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::VscodeChat,
    generation: "JSON file",
    file: Framing::List(&["/requests"]),
    other: Some(Assembly { owns: vscode_log::is_log, assemble: vscode_log::assemble }),
    // An exported chat has no `version`.
    marks: &[Mark::Root(&["/requests"]), Mark::Every(&["/requestId", "/message"])],
    shape: Shape::Speakers(&[
        Speaker { at: "/message", role: Saying::Is(Role::User), pieces: &[Piece::Text("/text")] },
        Speaker {
            at: "/result/metadata/toolCallRounds/*",
            role: Saying::Is(Role::Assistant),
            pieces: &[
                Piece::Text("/response"),
                Piece::Calls("/toolCalls", CallAt { id: "/id", name: "/name", arguments: "/arguments" }),
                Piece::ResultsOf("/toolCalls", "/id", "/result/metadata/toolCallResults", "/content"),
            ],
        },
    ]),
    model: &["/modelId"],
    ..BASE
};
