//! LibreChat: an export of a conversation as JSON, as a list of messages, or as a tree of them in `messagesTree`, which is
//! the default.
//!
//! A part of the type `tool_call` has the call and its output. A text is a string, or, of an assistant of OpenAI, an object
//! with the string in `value`. Source: `client/src/hooks/Conversations/useExportConversation.ts`
//! and `packages/data-provider/src/types/assistants.ts` of <https://github.com/danny-avila/LibreChat>.

use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};

use super::assembled::{Assembled, Assembly};
use super::read::listed;
use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker, Tree};
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::Librechat,
    generation: "export",
    file: Framing::List(&["/messages"]),
    other: Some(Assembly { owns: |look| look.is_whole(is_tree), assemble }),
    marks: &[Mark::Root(&["/conversationId"]), Mark::Every(&["/messageId", "/isCreatedByUser"])],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Flag("/isCreatedByUser", Role::User, Role::Assistant),
        pieces: PIECES,
    }]),
    model: &["/options/model", "/model"],
    tree: Some(Tree { id: "/messageId", parent: "/parentMessageId", current: &[] }),
    ..BASE
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

const TREE: &str = "/messagesTree";

fn is_tree(root: Json<'_, '_>) -> bool {
    let first = root.pointer(TREE).item(0);
    root.field("conversationId").is_str()
        && first.get("messageId").is_some()
        && first.get("children").is_some()
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let root = document.root();
    let mut records = Vec::new();
    // Each message comes before its answers, and the last answers come last.
    let mut open: Vec<(String, Json<'_, '_>)> = listed(root.pointer(TREE), TREE).into_iter().rev().collect();
    while let Some((at, message)) = open.pop() {
        let children = message.field("children");
        open.extend(listed(children, &format!("{at}/children")).into_iter().rev());
        let span = message.span();
        let place = Place::in_file(span.start as u64..span.end as u64, at);
        // The answers in it are records of their own.
        let own = message.fields().filter(|(name, _)| !name.is("children"));
        let own: Vec<String> = own.map(|(name, value)| format!("{}:{}", name.raw(), value.raw())).collect();
        records.push((place, format!("{{{}}}", own.join(","))));
    }
    let options = format!("{{\"options\":{}}}", root.get("options").map_or("null", |options| options.raw()));
    Ok(vec![Assembled { generation: FORM.generation, own: Some(options), records, ..Assembled::default() }])
}
