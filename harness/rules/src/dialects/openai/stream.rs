//! OpenAI Chat Completions: chunks that add to choices, the finish reason of each choice, the usage,
//! `[DONE]`.
//!
//! Mistral streams follow the same grammar with some differences, so the machine reads its rules from a
//! table.
//!
//! The following is legal, because compatible providers do it and readers use the index of a call as key:
//! interleaved calls, a complete call in one chunk, a repeated role, chunks without choices at any place,
//! usage in every chunk, comments. A stream with a finish reason for every choice is complete without
//! `[DONE]`, with a warning, because readers accept it.
//!
//! [`TOLERATED_OF_RELATIVES`] lists other behaviour of compatible providers. It is illegal only for the
//! provider itself. A stream with the model name of another company comes from a compatible provider.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::json::{Json, JsonType};
use crate::streams::{
    Arguments, Common, Digest, Machine, Room, SSE, Standing, StreamEvent, StreamRule, Verdict, Warnings,
    error_in_words, illegal, quoted, stream_rules, text, underway,
};

const DOCS: &str = "https://platform.openai.com/docs/api-reference/chat-streaming";
const CALLS: &str = "https://platform.openai.com/docs/guides/function-calling#streaming";
const READER: &str = "https://github.com/openai/openai-python/blob/main/src/openai/_streaming.py";
const SNAPSHOT: &str =
    "https://github.com/openai/openai-python/blob/main/src/openai/lib/streaming/_deltas.py";

/// Defines the rules about OpenAI's chunks for a dialect, with their sources, and with four places for the
/// dialect's own rules.
macro_rules! chat_rules {
    ($dialect:literal, $docs:ident, $calls:ident, $reader:ident;
     { $($ids:tt)* } { $($pieces:tt)* } { $($finish:tt)* } { $($usage:tt)* }
     tolerated: [$($tolerated:ident),*];
     unknown: [$($unknown:ident),*];
     $($field:ident: $value:expr),*) => {
        stream_rules! { $dialect;
            error UNREADABLE = "unreadable", "each chunk is one JSON object in UTF-8, or [DONE]", $docs;
            error ID = "id-changed", "all chunks have the same id", $docs;
            warning ROLE = "role-first", "the first delta of a choice has the role", $docs;
            $($ids)*
            error CALL_START = "call-not-started",
                "the first piece of a call has its id and the name of its function", $calls;
            $($pieces)*
            warning ARGUMENTS_JSON = "arguments-not-json",
                "the arguments of a call are a JSON object, unless the reply was cut off", $calls;
            error FINISH_CHANGED = "finish-changed", "a choice has one finish reason", $docs;
            warning FINISH_REPEATED = "finish-repeated", "the finish reason of a choice comes once", $docs;
            $($finish)*
            error AFTER_FINISH = "delta-after-finish",
                "a choice that has finished gets no more text or calls", $docs;
            $($usage)*
            error DONE_EARLY = "done-before-finish", "[DONE] comes after the finish reason", $docs;
            warning DONE_MISSING = "done-missing", "[DONE] ends the stream", $reader;
            error AFTER_END = "after-end",
                "nothing comes after [DONE], and only [DONE] after an error", $reader;
            error TRUNCATED = "truncated",
                "a stream ends with the finish reason of each choice and [DONE], or with an error", $docs;
            warning UNENDED = "last-event-unended", "a blank line ends each event", SSE;
            warning STRAY = "stray-line", "each line is a field, a comment or blank", SSE;
        }

        pub(crate) static CHAT: ChatRules = ChatRules {
            common: Common {
                truncated: &TRUNCATED,
                unreadable: &UNREADABLE,
                unended: Some(&UNENDED),
                stray: Some(&STRAY),
            },
            id: &ID,
            role: &ROLE,
            call_start: &CALL_START,
            call_repeated: &CALL_REPEATED,
            arguments_text: &ARGUMENTS_TEXT,
            arguments_json: &ARGUMENTS_JSON,
            finish_changed: &FINISH_CHANGED,
            finish_repeated: &FINISH_REPEATED,
            no_call: &NO_CALL,
            after_finish: &AFTER_FINISH,
            done_early: &DONE_EARLY,
            done_missing: &DONE_MISSING,
            after_end: &AFTER_END,
            $($field: $value),*
        };

        /// Seen in providers without a profile: other ids and names within a call, calls without an index or
        /// without an id, and two different finish reasons. The rest is the grammar that all providers share.
        pub(crate) static TOLERATED_OF_UNKNOWN: &[&StreamRule] = &[
            &ID, &AFTER_FINISH, &DONE_EARLY, &CALL_START, &FINISH_CHANGED $(, &$tolerated)* $(, &$unknown)*
        ];
    };
}
pub(crate) use chat_rules;

