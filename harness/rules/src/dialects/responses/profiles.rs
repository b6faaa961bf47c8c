//! Profiles for OpenAI Responses and compatible providers.

use super::super::openai::COPILOT_BYTES;
use super::switches::ResponsesSwitches;
use super::{BODY_TOO_LARGE, namespace, pairing, reasoning, schema, state, stream};
use crate::{BodyLimit, Dialect, Envelope, Profile, RelativeEnvelope};

const BASE: Profile = Profile::base(
    Dialect::OpenaiResponses,
    "OpenAI",
    Envelope::Openai,
    &ResponsesSwitches { max_id_chars: MAX_ID_CHARS, has_async_calls: true },
);

/// A provider other than OpenAI.
const RELATIVE: Profile = Profile { tolerated_in_streams: stream::TOLERATED_OF_RELATIVES, ..BASE };

/// Another provider with its own models, which has no async calls.
const OTHER_MODELS: Profile = Profile {
    switches: &ResponsesSwitches { max_id_chars: MAX_ID_CHARS, has_async_calls: false },
    ..RELATIVE
};

pub(crate) static PROFILES: [Profile; 4] = [
    Profile {
        name: "openai-responses@2026-09",
        // Only gateways were seen to reject a second output.
        tolerated: &[&pairing::TOOL_OUTPUT_DUPLICATE],
        ..BASE
    },
    Profile {
        name: "deepseek-responses@2026-09",
        provider: "DeepSeek",
        // In recordings, a message between two calls is rejected:
        // <https://github.com/pydantic/pydantic-ai> (cassettes of `test_deepseek_responses`).
        added: &[&pairing::TOOL_OUTPUTS_INTERRUPTED],
        tolerated: &[
            &pairing::TOOL_OUTPUT_DUPLICATE,
            &schema::ITEM_TYPE,
            &schema::CONTENT_PART_TYPE,
            &schema::CALL_ID_LENGTH,
            &schema::ITEM_ID_TOO_LONG,
            &namespace::NAMESPACE_MISSING,
        ],
        // In the same recordings, ids of any form and reasoning before anything are accepted.
        given_up: &[
            &pairing::ASYNC_OUTPUT_DUPLICATE,
            &schema::ITEM_ID_FORM,
            &schema::ENCRYPTED_CONTENT_FOREIGN,
            &schema::REASONING_CONTENT,
            &schema::ITEM_FIELD_UNKNOWN,
            &reasoning::REASONING_WITHOUT_ITEM,
            &reasoning::ITEM_WITHOUT_REASONING,
        ],
        wording: &[
            (&pairing::TOOL_OUTPUT_MISSING, &["No tool output found for tool call {call_id}."]),
            // https://github.com/deepseek-ai/DeepSeek-V3/issues/1611
            (&pairing::TOOL_OUTPUT_ORPHAN, &["No tool call found for tool output with call_id {call_id}."]),
        ],
        ..OTHER_MODELS
    },
    // In recordings of grok-3-mini, grok-4 and grok-4.3, reasoning with an id before a call without one is
    // accepted, and so are ids such as `tco_…`. xAI's ids have their own formats:
    // https://github.com/vercel/ai/issues/10491. Its other rejections are not published.
    Profile {
        name: "xai-responses@2026-09",
        provider: "xAI",
        tolerated: &[
            &state::ITEM_NOT_FOUND,
            &pairing::TOOL_OUTPUT_ORPHAN,
            &pairing::TOOL_OUTPUT_MISSING,
            &pairing::TOOL_OUTPUT_DUPLICATE,
            &schema::ITEM_TYPE,
            &schema::CONTENT_PART_TYPE,
            &schema::FUNCTION_NAME_PATTERN,
            &namespace::NAMESPACE_MISSING,
            &schema::CALL_ID_LENGTH,
            &schema::ITEM_ID_TOO_LONG,
            &state::ITEM_DUPLICATE,
        ],
        given_up: &[
            &pairing::ASYNC_OUTPUT_DUPLICATE,
            &schema::ITEM_ID_FORM,
            &schema::ENCRYPTED_CONTENT_FOREIGN,
            &schema::REASONING_CONTENT,
            &schema::ITEM_FIELD_UNKNOWN,
            &reasoning::REASONING_WITHOUT_ITEM,
            &reasoning::ITEM_WITHOUT_REASONING,
        ],
        envelope: Envelope::Relative(RelativeEnvelope::Xai),
        ..OTHER_MODELS
    },
    // OpenAI's models behind a gateway that encrypts item ids. The ids have about 400 characters and
    // differ in each event, so they cannot identify items (https://github.com/BerriAI/litellm/pull/30072).
    // Calls and outputs are still paired (https://github.com/can1357/oh-my-pi/issues/106), and repeated
    // items are rejected (https://github.com/github/copilot-cli/issues/3560).
    Profile {
        name: "copilot-responses@2026-09",
        provider: "GitHub Copilot",
        tolerated: &[
            &pairing::TOOL_OUTPUT_DUPLICATE,
            &pairing::ASYNC_OUTPUT_DUPLICATE,
            &schema::REASONING_CONTENT,
            &schema::ITEM_FIELD_UNKNOWN,
            &reasoning::REASONING_WITHOUT_ITEM,
            &reasoning::ITEM_WITHOUT_REASONING,
        ],
        given_up: &[&schema::ITEM_ID_FORM, &schema::ITEM_ID_TOO_LONG],
        given_up_in_streams: &[&stream::RESPONSE_CHANGED, &stream::ITEM_CHANGED],
        added: &[&BODY_TOO_LARGE],
        max_body: Some(BodyLimit { bytes: COPILOT_BYTES, rule: &BODY_TOO_LARGE }),
        ..RELATIVE
    },
];

/// Every report of 2026 quotes `Expected a string with maximum length 64`, both for calls and for items.
const MAX_ID_CHARS: usize = 64;
