//! Bedrock Converse profiles.

use super::claude;
use crate::{Dialect, Envelope, Profile};

/// Bedrock has no switches.
#[derive(Debug)]
pub(crate) struct BedrockSwitches;

const BASE: Profile =
    Profile::base(Dialect::BedrockConverse, "Amazon Bedrock", Envelope::Aws, &BedrockSwitches);

pub(crate) static PROFILES: [Profile; 1] = [Profile {
    name: "bedrock-converse@2026-09",
    tolerated: &[
        // In measurements, Claude rejected text after a call (anomalyco/opencode#16751), but recorded
        // replies show that the same model accepts it. No reply of Bedrock is known.
        &claude::MODEL_TEXT_AFTER_TOOL_USE,
        // Converse accepts `functions.bash:0`; Claude called directly does not (anomalyco/opencode#1279).
        // It is unknown whether Bedrock renames ids in between.
        &claude::MODEL_TOOL_ID_PATTERN,
    ],
    ..BASE
}];