/// Seen in compatible providers: a different id in each chunk
/// (<https://github.com/microsoft/foundry-local/issues/144>,
/// <https://github.com/sgl-project/sglang/issues/39864>), text after the finish reason, and no finish reason at
/// all (<https://github.com/anomalyco/opencode/issues/43882>).
pub(crate) static TOLERATED_OF_RELATIVES: &[&StreamRule] = &[&ID, &AFTER_FINISH, &DONE_EARLY];

chat_rules! { "openai-chat", DOCS, CALLS, READER;
    {
        error CALL_INDEX = "call-without-index", "each piece of a call has the index of the call", DOCS;
    }
    {
        error CALL_CHANGED = "call-changed", "a call keeps its id and the name of its function", CALLS;
        warning CALL_REPEATED = "call-start-repeated",
            "later pieces of a call repeat neither its id nor its name: readers join the pieces", SNAPSHOT;
        warning CALL_GAP = "call-index-gap", "the indexes of the calls are 0, 1, 2 and so on", CALLS;
        error ARGUMENTS_TEXT = "arguments-not-text", "the arguments of a call are a string", DOCS;
    }
    {
        warning NO_CALL = "finish-without-call", "the finish reason tool_calls comes after a call", CALLS;
    }
    {
        warning USAGE_EARLY = "usage-before-finish",
            "the chunk with the usage and without choices comes after the finish reason", DOCS;
    }
    tolerated: [];
    unknown: [CALL_INDEX, CALL_CHANGED];
    is_own_model: is_openai_model,
    call_index: Some(&CALL_INDEX),
    call_id: None,
    call_changed: Some(&CALL_CHANGED),
    call_gap: Some(&CALL_GAP),
    usage_early: Some(&USAGE_EARLY)
}

/// Returns whether OpenAI itself serves a model. Others serve its open models, `gpt-oss-…`, and a name
/// with a slash comes from a gateway.
fn is_openai_model(model: &str) -> bool {
    let name = model.strip_prefix("ft:").unwrap_or(model);
    let is_reasoner =
        || name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_family =
        ["gpt-", "chatgpt-", "codex-", "computer-use-"].iter().any(|family| name.starts_with(family));
    !name.contains('/') && !name.starts_with("gpt-oss") && (is_family || is_reasoner())
}

/// The rules for one variant of the grammar.
#[derive(Debug)]
pub(crate) struct ChatRules {
    pub(crate) common: Common,
    /// Returns whether the dialect's own provider serves the model.
    pub(crate) is_own_model: fn(&str) -> bool,
    pub(crate) id: &'static StreamRule,
    pub(crate) role: &'static StreamRule,
    /// `None` if a call may have no index, because it arrives complete.
    pub(crate) call_index: Option<&'static StreamRule>,
    /// The rule about the format of ids, if the format is known.
    pub(crate) call_id: Option<&'static StreamRule>,
    pub(crate) call_start: &'static StreamRule,
    /// `None` if an index may be reused for another call, because calls arrive complete.
    pub(crate) call_changed: Option<&'static StreamRule>,
    pub(crate) call_repeated: &'static StreamRule,
    pub(crate) call_gap: Option<&'static StreamRule>,
    pub(crate) arguments_text: &'static StreamRule,
    pub(crate) arguments_json: &'static StreamRule,
    pub(crate) finish_changed: &'static StreamRule,
    pub(crate) finish_repeated: &'static StreamRule,
    pub(crate) no_call: &'static StreamRule,
    pub(crate) after_finish: &'static StreamRule,
    pub(crate) usage_early: Option<&'static StreamRule>,
    pub(crate) done_early: &'static StreamRule,
    pub(crate) done_missing: &'static StreamRule,
    pub(crate) after_end: &'static StreamRule,
}

/// Finish reasons for replies that may end in the middle of a call.
const CUT_OFF: [&str; 5] =
    ["length", "model_length", "content_filter", "error", "insufficient_system_resource"];

#[derive(Debug)]
pub(crate) struct Chat {
    rules: &'static ChatRules,
    id: Option<Digest>,
    /// True if the stream contains another company's model name.
    is_foreign: bool,
    choices: BTreeMap<u64, StreamedChoice>,
    /// Choices without a finish reason so far.
    unfinished: BTreeSet<u64>,
    is_done: bool,
    error: Option<String>,
    room: Room,
}

#[derive(Debug, Default)]
struct StreamedChoice {
    finish: Option<Digest>,
    calls: BTreeMap<u64, StreamedCall>,
    /// Number of calls without an index.
    n_whole_calls: usize,
}

#[derive(Debug)]
struct StreamedCall {
    id: Digest,
    name: Digest,
    arguments: Arguments,
}

