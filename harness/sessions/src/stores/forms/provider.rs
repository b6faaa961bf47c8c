//! The provider of a session, if its store names one: the kind, the address and the model.
//!
//! The strictness of a host decides, as in [`profile_for`]. A server that is not known is judged as most servers of its
//! dialect are.

use brickbat_rules::json::Json;
use brickbat_rules::{Address, Dialect, Rule, host_of_model, profile_for};

use crate::{Product, Session};

/// The places of a provider in the session's own fields, and the dialect in which the product asks it.
struct Asked {
    /// The first that is there counts.
    kind: &'static [&'static str],
    address: &'static str,
    model: &'static str,
    dialect: fn(&Provider) -> Option<Dialect>,
}

/// The stores that name the provider.
const ASKED: [(Product, Asked); 5] = [
    (
        Product::KimiCode,
        Asked { kind: &["/provider"], address: "/base_url", model: "/model", dialect: of_kimi_code },
    ),
    (
        Product::DeepseekHarness,
        Asked { kind: &["/provider"], address: "/none", model: "/model", dialect: of_deepseek_harness },
    ),
    (
        Product::Letta,
        Asked {
            kind: &["/llm_config/model_endpoint_type"],
            address: "/llm_config/model_endpoint",
            model: "/llm_config/model",
            dialect: of_letta,
        },
    ),
    (
        Product::Hermes,
        Asked {
            kind: &["/billing_provider"],
            address: "/billing_base_url",
            model: "/model",
            dialect: of_hermes,
        },
    ),
    (
        Product::Agno,
        Asked {
            kind: &["/agent_data/model/name", "/agent_data/model/provider"],
            address: "/agent_data/model/base_url",
            model: "/agent_data/model/id",
            dialect: of_agno,
        },
    ),
];

/// A provider as a store names it. Unknown parts are empty.
struct Provider {
    kind: String,
    address: Address,
    model: String,
}

/// The rules about thoughts that come back with calls. The stores do not show whether thinking is on, and products with
/// clients for these providers write an empty `reasoning_content` for a thought that they do not have
/// (`copy_reasoning_content_for_api` in `agent/agent_runtime_helpers.py` of Hermes Agent).
const OF_THOUGHTS: [&str; 2] = ["reasoning-content-missing", "reasoning-content-not-returned"];

/// Returns whether a product may obey this rule when it sends.
pub(super) fn may_obey(product: Product, rule: &Rule) -> bool {
    OF_THOUGHTS.contains(&rule.short_name()) && ASKED.iter().any(|(own, _)| *own == product)
}

/// Notes the dialect, the model and the strictness of the provider that the session's own fields name.
pub(super) fn note(own: Json<'_, '_>, session: &mut Session) {
    let Some((_, asked)) = ASKED.iter().find(|(product, _)| *product == session.product) else { return };
    let text = |at: &str| own.pointer(at).as_str().map(|text| text.into_owned()).unwrap_or_default();
    let kind = asked.kind.iter().map(|at| text(at).to_lowercase()).find(|kind| !kind.is_empty());
    let provider = Provider {
        kind: kind.unwrap_or_default(),
        address: Address::of(&text(asked.address)),
        model: text(asked.model),
    };
    if session.model.is_none() && !provider.model.is_empty() {
        session.model = Some(provider.model.clone());
    }
    let Some(dialect) = (asked.dialect)(&provider) else { return };
    session.dialect = Some(dialect);
    let own = provider.address.host.as_str();
    let host = if own.is_empty() { host_of_model(&provider.model).unwrap_or_default() } else { own };
    session.profile = profile_for(dialect, host, &provider.model).map(|profile| profile.name);
}

