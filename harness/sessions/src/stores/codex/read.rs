//! Reads the records of a rollout.

use std::collections::BTreeSet;

use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};
use brickbat_rules::{Dialect, Profile};

use super::items::{At, Item, Standing, Strange, item, spoken, text};
use super::lineage::Lineage;
use super::replay::Replay;
use crate::json::{Line, lines, trouble, word};
use crate::{Ending, FormError, Lost, Place, Product, RecordedRefusal, Session, Trouble};

/// Known types of records (`RolloutItem`). Those in the second list add nothing to the conversation.
const SPOKEN: [&str; 4] = ["response_item", "compacted", "event_msg", "inter_agent_communication"];
const SILENT: [&str; 9] = [
    "session_meta",
    "turn_context",
    "world_state",
    "inter_agent_communication_metadata",
    "rollout_reference",
    "token_usage_record",
    "security_risk_score",
    "retained_context",
    "realtime_item",
];

/// The descriptions of troubles with ordinals.
pub(super) const ORDINAL_REPEATED: &str = "the ordinal is not greater than that of the record before";
pub(super) const ORDINAL_MISSING: &str =
    "the last record has no ordinal, so Codex cannot continue the rollout";

/// The types that no other product uses for a record with a payload.
const OWN: [&str; 4] = ["session_meta", "response_item", "turn_context", "event_msg"];

/// Number of lines to search for the first record, since the first line may be torn.
const MAX_HEAD_LINES: usize = 8;

/// Returns whether a file with this beginning is a rollout.
pub(super) fn is_rollout(head: &[u8]) -> bool {
    let mut lines = lines(head).take(MAX_HEAD_LINES).filter_map(|line| Document::parse(line.bytes).ok());
    lines.next().is_some_and(|line| is_record(line.root()))
}

/// Returns whether a line is a record of a rollout.
pub(super) fn is_record(line: Json<'_, '_>) -> bool {
    let [kind, payload, time] = line.pick(["type", "payload", "timestamp"]);
    // People leave the time out when they shorten a file.
    let is_timed = time.is_some_and(Json::is_str);
    let is_own = || payload.is_some_and(|own| own.field("type").is_str() || own.field("cwd").is_str());
    let is_known = |kind: &str| {
        OWN.contains(&kind) && is_own() || is_timed && (SPOKEN.contains(&kind) || SILENT.contains(&kind))
    };
    payload.is_some_and(Json::is_object) && kind.and_then(Json::as_str).is_some_and(|kind| is_known(&kind))
}

/// The session of a rollout, read from the beginning of its first ancestor.
///
/// # Errors
///
/// The conversation has an item of an unknown type.
pub(super) fn session(lineage: Lineage<'_>) -> Result<Session, FormError> {
    let mut reader = Reader { id: lineage.id, is_excerpt: !lineage.is_whole, ..Reader::default() };
    for segment in lineage.segments {
        reader.file = segment.file;
        for line in lines(&segment.rollout.bytes) {
            if !reader.line(&line, segment.end)? {
                break;
            }
        }
        if let Some(words) = segment.rollout.cut {
            let place = Place { file: segment.file, ..Place::default() };
            reader.note(place, words.to_owned(), Some(Lost::Data("what was packed after the cut")));
        }
    }
    Ok(reader.finish())
}

/// The name of the profile of a provider in the configuration of Codex, such as `deepseek`.
fn profile_of(provider: &str) -> Option<&'static str> {
    Profile::named(&format!("{}-responses", provider.to_lowercase())).map(|profile| profile.name)
}

#[derive(Default)]
struct Reader {
    /// The index of the current file.
    file: usize,
    replay: Replay,
    troubles: Vec<Trouble>,
    unknown: BTreeSet<String>,
    n_records: usize,
    id: Option<String>,
    version: Option<String>,
    model: Option<String>,
    /// True if the first record is not a `session_meta`, or if the conversation begins in a rollout that is
    /// missing.
    is_excerpt: bool,
    /// True if each record has an ordinal, according to `session_meta.history_mode`.
    is_paginated: bool,
    /// The name of the provider's profile.
    profile: Option<&'static str>,
    /// The last record's ordinal and place.
    last: Option<(Option<u64>, Place)>,
    /// The last error, if no reply follows it.
    refused: Option<RecordedRefusal>,
}

