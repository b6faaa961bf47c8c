//! The table of libraries that repair histories, and of a tool that repairs sessions, from the file that
//! `harness/nightly/differential/repairers.py` has written.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    rows: Vec<Row>,
}

/// The result of one of them on one set of histories.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    set: String,
    who: String,
    broken: usize,
    noticed: usize,
    valid: usize,
    flagged: usize,
    refused: usize,
    harmed: usize,
    changed: usize,
    mended: usize,
    /// Unknown for a tool that works on stores.
    #[serde(default)]
    lost: Option<usize>,
    #[serde(default)]
    raised: Option<usize>,
}

/// The sets, in words.
const SETS: [(&str, &str); 4] = [
    ("vectors", "requests of the rules' vectors"),
    ("sessions", "what products send from stored sessions"),
    ("stores", "the same sessions, as they are stored"),
    ("stores-claude-code", "those of Claude Code among them"),
];

const HEAD: [&str; 9] = [
    "input",
    "who",
    "noticed, of the broken",
    "flagged, of the valid",
    "still refused after repair",
    "valid changed",
    "valid refused after repair",
    "repaired, and something recorded is gone",
    "raises",
];

/// The table.
pub fn repairers() -> String {
    let report: Report = serde_json::from_str(&read("docs/data/repairers.json")).unwrap();
    let mut text = format!("\n| {} |\n|{}\n", HEAD.join(" | "), "---|".repeat(HEAD.len()));
    for row in &report.rows {
        let (_, set) = SETS.iter().find(|(name, _)| *name == row.set).unwrap();
        let cells = [
            (*set).to_owned(),
            row.who.clone(),
            format!("{} of {}", row.noticed, row.broken),
            format!("{} of {}", row.flagged, row.valid),
            format!("{} of {}", row.refused, row.broken),
            row.changed.to_string(),
            row.harmed.to_string(),
            row.lost.map_or(String::new(), |lost| format!("{lost} of {}", row.mended)),
            row.raised.map_or(String::new(), |raised| raised.to_string()),
        ];
        writeln!(text, "| {} |", cells.join(" | ")).unwrap();
    }
    text.push('\n');
    text
}
