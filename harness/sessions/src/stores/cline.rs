//! Cline, Roo and the Kilo extension: a list of Anthropic messages.
//!
//! There are two forms. `api_conversation_history.json` is a bare list. Since Cline 4.0, `<id>.messages.json`
//! is an object with the list in `messages`, and `<id>.compaction.json` next to it is sent instead of the
//! beginning. Many programs could write a bare list, so the name and the form together identify it. The list
//! is rewritten completely and not atomically, so a crash leaves only its first part. Sources:
//! `src/core/storage/disk.ts` of <https://github.com/cline/cline>, and the package `@cline/core` 0.0.86.

mod blocks;
mod send;
mod write;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::records::Record;
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::json::{self, text};
use crate::names;
use crate::{Files, FormError, Lost, Place, Product, Sent, Session, Trouble};

/// Sessions of Cline and the products derived from it.
pub(crate) struct Cline;

/// The file name of the older form.
const BARE_NAME: &str = "api_conversation_history.json";
/// The file name suffixes for the newer form and for its compaction.
const OBJECT_END: &str = ".messages.json";
const COMPACTION_END: &str = ".compaction.json";
/// The newest known version of the newer form.
const NEWEST_VERSION: u64 = 1;
/// The value of [`Session::generation`] for the older form.
const BARE: &str = "JSON list";
/// The value of [`Session::generation`] for the older form as Cline itself writes it: since 3.37 at the latest, replies
/// name their model, which no derived product copied.
const BARE_OF_CLINE: &str = "JSON list with models";
/// The value of [`Session::generation`] for the newer form.
const OBJECT: &str = "JSON object";

impl Store for Cline {
    fn owns(&self, look: &Look<'_>) -> bool {
        let files = look.files;
        // A repaired copy is next to the file, and is read under the file's name.
        let name = files.name().rsplit('/').next().unwrap_or_default().replace(".repaired.", ".");
        if name == BARE_NAME {
            return Log::read(files)
                .is_some_and(|log| log.records.iter().all(|record| is_message(&record.value)));
        }
        name.ends_with(OBJECT_END) && look.is_object(|root| is_object_form(&root.to_value()))
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let log = Log::read(files)
            .ok_or_else(|| FormError::Shape("neither a list nor an object with one").of(Product::Cline))?;
        if log.version > NEWEST_VERSION {
            let newer = FormError::Newer { unit: "version", found: log.version, newest: NEWEST_VERSION };
            return Err(newer.of(Product::Cline));
        }
        session(log, files).map(|session| vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        Some(match session.generation {
            BARE => send::WORDS_OF_RESUME,
            BARE_OF_CLINE => send::WORDS_OF_CONTEXT,
            _ => send::WORDS_OF_BUILDER,
        })
    }

    fn write(&self, files: &Files, _: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, edits)
    }
}

fn is_message(value: &Value) -> bool {
    let content = &value["content"];
    matches!(text(value, "role"), "user" | "assistant") && (content.is_string() || content.is_array())
}

fn is_object_form(value: &Value) -> bool {
    let is_text = |key: &str| value.get(key).is_some_and(Value::is_string);
    let messages = value.get("messages").and_then(Value::as_array);
    is_text("sessionId")
        && is_text("agent")
        && messages.is_some_and(|messages| messages.iter().all(is_message))
}

/// The contents of a file.
struct Log {
    generation: &'static str,
    id: Option<String>,
    version: u64,
    /// The messages, in order.
    records: Vec<Record>,
    /// The rest after the last complete message, if the file is truncated.
    cut: Option<Place>,
}

impl Log {
    fn read(files: &Files) -> Option<Log> {
        let bytes = files.main();
        let log = |generation, records| Log { generation, id: None, version: 1, records, cut: None };
        let Some(value) = json::parse(bytes) else {
            let (records, cut) = whole_items(bytes)?;
            return Some(Log { cut: Some(cut), ..log(BARE, records) });
        };
        let whole = Record { value, line: None, span: 0..bytes.len(), pointer: String::new() };
        if whole.value.is_array() {
            return Some(log(BARE, whole.items(bytes, "")));
        }
        let id = whole.value.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        let version = whole.value.get("version").and_then(Value::as_u64).unwrap_or(1);
        is_object_form(&whole.value).then(|| Log {
            id,
            version,
            ..log(OBJECT, whole.items(bytes, "/messages"))
        })
    }
}

