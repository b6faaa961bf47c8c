//! OpenAI Responses, and the providers that speak it.

use super::{pairing, reasoning, schema};
use crate::{Dialect, Envelope, Profile};

/// What differs between the providers of OpenAI Responses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponsesSwitches {
    /// The longest id of an item or of a call.
    pub(crate) max_id_chars: usize,
}

const BASE: Profile = Profile::base(
    Dialect::OpenaiResponses,
    "OpenAI",
    Envelope::Openai,
    &ResponsesSwitches { max_id_chars: MAX_ID_CHARS },
);

pub(crate) static PROFILES: [Profile; 2] = [
    Profile {
        name: "openai-responses@2026-09",
        // Only gateways were seen to refuse a second output.
        tolerated: &[&pairing::TOOL_OUTPUT_DUPLICATE],
        ..BASE
    },
    Profile {
        name: "deepseek-responses@2026-09",
        provider: "DeepSeek",
        // Recorded: a message between two calls is refused, <https://github.com/pydantic/pydantic-ai> (cassettes of
        // `test_deepseek_responses`).
        added: &[&pairing::TOOL_OUTPUTS_INTERRUPTED],
        tolerated: &[
            &pairing::TOOL_OUTPUT_ORPHAN,
            &pairing::TOOL_OUTPUT_DUPLICATE,
            &schema::CONTENT_PART_TYPE,
            &schema::CALL_ID_LENGTH,
            &schema::ITEM_ID_TOO_LONG,
        ],
        // Recorded in the same place: ids of any form, and reasoning before anything, are accepted.
        given_up: &[
            &schema::ITEM_ID_FORM,
            &reasoning::REASONING_WITHOUT_ITEM,
            &reasoning::ITEM_WITHOUT_REASONING,
        ],
        wording: &[(&pairing::TOOL_OUTPUT_MISSING, &["No tool output found for tool call {call_id}."])],
        ..BASE
    },
];

/// `Expected a string with maximum length 64` is what every report of 2026 quotes, of calls and of items.
const MAX_ID_CHARS: usize = 64;
