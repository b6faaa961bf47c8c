//! Bedrock Converse.

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
        // Claude was measured to refuse text after a call (anomalyco/opencode#16751), and recorded answers of the same
        // model show that it takes it; Bedrock's answer was not seen.
        &claude::MODEL_TEXT_AFTER_TOOL_USE,
        // Converse takes `functions.bash:0`, Claude asked directly does not (anomalyco/opencode#1279); whether Bedrock
        // renames ids between the two is not known.
        &claude::MODEL_TOOL_ID_PATTERN,
    ],
    ..BASE
}];
