//! Which models a rule applies to.
//!
//! The rules read this from the version in a model's name. This table is the human-readable description. A
//! test checks that it lists every rule that depends on the name.

use crate::Rule;

impl Rule {
    /// Describes which models the rule applies to. `None` if it applies to all.
    pub fn models(&self) -> Option<&'static str> {
        MODELS.iter().find(|(id, _)| *id == self.id).map(|(_, models)| *models)
    }
}

/// The rules that apply only to some models.
const MODELS: &[(&str, &str)] = &[
    ("anthropic-messages/thinking-bound-elsewhere", "Claude 5.1 and later, but not Mythos"),
    (
        "anthropic-messages/thinking-when-disabled",
        "all models with `thinking: disabled`, and Claude up to 4.5 without `thinking`",
    ),
    ("anthropic-messages/system-message-model", "Claude up to 4.7, and Mythos Preview"),
    ("anthropic-messages/final-text-trailing-space", "Claude up to 4.5"),
    ("anthropic-messages/prefill-not-supported", "Claude 4.6 and later"),
    (
        "anthropic-messages/thinking-with-forced-tool",
        "all models, but with adaptive thinking only Sonnet 4.6 and Opus 4.8",
    ),
    ("anthropic-messages/thinking-not-returned", "DeepSeek V4 and Kimi, while they think"),
    ("openai-chat/arguments-not-json", "all models, but at DashScope only Qwen"),
    ("openai-chat/part-not-text", "models that read only text, at DeepSeek, Groq and DashScope"),
    ("openai-chat/image-outside-user", "GPT-4o and GPT-4 Turbo, and MiMo"),
    ("openai-chat/input-not-enabled", "models without sounds"),
    ("mistral/input-not-enabled", "models without images or sounds"),
    ("openai-chat/user-message-missing", "all models at Z.ai, and at local servers Qwen 3.5"),
    ("openai-chat/successive-roles", "DeepSeek's reasoner, and those whose chat template alternates"),
    ("openai-chat/reasoning-content-missing", "DeepSeek V3.2 and Kimi, while they think"),
    ("openai-chat/reasoning-content-not-returned", "DeepSeek V4 and MiMo V2.5, while they think"),
    ("gemini/ends-with-model", "Gemini 3.6 and later, and 3.5 Flash-Lite"),
    ("gemini/function-role", "Gemini 3.6 and later, and 3.5 Flash-Lite"),
    ("gemini/response-count", "all models, but for several contents with responses only Gemini 3 and later"),
    ("gemini/response-missing", "Gemini 3 and later"),
    (
        "gemini/response-not-after-call",
        "all models, but for several contents with responses only Gemini 3 and later",
    ),
    ("gemini/thought-signature-missing", "Gemini 3 and later"),
    ("gemini/thought-signature-corrupted", "Gemini 3 and later"),
    (
        "bedrock-converse/first-message-not-user",
        "all models; for an assistant message at the beginning, all but Claude",
    ),
    ("bedrock-converse/roles-not-alternating", "Claude and Llama, but not Claude 3 Haiku"),
    ("bedrock-converse/text-blank", "all models but Nova Micro"),
    ("bedrock-converse/input-not-enabled", "Claude Sonnet 4.5"),
    ("bedrock-converse/model-text-beside-tools", "Llama"),
    ("bedrock-converse/model-tool-id-pattern", "Claude"),
    ("bedrock-converse/model-text-after-tool-use", "Claude"),
    ("bedrock-converse/model-tool-result-not-first", "Claude"),
    ("bedrock-converse/model-tool-result-missing", "Claude"),
    ("bedrock-converse/model-text-blank", "Claude"),
    ("bedrock-converse/model-tool-result-error-not-text", "Claude"),
    ("bedrock-converse/model-signature-invalid", "Claude"),
    ("bedrock-converse/model-thinking-missing", "Claude"),
    ("bedrock-converse/model-thinking-with-forced-tool", "Claude"),
    ("bedrock-converse/model-trailing-space", "Claude up to 4.5"),
    ("bedrock-converse/model-prefill-with-tools", "Claude 3"),
    ("bedrock-converse/model-prefill", "Claude 4.6 and later"),
];
