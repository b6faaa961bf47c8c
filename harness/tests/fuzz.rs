//! `brickbat fuzz`: it finds planted bugs by itself, is reproducible, and accuses no correct agent.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::program::{Said, brickbat};
use brickbat_scenario::parse;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::Severity;
use tempfile::TempDir;

fn fuzz(folder: &Path, system: &str, args: &[&str]) -> Said {
    let always = ["fuzz", "--system", system, "--dialect", "openai-chat", "--time", "1h"];
    brickbat(folder, &[&always, args].concat(), &[])
}

/// The scenarios of a folder, by the names of their files.
fn found(folder: &Path) -> BTreeMap<String, Scenario> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let variants = parse::parse("found.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
        (path.file_name().unwrap().to_string_lossy().into_owned(), variants[0].scenario.clone())
    };
    files.map(read).collect()
}

#[test]
fn the_dangling_call_is_found_and_shrunk() {
    let folder = TempDir::new().unwrap();
    let system = "canary/dangling-on-abort/simulated";
    let said = fuzz(folder.path(), system, &["--plans", "64", "--seed", "1", "--out", "found"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(said.out.contains("seed 1\n") && said.out.contains("bricked-by-provider"), "{said:#?}");
    let found = found(&folder.path().join("found"));
    let is_bricked = |scenario: &&Scenario| {
        scenario.found.as_ref().is_some_and(|found| found.severity == Severity::BrickedByProvider)
    };
    let bricked: Vec<&Scenario> = found.values().filter(is_bricked).collect();
    assert!(!bricked.is_empty(), "{said:#?}");
    for scenario in bricked {
        let n_actions: usize = scenario.turns.iter().map(|turn| turn.at.len()).sum();
        assert!(n_actions <= 1, "{scenario:#?}");
    }
    // `replay` judges the scenario that was found: it still fails, and a correct agent passes it.
    let file = format!("found/{}", found.keys().next().unwrap());
    let again = brickbat(folder.path(), &["replay", &file], &[]);
    assert!(again.code == Some(1) && again.out.contains("STILL FAILS"), "{again:#?}");
    let right = brickbat(folder.path(), &["replay", &file, "--system", "reference/simulated"], &[]);
    assert!(right.code == Some(0) && right.out.contains("FIXED"), "{right:#?}");
}

#[test]
fn without_a_budget_a_failure_is_reported_as_it_was_found() {
    let folder = TempDir::new().unwrap();
    let system = "canary/dangling-on-abort/simulated";
    let said =
        fuzz(folder.path(), system, &["--plans", "64", "--seed", "1", "--budget", "0", "--out", "found"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(said.out.contains("  not minimised: the budget is 0\n"), "{said:#?}");
    assert!(said.out.contains(", minimised in 0 runs; seed 1\n"), "{said:#?}");
    let n_causes = said.out.matches("bricked-by-provider").count();
    let found = found(folder.path().join("found").as_path());
    let seen = found.values().map(|scenario| scenario.found.as_ref().unwrap());
    let distinct: BTreeSet<String> = seen
        .map(|seen| {
            format!("{} {:?} {:?} {:?} {}", seen.check, seen.severity, seen.trigger, seen.calls, seen.says)
        })
        .collect();
    assert_eq!(found.len(), distinct.len(), "each cause once: {said:#?}");
    assert!((1..=found.len()).contains(&n_causes), "{said:#?}");
}

/// In a simulation nothing waits, but the campaign still ends when its time is up.
#[test]
fn a_simulated_campaign_ends_when_its_time_is_up() {
    let folder = TempDir::new().unwrap();
    let args = ["fuzz", "--system", "reference/simulated", "--time", "1s", "--seed", "1"];
    let said = brickbat(folder.path(), &args, &[]);
    assert_eq!(said.code, Some(0), "{said:#?}");
}

#[test]
fn the_same_seed_with_one_job_gives_the_same_run() {
    let folder = TempDir::new().unwrap();
    let run = |seed: &str, out: &str| {
        let args = ["--plans", "32", "--seed", seed, "--jobs", "1", "--out", out];
        let said = fuzz(folder.path(), "canary/success-invented/simulated", &args);
        let files = found(&folder.path().join(out));
        (said.out.replace(out, "OUT"), files)
    };
    let once = run("3", "out-1");
    assert_eq!(once, run("3", "out-2"));
    assert_ne!(once.0, run("4", "out-3").0);
}

#[test]
fn the_reference_agent_is_accused_of_nothing() {
    let folder = TempDir::new().unwrap();
    for guidance in [&[][..], &["--random"]] {
        let args = [&["--plans", "64", "--seed", "2"], guidance].concat();
        let said = fuzz(folder.path(), "reference/simulated", &args);
        assert_eq!(said.code, Some(0), "{said:#?}");
        assert!(said.out.contains("; 0 distinct failures"), "{said:#?}");
    }
}

#[test]
fn an_impossible_campaign_is_reported_before_anything_runs() {
    let folder = TempDir::new().unwrap();
    for (args, words) in [
        (["--time", "soon"], "expected a duration such as 90s, 10m or 2h"),
        (["--system", "nothing"], "nothing"),
        (["--jobs", "0"], "1..=256"),
    ] {
        let said = brickbat(folder.path(), &[&["fuzz"], &args[..]].concat(), &[]);
        assert!(said.code == Some(2) && said.err.contains(words), "{said:#?}");
    }
}
