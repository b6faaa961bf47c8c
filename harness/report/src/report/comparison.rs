//! The findings in a run, compared with a baseline.

use serde::{Deserialize, Serialize};

use super::{Case, is_reference};
use crate::baseline::{Baseline, CONTROL, Entry, PlanFindings, Stale, ThreadEnding, ThreadState};
use brickbat_scenario::verdict::Severity;

/// A baseline, compared with a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Held")]
pub struct BaselineComparison {
    /// The file, as the user named it, or the built-in one.
    pub file: String,
    /// The system that it covers.
    pub system: String,
    /// The entries that this run has shown, in the order of the file.
    pub entries: Vec<EntryFindings>,
    /// Entries that no longer occur in judged plans. They make the run red.
    pub stale: Vec<StalePlans>,
}

/// An entry with its findings in this run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HeldEntry")]
pub struct EntryFindings {
    /// Its number in the file, from 1.
    pub entry: usize,
    /// The check that fails.
    pub check: String,
    /// The severity.
    #[serde(rename = "harm")]
    pub severity: Severity,
    /// The rule that is broken, if the entry names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The reason.
    pub reason: String,
    /// True if the entry has a reason.
    pub explained: bool,
    /// The address of the public report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The state of the public report, if the entry names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ThreadState>,
    /// Its findings in this run.
    pub n_findings: usize,
    /// The cases in which they occur.
    pub n_cases: usize,
}

/// An entry that did not occur in this run's judged cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StalePlans {
    /// The number of the entry in the file, from 1.
    pub entry: usize,
    /// The check that was to fail.
    pub check: String,
    /// The severity.
    #[serde(rename = "harm")]
    pub severity: Severity,
    /// The system.
    pub system: String,
    /// The plans that were judged without it.
    pub plans: Vec<String>,
}

impl BaselineComparison {
    /// Compares a baseline with the cases in a run.
    pub(super) fn of(baseline: &Baseline, cases: &[Case]) -> BaselineComparison {
        let mut entries: Vec<EntryFindings> =
            baseline.entries.iter().zip(1..).map(EntryFindings::of).collect();
        for case in cases.iter().filter(|case| !is_reference(&case.system)) {
            let shown = case.plan_findings();
            let of = |finding| baseline.entry_of(&shown, finding);
            let mut held: Vec<usize> = case.findings.iter().filter_map(of).collect();
            held.iter().for_each(|index| entries[*index].n_findings += 1);
            held.sort_unstable();
            held.dedup();
            held.iter().for_each(|index| entries[*index].n_cases += 1);
        }
        entries.retain(|entry| entry.n_findings > 0);
        let shown: Vec<PlanFindings<'_>> = cases.iter().map(Case::plan_findings).collect();
        let mut stale: Vec<StalePlans> = Vec::new();
        let mut last = None;
        for Stale { entry: index, system, plan } in baseline.stale(&shown) {
            let here = Some((index, system.clone()));
            match stale.last_mut().filter(|_| last == here) {
                Some(stale) => stale.plans.push(plan),
                None => {
                    let Entry { check, severity, .. } = &baseline.entries[index];
                    let check = check.clone();
                    let entry = index + 1;
                    stale.push(StalePlans { entry, check, severity: *severity, system, plans: vec![plan] });
                }
            }
            last = here;
        }
        BaselineComparison { file: baseline.file.clone(), system: baseline.system.clone(), entries, stale }
    }
}

impl EntryFindings {
    /// True if the maintainers have declined to change it.
    pub fn is_declined(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.ending == ThreadEnding::Declined)
    }

    /// The public report with its state, in parentheses after a space; empty if there is none.
    pub fn report_words(&self) -> String {
        let state = self.state.as_ref().map(|state| format!(", {}", state.words())).unwrap_or_default();
        self.link.as_deref().map(|link| format!(" ({link}{state})")).unwrap_or_default()
    }

    fn of((entry, number): (&Entry, usize)) -> EntryFindings {
        EntryFindings {
            entry: number,
            check: entry.check.clone(),
            severity: entry.severity,
            rule: entry.rule.clone(),
            reason: entry.reason.clone(),
            explained: entry.is_explained(),
            link: entry.link().map(str::to_owned),
            state: entry.state(),
            n_findings: 0,
            n_cases: 0,
        }
    }
}

impl Case {
    /// The triggers in the plan: the names of its actions, or its scenario if it has none.
    fn actions(&self) -> Vec<&str> {
        if self.plan.ends_with(brickbat_scenario::plan::CONTROL) {
            return vec![CONTROL];
        }
        let mut actions: Vec<&str> = self.receipts.iter().map(|receipt| receipt.action.as_str()).collect();
        actions.sort_unstable();
        actions.dedup();
        if actions.is_empty() {
            actions.extend(self.plan.split(['#', '@']).next());
        }
        actions
    }

    /// The case as a baseline needs it.
    pub fn plan_findings(&self) -> PlanFindings<'_> {
        PlanFindings {
            system: &self.system,
            plan: &self.plan,
            actions: self.actions(),
            // A result that no second run has confirmed does not prove that a finding is gone, and is not
            // written down as known.
            is_judged: self.is_judged() && !self.unconfirmed,
            findings: &self.findings,
        }
    }
}
