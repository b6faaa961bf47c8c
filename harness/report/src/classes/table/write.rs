//! The table as text for terminals, as Markdown and as JSON.

use std::fmt::Write;

use serde_json::json;

use super::{CanaryCell, ClassRow, Summary};

/// Scenarios that a cell names. The others are counted, and the JSON has all.
const MAX_NAMED: usize = 3;

/// The table in columns.
pub fn text(rows: &[ClassRow]) -> String {
    let width = rows.iter().map(|row| row.class.id.len()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let (id, cover) = (&row.class.id, row.class.cover.name());
        let _ = writeln!(text, "{id:<width$}  {cover:<9}  {:<7}  {}", row.status.name(), details(row));
    }
    let _ = writeln!(text, "\n{}", Summary::of(rows).line());
    text
}

fn details(row: &ClassRow) -> String {
    let mut parts = Vec::new();
    if !row.scenarios.is_empty() {
        parts.push(some(&row.scenarios));
    }
    parts.extend(
        row.canaries.iter().filter(|canary| canary.proves).map(|canary| format!("kills {}", killed(canary))),
    );
    if !row.systems.is_empty() {
        parts.push(format!("seen in {}", row.systems.join(", ")));
    }
    parts.extend(row.reason.clone());
    parts.join("; ")
}

fn killed(canary: &CanaryCell) -> String {
    match canary.killed_by.as_slice() {
        [only] if canary.alone => format!("{} ({only} alone)", canary.name),
        all => format!("{} ({} scenarios)", canary.name, all.len()),
    }
}

/// The first names of a list, and the number of the others.
pub(super) fn some(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMED).cloned().collect::<Vec<String>>().join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        n => format!("{shown} and {n} more"),
    }
}

/// The table as Markdown, for a page.
pub fn markdown(rows: &[ClassRow]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", Summary::of(rows).line());
    text.push_str("| class | needs | status | scenarios | killed canary | systems | why not |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    for row in rows {
        let proofs: Vec<String> = row.canaries.iter().filter(|canary| canary.proves).map(killed).collect();
        let cells = [
            format!("`{}`: {}", row.class.id, row.class.summary),
            row.class.cover.name().to_owned(),
            row.status.name().to_owned(),
            some(&row.scenarios),
            proofs.join(", "),
            row.systems.join(", "),
            row.reason.clone().unwrap_or_default(),
        ];
        let _ = writeln!(text, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text
}

/// The table as JSON, ending in a line feed: all known facts about each class.
pub fn json(rows: &[ClassRow]) -> String {
    let document = json!({ "schema": 1, "summary": Summary::of(rows), "classes": rows });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}
