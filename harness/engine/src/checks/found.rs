//! The results of all checks on one run, and the judgement that follows from them.

use super::played::{is_oddity_unsent, undelivered_failure};
use super::*;
use brickbat_scenario::duty::Repaired;

/// The results of all checks.
pub(super) struct Found {
    /// The system's findings, the worst first.
    pub(super) findings: Vec<Finding>,
    /// The findings that are the application's duty.
    application: Vec<Finding>,
    repaired: Vec<Repaired>,
    asked: Vec<Asked>,
}

impl Found {
    pub(super) fn of(evidence: &Evidence<'_>, Apart { known, application }: Apart<'_>) -> Found {
        let found = CHECKS.iter().flat_map(|check| (check.find)(evidence));
        let found = found.map(|finding| finding.beside(application));
        let is_known = |finding: &Finding| known.iter().any(|known| known.is_same_damage(finding));
        let found = found.filter(|finding| !is_known(finding));
        let found = found.map(|finding| circumstances::entered(evidence, finding));
        let model = &evidence.plan.model;
        let mut found: Vec<Finding> =
            found.map(|finding| Finding { model: model.clone(), ..finding }).collect();
        found.sort_by(|a, b| (a.severity, &a.check, &a.place).cmp(&(b.severity, &b.check, &b.place)));
        let is_apart = |finding: &Finding| application.does_any(&finding.rests_on);
        let (apart, findings): (Vec<Finding>, Vec<Finding>) = found.into_iter().partition(is_apart);
        let apart = apart.into_iter().map(|finding| finding.left_to(application)).collect();
        let ask = |check: &Check| Asked {
            check: check.id,
            level: check.level,
            spoke: (check.applies)(evidence),
            is_of_application: application.does_any(check.rests_on),
        };
        let repairs = evidence.run.trace.events().iter().filter_map(|event| match event {
            Event::Repaired { repair } => Some(repair.as_str()),
            _ => None,
        });
        let repaired = application.repaired(repairs);
        Found { findings, application: apart, repaired, asked: CHECKS.iter().map(ask).collect() }
    }

    /// The judgement of a plan that was played, at least up to the findings.
    pub(super) fn with_proof(self, evidence: &Evidence<'_>) -> Judgement {
        if !self.findings.is_empty() {
            return self.judgement(Verdict::Fail, None);
        }
        if is_oddity_unsent(evidence) {
            let why = "what is odd in the model's reply was never fully sent";
            return self.judgement(Verdict::Vacuous, Some(why.to_owned()));
        }
        match undelivered_failure(evidence) {
            Some(name) => {
                let why = format!("the failure of call {name} was never delivered");
                self.judgement(Verdict::Vacuous, Some(why))
            }
            None => self.judgement(Verdict::Pass, None),
        }
    }

    /// The judgement of a plan in which an action is missing. A finding without the planned fault does not
    /// belong to the plan, and a second run need not repeat it.
    pub(super) fn without_proof(
        self,
        evidence: &Evidence<'_>,
        missing: &Receipt,
        concurrency: Option<&Concurrency>,
    ) -> Judgement {
        let is_hang = |finding: &Finding| finding.severity.ends_no_turn();
        let no_receipt = format!("no receipt for `{}`", missing.words);
        // The rest of the plan was not played because the turn never ends.
        if self.findings.iter().any(is_hang) {
            return self.judgement(Verdict::Fail, Some(no_receipt));
        }
        if let Some(reason) = unreachable::why(evidence, missing, concurrency) {
            return self.without_findings().judgement(Verdict::Unreachable, Some(reason));
        }
        if self.application.iter().any(is_hang) {
            let why = format!("{no_receipt}: the turn waits for what the application has to end");
            return self.judgement(Verdict::Unreachable, Some(why));
        }
        let why = match missing.grade {
            Some(Confidence::Written) if missing.fired => {
                format!("{no_receipt}: nothing shows that the system had read what was sent before it")
            }
            _ => no_receipt,
        };
        self.without_findings().judgement(Verdict::Vacuous, Some(why))
    }

    fn without_findings(self) -> Found {
        Found { findings: Vec::new(), application: Vec::new(), ..self }
    }

    fn judgement(self, verdict: Verdict, reason: Option<String>) -> Judgement {
        let Found { findings, application, repaired, asked } = self;
        Judgement { verdict, findings, application, repaired, reason, asked }
    }
}
