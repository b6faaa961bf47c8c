//! LibreChat: an export of a conversation as JSON, as a list of messages.
//!
//! A part of the type `tool_call` has the call and its output. A text is a string, or, of an assistant of OpenAI, an object
//! with the string in `value`. Source: `client/src/hooks/Conversations/useExportConversation.ts`
//! and `packages/data-provider/src/types/assistants.ts` of <https://github.com/danny-avila/LibreChat>.

use brickbat_rules::histories::Role;

use super::{CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Sends, Shape, Speaker, Tree};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Librechat,
    generation: "export",
    file: Framing::List(&["/messages"]),
    other: None,
    marks: &[Mark::Root(&["/conversationId"]), Mark::Every(&["/messageId", "/isCreatedByUser"])],
    skips: None,
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Flag("/isCreatedByUser", Role::User, Role::Assistant),
        pieces: PIECES,
    }]),
    dialect: None,
    model: &["/options/model", "/model"],
    among: None,
    tree: Some(Tree { id: "/messageId", parent: "/parentMessageId", current: &[] }),
    sends: Sends::AsStored,
    answer: None,
    finish: None,
};

const PIECES: &[Piece] = &[
    Piece::Text("/text"),
    Piece::Parts(
        "/content",
        "/type",
        &[
            ("text", Piece::Text("/text")),
            ("think", Piece::Thinking("/think", "/none")),
            ("error", Piece::Skip),
            ("agent_update", Piece::Skip),
            ("image_file", Piece::Skip),
            ("image_url", Piece::Skip),
            (
                "tool_call",
                Piece::Both(
                    CallAt { id: "/tool_call/id", name: "/tool_call/name", arguments: "/tool_call/args" },
                    ResultAt {
                        call: "/tool_call/id",
                        name: "/tool_call/name",
                        output: "/tool_call/output",
                        failed: None,
                    },
                ),
            ),
        ],
    ),
];
