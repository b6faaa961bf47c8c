//! The error bodies of providers that are compatible with OpenAI Chat Completions but have their own
//! format for errors.

use serde_json::{Value, json};

/// The format in which a provider writes error bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Envelope {
    /// `{type, error: {type, message}, request_id}`.
    Anthropic,
    /// `{error: {message, type, param, code}}`.
    Openai,
    /// The format of another provider that is compatible with OpenAI Chat Completions.
    Relative(RelativeEnvelope),
    /// `{object, message, type, param, code}`, with a type that depends on the code; `{detail: [{type,
    /// loc, msg}]}` with status 422.
    Mistral,
    /// `{message}`.
    Aws,
    /// `{error: {code, message, status}}`.
    Google,
}

/// The format of a compatible provider's error body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelativeEnvelope {
    /// DeepSeek: OpenAI's, with the type as the code (<https://github.com/TurixAI/TuriX-CUA/issues/15>).
    Deepseek,
    /// Moonshot and Groq: `{error: {message, type}}` (<https://github.com/MoonshotAI/kimi-cli/issues/1977>,
    /// <https://github.com/fanenr/chatbot/issues/21>).
    TypeOnly,
    /// xAI: `{code, error}`, both sentences (<https://github.com/langchain-ai/langchain/issues/34140>).
    Xai,
    /// Cerebras: the fields without an envelope (<https://github.com/Kilo-Org/kilocode/issues/10375>).
    Cerebras,
    /// Cohere: `{message}` (<https://github.com/langchain-ai/langchain-cohere/pull/15>).
    Cohere,
    /// MiniMax: like Anthropic's, with the status as text
    /// (<https://github.com/earendil-works/pi/issues/5468>).
    Minimax,
    /// DashScope: OpenAI's with two more ids (<https://github.com/agno-agi/agno/pull/5317>).
    Dashscope,
    /// Z.ai: `{error: {code, message}}`, with a number in a string as the code
    /// (<https://github.com/continuedev/continue/issues/13259>).
    Zai,
    /// Current vLLM: OpenAI's, with the status as the code
    /// (<https://github.com/suitenumerique/conversations/issues/197>).
    Vllm,
    /// Older vLLM: the same without `error` around it
    /// (<https://github.com/vllm-project/vllm/issues/6862>).
    VllmFlat,
}

impl RelativeEnvelope {
    /// Wraps an error message in an error body.
    pub(crate) fn wrap(self, message: &str, request_id: &str) -> Value {
        const TYPE: &str = "invalid_request_error";
        match self {
            RelativeEnvelope::Deepseek => {
                json!({ "error": { "message": message, "type": TYPE, "param": null, "code": TYPE } })
            }
            RelativeEnvelope::TypeOnly => json!({ "error": { "message": message, "type": TYPE } }),
            RelativeEnvelope::Xai => {
                json!({ "code": "Client specified an invalid argument", "error": message })
            }
            RelativeEnvelope::Cerebras => json!({
                "message": message,
                "type": TYPE,
                "param": "validation_error",
                "code": "wrong_api_format",
            }),
            RelativeEnvelope::Cohere => json!({ "message": message }),
            RelativeEnvelope::Minimax => json!({
                "type": "error",
                "error": { "type": "bad_request_error", "message": message, "http_code": "400" },
                "request_id": request_id,
            }),
            RelativeEnvelope::Dashscope => json!({
                "error": {
                    "code": "invalid_parameter_error",
                    "param": null,
                    "message": message,
                    "type": TYPE,
                },
                "id": format!("chatcmpl-{request_id}"),
                "request_id": request_id,
            }),
            RelativeEnvelope::Zai => json!({ "error": { "code": "1214", "message": message } }),
            RelativeEnvelope::Vllm => json!({ "error": vllm(message) }),
            RelativeEnvelope::VllmFlat => {
                let mut body = vllm(message);
                body["object"] = json!("error");
                body
            }
        }
    }
}

fn vllm(message: &str) -> Value {
    json!({ "message": message, "type": "BadRequestError", "param": null, "code": 400 })
}
