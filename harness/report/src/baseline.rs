//! Baselines: the known findings of a system, as data, each with its reason.
//!
//! A baseline lists exactly which checks fail in which plans. A finding that it lists is *expected*, any other is *new*,
//! and an entry that a judged plan does not show any more is *stale*. A baseline excuses findings and judges nothing
//! itself; plans that could not be judged are never excused.

mod cover;
mod read;
mod write;

use serde::{Deserialize, Serialize};

pub use read::check_named;
pub use write::{Known, common_system, rewrite};

use brickbat_scenario::verdict::{Finding, Severity};
use cover::{covers_plan, matches};

/// The known findings of a system, or of several versions and modes of one.
///
/// # The file
///
/// ```yaml
/// schema: 1
/// system: ai-sdk@6.*              # the systems that it covers; `*` stands for any text
/// entries:                        # one for each cause
///   - check: parts-settled        # the check that fails
///     harm: stuck-part            # optional; with it, the same check with another harm is new
///     systems: ['*/ui-messages']  # optional; narrows `system`
///     reason: Parts keep the state that they had when the stream broke off.
///     link: vercel/ai#10638       # optional: an issue, or a URL
///     flaky: true                 # optional; a flaky finding is never stale
///     plans:                      # the plans that show it; a pattern covers several
///       - 'abort/mid-batch#*'
///       - abort/deaf-tools#k=1@openai-chat
/// ```
///
/// A pattern covers a control plan only if it ends in `+control`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The file, as its reader named it.
    pub file: String,
    /// A pattern of the systems that it covers.
    pub system: String,
    pub entries: Vec<Entry>,
}

/// One cause of findings, as a file has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub check: String,
    /// The severity of the finding; any, if there is none.
    #[serde(default)]
    pub harm: Option<Severity>,
    /// Patterns of the systems; all of the file, if there is none.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Why the findings are as they are, in a sentence.
    pub reason: String,
    /// Where it is reported in public: a URL, or `owner/repository#number`.
    #[serde(default)]
    pub link: Option<String>,
    #[serde(default)]
    pub flaky: bool,
    /// Patterns of the plans.
    pub plans: Vec<String>,
}

/// A finding, compared with a baseline.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Disposition {
    /// The baseline lists it.
    Expected,
    /// It does not.
    New,
}

/// What a run has shown about one plan, as far as a baseline needs it.
#[derive(Debug, Clone, Copy)]
pub struct PlanFindings<'a> {
    pub system: &'a str,
    pub plan: &'a str,
    pub is_judged: bool,
    /// What is wrong.
    pub findings: &'a [Finding],
}

/// A finding that a baseline lists and that a judged plan did not show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stale {
    /// The entry, as an index.
    pub entry: usize,
    pub system: String,
    pub plan: String,
}

/// The reason of an entry that is not explained yet; every run reports those.
pub const UNEXPLAINED: &str = "Not yet explained.";

impl Baseline {
    pub fn is_of(&self, system: &str) -> bool {
        matches(&self.system, system)
    }

    /// The index of the entry that lists a finding: the first one, if several do.
    pub fn entry_of(&self, system: &str, plan: &str, finding: &Finding) -> Option<usize> {
        self.entries.iter().position(|entry| entry.is_about(finding) && self.covers(entry, system, plan))
    }

    /// The findings that the baseline lists but that the run did not show, in plans that it judged.
    pub fn stale(&self, shown: &[PlanFindings<'_>]) -> Vec<Stale> {
        let mut stale = Vec::new();
        for (index, entry) in self.entries.iter().enumerate().filter(|(_, entry)| !entry.flaky) {
            let gone = |shown: &&PlanFindings<'_>| {
                shown.is_judged
                    && self.covers(entry, shown.system, shown.plan)
                    && !shown.findings.iter().any(|finding| entry.is_about(finding))
            };
            stale.extend(shown.iter().filter(gone).map(|shown| Stale {
                entry: index,
                system: shown.system.to_owned(),
                plan: shown.plan.to_owned(),
            }));
        }
        stale.sort();
        stale
    }

    /// Whether it lists a finding of a plan, on any of its systems.
    pub fn holds(&self, plan: &str) -> bool {
        let patterns = self.entries.iter().flat_map(|entry| &entry.plans);
        patterns.into_iter().any(|pattern| covers_plan(pattern, plan))
    }

    /// Whether an entry of this baseline covers a plan on a system.
    fn covers(&self, entry: &Entry, system: &str, plan: &str) -> bool {
        self.is_of(system)
            && entry.covers_system(system)
            && entry.plans.iter().any(|pattern| covers_plan(pattern, plan))
    }
}

impl Entry {
    /// Whether it has a reason of its own.
    pub fn is_explained(&self) -> bool {
        self.reason != UNEXPLAINED
    }

    /// Whether it covers a system, given that its baseline does.
    fn covers_system(&self, system: &str) -> bool {
        self.systems.is_empty() || self.systems.iter().any(|pattern| matches(pattern, system))
    }

    fn is_about(&self, finding: &Finding) -> bool {
        self.check == finding.check && self.harm.is_none_or(|harm| harm == finding.harm)
    }
}
