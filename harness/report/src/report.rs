//! The findings in a run, to be printed or stored. A report never judges again.
//!
//! A report contains no port, process id, machine path or time outside its `timing` object, and is sorted by
//! case, so that the same run gives the same bytes.

mod account;
pub mod annotations;
pub mod brief;
mod cause;
mod circumstances;
mod columns;
mod comparison;
pub mod format;
pub mod html;
pub mod junit;
mod kin;
pub mod merge;
mod note;
pub mod raw;
pub mod read;
mod repeats;
pub mod shape;
mod shard;
pub mod short;
mod stopped;
pub mod text;
pub mod timeline;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use account::{Account, CheckAccount, FaultAccount};
pub use cause::Cause;
pub use circumstances::Circumstances;
pub use comparison::{BaselineComparison, EntryFindings, StalePlans};
pub use repeats::{Repeats, SeenFinding};
pub use shard::{NotAShard, Shard};
pub use stopped::{EarlyEnd, Stopped};

use crate::baseline::{Baseline, Disposition};
use crate::causes;
use crate::record::ReceiptNote;
use brickbat_engine::run::Receipt;
use brickbat_scenario::duty::Repaired;
use brickbat_scenario::plan::{CONTROL, PlanId};
use brickbat_scenario::premise::Premise;
use brickbat_scenario::verdict::{Asked, Finding, Judgement, Severity, Verdict};

/// The version of the format that is written and read here.
const SCHEMA: u32 = 1;

/// The outcome of a complete run or of one shard.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Report {
    /// Version of this format.
    pub schema: u32,
    /// Version of brickbat.
    pub brickbat: String,
    /// The seed of all plans.
    pub seed: u64,
    /// The strictness, one profile for each dialect.
    pub profiles: Vec<String>,
    /// Every case, sorted.
    pub cases: Vec<Case>,
    /// The number of cases with each verdict.
    pub summary: BTreeMap<String, usize>,
    /// For each system, the planned and the completed work.
    pub accounts: Vec<Account>,
    /// The dated requirements that ran completely; without them there are no levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirements: Option<String>,
    /// The words that selected the plans, such as `--exclude kill/`; missing if there were none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selection: Vec<String>,
    /// The baselines that the findings were compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<BaselineComparison>,
    /// The part of the run that this report covers; missing if it covers all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The event that ended the run early; missing if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Durations; the only part that differs between equal runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// One plan on one system.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Case {
    /// The system, with version and mode.
    pub system: String,
    /// The plan.
    pub plan: String,
    /// Who does the unusual thing in the plan; older reports do not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub premise: Option<Premise>,
    /// The judgement.
    pub verdict: Verdict,
    /// The reason why the verdict is neither pass nor fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The findings, the worst first: one for each cause, with those that follow from it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Findings that are the application's duty here; they do not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<Finding>,
    /// The repairs that the adapter made in the application's place, as the documentation asks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<Repaired>,
    /// The result of the baselines for each finding, in the same order; empty if there was no baseline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dispositions: Vec<Disposition>,
    /// The proof for each action in the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<ReceiptNote>,
    /// The number of runs with the same verdict; missing if the plan ran once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// True if a second run was to confirm the findings, but the run was stopped.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
    /// The command that runs this case again.
    pub reproduce: String,
    /// The checks that ran; the accounts count them.
    #[serde(skip)]
    #[schemars(skip)]
    pub asked: Vec<Asked>,
    /// Milliseconds of the run on which the verdict rests; the report lists them under `timing`.
    #[serde(skip)]
    #[schemars(skip)]
    pub took_ms: Option<u64>,
}

/// Durations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Timing {
    /// Milliseconds from start to end.
    pub wall_ms: u64,
    /// Milliseconds of each case, in the order of the cases; 0 for one that did not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases_ms: Vec<u64>,
}

impl Case {
    /// A case from its judgement.
    pub fn new(
        system: &str,
        plan: &PlanId,
        judgement: Judgement,
        receipts: Vec<Receipt>,
        reproduce: String,
    ) -> Case {
        Case {
            system: system.to_owned(),
            plan: plan.to_string(),
            premise: None,
            verdict: judgement.verdict,
            reason: judgement.reason,
            findings: causes::fold(judgement.findings),
            application: causes::fold(judgement.application),
            repaired: judgement.repaired,
            dispositions: Vec::new(),
            receipts: receipts.iter().map(ReceiptNote::of).collect(),
            repeats: None,
            unconfirmed: false,
            reproduce,
            asked: judgement.asked,
            took_ms: None,
        }
    }

    /// True if it is a control plan, in which nothing goes wrong.
    pub fn is_control(&self) -> bool {
        self.plan.ends_with(CONTROL)
    }

    /// True if a finding that counts occurs although nothing goes wrong in the plan.
    pub fn fails_without_fault(&self) -> bool {
        self.is_control() && self.counted().next().is_some()
    }