/// The dialect of a provider of Letta (`LLMClient.create` in `letta/llm_api/llm_client.py`). Models that reason are asked by
/// Responses (`use_responses_api` in `letta/llm_api/openai_client.py`).
fn of_letta(provider: &Provider) -> Option<Dialect> {
    match provider.kind.as_str() {
        "" => None,
        "anthropic" | "bedrock" | "minimax" => Some(Dialect::AnthropicMessages),
        "google_ai" | "google_vertex" => Some(Dialect::Gemini),
        "chatgpt_oauth" => Some(Dialect::OpenaiResponses),
        "openai" if ["o1", "o3", "o4", "gpt-5"].iter().any(|start| provider.model.starts_with(start)) => {
            Some(Dialect::OpenaiResponses)
        }
        _ => Some(provider.chat()),
    }
}

/// The dialect of a provider of Hermes Agent, which follows from its name and its address (`api_mode` in `run_agent.py`).
fn of_hermes(provider: &Provider) -> Option<Dialect> {
    let Address { host, path } = &provider.address;
    match provider.kind.as_str() {
        "anthropic" => Some(Dialect::AnthropicMessages),
        "openai-codex" | "xai" => Some(Dialect::OpenaiResponses),
        "" if host.is_empty() => None,
        // Claude is asked in its own dialect there.
        "bedrock" if provider.model.contains("claude") => Some(Dialect::AnthropicMessages),
        "bedrock" => Some(Dialect::BedrockConverse),
        _ if host == "api.anthropic.com" || path.trim_end_matches('/').ends_with("/anthropic") => {
            Some(Dialect::AnthropicMessages)
        }
        _ if matches!(host.as_str(), "api.openai.com" | "api.x.ai" | "chatgpt.com") => {
            Some(Dialect::OpenaiResponses)
        }
        _ => Some(provider.chat()),
    }
}

/// The dialect of a provider of Kimi Code (`packages/kosong/src/providers`).
fn of_kimi_code(provider: &Provider) -> Option<Dialect> {
    match provider.kind.as_str() {
        "anthropic" => Some(Dialect::AnthropicMessages),
        "openai_responses" | "openai-responses" => Some(Dialect::OpenaiResponses),
        "google-genai" | "google_genai" | "vertexai" | "gemini" => Some(Dialect::Gemini),
        kind if kind.starts_with("kimi") || kind.starts_with("openai") => Some(Dialect::OpenaiChat),
        _ => None,
    }
}

/// The dialect of a provider of DeepSeek Harness, named for its plugin (`@deepseek-ai/dsh-llm-…`).
fn of_deepseek_harness(provider: &Provider) -> Option<Dialect> {
    match provider.kind.as_str() {
        kind if kind.contains("anthropic") => Some(Dialect::AnthropicMessages),
        _ => Some(provider.chat()),
    }
}

/// The dialect of a class of models of Agno (`libs/agno/agno/models`), or of its provider if the class is not stored.
fn of_agno(provider: &Provider) -> Option<Dialect> {
    match provider.kind.as_str() {
        "claude" | "anthropic" => Some(Dialect::AnthropicMessages),
        "gemini" | "google" => Some(Dialect::Gemini),
        "awsbedrock" => Some(Dialect::BedrockConverse),
        "mistralchat" | "mistral" => Some(Dialect::Mistral),
        "openairesponses" => Some(Dialect::OpenaiResponses),
        "openaichat" | "openai" | "azureopenai" | "groq" | "deepseek" | "xai" | "openrouter"
        | "openailike" | "together" | "fireworks" | "cerebras" => Some(Dialect::OpenaiChat),
        _ => None,
    }
}

impl Provider {
    /// The dialect of a server that is asked like Chat Completions. Mistral's own API, and the servers of NVIDIA and others
    /// that tokenize with Mistral's library, check what it checks
    /// (<https://github.com/NousResearch/hermes-agent/issues/20154>). Other servers with Mistral's open models, such as
    /// Ollama, do not.
    fn chat(&self) -> Dialect {
        const OF_MISTRAL: &str = "api.mistral.ai";
        let is_strict = |host: &str| host == OF_MISTRAL || host == "integrate.api.nvidia.com";
        let is_named = matches!(self.kind.as_str(), "mistral" | "nvidia") && self.address.host.is_empty();
        let is_of_mistral = host_of_model(&self.model) == Some(OF_MISTRAL);
        match is_of_mistral && (is_named || is_strict(&self.address.host)) {
            true => Dialect::Mistral,
            false => Dialect::OpenaiChat,
        }
    }
}

