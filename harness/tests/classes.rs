//! The catalogue of failure classes, and the table that `brickbat classes` makes of it.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::collections::BTreeSet;
use std::path::Path;

use crate::program::{Said, brickbat};
use brickbat::cli::embedded::CLASSES;
use brickbat::cli::library;
use brickbat_engine::flaws::Canary;
use brickbat_report::classes::{self, CONTROL, Class};
use serde_json::Value;

/// The rows of the catalogue of reports that the suite is measured against.
const N_CLASSES: usize = 94;

fn catalogue() -> Vec<Class> {
    classes::parse(CLASSES.1, CLASSES.0).unwrap_or_else(|error| panic!("{error}"))
}

fn said_classes() -> BTreeSet<String> {
    library::said().unwrap().into_values().flatten().collect()
}

#[test]
fn the_catalogue_has_every_class() {
    assert_eq!(catalogue().len(), N_CLASSES);
}

#[test]
fn every_class_that_a_scenario_or_a_canary_names_is_in_the_catalogue() {
    let known: BTreeSet<String> = catalogue().into_iter().map(|class| class.id).collect();
    for class in said_classes().iter().filter(|class| *class != CONTROL) {
        assert!(
            known.contains(class),
            "a scenario is of the class `{class}`, which is not in corpora/classes.yaml"
        );
    }
    for canary in Canary::all() {
        let is_known = canary.class().is_none_or(|class| known.contains(class));
        assert!(is_known, "{} stands for a class that is not in corpora/classes.yaml", canary.name());
    }
}

/// Otherwise a reason that is no longer true would be printed forever.
#[test]
fn a_class_with_scenarios_has_no_reason_for_missing_ones() {
    let said = said_classes();
    for class in catalogue().iter().filter(|class| said.contains(&class.id)) {
        let id = &class.id;
        assert_eq!(
            class.missing, None,
            "scenarios say `{id}` now; take its `missing` out of corpora/classes.yaml"
        );
    }
}

fn asked(args: &[&str]) -> Said {
    brickbat(Path::new("."), &[&["classes"], args].concat(), &[])
}

#[test]
fn a_class_is_proven_by_the_scenario_that_kills_its_canary() {
    let said = asked(&["--only", "event-order", "--format", "json", "--require", "1", "--strict"]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    let table: Value = serde_json::from_str(&said.out).unwrap();
    let row = &table["classes"][0];
    assert_eq!(row["status"], "proven", "{row:#}");
    assert_eq!(row["canaries"][0]["name"], "early-error-ignored");
    assert_eq!(row["canaries"][0]["killed_by"][0], "reorder/error-before-call");
    assert_eq!(table["summary"]["proven"], 1);
}

#[test]
fn a_class_without_scenarios_comes_with_the_reason() {
    let said = asked(&["--only", "voice-truncate"]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("missing  Speech is not covered"), "{said:#?}");
    assert!(said.out.ends_with("0 of 1 classes proven (data 0/1)\n"), "{said:#?}");
    let said = asked(&["--only", "voice-truncate", "--format", "markdown", "--require", "1"]);
    assert_eq!((said.code, said.err.as_str()), (Some(1), "0 classes are proven, but 1 are required\n"));
    assert!(said.out.contains("| `voice-truncate`: Spoken output is truncated"), "{said:#?}");
}

#[test]
fn an_unknown_class_gets_a_suggestion() {
    let said = asked(&["--only", "event-oder"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("did you mean `event-order`?"), "{said:#?}");
}
