//! The cause of a finding, by which findings are grouped.
//!
//! A cause is what happened in the system: the damage, what interrupted the system, and the state of the
//! calls concerned. It leaves out the location of a finding, the names of the calls, the plan and the
//! dialect, so it stays the same when a scenario shrinks, in every shard and with every seed. The faults of a
//! scenario are described as text and as kinds ([`kinds`]). Regressions are filed under damage and kinds
//! together.

pub(crate) mod own;
mod wrong;

use brickbat_rules::Family;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::scenario::Provenance;
use brickbat_scenario::trigger::{CallState, Trigger};
use brickbat_scenario::verdict::{Finding, Severity};

pub use wrong::{file_name, kinds, words};

/// The identity of a finding's cause. Severity, check and `says` are its damage; the rest are its
/// circumstances.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature {
    /// The severity.
    pub severity: Severity,
    /// The id of the check that fails.
    pub check: String,
    /// The family of the broken rule, a failing system's message, or one of our own sentences about a turn that
    /// fails without a message; see `own.rs`. Empty for all other findings, where the message follows from the
    /// check.
    pub says: String,
    /// The interruption of the system. Records from before Brickbat noted it have none.
    pub trigger: Option<Trigger>,
    /// The state of the calls concerned. Records from before Brickbat noted it have none.
    pub calls: Option<CallState>,
}

impl Signature {
    /// The signature of a finding.
    pub fn of(finding: &Finding) -> Signature {
        let damage = Signature::of_damage(finding.check, finding.severity, finding.rule, &finding.message);
        Signature { trigger: Some(finding.trigger), calls: Some(finding.calls), ..damage }
    }

    /// The signature of damage that was recorded as these parts, in unknown circumstances.
    pub fn of_damage(check: &str, severity: Severity, rule: Option<&str>, message: &str) -> Signature {
        let rule = rule.map(|rule| rule.split_once('/').map_or(rule, |(_, name)| name));
        let says = rule.map(family).unwrap_or_else(|| match severity.quotes_error() {
            true => skeleton(message),
            false => String::new(),
        });
        Signature { severity, check: check.to_owned(), says, trigger: None, calls: None }
    }

    /// The signature in the provenance of a scenario. Older files name a rule instead of its family.
    pub fn of_found(found: &Provenance) -> Signature {
        Signature {
            severity: found.severity,
            check: found.check.clone(),
            says: family(&found.says),
            trigger: found.trigger,
            calls: found.calls,
        }
    }

    /// The provenance for a scenario found to trigger this cause in that system.
    pub fn found(&self, system: &str, dialect: Dialect, seed: u64) -> Provenance {
        let Signature { severity, check, says, trigger, calls } = self.clone();
        let brickbat = env!("CARGO_PKG_VERSION").to_owned();
        Provenance {
            check,
            severity,
            says,
            trigger,
            calls,
            system: system.to_owned(),
            canary: None,
            dialect,
            seed,
            seen: None,
            brickbat,
        }
    }

    /// True if a finding has the same damage, whatever its circumstances.
    pub fn is_same_damage(&self, finding: &Finding) -> bool {
        self.has_damage_of(&Signature::of(finding))
    }

    /// True if a finding has this cause.
    pub fn is_of(&self, finding: &Finding) -> bool {
        self.is_like(&Signature::of(finding))
    }

    /// True if both are one cause. Circumstances that one of them does not name may be any.
    pub fn is_like(&self, other: &Signature) -> bool {
        let is_trigger = self.trigger == other.trigger || self.trigger.is_none() || other.trigger.is_none();
        let are_calls = self.calls == other.calls || self.calls.is_none() || other.calls.is_none();
        self.has_damage_of(other) && is_trigger && are_calls
    }

    fn has_damage_of(&self, other: &Signature) -> bool {
        (self.severity, &self.check, &self.says) == (other.severity, &other.check, &other.says)
    }

    /// True if one of the findings has this cause.
    pub fn is_among<'f>(&self, findings: impl IntoIterator<Item = &'f Finding>) -> bool {
        findings.into_iter().any(|finding| self.is_of(finding))
    }
}

/// The family of a rule; any other text stays.
fn family(says: &str) -> String {
    Family::of(says).map_or_else(|| says.to_owned(), |family| family.name().to_owned())
}

/// A message without its names, numbers and ids.
fn skeleton(message: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut is_list = false;
    for word in message.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '"' | '\''));
        let is_quoted = bare.starts_with(['`', '"', '\'']);
        // Ids without a digit are recognised by their position and their capitals.
        let is_id = (is_list || words.last() == Some(&"call"))
            && bare.chars().filter(char::is_ascii_uppercase).count() > 1;
        // Names of calls have one or two letters. The article "a" is taken for a name, too.
        let is_name = bare.len() <= 1 || is_quoted || is_id || bare.chars().any(|c| c.is_ascii_digit());
        is_list = is_name && word.ends_with(',');
        let is_joint = matches!(word, "and" | "or");
        let after_name = words.last() == Some(&NAME);
        match (is_name, is_joint && after_name) {
            (true, _) if after_name => {}
            (true, _) => words.push(NAME),
            (false, true) => {}
            (false, false) => words.push(singular(word)),
        }
    }
    words.join(" ")
}

/// A message about several calls has the same cause as one about a single call.
fn singular(word: &str) -> &str {
    match word {
        "are" => "is",
        "calls" => "call",
        "results" => "result",
        _ => word,
    }
}

const NAME: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_do_not_change_the_cause() {
        assert_eq!(skeleton("the result of call b is gone"), "the result of call … is gone");
        assert_eq!(
            skeleton("the results of calls b, c and toolu_01 are gone"),
            "the result of call … is gone"
        );
        assert_eq!(skeleton("`x` and \"y\" raised"), "… raised");
        // As Gemini's clients write it, with ids of eight letters and digits.
        let missing = ["call IxSaoIDF.", "calls YmcNOe2Z, LgCZSr0c, TAIHRMYR.", "calls AWdnZq7L, 3Je3dPOa."];
        for ids in missing {
            assert_eq!(
                skeleton(&format!("Tool results are missing for {ids}")),
                "Tool result is missing for call …"
            );
        }
    }
}