#[cfg(test)]
mod tests {
    use brickbat_rules::json::Document;
    use serde_json::{Value, json};

    use super::*;

    fn noted(product: Product, own: &Value) -> (Option<&'static str>, Option<&'static str>) {
        let text = own.to_string();
        let document = Document::parse(text.as_bytes()).unwrap();
        let mut session = Session::new(product, "", "");
        note(document.root(), &mut session);
        (session.dialect.map(Dialect::name), session.profile)
    }

    #[test]
    fn the_provider_that_a_store_names_decides() {
        let hermes = |provider: &str, address: &str, model: &str| {
            let own = json!({ "billing_provider": provider, "billing_base_url": address, "model": model });
            noted(Product::Hermes, &own).0
        };
        let nvidia = "https://integrate.api.nvidia.com/v1";
        assert_eq!(hermes("nvidia", nvidia, "mistralai/mistral-small-4-119b-2603"), Some("mistral"));
        assert_eq!(hermes("nvidia", nvidia, "meta/llama-4"), Some("openai-chat"));
        assert_eq!(hermes("custom", "http://localhost:11434/v1", "mistral-small:24b"), Some("openai-chat"));
        assert_eq!(hermes("minimax", "https://api.minimax.io/anthropic", "x"), Some("anthropic-messages"));
        assert_eq!(hermes("openai", "https://api.openai.com/v1", "gpt-5.4"), Some("openai-responses"));
        assert_eq!(hermes("bedrock", "", "us.amazon.nova-pro-v1:0"), Some("bedrock-converse"));
        assert_eq!(hermes("", "", "claude-x"), None);
        let letta = |kind: &str, model: &str| {
            noted(Product::Letta, &json!({ "llm_config": { "model_endpoint_type": kind, "model": model } })).0
        };
        assert_eq!(letta("openai", "gpt-5.4"), Some("openai-responses"));
        assert_eq!(letta("openai", "gpt-4.1"), Some("openai-chat"));
        assert_eq!(letta("google_ai", "gemini-3-pro"), Some("gemini"));
        assert_eq!(letta("anthropic", "claude-sonnet-5"), Some("anthropic-messages"));
        assert_eq!(letta("", "x"), None);
    }

    /// Hermes and Kimi Code add what DeepSeek and Moonshot want to have back.
    #[test]
    fn a_thought_that_the_store_lacks_is_not_a_fault_of_a_product_that_adds_it() {
        let event = |event: Value| json!({ "type": "context.append_loop_event", "event": event });
        let said = json!({ "role": "user", "content": [{ "type": "text", "text": "Go." }] });
        let lines = [
            json!({ "type": "metadata", "protocol_version": "1.5" }),
            json!({ "type": "config.update", "modelAlias": "kimi/kimi-k2.6" }),
            json!({ "type": "context.append_message", "message": said }),
            event(json!({ "type": "step.begin", "uuid": "s" })),
            event(
                json!({ "type": "tool.call", "stepUuid": "s", "toolCallId": "c", "name": "f", "args": {} }),
            ),
            event(json!({ "type": "tool.result", "toolCallId": "c", "result": { "output": "one" } })),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let session = crate::read(&crate::Files::one("wire.jsonl", text)).unwrap().remove(0);
        let judgement = crate::judge(&session, None);
        assert_eq!(judgement.profile.undated(), "moonshot");
        assert!(judgement.refusals.is_empty(), "{:?}", judgement.refusals);
    }

    #[test]
    fn a_known_host_is_judged_by_its_own_profile() {
        let own = json!({ "llm_config": { "model_endpoint_type": "deepseek", "model": "deepseek-chat",
            "model_endpoint": "https://api.deepseek.com/v1" } });
        assert!(noted(Product::Letta, &own).1.is_some_and(|name| name.starts_with("deepseek")));
        assert_eq!(noted(Product::Kimi, &own), (None, None));
    }
}
