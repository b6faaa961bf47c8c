//! Baselines: a system's known findings, as data, each with a reason.
//!
//! An entry describes a cause: the check that fails, its severity, the broken rule, and the kind of action
//! that triggers it. A finding that an entry lists is *expected*, any other is *new*, and an entry is *stale*
//! if its example no longer occurs in a judged plan. A baseline excuses findings and judges nothing itself;
//! plans that could not be judged are never excused, and duties of the application are never listed.

mod cover;
mod old;
mod pattern;
mod read;
mod thread;
mod write;

use serde::{Deserialize, Serialize};

pub use pattern::is_of;
pub use read::{Format, check_named, schema};
pub use thread::{ThreadEnding, ThreadState, is_date};
pub use write::{Known, common_system, rewrite};

use brickbat_scenario::verdict::{Finding, Severity};
use cover::covers_plan;

/// The known findings for a system, or for several of its versions and modes.
///
/// # The file
///
/// ```yaml
/// schema: 2
/// system: ai-sdk                        # the system, in every version and mode
/// entries:                              # one for each cause
///   - check: thread-survives            # the check that fails
///     severity: bricked-by-provider     # how severe it is
///     rule: openai-chat/tool-message-missing   # optional; the rule that is broken
///     actions: [abort, reset]           # optional; the trigger: an action, or a scenario without one
///     systems: [ai-sdk@5/ui-messages]   # optional; restricts `system` to modes, and pins versions
///     cases: ['abort/mid-batch#*']      # optional; restricts the entry to these plans
///     reason: Parts keep the state that they had when the stream broke off.
///     reported: vercel/ai#10638, open 2026-11-28   # an issue or a URL, with its state; or `not reported`
///     classes: [event-order]            # optional; its failure classes, according to the reason
///     flaky: true                       # optional; it is not in every run, and is never stale
///     shown:                            # the plans in which it is expected, for each system and action
///       - ai-sdk@5.0.277/ui-messages abort/mid-batch#k=0@openai-chat
/// ```
///
/// A pattern of `cases` covers a control plan only if it ends in `+control`. An entry is stale if the finding
/// no longer occurs in that plan with the version that `shown` names, or no longer occurs in a plan from
/// `cases`. If it does not occur with another version, that is not an error. Other plans that the entry covers
/// may pass, so a filtered run needs no special case.
///
/// The state of a report is `open`, `fixed in VERSION` or `declined`, with the day on which it was read. A
/// finding with a declined report is listed as decided upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The file name, as given by the caller.
    pub file: String,
    /// The system that it covers.
    pub system: String,
    pub entries: Vec<Entry>,
}

/// One cause of findings, as written in a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub check: String,
    pub severity: Severity,
    #[serde(default)]
    pub rule: Option<String>,
    /// Kinds of actions; empty for any.
    #[serde(default)]
    pub actions: Vec<String>,
    /// The systems; empty for all of the file's system.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Patterns of the plans; empty for all.
    #[serde(default)]
    pub cases: Vec<String>,
    /// The reason for the findings, in a sentence.
    pub reason: String,
    /// The public report: a URL, `owner/repository#number`, or `not reported`. After a comma it may have a
    /// state with a date: `open`, `fixed in VERSION` or `declined`.
    pub reported: String,
    /// Classes of failures that only the reason reveals. Others follow from the scenario and the check.
    #[serde(default)]
    pub classes: Vec<String>,
    #[serde(default)]
    pub flaky: bool,
    /// Systems, each with a plan in which it occurs.
    #[serde(default)]
    pub shown: Vec<String>,
}

/// A finding, compared with a baseline.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Disposition {
    /// The baseline lists it.
    Expected,
    /// The baseline lists it, and the maintainers have declined to change it: it is decided upstream.
    Declined,
    /// The baseline does not list it.
    New,
}

/// A run's result for one plan, as far as a baseline needs it.
#[derive(Debug, Clone)]
pub struct PlanFindings<'a> {
    pub system: &'a str,
    pub plan: &'a str,
    /// The triggers in the plan: the names of its actions, or its scenario if it has none.
    pub actions: Vec<&'a str>,
    pub is_judged: bool,
    /// The findings of the plan.
    pub findings: &'a [Finding],
}

