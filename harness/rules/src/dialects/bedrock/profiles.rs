//! Bedrock Converse profiles.

use super::{claude, pairing};
use crate::{Dialect, Envelope, Profile};

/// Bedrock has no switches.
#[derive(Debug)]
pub(crate) struct BedrockSwitches;

/// Two rules are contested at all dates. In measurements, Claude rejected text after a call
/// (anomalyco/opencode#16751), but recorded replies show that the same model accepts it. Converse accepts
/// `functions.bash:0`; Claude called directly does not (anomalyco/opencode#1279). No reply of Bedrock is known, and
/// it is unknown whether Bedrock renames ids in between.
const BASE: Profile =
    Profile::base(Dialect::BedrockConverse, "Amazon Bedrock", Envelope::Aws, &BedrockSwitches);

pub(crate) static PROFILES: [Profile; 2] = [
    Profile {
        name: "bedrock-converse@2026-09",
        tolerated: &[
            &claude::MODEL_TEXT_AFTER_TOOL_USE,
            &claude::MODEL_TOOL_ID_PATTERN,
            // The reports are from 2024 and early 2025. Claude 3 Haiku was recorded as accepting it in January
            // and February 2026 (crewAIInc/crewAI, cassettes of `TestBedrockNativeToolCalling`), and no recorded
            // reply is a rejection.
            &pairing::ROLES_NOT_ALTERNATING,
        ],
        ..BASE
    },
    Profile {
        name: "bedrock-converse@2025-03",
        tolerated: &[&claude::MODEL_TEXT_AFTER_TOOL_USE, &claude::MODEL_TOOL_ID_PATTERN],
        ..BASE
    },
];
