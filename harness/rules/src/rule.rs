//! The requirements of providers, as data.

use serde::Serialize;

use crate::{Dialect, Family};

/// One requirement of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The stable id, for example `anthropic-messages/tool-result-missing`.
    pub id: &'static str,
    /// The dialect, with which the id begins.
    #[serde(skip)]
    pub(crate) dialect: Dialect,
    /// The short name in tables and comments, for example `ANT-TU-1`.
    pub alias: &'static str,
    /// The requirement, on one line.
    pub summary: &'static str,
    /// The meaning of a violation and how to fix the history, for readers who are new to the rule.
    pub why: &'static str,
    /// The provider's error messages, the usual one first. `{name}` is a placeholder for a part that
    /// varies.
    pub sentences: &'static [&'static str],
    /// The HTTP status of the rejection.
    pub status: u16,
    /// The position in the order of checks. If a request has several violations, the provider reports the
    /// one in the lowest phase. Within a phase, it reports the first in the conversation.
    pub phase: u8,
    /// True if only profiles that list the rule have it.
    pub is_optional: bool,
    /// True if it compares a message with an earlier one. A request that sends only the messages since the
    /// previous response lacks the earlier one, and is not judged by the rule.
    pub looks_back: bool,
    /// The month in which the provider was first seen to enforce the rule, as `YYYY-MM`.
    pub since: &'static str,
    /// How certain the rule is.
    pub confidence: Confidence,
    /// The sources: URLs of real occurrences and of the provider's documentation.
    pub sources: &'static [&'static str],
}

/// How certain a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A test against the provider was published, or the documentation describes the rule and several
    /// people ran into it.
    Measured,
    /// Someone ran into the rule and quoted the provider's message.
    Observed,
    /// A second-hand report.
    Secondary,
    /// Concluded from other messages of the provider. No occurrence is known.
    Inferred,
}

impl Rule {
    /// Returns the defaults for a measured rule: it applies to every profile of the dialect, and the
    /// provider rejects with status 400.
    pub(crate) const fn measured(
        id: &'static str,
        alias: &'static str,
        phase: u8,
        since: &'static str,
    ) -> Rule {
        Rule {
            id,
            dialect: Dialect::of_rule(id),
            alias,
            summary: "",
            why: "",
            sentences: &[],
            status: 400,
            phase,
            is_optional: false,
            looks_back: false,
            since,
            confidence: Confidence::Measured,
            sources: &[],
        }
    }

    /// Returns the defaults for a rule that someone ran into; see [`Confidence`].
    pub(crate) const fn observed(
        id: &'static str,
        alias: &'static str,
        phase: u8,
        since: &'static str,
    ) -> Rule {
        Rule { confidence: Confidence::Observed, ..Rule::measured(id, alias, phase, since) }
    }

    pub(crate) const fn secondary(
        id: &'static str,
        alias: &'static str,
        phase: u8,
        since: &'static str,
    ) -> Rule {
        Rule { confidence: Confidence::Secondary, ..Rule::measured(id, alias, phase, since) }
    }

    pub(crate) const fn inferred(
        id: &'static str,
        alias: &'static str,
        phase: u8,
        since: &'static str,
    ) -> Rule {
        Rule { confidence: Confidence::Inferred, ..Rule::measured(id, alias, phase, since) }
    }

    /// Returns every rule, grouped by dialect, in the order in which the provider checks.
    pub fn all() -> impl Iterator<Item = &'static Rule> {
        Dialect::ALL.into_iter().flat_map(|dialect| dialect.definition().rules).copied()
    }

    /// Returns the rule with this id (`anthropic-messages/tool-result-missing`) or alias (`ANT-TU-1`).
    pub fn find(id_or_alias: &str) -> Option<&'static Rule> {
        Rule::all().find(|rule| rule.id == id_or_alias || rule.alias == id_or_alias)
    }

    /// Returns the rules with this id or alias, or with this name without a dialect. Several dialects may
    /// share a name.
    pub fn named(name: &str) -> Vec<&'static Rule> {
        match Rule::find(name) {
            Some(rule) => vec![rule],
            None => Rule::all().filter(|rule| rule.short_name() == name).collect(),
        }
    }

    /// Returns whether the rule is about the format of a call id. No provider rejects an id that it
    /// issued itself.
    pub fn is_about_id_form(&self) -> bool {
        ID_FORMS.contains(&self.short_name())
    }

    /// Returns the id without the dialect.
    pub fn short_name(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(_, name)| name)
    }

    /// Returns the family of the rule.
    pub fn family(&self) -> Option<Family> {
        Family::of(self.short_name())
    }

    /// Returns the dialect of the rule.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
}

/// The rules about the format of calls' ids, without their dialects.
const ID_FORMS: [&str; 5] =
    ["tool-id-pattern", "model-tool-id-pattern", "call-id-too-long", "call-id-length", "call-id-form"];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The rules about the use of ids: an id is missing, unknown, or given to two calls or results.
    const ID_USES: [&str; 9] = [
        "call-id-duplicate",
        "result-id-duplicate",
        "result-id-unknown",
        "tool-call-id-duplicate",
        "tool-call-id-required",
        "tool-message-unknown-id",
        "tool-result-id-required",
        "tool-use-id-duplicate",
        "tool-use-id-reused",
    ];

    /// The rules about the format of ids that do not belong to calls of the application's tools.
    const OTHER_ID_FORMS: [&str; 3] = ["item-id-form", "item-id-too-long", "server-tool-id-pattern"];

    /// A rule about ids is in exactly one list, so that a new one is not forgotten.
    #[test]
    fn every_rule_about_ids_is_in_one_of_the_lists() {
        let is_about_id = |name: &&str| name.split('-').any(|word| ["id", "ids"].contains(&word));
        let about_ids: BTreeSet<&str> = Rule::all().map(Rule::short_name).filter(is_about_id).collect();
        let mut listed = [&ID_FORMS[..], &ID_USES, &OTHER_ID_FORMS].concat();
        listed.sort_unstable();
        assert_eq!(listed, about_ids.into_iter().collect::<Vec<_>>());
    }
}
