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
    /// The only model that the text gives a name of.
    model_of_text: Option<String>,
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
            model_of_text: model_in(text),
        }
    }

    /// The model of a request that names none.
    pub(super) fn model(&self) -> Option<&str> {
        self.model_of_text.as_deref()
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
    /// The Responses API, if nothing names a provider and the AI SDK has stored the ids of its items.
    pub(super) fn or_by_items(self, list: &Value) -> Chosen {
        let parts = list
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|message| message.get("content")?.as_array())
            .flatten();
        let id = |part: &Value| Some(part.pointer("/providerOptions/openai/itemId")?.as_str()?.to_owned());
        let mut ids = parts.filter_map(id);
        let is_of_items =
            !self.is_named && ids.any(|id| ["rs_", "fc_", "msg_"].iter().any(|start| id.starts_with(start)));
        if is_of_items { Chosen { dialect: Dialect::OpenaiResponses, is_named: true } } else { self }
    }

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

/// The model that a program names apart from the request, such as `MODEL = "…"` or `ChatBedrock(model_id="…")`. `None` if
/// it names several.
fn model_in(text: &str) -> Option<String> {
    const NAMES: [&str; 6] = ["model", "MODEL", "model_id", "modelId", "model_name", "modelName"];
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found: Option<&str> = None;
    for (at, sign) in text.match_indices(['=', ':']) {
        let before = text[..at].trim_end().trim_end_matches(['"', '\'']);
        let start = before.rfind(|c| !is_of_name(c)).map_or(0, |at| text.ceil_char_boundary(at + 1));
        let value = text[at + sign.len()..].trim_start();
        let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let Some(value) = NAMES.contains(&&before[start..]).then(|| value[1..].split(quote).next()).flatten()
        else {
            continue;
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
        if value.is_empty() || value.len() > MAX_MODEL || !value.chars().all(is_name) {
            continue;
        }
        if found.is_some_and(|found| found != value) {
            return None;
        }
        found = Some(value);
    }
    found.map(str::to_owned)
}

/// The longest name of a model, in bytes.
const MAX_MODEL: usize = 100;

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::check::CheckOptions;
    use crate::recordings::pasted::{Searched, searched};

    fn only(text: &str) -> (Searched, serde_json::Value) {
        let found = searched(text.as_bytes(), &CheckOptions::default());
        assert_eq!(found.found.len(), 1, "{text}");
        let request = serde_json::from_slice(&found.found[0].exchange.request).unwrap();
        (found, request)
    }

    /// As in BerriAI/litellm#6323 and langchain-ai/langchain-aws#511.
    #[test]
    fn a_model_that_the_program_names_elsewhere_is_that_of_the_request() {
        let call = "litellm.completion(model=MODEL, messages=[{\"role\": \"user\", \"content\": \"Hi\"}])";
        let text = format!("MODEL = \"mistral/mistral-large-latest\"\nT = 0.1\n{call}\n");
        assert_eq!(only(&text).1["model"], json!("mistral/mistral-large-latest"));
        let two = format!("MODEL = \"gpt-5\"\nMODEL = \"o3\"\n{call}\n");
        assert_eq!(only(&two).1["model"], json!(null));
        let text = "llm = ChatBedrock(model_id=\"anthropic.claude-3-5-sonnet-20240620-v1:0\")\n\
                    llm.invoke([HumanMessage(content='Hi'), AIMessage(content='Hello.'), HumanMessage(content='And now?')])";
        assert_eq!(only(text).1["messages"][0]["content"], json!([{ "text": "Hi" }]));
    }

    /// As in langfuse/langfuse#13763.
    #[test]
    fn the_input_of_a_response_may_be_a_text() {
        let tools = "tools=[{\"type\": \"function\", \"name\": \"find\", \"parameters\": {}}]";
        let text = format!("client.responses.create(model=\"gpt-4o\", input=\"Rain?\", {tools})");
        assert_eq!(only(&text).1["input"], json!("Rain?"));
        let embedding = "client.embeddings.create(model=\"text-embedding-3-small\", input=\"Rain?\")";
        assert!(searched(embedding.as_bytes(), &CheckOptions::default()).found.is_empty());
    }

    /// As in vercel/ai#7883.
    #[test]
    fn an_error_beside_the_messages_and_the_ids_of_items_are_seen() {
        let part =
            json!({ "type": "reasoning", "text": "", "providerOptions": { "openai": { "itemId": "rs_1" } } });
        let call = json!({ "type": "tool-call", "toolCallId": "c", "toolName": "find", "input": {} });
        let output = json!({ "type": "text", "value": "x" });
        let answer =
            json!({ "type": "tool-result", "toolCallId": "c", "toolName": "find", "output": output });
        let messages = json!([{ "role": "user", "content": "Hi" }, { "role": "assistant", "content": [part, call] }, { "role": "tool", "content": [answer] }]);
        let value =
            json!({ "error": "Duplicate item found with id rs_1.", "parameters": { "messages": messages } });
        let (found, request) = only(&format!("It fails:\n```\n{value}\n```\n"));
        assert!(found.around.contains("Duplicate item found with id rs_1."));
        assert!(request.get("input").is_some());
    }

    /// As in danny-avila/LibreChat#6076.
    #[test]
    fn a_call_around_the_request_was_not_missed() {
        let text = "requests.post(\n  url=\"https://openrouter.ai/api/v1/chat/completions\",\n  headers={\"Authorization\": \"Bearer \" + key},\n  \
                    data=json.dumps({\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}))";
        assert!(only(text).0.unread.is_empty());
    }
}
