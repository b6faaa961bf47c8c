//! The oracles whose verdicts are compared with ours, and how far they have to agree.

use std::collections::BTreeSet;
use std::fmt;

use brickbat_rules::{self as rules, Profile, Severity};
use serde_json::Value;

use crate::kinds;

/// A program or library that checks histories.
pub struct Oracle {
    /// Its name in the table of explained differences.
    pub name: String,
    /// The profile for one of its verdicts.
    profile: fn(&str) -> &'static Profile,
    /// True if it rejects everything that we reject.
    is_complete: bool,
    /// True if its messages have the same words as ours.
    has_our_words: bool,
    /// True if a verdict belongs to a model, and has the model's name.
    is_of_model: bool,
    explained: BTreeSet<(String, String)>,
}

impl Oracle {
    /// The oracle of that name.
    pub fn named(name: &str) -> Oracle {
        let client = Oracle {
            name: name.to_owned(),
            profile: |_| named("openai-chat@2026-09"),
            is_complete: false,
            has_our_words: false,
            is_of_model: false,
            explained: kinds::explained(),
        };
        match name {
            "mistral-common" => Oracle {
                profile: |version| named(&format!("mistral-{version}")),
                is_complete: true,
                has_our_words: true,
                ..client
            },
            "templates" => {
                Oracle { profile: |_| named("vllm@2026-09"), is_complete: true, is_of_model: true, ..client }
            }
            "clients" | "ai-sdk" => client,
            other => panic!("no oracle is called `{other}`"),
        }
    }

    /// True if the verdicts may differ in this way.
    pub fn explains(&self, column: &str, agreement: &Agreement) -> bool {
        let is_explained = |kind: &String| {
            let of = if self.name == "clients" { column } else { &self.name };
            self.explained.contains(&(of.to_owned(), kind.clone()))
        };
        match agreement {
            Agreement::BothAccept | Agreement::BothRefuse | Agreement::WeWarn => true,
            Agreement::OnlyWeRefuse => !self.is_complete,
            Agreement::OnlyTheyRefuse(kind) | Agreement::OtherWords(kind) => is_explained(kind),
        }
    }
}

fn named(name: &str) -> &'static Profile {
    Profile::named(name).expect("the profile is known")
}

/// The relation of two verdicts.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    BothAccept,
    BothRefuse,
    /// The oracle rejects, and we accept with a warning.
    WeWarn,
    OnlyWeRefuse,
    /// For this kind of reason.
    OnlyTheyRefuse(String),
    /// Both reject, but with different words, for this kind of reason.
    OtherWords(String),
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Agreement::BothAccept => f.write_str("accepted"),
            Agreement::BothRefuse => f.write_str("refused"),
            Agreement::WeWarn => f.write_str("refused by them with a warning of ours"),
            Agreement::OnlyWeRefuse => f.write_str("refused by us alone"),
            Agreement::OnlyTheyRefuse(kind) => write!(f, "refused by them alone ({kind})"),
            Agreement::OtherWords(kind) => write!(f, "refused in other words ({kind})"),
        }
    }
}

/// Compares a verdict with ours, which is returned in words.
pub fn compared(oracle: &Oracle, column: &str, body: &Value, theirs: &Value) -> (Agreement, String) {
    let mut body = body.clone();
    if oracle.is_of_model {
        body["model"] = column.into();
    }
    let violations = rules::validate_value((oracle.profile)(column), &body);
    let refusal = rules::refusal(&violations);
    let ours = refusal.map_or_else(
        || "we accept".to_owned(),
        |violation| format!("{}: we say {}", violation.rule.id, violation.message),
    );
    let kind = theirs["kind"].as_str().map(str::to_owned);
    let agreement = match (refusal, kind) {
        (None, None) => Agreement::BothAccept,
        (Some(_), None) => Agreement::OnlyWeRefuse,
        (None, Some(_)) if violations.iter().any(|violation| violation.severity == Severity::Warning) => {
            Agreement::WeWarn
        }
        (None, Some(kind)) => Agreement::OnlyTheyRefuse(kind),
        (Some(violation), Some(kind)) => {
            // The sentences about types come from another library.
            let is_of_types = theirs["class"] == "ValidationError";
            let is_same = if violation.status() == 422 || is_of_types {
                (violation.status() == 422) == is_of_types
            } else {
                theirs["message"] == violation.message.as_str()
            };
            if is_same || !oracle.has_our_words { Agreement::BothRefuse } else { Agreement::OtherWords(kind) }
        }
    };
    (agreement, ours)
}
