//! Mistral: the rules of OpenAI's chunks as Mistral keeps them, see [`super::openai`].
//!
//! A call comes whole in one chunk, most often in that of the finish reason, and its index may be left out or be 0 for every call.

use super::machine::Common;
use super::openai::ChatRules;
use super::rule::{StreamRule, error, warning};

const DOCS: &str = "https://docs.mistral.ai/api/#tag/chat/operation/chat_completion_v1_chat_completions_post";
const IDS: &str =
    "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py";
const READER: &str = "https://github.com/mistralai/client-python";
const SSE: &str = "https://html.spec.whatwg.org/multipage/server-sent-events.html";

static TRUNCATED: StreamRule = error(
    "mistral/stream/truncated",
    "a stream ends with the finish reason of each choice and [DONE], or with an error",
    DOCS,
);
static UNREADABLE: StreamRule =
    error("mistral/stream/unreadable", "each chunk is one JSON object in UTF-8, or [DONE]", DOCS);
static UNENDED: StreamRule =
    warning("mistral/stream/last-event-unended", "a blank line ends each event", SSE);
static STRAY: StreamRule =
    warning("mistral/stream/stray-line", "each line is a field, a comment or blank", SSE);
static ID: StreamRule = error("mistral/stream/id-changed", "all chunks have the same id", DOCS);
static ROLE: StreamRule =
    warning("mistral/stream/role-first", "the first delta of a choice has the role", DOCS);
static CALL_ID: StreamRule =
    error("mistral/stream/call-id", "the id of a call is nine letters and digits", IDS);
static CALL_START: StreamRule = error(
    "mistral/stream/call-not-started",
    "the first piece of a call has its id and the name of its function",
    DOCS,
);
static CALL_REPEATED: StreamRule = warning(
    "mistral/stream/call-start-repeated",
    "later pieces of a call repeat neither its id nor its name",
    READER,
);
static ARGUMENTS_TEXT: StreamRule =
    error("mistral/stream/arguments-not-text", "the arguments of a call are a string or an object", READER);
static ARGUMENTS_JSON: StreamRule = warning(
    "mistral/stream/arguments-not-json",
    "the arguments of a call are a JSON object, unless the reply was cut off",
    DOCS,
);
static FINISH_CHANGED: StreamRule =
    error("mistral/stream/finish-changed", "a choice has one finish reason", DOCS);
static FINISH_REPEATED: StreamRule =
    warning("mistral/stream/finish-repeated", "the finish reason of a choice comes once", DOCS);
static NO_CALL: StreamRule = warning(
    "mistral/stream/finish-without-call",
    "the finish reason tool_calls comes after a call or with it",
    DOCS,
);
static AFTER_FINISH: StreamRule = error(
    "mistral/stream/delta-after-finish",
    "no text and no call is added to a choice that has finished",
    DOCS,
);
static DONE_EARLY: StreamRule =
    error("mistral/stream/done-before-finish", "[DONE] comes after the finish reason", DOCS);
static DONE_MISSING: StreamRule = warning("mistral/stream/done-missing", "[DONE] ends the stream", DOCS);
static AFTER_END: StreamRule = error(
    "mistral/stream/after-end",
    "nothing comes after [DONE], and after an error nothing but [DONE]",
    DOCS,
);

pub(super) static RULES: &[&StreamRule] = &[
    &UNREADABLE,
    &ID,
    &ROLE,
    &CALL_ID,
    &CALL_START,
    &CALL_REPEATED,
    &ARGUMENTS_TEXT,
    &ARGUMENTS_JSON,
    &FINISH_CHANGED,
    &FINISH_REPEATED,
    &NO_CALL,
    &AFTER_FINISH,
    &DONE_EARLY,
    &DONE_MISSING,
    &AFTER_END,
    &TRUNCATED,
    &UNENDED,
    &STRAY,
];

/// Mistral's rules.
pub(super) static CHAT: ChatRules = ChatRules {
    common: Common {
        truncated: &TRUNCATED,
        unreadable: &UNREADABLE,
        unended: Some(&UNENDED),
        stray: Some(&STRAY),
    },
    id: &ID,
    role: &ROLE,
    call_index: None,
    call_id: Some(&CALL_ID),
    call_start: &CALL_START,
    call_changed: None,
    call_repeated: &CALL_REPEATED,
    call_gap: None,
    arguments_text: &ARGUMENTS_TEXT,
    arguments_json: &ARGUMENTS_JSON,
    finish_changed: &FINISH_CHANGED,
    finish_repeated: &FINISH_REPEATED,
    no_call: &NO_CALL,
    after_finish: &AFTER_FINISH,
    // The usage comes with the finish reason.
    usage_early: None,
    done_early: &DONE_EARLY,
    done_missing: &DONE_MISSING,
    after_end: &AFTER_END,
};
