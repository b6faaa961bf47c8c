//! The invariants and the checks that cover them.

use std::collections::BTreeSet;

use brickbat::checks::CHECKS;

const TABLE: &str = include_str!("../engine/src/checks/README.md");

/// The cells of each row.
fn rows() -> Vec<Vec<&'static str>> {
    let rows = TABLE.lines().filter(|line| line.starts_with("| INV-"));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn each_invariant_is_there_once() {
    for (row, n) in rows().iter().zip(1..) {
        assert_eq!(row[0], format!("INV-{n:02}"));
        assert!(row.iter().all(|cell| !cell.is_empty()) && row.len() == 3, "{row:?}");
    }
}

#[test]
fn each_invariant_has_a_check_and_each_check_an_invariant() {
    let covered: BTreeSet<usize> =
        CHECKS.iter().flat_map(|check| check.invariants).map(|number| usize::from(*number)).collect();
    assert_eq!(covered, (1..=rows().len()).collect());
    assert!(CHECKS.iter().all(|check| !check.invariants.is_empty()));
}

#[test]
fn each_check_has_a_file_of_its_name() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/engine/src/checks");
    for check in CHECKS {
        assert!(folder.join(check.id.replace('-', "_")).with_extension("rs").exists(), "{}", check.id);
    }
}
