//! Mistral's La Plateforme over time, and `mistral-common`, Mistral's own validator, for each version of the tokenizer.
//!
//! The profiles of the versions do what the request validator of `mistral-common` 1.13.1 does when it serves, quirks
//! included: <https://github.com/mistralai/mistral-common>. A test holds them against it.

use super::{content, order, shape};
use crate::{Dialect, Envelope, Profile, Rule};

/// What differs between the dates of La Plateforme and the versions of Mistral's tokenizers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MistralSwitches {
    /// What becomes of a user message directly after a tool message.
    pub(crate) user_after_tool: UserAfterTool,
    /// How calls and results are held against each other.
    pub(crate) pairing: PairingMode,
    /// What becomes of calls and results that begin a conversation.
    pub(crate) first_message: FirstMessage,
    pub(crate) call_ids: CallIds,
}

/// What Mistral makes of a user message directly after a tool message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserAfterTool {
    /// It is refused.
    Refused,
    /// It is taken, but older endpoints refuse it.
    Contested,
    /// It is taken.
    Taken,
}

/// How Mistral holds calls and results against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairingMode {
    /// There are as many results as calls, whatever their ids (tokenizers before version 11).
    ByCount,
    /// Each result has the id of a call, and no two the same (tokenizers from version 11 on).
    ById,
}

/// What Mistral makes of the first message where it counts calls and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstMessage {
    /// It is passed over: its calls are not counted, so their results are too many.
    Uncounted,
    /// It is passed over, and so are all results before the next assistant message.
    Forgiven,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallIds {
    /// Nine letters and digits.
    NineAlphanumerics,
    /// Any that is not empty and not `null` (tokenizers from version 13 on).
    AnyButNull,
}

const BASE: Profile = Profile::base(Dialect::Mistral, "Mistral", Envelope::Mistral, &BY_COUNT);

pub(crate) static PROFILES: [Profile; 6] = [
    Profile {
        name: "mistral@2026-09",
        // Refused in June 2025 (solbrowse/extension#16); the validator of today accepts it.
        tolerated: &[&content::ASSISTANT_MESSAGE_EMPTY],
        // The API's reference lets the content of user and tool messages be null: <https://docs.mistral.ai/api>.
        given_up: &[&shape::CONTENT_NULL],
        switches: &MistralSwitches {
            // Seen until December 2025 (BerriAI/litellm#17761); in May 2026 nobody could make it happen any more
            // (block/goose#5998), and the validator of today allows it.
            user_after_tool: UserAfterTool::Contested,
            // "Unexpected tool call id pR1CHbWdz in tool results" (pydantic/pydantic-ai#3733).
            pairing: PairingMode::ById,
            // Nobody is known to have been refused a conversation for the results at its beginning.
            first_message: FirstMessage::Forgiven,
            // Models with newer tokenizers may take any id, but `mistral-medium-latest` refused one in April 2026
            // (zed-industries/zed#53034).
            call_ids: CallIds::NineAlphanumerics,
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
        },
        ..BASE
    },
    version("mistral-v3@2026-09", &[&content::CONTENT_AND_CALLS], &BY_COUNT),
    version("mistral-v7@2026-09", &[], &BY_COUNT),
    version("mistral-v11@2026-09", &[], &BY_ID),
    version("mistral-v13@2026-09", &[], &ANY_ID),
];

/// The rules that the validator does not have.
const ONLY_THE_API: &[&Rule] = &[&content::ASSISTANT_MESSAGE_EMPTY];

/// The validator for one version of the tokenizer.
const fn version(
    name: &'static str,
    added: &'static [&'static Rule],
    switches: &'static MistralSwitches,
) -> Profile {
    Profile { name, provider: "mistral-common", added, given_up: ONLY_THE_API, switches, ..BASE }
}

/// The validator of tokenizers before version 11.
const BY_COUNT: MistralSwitches = MistralSwitches {
    user_after_tool: UserAfterTool::Taken,
    pairing: PairingMode::ByCount,
    first_message: FirstMessage::Uncounted,
    call_ids: CallIds::NineAlphanumerics,
};

const BY_ID: MistralSwitches = MistralSwitches { pairing: PairingMode::ById, ..BY_COUNT };

const ANY_ID: MistralSwitches = MistralSwitches { call_ids: CallIds::AnyButNull, ..BY_ID };
