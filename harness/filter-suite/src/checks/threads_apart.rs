//! Checks that broken threads do not affect the next thread.

use serde_json::Value;

use super::{Check, Evidence, Finding, quoted};
use crate::{Facts, Route, Said};

pub(super) const CHECK: Check = Check {
    id: "threads-apart",
    summary: "a broken thread does not affect the output for another thread",
    applies: |evidence| {
        // A filter with random answers cannot be checked.
        evidence.later.is_some_and(|(once_more, _)| is_alike(evidence.route, evidence.said, once_more))
    },
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some((_, after)) = evidence.later else { return Vec::new() };
    if is_alike(evidence.route, evidence.said, after) {
        return Vec::new();
    }
    let words = match after {
        Said::Raised { kind, message } => {
            format!("after broken threads it raised {kind}: {}", quoted(message))
        }
        Said::Unsupported(why) => format!("after broken threads it cannot carry it: {}", quoted(why)),
        Said::Request { .. } => "after broken threads the same history comes out differently".to_owned(),
    };
    vec![CHECK.finding("others", words)]
}

/// Returns whether two answers are the same except for ids.
fn is_alike(route: &Route<'_>, one: &Said, other: &Said) -> bool {
    let facts = |body: &Value| Facts::of(body, route.to).without_ids();
    match (one, other) {
        (Said::Raised { kind: one, .. }, Said::Raised { kind: other, .. }) => one == other,
        (Said::Request { body: one, .. }, Said::Request { body: other, .. }) => {
            one == other || facts(one) == facts(other)
        }
        (Said::Unsupported(_), Said::Unsupported(_)) => true,
        _ => false,
    }
}
