//! The questions.

use brickbat_web::Asked;
use serde::Deserialize;

use crate::history::Kind;

/// A question, as JSON: `{"ask": "check", "dialect": "gemini"}`, followed by the bytes that it is about.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Question {
    /// Checks whether the provider accepts the bytes: a request body, or a list of messages. The answer has
    /// - `verdict`: the request in the output of `brickbat check --format json`, and `text`: that of `--format text`,
    ///   without colours; empty if nothing was found; and `found`: the place of the request, if it was found inside the text;
    /// - or `unjudged`, with `reason` and `hints`.
    Check(Terms),
    /// Finds the smallest edit after which the provider accepts the bytes. The answer has
    /// - `repaired`: the new `text`, and its `edits` (`pointer`, `words`, `loses`);
    /// - or `healthy: true`;
    /// - or `beyond`: `reason`, and `can_truncate` if ending the conversation earlier helps;
    /// - or `unjudged`, with `reason` and `hints`.
    Repair(Terms),
    /// Explains a rule by its id, alias or name, or the error of a provider or an SDK. The answer has `pages`, which is empty
    /// if nothing is known. The pages of rules have no example, since the module contains no vectors.
    Explain {},
    /// Reads a stored session and judges the next request in it. The answer has the `sessions` and the `unread` files of
    /// `brickbat session --format json`, and the `text` of `--format text`.
    Session(OfSession),
    /// Makes a conversation from the bytes: the same bytes give the same one, and smaller or fewer bytes give a smaller one.
    /// The answer has `dialect`, `model`, `fault`, `can_repair`, the request `body`, and the name `list` of the field with
    /// its messages.
    History(OfHistory),
}

/// The rules that judge. Missing options have the same defaults as on the command line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Terms {
    /// The name of a dialect.
    pub dialect: Option<String>,
    /// The name of a profile, `union`, or `union:` with a dialect. Excludes `host`.
    pub profile: Option<String>,
    /// A host, or a URL.
    pub host: Option<String>,
    /// The model. Overrides the one in the body.
    pub model: Option<String>,
    /// For a repair: if nothing else helps, end the conversation before the rejected part.
    pub truncate: bool,
}

/// The file with a session, and the next request in it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OfSession {
    /// The name of the file, without its folder.
    pub name: String,
    /// The profile of the next request.
    pub profile: Option<String>,
    /// The model of the next request, for stores that do not show it.
    pub model: Option<String>,
}

/// The conversation to make.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfHistory {
    /// The name of a dialect.
    pub dialect: String,
    /// Valid conversations, or broken ones.
    #[serde(default)]
    pub kind: Kind,
}

impl Terms {
    /// Returns the question for the code behind the paste page, about this text.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not UTF-8, or if both a host and a profile are given, as on the command line.
    pub(crate) fn about(self, bytes: &[u8]) -> Result<Asked, String> {
        if self.host.is_some() && self.profile.is_some() {
            return Err("host and profile cannot be combined: a host has its profile".to_owned());
        }
        let text =
            str::from_utf8(bytes).map_err(|error| format!("the text is not UTF-8: {error}"))?.to_owned();
        let Terms { dialect, profile, host, model, truncate } = self;
        Ok(Asked { text, dialect, profile, host, model, truncate })
    }
}
