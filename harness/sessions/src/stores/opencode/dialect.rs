//! The dialects of opencode's providers.

use brickbat_rules::Dialect;

/// Providers with a package for Chat Completions, from the list at <https://models.dev>.
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

/// The dialect of a model. `None` if the provider is unknown.
pub(super) fn dialect_of(provider: &str, model: &str) -> Option<Dialect> {
    Some(match provider {
        "anthropic" | "google-vertex-anthropic" => Dialect::AnthropicMessages,
        "openai" | "azure" => Dialect::OpenaiResponses,
        "google" | "google-vertex" => Dialect::Gemini,
        "amazon-bedrock" => Dialect::BedrockConverse,
        "mistral" => Dialect::Mistral,
        // opencode's own gateway offers each model in the model's own dialect (https://opencode.ai/docs/zen).
        "opencode" if model.starts_with("claude") => Dialect::AnthropicMessages,
        "opencode" if model.starts_with("gpt") => Dialect::OpenaiResponses,
        "opencode" if model.starts_with("gemini") => Dialect::Gemini,
        "opencode" => Dialect::OpenaiChat,
        _ if CHAT.binary_search(&provider).is_ok() => Dialect::OpenaiChat,
        _ => return None,
    })
}