    /// True if the verdict is a statement about the system.
    pub fn is_judged(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::Fail)
    }

    /// Every finding, with those that follow from each cause.
    pub fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().flat_map(Finding::with_also)
    }

    /// The folder of the scenario, which divides the suite; the scenario itself if it is in none.
    pub fn family(&self) -> &str {
        let scenario = self.plan.split(['#', '@']).next().unwrap_or_default();
        scenario.split_once('/').map_or(scenario, |(family, _)| family)
    }

    /// The worst finding.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).min()
    }

    /// The number of runs with the same verdict, as text. `None` if every run of the plan had the same
    /// result.
    pub fn label(&self) -> Option<String> {
        self.repeats.as_ref().and_then(Repeats::label)
    }

    /// The findings that count: all except those that a baseline lists.
    pub fn counted(&self) -> impl Iterator<Item = &Finding> {
        let is_expected = |index| match self.dispositions.get(index) {
            Some(Disposition::Expected | Disposition::Declined) => true,
            Some(Disposition::New) | None => false,
        };
        self.findings
            .iter()
            .enumerate()
            .filter(move |(index, _)| !is_expected(*index))
            .map(|(_, found)| found)
    }

    /// The worst finding that counts.
    pub fn worst_counted(&self) -> Option<Severity> {
        self.counted().map(|finding| finding.severity).min()
    }

    /// The same case, judged only by these checks. It passes if it has no other finding.
    #[must_use]
    pub fn judged_by(mut self, checks: &[String]) -> Case {
        let counts = |id: &str| checks.iter().any(|check| check == id);
        self.findings.retain(|finding| counts(finding.check));
        self.application.retain(|finding| counts(finding.check));
        self.asked.retain(|asked| counts(asked.check));
        if self.verdict == Verdict::Fail && self.findings.is_empty() {
            self.verdict = Verdict::Pass;
            self.unconfirmed = false;
        }
        self
    }

    /// Compares the findings with baselines. The reference agent is never excused.
    pub fn hold<'b>(&mut self, baselines: &'b [Baseline]) {
        if baselines.is_empty() {
            return;
        }
        let shown = self.plan_findings();
        let entry_of = |finding: &Finding| {
            let held = |baseline: &'b Baseline| {
                baseline.entry_of(&shown, finding).map(|index| &baseline.entries[index])
            };
            baselines.iter().find_map(held).filter(|_| !is_reference(&self.system))
        };
        let disposition = |finding| match entry_of(finding) {
            Some(entry) if entry.is_declined() => Disposition::Declined,
            Some(_) => Disposition::Expected,
            None => Disposition::New,
        };
        let dispositions = self.findings.iter().map(disposition).collect();
        self.dispositions = dispositions;
    }
}

impl Report {
    /// A report of sorted cases.
    pub fn new(seed: u64, profiles: Vec<String>, mut cases: Vec<Case>) -> Report {
        cases.sort_by(|a, b| (&a.system, &a.plan).cmp(&(&b.system, &b.plan)));
        let mut summary = BTreeMap::new();
        for case in &cases {
            *summary.entry(case.verdict.name().to_owned()).or_insert(0) += 1;
        }
        let brickbat = env!("CARGO_PKG_VERSION").to_owned();
        let accounts = Account::all_of(&cases);
        Report {
            schema: SCHEMA,
            brickbat,
            seed,
            profiles,
            cases,
            summary,
            accounts,
            requirements: None,
            selection: Vec::new(),
            baselines: Vec::new(),
            shard: None,
            stopped: None,
            timing: None,
        }
    }

    /// A report of cases that are compared with baselines.
    pub fn compared(
        seed: u64,
        profiles: Vec<String>,
        mut cases: Vec<Case>,
        baselines: &[Baseline],
    ) -> Report {
        cases.iter_mut().for_each(|case| case.hold(baselines));
        let report = Report::new(seed, profiles, cases);
        let compared = baselines.iter().map(|baseline| BaselineComparison::of(baseline, &report.cases));
        Report { baselines: compared.collect(), ..report }
    }

    /// The report as JSON, ending in a line feed.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report is JSON");
        text.push('\n');
        text
    }

    /// The number of cases with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.summary.get(verdict.name()).copied().unwrap_or(0)
    }

    /// The exit code, given the mildest severity that makes the run red.
    ///
    /// 0 as expected, 1 findings that count or a stale baseline, 3 could not judge, 4 the reference agent
    /// failed: the suite itself is broken. A run that was stopped has not judged everything, and its findings
    /// count even if they are not confirmed. If several apply, 4 outranks 1, and 1 outranks 3. A shard may
    /// judge nothing; a complete run must judge something.
    pub fn exit_code(&self, fail_on: Severity) -> u8 {
        let red = |case: &&Case| case.worst_counted().is_some_and(|severity| severity <= fail_on);
        let is_stale = self.baselines.iter().any(|held| !held.stale.is_empty());
        let reference_failed = self.cases.iter().filter(red).any(|case| is_reference(&case.system));
        let idle =
            |case: &Case| !self.cases.iter().any(|other| other.system == case.system && other.is_judged());
        if reference_failed {
            4
        } else if is_stale || self.cases.iter().any(|case| red(&case)) {
            1
        } else if self.stopped.is_some()
            || self.cases.iter().any(|case| case.verdict.is_unjudged())
            || (self.shard.is_none() && (self.cases.is_empty() || self.cases.iter().any(idle)))
            || !self.accounts.iter().all(Account::is_whole)
        {
            3
        } else {
            0
        }
    }
}

/// The JSON Schema of [`Report`], as in `harness/report/report.schema.json`.
pub fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report>().to_value()
}

/// True if a system is the reference agent, which must pass.
pub fn is_reference(system: &str) -> bool {
    system == "reference" || system.starts_with("reference/")
}
