//! Requests that the oracles reject and we accept on purpose: the tables of `README.md`.

use std::collections::BTreeSet;

const README: &str = include_str!("../../nightly/differential/README.md");

/// The oracle and the kind of reason of each row.
pub fn explained() -> BTreeSet<(String, String)> {
    let cell = |text: &str| text.trim().trim_matches('`').to_owned();
    let rows = README.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.splitn(3, " | ");
        Some((cell(cells.next()?), cell(cells.next()?)))
    });
    rows.collect()
}
