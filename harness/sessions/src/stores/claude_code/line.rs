//! The lines of a file: their kinds, parents, calls and results.
//!
//! Message contents are not stored here, so a file of 500 MB (anthropics/claude-code#19963) needs memory only
//! for its lines, not for its texts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::json::{Document, Json};

use super::version::Version;
use crate::{Lost, Place, Trouble, json, strays};

/// A line with a place in the tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// The line number, from 1.
    pub(super) line: u64,
    /// The complete line, without its line end.
    pub(super) whole: Range<usize>,
    /// Its JSON: the line without NUL bytes around it.
    pub(super) span: Range<usize>,
    /// The kind of the line.
    pub(super) kind: Kind,
    pub(super) uuid: String,
    /// The id of the parent line.
    pub(super) parent: Option<String>,
    /// The time of writing.
    pub(super) timestamp: Option<String>,
    /// The line before a compaction. It is not followed when the sent lines are determined.
    pub(super) logical_parent: Option<String>,
    /// The line of the call that this one answers, as the product records it.
    pub(super) source: Option<String>,
    /// `message.id`, which the lines of one reply share.
    pub(super) message_id: Option<String>,
    /// The byte range of `message.content` in the file.
    pub(super) content: Range<usize>,
    /// Its calls of tools that run on the user's machine.
    pub(super) calls: Vec<String>,
    /// The ids of the calls that it answers.
    pub(super) results: Vec<String>,
    /// True if it contains anything except results.
    pub(super) has_words: bool,
    /// True if it contains a result in display form.
    pub(super) has_display: bool,
    /// True for a line of a sub-agent.
    pub(super) is_sidechain: bool,
    /// True for a line of another team member.
    pub(super) is_team: bool,
    /// True for a line that the product wrote in the user's name.
    pub(super) is_meta: bool,
    /// True for an API error, which is shown as a reply but never sent.
    pub(super) is_api_error: bool,
    /// True if it contains signed thinking that lost its text.
    pub(super) is_hollow: bool,
    /// True if its message has a known form.
    pub(super) is_known: bool,
    /// The earlier messages that a compaction keeps.
    pub(super) kept: Option<Kept>,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A user message or results.
    User,
    /// A block in a reply.
    Assistant,
    /// The output of a user command, which is sent as a user message.
    LocalCommand,
    /// A compaction boundary, after which the sent messages begin.
    Boundary,
    /// A line that only connects other lines.
    Link,
}

/// The messages that a compaction keeps, and their new position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    /// The line after which they are inserted.
    pub(super) anchor: String,
    /// All of them, or only the first.
    pub(super) first: Vec<String>,
    /// The last of them.
    pub(super) last: String,
}

/// The parsed lines of a file.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The lines of the tree, without copies.
    pub(super) records: Vec<Record>,
    /// The ends of conversations that bookkeeping lines name: the byte range of the id, and the id.
    pub(super) leaves: Vec<(Range<usize>, String)>,
    /// The number of lines that are not blank.
    pub(super) n_lines: usize,
    /// The unreadable lines and copies.
    pub(super) troubles: Vec<Trouble>,
    /// The unknown kinds of lines.
    pub(super) unknown: BTreeSet<String>,
    /// The newest version.
    pub(super) version: Option<Version>,
    /// The session id of the last line that has one.
    pub(super) session: Option<String>,
}

/// Kinds of lines that contain only bookkeeping.
const BOOKKEEPING: [&str; 19] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "attribution-snapshot",
    "content-replacement",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "queue-operation",
    "speculation-accept",
    "summary",
    "tag",
    "task-summary",
    "worktree-state",
];

/// Maximum number of unknown kinds to note. A release adds a few, and a hostile file one per line.
const MAX_UNKNOWN: usize = 50;
/// Maximum length of a kind that is repeated in a report. The longest known kind has 21 letters.
const MAX_KIND: usize = 40;

