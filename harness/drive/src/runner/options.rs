//! The jobs in a run, and its options.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brickbat_report::baseline::Baseline;
use brickbat_report::record::Record;
use brickbat_report::report::{Case, Shard};
use brickbat_rules::Profile;
use brickbat_rules::redact::Redactor;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::verdict::Severity;

/// A plan and where it came from.
#[derive(Debug, Clone)]
pub struct Job {
    pub plan: Arc<Plan>,
    /// The file that the user named, if it is not a built-in scenario.
    pub path: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The strictness, one profile for each dialect.
    pub profiles: &'a [&'static Profile],
    pub n_jobs: usize,
    /// The program `brickbat`, which supervises the processes of systems.
    pub supervisor: &'a Path,
    /// Ends the run at the first plan that is red at this severity; none runs every plan.
    pub fail_fast: Option<Severity>,
    pub repeat: Repeat,
    /// The shard of the plans that is run; none for all plans.
    pub shard: Option<Shard>,
    /// The known findings.
    pub baselines: &'a [Baseline],
    pub redactor: &'a Redactor,
    /// Receives each case's record; none to record nothing.
    pub keep: Option<Keep<'a>>,
    /// Receives the intermediate result of a plan before it is final.
    pub suspected: Option<Suspected<'a>>,
}

/// Receives an intermediate case: from a plan that has failed once and will run again, or from one that will
/// also run on another model. The next case of the plan replaces it.
#[derive(Clone, Copy)]
pub struct Suspected<'a>(pub &'a (dyn Fn(&Case) + Sync));

impl std::fmt::Debug for Suspected<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Suspected")
    }
}

/// Receives the record for each finished case, with the redactor for its secrets.
#[derive(Clone, Copy)]
pub struct Keep<'a>(pub &'a (dyn Fn(&Record, &Redactor) + Sync));

impl std::fmt::Debug for Keep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keep")
    }
}

/// Called with each finished case, the number of finished cases, and the total number.
pub type OnCase<'a> = &'a (dyn Fn(&Case, usize, usize) + Sync);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat {
    pub times: u16,
    /// True if a failing plan is run a second time, and a flaky one alone.
    pub confirm: bool,
}

impl Repeat {
    pub const ONCE: Repeat = Repeat { times: 1, confirm: false };
}
