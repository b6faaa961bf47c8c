//! LangGraph: the documents of `RedisSaver`, as `JSON.GET` prints them.
//!
//! Redis stores a JSON document for each checkpoint, and one for each write of a task in the next step. The Python package
//! stores the complete state in `checkpoint`, with each message in the JSON form of LangChain. The JavaScript package stores
//! there only what the last step has written, and each value in a document of its own, by channel and version. `__empty__`
//! stands for an empty namespace.
//!
//! An export is one document, or a list, a map or lines of documents. A document may be a JSON text in a string, as
//! `redis-cli --json` prints it. Source: langgraph-checkpoint-redis 0.5.2 for Python
//! (<https://github.com/redis-developer/langgraph-redis>) and `@langchain/langgraph-checkpoint-redis` 1.0.11
//! (<https://github.com/langchain-ai/langgraphjs>), which wrote the stored documents. Releases for Python before 0.1 store
//! the messages as encoded bytes, which is not supported.
//!
//! RDB and AOF files are not read: the documents in them are in a form that belongs to the module RedisJSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::message::Stored;
use super::{NEWEST, Reader, Thread, WAITING, graph, send};
use crate::json::{self, text};
use crate::stores::{Look, ReadError, Store};
use crate::{Files, FormError, Message, Place, Product, Sent, Session, Trouble};

pub(crate) struct LanggraphRedis;

/// The values of [`Session::generation`], as in SQLite.
const ANY_GRAPH: &str = "Redis documents";
pub(super) const REACT_AGENT: &str = "Redis documents of an agent and its tools";
pub(super) const DEEP_AGENT: &str = "Redis documents of deepagents";

/// The value of an empty thread or namespace (`EMPTY_STRING_SENTINEL`).
const EMPTY: &str = "__empty__";

/// Maximum number of lists, maps and strings around a document. An export has at most four: a map of replies to
/// `JSON.GET KEY $`, each a list in a string.
const MAX_DEPTH: usize = 4;

impl Store for LanggraphRedis {
    fn owns(&self, look: &Look<'_>) -> bool {
        let Ok(text) = std::str::from_utf8(look.main()) else { return false };
        // Most files have none of these words.
        text.contains("checkpoint_ns")
            && text.contains("channel_versions")
            && documents(text).iter().any(|document| document.value.get("checkpoint").is_some())
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let text = std::str::from_utf8(files.main());
        let text = text.map_err(|_| FormError::Shape("not UTF-8").of(Product::LanggraphRedis))?;
        Ok(sessions(&documents(text)))
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        super::fills_open_tail(session)
    }

    fn is_written(&self, _: &Session) -> bool {
        false
    }
}

/// A document, and its place in the export.
struct Document {
    place: Place,
    value: Value,
}

impl Document {
    fn text(&self, key: &str) -> &str {
        text(&self.value, key)
    }

    fn thread(&self) -> Thread {
        let stored =
            |key: &str| Some(self.text(key)).filter(|text| *text != EMPTY).unwrap_or_default().to_owned();
        (stored("thread_id"), stored("checkpoint_ns"))
    }

    /// The place of a value in the document.
    fn at(&self, pointer: &str) -> Place {
        Place { pointer: format!("{}{pointer}", self.place.pointer), ..self.place.clone() }
    }
}

/// The documents in an export.
fn documents(export: &str) -> Vec<Document> {
    let mut found = Vec::new();
    if let Some(value) = json::parse(export.as_bytes()) {
        collect(value, Place::default(), 0, &mut found);
        return found;
    }
    for line in json::lines(export.as_bytes()) {
        if let Some(value) = json::parse(line.bytes) {
            collect(value, Place::in_line(line.n, line.span(), ""), 0, &mut found);
        }
    }
    found
}

