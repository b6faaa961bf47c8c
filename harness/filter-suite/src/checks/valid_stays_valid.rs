//! Checks that the provider accepts the output for a valid history.

use super::{Check, Evidence, Finding};

pub(super) const CHECK: Check = Check {
    id: "valid-stays-valid",
    summary: "a history that the provider accepts is still accepted afterwards",
    applies: |evidence| evidence.is_valid() && evidence.has_body(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let body = evidence.said.body().filter(|_| !evidence.is_equal);
    body.map(|body| CHECK.refused(evidence, body, "")).unwrap_or_default()
}
