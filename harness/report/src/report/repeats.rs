//! The number of times that a plan had the same result, if it ran more than once.

use serde::{Deserialize, Serialize};

use brickbat_scenario::verdict::Severity;

/// The number of a plan's runs that had the case's result, out of the total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repeats {
    /// Runs with the verdict of the case.
    pub seen: u32,
    /// The number of runs.
    pub of: u32,
    /// True if the verdict was the same when no other plan was running; missing if the plan never ran alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<bool>,
    /// The findings that not every run showed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<SeenFinding>,
    /// Findings that only runs next to other plans, or with shorter waits, have shown. They do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rescued: Vec<SeenFinding>,
    /// Differences on the harness side when the runs differed. Check these first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<String>,
}

/// A finding that not every run showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenFinding {
    /// The check.
    pub check: String,
    /// The severity.
    #[serde(rename = "harm")]
    pub severity: Severity,
    /// Runs that showed it.
    pub seen: u32,
}

impl Repeats {
    /// True if every run had the same result.
    pub fn is_steady(&self) -> bool {
        self.seen == self.of && self.findings.is_empty() && self.rescued.is_empty()
    }

    /// The label for a case with different runs. `None` if they do not differ.
    pub fn label(&self) -> Option<String> {
        if self.is_steady() {
            return None;
        }
        let mut label = format!("{} of {} runs", self.seen, self.of);
        match self.alone {
            Some(true) => label.push_str(", also when run alone"),
            Some(false) => label.push_str(", never when run alone"),
            None => {}
        }
        for SeenFinding { check, severity, seen } in &self.findings {
            label.push_str(&format!("; {check} ({}) in {seen}", severity.name()));
        }
        let mut lead = "; not seen when run alone with longer limits: ";
        for SeenFinding { check, severity, seen } in &self.rescued {
            label.push_str(&format!("{lead}{check} ({}) in {seen}", severity.name()));
            lead = ", ";
        }
        for suspect in &self.suspects {
            label.push_str("; ");
            label.push_str(suspect);
        }
        Some(label)
    }
}
