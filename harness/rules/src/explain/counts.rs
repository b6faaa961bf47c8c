//! Counts of how recorded requests agree with the rules, computed once and stored in a file.
//!
//! Providers reject few histories, and few accepted requests contain the form that a rule is about. So
//! many requests that do not break a rule prove little, while a single accepted request that breaks it
//! proves much.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Profile, Rule, Severity};

/// The counts for the collections of recordings. Empty by default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The version of the file format.
    pub schema: u32,
    /// Describes the file and the way to update it.
    pub comment: String,
    /// The collections, in the order in which they were added.
    pub collections: Vec<Collection>,
}

/// The counts for one collection of recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// The source of the recordings.
    pub source: String,
    /// The date of the comparison, as `YYYY-MM-DD`.
    pub date: String,
    /// The number of accepted requests, by the profile that judged them.
    pub taken: BTreeMap<String, usize>,
    /// The rules that were broken.
    pub rules: BTreeMap<String, RuleCounts>,
}

/// The number of times that recorded requests broke a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleCounts {
    /// Requests that the provider also rejected.
    pub agreed: usize,
    /// Requests that the provider accepted.
    pub contradicted: usize,
}

/// The counts of one collection for one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleCount<'a> {
    pub(super) collection: &'a Collection,
    /// Requests accepted by providers that have the rule.
    pub(super) n_taken: usize,
    pub(super) broken: RuleCounts,
}

impl Counts {
    /// The version of the file format.
    pub const SCHEMA: u32 = 1;

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// Fails if the text does not have this format.
    pub fn read(text: &str) -> Result<Counts, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the file's text.
    pub fn to_text(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        format!("{value:#}\n")
    }

    /// Adds a collection, or replaces the collection with the same source.
    pub fn add(&mut self, collection: Collection) {
        match self.collections.iter_mut().find(|older| older.source == collection.source) {
            Some(older) => *older = collection,
            None => self.collections.push(collection),
        }
    }

    /// Returns each collection's counts for a rule. A collection is left out if it contains no request to
    /// a provider with the rule.
    pub(super) fn of_rule(&self, rule: &Rule) -> Vec<RuleCount<'_>> {
        let enforces = |name: &str| {
            Profile::named(name).is_some_and(|profile| {
                profile.dialect == rule.dialect() && profile.severity(rule) == Some(Severity::Error)
            })
        };
        let of = |collection: &'_ Collection| {
            let taken = collection.taken.iter().filter(|(profile, _)| enforces(profile));
            (taken.map(|(_, n)| n).sum(), collection.rules.get(rule.id).copied().unwrap_or_default())
        };
        let each = self.collections.iter().map(|collection| {
            let (n_taken, broken) = of(collection);
            RuleCount { collection, n_taken, broken }
        });
        each.filter(|count| count.n_taken > 0 || count.broken != RuleCounts::default()).collect()
    }
}

impl RuleCount<'_> {
    /// Describes the counts as text.
    pub(super) fn words(&self) -> String {
        let RuleCounts { agreed, contradicted } = self.broken;
        let breaks = |n: usize| if n == 1 { "breaks" } else { "break" };
        let refusals = match agreed {
            0 => "no recorded refusal confirms it".to_owned(),
            1 => "1 recorded refusal confirms it".to_owned(),
            n => format!("{n} recorded refusals confirm it"),
        };
        format!(
            "of {} requests that providers accepted, {contradicted} {} it; {refusals} ({}, {})",
            self.n_taken,
            breaks(contradicted),
            self.collection.source,
            self.collection.date
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_counted_only_where_it_applies() {
        let rule = Rule::find("ANT-TU-1").unwrap();
        let newest = Profile::newest(rule.dialect()).name.to_owned();
        let other = Profile::newest(crate::Dialect::Gemini).name.to_owned();
        let collection = Collection {
            source: "somebody".to_owned(),
            date: "2026-11-23".to_owned(),
            taken: BTreeMap::from([(newest, 7), (other, 9)]),
            rules: BTreeMap::from([(rule.id.to_owned(), RuleCounts { agreed: 1, contradicted: 0 })]),
        };
        let mut counts = Counts { schema: Counts::SCHEMA, ..Counts::default() };
        counts.add(Collection { date: "2026-01-01".to_owned(), ..collection.clone() });
        counts.add(collection);
        assert_eq!(Counts::read(&counts.to_text()).unwrap(), counts);
        let words: Vec<String> = counts.of_rule(rule).iter().map(RuleCount::words).collect();
        let expected = "of 7 requests that providers accepted, 0 break it; 1 recorded refusal confirms it (somebody, 2026-11-23)";
        assert_eq!(words, [expected]);
        assert!(counts.of_rule(Rule::find("MIS-BODY-1").unwrap()).is_empty());
    }
}
