//! The page's questions.

use brickbat_rules::check::{CheckOptions, Strictness};
use brickbat_rules::{Address, Dialect, Profile};
use serde::Deserialize;

/// A question, as JSON: `{"ask": "check", "text": "{\"messages\": …}"}`.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Question {
    /// Lists the options. The answer has `version`, `max_text`, `dialects` (`name`, `signs`), `profiles`
    /// (`name`, `dialect`) and `hosts`.
    Catalogue {},
    /// Checks whether the provider accepts the text. The answer has
    /// - `report`: the output of `brickbat check --format json` for the text,
    /// - `places`: for each finding, its range in the text, in UTF-16 units as in JavaScript, and the
    ///   lines of its excerpt, one of them with the characters to mark,
    /// - `explained`: for each broken rule by its id, the output of `brickbat explain`;
    /// - `found`, if the text is not a request and has one inside: `place`, the number of requests `n`, and the `text`,
    ///   `host` and `model` of the one that was judged. All other fields belong to that text;
    ///
    /// or `unjudged`, with `reason` and `hints`.
    Check(Asked),
    /// Finds the smallest edit after which the provider accepts the text. The answer has
    /// - `mended`: the new `text`, `edits` (`pointer`, `words`, `loses`), and `pieces` that lead to the
    ///   new text: `same` with a number of UTF-16 units, `out` with a removed text, and `in` with an
    ///   inserted text;
    /// - or `healthy: true`;
    /// - or `beyond`: `reason`, and `can_truncate` if ending the conversation earlier helps.
    Repair(Asked),
}

/// A text and its options. Missing options have the same defaults as on the command line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asked {
    /// The pasted text.
    pub text: String,
    /// The name of a dialect.
    pub dialect: Option<String>,
    /// The name of a profile, `union`, or `union:` with a dialect.
    pub profile: Option<String>,
    /// A host, or a URL.
    pub host: Option<String>,
    /// The model. Overrides the one in the body.
    pub model: Option<String>,
    /// For a repair: if nothing else helps, end the conversation before the rejected part.
    pub truncate: bool,
}

/// Why the options of a question cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// A name that no dialect, or no profile, has.
    #[error("no {what} `{name}`")]
    Unknown {
        /// The kind of name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The profile is for another dialect than the given one.
    #[error("the profile is of {own}, and the dialect is {dialect}")]
    OtherDialect {
        /// The dialect of the profile.
        own: Dialect,
        /// The given dialect.
        dialect: Dialect,
    },
}

impl Asked {
    /// Returns the options of `check`.
    ///
    /// # Errors
    ///
    /// Fails if a name is unknown, or if the profile is for another dialect.
    pub fn options(&self) -> Result<CheckOptions, OptionError> {
        let dialect = self.dialect.as_deref().map(|name| known(Dialect::from_name(name), "dialect", name));
        let (strictness, of_profile) = match self.profile.as_deref() {
            None => (Strictness::Newest, None),
            Some("union") => (Strictness::Union, None),
            Some(name) => match name.strip_prefix("union:") {
                Some(of) => (Strictness::Union, Some(known(Dialect::from_name(of), "dialect", of)?)),
                None => {
                    let profile = known(Profile::named(name), "profile", name)?;
                    (Strictness::Profile(profile), Some(profile.dialect))
                }
            },
        };
        let dialect = dialect.transpose()?;
        if let (Some(dialect), Some(own)) = (dialect, of_profile)
            && dialect != own
        {
            return Err(OptionError::OtherDialect { own, dialect });
        }
        // A profile implies its dialect, and a request of another one is not judged.
        let of_union = of_profile.filter(|_| matches!(strictness, Strictness::Union));
        Ok(CheckOptions {
            dialect: dialect.or(of_union),
            strictness,
            address: self.host.as_deref().map(Address::of).unwrap_or_default(),
            model: self.model.clone(),
            off: Vec::new(),
            denied: Vec::new(),
        })
    }
}

fn known<T>(found: Option<T>, what: &'static str, name: &str) -> Result<T, OptionError> {
    found.ok_or_else(|| OptionError::Unknown { what, name: name.to_owned() })
}
