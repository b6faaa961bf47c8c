//! The provider that the messages of a framework go to, and so the dialect in which they are written.

use serde_json::Value;

use super::traces;
use crate::check::{CheckOptions, Strictness};
use crate::histories::{Message, render};
use crate::{Address, Api, Dialect, host_of_model, hosts};

/// The names of packages and classes that stand for the API of one provider.
const PACKAGES: [(&str, Dialect); 13] = [
    ("-sdk/anthropic", Dialect::AnthropicMessages),
    ("ChatAnthropic", Dialect::AnthropicMessages),
    ("-sdk/amazon-bedrock", Dialect::BedrockConverse),
    ("ChatBedrockConverse", Dialect::BedrockConverse),
    ("AmazonBedrockConverse", Dialect::BedrockConverse),
    ("-sdk/google", Dialect::Gemini),
    ("ChatGoogleGenerativeAI", Dialect::Gemini),
    ("ChatVertexAI", Dialect::Gemini),
    ("-sdk/mistral", Dialect::Mistral),
    ("ChatMistralAI", Dialect::Mistral),
    ("-sdk/openai", Dialect::OpenaiChat),
    ("ChatOpenAI", Dialect::OpenaiChat),
    ("ChatDeepSeek", Dialect::OpenaiChat),
];

/// The signature that Gemini accepts in place of one that is lost (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
/// The forms of frameworks have no signatures that could be returned.
const ANY_SIGNATURE: &str = "skip_thought_signature_validator";

/// The provider of the messages in a text.
#[derive(Debug, Default)]
pub(super) struct Recipient {
    /// The dialect that the caller names.
    dialect: Option<Dialect>,
    /// The address that the caller names.
    address: Address,
    /// The model that the caller names.
    model: Option<String>,
    /// The only provider with a package or a class in the text.
    of_text: Option<Dialect>,
}

/// A dialect, and how it was chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    pub(super) dialect: Dialect,
    /// False if nothing names a provider.
    pub(super) is_named: bool,
}

impl Recipient {
    pub(super) fn of(text: &str, options: &CheckOptions) -> Recipient {
        let of_profile = match options.strictness {
            Strictness::Profile(profile) => Some(profile.dialect),
            Strictness::Newest | Strictness::Union => None,
        };
        let named =
            |dialect: Dialect| PACKAGES.iter().any(|(name, own)| *own == dialect && text.contains(name));
        let mut of_text = Dialect::ALL.into_iter().filter(|dialect| named(*dialect));
        Recipient {
            dialect: options.dialect.or(of_profile),
            address: options.address.clone(),
            model: options.model.clone(),
            of_text: of_text.next().filter(|_| of_text.next().is_none()),
        }
    }

    /// The dialect for messages at this address, to this model of this provider. Each may be empty.
    pub(super) fn dialect(&self, address: &Address, model: &str, provider: &str) -> Chosen {
        let model = self.model.as_deref().unwrap_or(model);
        let named = self
            .dialect
            .or_else(|| of_address(&self.address, model))
            .or_else(|| of_address(address, model))
            .or_else(|| of_model(model))
            .or_else(|| of_provider(provider).filter(|_| model.is_empty()))
            .or(self.of_text);
        Chosen { dialect: named.unwrap_or(Dialect::OpenaiChat), is_named: named.is_some() }
    }
}

impl Chosen {
    /// The request with these messages.
    pub(super) fn request(self, messages: &[Message], model: &str) -> Value {
        let mut body = render(self.dialect, Some(model).filter(|model| !model.is_empty()), messages).body;
        let contents = body.get_mut("contents").and_then(Value::as_array_mut).into_iter().flatten();
        let parts = contents.filter_map(|content| content.get_mut("parts")?.as_array_mut()).flatten();
        for part in parts.filter(|part| part.get("functionCall").is_some()) {
            part["thoughtSignature"] = ANY_SIGNATURE.into();
        }
        body
    }
}

fn of_address(address: &Address, model: &str) -> Option<Dialect> {
    match address.api() {
        Some(Api::Spoken(dialect)) => Some(dialect),
        Some(Api::Unspoken(_)) | None => hosts::dialect_of(&address.host, model),
    }
}

fn of_model(model: &str) -> Option<Dialect> {
    let name = model.to_lowercase();
    let own = || hosts::dialect_of(host_of_model(&name)?, &name);
    match name.as_str() {
        name if name.contains("anthropic.claude") => Some(Dialect::BedrockConverse),
        name if name.contains("claude") => Some(Dialect::AnthropicMessages),
        name if name.starts_with("gemini-") => Some(Dialect::Gemini),
        name if name.starts_with("gpt-") => Some(Dialect::OpenaiChat),
        _ => own(),
    }
}

fn of_provider(provider: &str) -> Option<Dialect> {
    const NAMES: [(&str, Dialect); 6] = [
        ("bedrock", Dialect::BedrockConverse),
        ("anthropic", Dialect::AnthropicMessages),
        ("gemini", Dialect::Gemini),
        ("google", Dialect::Gemini),
        ("mistral", Dialect::Mistral),
        ("openai", Dialect::OpenaiChat),
    ];
    NAMES.iter().find(|(name, _)| provider.contains(name)).map(|(_, dialect)| *dialect)
}

/// The words about a request that was written again.
pub(super) fn written_again(chosen: Chosen, messages: &traces::Written) -> String {
    let lost = match messages.n_dropped {
        0 => "",
        _ => {
            "; the AI SDK does not send the results inside an assistant message, so they are left out; the next turn is judged"
        }
    };
    format!(", and written again as a request of {}{lost}", chosen.dialect)
}
