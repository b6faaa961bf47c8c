//! `brickbat diff`: two equal systems, two different ones, and reports in place of systems.

use crate::program::{brickbat, report};
use serde_json::Value;
use tempfile::TempDir;

const PLANS: [&str; 2] = ["abort/mid-batch", "--dialect=openai-chat"];

#[test]
fn a_system_and_itself_do_the_same() {
    let folder = TempDir::new().unwrap();
    let said =
        brickbat(folder.path(), &[&["diff", "reference/simulated", "reference"], &PLANS[..]].concat(), &[]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("; 0 distinct differences") && !said.out.contains("not compared"), "{said:#?}");
}

#[test]
fn a_planted_bug_is_the_difference_whichever_system_comes_first() {
    let folder = TempDir::new().unwrap();
    for systems in [["canary/dangling-on-abort", "reference"], ["reference", "canary/dangling-on-abort"]] {
        let said = brickbat(folder.path(), &[&["diff"], &systems[..], &PLANS[..]].concat(), &[]);
        assert_eq!(said.code, Some(1), "{said:#?}");
        let bricked =
            said.out.lines().filter(|line| line.starts_with("only on canary/dangling-on-abort: bricked"));
        assert_eq!(bricked.count(), 1, "{said:#?}");
        assert!(
            said.out.contains("again: brickbat run ") && !said.out.contains("only on reference"),
            "{said:#?}"
        );
    }
}

#[test]
fn a_report_replaces_its_system() {
    let folder = TempDir::new().unwrap();
    let run = |system: &str, file: &str| {
        brickbat(folder.path(), &[&["run", "--system", system, "--report", file], &PLANS[..]].concat(), &[])
    };
    run("reference/simulated", "before.json");
    run("canary/dangling-on-abort", "after.json");
    let said = brickbat(folder.path(), &["diff", "before.json", "after.json", "--json"], &[]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    let comparison: Value = serde_json::from_str(&said.out).unwrap();
    let n_cases = report(&folder.path().join("before.json"))["cases"].as_array().unwrap().len();
    assert_eq!(comparison["n_compared"], n_cases);
    let parting = &comparison["partings"][0];
    assert_eq!(parting["harm"], "bricked-by-provider", "{comparison:#}");
    assert!(parting["plan"].as_str().unwrap().starts_with("abort/mid-batch#"), "{comparison:#}");
    // A report can be compared with a system that is run.
    let mixed = [&["diff", "before.json", "canary/dangling-on-abort", "--json"], &PLANS[..]].concat();
    let mixed: Value = serde_json::from_str(&brickbat(folder.path(), &mixed, &[]).out).unwrap();
    assert_eq!(mixed["partings"], comparison["partings"]);
}

#[test]
fn an_unknown_system_or_report_is_refused_before_anything_runs() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("empty.json"), "{}").unwrap();
    for (first, words) in [
        ("nothing", "nothing"),
        ("empty.json", "cannot read empty.json"),
        ("gone.json", "cannot read gone.json"),
    ] {
        let said = brickbat(folder.path(), &["diff", first, "reference"], &[]);
        assert_eq!(said.code, Some(2), "{said:#?}");
        assert!(said.err.contains(words) && said.out.is_empty(), "{said:#?}");
    }
}
