//! The strictness of a provider: a dialect at a date, or a provider that is compatible with another
//! provider's dialect.
//!
//! Profiles are data. A contested rule is not deleted: the profile tolerates it, so that a violation
//! becomes a warning. When a provider changes its behaviour, a new dated profile is added, and the old
//! ones stay unchanged.

use std::borrow::Cow;

use crate::checker::Switches;
use crate::json::without_halves;
use crate::streams::StreamRule;
use crate::{Dialect, Envelope, Rule, Severity};

/// A named, dated strictness of a dialect.
#[derive(Debug)]
pub struct Profile {
    /// The name in options and reports, for example `anthropic-messages@2026-09`.
    pub name: &'static str,
    /// The provider's display name, for example `DeepSeek`.
    pub provider: &'static str,
    /// The dialect with the rules that apply.
    pub dialect: Dialect,
    /// The optional rules that apply here; see [`Rule::is_optional`].
    pub added: &'static [&'static Rule],
    /// Rules that are only warnings here.
    pub tolerated: &'static [&'static Rule],
    /// Rules that this provider has dropped or never had. Violations are not reported.
    pub given_up: &'static [&'static Rule],
    /// Stream rules that are only warnings here.
    pub tolerated_in_streams: &'static [&'static StreamRule],
    /// Stream rules that this provider never follows. Violations are not reported.
    pub given_up_in_streams: &'static [&'static StreamRule],
    /// Rules for which this provider has its own sentences, which replace the rule's.
    pub wording: &'static [(&'static Rule, &'static [&'static str])],
    /// The error body around the sentences.
    pub envelope: Envelope,
    /// The treatment of half of a surrogate pair in a text. Only providers that were seen to refuse one do so;
    /// the others read it as U+FFFD.
    pub halves: Halves,
    /// The size of the largest body that the provider accepts, if it is known.
    pub max_body: Option<BodyLimit>,
    /// True if no rejection of a conversation by this provider is known, except for its size. The union of all
    /// providers leaves it out.
    pub is_lenient: bool,
    /// Other differences between providers and between dates.
    pub(crate) switches: &'static dyn Switches,
}

/// A limit of the size of request bodies.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit {
    /// The size of the largest body that is accepted, in bytes.
    pub bytes: usize,
    /// The rule that a larger body breaks.
    pub rule: &'static Rule,
}

/// How a provider treats an escape for half of a surrogate pair, such as `\ud83d` without its other half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halves {
    /// It refuses the body.
    Refused,
    /// It reads U+FFFD in its place.
    Replaced,
}

impl Profile {
    /// The header that names the version of the provider's API. Only Anthropic has one.
    pub const VERSION_HEADER: &'static str = "anthropic-version";

    /// Returns the defaults for the profiles of a dialect.
    pub(crate) const fn base(
        dialect: Dialect,
        provider: &'static str,
        envelope: Envelope,
        switches: &'static dyn Switches,
    ) -> Profile {
        Profile {
            name: "",
            provider,
            dialect,
            added: &[],
            tolerated: &[],
            given_up: &[],
            tolerated_in_streams: &[],
            given_up_in_streams: &[],
            wording: &[],
            envelope,
            halves: Halves::Refused,
            max_body: None,
            is_lenient: false,
            switches,
        }
    }

    /// Returns the body as this provider reads it. All positions stay the same.
    pub fn readable<'a>(&self, body: &'a [u8]) -> Cow<'a, [u8]> {
        match self.halves {
            Halves::Refused => Cow::Borrowed(body),
            Halves::Replaced => without_halves(body),
        }
    }

    /// Returns every profile, grouped by dialect, with the dialect's default first.
    pub fn all() -> impl Iterator<Item = &'static Profile> {
        Dialect::ALL.into_iter().flat_map(|dialect| dialect.definition().profiles)
    }

    /// Returns the newest profile of each name in a dialect: the current strictness of its providers.
    pub fn newest_of_each_name(dialect: Dialect) -> impl Iterator<Item = &'static Profile> {
        let profiles = dialect.definition().profiles;
        let is_newest =
            |n: &usize| profiles[..*n].iter().all(|newer| newer.undated() != profiles[*n].undated());
        (0..profiles.len()).filter(is_newest).map(|n| &profiles[n])
    }

    /// Returns the default: the newest profile of the dialect's own provider.
    pub fn newest(dialect: Dialect) -> &'static Profile {
        &dialect.definition().profiles[0]
    }

    /// Returns the profile with that name. A name without a date means the newest profile.
    pub fn named(name: &str) -> Option<&'static Profile> {
        let is_meant = |profile: &&Profile| profile.name == name || profile.undated() == name;
        Profile::all().find(is_meant)
    }

    /// Returns the profile of another version of the provider's API, as the header `anthropic-version` names it.
    pub fn at_version(&'static self, version: &str) -> &'static Profile {
        // The profile of a version is named after the version. Most versions have none of their own.
        Profile::named(&format!("{}-{version}", self.undated())).unwrap_or(self)
    }

    /// Returns the name without the date, for example `anthropic-messages`.
    pub fn undated(&self) -> &'static str {
        self.name.split('@').next().unwrap_or(self.name)
    }

    /// Returns the severity of violating a rule, or `None` if the rule does not apply.
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        let holds = |rules: &[&Rule]| rules.iter().any(|known| known.id == rule.id);
        if holds(self.tolerated) {
            Some(Severity::Warning)
        } else if holds(self.given_up) || (rule.is_optional && !holds(self.added)) {
            None
        } else {
            Some(Severity::Error)
        }
    }

    /// Returns this provider's sentences for a violation of a rule.
    pub fn sentences(&self, rule: &Rule) -> &'static [&'static str] {
        let own = self.wording.iter().find(|(worded, _)| worded.id == rule.id);
        own.map_or(rule.sentences, |(_, sentences)| sentences)
    }
}

