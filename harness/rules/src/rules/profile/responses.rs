//! OpenAI Responses, and the providers that speak it.

use super::super::{Envelope, responses};
use super::{Profile, ResponsesSwitches, Switches};
use crate::dialect::Dialect;

pub(super) static PROFILES: [Profile; 2] = [
    Profile {
        name: "openai-responses@2026-09",
        provider: "OpenAI",
        dialect: Dialect::OpenaiResponses,
        added: &[],
        // Only gateways were seen to refuse a second output.
        tolerated: &[&responses::TOOL_OUTPUT_DUPLICATE],
        given_up: &[],
        wording: &[],
        envelope: Envelope::Openai,
        switches: Switches::OpenaiResponses(ResponsesSwitches { max_id_chars: MAX_ID_CHARS }),
    },
    Profile {
        name: "deepseek-responses@2026-09",
        provider: "DeepSeek",
        dialect: Dialect::OpenaiResponses,
        // Recorded: a message between two calls is refused, <https://github.com/pydantic/pydantic-ai> (cassettes of
        // `test_deepseek_responses`).
        added: &[&responses::TOOL_OUTPUTS_INTERRUPTED],
        tolerated: &[
            &responses::TOOL_OUTPUT_ORPHAN,
            &responses::TOOL_OUTPUT_DUPLICATE,
            &responses::CONTENT_PART_TYPE,
            &responses::CALL_ID_LENGTH,
            &responses::ITEM_ID_TOO_LONG,
        ],
        // Recorded in the same place: ids of any form, and reasoning before anything, are accepted.
        given_up: &[
            &responses::ITEM_ID_FORM,
            &responses::REASONING_WITHOUT_ITEM,
            &responses::ITEM_WITHOUT_REASONING,
        ],
        wording: &[(&responses::TOOL_OUTPUT_MISSING, &["No tool output found for tool call {call_id}."])],
        envelope: Envelope::Openai,
        switches: Switches::OpenaiResponses(ResponsesSwitches { max_id_chars: MAX_ID_CHARS }),
    },
];

/// `Expected a string with maximum length 64` is what every report of 2026 quotes, of calls and of items.
const MAX_ID_CHARS: usize = 64;
