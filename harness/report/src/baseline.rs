//! Baselines: the known findings of a system, as data, each with its reason.
//!
//! A baseline says exactly which checks fail in which plans. A finding that it holds is *expected*, any other is
//! *new*, and what it holds although the plan was judged without it is *stale*.
//! It excuses findings and judges nothing itself; what could not be judged is never excused.

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
/// system: ai-sdk@6.*              # the systems that it speaks of; `*` stands for any text
/// entries:                        # one for each cause
///   - check: parts-settled        # the check that fails
///     harm: stuck-part            # may be missing; with it, the same check with another harm is new
///     systems: ['*/ui-messages']  # may be missing; narrows `system`
///     reason: Parts keep the state that they had when the stream broke off.
///     link: vercel/ai#10638       # may be missing: an issue, or a URL
///     flaky: true                 # may be missing; the finding comes and goes, and is never called stale
///     plans:                      # the plans that show it, all of those that a pattern covers
///       - 'abort/mid-batch#*'
///       - abort/deaf-tools#k=1@openai-chat
/// ```
///
/// A pattern covers a control plan only if it ends in `+control`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The file, as its reader named it.
    pub file: String,
    /// A pattern of the systems that it speaks of.
    pub system: String,
    /// One for each cause.
    pub entries: Vec<Entry>,
}

/// One cause of findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The check that fails.
    pub check: String,
    /// The harm that it finds; any, if there is none.
    pub harm: Option<Severity>,
    /// Patterns of the systems; all of the file, if there is none.
    pub systems: Vec<String>,
    /// Why the findings are as they are, in a sentence.
    pub reason: String,
    /// Where it is told in public: a URL, or `owner/repository#number`.
    pub link: Option<String>,
    /// Whether the findings come and go.
    pub flaky: bool,
    /// Patterns of the plans.
    pub plans: Vec<String>,
}

/// A finding held against a baseline.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Disposition {
    /// The baseline holds it.
    Expected,
    /// It does not.
    New,
}

/// What a run has shown of one plan, as far as a baseline asks.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The system.
    pub system: &'a str,
    /// The plan.
    pub plan: &'a str,
    /// Whether the plan was judged.
    pub is_judged: bool,
    /// What is wrong.
    pub findings: &'a [Finding],
}

/// A finding that a baseline holds and that a judged plan did not show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stale {
    /// The entry, as an index.
    pub entry: usize,
    /// The system.
    pub system: String,
    /// The plan.
    pub plan: String,
}

/// The reason of an entry that nobody has explained yet; every run says so.
pub const UNEXPLAINED: &str = "Not yet explained.";

impl Baseline {
    /// Whether it speaks of a system.
    pub fn is_of(&self, system: &str) -> bool {
        matches(&self.system, system)
    }

    /// The entry that holds a finding, as an index: the first one, if several do.
    pub fn entry_of(&self, system: &str, plan: &str, finding: &Finding) -> Option<usize> {
        self.entries.iter().position(|entry| entry.is_about(finding) && self.covers(entry, system, plan))
    }

    /// What the baseline holds and the run did not show although it judged the plan.
    pub fn stale(&self, shown: &[Shown<'_>]) -> Vec<Stale> {
        let mut stale = Vec::new();
        for (index, entry) in self.entries.iter().enumerate().filter(|(_, entry)| !entry.flaky) {
            let gone = |shown: &&Shown<'_>| {
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

    /// Whether it holds a finding of a plan, on whichever of its systems.
    pub fn holds(&self, plan: &str) -> bool {
        let patterns = self.entries.iter().flat_map(|entry| &entry.plans);
        patterns.into_iter().any(|pattern| covers_plan(pattern, plan))
    }

    /// Whether an entry of this baseline speaks of a plan on a system.
    fn covers(&self, entry: &Entry, system: &str, plan: &str) -> bool {
        self.is_of(system)
            && entry.speaks_of(system)
            && entry.plans.iter().any(|pattern| covers_plan(pattern, plan))
    }
}

impl Entry {
    /// Whether it has a reason of its own.
    pub fn is_explained(&self) -> bool {
        self.reason != UNEXPLAINED
    }

    /// Whether it speaks of a system, given that its baseline does.
    fn speaks_of(&self, system: &str) -> bool {
        self.systems.is_empty() || self.systems.iter().any(|pattern| matches(pattern, system))
    }

    fn is_about(&self, finding: &Finding) -> bool {
        self.check == finding.check && self.harm.is_none_or(|harm| harm == finding.harm)
    }
}