impl Chat {
    pub(crate) fn new(rules: &'static ChatRules) -> Chat {
        Chat {
            rules,
            id: None,
            is_foreign: false,
            choices: BTreeMap::new(),
            unfinished: BTreeSet::new(),
            is_done: false,
            error: None,
            room: Room::new(),
        }
    }

    fn done(&mut self, warnings: &mut Warnings) -> Verdict {
        if self.error.is_none()
            && let Some(missing) = self.missing_finish()
        {
            warnings.refuse(self.rules.done_early, format!("[DONE] before {missing}"))?;
        }
        self.is_done = true;
        Ok(())
    }

    fn missing_finish(&self) -> Option<String> {
        match self.unfinished.first() {
            Some(index) => Some(format!("the finish reason of choice {index}")),
            None if self.choices.is_empty() => Some("a chunk with a finish reason".to_owned()),
            None => None,
        }
    }

    fn chunk(&mut self, data: Json, warnings: &mut Warnings) -> Verdict {
        if text(data.field("model")).is_some_and(|model| !(self.rules.is_own_model)(&model)) {
            self.is_foreign = true;
            warnings.is_of_foreign_stream();
        }
        if let Some(id) = text(data.field("id")) {
            let known = *self.id.get_or_insert(Digest::of(&id));
            if known != Digest::of(&id) {
                let message = format!("the id is {}, and was different before", quoted(&id));
                warnings.refuse(self.rules.id, message)?;
            }
        }
        let mut choices = data.field("choices").items();
        if let Some(rule) = self.rules.usage_early
            && data.field("usage").is_object()
            && data.field("choices").is_array()
            && data.field("choices").is_empty()
            && let Some(missing) = self.missing_finish()
        {
            warnings.add(rule, format!("a chunk with the usage and without choices before {missing}"));
        }
        choices.try_for_each(|choice| self.choice(choice, warnings))
    }

