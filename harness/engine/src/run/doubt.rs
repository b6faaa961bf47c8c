//! Finds out whether cutting or summarising a history really made it shorter, for systems that do not report
//! this. An agent without an adapter may mistake the order for a user message, or find nothing to do.

use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Event, RequestKind, Trace};

use super::{Receipt, Run};
use crate::provider::{marks, replied};

impl Run {
    /// The same run without receipts for changes that had no effect: the next request still contains
    /// everything that the last one before the change contained.
    #[must_use]
    pub fn doubting_changes(mut self, plan: &Plan) -> Run {
        let is_cut = |receipt: &&mut Receipt| {
            receipt.fired && receipt.what.change().is_some_and(|change| change.shortening().is_some())
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

/// For each cut or summary, true if it had no effect. A change is not in doubt if the provider rejected the
/// request that the system sent for it, or if the plan has something happen to that request.
fn idle_changes(plan: &Plan, trace: &Trace) -> Vec<bool> {
    let mut idle = Vec::new();
    let mut before: Vec<String> = Vec::new();
    let (mut is_refused, mut is_asked, mut is_new) = (false, false, false);
    for event in trace.events() {
        match event {
            Event::TurnEnded { .. } => is_refused = false,
            Event::Requested { summary: Some(_), .. } => is_asked = true,
            Event::Requested { kind, .. } if !kind.is_of_thread() => {}
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
            Event::Changed { change } if change.shortening().is_some() => {
                idle.push(false);
                is_new = !(is_refused || std::mem::take(&mut is_asked));
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

    /// True if the summary of a plan that keeps this number of messages is still proven.
    fn is_proven(keep: u32) -> bool {
        let text = include_str!("../../../../scenarios/transform/summarise-then-tools.yaml");
        is_proven_in(&text.replace("summarise: 1", &format!("summarise: {keep}")))
    }

    /// True if the first action of a scenario is still proven.
    fn is_proven_in(text: &str) -> bool {
        let plans = lower::plans("x", "x.yaml", text, &[Dialect::OpenaiChat], 0).unwrap();
        let plan = Arc::new(plans[0].clone());
        let agent = Agent::of_plan(&plan, Delivery::Streamed, None);
        let run = simulate(&plan, plan.profile_from(&[]), agent, None).doubting_changes(&plan);
        run.receipts[0].is_proven()
    }

    #[test]
    fn a_summary_that_removes_nothing_is_not_proven() {
        assert!(is_proven(0) && is_proven(1));
        assert!(!is_proven(99));
    }

    #[test]
    fn a_refused_summary_is_proven_although_it_removes_nothing() {
        let text = include_str!("../../../../scenarios/compaction/refused-on-command.yaml");
        assert!(is_proven_in(text));
    }
}
