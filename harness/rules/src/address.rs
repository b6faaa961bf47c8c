//! The address of a request: the host, and the dialect and the model if the path names them.

use std::borrow::Cow;

use crate::Dialect;
use crate::json::Json;

/// The address of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Address {
    /// The host with its port. Empty if unknown.
    pub host: String,
    /// The path of the URL without the query. Empty if unknown.
    pub path: String,
}

/// The API that a path belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// A supported dialect.
    Spoken(Dialect),
    /// A known API that Brickbat does not support, by name.
    Unspoken(&'static str),
}

/// The API of Ollama that is not in OpenAI's form (<https://docs.ollama.com/api/chat>).
pub(crate) const OLLAMA: &str = "Ollama's own API";

impl Address {
    /// Parses a URL, or only a host.
    pub fn of(url: &str) -> Address {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // A user name and a password can precede the host.
        let host = host.rsplit('@').next().unwrap_or_default();
        let path = path.split(['?', '#']).next().unwrap_or_default();
        Address { host: host.to_owned(), path: path.to_owned() }
    }

    /// Returns the API of the path, if the path requests a reply.
    pub fn api(&self) -> Option<Api> {
        let path = self.path.trim_end_matches('/');
        if path.contains("/threads/") {
            return Some(Api::Unspoken("OpenAI Assistants"));
        }
        if let Some(dialect) = self.dialect(path) {
            return Some(Api::Spoken(dialect));
        }
        let is_mistral = self.is_only_host_of(Dialect::Mistral);
        let has_part = |name: &str| path.split('/').any(|part| part == name);
        match () {
            () if has_part("interactions") => Some(Api::Unspoken("Gemini Interactions")),
            () if has_part("conversations") && is_mistral => Some(Api::Unspoken("Mistral Conversations")),
            () if has_part("conversations") => Some(Api::Unspoken("OpenAI Conversations")),
            () if path.ends_with("/api/chat") && self.is_of_ollama() => Some(Api::Unspoken(OLLAMA)),
            () => None,
        }
    }

    /// Returns whether the host is that of Ollama, or has its port. Other programs also have a path `/api/chat`.
    fn is_of_ollama(&self) -> bool {
        self.host.ends_with(":11434") || self.host.contains("ollama")
    }

    /// Returns the dialect of a path. At a host that belongs to one dialect, that dialect comes first.
    fn dialect(&self, path: &str) -> Option<Dialect> {
        let mut dialects = Dialect::ALL.into_iter().filter(|dialect| {
            let definition = dialect.definition();
            let is_here = definition.only_host.is_none() || self.is_only_host_of(*dialect);
            is_here && definition.path_ends.iter().any(|end| path.ends_with(end))
        });
        let first = dialects.next()?;
        Some(dialects.find(|other| self.is_only_host_of(*other)).unwrap_or(first))
    }

    fn is_only_host_of(&self, dialect: Dialect) -> bool {
        dialect.definition().only_host.is_some_and(|host| self.host.ends_with(host))
    }

    /// Returns the model with URL escapes decoded, if the path names it.
    pub fn model(&self) -> Option<Cow<'_, str>> {
        let mut of_path = Dialect::ALL.into_iter().filter_map(|dialect| dialect.definition().model_of_path);
        of_path.find_map(|find| find(&self.path)).map(unescaped)
    }

    /// Returns whether gateways and clouds accept bodies of several dialects at this path and forward them
    /// unchanged.
    pub fn passes_on(&self) -> bool {
        let ends = [":rawPredict", ":streamRawPredict", "/invoke", "/invoke-with-response-stream", "/chat"];
        self.path.is_empty() || self.path == "/" || ends.iter().any(|end| self.path.ends_with(end))
    }
}

/// Returns the model that a body of any dialect names.
pub fn model_in<'a>(body: Json<'_, 'a>) -> Option<Cow<'a, str>> {
    let mut fields = Dialect::ALL.into_iter().map(|dialect| dialect.definition().model_field);
    fields.find_map(|name| body.field(name).as_str())
}

/// Decodes URL escapes. Bedrock's model names contain colons and slashes, which clients escape.
pub(crate) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let escaped = match tail {
            [high, low, ..] if *first == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        bytes.push(escaped.map_or(*first, |(high, low)| 16 * high + low));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_of_each_dialect_lead_to_it() {
        for dialect in Dialect::ALL {
            let definition = dialect.definition();
            assert!(!definition.path_ends.is_empty(), "{dialect} has no path");
            for end in definition.path_ends {
                let host = definition.only_host.unwrap_or("host");
                let api = Address::of(&format!("https://{host}/below{end}")).api();
                assert_eq!(api, Some(Api::Spoken(dialect)), "{end}");
            }
        }
    }

    #[test]
    fn an_address_gives_the_host_the_api_and_the_model() {
        use Dialect::{AnthropicMessages, BedrockConverse, Gemini, Mistral, OpenaiChat};
        let bedrock =
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-pro-v1%3A0/converse";
        let google = "https://generativelanguage.googleapis.com/v1beta";
        for (url, api, model) in [
            ("https://api.x.ai/v1/chat/completions?a=b", Some(Api::Spoken(OpenaiChat)), None),
            ("https://api.mistral.ai/v1/chat/completions/", Some(Api::Spoken(Mistral)), None),
            ("https://api.anthropic.com/v1/messages", Some(Api::Spoken(AnthropicMessages)), None),
            ("https://api.anthropic.com/v1/messages/count_tokens", None, None),
            (bedrock, Some(Api::Spoken(BedrockConverse)), Some("us.amazon.nova-pro-v1:0")),
            (
                &format!("{google}/models/gemini-2.5-pro:generateContent"),
                Some(Api::Spoken(Gemini)),
                Some("gemini-2.5-pro"),
            ),
            (&format!("{google}/interactions"), Some(Api::Unspoken("Gemini Interactions")), None),
            (
                "https://api.openai.com/v1/conversations/c_1/items",
                Some(Api::Unspoken("OpenAI Conversations")),
                None,
            ),
            ("https://api.mistral.ai/v1/conversations#x", Some(Api::Unspoken("Mistral Conversations")), None),
            ("http://localhost:11434/api/chat", Some(Api::Unspoken(OLLAMA)), None),
            ("http://localhost:3000/api/chat", None, None),
            ("http://localhost:11434/v1/chat/completions", Some(Api::Spoken(Dialect::OpenaiChat)), None),
            ("api.x.ai", None, None),
        ] {
            let address = Address::of(url);
            assert_eq!(address.api(), api, "{url}");
            assert_eq!(address.model().as_deref(), model, "{url}");
        }
        assert_eq!(Address::of("https://me:secret@api.x.ai:443/v1").host, "api.x.ai:443");
        assert_eq!(Address::of("api.x.ai").host, "api.x.ai");
    }
}
