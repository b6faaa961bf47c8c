//! Whether a history that was cut or summarised is any shorter, where the system itself says nothing of it: an agent
//! without an adapter may take the order for a message of its user, or find nothing to do.

use brickbat_scenario::plan::{Change, Plan};
use brickbat_scenario::trace::{Event, RequestKind, Trace};

use super::{Receipt, Run};
use crate::provider::{marks, replied};

impl Run {
    /// The same without the receipts of changes after which the next request still has all that the last one before had.
    #[must_use]
    pub fn doubting_changes(mut self, plan: &Plan) -> Run {
        let is_cut = |receipt: &&mut Receipt| {
            receipt.fired
                && matches!(receipt.what.change(), Some(Change::Trim { .. } | Change::Summarise { .. }))
        };
        let receipts = self.receipts.iter_mut().filter(is_cut);
        for (receipt, is_idle) in receipts.zip(idle_changes(plan, &self.trace)) {
            if is_idle {
                (receipt.fired, receipt.grade) = (false, None);
            }
        }
        self
    }
}

/// For each cut or summary, whether nothing came of it. A provider that refuses what it was asked for it is no doubt.
fn idle_changes(plan: &Plan, trace: &Trace) -> Vec<bool> {
    let mut idle = Vec::new();
    let mut before: Vec<String> = Vec::new();
    let (mut is_refused, mut is_new) = (false, false);
    for event in trace.events() {
        match event {
            Event::TurnEnded { .. } => is_refused = false,
            Event::Requested { kind: RequestKind::Auxiliary | RequestKind::OfSubAgent { .. }, .. } => {}
            Event::Requested { kind: RequestKind::Refused { .. }, .. } if !is_new => is_refused = true,
            Event::Requested { body, kind, .. } => {
                let body = String::from_utf8_lossy(body);
                let sent = marks(plan).filter(|mark| body.contains(mark.as_str()));
                let marks = sent.chain(replied(plan, *kind)).collect();
                if is_new && let Some(idle) = idle.last_mut() {
                    *idle = before.iter().all(|mark| body.contains(mark.as_str()));
                }
                (before, is_new) = (marks, false);
            }
            Event::Changed { change: Change::Trim { .. } | Change::Summarise { .. } } => {
                idle.push(false);
                is_new = !is_refused;
            }
            _ => {}
        }
    }
    idle
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::agent::{Agent, Delivery};
    use crate::simulate::simulate;
    use brickbat_rules::dialect::Dialect;
    use brickbat_scenario::lower;

    /// Whether the summary of a plan that keeps so many messages is still proven.
    fn is_proven(keep: u32) -> bool {
        let text = include_str!("../../../../scenarios/transform/summarise-then-tools.yaml");
        let text = text.replace("summarise: 1", &format!("summarise: {keep}"));
        let plans = lower::plans("x", "x.yaml", &text, &[Dialect::OpenaiChat], 0).unwrap();
        let plan = Arc::new(plans[0].clone());
        let agent = Agent::of_plan(&plan, Delivery::Streamed, None);
        let run = simulate(&plan, plan.profile_from(&[]), agent, None).doubting_changes(&plan);
        run.receipts[0].is_proven()
    }

    #[test]
    fn a_summary_after_which_everything_is_still_there_is_not_proven() {
        assert!(is_proven(0) && is_proven(1));
        assert!(!is_proven(99));
    }
}
