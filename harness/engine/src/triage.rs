//! The cause of a finding, by which findings are grouped.
//!
//! A signature leaves out the location of a finding and the calls in it, so it stays the same when a scenario
//! shrinks or is run with different ids. The faults of a scenario are described as text and as kinds
//! ([`kinds`]). Regressions are filed under signature and kinds together.

mod wrong;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::scenario::Provenance;
use brickbat_scenario::verdict::{Finding, Severity};

pub use wrong::{file_name, kinds, words};

/// The identity of a finding's cause: without the location of the finding and the calls in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature {
    /// The severity.
    pub severity: Severity,
    /// The id of the check that fails.
    pub check: String,
    /// The broken rule without its dialect, or a failing system's message. Empty for our own checks, where
    /// the message follows from the check.
    pub says: String,
}

impl Signature {
    /// The signature of a finding.
    pub fn of(finding: &Finding) -> Signature {
        Signature::of_written(finding.check, finding.severity, finding.rule, &finding.message)
    }

    /// The signature of a finding that was recorded as these parts.
    pub fn of_written(check: &str, severity: Severity, rule: Option<&str>, message: &str) -> Signature {
        let rule = rule.map(|rule| rule.split_once('/').map_or(rule, |(_, name)| name).to_owned());
        let says = rule.unwrap_or_else(|| match severity.quotes_error() {
            true => skeleton(message),
            false => String::new(),
        });
        Signature { severity, check: check.to_owned(), says }
    }

    /// The signature in the provenance of a scenario.
    pub fn of_found(found: &Provenance) -> Signature {
        Signature { severity: found.severity, check: found.check.clone(), says: found.says.clone() }
    }

    /// The provenance for a scenario found to trigger this cause in that system.
    pub fn found(&self, system: &str, dialect: Dialect, seed: u64) -> Provenance {
        let Signature { severity, check, says } = self.clone();
        let brickbat = env!("CARGO_PKG_VERSION").to_owned();
        Provenance {
            check,
            severity,
            says,
            system: system.to_owned(),
            canary: None,
            dialect,
            seed,
            seen: None,
            brickbat,
        }
    }

    /// True if one of the findings has this cause.
    pub fn is_among<'f>(&self, findings: impl IntoIterator<Item = &'f Finding>) -> bool {
        findings.into_iter().any(|finding| Signature::of(finding) == *self)
    }
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
