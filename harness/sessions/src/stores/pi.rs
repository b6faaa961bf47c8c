//! pi, and products that share its format: OpenClaw, oh-my-pi. The form is a JSONL tree of `id` and
//! `parentId`, versions 1 to 3.
//!
//! The last line is the leaf. A compaction replaces everything before it, except the messages that it keeps:
//! the lines from `firstKeptEntryId` on, or the messages in its own `retainedTail`. Source:
//! `docs/session-format.md` and `src/core/session-manager.ts` in the package
//! `@earendil-works/pi-coding-agent` 0.74.2, <https://github.com/earendil-works/pi-mono>.
//!
//! oh-my-pi puts a line with the title before the header, names a changed model in one field, and has lines of its own:
//! `src/session/session-entries.ts` in the package `@oh-my-pi/pi-coding-agent` 18.3.4,
//! <https://github.com/can1357/oh-my-pi>.

mod blocks;
#[cfg(feature = "sqlite")]
mod database;
mod omp;
mod send;
mod write;

#[cfg(test)]
mod tests;

use brickbat_rules::Dialect;
use brickbat_rules::histories::Role;
use serde_json::{Value, json};

use super::records::{self, Record};
use super::tree::{Keys, Tree, Which};
use super::{Edit, Look, ReadError, Store, WriteError, read_only};
use crate::json::text;
use crate::names;
use crate::{Ending, Files, FormError, Message, Product, RecordedRefusal, Sent, Session, Trouble};
use blocks::Model;

pub(crate) struct Pi;

/// The newest known version of the form.
const NEWEST_VERSION: u64 = 3;
/// See [`Session::generation`].
const TREE: &str = "JSONL tree";
const KEYS: Keys = Keys { id: "id", parent: "parentId" };
/// The field in which a compaction names the first line that it keeps.
const FIRST_KEPT: &str = "firstKeptEntryId";

/// The beginning of the results that OpenClaw makes up, and the number of bytes in which it is searched.
const OWN_MARK: &[u8] = b"[openclaw]";
const MAX_MARKED: usize = 1 << 20;

impl Store for Pi {
    fn owns(&self, look: &Look<'_>) -> bool {
        #[cfg(feature = "sqlite")]
        if look.database().is_some_and(database::is_one) {
            return true;
        }
        look.is_headed(|line| match line.field("type") {
            kind if kind.is("session") => is_header(&line.to_value()),
            kind => kind.is("title") && omp::is_title(&line.to_value()),
        })
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        #[cfg(feature = "sqlite")]
        if Look::of(files).database().is_some_and(database::is_one) {
            return database::read(files);
        }
        let log = Log::read(files.main())?;
        session(&log, files.main()).map(|session| vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        if session.fork == Some(omp::NAME) { omp::send(session) } else { send::send(session) }
    }

    /// A failed or stopped reply is not sent, nor are its calls.
    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        if session.fork == Some(omp::NAME) {
            return Some("leaves them out");
        }
        let last = session.messages.iter().rfind(|message| message.role == Role::Assistant)?;
        (last.ending == Ending::Whole).then_some("answers them with `No result provided`")
    }

    fn is_written(&self, session: &Session) -> bool {
        session.generation == TREE
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        if !self.is_written(session) {
            return Err(read_only(session, edits));
        }
        write::write(files, edits)
    }
}

fn is_header(value: &Value) -> bool {
    let is_text = |key: &str| value.get(key).is_some_and(Value::is_string);
    text(value, "type") == "session" && is_text("id") && is_text("timestamp") && is_text("cwd")
}

/// The contents of a file.
struct Log {
    id: Option<String>,
    /// The working directory of the session.
    folder: String,
    version: u64,
    n_records: usize,
    tree: Tree,
    troubles: Vec<Trouble>,
    /// The fork that wrote the lines, if they show one.
    fork: Option<&'static str>,
}

impl Log {
    fn read(bytes: &[u8]) -> Result<Log, ReadError> {
        let (mut records, troubles) = records::of_lines(bytes);
        let n_records = records.len();
        let fork = omp::wrote(&records).then_some(omp::NAME);
        let n_titles = usize::from(records.first().is_some_and(|record| omp::is_title(&record.value)));
        let header = records.get(n_titles).filter(|record| is_header(&record.value));
        let header =
            header.ok_or_else(|| FormError::Shape("the first line is not a header").of(Product::Pi))?;
        let version = header.value.get("version").and_then(Value::as_u64).unwrap_or(1);
        if version > NEWEST_VERSION {
            let newer = FormError::Newer { unit: "version", found: version, newest: NEWEST_VERSION };
            return Err(newer.of(Product::Pi));
        }
        let id = Some(header.text("id").to_owned());
        let folder = header.text("cwd").to_owned();
        records.retain(|record| !matches!(record.text("type"), "session" | "title"));
        if version < 2 {
            chain(&mut records);
        }
        let tree = Tree::of(records, KEYS, Which::Last);
        Ok(Log { id, folder, version, n_records, tree, troubles, fork })
    }
}

