//! A run in shards: each plan is in one of them, and their reports can be merged into that of the complete
//! run.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs;
use std::path::Path;

use crate::program::{Said, brickbat, ids, report};
use serde_json::{Value, json};
use tempfile::TempDir;

const N_SHARDS: usize = 3;
const DIALECT: &str = "--dialect=anthropic-messages";

fn run(folder: &Path, args: &[&str]) -> Said {
    brickbat(folder, &[&["run", "--verbose", "--no-out", "abort/", "fault/", DIALECT], args].concat(), &[])
}

/// The run in shards on a system; the names of the reports.
fn shards(folder: &Path, system: &str, n: usize, extra: &[&str]) -> (Vec<String>, Vec<Option<i32>>) {
    let shard = |index: usize| {
        let (part, file) = (format!("{index}/{n}"), format!("{index}.json"));
        let said = run(folder, &[&["--system", system, "--shard", &part, "--report", &file], extra].concat());
        assert!(said.out.contains(&format!(", shard {part}\n")), "{said:#?}");
        for [judged, all] in said.err.lines().filter_map(counts) {
            assert!(judged <= all, "{said:#?}");
        }
        (file, said.code)
    };
    (1..=n).map(shard).unzip()
}

/// The counts of a line of progress, such as `12 of 30 judged`.
fn counts(line: &str) -> Option<[usize; 2]> {
    let (before, after) = line.split_once(" of ")?;
    let all = after.split_once(" judged")?.0.parse().ok()?;
    Some([before.rsplit(' ').next()?.parse().ok()?, all])
}

fn merged(folder: &Path, files: &[String], args: &[&str]) -> Said {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    brickbat(folder, &[&["merge", "--verbose"], files.as_slice(), args].concat(), &[])
}

fn without_timing(mut report: Value) -> Value {
    assert!(report.as_object_mut().unwrap().remove("timing").is_some());
    report
}

/// Runs a system in shards and as a whole, and compares the two.
fn comes_out_whole(folder: &TempDir, system: &str, code: i32, extra: &[&str]) {
    let whole = run(folder.path(), &[&["--system", system, "--report", "whole.json"], extra].concat());
    assert_eq!(whole.code, Some(code), "{whole:#?}");
    let (files, _) = shards(folder.path(), system, N_SHARDS, extra);
    let said = merged(folder.path(), &files, &["--report", "merged.json"]);
    assert_eq!(said.code, Some(code), "{said:#?}");
    // A merge cannot print the lines that a run prints while it is running.
    let closing: String =
        whole.out.split_inclusive('\n').filter(|line| !line.starts_with("found: ")).collect();
    assert_eq!(said.out, closing);
    let [merged, whole] = ["merged.json", "whole.json"].map(|file| report(&folder.path().join(file)));
    assert_eq!(without_timing(merged), without_timing(whole));
    for file in &files {
        let shard = report(&folder.path().join(file));
        assert!(shard["cases"].as_array().unwrap().len() > 10, "{file} has next to nothing");
    }
}

#[test]
fn shards_of_the_reference_agent_make_the_complete_run() {
    comes_out_whole(&TempDir::new().unwrap(), "reference/simulated", 0, &[]);
}

#[test]
fn shards_of_a_system_with_findings_make_the_complete_run() {
    comes_out_whole(&TempDir::new().unwrap(), "canary/dangling-on-abort", 1, &[]);
}