impl Reader {
    /// Reads a line. Returns false at the first ordinal after the session's part of the rollout.
    fn line(&mut self, line: &Line<'_>, end: Option<u64>) -> Result<bool, FormError> {
        let at = At { file: self.file, line: line.n, start: line.start };
        let place = Place { file: self.file, ..Place::in_line(line.n, line.span(), "") };
        let Ok(document) = Document::parse(line.bytes) else {
            self.note(place, trouble(line.bytes).to_string(), Some(Lost::Data("one record")));
            return Ok(true);
        };
        let [kind, payload, ordinal] = document.root().pick(["type", "payload", "ordinal"]);
        let (Some(kind), Some(payload)) = (kind.and_then(Json::as_str), payload) else {
            self.note(place, "a line that is not a record".to_owned(), Some(Lost::Data("one record")));
            return Ok(true);
        };
        let ordinal = ordinal.and_then(Json::as_u64);
        if end.zip(ordinal).is_some_and(|(end, ordinal)| ordinal >= end) {
            return Ok(false);
        }
        if self.n_records == 0 {
            let time = document.root().field("timestamp");
            if !time.is_str() {
                let words = match time.as_number().is_some() {
                    true => {
                        "the `timestamp` is a number and not a text, so Codex itself skips the lines; write the file again \
                             with a newer version of the program that converted it"
                    }
                    false => "the lines have no `timestamp`, without which Codex itself skips them",
                };
                self.note(place.clone(), words.to_owned(), None);
            }
            self.is_excerpt |= kind != "session_meta";
            self.is_paginated = payload.field("history_mode").is("paginated");
        }
        self.n_records += 1;
        self.ordinal(ordinal, &place);
        match kind.as_ref() {
            "session_meta" => self.meta(payload, place),
            "turn_context" => self.model = payload.field("model").as_str().map(|model| model.into_owned()),
            "response_item" => {
                if let Some(item) = self.item(payload, at, "/payload".to_owned())? {
                    if item.message.role == Role::Assistant {
                        self.refused = None;
                    }
                    self.replay.push(item);
                }
            }
            "inter_agent_communication" => {
                // Codex makes an item of it, but its text has no effect on the verdict.
                let place = at.place(payload, "/payload".to_owned());
                self.replay.push(spoken("[inter_agent_communication]".to_owned(), place, Standing::Turn));
            }
            "compacted" => self.compacted(payload, at)?,
            "event_msg" => self.event(payload, at)?,
            // It refers to a part of the conversation in a file that is not read.
            "rollout_reference" => self.is_excerpt = true,
            kind if SILENT.contains(&kind) => {}
            kind => {
                self.unknown.insert(word(kind));
            }
        }
        Ok(true)
    }

    /// Notes an unreadable part. The rollouts of parents are never edited.
    fn note(&mut self, place: Place, words: String, loses: Option<Lost>) {
        let loses = loses.filter(|_| place.file == 0);
        self.troubles.push(Trouble { place, words, loses });
    }

    /// The first `session_meta` belongs to the session. In a fork, the parents' lines follow.
    fn meta(&mut self, payload: Json<'_, '_>, place: Place) {
        if self.id.is_none() {
            self.id = payload.field("id").as_str().map(|id| id.into_owned());
        }
        let provider = payload.field("model_provider").as_str().filter(|_| self.n_records == 1);
        let provider = provider.filter(|name| !name.is_empty() && name != "openai");
        let known = provider.as_deref().and_then(profile_of);
        self.profile = self.profile.or(known);
        if let Some(provider) = provider.filter(|_| known.is_none()) {
            let words = format!(
                "the session's provider is {}. Its rules are not known, so the session is judged by OpenAI's; another provider \
                 may refuse OpenAI's reasoning and compactions",
                word(&provider)
            );
            self.note(place, words, None);
        }
        if let Some(version) = payload.field("cli_version").as_str() {
            self.version = Some(version.into_owned());
        }
    }

