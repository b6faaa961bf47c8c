//! Checks that the history is still accepted after many rounds in which it grows and is trimmed again.

use super::{Check, Evidence, Finding};
use crate::Said;

pub(super) const CHECK: Check = Check {
    id: "rounds-stay-valid",
    summary: "the conversation is still accepted after 1, 3 and 30 further rounds",
    applies: |evidence| !evidence.rounds.is_empty(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    for (round, said) in evidence.rounds {
        let found = match said {
            Said::Request { body, .. } => CHECK.refused(evidence, body, &format!("after round {round}: ")),
            Said::Raised { kind, message } => {
                vec![CHECK.finding(kind.clone(), format!("in round {round} it raised {kind}: {message}"))]
            }
            Said::Unsupported(_) => Vec::new(),
        };
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}
