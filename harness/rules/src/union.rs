//! Validation against all providers for a dialect at once, for a client with a provider that is not yet known.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::json::{self, Document};
use crate::validate::{Validator, naming, unreadable, walk_bare};
use crate::{Dialect, MAX_VIOLATIONS, Memory, Profile, Severity, Violation};

/// A violation of a rule, with the profiles that reject it or warn about it.
#[derive(Debug, Clone)]
pub struct UnionViolation {
    /// The violation as reported by the first profile that rejects it, or otherwise by the first that warns
    /// about it.
    pub violation: Violation,
    /// The profiles that reject the body because of it, the dialect's default first. Empty for a warning.
    pub refused_by: Vec<&'static Profile>,
    /// The profiles that warn about it.
    pub warned_by: Vec<&'static Profile>,
}

/// Returns the violations in a body according to the newest profile of each name in a dialect; see
/// [`Profile::newest_of_each_name`].
///
/// At least one provider rejects the body if an entry has a profile in `refused_by`. There is one entry for
/// each rule and location, in the order in which providers check. There are at most [`MAX_VIOLATIONS`]
/// entries with a rejection, and as many with only warnings. The body is read once, whatever the number of
/// profiles.
pub fn validate_union(dialect: Dialect, body: &[u8]) -> Vec<UnionViolation> {
    validate_to(dialect, None, body)
}

/// Like [`validate_union`], for a bare list of messages. Pointers start at a body with this list.
pub fn validate_union_list(dialect: Dialect, list: &[u8]) -> Vec<UnionViolation> {
    validate_list_to(dialect, None, list)
}

/// Like [`validate_union`], for a request with a path that may name the model.
pub(crate) fn validate_to(dialect: Dialect, model: Option<&str>, body: &[u8]) -> Vec<UnionViolation> {
    let memory = Memory::default();
    let mut validators = validators(dialect, &memory, model);
    let list = dialect.definition().list;
    let read =
        json::walk(body, list, |part| validators.iter_mut().for_each(|validator| validator.take(part)));
    judged(validators, body, read)
}

/// Like [`validate_union_list`], for a list of messages to a model.
pub(crate) fn validate_list_to(dialect: Dialect, model: Option<&str>, list: &[u8]) -> Vec<UnionViolation> {
    let memory = Memory::default();
    let around = naming(dialect.definition().bare, model);
    let around = Document::parse(&around).unwrap_or_default();
    let mut validators = validators(dialect, &memory, model);
    let read =
        walk_bare(list, &around, |part| validators.iter_mut().for_each(|validator| validator.take(part)));
    judged(validators, list, read)
}

fn validators<'a>(dialect: Dialect, memory: &'a Memory, model: Option<&'a str>) -> Vec<Validator<'a>> {
    profiles(dialect).map(|profile| Validator::new(profile, memory, model)).collect()
}

fn judged(
    validators: Vec<Validator>,
    body: &[u8],
    read: Result<(), serde_json::Error>,
) -> Vec<UnionViolation> {
    let violations = |validator: Validator| match &read {
        Ok(()) => (validator.profile, validator.out.into_violations()),
        // The refusal by the other profiles hides what this one would refuse.
        Err(_) if matches!(validator.profile.readable(body), Cow::Owned(_)) => {
            (validator.profile, Vec::new())
        }
        Err(error) => (validator.profile, unreadable(validator.profile, body, error)),
    };
    unite(validators.into_iter().map(violations))
}

/// The providers with a known rejection.
fn profiles(dialect: Dialect) -> impl Iterator<Item = &'static Profile> {
    Profile::newest_of_each_name(dialect).filter(|profile| !profile.is_lenient)
}

