//! Checks that the filter does not invent results or calls.

use super::{Check, Evidence, Finding, quoted};
use crate::words::said_in;
use crate::{Kind, Loss};
use brickbat_rules::admission::{Author, admits_failure};

pub(super) const CHECK: Check = Check {
    id: "nothing-made-up",
    summary: "no result claims a success that was never recorded, and no call appears that was never made",
    applies: |evidence| evidence.has_body(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let before = evidence.before.answers();
    let recorded: Vec<&str> = evidence.before.results().iter().map(|result| result.text.as_str()).collect();
    let old = |place: usize| evidence.calls.iter().position(|at| *at == Some(place));
    for (place, results) in evidence.after.answers().iter().enumerate() {
        let was_answered = old(place).is_some_and(|old| !before[old].is_empty());
        for result in results.iter().filter(|_| !was_answered && !evidence.declares(Loss::MakesUpResults)) {
            let is_recorded =
                recorded.iter().any(|text| said_in(&result.text, text) && !text.trim().is_empty());
            let is_admitted = result.text.trim().is_empty() || admits_failure(&result.text, Author::Filter);
            if !result.is_error && !is_admitted && !is_recorded {
                let words = format!("a call without a result has one that says {}", quoted(&result.text));
                found.push(CHECK.finding("success", words));
            }
        }
    }
    // A compactor may call its own tool for remembering. Other filters have no calls to add.
    let is_new = |place: &usize| old(*place).is_none() && evidence.route.mode.kind != Kind::Compactor;
    let calls = evidence.after.calls();
    if let Some(place) = (0..calls.len()).find(is_new) {
        let words = format!("a call of {} is there that was not made", quoted(&calls[place].name));
        found.push(CHECK.finding("call", words));
    }
    found
}
