//! Profiles of Google Gemini: AI Studio, and Vertex AI with its own error messages.

use super::switches::GeminiSwitches;
use super::{schema, signatures, turns};
use crate::{Dialect, Envelope, ModelVersion, Profile};

const BASE: Profile = Profile::base(Dialect::Gemini, "Google AI Studio", Envelope::Google, &SWITCHES);

pub(crate) static PROFILES: [Profile; 2] = [
    Profile {
        name: "gemini@2026-09",
        // In early 2025, empty text was rejected between other contents and accepted on its own
        // (google-gemini/deprecated-generative-ai-js#361). Streams end with an empty text, which clients
        // send back. Responses next to other parts were rejected by Gemini 3.6
        // (vellum-ai/vellum-assistant#39495). Older models returned status 200 with nonsense
        // (NousResearch/hermes-agent#79791).
        tolerated: &[&schema::TEXT_EMPTY, &turns::RESPONSES_MIXED],
        ..BASE
    },
    Profile {
        name: "vertex-gemini@2026-09",
        provider: "Google Vertex AI",
        // A report says that the role `function` is rejected there too (langchain-ai/langchainjs#10400);
        // no rejection is known.
        tolerated: &[&turns::RESPONSES_MIXED, &turns::FUNCTION_ROLE],
        wording: &[
            (&schema::PARTS_EMPTY, &[PARTS_EMPTY]),
            (&signatures::THOUGHT_SIGNATURE_MISSING, &[THOUGHT_SIGNATURE_MISSING]),
            (&signatures::THOUGHT_SIGNATURE_CORRUPTED, &[THOUGHT_SIGNATURE_CORRUPTED]),
        ],
        ..BASE
    },
];

/// Source: <https://github.com/anomalyco/opencode/issues/17519>.
const PARTS_EMPTY: &str = "Unable to submit request because it must include at least one parts field, which describes \
    the prompt input. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini";

/// Source: <https://github.com/GewoonJaap/gemini-cli-openai/issues/156>.
const THOUGHT_SIGNATURE_MISSING: &str = "Unable to submit request because function call `{name}` in the {p}. content \
    block is missing a `thought_signature`. Learn more: \
    https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures";

/// Both full stops are the provider's (<https://github.com/decolua/9router/issues/301>).
const THOUGHT_SIGNATURE_CORRUPTED: &str = "Unable to submit request because Thought signature is not valid.. Learn \
    more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini";

const SWITCHES: GeminiSwitches = GeminiSwitches {
    // "Gemini 3 models enforce stricter validation"
    // (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
    first_with_signatures: ModelVersion { major: 3, minor: 0 },
    // gemini-3-pro-preview rejects responses in several contents (cloudwego/eino-ext#571). In
    // measurements, gemini-2.5-flash and gemini-2.5-flash-lite accepted them (Oaklight/llm-rosetta#300).
    first_with_strict_responses: ModelVersion { major: 3, minor: 0 },
    // Tested on four models (LibreChat-AI/agents#323): 3.6 Flash and 3.5 Flash-Lite reject it; 3.5 Flash
    // and 2.5 do not.
    first_without_prefill: ModelVersion { major: 3, minor: 6 },
    // Seen with 3.6 Flash (Sylinko/Everywhere#478) and 3.7 Flash (blakeblackshear/frigate#24013).
    // According to any-llm 1.40, older models accept the role, and 3.5 Flash-Lite, 3.7 Flash and 3.8 Flash
    // reject it.
    first_without_function_role: ModelVersion { major: 3, minor: 6 },
    also_without_them: &["gemini-3.5-flash-lite"],
};
