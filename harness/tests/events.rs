//! `brickbat events` as a program: its output for a store that is correct in any order, and for one with a
//! bug.

use std::fs;

use brickbat_engine::events::StoreBug;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Said, brickbat};

/// A command of the user is an adapter like any other.
fn events(folder: &TempDir, args: &[&str]) -> Said {
    let program = format!("{} agent", env!("CARGO_BIN_EXE_brickbat"));
    brickbat(folder.path(), &[&["events", "--command", &program], args].concat(), &[])
}

#[test]
fn a_correct_store_is_correct_in_every_order() {
    let folder = TempDir::new().unwrap();
    let said = events(&folder, &[]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("200 random from seed 1, 0 wrong, 0 refused"), "{said:?}");
    assert!(said.out.contains("ok       result-before-ready\n"), "{said:?}");
    assert_eq!(events(&folder, &[]).out, said.out);
}

#[test]
fn each_bug_is_found_and_shrunk() {
    let folder = TempDir::new().unwrap();
    let smallest = |bug: StoreBug| match bug {
        StoreBug::DropsEarlyResult => 3,
        StoreBug::LeavesOpen => 1,
        StoreBug::RestartReopens | StoreBug::ReadyReopens | StoreBug::LastResultWins => 4,
        StoreBug::RestartAppends => 2,
        StoreBug::TakesLateArguments => 3,
    };
    for bug in StoreBug::ALL {
        let said = events(&folder, &["--consumer", bug.name(), "--json"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        let json: Value = serde_json::from_str(&said.out).unwrap();
        let subject = &json["subjects"][0];
        assert!(subject["named"].as_array().unwrap().iter().any(|one| one["verdict"] == "wrong"), "{bug:?}");
        let causes = subject["drawn"]["causes"].as_array().unwrap();
        let length = causes.iter().map(|cause| cause["events"].as_array().unwrap().len()).min();
        assert!(length.is_some_and(|length| length <= smallest(bug)), "{bug:?} {length:?}");
    }
}

#[test]
fn a_file_of_the_user_is_played_by_itself() {
    let folder = TempDir::new().unwrap();
    let text = "comment: It never ends.\nevents:\n  - { type: start, call: a, tool: lookup }\n";
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    let said = events(&folder, &["mine.yaml", "--shuffled", "0", "--consumer", "leaves-open"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.out.contains("WRONG    mine\n           start a\n           open: the stream has ended"),
        "{said:?}"
    );
    assert!(said.out.contains("1 named sequence, 1 wrong"), "{said:?}");
}

#[test]
fn what_cannot_be_played_is_told() {
    let folder = TempDir::new().unwrap();
    let nobody = brickbat(folder.path(), &["events"], &[]);
    assert_eq!(nobody.code, Some(2), "{nobody:?}");
    assert!(nobody.err.contains("no system is named"), "{nobody:?}");
    let unknown = events(&folder, &["--consumer", "nobody"]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    assert!(unknown.out.contains("unknown consumer `nobody`"), "{unknown:?}");
    fs::write(folder.path().join("bad.yaml"), "comment: x\nevents: [{ type: begin }]\n").unwrap();
    let bad = events(&folder, &["bad.yaml"]);
    assert_eq!(bad.code, Some(2), "{bad:?}");
    assert!(bad.err.contains("bad.yaml:2"), "{bad:?}");
    let without = brickbat(folder.path(), &["events", "--system", "reference"], &[]);
    assert_eq!(without.code, Some(3), "{without:?}");
    assert!(without.err.contains("reference/acp"), "{without:?}");
}
