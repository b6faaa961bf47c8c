//! The requirements of providers, as data.

use serde::Serialize;

use crate::Dialect;

/// One requirement of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The stable name, for example `anthropic-messages/tool-result-missing`.
    pub id: &'static str,
    /// The short name that tables and comments use, for example `ANT-TU-1`.
    pub alias: &'static str,
    /// The requirement in one line.
    pub summary: &'static str,
    /// What a violation means and how to mend the history, for someone new to the rule.
    pub why: &'static str,
    /// The provider's sentences, the usual one first. `{name}` stands for what differs from violation to violation.
    pub sentences: &'static [&'static str],
    /// The HTTP status with which the provider refuses.
    pub status: u16,
    /// The place in the order of checks: of two violations the one with the lower phase is answered.
    /// Inside a phase it is the one that comes first in the conversation.
    pub phase: u8,
    /// Whether only profiles that name the rule enforce it; other providers of the dialect do not know it.
    pub is_optional: bool,
    /// When the provider was first seen to enforce it, as `YYYY-MM`.
    pub since: &'static str,
    /// How well the rule is known.
    pub confidence: Confidence,
    /// Where the rule was seen: addresses of real occurrences and of the provider's documentation.
    pub sources: &'static [&'static str],
}

/// How well a rule is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A live probe was published, or the documentation says so and several people ran into it.
    Measured,
    /// Somebody ran into it and quoted the provider's sentence.
    Observed,
    /// Reported at second hand.
    Secondary,
    /// Concluded from the provider's other sentences; no occurrence is known.
    Inferred,
}

impl Rule {
    /// A rule that is known as well as can be, with what most rules have in common: it binds for every profile of the
    /// dialect, and the provider refuses with status 400.
    pub(crate) const fn measured(
        id: &'static str,
        alias: &'static str,
        phase: u8,
        since: &'static str,
    ) -> Rule {
        Rule {
            id,
            alias,
            summary: "",
            why: "",
            sentences: &[],
            status: 400,
            phase,
            is_optional: false,
            since,
            confidence: Confidence::Measured,
            sources: &[],
        }
    }

    /// The same for a rule that somebody met, see [`Confidence`].
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

    /// Every rule, dialect by dialect, in the order in which the provider checks.
    pub fn all() -> impl Iterator<Item = &'static Rule> {
        Dialect::ALL.into_iter().flat_map(|dialect| dialect.definition().rules).copied()
    }

    /// The rule of that id (`anthropic-messages/tool-result-missing`) or alias (`ANT-TU-1`).
    pub fn find(id_or_alias: &str) -> Option<&'static Rule> {
        Rule::all().find(|rule| rule.id == id_or_alias || rule.alias == id_or_alias)
    }

    /// The rules of that id, alias or name without its dialect, which several dialects may share.
    pub fn named(name: &str) -> Vec<&'static Rule> {
        match Rule::find(name) {
            Some(rule) => vec![rule],
            None => Rule::all().filter(|rule| rule.short_name() == name).collect(),
        }
    }

    /// Whether it is about the form of a call's id, which no provider holds against an id that it gave out itself.
    pub fn is_about_id_form(&self) -> bool {
        ID_FORMS.contains(&self.short_name())
    }

    /// The id without the dialect.
    pub fn short_name(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(_, name)| name)
    }

    /// The dialect to which the rule belongs.
    pub fn dialect(&self) -> Dialect {
        let name = self.id.split('/').next().unwrap_or_default();
        Dialect::from_name(name).unwrap_or(Dialect::AnthropicMessages)
    }
}

/// The rules about the form of calls' ids, without their dialects.
const ID_FORMS: [&str; 5] =
    ["tool-id-pattern", "model-tool-id-pattern", "call-id-too-long", "call-id-length", "call-id-form"];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The form of an id is its length, its alphabet or its pattern. A new rule about it is red here until it is listed.
    #[test]
    fn the_rules_about_the_form_of_ids_are_those_whose_names_say_so() {
        let says_so = |name: &&str| {
            let about = |word: &str| name.ends_with(word);
            let is_of_call = !name.starts_with("item-") && !name.starts_with("server-tool-");
            is_of_call
                && name.contains("id-")
                && ["-pattern", "-long", "-length", "-form"].into_iter().any(about)
        };
        let named: BTreeSet<&str> = Rule::all().map(Rule::short_name).filter(says_so).collect();
        assert_eq!(named, BTreeSet::from(ID_FORMS));
    }
}
