//! The matrix for many runs: each system's result in each scenario family, and the level that it reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;

use crate::report::{Case, Report};
use brickbat_scenario::verdict::{Level, Severity, Verdict};

/// Systems and families.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Matrix {
    /// The families, sorted: the folders of scenarios.
    pub families: Vec<String>,
    /// The systems, sorted.
    pub rows: Vec<SystemRow>,
}

/// A system's results in the families.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SystemRow {
    pub system: String,
    /// The highest level that it reaches in everything that was run; missing if it does not reach even the
    /// lowest.
    pub level: Option<Level>,
    /// A cell for each family, in their order.
    pub cells: Vec<Cell>,
}

/// A system's result in one family.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    pub worst: Option<Severity>,
    pub n_pass: usize,
    pub n_fail: usize,
    /// Plans that the system does not support or does not reach.
    pub n_beyond: usize,
    /// Plans that should have been judged and were not, or were judged differently each time.
    pub n_open: usize,
}

impl Cell {
    fn add(&mut self, case: &Case) {
        match case.verdict {
            Verdict::Pass => self.n_pass += 1,
            Verdict::Fail => self.n_fail += 1,
            Verdict::Unsupported | Verdict::Unreachable => self.n_beyond += 1,
            _ => self.n_open += 1,
        }
        let worst = case.findings.iter().map(|finding| finding.severity).min();
        self.worst = [self.worst, worst].into_iter().flatten().min();
    }

    /// A short summary: the worst severity and how many plans fail, or that all pass.
    pub fn words(&self) -> String {
        let n_judged = self.n_pass + self.n_fail;
        let open = if self.n_open > 0 { format!(", {} open", self.n_open) } else { String::new() };
        match (self.worst, n_judged) {
            (Some(worst), _) => format!("{} {}/{n_judged}{open}", worst.name(), self.n_fail),
            (None, 0) if self.n_open == 0 => "-".to_owned(),
            (None, _) => format!("pass {n_judged}{open}"),
        }
    }
}

impl Matrix {
    /// The matrix for several reports. A system that is in more than one of them gets its lowest
    /// level.
    pub fn of(reports: &[Report]) -> Matrix {
        let cases = || reports.iter().flat_map(|report| &report.cases);
        let families: BTreeSet<&str> = cases().map(|case| family(&case.plan)).collect();
        let mut cells: BTreeMap<&str, BTreeMap<&str, Cell>> = BTreeMap::new();
        for case in cases() {
            cells.entry(&case.system).or_default().entry(family(&case.plan)).or_default().add(case);
        }
        let level_of = |system: &str| {
            let accounts = reports.iter().flat_map(|report| &report.accounts);
            accounts.filter(|account| account.system == system).map(|account| account.level).min().flatten()
        };
        let row = |(system, mut own): (&str, BTreeMap<&str, Cell>)| SystemRow {
            system: system.to_owned(),
            level: level_of(system),
            cells: families.iter().map(|family| own.remove(family).unwrap_or_default()).collect(),
        };
        let rows = cells.into_iter().map(row).collect();
        Matrix { families: families.into_iter().map(str::to_owned).collect(), rows }
    }

    pub fn text(&self) -> String {
        let lines = self.lines();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.families.len() + 2).map(width).collect();
        let mut text = String::new();
        for line in &lines {
            let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", cells.collect::<Vec<String>>().join("  ").trim_end());
        }
        text
    }

    /// The matrix as a Markdown table.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for (at, line) in self.lines().iter().enumerate() {
            let _ = writeln!(text, "| {} |", line.join(" | "));
            if at == 0 {
                let _ = writeln!(text, "|{}", "---|".repeat(line.len()));
            }
        }
        text
    }

    /// The head and a line for each system.
    fn lines(&self) -> Vec<Vec<String>> {
        let head = ["system".to_owned(), "level".to_owned()].into_iter().chain(self.families.iter().cloned());
        let line = |row: &SystemRow| {
            let level = row.level.map_or("–", Level::name).to_owned();
            let own = [row.system.clone(), level];
            own.into_iter().chain(row.cells.iter().map(Cell::words)).collect()
        };
        std::iter::once(head.collect()).chain(self.rows.iter().map(line)).collect()
    }
}

/// The folder that contains a plan's scenario; scenarios outside folders form a separate family.
fn family(plan: &str) -> &str {
    let scenario = plan.split(['#', '@']).next().unwrap_or(plan);
    scenario.rsplit_once('/').map_or("-", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_the_folder() {
        let all =
            ["abort/mid-batch#k=1@openai-chat", "scenarios/abort/x@gemini", "alone#a/b@gemini"].map(family);
        assert_eq!(all, ["abort", "scenarios/abort", "-"]);
    }

    #[test]
    fn a_cell_shows_the_worst_severity() {
        let cell =
            |worst, n_pass, n_fail, n_open| Cell { worst, n_pass, n_fail, n_beyond: 0, n_open }.words();
        assert_eq!(cell(Some(Severity::ResultsLost), 3, 1, 0), "results-lost 1/4");
        assert_eq!(
            (cell(None, 3, 0, 0), cell(None, 3, 0, 2)),
            ("pass 3".to_owned(), "pass 3, 2 open".to_owned())
        );
        assert_eq!((cell(None, 0, 0, 0), cell(None, 0, 0, 1)), ("-".to_owned(), "pass 0, 1 open".to_owned()));
    }
}