fn unite(lists: impl Iterator<Item = (&'static Profile, Vec<Violation>)>) -> Vec<UnionViolation> {
    let mut united: Vec<UnionViolation> = Vec::new();
    let mut places = HashMap::<(&'static str, String), usize>::new();
    for (profile, violations) in lists {
        for violation in violations {
            let key = (violation.rule.id, violation.pointer.clone());
            let place = *places.entry(key).or_insert(united.len());
            if place == united.len() {
                united.push(UnionViolation {
                    violation: violation.clone(),
                    refused_by: Vec::new(),
                    warned_by: Vec::new(),
                });
            }
            united[place].add(profile, violation);
        }
    }
    // Within a phase, the order of discovery stays.
    united.sort_by_key(|entry| entry.violation.rule.phase);
    let mut left = [MAX_VIOLATIONS; 2];
    united.retain(|entry| {
        let left = &mut left[usize::from(entry.refused_by.is_empty())];
        let fits = *left > 0;
        *left = left.saturating_sub(1);
        fits
    });
    united
}

impl UnionViolation {
    fn add(&mut self, profile: &'static Profile, violation: Violation) {
        let list = match violation.severity {
            Severity::Error => &mut self.refused_by,
            Severity::Warning => &mut self.warned_by,
        };
        // A rule may be broken twice at the same place.
        if list.last().is_some_and(|last| last.name == profile.name) {
            return;
        }
        let is_first = list.is_empty();
        list.push(profile);
        if is_first && violation.severity == Severity::Error {
            self.violation = violation;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(profiles: &[&Profile]) -> Vec<&'static str> {
        profiles.iter().map(|profile| profile.undated()).collect()
    }

    #[test]
    fn a_violation_is_reported_once_with_every_profile_that_objects() {
        let body = br#"{"messages":[
            {"role":"user","content":"hi"},
            {"role":"assistant","content":"x","reasoning_content":"y","tool_calls":[
                {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
            {"role":"user","content":"stop"}]}"#;
        let united = validate_union(Dialect::OpenaiChat, body);
        let reported: Vec<_> = united
            .iter()
            .map(|entry| (entry.violation.rule.alias, entry.violation.pointer.as_str()))
            .collect();
        assert_eq!(
            reported,
            [("GROQ-EXTRA-1", "/messages/1/reasoning_content"), ("OAI-TC-1", "/messages/1/tool_calls/0"),]
        );
        assert_eq!(names(&united[0].refused_by), ["groq", "cerebras"]);
        assert!(united[0].warned_by.is_empty());
        assert_eq!(united[1].refused_by[0].name, Profile::newest(Dialect::OpenaiChat).name);
        assert!(names(&united[1].refused_by).contains(&"deepseek"));
        assert_eq!(names(&united[1].warned_by), ["groq", "xai", "cerebras", "perplexity", "mimo", "zai"]);
        assert!(united[1].violation.message.ends_with("response messages: a"));
    }

    #[test]
    fn the_list_has_separate_limits_for_errors_and_warnings() {
        let message = r#"{"role":"tool","content":"x"}"#;
        let list = vec![message; 3 * MAX_VIOLATIONS].join(",");
        let united = validate_union(Dialect::OpenaiChat, format!(r#"{{"messages":[{list}]}}"#).as_bytes());
        let refused = united.iter().filter(|entry| !entry.refused_by.is_empty()).count();
        assert_eq!(refused, MAX_VIOLATIONS);
        assert!(united.len() <= 2 * MAX_VIOLATIONS);
    }

    #[test]
    fn a_bare_list_is_judged_like_the_body_around_it() {
        let list = r#"[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"x"}]"#;
        let of_list = validate_union_list(Dialect::OpenaiChat, list.as_bytes());
        let of_body =
            validate_union(Dialect::OpenaiChat, format!(r#"{{"model":"m","messages":{list}}}"#).as_bytes());
        let reported = |united: &[UnionViolation]| {
            let each = united.iter();
            each.map(|entry| (entry.violation.clone(), names(&entry.refused_by))).collect::<Vec<_>>()
        };
        assert!(!of_list.is_empty());
        assert_eq!(reported(&of_list), reported(&of_body));
    }

    #[test]
    fn every_provider_rejects_invalid_json() {
        for dialect in Dialect::ALL {
            let united = validate_union(dialect, b"{");
            assert_eq!(united.len(), 1, "{dialect}");
            let n_profiles = profiles(dialect).count();
            assert_eq!(united[0].refused_by.len() + united[0].warned_by.len(), n_profiles, "{dialect}");
            assert_eq!(validate_union_list(dialect, b"[{").len(), 1, "{dialect}");
        }
    }
}