    fn item(&mut self, value: Json<'_, '_>, at: At, pointer: String) -> Result<Option<Item>, FormError> {
        let place = at.place(value, pointer.clone());
        match item(value, at, pointer) {
            Ok(item) => return Ok(Some(item)),
            Err(Strange::Kind(kind)) => return Err(FormError::Item(kind, at.line)),
            Err(Strange::Lacks(words)) => {
                let words = format!("{words}; Codex skips the record");
                self.troubles.push(Trouble { place, words, loses: None });
            }
            // Known items that are never sent need no note.
            Err(Strange::Unsent(kind)) if kind.starts_with("message") => {
                self.replay.set_aside(spoken(text(value, "content"), place, Standing::Other));
            }
            Err(Strange::Unsent(_)) => {}
        }
        Ok(None)
    }

    fn compacted(&mut self, payload: Json<'_, '_>, at: At) -> Result<(), FormError> {
        let Some(replacement) = payload.get("replacement_history").filter(|list| list.is_array()) else {
            let message = payload.field("message");
            let place = match message.is_str() {
                true => at.place(message, "/payload/message".to_owned()),
                false => at.place(payload, "/payload".to_owned()),
            };
            let words = match text(payload, "message") {
                empty if empty.is_empty() => "(no summary available)".to_owned(),
                words => words,
            };
            return self.replay.compact(spoken(words, place, Standing::Summary));
        };
        let mut items = Vec::new();
        for (n, value) in replacement.items().enumerate() {
            items.extend(self.item(value, at, format!("/payload/replacement_history/{n}"))?);
        }
        self.replay.replace(items);
        Ok(())
    }

    fn event(&mut self, payload: Json<'_, '_>, at: At) -> Result<(), FormError> {
        let kind = payload.field("type");
        if kind.is("error") {
            let place = at.place(payload, "/payload".to_owned());
            self.refused = Some(RecordedRefusal { words: text(payload, "message"), place });
        }
        if kind.is("thread_rolled_back") {
            let n_turns = payload.field("num_turns").as_u64().unwrap_or_default();
            return self.replay.roll_back(n_turns);
        }
        if kind.is("turn_aborted") {
            self.replay.abort(Ending::Aborted);
        }
        Ok(())
    }

    /// In paginated mode, ordinals increase from record to record (`codex-rs/rollout/src/ordinal.rs`).
    fn ordinal(&mut self, ordinal: Option<u64>, place: &Place) {
        let before = self.last.as_ref().and_then(|(before, _)| *before);
        if self.is_paginated
            && let (Some(before), Some(now)) = (before, ordinal)
            && now <= before
        {
            self.note(place.clone(), ORDINAL_REPEATED.to_owned(), Some(Lost::Bookkeeping));
        }
        self.last = Some((ordinal, place.clone()));
    }

    fn finish(mut self) -> Session {
        // "final paginated rollout record at … is missing an ordinal"
        if let Some((None, place)) = self.last.take().filter(|_| self.is_paginated) {
            self.note(place, ORDINAL_MISSING.to_owned(), Some(Lost::Bookkeeping));
        }
        let (n_compactions, n_forks) = (self.replay.n_compactions, self.replay.n_rollbacks);
        let (messages, off_branch) = self.replay.finish();
        Session {
            version: self.version,
            id: self.id,
            // Codex uses only this dialect since it dropped support for Chat Completions.
            dialect: Some(Dialect::OpenaiResponses),
            profile: self.profile,
            model: self.model,
            messages,
            off_branch,
            n_records: self.n_records,
            n_compactions,
            n_forks,
            troubles: self.troubles,
            unknown: self.unknown.into_iter().collect(),
            is_excerpt: self.is_excerpt,
            refused: self.refused,
            ..Session::new(
                Product::Codex,
                if self.is_paginated { "JSONL, paginated" } else { "JSONL" },
                "the file's order from the newest compaction on, without turns that were rolled back",
            )
        }
    }
}
