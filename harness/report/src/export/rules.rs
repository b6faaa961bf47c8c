//! The rules that a test can assert, each as a short function in the languages of tests.
//!
//! They are not the rules of `brickbat-rules`, which handle every shape of a request. Each is short enough
//! that a maintainer can verify it by reading, and covers exactly the finding.

use super::Language;

/// A rule as code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RuleCode {
    pub(super) id: &'static str,
    /// A function `problem(request)` that returns the problem.
    javascript: &'static str,
    python: &'static str,
}

impl RuleCode {
    pub(super) fn in_language(&self, language: Language) -> &'static str {
        match language {
            Language::JavaScript => self.javascript,
            Language::Python => self.python,
        }
    }
}

/// The code of a rule, if there is any.
pub(super) fn of(id: &str) -> Option<&'static RuleCode> {
    RULES.iter().find(|rule| rule.id == id)
}

macro_rules! rules {
    ($($id:literal),* $(,)?) => {
        /// The rules that findings name.
        pub(super) const RULES: &[RuleCode] = &[$(RuleCode {
            id: $id,
            javascript: include_str!(concat!("rules/", $id, ".mjs")),
            python: include_str!(concat!("rules/", $id, ".py")),
        }),*];
    };
}

rules![
    "anthropic-messages/body-not-json",
    "anthropic-messages/text-empty",
    "anthropic-messages/tool-id-pattern",
    "anthropic-messages/tool-input-not-object",
    "anthropic-messages/tool-name-pattern",
    "anthropic-messages/tool-result-duplicate",
    "anthropic-messages/tool-result-missing",
    "anthropic-messages/tool-result-orphan",
    "anthropic-messages/tool-use-id-duplicate",
    "gemini/args-not-object",
    "gemini/function-name-empty",
    "gemini/response-missing",
    "openai-chat/function-name-pattern",
    "openai-chat/tool-message-missing",
    "openai-chat/tool-message-orphan",
    "openai-responses/body-not-json",
    "openai-responses/call-id-length",
    "openai-responses/function-name-pattern",
    "openai-responses/tool-output-missing",
];

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_rules::Rule;
    use std::collections::BTreeSet;

    /// A rule is in one of the two lists, so that a new one is not forgotten.
    #[test]
    fn every_rule_has_code_or_is_listed_as_having_none() {
        let with: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        let without: BTreeSet<&str> = include_str!("without_code.txt").lines().collect();
        let all: BTreeSet<&str> = Rule::all().map(|rule| rule.id).collect();
        assert_eq!(with.intersection(&without).collect::<Vec<_>>(), Vec::<&&str>::new());
        let listed: BTreeSet<&str> = with.union(&without).copied().collect();
        let missing: Vec<_> = all.difference(&listed).collect();
        let gone: Vec<_> = listed.difference(&all).collect();
        assert!(
            missing.is_empty() && gone.is_empty(),
            "without code and not in without_code.txt: {missing:?}; not a rule: {gone:?}"
        );
    }

    #[test]
    fn each_entry_is_a_rule_with_code_in_both_languages() {
        for rule in RULES {
            assert!(Rule::find(rule.id).is_some(), "{}", rule.id);
            assert!(rule.javascript.starts_with("/** ") && rule.javascript.contains("\nfunction problem("));
            assert!(rule.python.starts_with("def problem(request):\n    \"\"\""), "{}", rule.id);
        }
    }
}
