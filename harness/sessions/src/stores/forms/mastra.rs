//! Mastra: the rows of `mastra_messages` in LibSQL, and of other stores with the same table.
//!
//! A message has the parts of a UI message. Mastra leaves out calls without a result when it sends, as a run of
//! version 1.71.0 shows. Source: `stores/libsql/src/storage/domains/memory/index.ts` of
//! <https://github.com/mastra-ai/mastra>, and rows that this version wrote.

use brickbat_rules::histories::Role;
use brickbat_rules::json::Document;

use super::assembled::{Assembled, Assembly};
use super::rows::Table;
use super::{BASE, CallAt, Form, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::names::dialect_of;
use crate::sqlite::Database;
use crate::{Files, FormError, Product};

pub(crate) const FORM: Form = Form {
    product: Product::Mastra,
    generation: "SQLite rows",
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_mastra), assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)],
        ),
        pieces: &[Piece::Parts("/content/parts", "/type", PARTS)],
    }]),
    model: &["/content/metadata/modelId"],
    sends: Sends::LeavesOutCalls,
    ..BASE
};

const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    ("reasoning", Piece::Thinking("/details/0/text", "/details/0/signature")),
    ("step-start", Piece::Skip),
    ("file", Piece::Skip),
    ("source", Piece::Skip),
    (
        "tool-invocation",
        Piece::Both(
            CallAt {
                id: "/toolInvocation/toolCallId",
                name: "/toolInvocation/toolName",
                arguments: "/toolInvocation/args",
            },
            ResultAt {
                call: "/toolInvocation/toolCallId",
                name: "/toolInvocation/toolName",
                output: "/toolInvocation/result",
                failed: None,
            },
        ),
    ),
];

const MESSAGES: Table = Table {
    name: "mastra_messages",
    session: "thread_id",
    order: "\"createdAt\", rowid",
    only: None,
    texts: &["role"],
    json: "content",
};

fn is_mastra(database: &Database) -> bool {
    MESSAGES.is_in(database)
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let mut sessions = MESSAGES.sessions(&database, FORM.generation)?;
    for session in &mut sessions {
        session.dialect = session.records.iter().rev().find_map(|(_, text)| {
            let document = Document::parse(text.as_bytes()).ok()?;
            let provider = document.root().pointer("/content/metadata/provider").as_str()?.into_owned();
            dialect_of(|names| names.ai_sdk, provider.split('.').next()?, "")
        });
    }
    Ok(sessions)
}