#[test]
fn expected_findings_and_stale_entries_of_shards_add_up() {
    let folder = TempDir::new().unwrap();
    let baseline = ["--baseline=known.yaml"];
    run(folder.path(), &["--system", "canary/dangling-on-abort", "--write-baseline", "known.yaml"]);
    comes_out_whole(&folder, "canary/dangling-on-abort", 0, &baseline);
    // Another bug shows other findings, and none of these.
    let path = folder.path().join("known.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("canary/dangling-on-abort", "canary/success-invented");
    fs::write(&path, text).unwrap();
    comes_out_whole(&folder, "canary/success-invented", 1, &baseline);
}

#[test]
fn every_plan_is_listed_in_one_shard() {
    let folder = TempDir::new().unwrap();
    let listed = |args: &[&str]| -> Vec<String> {
        run(folder.path(), &[&["--list"], args].concat()).out.lines().map(str::to_owned).collect()
    };
    let mut parts: Vec<String> =
        (1..=N_SHARDS).flat_map(|index| listed(&["--shard", &format!("{index}/{N_SHARDS}")])).collect();
    let mut all = listed(&[]);
    parts.sort();
    all.sort();
    assert_eq!(parts, all);
}

#[test]
fn a_shard_without_plans_is_not_a_failure() {
    let folder = TempDir::new().unwrap();
    let one = |shard: &str| {
        let args =
            ["run", "control/plain-batch@openai-chat", "--system", "reference/simulated", "--shard", shard];
        let file = format!("{}.json", &shard[..1]);
        let said = brickbat(folder.path(), &[&args[..], &["--report", &file]].concat(), &[]);
        assert_eq!(said.code, Some(0), "{said:#?}");
        file
    };
    let files: Vec<String> = (1..=4).map(|index| one(&format!("{index}/4"))).collect();
    let said = merged(folder.path(), &files, &[]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("2 plans: 2 pass, 0 fail"), "{said:#?}");
}

/// Bad input: exit code 2, nothing on standard output, and these words.
#[track_caller]
fn assert_bad(said: &Said, words: &str) {
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
    assert!(said.err.contains(words), "{words}: {said:#?}");
}

#[test]
fn reports_that_are_not_the_shards_of_one_run_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let (files, _) = shards(path, "reference/simulated", 2, &[]);
    let good = report(&path.join("2.json"));
    let with = |change: &dyn Fn(&mut Value)| {
        let mut changed = good.clone();
        change(&mut changed);
        fs::write(path.join("2.json"), changed.to_string()).unwrap();
        merged(path, &files, &[])
    };
    assert_bad(&merged(path, &files[..1], &[]), "shard 2/2 is missing");
    assert_bad(&with(&|report| report["seed"] = json!(7)), "1.json and 2.json differ in the seed: 0 and 7");
    assert_bad(&with(&|report| report["brickbat"] = json!("9.9.9")), "it was written by brickbat 9.9.9");
    assert_bad(&with(&|report| report["profiles"] = json!([])), "differ in the profiles");
    assert_bad(&with(&|report| report["requirements"] = json!("2026-11")), "differ in the requirement set");
    assert_bad(
        &with(&|report| report["shard"] = json!({ "index": 2, "of": 3 })),
        "the number of shards: 2 and 3",
    );
    assert_bad(
        &with(&|report| report["shard"] = json!({ "index": 3, "of": 2 })),
        "at /shard: there is no shard 3/2",
    );
    assert_bad(&with(&|report| report["shard"] = json!({ "index": 1, "of": 2 })), "shard 2/2 is missing");
    let whole = &|report: &mut Value| drop(report.as_object_mut().unwrap().remove("shard"));
    assert_bad(&with(whole), "2.json is the report of a complete run");
    let renamed = |report: &mut Value| {
        report["cases"].as_array_mut().unwrap().iter_mut().for_each(|case| case["system"] = json!("x@1/y"));
    };
    assert_bad(&with(&renamed), "differ in the systems: reference/simulated and x@1/y");
    // A case of the first shard in the second.
    let first = report(&path.join("1.json"));
    let plan = |report: &Value| {
        let cases = report["cases"].as_array().unwrap();
        cases.iter().find(|case| !case["plan"].as_str().unwrap().ends_with("+control")).unwrap().clone()
    };
    let stray = |report: &mut Value| {
        report["cases"].as_array_mut().unwrap().push(plan(&first));
        let n_passed = report["summary"]["pass"].as_u64().unwrap();
        report["summary"]["pass"] = json!(n_passed + 1);
    };
    assert_bad(&with(&stray), "which belongs to another shard");
}

#[test]
fn shards_of_different_selections_are_not_one_run() {
    let folder = TempDir::new().unwrap();
    let shard = |shard: &str, file: &str, words: &[&str]| {
        let args = ["run", "control/", "--system", "reference/simulated", "--shard", shard, "--report", file];
        let said = brickbat(folder.path(), &[&args[..], words].concat(), &[]);
        assert_eq!(said.code, Some(0), "{said:#?}");
    };
    shard("1/2", "1.json", &[]);
    for (words, are) in [
        (&["--exclude", "one-call"][..], "control/ --exclude one-call"),
        (&["--filter", "batch"], "control/ --filter batch"),
        (&["--premise", "user"], "control/ --premise user"),
        (&["abort/"], "control/ abort/"),
    ] {
        shard("2/2", "2.json", words);
        let said = merged(folder.path(), &["1.json".to_owned(), "2.json".to_owned()], &[]);
        assert_bad(&said, &format!("differ in the selection of plans: control/ and {are}"));
    }
}