/// The version in a Claude or Gemini model name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ModelVersion {
    /// The 4 of `claude-sonnet-4-5`.
    pub(crate) major: u8,
    /// The 5 of `claude-sonnet-4-5`, or 0 if the name has no minor version.
    pub(crate) minor: u8,
}

impl ModelVersion {
    /// Reads the version from a model name in any spelling: `claude-3-5-sonnet-20241022`,
    /// `claude-sonnet-5`, `claude-opus-4@20250514`, `us.anthropic.claude-opus-4-6-v1:0`. Returns `None`
    /// for models other than Claude.
    pub(crate) fn of_claude(model: &str) -> Option<ModelVersion> {
        let (_, name) = model.split_once("claude-")?;
        let mut parts = name.split(['-', '.', '@']).map(short_number).skip_while(Option::is_none);
        let major = parts.next()??;
        let minor = parts.next().flatten().unwrap_or(0);
        Some(ModelVersion { major, minor })
    }

    /// Reads the version from a model name such as `gemini-3-flash-preview`, `models/gemini-2.5-pro` or
    /// `google/gemini-3.6-flash`. Returns `None` for models other than Gemini, and for names without a
    /// version.
    pub(crate) fn of_gemini(model: &str) -> Option<ModelVersion> {
        let (_, name) = model.split_once("gemini-")?;
        let version = name.split(['-', '@', ':']).next().unwrap_or_default();
        let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
        Some(ModelVersion { major: short_number(major)?, minor: short_number(minor)? })
    }
}

/// Reads a number of one or two digits. A longer one is a date, not a version.
fn short_number(part: &str) -> Option<u8> {
    match part.len() {
        1 | 2 => part.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_name_selects_its_newest_profile() {
        for dialect in Dialect::ALL {
            let newest = Profile::newest(dialect);
            assert_eq!(newest.dialect, dialect);
            assert_eq!(Profile::named(dialect.name()).map(|profile| profile.name), Some(newest.name));
            assert!(dialect.definition().profiles.iter().all(|profile| profile.dialect == dialect));
        }
        assert!(Profile::named("anthropic-messages@1999-01").is_none());
    }

    #[test]
    fn names_dialects_and_switches_agree() {
        for profile in Profile::all() {
            assert_eq!(Profile::named(profile.name).map(|found| found.name), Some(profile.name));
            let date = profile.name.split_once('@').map(|(_, date)| date);
            assert!(date.is_some_and(|date| date.len() == 7), "{} names its date", profile.name);
            let named = profile.tolerated.iter().chain(profile.given_up).chain(profile.added);
            let mut named = named.chain(profile.wording.iter().map(|(rule, _)| rule));
            assert!(named.all(|rule| rule.dialect() == profile.dialect), "{}", profile.name);
            assert!(profile.added.iter().all(|rule| rule.is_optional), "{}", profile.name);
            let violations = crate::validate(profile, b"{}");
            let is_own = |violation: &crate::Violation| violation.rule.dialect() == profile.dialect;
            assert!(!violations.is_empty() && violations.iter().all(is_own), "{}", profile.name);
        }
    }

    #[test]
    fn the_version_in_the_header_selects_a_profile() {
        let newest = Profile::newest(Dialect::AnthropicMessages);
        assert_eq!(newest.at_version("2026-10-21").undated(), "anthropic-messages-2026-10-21");
        assert_eq!(newest.at_version("2023-06-01").name, newest.name);
        let other = Profile::newest(Dialect::OpenaiChat);
        assert_eq!(other.at_version("2026-10-21").name, other.name);
    }

    #[test]
    fn versions_are_read_from_every_spelling() {
        let version = |model| ModelVersion::of_claude(model).map(|v| (v.major, v.minor));
        assert_eq!(version("claude-3-opus-latest"), Some((3, 0)));
        assert_eq!(version("claude-3-5-sonnet-20241022"), Some((3, 5)));
        assert_eq!(version("claude-sonnet-4-5-20250929"), Some((4, 5)));
        assert_eq!(version("claude-opus-4@20250514"), Some((4, 0)));
        assert_eq!(version("us.anthropic.claude-opus-4-6-v1:0"), Some((4, 6)));
        assert_eq!(version("anthropic/claude-sonnet-4.6"), Some((4, 6)));
        assert_eq!(version("claude-fable-5"), Some((5, 0)));
        assert_eq!(version("claude-mock"), None);
        assert_eq!(version("gpt-5"), None);
        let version = |model| ModelVersion::of_gemini(model).map(|v| (v.major, v.minor));
        assert_eq!(version("gemini-3-flash-preview"), Some((3, 0)));
        assert_eq!(version("models/gemini-2.5-pro"), Some((2, 5)));
        assert_eq!(version("google/gemini-3.6-flash"), Some((3, 6)));
        assert_eq!(version("gemini-flash-latest"), None);
        assert_eq!(version("gemini-exp-1206"), None);
    }
}