    fn choice(&mut self, json: Json, warnings: &mut Warnings) -> Verdict {
        let rules = self.rules;
        // Some compatible providers omit the index of the only choice.
        let index = json.field("index").as_u64().unwrap_or(0);
        let delta = json.field("delta");
        if !self.choices.contains_key(&index) {
            if !self.room.track() {
                return Ok(());
            }
            self.unfinished.insert(index);
            if text(delta.field("role")).is_none() {
                warnings.add(rules.role, format!("the first delta of choice {index} has no role"));
            }
        }
        let choice = self.choices.entry(index).or_default();
        let calls = delta.field("tool_calls").items();
        let says = |field: &str| text(delta.field(field)).is_some() || !delta.field(field).is_empty();
        if choice.finish.is_some()
            && (!delta.field("tool_calls").is_empty() || says("content") || says("refusal"))
        {
            let message = format!("a delta with text or a call after the finish reason of choice {index}");
            warnings.refuse(rules.after_finish, message)?;
        }
        for call in calls {
            choice.call(rules, call, &mut self.room, warnings)?;
        }
        match text(json.field("finish_reason")) {
            Some(reason) => {
                self.unfinished.remove(&index);
                choice.finish(rules, index, &reason, warnings)
            }
            // The sound of a reply ends with the time until which it is kept, and then no finish reason comes
            // (<https://github.com/openai/openai-node/pull/1991>).
            None if delta.field("audio").field("expires_at").as_u64().is_some() => {
                self.unfinished.remove(&index);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl StreamedChoice {
    fn call(&mut self, rules: &ChatRules, json: Json, room: &mut Room, warnings: &mut Warnings) -> Verdict {
        let function = json.field("function");
        // Mistral's servers send a missing id as "null".
        let id = text(json.field("id")).filter(|id| *id != "null");
        let name = text(function.field("name"));
        let arguments = match function.field("arguments").kind() {
            JsonType::Null => Cow::Borrowed(""),
            // Mistral's readers accept both.
            JsonType::Object if rules.call_index.is_none() => Cow::Borrowed("{}"),
            JsonType::String => function.field("arguments").as_str().unwrap_or_default(),
            _ => return illegal(rules.arguments_text, "the arguments of a call are not a string"),
        };
        let index = match (json.field("index").as_u64(), rules.call_index) {
            (Some(index), _) => index,
            (None, Some(rule)) => {
                warnings.refuse(rule, "a piece of a call without an index")?;
                let is_new = id.is_some() && name.is_some();
                match self.calls.last_key_value() {
                    Some((last, _)) if !is_new => *last,
                    Some((last, _)) => last.saturating_add(1),
                    None => 0,
                }
            }
            (None, None) => {
                self.n_whole_calls += 1;
                if id.is_none() || name.is_none() {
                    return illegal(
                        rules.call_start,
                        "a call without an index, without an id or without a name",
                    );
                }
                return check_id(rules, id.as_deref(), warnings);
            }
        };
        let is_other = |call: &StreamedCall| id.as_deref().is_some_and(|id| Digest::of(id) != call.id);
        if rules.call_changed.is_none() && self.calls.get(&index).is_some_and(is_other) {
            self.calls.remove(&index);
            self.n_whole_calls += 1;
        }
        if let Some(call) = self.calls.get_mut(&index) {
            for (said, known, what) in [(&id, call.id, "id"), (&name, call.name, "name")] {
                match (said, rules.call_changed) {
                    (Some(said), Some(rule)) if Digest::of(said) != known => {
                        let message = format!(
                            "the {what} of call {index} is now {}, and was different before",
                            quoted(said)
                        );
                        warnings.refuse(rule, message)?;
                    }
                    (Some(_), _) => {
                        warnings.add(rules.call_repeated, format!("call {index} has its {what} once more"));
                    }
                    (None, _) => {}
                }
            }
            call.arguments.push(&arguments, room);
            return Ok(());
        }
        if room.is_full() {
            return Ok(());
        }
        if id.is_none() || name.is_none() {
            let message = format!("call {index} begins without an id or without a name");
            warnings.refuse(rules.call_start, message)?;
        }
        let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
        check_id(rules, Some(&id), warnings)?;
        if let Some(rule) = rules.call_gap
            && index != self.calls.len() as u64
        {
            warnings.add(rule, format!("call {index} begins, expected call {}", self.calls.len()));
        }
        room.track();
        let mut call =
            StreamedCall { id: Digest::of(&id), name: Digest::of(&name), arguments: Arguments::default() };
        call.arguments.push(&arguments, room);
        self.calls.insert(index, call);
        Ok(())
    }

    fn finish(&mut self, rules: &ChatRules, index: u64, reason: &str, warnings: &mut Warnings) -> Verdict {
        let said = Digest::of(reason);
        match self.finish {
            Some(known) if known != said => {
                let message = format!("choice {index} finishes again, for the reason {}", quoted(reason));
                return warnings.refuse(rules.finish_changed, message);
            }
            Some(_) => {
                warnings.add(rules.finish_repeated, format!("choice {index} finishes again"));
                return Ok(());
            }
            None => self.finish = Some(said),
        }
        if reason == "tool_calls" && self.calls.is_empty() && self.n_whole_calls == 0 {
            warnings.add(rules.no_call, "the finish reason is tool_calls, but no call came");
        }
        let broken = self.calls.iter().find(|(_, call)| call.arguments.are_broken());
        if let Some((call, _)) = broken
            && !CUT_OFF.contains(&reason)
        {
            let message = format!(
                "the arguments of call {call} are not a JSON object, and the finish reason is {}",
                quoted(reason)
            );
            warnings.add(rules.arguments_json, message);
        }
        Ok(())
    }
}

/// Checks the format of a call id. Mistral's ids consist of nine letters and digits.
fn check_id(rules: &ChatRules, id: Option<&str>, warnings: &mut Warnings) -> Verdict {
    let fits = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match (rules.call_id, id) {
        (Some(rule), Some(id)) if !fits(id) => {
            let message = format!("the id of a call is {}, expected nine letters and digits", quoted(id));
            warnings.refuse(rule, message)
        }
        _ => Ok(()),
    }
}

impl Machine for Chat {
    fn common(&self) -> &'static Common {
        &self.rules.common
    }

    fn step(&mut self, event: &StreamEvent<'_>, warnings: &mut Warnings) -> Verdict {
        // Readers compare only the beginning.
        let is_done = event.data.starts_with(b"[DONE]");
        if self.is_done {
            return illegal(self.rules.after_end, "an event after [DONE]");
        }
        if is_done {
            return self.done(warnings);
        }
        let document = event.object(self.rules.common.unreadable)?;
        let data = document.root();
        if self.error.is_some() {
            // The usage was seen to follow an error.
            warnings.add(self.rules.after_end, "a chunk after an error");
            return Ok(());
        }
        let error = data.field("error");
        let is_error = error.is_object() || text(error).is_some();
        if is_error || data.field("object").is("error") {
            let body = if error.is_object() { error } else { data };
            let message = text(body.field("message")).or(text(error));
            self.error = Some(error_in_words(text(body.field("type")), message));
            return Ok(());
        }
        self.chunk(data, warnings)
    }

    fn standing(&self) -> Standing {
        match (&self.error, self.missing_finish()) {
            (Some(words), _) => Standing::Failed(words.clone()),
            (None, _) if self.is_done => Standing::Complete,
            (None, Some(missing)) => underway(missing),
            (None, None) => Standing::Complete,
        }
    }

    fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    fn end(&self, warnings: &mut Warnings) {
        if !self.is_done && self.error.is_none() {
            warnings.add(self.rules.done_missing, "the stream ends without [DONE]");
        }
    }
}
