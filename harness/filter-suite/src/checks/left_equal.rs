//! Checks that a history without need for changes stays unchanged.

use super::{Check, Evidence, Finding};
use crate::{Kind, Loss, Said, left};

pub(super) const CHECK: Check = Check {
    id: "left-equal",
    summary: "a history that needs no change is left unchanged, or the change is declared",
    applies,
    find,
};

fn applies(evidence: &Evidence<'_>) -> bool {
    let mode = evidence.route.mode;
    let is_idle = match mode.kind {
        Kind::Repairer => true,
        // A trimmer has nothing to do if everything fits.
        Kind::Trimmer => evidence.input.budget(evidence.route).is_some() && !evidence.is_tight(),
        Kind::Converter | Kind::Gateway | Kind::Compactor => false,
    };
    let declared =
        [Loss::DropsMessages, Loss::DropsCalls, Loss::ClearsResults, Loss::DropsThinking, Loss::ChangesText];
    let is_silent = !declared.iter().any(|loss| mode.declares(*loss) && mode.kind != Kind::Trimmer);
    is_idle && is_silent && evidence.is_valid() && evidence.route.is_round() && evidence.has_body()
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Said::Request { body, notes, .. } = evidence.said else { return Vec::new() };
    if !notes.is_empty() {
        return Vec::new();
    }
    let changed = left::changed(evidence.route, evidence.base, body);
    changed.map(|at| CHECK.finding(at.clone(), format!("{at} comes back changed"))).into_iter().collect()
}
