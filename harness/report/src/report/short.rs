//! Short ids of cases: the beginnings of hashes, as long as they must be to differ.

use brickbat_scenario::hash::fnv1a;

/// The id of a case: 16 hexadecimal digits, the same in every run.
pub fn case_id(system: &str, plan: &str) -> String {
    // The plan comes first: what follows it spreads the difference of two plans over all digits.
    format!("{:016x}", fnv1a(format!("{plan} on system {system}").as_bytes()))
}

/// Whether a word can be the beginning of a case's id.
pub fn may_be_id(word: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    (MIN_DIGITS..=16).contains(&word.len()) && word.chars().all(is_digit)
}

/// The ids of the cases of a run, from which each takes its short one.
#[derive(Debug)]
pub struct ShortIds {
    sorted: Vec<String>,
}

impl ShortIds {
    /// Of these cases, each a system and a plan.
    pub fn of<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str)>) -> ShortIds {
        let mut sorted: Vec<String> = cases.into_iter().map(|(system, plan)| case_id(system, plan)).collect();
        sorted.sort();
        sorted.dedup();
        ShortIds { sorted }
    }

    /// The beginning of a case's id that no other case has, of at least four digits.
    pub fn short(&self, system: &str, plan: &str) -> String {
        let id = case_id(system, plan);
        let at = self.sorted.partition_point(|other| *other < id);
        let before = at.checked_sub(1).and_then(|at| self.sorted.get(at));
        let after = self.sorted[at..].iter().find(|other| **other != id);
        let in_common = |other: &String| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let n_common = before.into_iter().chain(after).map(in_common).max().unwrap_or(0);
        id[..(n_common + 1).clamp(MIN_DIGITS, id.len())].to_owned()
    }
}

const MIN_DIGITS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_the_beginning_of_one_id_alone() {
        let plans: Vec<String> = (0..3000).map(|n| format!("abort/mid-batch#k={n}@openai-chat")).collect();
        let ids = ShortIds::of(plans.iter().map(|plan| ("reference", plan.as_str())));
        for plan in &plans {
            let short = ids.short("reference", plan);
            assert!(may_be_id(&short) && short.len() <= 8, "{short}");
            let meant = plans.iter().filter(|plan| case_id("reference", plan).starts_with(&short));
            assert_eq!(meant.collect::<Vec<_>>(), [plan]);
        }
        assert!(!may_be_id("abc") && !may_be_id("abort") && !may_be_id("ABCD") && may_be_id("beef"));
    }
}
