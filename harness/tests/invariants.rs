//! The table of invariants names checks that there are, and leaves none out.

use std::collections::BTreeSet;

use brickbat::checks::CHECKS;

const TABLE: &str = include_str!("../engine/src/checks/README.md");

/// Invariants of the table.
const N_INVARIANTS: usize = 26;

/// The cells of each row.
fn rows() -> Vec<Vec<&'static str>> {
    let rows = TABLE.lines().filter(|line| line.starts_with("| INV-"));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn each_invariant_is_there_once_and_has_checks() {
    let rows = rows();
    assert_eq!(rows.len(), N_INVARIANTS);
    for (row, n) in rows.iter().zip(1..) {
        assert_eq!(row[0], format!("INV-{n:02}"));
        assert!(row.iter().all(|cell| !cell.is_empty()) && row.len() == 4, "{row:?}");
    }
}

#[test]
fn the_checks_of_the_table_are_the_checks() {
    let named: BTreeSet<&str> =
        rows().iter().flat_map(|row| row[2].split('`').filter(|word| !word.trim().is_empty())).collect();
    let known: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
    assert_eq!(named, known);
}
