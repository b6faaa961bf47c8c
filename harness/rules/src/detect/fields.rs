//! What the fields around a list of messages tell.

use super::{ANTHROPIC, BEDROCK, CHAT};
use crate::json::Json;

/// Fields of a request that only OpenAI knows, and who took its API over.
const OPENAI_FIELDS: [&str; 6] = [
    "max_completion_tokens",
    "parallel_tool_calls",
    "reasoning_effort",
    "response_format",
    "stream_options",
    "stop",
];

/// Fields of a request that only Bedrock knows.
const BEDROCK_FIELDS: [&str; 5] =
    ["inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig", "modelId"];

/// The dialect of a body with `messages`, by what only one has around them.
pub(super) fn of_fields(body: Json) -> Option<&'static str> {
    let tool = body.field("tools").item(0);
    let system = body.field("system").item(0);
    if has_any(body, &BEDROCK_FIELDS) || (system.field("text").is_str() && system.get("type").is_none()) {
        return Some(BEDROCK);
    }
    let is_anthropic = body.field("anthropic_version").is_str()
        || tool.get("input_schema").is_some()
        || system.field("type").is("text")
        || (body.field("system").is_str() && body.get("max_tokens").is_some());
    if is_anthropic {
        return Some(ANTHROPIC);
    }
    (has_any(body, &OPENAI_FIELDS) || tool.get("function").is_some()).then_some(CHAT)
}

/// Whether a body bounds what its model may say, as a request does and a stored session does not.
pub(super) fn is_sent(body: Json) -> bool {
    has_any(body, &["max_tokens", "max_completion_tokens", "inferenceConfig", "toolConfig"])
}

/// Gateways with OpenAI's API name Claude `anthropic/claude-…`.
pub(super) fn of_model(body: Json) -> Option<&'static str> {
    match body.field("model").as_str()?.as_ref() {
        model if model.contains("claude-") && !model.contains('/') => Some(ANTHROPIC),
        model if model.contains("claude-") || model.contains("gpt-") => Some(CHAT),
        model if is_mistral_model(model) => Some(CHAT),
        _ => None,
    }
}

/// Whether a body has a field that only Mistral knows.
pub(super) fn is_mistral(body: Json) -> bool {
    has_any(body, &["safe_prompt", "random_seed"])
}

/// The families of Mistral's own models; on a gateway they have a `/` in their name.
const MISTRAL_MODELS: [&str; 8] = [
    "mistral-",
    "magistral",
    "codestral",
    "ministral",
    "devstral",
    "pixtral",
    "open-mistral",
    "open-mixtral",
];

pub(super) fn is_mistral_model(model: &str) -> bool {
    MISTRAL_MODELS.iter().any(|family| model.starts_with(family)) && !model.contains('/')
}

/// Whether a body has a field that only Gemini knows next to `contents`.
pub(super) fn is_gemini(body: Json) -> bool {
    let fields = [
        "generationConfig",
        "generation_config",
        "systemInstruction",
        "system_instruction",
        "safetySettings",
        "safety_settings",
        "toolConfig",
        "tool_config",
        "cachedContent",
        "cached_content",
    ];
    has_any(body, &fields)
}

/// Whether a body with an `input` has a field that a request for embeddings or for speech does not have.
pub(super) fn is_responses(body: Json) -> bool {
    let fields = [
        "instructions",
        "max_output_tokens",
        "previous_response_id",
        "reasoning",
        "store",
        "stream",
        "tools",
    ];
    // A request for speech may have instructions; its voice stands in the outermost object.
    body.get("voice").is_none() && has_any(body, &fields)
}

/// The API of a body that is known and not spoken here, and that has no `messages`.
pub(super) fn unspoken(body: Json) -> Option<&'static str> {
    let model = body.field("model").as_str().unwrap_or_default();
    let interactions =
        ["previous_interaction_id", "agent", "agent_config", "generation_config", "response_modalities"];
    let is_of_gemini = body.get("input").is_some()
        && body.get("contents").is_none()
        && (has_any(body, &interactions) || model.starts_with("gemini-"));
    let is_of_mistral =
        body.get("inputs").is_some() && has_any(body, &["agent_id", "completion_args", "handoff_execution"]);
    let item = body.field("items").item(0);
    let is_of_openai = item.field("type").is("message") && item.get("role").is_some() && model.is_empty();
    match (is_of_gemini, is_of_mistral, is_of_openai) {
        (true, _, _) => Some("Gemini Interactions"),
        (_, true, _) => Some("Mistral Conversations"),
        (_, _, true) => Some("OpenAI Conversations"),
        _ => None,
    }
}

fn has_any(body: Json, fields: &[&str]) -> bool {
    fields.iter().any(|field| body.get(field).is_some())
}