impl Lines {
    /// Reads all lines of a file.
    pub(super) fn read(bytes: &[u8]) -> Lines {
        let mut lines = Lines::default();
        let mut copies: BTreeMap<String, (u64, Range<usize>)> = BTreeMap::new();
        for line in json::lines(bytes) {
            lines.n_lines += 1;
            let whole = line.start..line.start + line.bytes.len();
            let span = lines.without_nul(&line);
            if span.is_empty() {
                continue;
            }
            let Ok(document) = Document::parse(&bytes[span.clone()]) else {
                let is_last = json::lines(&bytes[whole.end..]).next().is_none();
                lines.troubles.push(Trouble {
                    place: Place::in_line(line.n, line.span(), ""),
                    words: json::trouble(line.bytes).to_string(),
                    loses: Some(Lost::Data(match is_last {
                        true => "the last record, which was not written to its end",
                        false => "a record that cannot be read",
                    })),
                });
                continue;
            };
            let Some(mut record) = lines.note(document.root(), span.start) else { continue };
            (record.line, record.whole, record.span) = (line.n, whole, span);
            if let Some((first, before)) = copies.get(&record.uuid)
                && bytes[before.clone()] == bytes[record.span.clone()]
            {
                lines.troubles.push(strays::copy(Place::in_line(line.n, line.span(), ""), *first));
                continue;
            }
            copies.entry(record.uuid.clone()).or_insert((record.line, record.span.clone()));
            lines.records.push(record);
        }
        lines
    }

    /// The line without NUL bytes before and after it. A full disk or a power failure leaves them in place of
    /// the data.
    fn without_nul(&mut self, line: &json::Line) -> Range<usize> {
        let before = line.bytes.iter().take_while(|byte| **byte == 0).count();
        let after = line.bytes[before..].iter().rev().take_while(|byte| **byte == 0).count();
        let whole = line.start..line.start + line.bytes.len();
        let inner = whole.start + before..whole.end - after;
        for (n, stretch) in [(before, whole.start..inner.start), (after, inner.end..whole.end)] {
            if n > 0 {
                self.troubles.push(Trouble {
                    place: Place::in_line(line.n, stretch.start as u64..stretch.end as u64, ""),
                    words: format!("{n} NUL bytes"),
                    loses: Some(Lost::Nothing),
                });
            }
        }
        inner
    }

    /// Notes what a line reveals about the session. Returns its record if it has a place in the tree.
    fn note(&mut self, line: Json, start: usize) -> Option<Record> {
        let Some(kind) = line.field("type").as_str() else {
            self.note_unknown("a line without a type");
            return None;
        };
        if let Some(version) = line.field("version").as_str().and_then(|word| Version::parse(&word)) {
            self.version = self.version.max(Some(version));
        }
        if let Some(session) = text(line, "sessionId") {
            self.session = Some(session);
        }
        if let Some(leaf) = line.get("leafUuid")
            && let Some(name) = leaf.as_str()
        {
            let span = leaf.span();
            self.leaves.push((start + span.start..start + span.end, name.into_owned()));
        }
        let is_known = matches!(&*kind, "user" | "assistant" | "system" | "attachment" | "progress");
        if !is_known && !BOOKKEEPING.contains(&&*kind) {
            self.note_unknown(&kind);
        }
        // A line of an unknown kind also connects lines, so a new kind does not cut the thread.
        let uuid = text(line, "uuid")?;
        let mut record = record(line, &kind, uuid, start);
        // A new kind of line with a message may belong to the conversation.
        record.is_known &= is_known || !line.field("message").is_object();
        Some(record)
    }

    fn note_unknown(&mut self, kind: &str) {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        let kind = match kind.len() <= MAX_KIND && kind.chars().all(is_word) {
            true => kind,
            false => "a type that is not a word",
        };
        if self.unknown.len() < MAX_UNKNOWN {
            self.unknown.insert(kind.to_owned());
        }
    }
}

fn record(line: Json, kind: &str, uuid: String, start: usize) -> Record {
    let message = line.field("message");
    let content = message.field("content");
    let subtype = line.field("subtype");
    let kind = match kind {
        "user" => Kind::User,
        "assistant" => Kind::Assistant,
        "system" if subtype.is("compact_boundary") => Kind::Boundary,
        "system" if subtype.is("local_command") && line.field("content").is_str() => Kind::LocalCommand,
        _ => Kind::Link,
    };
    let is_conversation = matches!(kind, Kind::User | Kind::Assistant);
    let is_of = |block: &Json, name: &str| block.field("type").is(name);
    let ids = |name: &str, key: &str| -> Vec<String> {
        let blocks = content.items().filter(|block| is_conversation && is_of(block, name));
        blocks.filter_map(|block| text(block, key)).collect()
    };
    let is_block = |block: Json| block.is_object() && block.field("type").is_str();
    let span = content.span();
    Record {
        line: 0,
        whole: 0..0,
        span: 0..0,
        kind,
        uuid,
        parent: text(line, "parentUuid"),
        timestamp: text(line, "timestamp"),
        logical_parent: text(line, "logicalParentUuid"),
        source: text(line, "sourceToolAssistantUUID"),
        message_id: text(message, "id").filter(|id| !id.is_empty()),
        content: start + span.start..start + span.end,
        calls: ids("tool_use", "id"),
        results: ids("tool_result", "tool_use_id"),
        has_words: content.is_str() || content.items().any(|block| !is_of(&block, "tool_result")),
        has_display: !line.field("toolUseResult").is_null(),
        is_sidechain: line.field("isSidechain").as_bool() == Some(true),
        is_team: line.field("teamName").as_str().is_some_and(|name| !name.is_empty()),
        is_meta: line.field("isMeta").as_bool() == Some(true),
        is_api_error: line.field("isApiErrorMessage").as_bool() == Some(true)
            || message.field("model").is("<synthetic>"),
        is_hollow: content.items().any(is_hollow)
            && line
                .field("version")
                .as_str()
                .and_then(|word| Version::parse(&word))
                .is_some_and(Version::loses_thinking)
            && !hides_thinking(&text(message, "model").unwrap_or_default()),
        is_known: match kind {
            Kind::User | Kind::Assistant => {
                content.is_str() || content.is_array() && content.items().all(is_block)
            }
            _ => true,
        },
        kept: kept(line.field("compactMetadata")),
    }
}