fn collect(value: Value, place: Place, depth: usize, found: &mut Vec<Document>) {
    if is_document(&value) {
        found.push(Document { place, value });
        return;
    }
    if depth == MAX_DEPTH {
        return;
    }
    let inner = |name: &str| {
        let name = name.replace('~', "~0").replace('/', "~1");
        Place { pointer: format!("{}/{name}", place.pointer), ..place.clone() }
    };
    match value {
        Value::Array(items) => {
            for (n, item) in items.into_iter().enumerate() {
                collect(item, inner(&n.to_string()), depth + 1, found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                collect(field, inner(&name), depth + 1, found);
            }
        }
        Value::String(words) if words.starts_with(['{', '[']) => {
            if let Some(value) = json::parse(words.as_bytes()) {
                collect(value, place, depth + 1, found);
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns whether this is the document of a checkpoint, of a write, or of a value.
fn is_document(value: &Value) -> bool {
    let is_text = |key: &str| value.get(key).is_some_and(Value::is_string);
    let is_checkpoint = value.get("checkpoint").is_some_and(|inner| inner.is_object() || inner.is_string());
    ["thread_id", "checkpoint_ns", "checkpoint_id"].iter().all(|key| is_text(key))
        && (is_checkpoint || is_text("channel") && (is_text("task_id") || is_text("version")))
}

fn sessions(documents: &[Document]) -> Vec<Session> {
    let mut threads: BTreeMap<Thread, Vec<&Document>> = BTreeMap::new();
    for document in documents {
        let thread = document.thread();
        if !thread.1.contains(':') {
            threads.entry(thread).or_default().push(document);
        }
    }
    threads.into_iter().filter_map(|(thread, documents)| session(thread, &documents)).collect()
}

/// The session of a thread. `None` if its graph stores no messages, or none of its checkpoints is in the export.
fn session((name, namespace): Thread, documents: &[&Document]) -> Option<Session> {
    let is_checkpoint = |document: &&&Document| document.value.get("checkpoint").is_some();
    let checkpoints: Vec<&Document> = documents.iter().filter(is_checkpoint).copied().collect();
    let newest = checkpoints.iter().copied().max_by_key(|document| document.text("checkpoint_id"))?;
    let checkpoint = &newest.value["checkpoint"];
    let mut reader = Reader::default();
    let mut messages: Vec<Message> = Vec::new();
    match stored(newest, documents) {
        Some((document, pointer, list)) => {
            for (n, one) in list.iter().enumerate() {
                let place = document.at(&format!("{pointer}/{n}"));
                messages.extend(reader.message(Stored::of_json(one).as_ref(), place));
            }
        }
        None if checkpoint.is_string() || checkpoint.pointer("/channel_versions/messages").is_some() => {
            let words = "the messages of the newest checkpoint are not in the export".to_owned();
            reader.troubles.push(Trouble { place: newest.at("/checkpoint"), words, loses: None });
        }
        None => return None,
    }
    if reader.is_unknown {
        messages.clear();
    }
    let waits = |document: &&Document| {
        document.text("channel") == "__interrupt__"
            && document.text("checkpoint_id") == newest.text("checkpoint_id")
    };
    let nodes = checkpoint.get("versions_seen").and_then(Value::as_object);
    let nodes: Vec<&str> = nodes.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let parents = checkpoints.iter().map(|document| document.text("parent_checkpoint_id"));
    let parents: Vec<&str> = parents.filter(|id| !id.is_empty() && *id != EMPTY).collect();
    let (dialect, model) = reader.provider.map_or((None, None), |(dialect, model)| (Some(dialect), model));
    Some(Session {
        id: Some(if namespace.is_empty() { name } else { format!("{name}/{namespace}") }),
        dialect,
        model,
        messages,
        n_records: checkpoints.len(),
        n_compactions: reader.n_summaries,
        n_forks: parents.len() - parents.iter().collect::<BTreeSet<_>>().len(),
        troubles: reader.troubles,
        unknown: reader.unknown.into_iter().collect(),
        ..Session::new(
            Product::LanggraphRedis,
            generation(&nodes),
            if documents.iter().any(waits) { WAITING } else { NEWEST },
        )
    })
}

/// The messages of a checkpoint, and where they are: in its document, or in the one of their version.
fn stored<'d>(
    newest: &'d Document,
    documents: &[&'d Document],
) -> Option<(&'d Document, &'static str, &'d [Value])> {
    const INLINE: &str = "/checkpoint/channel_values/messages";
    if let Some(list) = newest.value.pointer(INLINE).and_then(whole) {
        return Some((newest, INLINE, list));
    }
    let version = newest.value.pointer("/checkpoint/channel_versions/messages")?;
    let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
    let is_its =
        |document: &&&Document| document.text("channel") == "messages" && document.text("version") == version;
    let document = documents.iter().find(is_its)?;
    Some((document, "/value", document.value.get("value").and_then(whole)?))
}

/// A list of messages. A complete value among differences has a mark around it.
fn whole(messages: &Value) -> Option<&[Value]> {
    let is_marked = messages.get("__delta_snapshot__").is_some();
    let list = if is_marked { messages.get("value")? } else { messages };
    list.as_array().map(Vec::as_slice)
}

fn generation(nodes: &[&str]) -> &'static str {
    match graph(nodes) {
        super::REACT_AGENT => REACT_AGENT,
        super::DEEP_AGENT => DEEP_AGENT,
        _ => ANY_GRAPH,
    }
}

#[cfg(test)]
mod tests {
    use brickbat_rules::histories::Block as Content;

    use super::*;
    use crate::stores::testing::Tested;
    use crate::{Verdict, read};

    const REDIS: Tested = Tested(&LanggraphRedis);

    fn checkpoint(id: &str, values: &str) -> String {
        format!(
            r#"{{"thread_id":"t1","checkpoint_ns":"__empty__","checkpoint_id":"{id}","parent_checkpoint_id":"","checkpoint":{{"v":4,"channel_values":{values},"channel_versions":{{"messages":2}},"versions_seen":{{"model":{{}}}}}}}}"#
        )
    }

    fn human(words: &str) -> String {
        format!(
            r#"{{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{{"content":"{words}","type":"human"}}}}"#
        )
    }

    fn said(file: &str) -> Vec<String> {
        let files = Files::one("export.json", file);
        assert_eq!(read(&files).unwrap()[0].product, Product::LanggraphRedis, "{file}");
        let (session, judgement) = REDIS.judged(&files);
        assert_eq!((judgement.verdict, session.id.as_deref()), (Verdict::Accepted, Some("t1")), "{file}");
        let blocks = session.messages.iter().flat_map(|message| &message.blocks);
        let texts = blocks.filter_map(|block| match &block.content {
            Content::Text(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn every_form_of_an_export_gives_the_newest_checkpoint() {
        let [old, new] = [("1", "Old."), ("2", "New.")]
            .map(|(id, words)| checkpoint(id, &format!(r#"{{"messages":[{}]}}"#, human(words))));
        let string = |text: &str| Value::from(text).to_string();
        for file in [
            new.clone(),
            format!("[{new}]"),
            format!("[{new},{old}]"),
            format!(r#"{{"checkpoint:t1:__empty__:1":{old},"checkpoint:t1:__empty__:2":[{new}]}}"#),
            format!("{old}\n{new}\n"),
            format!("{}\n{}\n", string(&format!("[{old}]")), string(&format!("[{new}]"))),
            format!(r#"[{{"key":"checkpoint:t1:__empty__:2","type":"json","value":{}}}]"#, string(&new)),
        ] {
            assert_eq!(said(&file), ["New."], "{file}");
        }
    }

    #[test]
    fn the_messages_may_be_in_a_document_of_their_own() {
        let value = format!(
            r#"{{"thread_id":"t1","checkpoint_ns":"__empty__","checkpoint_id":"1","channel":"messages","version":"2","type":"json","value":[{}]}}"#,
            human("Apart.")
        );
        assert_eq!(said(&format!("[{value},{}]", checkpoint("2", "{}"))), ["Apart."]);
        let marked =
            format!(r#"{{"messages":{{"__delta_snapshot__":true,"value":[{}]}}}}"#, human("Marked."));
        assert_eq!(said(&checkpoint("2", &marked)), ["Marked."]);
        let session = REDIS.read(&Files::one("export.json", checkpoint("2", "{}")));
        assert_eq!(session.troubles[0].words, "the messages of the newest checkpoint are not in the export");
    }

    #[test]
    fn other_documents_are_not_recognised() {
        for file in [
            r#"{"config":{"configurable":{"thread_id":"t","checkpoint_ns":"","checkpoint_id":"1"}},"channel_versions":{}}"#,
            r#"{"thread_id":"t","checkpoint_ns":"","checkpoint_id":"1","channel":"messages","task_id":"channel_versions"}"#,
        ] {
            assert!(!REDIS.0.recognises(&Files::one("export.json", file)), "{file}");
        }
    }
}
