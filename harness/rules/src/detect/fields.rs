//! Signs of a dialect in the fields around a list of messages.

use super::{ANTHROPIC, BEDROCK, CHAT};
use crate::address::OLLAMA;
use crate::json::Json;

/// Request fields that only OpenAI and compatible providers have.
const OPENAI_FIELDS: [&str; 6] = [
    "max_completion_tokens",
    "parallel_tool_calls",
    "reasoning_effort",
    "response_format",
    "stream_options",
    "stop",
];

/// Request fields that only Bedrock has.
const BEDROCK_FIELDS: [&str; 5] =
    ["inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig", "modelId"];

/// Returns the dialect of a body with `messages`, based on fields that only one dialect has.
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

/// Returns whether the body limits the reply or configures tools. A request does so; a stored session does
/// not.
pub(super) fn is_sent(body: Json) -> bool {
    has_any(body, &["max_tokens", "max_completion_tokens", "inferenceConfig", "toolConfig"])
}

/// Returns the dialect that the model's name indicates. Gateways with OpenAI's API name Claude
/// `anthropic/claude-…`.
pub(super) fn of_model(body: Json) -> Option<&'static str> {
    match body.field("model").as_str()?.as_ref() {
        model if model.contains("claude-") && !model.contains('/') => Some(ANTHROPIC),
        model if model.contains("claude-") || model.contains("gpt-") => Some(CHAT),
        model if is_mistral_model(model) => Some(CHAT),
        _ => None,
    }
}

/// Returns whether the body has a field that only Mistral has.
pub(super) fn is_mistral(body: Json) -> bool {
    has_any(body, &["safe_prompt", "random_seed"])
}

/// Mistral's own model families. Gateways put a `/` into the name, and local servers a `:`.
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
    // LiteLLM's name for the provider itself.
    let model = model.strip_prefix("mistral/").unwrap_or(model);
    MISTRAL_MODELS.iter().any(|family| model.starts_with(family)) && !model.contains(['/', ':'])
}

/// Returns whether the body has a field next to `contents` that only Gemini has.
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

/// Returns whether a body with `input` has a field that embedding and speech requests do not have.
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
    // A speech request may have `instructions`, but it has `voice` at the top level.
    body.get("voice").is_none() && has_any(body, &fields)
}

/// Returns the name of a known but unsupported API.
pub(super) fn unspoken(body: Json) -> Option<&'static str> {
    // Results of Ollama's own API name their tool, and not their call (https://docs.ollama.com/capabilities/tool-calling).
    let is_result = |message: Json| message.field("role").is("tool") && message.field("tool_name").is_str();
    if body.field("messages").items().any(is_result) {
        return Some(OLLAMA);
    }
    let model = body.field("model").as_str().unwrap_or_default();
    let interactions =
        ["previous_interaction_id", "agent", "agent_config", "generation_config", "response_modalities"];
    let is_of_gemini = body.get("input").is_some()
        && body.get("contents").is_none()
        && (has_any(body, &interactions) || model.starts_with("gemini-"));
    let is_of_mistral =
        body.get("inputs").is_some() && has_any(body, &["agent_id", "completion_args", "handoff_execution"]);
    let item = body.field("items").item(0);
    let is_item = item.field("type").is("message") && item.get("role").is_some() && model.is_empty();
    // https://github.com/livekit/agents, `livekit-agents/livekit/agents/llm/chat_context.py`
    if is_item && (item.field("content").item(0).is_str() || item.get("interrupted").is_some()) {
        return Some("LiveKit's ChatContext");
    }
    match (is_of_gemini, is_of_mistral, is_item) {
        (true, _, _) => Some("Gemini Interactions"),
        (_, true, _) => Some("Mistral Conversations"),
        (_, _, true) => Some("OpenAI Conversations"),
        _ => None,
    }
}

fn has_any(body: Json, fields: &[&str]) -> bool {
    fields.iter().any(|field| body.get(field).is_some())
}
