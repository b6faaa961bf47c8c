//! What the page asks.

use brickbat_rules::check::{CheckOptions, Strictness};
use brickbat_rules::{Address, Dialect, Profile};
use serde::Deserialize;

/// A question, as JSON: `{"ask": "check", "text": "{\"messages\": …}"}`.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Question {
    /// What can be chosen. The answer has `version`, `max_text`, `dialects` (`name`, `signs`), `profiles` (`name`, `dialect`)
    /// and `hosts`.
    Catalogue {},
    /// Whether the provider accepts the text. The answer has
    /// - `report`: what `brickbat check --format json` prints of the text,
    /// - `places`: for each finding its stretch of the text, in UTF-16 units as JavaScript counts, and the lines of its
    ///   excerpt, of which one has the characters that are meant,
    /// - `explained`: by the id of each rule that is broken, what `brickbat explain` says;
    ///
    /// or else `unjudged`: `reason`, and `hints`.
    Check(Asked),
    /// The smallest edit after which it is accepted. The answer has
    /// - `mended`: the `text`, `edits` (`pointer`, `words`, `loses`), and `pieces` of the way there: `same` with a number of
    ///   UTF-16 units, `out` with a text that is taken out, and `in` with one that is put in;
    /// - or `healthy: true`,
    /// - or `beyond`: `reason`, and `can_truncate` if it helps to end the conversation earlier.
    Repair(Asked),
}

/// A text, and what is known of it. What is left out is guessed as on the command line.
#[derive(Debug, Default, Deserialize)]
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
    /// The model that is asked, whatever the body says.
    pub model: Option<String>,
    /// For a repair: if nothing else helps, end the conversation before what is refused.
    pub truncate: bool,
}

impl Asked {
    /// The options of `check`; a name that is not known is an error in words.
    pub(crate) fn options(&self) -> Result<CheckOptions, String> {
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
            return Err(format!("the profile is of {own}, and the dialect is {dialect}"));
        }
        Ok(CheckOptions {
            dialect: dialect.or(of_profile),
            strictness,
            address: self.host.as_deref().map(Address::of).unwrap_or_default(),
            model: self.model.clone(),
            off: Vec::new(),
            denied: Vec::new(),
        })
    }
}

fn known<T>(found: Option<T>, what: &str, name: &str) -> Result<T, String> {
    found.ok_or_else(|| format!("no {what} `{name}`"))
}
