//! Checks that the filter fixes the histories that it claims to fix.

use super::{Check, Evidence, Finding};
use crate::State;

pub(super) const CHECK: Check = Check {
    id: "mendable-becomes-valid",
    summary: "a fault that the filter claims to repair is repaired",
    applies: |evidence| !evidence.is_valid() && evidence.has_body(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let (Some(body), State::Mendable(fault)) = (evidence.said.body(), evidence.input.state) else {
        return Vec::new();
    };
    let refused = CHECK.refused(evidence, body, "");
    refused
        .into_iter()
        .map(|finding| Finding { cause: format!("{} {}", fault.name(), finding.cause), ..finding })
        .collect()
}
