//! What is run, and how.

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
    /// Whether to stop at the first plan that makes the run red.
    pub fail_fast: Option<Severity>,
    pub repeat: Repeat,
    /// The part of the plans that is run; all of them, if there is none.
    pub shard: Option<Shard>,
    /// The known findings.
    pub baselines: &'a [Baseline],
    pub redactor: &'a Redactor,
    /// Who keeps the record of each case; without one, nothing is recorded.
    pub keep: Option<Keep<'a>>,
    /// Who is shown what a plan has shown so far, before that counts.
    pub suspected: Option<Suspected<'a>>,
}

/// Takes a case as it is known so far: that of a plan that has failed once and is to run again, or that is to be asked of
/// another model as well. The next case of the plan takes its place.
#[derive(Clone, Copy)]
pub struct Suspected<'a>(pub &'a (dyn Fn(&Case) + Sync));

impl std::fmt::Debug for Suspected<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Suspected")
    }
}

/// Takes the record of each case as it is done, with what must not get out of it.
#[derive(Clone, Copy)]
pub struct Keep<'a>(pub &'a (dyn Fn(&Record, &Redactor) + Sync));

impl std::fmt::Debug for Keep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keep")
    }
}

/// Called with each case as it is done, the number of cases done, and the number of all.
pub type OnCase<'a> = &'a (dyn Fn(&Case, usize, usize) + Sync);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat {
    pub times: u16,
    /// Whether a failing plan is run a second time, and a flaky one alone.
    pub confirm: bool,
}

impl Repeat {
    pub const ONCE: Repeat = Repeat { times: 1, confirm: false };
}
