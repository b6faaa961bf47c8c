//! A case in the form of a record, and its redaction.

use super::{Case, Report};
use crate::record::{CaseNote, FindingNote, PlanNote, Record, SCHEMA};
use brickbat_rules::redact::Redactor;
use brickbat_scenario::verdict::Finding;

impl Case {
    /// The record for a case of that plan; the caller adds `observed`. `profile` is the provider's
    /// strictness, if the plan was driven.
    pub fn record(&self, plan: PlanNote, profile: Option<&str>) -> Record {
        let case = CaseNote {
            schema: SCHEMA,
            system: self.system.clone(),
            plan: self.plan.clone(),
            profile: profile.map(str::to_owned),
            verdict: self.verdict,
            reason: self.reason.clone(),
            unconfirmed: self.unconfirmed,
            findings: self.findings.iter().map(FindingNote::of).collect(),
            application: self.application.iter().map(FindingNote::of).collect(),
            reproduce: self.reproduce.clone(),
        };
        Record { case, plan, receipts: self.receipts.clone(), observed: None }
    }

    /// Redacts every text. Names stay, because they are the harness's own.
    pub fn redact(&mut self, redactor: &Redactor) {
        if let Some(reason) = &mut self.reason {
            redactor.string(reason);
        }
        redactor.string(&mut self.reproduce);
        self.findings.iter_mut().chain(&mut self.application).for_each(|finding| redact(finding, redactor));
    }
}

fn redact(finding: &mut Finding, redactor: &Redactor) {
    let texts = [&mut finding.message, &mut finding.place, &mut finding.expected, &mut finding.got];
    texts.into_iter().chain(&mut finding.model).for_each(|text| redactor.string(text));
    finding.also.iter_mut().for_each(|also| redact(also, redactor));
}

impl Report {
    pub fn redact(&mut self, redactor: &Redactor) {
        self.selection.iter_mut().for_each(|word| redactor.string(word));
        self.cases.iter_mut().for_each(|case| case.redact(redactor));
    }
}
