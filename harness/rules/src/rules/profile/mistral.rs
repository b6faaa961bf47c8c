//! Mistral's La Plateforme over time, and `mistral-common`, Mistral's own validator, for each version of the tokenizer.
//!
//! The profiles of the versions do what the request validator of `mistral-common` 1.13.1 does when it serves, quirks
//! included: <https://github.com/mistralai/mistral-common>. A test holds them against it.

use super::super::{Envelope, Rule, mistral};
use super::{CallIds, FirstMessage, MistralSwitches, Pairing, Profile, Switches, UserAfterTool};
use crate::dialect::Dialect;

pub(super) static PROFILES: [Profile; 6] = [
    Profile {
        name: "mistral@2026-09",
        provider: "Mistral",
        dialect: Dialect::Mistral,
        added: &[],
        // Refused in June 2025 (solbrowse/extension#16); the validator of today accepts it.
        tolerated: &[&mistral::ASSISTANT_MESSAGE_EMPTY],
        // The API's reference lets the content of user and tool messages be null: <https://docs.mistral.ai/api>.
        given_up: &[&mistral::CONTENT_NULL],
        wording: &[],
        envelope: Envelope::Mistral,
        switches: Switches::Mistral(MistralSwitches {
            // Seen until December 2025 (BerriAI/litellm#17761); in May 2026 nobody could make it happen any more
            // (block/goose#5998), and the validator of today allows it.
            user_after_tool: UserAfterTool::Contested,
            // "Unexpected tool call id pR1CHbWdz in tool results" (pydantic/pydantic-ai#3733).
            pairing: Pairing::ById,
            // Nobody is known to have been refused a conversation for the results at its beginning.
            first_message: FirstMessage::Forgiven,
            // Models with newer tokenizers may take any id, but `mistral-medium-latest` refused one in April 2026
            // (zed-industries/zed#53034).
            call_ids: CallIds::NineAlphanumerics,
        }),
    },
    Profile {
        name: "mistral@2025-07",
        provider: "Mistral",
        dialect: Dialect::Mistral,
        added: &[],
        tolerated: &[],
        given_up: &[&mistral::CONTENT_NULL],
        // "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
        // (huggingface/smolagents#757, 0xPlaygrounds/rig#1130).
        wording: &[(
            &mistral::LAST_MESSAGE_ASSISTANT,
            &["Expected last role User or Tool (or Assistant with prefix True) for serving but got {role}"],
        )],
        envelope: Envelope::Mistral,
        switches: Switches::Mistral(MistralSwitches {
            user_after_tool: UserAfterTool::Refused,
            pairing: Pairing::ByCount,
            first_message: FirstMessage::Forgiven,
            call_ids: CallIds::NineAlphanumerics,
        }),
    },
    version(
        "mistral-v3@2026-09",
        &[&mistral::CONTENT_AND_CALLS],
        Pairing::ByCount,
        CallIds::NineAlphanumerics,
    ),
    version("mistral-v7@2026-09", &[], Pairing::ByCount, CallIds::NineAlphanumerics),
    version("mistral-v11@2026-09", &[], Pairing::ById, CallIds::NineAlphanumerics),
    version("mistral-v13@2026-09", &[], Pairing::ById, CallIds::AnyButNull),
];

/// The rules that the validator does not have.
const ONLY_THE_API: &[&Rule] = &[&mistral::ASSISTANT_MESSAGE_EMPTY];

/// The validator for one version of the tokenizer.
const fn version(
    name: &'static str,
    added: &'static [&'static Rule],
    pairing: Pairing,
    call_ids: CallIds,
) -> Profile {
    Profile {
        name,
        provider: "mistral-common",
        dialect: Dialect::Mistral,
        added,
        tolerated: &[],
        given_up: ONLY_THE_API,
        wording: &[],
        envelope: Envelope::Mistral,
        switches: Switches::Mistral(MistralSwitches {
            user_after_tool: UserAfterTool::Taken,
            pairing,
            first_message: FirstMessage::Uncounted,
            call_ids,
        }),
    }
}
