//! Recorded exchanges with real providers, compared with the rules.
//!
//! A recording is a request with the status that a provider answered. Where the provider accepted what our rules
//! refuse, a rule is wrong, or needs another profile; where it refused what our rules accept, a rule may be missing.

mod base64;
mod compare;
mod read;
mod table;

use std::borrow::Cow;

use crate::Dialect;

pub use compare::{Agreement, CompareOptions, Comparison, compare};
pub use read::{RecordingError, read, row};
pub use table::Table;

/// A recorded request with what the provider answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The line of the file on which it begins, from 1.
    pub line: u64,
    /// The host, with its port; empty if it is not recorded.
    pub host: String,
    /// The path of the URL, without the query; empty if it is not recorded.
    pub path: String,
    /// The dialect as the recording names it.
    pub dialect: Option<String>,
    /// The model, as the recording, the body or the path names it.
    pub model: Option<String>,
    /// The request body; empty if there is none.
    pub request: Vec<u8>,
    /// The status of the answer.
    pub status: u16,
    /// The provider's sentence, if it refused; else empty.
    pub error: String,
}

/// In which dialect a request is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    /// In one of ours.
    Dialect(Dialect),
    /// In one that Brickbat does not speak.
    Unknown(String),
    /// It asks for no reply: an upload, an embedding, a list of models.
    NoReply,
}

impl Exchange {
    /// An exchange of which the URL is known.
    fn at(url: &str) -> Exchange {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // Names and passwords may stand before the host.
        let host = host.rsplit('@').next().unwrap_or_default();
        let path = path.split(['?', '#']).next().unwrap_or_default();
        Exchange { host: host.to_owned(), path: path.to_owned(), ..Exchange::default() }
    }

    /// The dialect: that of the path, else as it is named, else that of the body.
    pub fn spoken(&self) -> Spoken {
        if self.request.is_empty() {
            return Spoken::NoReply;
        }
        let named = match (dialect_of_path(&self.path), &self.dialect) {
            (Some("openai-chat"), _) if self.host.ends_with("api.mistral.ai") => Some("mistral"),
            (Some(name), _) => Some(name),
            (None, named) => named.as_deref(),
        };
        match (named.map(|name| (name, Dialect::from_name(name))), crate::detect(&self.request)) {
            (Some((_, Some(dialect))), _) => Spoken::Dialect(dialect),
            (Some((name, None)), _) => Spoken::Unknown(name.to_owned()),
            // A path that says something else is no way to a reply, whatever the body looks like.
            (None, Some(dialect)) if self.path.is_empty() || is_proxy(&self.path) => Spoken::Dialect(dialect),
            (None, _) => Spoken::NoReply,
        }
    }

    /// The model: as recorded, or as it stands in the path, without the escapes of a URL.
    pub fn model(&self) -> Option<Cow<'_, str>> {
        self.model.as_deref().or_else(|| model_of_path(&self.path)).map(unescaped)
    }
}

/// Ways to a reply, by the end of the path.
const PATHS: [(&str, &str); 8] = [
    ("/v1/messages", "anthropic-messages"),
    ("/messages", "anthropic-messages"),
    ("/chat/completions", "openai-chat"),
    ("/responses", "openai-responses"),
    (":generateContent", "gemini"),
    (":streamGenerateContent", "gemini"),
    ("/converse", "bedrock-converse"),
    ("/converse-stream", "bedrock-converse"),
];

fn dialect_of_path(path: &str) -> Option<&'static str> {
    let path = path.trim_end_matches('/');
    PATHS.iter().find(|(end, _)| path.ends_with(end)).map(|(_, dialect)| *dialect)
}

/// Gemini has `…/models/MODEL:method`, Bedrock `/model/MODEL/method`, where the model may be an ARN.
fn model_of_path(path: &str) -> Option<&str> {
    if let Some((_, rest)) = path.rsplit_once("/models/") {
        return rest.split(['/', ':']).next();
    }
    let (model, _) = path.split_once("/model/")?.1.rsplit_once('/')?;
    Some(model)
}

/// Bedrock's models have colons and slashes, which clients escape.
fn unescaped(text: &str) -> Cow<'_, str> {
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

/// Paths of gateways and of clouds that pass a body on as it is.
fn is_proxy(path: &str) -> bool {
    let ends = [":rawPredict", ":streamRawPredict", "/invoke", "/invoke-with-response-stream", "/chat"];
    path == "/" || ends.iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests;
