//! Checks that every remaining call keeps its own result.

use std::collections::BTreeSet;

use super::{Check, Evidence, Finding, quoted};
use crate::Loss;
use crate::words::said_in;

pub(super) const CHECK: Check = Check {
    id: "pairs-kept",
    summary: "a call keeps its own result, and only that",
    applies: |evidence| evidence.has_body() && !evidence.before.calls().is_empty(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let (before, after) = (evidence.before.answers(), evidence.after.answers());
    let calls = evidence.before.calls();
    let mut found = BTreeSet::new();
    for (n, place) in evidence.calls.iter().enumerate() {
        let Some(place) = *place else { continue };
        let (had, has) = (&before[n], &after[place]);
        let name = || quoted(&calls[n].name);
        match (had.as_slice(), has.as_slice()) {
            ([_, ..], []) => {
                _ = found.insert(("unanswered", format!("a call of {} has lost its result", name())))
            }
            ([own], [one]) => {
                let is_of_another = |text: &str| {
                    let others = before.iter().enumerate().filter(|(other, _)| *other != n);
                    let mut texts =
                        others.flat_map(|(_, results)| results).map(|result| result.text.as_str());
                    texts.any(|other| other == text && !text.trim().is_empty())
                };
                if !said_in(&one.text, &own.text) && is_of_another(&one.text) {
                    let words =
                        format!("a call of {} has the result of another: {}", name(), quoted(&one.text));
                    found.insert(("swapped", words));
                }
            }
            ([_], [_, _, ..]) => _ = found.insert(("twice", format!("a call of {} has two results", name()))),
            _ => {}
        }
    }
    let n_orphans =
        |results: &[&crate::ResultFact]| results.iter().filter(|result| result.call.is_none()).count();
    if n_orphans(&evidence.after.results()) > n_orphans(&evidence.before.results()) {
        found.insert(("orphan", "a result is there without its call".to_owned()));
    }
    if n_shared(&evidence.after.calls()) > n_shared(&calls) && !evidence.declares(Loss::ChangesIds) {
        found.insert(("one-id", "two calls have one id".to_owned()));
    }
    found.into_iter().map(|(cause, words)| CHECK.finding(cause, words)).collect()
}

/// Returns the number of calls that share an id with another call.
fn n_shared(calls: &[&crate::CallFact]) -> usize {
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).filter(|id| !id.is_empty()).collect();
    ids.len() - ids.iter().collect::<BTreeSet<_>>().len()
}