#[test]
fn a_shard_that_is_given_twice_must_agree() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let (mut files, _) = shards(path, "reference/simulated", 2, &[]);
    fs::copy(path.join("2.json"), path.join("again.json")).unwrap();
    files.push("again.json".to_owned());
    assert_eq!(merged(path, &files, &[]).code, Some(0));
    let mut other = report(&path.join("2.json"));
    let n_passed = other["summary"]["pass"].as_u64().unwrap();
    other["summary"] = json!({ "pass": n_passed - 1, "vacuous": 1 });
    let cases = other["cases"].as_array_mut().unwrap();
    let case = cases.iter_mut().find(|case| !case["plan"].as_str().unwrap().ends_with("+control")).unwrap();
    case["verdict"] = json!("vacuous");
    fs::write(path.join("again.json"), other.to_string()).unwrap();
    assert_bad(&merged(path, &files, &[]), "is pass in 2.json but vacuous in again.json");
}

#[test]
fn files_that_are_not_reports_are_refused_with_the_place() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let (files, _) = shards(path, "canary/dangling-on-abort", 1, &[]);
    let good = fs::read_to_string(path.join("1.json")).unwrap();
    let with = |text: &str| {
        fs::write(path.join("1.json"), text).unwrap();
        merged(path, &files, &[])
    };
    assert_bad(&with(""), "cannot read 1.json: it is not a report of `brickbat run`: EOF while parsing");
    assert_bad(&with("[]"), "it is not a report of `brickbat run`");
    assert_bad(&with(&"[".repeat(100_000)), "it is not a report of `brickbat run`");
    assert_bad(&with(&good[..good.len() / 2]), "it is not a report of `brickbat run`");
    assert_bad(
        &with(&good.replace("\"verdict\": \"fail\"", "\"verdict\": \"failed\"")),
        "verdict: unknown variant `failed`",
    );
    assert_bad(
        &with(&good.replace("\"check\": \"thread-survives\"", "\"check\": \"x\"")),
        "there is no check `x`",
    );
    assert_bad(
        &with(&good.replace("\"rule\": \"anthropic-messages/", "\"rule\": \"x/")),
        "there is no rule `x/",
    );
    assert_bad(&with(&good.replace("\"seed\": 0", "\"seed\": 0, \"sed\": 0")), "unknown field `sed`");
    assert_bad(&with(&good.replace("\"pass\": ", "\"pass\": 1")), "at /summary");
    assert_bad(&merged(path, &["none.json".to_owned()], &[]), "cannot read none.json");
    assert_eq!(with(&good).code, Some(1));
}

#[test]
fn an_invalid_shard_is_refused() {
    let folder = TempDir::new().unwrap();
    assert_bad(&run(folder.path(), &["--shard", "3/2"]), "shards are counted from 1 to 2");
    assert_bad(&run(folder.path(), &["--shard", "half"]), "write it as `2/4`");
}

#[test]
fn a_cause_has_the_same_id_in_every_shard_and_with_any_seed() {
    let folder = TempDir::new().unwrap();
    let run = |more: &[&str]| {
        let args =
            ["run", "abort/after-all-calls", "approval/stop-after-consent", "--out", "last", "--system"];
        let system = ["canary/dangling-on-abort/simulated"];
        ids(&brickbat(folder.path(), &[&args[..], &system, more].concat(), &[]).out)
    };
    let whole = run(&[]);
    let mut distinct = whole.clone();
    distinct.sort();
    distinct.dedup();
    assert!(whole.len() > 1 && distinct.len() == whole.len(), "{whole:?}");
    for id in &whole {
        for command in ["show", "explain"] {
            let said = brickbat(folder.path(), &[command, id, "--out", "last"], &[]);
            assert_eq!(said.code, Some(0), "{said:#?}");
        }
    }
    for more in [&["--shard", "1/3"][..], &["--shard", "2/3"], &["--dialect", "gemini"], &["--seed", "7"]] {
        let part = run(more);
        assert!(!part.is_empty() && part.iter().all(|id| whole.contains(id)), "{more:?}: {part:?} {whole:?}");
    }
}