/// A finding that a baseline lists and that did not occur in a judged plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stale {
    /// The index of the entry.
    pub entry: usize,
    pub system: String,
    pub plan: String,
}

/// The reason of an entry that is not explained yet; every run reports those.
pub const UNEXPLAINED: &str = "Not yet explained.";

/// The value of `reported` in an entry without a public report.
pub const NOT_REPORTED: &str = "not reported";

/// The value in `actions` for plans without a fault.
pub const CONTROL: &str = "control";

impl Baseline {
    pub fn is_of(&self, system: &str) -> bool {
        pattern::is_of(&self.system, system)
    }

    /// The index of the first entry that lists a finding in a plan.
    pub fn entry_of(&self, shown: &PlanFindings<'_>, finding: &Finding) -> Option<usize> {
        self.entries.iter().position(|entry| entry.is_about(finding) && self.covers(entry, shown))
    }

    /// The findings that the baseline lists but that did not occur in the plans that the run
    /// judged.
    pub fn stale(&self, shown: &[PlanFindings<'_>]) -> Vec<Stale> {
        let mut stale = Vec::new();
        for (index, entry) in self.entries.iter().enumerate().filter(|(_, entry)| !entry.flaky) {
            let is_due = |shown: &&PlanFindings<'_>| {
                entry.shows(shown) || (!entry.cases.is_empty() && self.covers(entry, shown))
            };
            let gone = shown.iter().filter(|shown| shown.is_judged).filter(is_due);
            let gone = gone.filter(|shown| !entry.is_shown_by(shown));
            stale.extend(gone.map(|shown| Stale {
                entry: index,
                system: shown.system.to_owned(),
                plan: shown.plan.to_owned(),
            }));
        }
        stale.sort();
        stale
    }

    /// True if an entry of this baseline covers a plan on a system.
    pub fn covers(&self, entry: &Entry, shown: &PlanFindings<'_>) -> bool {
        self.is_of(shown.system) && entry.covers(shown)
    }
}

impl Entry {
    /// True if it has its own reason.
    pub fn is_explained(&self) -> bool {
        self.reason != UNEXPLAINED
    }

    /// True if it names a plan, either as one in which it occurs or as one of its cases.
    pub fn has_seen(&self, plan: &str) -> bool {
        self.shown.iter().any(|note| note.split_once(' ').is_some_and(|(_, noted)| noted == plan))
            || self.cases.iter().any(|pattern| covers_plan(pattern, plan))
    }

    /// True if it covers a plan, given that its baseline covers the system.
    fn covers(&self, shown: &PlanFindings<'_>) -> bool {
        let is_kind = match self.actions.as_slice() {
            // A plan without a fault is excused only by name.
            [] => !self.cases.is_empty() || !shown.actions.contains(&CONTROL),
            actions => actions.iter().any(|action| shown.actions.contains(&action.as_str())),
        };
        is_kind
            && self.covers_system(shown.system)
            && (self.cases.is_empty() || self.cases.iter().any(|pattern| covers_plan(pattern, shown.plan)))
    }

    fn covers_system(&self, system: &str) -> bool {
        self.systems.is_empty() || self.systems.iter().any(|pattern| pattern::is_of(pattern, system))
    }

    /// True if the entry lists this plan as one in which it occurs.
    fn shows(&self, shown: &PlanFindings<'_>) -> bool {
        let is_noted = |note: &String| note.split_once(' ') == Some((shown.system, shown.plan));
        self.shown.iter().any(is_noted)
    }

    /// True if it occurs in a plan, on its own or folded under another cause.
    fn is_shown_by(&self, shown: &PlanFindings<'_>) -> bool {
        shown.findings.iter().flat_map(Finding::with_also).any(|finding| self.is_about(finding))
    }

    /// True if a finding has this cause.
    pub fn is_about(&self, finding: &Finding) -> bool {
        self.check == finding.check
            && self.severity == finding.severity
            && self.rule.as_deref().is_none_or(|rule| Some(rule) == finding.rule)
    }
}
