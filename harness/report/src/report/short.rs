//! Short ids: prefixes of hashes, just long enough to differ.
//!
//! A cause has the same id in every run in which it occurs: the id follows from the system and the
//! signature, so neither the shard, the seed nor the plan that represents the cause changes it. A case has
//! its own id, for plans that could not be judged.

use brickbat_engine::triage::Signature;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::trigger::{CallState, Trigger};

/// The id of a case: 16 hexadecimal digits, the same in every run.
pub fn case_id(system: &str, plan: &str) -> String {
    // The plan comes first: the text after it spreads the difference of two plans over all digits.
    format!("{:016x}", fnv1a(format!("{plan} on system {system}").as_bytes()))
}

/// The id of a cause: 16 hexadecimal digits, the same in every run.
pub fn cause_id(system: &str, signature: &Signature) -> String {
    let Signature { severity, check, says, trigger, calls } = signature;
    let trigger = trigger.map_or("", Trigger::name);
    let calls = calls.map_or("", CallState::name);
    // The last line spreads the difference of two systems over all digits.
    let text =
        format!("{trigger}\n{calls}\n{says}\n{check}\n{}\n{system}\nwhat is wrong with it", severity.name());
    format!("{:016x}", fnv1a(text.as_bytes()))
}

/// True if a word can be the prefix of an id.
pub fn may_be_id(word: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    (MIN_DIGITS..=16).contains(&word.len()) && word.chars().all(is_digit)
}

/// The printed ids of a run, from which the short ones are taken.
#[derive(Debug)]
pub struct ShortIds {
    sorted: Vec<String>,
    n_digits: usize,
}

impl ShortIds {
    /// The ids of these cases, each a system and a plan.
    pub fn of_cases<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str)>) -> ShortIds {
        ShortIds::of(cases.into_iter().map(|(system, plan)| case_id(system, plan)).collect(), MIN_DIGITS)
    }

    /// The ids of causes.
    pub fn of_causes(ids: Vec<String>) -> ShortIds {
        ShortIds::of(ids, CAUSE_DIGITS)
    }

    fn of(mut sorted: Vec<String>, n_digits: usize) -> ShortIds {
        sorted.sort();
        sorted.dedup();
        ShortIds { sorted, n_digits }
    }

    /// The shortest prefix of an id that no other one has.
    pub fn short(&self, id: &str) -> String {
        let at = self.sorted.partition_point(|other| other.as_str() < id);
        let before = at.checked_sub(1).and_then(|at| self.sorted.get(at));
        let after = self.sorted[at..].iter().find(|other| other.as_str() != id);
        let in_common = |other: &String| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let n_common = before.into_iter().chain(after).map(in_common).max().unwrap_or(0);
        id[..(n_common + 1).clamp(self.n_digits, id.len())].to_owned()
    }
}

/// The minimum number of digits in an id that a user types.
const MIN_DIGITS: usize = 4;

/// The minimum number of digits printed for a cause id. With a hundred causes, two share the first six digits
/// in one of three thousand runs, and the first four in one of thirteen. A shard of the run would then print
/// a shorter id than the complete run.
const CAUSE_DIGITS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::verdict::Severity;

    #[test]
    fn a_short_id_is_the_prefix_of_only_one_id() {
        let plans: Vec<String> = (0..3000).map(|n| format!("abort/mid-batch#k={n}@openai-chat")).collect();
        let ids = ShortIds::of_cases(plans.iter().map(|plan| ("reference", plan.as_str())));
        for plan in &plans {
            let short = ids.short(&case_id("reference", plan));
            assert!(may_be_id(&short) && short.len() <= 8, "{short}");
            let meant = plans.iter().filter(|plan| case_id("reference", plan).starts_with(&short));
            assert_eq!(meant.collect::<Vec<_>>(), [plan]);
        }
        assert!(!may_be_id("abc") && !may_be_id("abort") && !may_be_id("ABCD") && may_be_id("beef"));
    }

    #[test]
    fn causes_that_differ_in_one_thing_have_distinct_short_ids() {
        let signature = |check: &str, says: &str, severity| Signature {
            severity,
            check: check.to_owned(),
            says: says.to_owned(),
            trigger: Some(Trigger::Stop),
            calls: Some(CallState::Answered),
        };
        let lost = signature("results-kept", "", Severity::ResultsLost);
        let ids = [
            cause_id("ai-sdk@6.0.1/ui-messages", &lost),
            cause_id("ai-sdk@6.0.2/ui-messages", &lost),
            cause_id("ai-sdk@6", &lost),
            cause_id("ai-sdk@7", &lost),
            cause_id("ai-sdk@7", &signature("results-kept", "", Severity::ViewsDiffer)),
            cause_id("ai-sdk@7", &signature("results-once", "", Severity::ResultsLost)),
            cause_id("ai-sdk@7", &signature("results-kept", "x", Severity::ResultsLost)),
            cause_id("ai-sdk@7", &Signature { trigger: Some(Trigger::Kill), ..lost.clone() }),
            cause_id("ai-sdk@7", &Signature { calls: Some(CallState::Unanswered), ..lost.clone() }),
        ];
        let short = ShortIds::of_causes(ids.to_vec());
        for id in &ids {
            assert_eq!(short.short(id), id[..CAUSE_DIGITS], "{ids:?}");
        }
    }
}
