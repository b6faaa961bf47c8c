//! Zed: the rows of `threads.db`, each a thread in JSON, packed since 2025.
//!
//! The results of a reply are in its `tool_results`, by the id of the call. Zed leaves out calls without a result when
//! it sends, and sends results without a call. Source: `DbThread` in `crates/agent/src/db.rs`, and `to_request` in
//! `crates/agent/src/thread.rs` of <https://github.com/zed-industries/zed>.

use brickbat_rules::histories::Role;
use brickbat_rules::json::Document;

use super::assembled::{Assembled, Assembly};
use super::{BASE, CallAt, Form, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::names::dialect_of;
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::codex::unpack::unpack;
use crate::stores::rows::{bytes_of, text_of};
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::Zed,
    generation: "SQLite rows",
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_zed), assemble }),
    shape: Shape::Speakers(&[
        Speaker {
            at: "/User",
            role: Saying::Is(Role::User),
            pieces: &[Piece::Parts(
                "/content",
                "/none",
                &[
                    ("Text", Piece::Text("/Text")),
                    ("Mention", Piece::Text("/Mention/content")),
                    ("Image", Piece::Skip),
                ],
            )],
        },
        Speaker {
            at: "/Agent",
            role: Saying::Is(Role::Assistant),
            pieces: &[
                Piece::Parts(
                    "/content",
                    "/none",
                    &[
                        ("Text", Piece::Text("/Text")),
                        ("Thinking", Piece::Thinking("/Thinking/text", "/Thinking/signature")),
                        ("RedactedThinking", Piece::Skip),
                        (
                            "ToolUse",
                            Piece::Call(CallAt {
                                id: "/ToolUse/id",
                                name: "/ToolUse/name",
                                arguments: "/ToolUse/input",
                            }),
                        ),
                    ],
                ),
                Piece::Results("/tool_results", RESULT),
            ],
        },
        // A thread that is continued after a limit.
        Speaker { at: "", role: Saying::When("", "Resume", "", Role::User), pieces: &[Piece::Text("")] },
        // Before version 0.3.0.
        Speaker {
            at: "",
            role: Saying::Named("/role", &[("user", Role::User), ("assistant", Role::Assistant)]),
            pieces: &[
                Piece::Parts(
                    "/segments",
                    "/type",
                    &[
                        ("text", Piece::Text("/text")),
                        ("thinking", Piece::Thinking("/text", "/signature")),
                        ("redacted_thinking", Piece::Skip),
                    ],
                ),
                Piece::Calls("/tool_uses", CallAt { id: "/id", name: "/name", arguments: "/input" }),
                Piece::Results("/tool_results", RESULT),
            ],
        },
    ]),
    model: &["/model/model"],
    sends: Sends::LeavesOutCalls,
    ..BASE
};

const RESULT: ResultAt = ResultAt {
    call: "/tool_use_id",
    name: "/tool_name",
    output: "/content",
    failed: Some(("/is_error", "true")),
};

fn is_zed(database: &Database) -> bool {
    database.has("threads", &["id", "summary", "data_type", "data"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let query = format!("SELECT rowid, id, data FROM threads ORDER BY updated_at, rowid LIMIT {MAX_ROWS}");
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut threads = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get_ref(1).map(text_of)?;
        let packed = row.get_ref(2).map(bytes_of)?.unwrap_or_default();
        threads.push(thread(id, &Place::in_row("threads", row.get(0)?, ""), &packed)?);
    }
    Ok(threads)
}

fn thread(id: String, place: &Place, packed: &[u8]) -> Result<Assembled, FormError> {
    let mut thread = Assembled { id: Some(id), generation: FORM.generation, ..Assembled::default() };
    let unpacked = unpack(packed)?;
    let Ok(document) = Document::parse(&unpacked.bytes) else {
        let words = unpacked.cut.map(str::to_owned);
        thread
            .lose(place.clone(), words.unwrap_or_else(|| crate::json::trouble(&unpacked.bytes).to_string()));
        return Ok(thread);
    };
    let root = document.root();
    let text = |at: &str| root.pointer(at).as_str().map(|text| text.into_owned()).unwrap_or_default();
    let (provider, model) = (text("/model/provider"), text("/model/model"));
    // Zed's own service offers each model in the model's own dialect, as opencode's does. The other names are those of
    // models.dev.
    let provider = if provider == "zed.dev" { "opencode" } else { provider.as_str() };
    thread.dialect = dialect_of(|names| names.opencode, provider, &model);
    thread.own = Some(format!("{{\"model\":{}}}", root.field("model").raw()));
    for (n, message) in root.field("messages").items().enumerate() {
        let pointer = format!("/messages/{n}");
        thread.records.push((Place { pointer, ..place.clone() }, message.raw().to_owned()));
    }
    Ok(thread)
}
