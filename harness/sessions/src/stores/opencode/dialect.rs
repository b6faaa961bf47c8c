//! Which dialect a provider of opencode's speaks.

use brickbat_rules::Dialect;

/// Providers whose package speaks Chat Completions; of the list at <https://models.dev>.
const CHAT: [&str; 24] = [
    "alibaba",
    "baseten",
    "cerebras",
    "chutes",
    "deepinfra",
    "deepseek",
    "fireworks-ai",
    "github-copilot",
    "github-models",
    "groq",
    "huggingface",
    "inference",
    "llama",
    "lmstudio",
    "moonshotai",
    "nvidia",
    "ollama",
    "ollama-cloud",
    "openrouter",
    "togetherai",
    "venice",
    "xai",
    "zai",
    "zhipuai",
];

/// The dialect in which a model is spoken to; nothing for a provider that is not known.
pub(super) fn dialect_of(provider: &str, model: &str) -> Option<Dialect> {
    Some(match provider {
        "anthropic" | "google-vertex-anthropic" => Dialect::AnthropicMessages,
        "openai" | "azure" => Dialect::OpenaiResponses,
        "google" | "google-vertex" => Dialect::Gemini,
        "amazon-bedrock" => Dialect::BedrockConverse,
        "mistral" => Dialect::Mistral,
        // The makers' own gateway has each model in its own dialect (https://opencode.ai/docs/zen).
        "opencode" if model.starts_with("claude") => Dialect::AnthropicMessages,
        "opencode" if model.starts_with("gpt") => Dialect::OpenaiResponses,
        "opencode" if model.starts_with("gemini") => Dialect::Gemini,
        "opencode" => Dialect::OpenaiChat,
        _ if CHAT.binary_search(&provider).is_ok() => Dialect::OpenaiChat,
        _ => return None,
    })
}
