//! Gemini `streamGenerateContent`: chunks with candidates, until the bytes end.
//!
//! There is no terminal event. A stream is complete when each candidate has its finish reason, or when the
//! prompt was blocked. An error is a chunk, or plain JSON between the events. Without `alt=sse`, the
//! chunks are the items of one array.

use std::collections::BTreeMap;

use crate::json::{Document, Json, JsonType};
use crate::streams::{
    BrokenRule, Common, Digest, Machine, Room, SSE, Standing, StreamEvent, Verdict, Warnings, error_in_words,
    illegal, quoted, stream_rules, text, underway,
};

const DOCS: &str = "https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent";
const CALLS: &str = "https://ai.google.dev/api/caching#FunctionCall";
const ERRORS: &str = "https://github.com/vercel/ai/issues/5217";

stream_rules! { "gemini";
    error UNREADABLE = "unreadable", "each chunk is one JSON object in UTF-8", DOCS;
    error SENTINEL = "done-sentinel", "there is no [DONE]", DOCS;
    error ROLE = "role-not-model", "the content of a candidate has the role model", DOCS;
    error CALL_NAMELESS = "call-nameless",
        "a complete call, and the first piece of a call in pieces, has the name of its function", CALLS;
    error CALL_ARGS = "call-args", "the arguments of a call are an object", CALLS;
    warning FINISH_REPEATED = "finish-repeated",
        "a candidate has one finish reason; early models had one in every chunk", DOCS;
    warning AFTER_FINISH = "parts-after-finish",
        "no part with text or a call comes after the finish reason; early models had it in every chunk", DOCS;
    warning ID = "response-id-changed", "all chunks have the same responseId", DOCS;
    error AFTER_END = "after-end", "nothing comes after an error", ERRORS;
    error TRUNCATED = "truncated",
        "a stream ends after the finish reason of each candidate, the reason why the prompt was blocked, or an error", DOCS;
    warning UNENDED = "last-event-unended", "a blank line ends each event", SSE;
    warning STRAY = "stray-line", "each line is a field, a comment, blank or part of an error", ERRORS;
}

static COMMON: Common =
    Common { truncated: &TRUNCATED, unreadable: &UNREADABLE, unended: Some(&UNENDED), stray: Some(&STRAY) };

#[derive(Debug)]
pub(super) struct Gemini {
    id: Option<Digest>,
    candidates: BTreeMap<u64, Candidate>,
    is_blocked: bool,
    error: Option<String>,
    room: Room,
}

#[derive(Debug, Default)]
struct Candidate {
    is_finished: bool,
    /// True within a call with arguments that arrive in pieces.
    in_call: bool,
}

impl Gemini {
    pub(super) fn new() -> Gemini {
        Gemini { id: None, candidates: BTreeMap::new(), is_blocked: false, error: None, room: Room::new() }
    }

    fn chunk(&mut self, data: Json, warnings: &mut Warnings) -> Verdict {
        if let Some(error) = error_of(data) {
            self.error = Some(error);
            return Ok(());
        }
        if let Some(id) = text(data.field("responseId"))
            && *self.id.get_or_insert(Digest::of(&id)) != Digest::of(&id)
        {
            warnings.add(&ID, format!("the responseId is {}, and was different before", quoted(&id)));
        }
        self.is_blocked |= text(data.field("promptFeedback").field("blockReason")).is_some();
        for json in data.field("candidates").items() {
            let index = json.field("index").as_u64().unwrap_or(0);
            if self.candidates.contains_key(&index) || self.room.track() {
                self.candidates.entry(index).or_default().add(index, json, warnings)?;
            }
        }
        Ok(())
    }

    fn missing(&self) -> Option<String> {
        let open = self.candidates.iter().find(|(_, candidate)| !candidate.is_finished);
        match open {
            _ if self.is_blocked => None,
            Some((index, _)) => Some(format!("the finish reason of candidate {index}")),
            None if self.candidates.is_empty() => Some("a candidate with its finish reason".to_owned()),
            None => None,
        }
    }
}

impl Candidate {
    fn add(&mut self, index: u64, json: Json, warnings: &mut Warnings) -> Verdict {
        let content = json.field("content");
        if let Some(role) = text(content.field("role"))
            && role != "model"
        {
            return illegal(
                &ROLE,
                format!("the content of candidate {index} has the role {}", quoted(&role)),
            );
        }
        for part in content.field("parts").items() {
            let call = part.field("functionCall");
            if self.is_finished && (call.is_object() || text(part.field("text")).is_some()) {
                warnings.add(&AFTER_FINISH, format!("candidate {index} continues after its finish reason"));
            }
            if call.is_object() {
                self.call(call)?;
            }
        }
        // Vertex AI was seen to send the number of the reason, with 0 for none.
        let reason = json.field("finishReason");
        if text(reason).is_some() || reason.as_u64().is_some_and(|reason| reason > 0) {
            if self.is_finished {
                warnings.add(&FINISH_REPEATED, format!("candidate {index} finishes again"));
            }
            self.is_finished = true;
        }
        Ok(())
    }

    fn call(&mut self, call: Json) -> Verdict {
        let will_continue = call.field("willContinue").as_bool() == Some(true);
        let goes_on = std::mem::replace(&mut self.in_call, will_continue);
        if text(call.field("name")).is_none() && !goes_on {
            return illegal(&CALL_NAMELESS, "a functionCall without a name");
        }
        match call.field("args").kind() {
            JsonType::Null | JsonType::Object => Ok(()),
            _ => illegal(&CALL_ARGS, "the args of a functionCall are not an object"),
        }
    }
}

impl Machine for Gemini {
    fn common(&self) -> &'static Common {
        &COMMON
    }

    fn step(&mut self, event: &StreamEvent<'_>, warnings: &mut Warnings) -> Verdict {
        if event.data.trim_ascii() == b"[DONE]" {
            return illegal(&SENTINEL, "[DONE] does not belong to this dialect");
        }
        let document = event.object(&UNREADABLE)?;
        let data = document.root();
        match self.error {
            Some(_) => illegal(&AFTER_END, "a chunk after an error"),
            None => self.chunk(data, warnings),
        }
    }

    fn stray(&mut self, bytes: &[u8]) -> Result<bool, BrokenRule> {
        // Bytes that are not JSON or nested too deep are not a provider error. They are skipped like any
        // other line.
        let words = Document::parse(bytes).ok().and_then(|json| error_of(json.root()));
        match (words, &self.error) {
            (None, _) => Ok(false),
            (Some(_), Some(_)) => {
                Err(BrokenRule { rule: &AFTER_END, message: "an error after an error".to_owned() })
            }
            (Some(words), None) => {
                self.error = Some(words);
                Ok(true)
            }
        }
    }

    fn standing(&self) -> Standing {
        match (&self.error, self.missing()) {
            (Some(words), _) => Standing::Failed(words.clone()),
            (None, Some(missing)) => underway(missing),
            (None, None) => Standing::Complete,
        }
    }
}

/// Returns the error in a JSON value, if there is one.
fn error_of(json: Json) -> Option<String> {
    let error = json.field("error");
    error.is_object().then(|| error_in_words(text(error.field("status")), text(error.field("message"))))
}