/// Links the lines of version 1, which has no ids: each line follows the one before it (`migrateV1ToV2`).
fn chain(records: &mut [Record]) {
    let mut parent = Value::Null;
    for record in records.iter_mut().filter(|record| record.value.is_object()) {
        let id = json!(format!("line {}", record.line.unwrap_or_default()));
        record.value[KEYS.id] = id.clone();
        record.value[KEYS.parent] = std::mem::replace(&mut parent, id);
    }
}

fn session(log: &Log, bytes: &[u8]) -> Result<Session, ReadError> {
    let path: Vec<&Record> = log.tree.path.iter().filter_map(|id| log.tree.lines(id).next_back()).collect();
    let model = Model::of_branch(&path);
    let mut session = Session {
        id: log.id.clone(),
        dialect: model.dialect,
        model: model.id.clone(),
        n_records: log.n_records,
        n_compactions: path.iter().filter(|record| record.text("type") == "compaction").count(),
        n_forks: log.tree.n_forks,
        troubles: [log.troubles.as_slice(), &log.tree.troubles].concat(),
        cut: log.tree.cut.clone(),
        ..Session::new(Product::Pi, TREE, "the last line and its parents")
    };
    session.refused = refused(&path);
    let marks_itself = |bytes: &[u8]| bytes.windows(OWN_MARK.len()).any(|own| own == OWN_MARK);
    session.fork = log
        .fork
        .or_else(|| Product::Pi.fork_at(&log.folder))
        .or_else(|| marks_itself(&bytes[..bytes.len().min(MAX_MARKED)]).then_some("OpenClaw"));
    let last = |kind| path.iter().rposition(|record| record.text("type") == kind);
    let reset = last(omp::RESET);
    let compaction = last("compaction").filter(|at| reset.is_none_or(|reset| reset < *at));
    let mut first = reset.map_or(0, |reset| reset + 1);
    if let Some(at) = compaction {
        session.messages.extend(messages(path[at], &model)?);
        let tail = path[at].items(bytes, "/retainedTail");
        let kept = path[at].text(FIRST_KEPT);
        first = path[..at].iter().position(|record| record.text(KEYS.id) == kept).unwrap_or(at);
        if !tail.is_empty() {
            first = at;
            for record in &tail {
                session.messages.extend(blocks::message(record, "", record.text("id"), &model)?);
            }
        } else if first == at && !kept.is_empty() && log.version > 1 {
            let words = "the first line that a compaction keeps is not on the branch".to_owned();
            session.troubles.push(Trouble { place: path[at].place(""), words, loses: None });
        }
    }
    for (n, record) in path.iter().enumerate() {
        if Some(n) == compaction {
            continue;
        }
        let own = messages(record, &model)?;
        if own.is_none() {
            note(&mut session.unknown, record);
        }
        if n < first { session.off_branch.extend(own) } else { session.messages.extend(own) }
    }
    // Messages off the branch are never sent, so an unknown form is harmless.
    session
        .off_branch
        .extend(log.tree.off_branch().filter_map(|record| messages(record, &model).ok()).flatten());
    Ok(session)
}

/// The error with the status 400 that the last reply is.
fn refused(path: &[&Record]) -> Option<RecordedRefusal> {
    let is_reply = |record: &&&Record| {
        record.text("type") == "message" && text(&record.value["message"], "role") == "assistant"
    };
    let last = path.iter().rfind(is_reply)?;
    let words = text(&last.value["message"], "errorMessage");
    let is_refusal = text(&last.value["message"], "stopReason") == "error" && words.contains("400");
    is_refusal.then(|| RecordedRefusal { words: words.to_owned(), place: last.place("") })
}

/// The message of a line, if it has one.
fn messages(record: &Record, model: &Model) -> Result<Option<Message>, ReadError> {
    let id = record.text(KEYS.id);
    Ok(match record.text("type") {
        "message" => blocks::message(record, "/message", id, model)?,
        "custom_message" => Some(blocks::said_by_user(record, "", id)?),
        "compaction" => blocks::summary(record, "", id, blocks::COMPACTION),
        "branch_summary" => blocks::summary(record, "", id, blocks::BRANCH),
        _ => None,
    })
}

fn note(unknown: &mut Vec<String>, record: &Record) {
    let known = [
        "message",
        "branch_summary",
        "compaction",
        "model_change",
        "thinking_level_change",
        "custom",
        "label",
        "session_info",
    ];
    let words = "a line of another type";
    let kind = record.text("type");
    if !known.contains(&kind) && !omp::LINES.contains(&kind) && !unknown.iter().any(|known| known == words) {
        unknown.push(words.to_owned());
    }
}

/// The dialect of an `api`.
fn dialect_of(api: &str) -> Option<Dialect> {
    names::dialect_of(|names| names.pi, api, "")
}
