//! Checks that no history makes the filter raise an error, because the thread could never continue after
//! it.

use super::{Check, Evidence, Finding, quoted};
use crate::Said;

pub(super) const CHECK: Check = Check {
    id: "never-raises",
    summary: "the filter never raises on a history that it is meant for",
    applies: |_| true,
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    match evidence.said {
        Said::Raised { kind, message } => {
            vec![CHECK.finding(kind.clone(), format!("it raised {kind}: {}", quoted(message)))]
        }
        _ => Vec::new(),
    }
}
