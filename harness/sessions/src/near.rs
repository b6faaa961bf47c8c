//! The products with stores like a file, and the parts that the file lacks.
//!
//! Somebody who gives a file of an unknown form has trimmed it, wrapped it, or has a product that is not read.

use std::fmt;

use brickbat_rules::json::{Document, Json};

use crate::json::lines;
use crate::stores::near_forms;
use crate::{Files, Product};

/// A product with a store like the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// The product.
    pub product: Product,
    /// The parts of its files that this one lacks.
    pub missing: Vec<String>,
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missing.is_empty() {
            true => write!(f, "{}", self.product),
            false => write!(f, "{} (without {})", self.product, self.missing.join(", ")),
        }
    }
}

/// The number of products that are named.
const MAX_NEAR: usize = 3;
/// The number of missing parts that are named for each product.
const MAX_MISSING: usize = 3;
/// The number of records that are examined.
const MAX_RECORDS: usize = 32;

/// The unit in which a product stores records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Line,
    Item,
    File,
}

/// The fields of the records of products that are recognised by code.
const FIELDS: &[(Product, Unit, &[&str])] = &[
    (
        Product::ClaudeCode,
        Unit::Line,
        &["uuid", "parentUuid", "sessionId", "message/role", "message/content"],
    ),
    (Product::QwenCode, Unit::Line, &["uuid", "parentUuid", "sessionId", "message/parts"]),
    (Product::Codex, Unit::Line, &["timestamp", "type", "payload/type"]),
    (Product::VscodeChat, Unit::Line, &["kind", "k", "v", "v/requests"]),
    (Product::KimiCode, Unit::Line, &["protocol_version", "type", "message/role", "event/type", "time"]),
    (Product::DeepseekHarness, Unit::Line, &["type", "seq", "time", "data/turn", "surfaceOp"]),
    (Product::Pi, Unit::Line, &["type", "id", "parentId", "message/role"]),
    (Product::CopilotCli, Unit::Line, &["type", "id", "timestamp", "parentId", "data"]),
    (Product::AiSdkUiMessages, Unit::Item, &["id", "role", "parts/0/type"]),
    (Product::AiSdkModelMessages, Unit::Item, &["role", "content/0/type", "content/0/toolCallId"]),
    (Product::PydanticAi, Unit::Item, &["kind", "parts/0/part_kind"]),
    (Product::AiSdkUiChunks, Unit::Item, &["type", "toolCallId", "toolName", "delta"]),
    (Product::AiSdkUiChunks, Unit::Line, &["type", "toolCallId", "toolName", "delta"]),
    (Product::Kiro, Unit::Line, &["version", "kind", "data/message_id", "data/content/0/kind"]),
    (Product::Sillytavern, Unit::Line, &["chat_metadata", "mes", "is_user", "send_date"]),
    (
        Product::LmStudio,
        Unit::File,
        &["messages/0/versions", "messages/0/currentlySelected", "lastUsedModel", "perChatPredictionConfig"],
    ),
    (Product::SemanticKernel, Unit::Item, &["Role/Label", "Items/0/$type"]),
    (
        Product::AgentFramework,
        Unit::File,
        &[
            "stateBag/InMemoryChatHistoryProvider/messages/0/role",
            "stateBag/InMemoryChatHistoryProvider/messages/0/contents/0/$type",
        ],
    ),
    (
        Product::Twenty,
        Unit::File,
        &["agentChatThread", "agentTurn", "agentMessage/0/role", "agentMessagePart/0/id"],
    ),
    (
        Product::LanggraphRedis,
        Unit::Line,
        &["thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint/channel_values"],
    ),
    (
        Product::LanggraphRedis,
        Unit::Item,
        &["thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint/channel_values"],
    ),
    (Product::N8n, Unit::Item, &["session_id", "message/type", "message/content"]),
    (Product::Tanstack, Unit::Item, &["id", "role", "parts/0/type", "parts/0/content"]),
    (
        Product::Tunacode,
        Unit::File,
        &["session_id", "current_model", "messages/0/kind", "messages/0/parts/0/part_kind"],
    ),
    (Product::AgUiMessages, Unit::Item, &["id", "role", "content"]),
    (Product::AgUiEvents, Unit::Item, &["type", "messageId", "toolCallId"]),
    (Product::GeminiCli, Unit::Line, &["sessionId", "projectHash", "kind", "toolCalls"]),
    (Product::GeminiCli, Unit::File, &["sessionId", "projectHash", "messages/0/type"]),
    (Product::Opencode, Unit::File, &["info/id", "messages/0/info", "messages/0/parts"]),
    (Product::Goose, Unit::Line, &["role", "created", "content/0/type", "content/0/toolCall"]),
    (Product::Goose, Unit::File, &["id", "working_dir", "conversation/0/content"]),
    (Product::Cline, Unit::Item, &["role", "content/0/type", "content/0/text", "ts"]),
    (Product::Cline, Unit::File, &["sessionId", "agent", "messages/0/role"]),
    (
        Product::Agentscope,
        Unit::File,
        &["agent/memory/content/0/0/role", "agent/memory/content/0/0/content", "agent/memory/content/0/1"],
    ),
    (
        Product::Agentscope,
        Unit::File,
        &["session_id", "context/0/role", "context/0/content/0/type", "summary"],
    ),
    (Product::Request, Unit::File, &["model", "messages/0/role", "messages/0/content"]),
];

