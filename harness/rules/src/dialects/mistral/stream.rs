//! Mistral's streams: the rules about OpenAI's chunks with Mistral's differences; see
//! `dialects::openai::stream`.
//!
//! A call arrives complete in one chunk, usually the one with the finish reason. Its index may be missing,
//! or 0 for every call.

use super::models::is_mistral_model;
use crate::dialects::openai::{ChatRules, chat_rules};
use crate::streams::{Common, SSE, StreamRule, stream_rules};

const DOCS: &str = "https://docs.mistral.ai/api/#tag/chat/operation/chat_completion_v1_chat_completions_post";
const IDS: &str =
    "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py";
const READER: &str = "https://github.com/mistralai/client-python";

chat_rules! { "mistral", DOCS, DOCS, DOCS;
    {
        error CALL_ID = "call-id", "the id of a call is nine letters and digits", IDS;
    }
    {
        warning CALL_REPEATED = "call-start-repeated",
            "later pieces of a call repeat neither its id nor its name", READER;
        error ARGUMENTS_TEXT = "arguments-not-text", "the arguments of a call are a string or an object", READER;
    }
    {
        warning NO_CALL = "finish-without-call",
            "the finish reason tool_calls comes after a call or with it", DOCS;
    }
    {
        // The usage and the finish reason are in the same chunk.
    }
    tolerated: [CALL_ID];
    unknown: [];
    is_own_model: is_mistral_model,
    call_index: None,
    call_id: Some(&CALL_ID),
    call_changed: None,
    call_gap: None,
    usage_early: None
}
