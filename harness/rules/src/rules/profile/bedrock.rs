//! Bedrock Converse.

use super::super::{Envelope, bedrock};
use super::{Profile, Switches};
use crate::dialect::Dialect;

pub(super) static PROFILES: [Profile; 1] = [Profile {
    name: "bedrock-converse@2026-09",
    provider: "Amazon Bedrock",
    dialect: Dialect::BedrockConverse,
    added: &[],
    tolerated: &[
        // Claude was measured to refuse text after a call (anomalyco/opencode#16751), and recorded answers of the same
        // model show that it takes it; Bedrock's answer was not seen.
        &bedrock::MODEL_TEXT_AFTER_TOOL_USE,
        // Converse takes `functions.bash:0`, Claude asked directly does not (anomalyco/opencode#1279); whether Bedrock
        // renames ids between the two is not known.
        &bedrock::MODEL_TOOL_ID_PATTERN,
    ],
    given_up: &[],
    wording: &[],
    envelope: Envelope::Aws,
    switches: Switches::BedrockConverse,
}];