/// The complete items of a truncated list, and the rest.
fn whole_items(bytes: &[u8]) -> Option<(Vec<Record>, Place)> {
    let skip = |at: usize, is: fn(&u8) -> bool| at + bytes[at..].iter().take_while(|byte| is(byte)).count();
    let start = skip(0, u8::is_ascii_whitespace);
    if bytes.get(start) != Some(&b'[') {
        return None;
    }
    let (mut at, mut end, mut records) = (start + 1, start + 1, Vec::new());
    loop {
        at = skip(at, |byte| byte.is_ascii_whitespace() || *byte == b',');
        let mut values = serde_json::Deserializer::from_slice(&bytes[at..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { break };
        end = at + values.byte_offset();
        records.push(Record { value, line: None, span: at..end, pointer: format!("/{}", records.len()) });
        at = end;
    }
    let rest = Place::in_file(end as u64..bytes.len() as u64, "");
    (!records.is_empty()).then_some((records, rest))
}

fn session(log: Log, files: &Files) -> Result<Session, ReadError> {
    let trouble = |place: Place| Trouble {
        place,
        words: "the list is cut: the file ends before its JSON does".to_owned(),
        loses: Some(Lost::Data("what is left of the last message")),
    };
    let mut session = Session {
        fork: fork(&log, files),
        id: log.id,
        n_records: log.records.len(),
        troubles: log.cut.into_iter().map(trouble).collect(),
        ..Session::new(Product::Cline, log.generation, "the list")
    };
    let names_model = |record: &Record| record.value.pointer("/modelInfo/modelId").is_some();
    if log.generation == BARE && session.fork.is_none() && log.records.iter().any(names_model) {
        session.generation = BARE_OF_CLINE;
    }
    let mut n_replaced = 0;
    if let Some((records, n)) =
        compaction(files).filter(|(_, n)| log.generation == OBJECT && *n <= log.records.len())
    {
        n_replaced = n;
        session.n_compactions = 1;
        for (record, file) in records {
            let mut message = blocks::message(&record)?;
            message.place.file = file;
            message.blocks.iter_mut().for_each(|block| block.place.file = file);
            session.messages.push(message);
        }
    }
    if files.ending_in("context_history.json").is_some_and(|(index, _)| index > 0) {
        session.unknown.push("edits of texts in `context_history.json`".to_owned());
    }
    let mut n_shown = 0;
    for record in &log.records {
        let message = blocks::message(record)?;
        // `displayOnly` messages are removed before anything is counted.
        let is_shown = record.value.pointer("/metadata/displayOnly") == Some(&Value::Bool(true));
        let is_sent = !is_shown && n_shown >= n_replaced;
        n_shown += usize::from(!is_shown);
        if let Some(model) = record.value.get("modelInfo") {
            session.model = model.get("id").and_then(Value::as_str).map(str::to_owned);
            session.dialect = names::dialect_of(|names| names.cline, text(model, "provider"), "");
        }
        if is_sent { session.messages.push(message) } else { session.off_branch.push(message) }
    }
    Ok(session)
}

/// The fields of messages that Roo Code and Kilo Code have (`LegacyApiMessage` in
/// `src/core/task-persistence/apiMessages.ts` of <https://github.com/RooCodeInc/Roo-Code>).
const OF_ROO: [&str; 6] =
    ["condenseId", "condenseParent", "isSummary", "isTruncationMarker", "truncationId", "truncationParent"];

/// The file with which Roo Code describes a task, next to its messages. Cline keeps `context_history.json` there.
const TASK_OF_ROO: &str = "history_item.json";

/// The fork, as far as the messages or the files next to them show one.
fn fork(log: &Log, files: &Files) -> Option<&'static str> {
    if files.ending_in(TASK_OF_ROO).is_some_and(|(index, _)| index > 0) {
        return Some("Roo Code");
    }
    let is_of_roo = |record: &Record| OF_ROO.iter().any(|key| record.value.get(key).is_some());
    log.records.iter().any(is_of_roo).then_some("Roo Code or Kilo Code")
}

/// The messages of the compaction next to the list, each with the index of its file, and the number of
/// messages that it replaces.
fn compaction(files: &Files) -> Option<(Vec<(Record, usize)>, usize)> {
    let (index, file) = files.ending_in(COMPACTION_END).filter(|(index, _)| *index > 0)?;
    let value = json::parse(&file.bytes)?;
    let n = usize::try_from(value.get("source_message_count")?.as_u64()?).ok()?;
    let whole = Record { value, line: None, span: 0..file.bytes.len(), pointer: String::new() };
    Some((whole.items(&file.bytes, "/messages").into_iter().map(|record| (record, index)).collect(), n))
}
