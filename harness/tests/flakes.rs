//! Flaky findings: they stay findings, and are labelled with their frequency.
//!
//! The adapter is our own agent behind a filter that removes, in some sessions, the update that a call has
//! ended.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs;
use std::path::Path;

use crate::program::{BRICKBAT, Said, brickbat, report};
use brickbat_scenario::plan::CONTROL;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs one plan on an adapter that does not report completed calls in sessions whose number matches.
/// The control plan has the first session.
fn run(folder: &Path, sessions: &str, more: &[&str]) -> (Said, Value) {
    let script = format!(
        "#!/bin/sh\n'{BRICKBAT}' agent | sed -u -E '/\"sessionId\":\"session-({sessions})\"/{{/\"completed\"/d}}'\n"
    );
    fs::write(folder.join("flaky.sh"), script).unwrap();
    let plan = "fault/second-step#fault=reset@openai-chat";
    let args =
        ["run", "--verbose", plan, "--command", "sh flaky.sh", "--report", "r.json", "--report", "r.xml"];
    let said = brickbat(folder, &[&args, more].concat(), &[]);
    let report = report(&folder.join("r.json"));
    let cases = report["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["plan"] == plan).unwrap();
    (said, case.clone())
}

#[test]
fn a_finding_that_repeats_is_confirmed_by_one_more_run() {
    let folder = TempDir::new().unwrap();
    let (said, case) = run(folder.path(), "[2-9]", &[]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert_eq!(case["repeats"], json!({ "seen": 2, "of": 2, "alone": true }), "{case:#}");
    assert!(!said.out.contains("comes and goes:"), "{said:#?}");
}

#[test]
fn a_mild_finding_of_the_control_plan_makes_no_plan_inconclusive() {
    let folder = TempDir::new().unwrap();
    let (said, case) = run(folder.path(), "[0-9]+", &[]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert_eq!((&case["verdict"], &case["findings"]), (&json!("pass"), &Value::Null), "{case:#}");
    let report = report(&folder.path().join("r.json"));
    let control = report["cases"].as_array().unwrap().iter().find(|case| case["verdict"] == "fail").unwrap();
    assert!(control["plan"].as_str().unwrap().ends_with(CONTROL), "{control:#}");
    assert_eq!(control["findings"][0]["check"], "parts-settled", "{control:#}");
}

#[test]
fn a_finding_that_no_run_alone_shows_is_labelled_and_does_not_count() {
    let folder = TempDir::new().unwrap();
    let (said, case) = run(folder.path(), "2", &[]);
    // The cause may be the load of the machine, or another plan: two runs under one load prove nothing.
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert_eq!((&case["verdict"], &case["findings"]), (&json!("pass"), &Value::Null));
    let repeats = &case["repeats"];
    assert_eq!((&repeats["seen"], &repeats["of"], &repeats["alone"]), (&json!(3), &json!(4), &json!(true)));
    assert_eq!(repeats["rescued"], json!([{ "check": "parts-settled", "harm": "stuck-part", "seen": 1 }]));
}

#[test]
fn a_finding_that_does_not_recur_is_kept_if_every_run_was_alone() {
    let folder = TempDir::new().unwrap();
    let (said, case) = run(folder.path(), "2", &["--jobs", "1"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert_eq!((&case["verdict"], &case["findings"][0]["check"]), (&json!("fail"), &json!("parts-settled")));
    let repeats = &case["repeats"];
    assert_eq!((&repeats["seen"], &repeats["of"], &repeats["alone"]), (&json!(1), &json!(4), &json!(true)));
    assert!(said.out.contains("comes and goes: 1 of 4 runs"), "{said:#?}");
    let xml = fs::read_to_string(folder.path().join("r.xml")).unwrap();
    assert!(xml.contains("comes and goes: 1 of 4 runs"), "{xml}");
}

#[test]
fn a_finding_that_recurs_alone_is_labelled_as_such() {
    let folder = TempDir::new().unwrap();
    let (said, case) = run(folder.path(), "2|5", &[]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    let repeats = &case["repeats"];
    assert_eq!((&repeats["seen"], &repeats["of"], &repeats["alone"]), (&json!(2), &json!(4), &json!(true)));
}

#[test]
fn one_run_is_enough_if_the_user_says_so() {
    let folder = TempDir::new().unwrap();
    let (said, case) = run(folder.path(), "2", &["--no-confirm"]);
    assert_eq!((said.code, &case["repeats"]), (Some(1), &Value::Null), "{case:#}");
}

#[test]
fn each_plan_runs_as_often_as_asked() {
    let folder = TempDir::new().unwrap();
    // The control plan has the sessions 1 to 3, the plan 4 to 6.
    let (said, case) = run(folder.path(), "5", &["--repeat", "3", "--no-confirm"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert_eq!((&case["repeats"]["seen"], &case["repeats"]["of"]), (&json!(1), &json!(3)), "{case:#}");
    let (said, case) = run(folder.path(), "none", &["--repeat", "3"]);
    assert_eq!((said.code, &case["repeats"]), (Some(0), &json!({ "seen": 3, "of": 3 })), "{said:#?}");
}

#[test]
fn our_own_agent_is_run_again_only_if_the_user_says_so() {
    let folder = TempDir::new().unwrap();
    let args = ["run", "--verbose", "abort/mid-batch", "--report", "r.json"];
    for (more, expected) in [(&[][..], Value::Null), (&["--repeat", "2"][..], json!({ "seen": 2, "of": 2 }))]
    {
        let said = brickbat(folder.path(), &[&args, more].concat(), &[]);
        assert_eq!(said.code, Some(0), "{said:#?}");
        let report = report(&folder.path().join("r.json"));
        assert_eq!(report["cases"][0].get("repeats").cloned().unwrap_or_default(), expected);
    }
}
