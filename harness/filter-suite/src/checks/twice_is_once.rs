//! Checks that a second pass changes nothing.

use super::{Check, Evidence, Finding};
use crate::{Said, left};

pub(super) const CHECK: Check = Check {
    id: "twice-is-once",
    summary: "applying the filter to its own output changes nothing",
    applies: |evidence| evidence.again.is_some(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let (Some(first), Some(again)) = (evidence.said.body(), evidence.again) else { return Vec::new() };
    match again {
        Said::Raised { kind, message } => {
            vec![CHECK.finding(kind.clone(), format!("on its own output it raised {kind}: {message}"))]
        }
        Said::Request { body, .. } => {
            let changed = left::changed(evidence.route, first, body);
            changed
                .map(|at| CHECK.finding(at.clone(), format!("a second pass changes {at}")))
                .into_iter()
                .collect()
        }
        Said::Unsupported(_) => Vec::new(),
    }
}