/// The products with stores most like this file.
pub fn nearest(files: &Files) -> Vec<Near> {
    let document = Document::parse(files.main()).ok();
    let parsed: Vec<Document<'_>> = match &document {
        Some(_) => Vec::new(),
        None => {
            let head = lines(files.main()).take(MAX_RECORDS);
            head.filter_map(|line| Document::parse(line.bytes).ok()).collect()
        }
    };
    let records: Vec<Json<'_, '_>> = parsed.iter().map(Document::root).collect();
    let root = document.as_ref().map(Document::root);
    let of = |unit: Unit| -> Vec<Json<'_, '_>> {
        match (unit, root) {
            (Unit::Line, None) => records.clone(),
            (Unit::Item, Some(root)) => root.items().take(MAX_RECORDS).collect(),
            (Unit::File, Some(root)) if root.is_object() => vec![root],
            (Unit::Line, Some(root)) if root.is_object() => vec![root],
            _ => Vec::new(),
        }
    };
    let mut near: Vec<(usize, usize, Near)> = Vec::new();
    for (product, unit, fields) in FIELDS {
        let records = of(*unit);
        let has = |field: &&&str| {
            let pointer = format!("/{field}");
            records.iter().any(|record| !record.pointer(&pointer).span().is_empty())
        };
        let n = fields.iter().filter(has).count();
        let missing = fields.iter().filter(|field| !has(field)).map(|field| format!("`{field}`"));
        near.push((n, fields.len(), Near { product: *product, missing: missing.collect() }));
    }
    near.extend(
        near_forms(files).into_iter().map(|(n, of, product, missing)| (n, of, Near { product, missing })),
    );
    // One field of several is in too many files.
    near.retain(|(n, of, _)| (*n > 1 || *of == 1) && 3 * n >= 2 * of);
    near.sort_by_key(|(n, of, own)| (std::cmp::Reverse(100 * n / of), std::cmp::Reverse(*n), own.product));
    let cut = |(_, _, mut own): (usize, usize, Near)| {
        own.missing.truncate(MAX_MISSING);
        own
    };
    near.into_iter().take(MAX_NEAR).map(cut).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn named(text: &str) -> Vec<String> {
        nearest(&Files::one("x.jsonl", text)).iter().map(Near::to_string).collect()
    }

    #[test]
    fn a_trimmed_file_names_its_product_and_what_is_missing() {
        let claude =
            r#"{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"Look."}}"#;
        assert_eq!(named(claude)[0], "Claude Code (without `parentUuid`)");
        let lines = format!("{claude}\n{claude}");
        assert_eq!(named(&lines)[0], "Claude Code (without `parentUuid`)");
        let ui = r#"[{"role":"user","parts":[{"type":"text","text":"Look."}]}]"#;
        assert_eq!(named(ui)[0], "AI SDK UI messages (without `id`)");
        let window = r#"[{"id":"c","toolName":"find","text":"1","type":"TOOL_RESULT"}]"#;
        assert_eq!(named(window), Vec::<String>::new());
        let chat = r#"{"history":[{"message":{"role":"user","content":"Look."}}]}"#;
        assert_eq!(named(chat)[0], "Continue (without `sessionId`)");
    }

    /// The first stored session of a product in the corpus, if it is not in a database.
    #[expect(clippy::disallowed_methods, reason = "a test may read the stored sessions")]
    fn stored(product: Product) -> Option<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/sessions");
        let entries = std::fs::read_dir(root.join(product.id())).ok()?;
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let has = |end: &str| files.iter().find(|path| path.extension().is_some_and(|it| it == end));
        Some(std::fs::read_to_string(has("jsonl").or_else(|| has("json"))?).unwrap())
    }

    #[test]
    fn the_store_of_each_product_is_like_itself() {
        let (mut n_asked, mut others) = (0, Vec::new());
        for product in Product::ALL {
            let Some(text) = stored(*product) else { continue };
            n_asked += 1;
            // Mistral Vibe is known by this name.
            let name = if *product == Product::MistralVibe { "messages.jsonl" } else { "x.json" };
            let near = nearest(&Files::one(name, text));
            if near.iter().all(|near| near.product != *product) {
                others.push(format!("{product}: {near:?}"));
            }
        }
        assert!(others.is_empty(), "{}", others.join("\n"));
        assert!(n_asked > 30, "{n_asked}");
    }

    #[test]
    fn other_files_name_none_and_never_panic() {
        for text in ["", "{}", "[]", "no JSON", "[[[[", "{\"a\":1}\n{\"b\":2}", "\u{0}\u{0}"] {
            assert_eq!(named(text), Vec::<String>::new(), "{text}");
        }
        assert!(named(&"[".repeat(20_000)).is_empty());
    }
}