/// Returns whether the API leaves out the text of this model's thinking unless the client asks for it (`display`), so that
/// an empty text is what the model has sent. It does so since Claude Opus 4.7
/// (<https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-7>), and for the families that followed it.
fn hides_thinking(model: &str) -> bool {
    // The family can be before or behind the number: `claude-3-7-sonnet-20250219`, `claude-opus-4-7`.
    let numbers = model.strip_prefix("claude-").unwrap_or_default().split(['-', '[']);
    // A date is not a part of the version.
    let mut version = numbers.filter(|word| word.len() < 3).filter_map(|word| word.parse::<u32>().ok());
    version.next().is_some_and(|major| (major, version.next().unwrap_or_default()) >= (4, 7))
        || ["claude-mythos", "claude-fable"].iter().any(|family| model.starts_with(family))
}

/// Returns whether a block is signed thinking without text. Models that hide their thinking also write such
/// blocks, so this is a fault only in some versions.
fn is_hollow(block: Json) -> bool {
    let [kind, thinking, signature] = block.pick(["type", "thinking", "signature"]);
    let is_signed = signature.is_some_and(|signature| signature.is_str() && !signature.is_empty_str());
    is_signed && kind.is_some_and(|kind| kind.is("thinking")) && thinking.is_some_and(Json::is_empty_str)
}

/// The messages that a compaction keeps, as the product's own types describe them (`sdk.d.ts` of
/// `@anthropic-ai/claude-agent-sdk` 0.3.331, `preserved_messages`): the list replaces the segment, and each
/// message is a child of the one before.
fn kept(metadata: Json) -> Option<Kept> {
    let list = metadata.field("preservedMessages");
    let uuids: Vec<String> =
        list.field("uuids").items().filter_map(|uuid| Some(uuid.as_str()?.into_owned())).collect();
    if let (Some(anchor), Some(last)) = (text(list, "anchorUuid"), uuids.last().cloned()) {
        return Some(Kept { anchor, first: uuids, last });
    }
    let segment = metadata.field("preservedSegment");
    let first = vec![text(segment, "headUuid")?];
    Some(Kept { anchor: text(segment, "anchorUuid")?, first, last: text(segment, "tailUuid")? })
}

/// A text field. `None` if it is missing or not a text.
pub(super) fn text(value: Json, key: &str) -> Option<String> {
    Some(value.field(key).as_str()?.into_owned())
}

/// Returns whether a line is a message of a Claude Code conversation. `None` if the line does not decide
/// that.
///
/// Qwen Code writes lines with the same ids, but its messages have `parts`.
pub(super) fn is_claude_code(bytes: &[u8]) -> Option<bool> {
    let document = Document::parse(bytes).ok()?;
    let line = document.root();
    let kind = line.field("type");
    if !kind.is("user") && !kind.is("assistant") {
        return None;
    }
    let [uuid, parent, session, message] = line.pick(["uuid", "parentUuid", "sessionId", "message"]);
    let is_uuid = |value: Option<Json>| value.is_some_and(Json::is_str);
    let is_parent = parent.is_some_and(|parent| parent.is_null() || parent.is_str());
    let message = message.filter(|message| message.is_object())?;
    let is_role = message.field("role").as_str() == kind.as_str();
    let is_content = message.get("content").is_some() && message.get("parts").is_none();
    Some(is_uuid(uuid) && is_uuid(session) && is_parent && is_role && is_content)
}
