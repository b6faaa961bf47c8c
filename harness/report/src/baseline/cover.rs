//! Name patterns: what a pattern covers, and which patterns cover exactly a given set.

use brickbat_scenario::plan::CONTROL;
use std::collections::BTreeSet;

/// True if a text matches a pattern; `*` matches any text, even an empty one.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        match parts.peek() {
            // The first match leaves the most text for the following parts.
            Some(_) => match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            },
            None => return rest.ends_with(part),
        }
    }
    true
}

/// True if a pattern covers a plan. `mid-batch#*` does not cover control plans.
pub(super) fn covers_plan(pattern: &str, plan: &str) -> bool {
    plan.ends_with(CONTROL) == pattern.ends_with(CONTROL) && matches(pattern, plan)
}

/// A few sorted patterns that cover all `wanted` plans, but no others of `all`. None covers more than one
/// scenario, because findings of a new scenario must be visible.
pub(super) fn patterns(wanted: &BTreeSet<&str>, all: &BTreeSet<&str>) -> Vec<String> {
    let mut left = wanted.clone();
    let mut found = BTreeSet::new();
    for widen in [whole_scenario, one_dialect, all_dialects] {
        for plan in wanted {
            if !left.contains(plan) {
                continue;
            }
            let Some(pattern) = widen(plan) else { continue };
            let covered: Vec<&str> = all.iter().copied().filter(|plan| covers_plan(&pattern, plan)).collect();
            let n_new = covered.iter().filter(|plan| left.contains(*plan)).count();
            if n_new > 1 && covered.iter().all(|plan| wanted.contains(plan)) {
                left.retain(|plan| !covers_plan(&pattern, plan));
                found.insert(pattern);
            }
        }
    }
    found.extend(left.into_iter().map(str::to_owned));
    found.into_iter().collect()
}

/// `abort/mid-batch#*` for every variant and dialect.
fn whole_scenario(plan: &str) -> Option<String> {
    if plan.ends_with(CONTROL) {
        return None;
    }
    plan.find(['#', '@']).map(|at| format!("{}*", &plan[..=at]))
}

/// `abort/mid-batch#*@openai-chat` for every variant.
fn one_dialect(plan: &str) -> Option<String> {
    let (scenario, rest) = plan.split_once('#')?;
    let (_, dialect) = rest.rsplit_once('@')?;
    Some(format!("{scenario}#*@{dialect}"))
}

/// `abort/mid-batch#k=1@*` for every dialect.
fn all_dialects(plan: &str) -> Option<String> {
    let (variant, dialect) = plan.rsplit_once('@')?;
    let control = if dialect.ends_with(CONTROL) { CONTROL } else { "" };
    Some(format!("{variant}@*{control}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in [
            ("a", "a"),
            ("*", ""),
            ("a*", "a"),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*c", "abc"),
            ("a*b*c", "abbc"),
            ("*b*", "abc"),
            ("a**c", "ac"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("a", "ab"),
            ("a", ""),
            ("a*", "ba"),
            ("*c", "cb"),
            ("a*c", "ab"),
            ("a*b*b", "ab"),
            ("ab*ba", "aba"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_control_plan_is_covered_only_by_name() {
        assert!(covers_plan("a/b#*", "a/b#k=1@openai-chat"));
        assert!(!covers_plan("a/b#*", "a/b#k=1@openai-chat+control"));
        assert!(covers_plan("a/b#*+control", "a/b#k=1@openai-chat+control"));
    }

    fn check(wanted: &[&str], others: &[&str], expected: &[&str]) {
        let wanted: BTreeSet<&str> = wanted.iter().copied().collect();
        let all = wanted.iter().chain(others).copied().collect();
        assert_eq!(patterns(&wanted, &all), expected);
    }

    #[test]
    fn patterns_are_few_and_exact() {
        let (one_x, one_y) = ("a/b#k=1@x", "a/b#k=1@y");
        let (two_x, two_y) = ("a/b#k=2@x", "a/b#k=2@y");
        check(&[one_x, one_y, two_x, two_y], &["a/c@x"], &["a/b#*"]);
        check(&[one_x, two_x], &[one_y, two_y], &["a/b#*@x"]);
        check(&[one_x, one_y], &[two_x, two_y], &["a/b#k=1@*"]);
        check(&[one_x, two_x, one_y], &[two_y], &["a/b#*@x", one_y]);
        // One plan does not justify a wider pattern.
        check(&[one_x], &[], &[one_x]);
        check(&["a/c@x", "a/c@y"], &["a/cd@x", "a/c@x+control"], &["a/c@*"]);
        check(&["a/c@x+control", "a/c@y+control"], &["a/c@x"], &["a/c@*+control"]);
    }
}
