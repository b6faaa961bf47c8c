//! A case as a record has it, and its redaction.

use super::{Case, Report};
use crate::record::{CaseNote, FindingNote, PlanNote, Record, SCHEMA};
use brickbat_rules::redact::Redactor;

impl Case {
    /// The record of a case of that plan; `observed` is for the caller to add. `profile` is the strictness of the
    /// provider, where the plan was driven.
    pub fn record(&self, plan: PlanNote, profile: Option<&str>) -> Record {
        let findings = self.findings.iter().map(|finding| FindingNote {
            check: finding.check.to_owned(),
            harm: finding.harm,
            permanence: finding.permanence,
            message: finding.message.clone(),
            place: finding.place.clone(),
            rule: finding.rule.map(str::to_owned),
            expected: finding.expected.clone(),
            got: finding.got.clone(),
        });
        let case = CaseNote {
            schema: SCHEMA,
            system: self.system.clone(),
            plan: self.plan.clone(),
            profile: profile.map(str::to_owned),
            verdict: self.judged,
            reason: self.reason.clone(),
            findings: findings.collect(),
            reproduce: self.reproduce.clone(),
        };
        Record { case, plan, receipts: self.receipts.clone(), observed: None }
    }

    /// Redacts every text. Names are kept: they are the harness's own.
    pub fn redact(&mut self, redactor: &Redactor) {
        if let Some(reason) = &mut self.reason {
            redactor.string(reason);
        }
        redactor.string(&mut self.reproduce);
        for finding in &mut self.findings {
            let texts = [&mut finding.message, &mut finding.place, &mut finding.expected, &mut finding.got];
            texts.into_iter().for_each(|text| redactor.string(text));
        }
    }
}

impl Report {
    pub fn redact(&mut self, redactor: &Redactor) {
        self.cases.iter_mut().for_each(|case| case.redact(redactor));
    }
}
