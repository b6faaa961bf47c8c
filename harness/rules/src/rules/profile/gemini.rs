//! Google Gemini: AI Studio, and Vertex AI with its own sentences.

use super::super::{Envelope, gemini};
use super::{GeminiSwitches, ModelVersion, Profile, Switches};
use crate::dialect::Dialect;

pub(super) static PROFILES: [Profile; 2] = [
    Profile {
        name: "gemini@2026-09",
        provider: "Google AI Studio",
        dialect: Dialect::Gemini,
        added: &[],
        // Empty text was refused in early 2025 between other contents and accepted alone
        // (google-gemini/deprecated-generative-ai-js#361); streams end with an empty text, which clients give back.
        // Responses beside other parts were refused by Gemini 3.6 (vellum-ai/vellum-assistant#39495) and answered by
        // older models with status 200 and nonsense (NousResearch/hermes-agent#79791).
        tolerated: &[&gemini::TEXT_EMPTY, &gemini::RESPONSES_MIXED],
        given_up: &[],
        wording: &[],
        envelope: Envelope::Google,
        switches: Switches::Gemini(SWITCHES),
    },
    Profile {
        name: "vertex-gemini@2026-09",
        provider: "Google Vertex AI",
        dialect: Dialect::Gemini,
        added: &[],
        tolerated: &[&gemini::RESPONSES_MIXED],
        given_up: &[],
        wording: &[
            (&gemini::PARTS_EMPTY, &[PARTS_EMPTY]),
            (&gemini::THOUGHT_SIGNATURE_MISSING, &[THOUGHT_SIGNATURE_MISSING]),
            (&gemini::THOUGHT_SIGNATURE_CORRUPTED, &[THOUGHT_SIGNATURE_CORRUPTED]),
        ],
        envelope: Envelope::Google,
        switches: Switches::Gemini(SWITCHES),
    },
];

/// <https://github.com/anomalyco/opencode/issues/17519>.
const PARTS_EMPTY: &str = "Unable to submit request because it must include at least one parts field, which describes \
    the prompt input. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini";

/// <https://github.com/GewoonJaap/gemini-cli-openai/issues/156>.
const THOUGHT_SIGNATURE_MISSING: &str = "Unable to submit request because function call `{name}` in the {p}. content \
    block is missing a `thought_signature`. Learn more: \
    https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures";

/// Both full stops are the provider's (<https://github.com/decolua/9router/issues/301>).
const THOUGHT_SIGNATURE_CORRUPTED: &str = "Unable to submit request because Thought signature is not valid.. Learn \
    more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini";

const SWITCHES: GeminiSwitches = GeminiSwitches {
    // "Gemini 3 models enforce stricter validation", says <https://ai.google.dev/gemini-api/docs/thought-signatures>.
    first_with_signatures: ModelVersion { major: 3, minor: 0 },
    // Tried out on four models (LibreChat-AI/agents#323): 3.6 Flash and 3.5 Flash-Lite refuse, 3.5 Flash and 2.5 do not.
    first_without_prefill: ModelVersion { major: 3, minor: 6 },
    also_without_prefill: &["gemini-3.5-flash-lite"],
};
