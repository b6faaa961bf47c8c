//! Profiles for Mistral's La Plateforme by date, and for Mistral's validator `mistral-common` by
//! tokenizer version.
//!
//! The profiles by version behave like the request validator of `mistral-common` 1.13.1 in serving mode,
//! including its quirks: <https://github.com/mistralai/mistral-common>. A test compares both.

use super::switches::{CallIds, FirstMessage, MistralSwitches, OddNames, PairingMode, UserAfterTool};
use super::{content, order, shape};
use crate::{Dialect, Envelope, Profile, Rule};

const BASE: Profile = Profile::base(Dialect::Mistral, "Mistral", Envelope::Mistral, &BY_COUNT);

pub(crate) static PROFILES: [Profile; 6] = [
    Profile {
        name: "mistral@2026-09",
        // Rejected in June 2025 (solbrowse/extension#16). The current validator accepts it.
        tolerated: &[&content::ASSISTANT_MESSAGE_EMPTY],
        // According to the API reference, the content of user and tool messages can be null:
        // <https://docs.mistral.ai/api>.
        given_up: &[&shape::CONTENT_NULL],
        switches: &MistralSwitches {
            // Seen until December 2025 (BerriAI/litellm#17761). In May 2026 it could not be reproduced
            // (block/goose#5998), and the current validator accepts it.
            user_after_tool: UserAfterTool::Contested,
            // "Unexpected tool call id pR1CHbWdz in tool results" (pydantic/pydantic-ai#3733).
            pairing: PairingMode::ById,
            // No rejection because of results at the beginning of a conversation is known.
            first_message: FirstMessage::Forgiven,
            // Models with newer tokenizers might accept any id, but `mistral-medium-latest` rejected one
            // in April 2026 (zed-industries/zed#53034).
            call_ids: CallIds::NineAlphanumerics,
            // Recorded replies of January 2026 accept such names.
            odd_names: OddNames::Contested,
        },
        ..BASE
    },
    Profile {
        name: "mistral@2025-07",
        given_up: &[&shape::CONTENT_NULL],
        // "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
        // (huggingface/smolagents#757, 0xPlaygrounds/rig#1130).
        wording: &[(
            &order::LAST_MESSAGE_ASSISTANT,
            &["Expected last role User or Tool (or Assistant with prefix True) for serving but got {role}"],
        )],
        switches: &MistralSwitches {
            user_after_tool: UserAfterTool::Refused,
            pairing: PairingMode::ByCount,
            first_message: FirstMessage::Forgiven,
            call_ids: CallIds::NineAlphanumerics,
            odd_names: OddNames::Refused,
        },
        ..BASE
    },
    version("mistral-v3@2026-09", &[&content::CONTENT_AND_CALLS], &BY_COUNT),
    version("mistral-v7@2026-09", &[], &BY_COUNT),
    version("mistral-v11@2026-09", &[], &BY_ID),
    version("mistral-v13@2026-09", &[], &ANY_ID),
];

/// Rules that only the API has, not the validator.
const ONLY_THE_API: &[&Rule] = &[&content::ASSISTANT_MESSAGE_EMPTY];

/// Creates the profile of the validator for one tokenizer version.
const fn version(
    name: &'static str,
    added: &'static [&'static Rule],
    switches: &'static MistralSwitches,
) -> Profile {
    Profile { name, provider: "mistral-common", added, given_up: ONLY_THE_API, switches, ..BASE }
}

/// The validator for tokenizers before version 11.
const BY_COUNT: MistralSwitches = MistralSwitches {
    user_after_tool: UserAfterTool::Taken,
    pairing: PairingMode::ByCount,
    first_message: FirstMessage::Uncounted,
    call_ids: CallIds::NineAlphanumerics,
    odd_names: OddNames::Refused,
};

const BY_ID: MistralSwitches = MistralSwitches { pairing: PairingMode::ById, ..BY_COUNT };

const ANY_ID: MistralSwitches = MistralSwitches { call_ids: CallIds::AnyButNull, ..BY_ID };
