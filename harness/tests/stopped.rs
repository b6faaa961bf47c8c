//! Runs that end early: what was seen by then is reported in every format, and every file that is written is
//! complete.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{BRICKBAT, Said, brickbat, command, finish, ids, report};

const PLAN: &str = "fault/second-step#fault=reset@openai-chat";

/// Our own agent. It does not report completed calls in sessions whose number matches `wrong`, and sends
/// nothing at all in those that match `silent`. The control plan has the first session, the plan the second,
/// and its confirmation the third.
fn adapter(folder: &Path, wrong: &str, silent: &str) {
    let script = format!(
        "#!/bin/sh\n'{BRICKBAT}' agent | sed -u -E -e '/\"sessionId\":\"session-({silent})\"/d' \
         -e '/\"sessionId\":\"session-({wrong})\"/{{/\"completed\"/d}}'\n"
    );
    fs::write(folder.join("wrong.sh"), script).unwrap();
}

const RUN: [&str; 6] = ["run", PLAN, "--command", "sh wrong.sh", "--jobs", "1"];

/// Starts a run in which the second run of the plan never ends, and sends it a signal when it has seen the
/// plan fail.
fn stopped_when_seen(folder: &Path, signal: Signal, more: &[&str]) -> Said {
    adapter(folder, "2", "3");
    let mut child = command(folder, &[&RUN, more].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut out = String::new();
    while !out.contains("seen: ") {
        assert!(lines.read_line(&mut out).unwrap() > 0, "it ends before it has seen anything: {out}");
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    lines.read_to_string(&mut out).unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    Said { code: child.wait().unwrap().code(), out, err }
}

const REPORTS: [&str; 8] =
    ["--report", "r.json", "--report", "r.xml", "--report", "r.html", "--report", "r.sarif"];

#[test]
fn findings_before_a_signal_are_reported_in_every_format() {
    for format in brickbat_report::report::format::FORMATS {
        assert!(
            REPORTS.contains(&format!("r.{}", format.ending).as_str()),
            "{} is not asked for",
            format.name
        );
    }
    const SEEN: &str = "stopped: 1 cause seen, none confirmed";
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = TempDir::new().unwrap();
        let said = stopped_when_seen(folder.path(), signal, &[&REPORTS[..], &["--out", "last"]].concat());
        assert_eq!(said.code, Some(1), "{said:#?}");
        assert!(said.out.contains(SEEN) && !said.out.contains("nothing is wrong"), "{said:#?}");
        assert!(said.out.contains("seen, not confirmed, 1 plan: fault/second-step"), "{said:#?}");
        let file = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let json = report(&folder.path().join("r.json"));
        let stopped =
            json!({ "why": "the run was interrupted", "seen": 1, "confirmed": 0, "confirms": true });
        assert_eq!(json["stopped"], stopped);
        let case = json["cases"].as_array().unwrap().iter().find(|case| case["plan"] == PLAN).unwrap();
        assert_eq!((&case["verdict"], &case["unconfirmed"]), (&json!("fail"), &json!(true)), "{case:#}");
        let (xml, html, sarif) = (file("r.xml"), file("r.html"), file("r.sarif"));
        assert!(xml.contains(SEEN) && xml.contains("<failure message=\"seen, not confirmed: "), "{xml}");
        assert!(html.contains(SEEN) && html.contains(", seen, not confirmed"), "{html}");
        let sarif: Value = serde_json::from_str(&sarif).unwrap();
        let notes = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        assert!(notes[0]["message"]["text"].as_str().unwrap().starts_with(SEEN), "{sarif:#}");
        assert_eq!(sarif["runs"][0]["results"][0]["properties"]["confirmed"], false, "{sarif:#}");
        let ids = ids(&said.out);
        assert_eq!(ids.len(), 1, "{said:#?}");
        let shown = brickbat(folder.path(), &["show", &ids[0], "--out", "last"], &[]);
        assert!(shown.code == Some(0) && shown.out.contains("fail (seen, not confirmed)"), "{shown:#?}");
        assert!(shown.out.contains("FAULT"), "its evidence is kept: {shown:#?}");
        let again = brickbat(folder.path(), &["run", "--rerun-failed", "last", "--list"], &[]);
        assert_eq!(again.out, format!("{PLAN}\n"), "{again:#?}");
    }
}

#[test]
fn the_evidence_of_a_finding_survives_a_kill() {
    let folder = TempDir::new().unwrap();
    let said = stopped_when_seen(folder.path(), Signal::KILL, &["--out", "last", "--report", "r.json"]);
    assert_eq!(said.code, None, "{said:#?}");
    let shown = brickbat(folder.path(), &["show", PLAN, "--out", "last"], &[]);
    assert!(shown.code == Some(0) && shown.out.contains("fail (seen, not confirmed)"), "{shown:#?}");
    assert!(!folder.path().join("r.json").exists(), "no report is better than an empty one");
}

#[test]
fn a_finding_that_does_not_recur_leaves_no_files() {
    let folder = TempDir::new().unwrap();
    adapter(folder.path(), "2", "none");
    let said = brickbat(folder.path(), &["run", PLAN, "--command", "sh wrong.sh", "--out", "last"], &[]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    let shown = brickbat(folder.path(), &["show", PLAN, "--out", "last"], &[]);
    assert!(shown.out.contains("verdict: pass") && !shown.out.contains("not confirmed"), "{shown:#?}");
    let cached =
        brickbat(folder.path(), &["run", PLAN, "--command", "sh wrong.sh"], &[("BRICKBAT_CACHE", "cache")]);
    assert_eq!(cached.code, Some(0), "{cached:#?}");
    let cases = brickbat(folder.path(), &["show", PLAN], &[("BRICKBAT_CACHE", "cache")]);
    assert!(cases.err.contains("no case in"), "what passed is not kept there: {cases:#?}");
}

#[test]
fn a_run_that_stops_before_any_result_does_not_claim_success() {
    let folder = TempDir::new().unwrap();
    adapter(folder.path(), "none", "[0-9]+");
    let said = brickbat(folder.path(), &[&RUN[..], &["--timeout", "1s"]].concat(), &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.out.starts_with("stopped: no cause seen, in 0 of 0 judged plans\n"), "{said:#?}");
    assert!(!said.out.contains("brickbat show"), "there is nothing to show: {said:#?}");
}

#[test]
fn expected_findings_are_not_new_causes_of_a_stopped_run() {
    let folder = TempDir::new().unwrap();
    adapter(folder.path(), "[2-9]", "none");
    let known = brickbat(folder.path(), &[&RUN[..], &["--write-baseline", "known.yaml"]].concat(), &[]);
    assert_eq!(known.code, Some(1), "{known:#?}");
    let before = fs::read_to_string(folder.path().join("known.yaml")).unwrap();
    adapter(folder.path(), "2", "3");
    let more = ["--baseline=known.yaml", "--write-baseline", "known.yaml", "--timeout", "3s"];
    let said = brickbat(folder.path(), &[&RUN[..], &more].concat(), &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.out.contains("stopped: no new cause seen"), "{said:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("known.yaml")).unwrap(), before);
}

#[test]
fn with_fail_fast_the_first_red_plan_is_confirmed_and_ends_the_run() {
    let plans =
        ["run", "fault/second-step", "--dialect", "openai-chat", "--command", "sh wrong.sh", "--jobs", "1"];
    let folder = TempDir::new().unwrap();
    adapter(folder.path(), "[2-9]|[0-9]{2}", "none");
    let run = |more: &[&str]| brickbat(folder.path(), &[&plans[..], &["--fail-fast"], more].concat(), &[]);
    let said = run(&["--report", "r.json"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(said.out.contains("stopped: 1 cause seen, 1 confirmed, in 1 of 2 judged plans"), "{said:#?}");
    let json = report(&folder.path().join("r.json"));
    let of = |verdict: &str| {
        json["cases"].as_array().unwrap().iter().filter(|case| case["verdict"] == verdict).count()
    };
    assert_eq!(of("fail"), 1, "{json:#}");
    assert!(of("not-run") > 0, "{json:#}");

    let said = run(&["--no-confirm"]);
    assert!(said.out.contains("stopped: 1 cause seen, none confirmed"), "{said:#?}");
    let said = run(&["--format", "github"]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 2, "{said:#?}");
    assert!(
        lines[1].starts_with("::error title=stopped::stopped: 1 cause seen, 1 confirmed; --fail-fast"),
        "{said:#?}"
    );
}

#[test]
fn stopped_shards_make_a_stopped_run() {
    let folder = TempDir::new().unwrap();
    let said = stopped_when_seen(folder.path(), Signal::INT, &["--shard", "1/1", "--report", "1.json"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    let merged = brickbat(folder.path(), &["merge", "1.json", "--report", "all.json"], &[]);
    assert_eq!(merged.code, Some(1), "{merged:#?}");
    assert!(merged.out.contains("stopped: 1 cause seen, none confirmed"), "{merged:#?}");
    let [one, all] = ["1.json", "all.json"].map(|file| report(&folder.path().join(file)));
    assert_eq!((&one["stopped"], &one["cases"]), (&all["stopped"], &all["cases"]));
}

/// Brickbat with a file size limit of 16 or 32 KiB, depending on the shell's unit, as on a disk that is
/// nearly full.
fn on_a_small_disk(folder: &Path, args: &[&str]) -> Said {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$@\"", "sh", BRICKBAT]).args(args);
    shell.current_dir(folder).stdin(Stdio::null()).env("BRICKBAT_CACHE", folder.join("cache"));
    finish(shell, b"")
}

#[test]
fn a_full_disk_affects_only_the_report_that_does_not_fit() {
    let folder = TempDir::new().unwrap();
    let run =
        ["run", "abort/mid-batch", "abort/after-all-calls", "--system", "canary/dangling-on-abort/simulated"];
    let more = ["--report", "old.json", "--report", "short.sarif", "--write-baseline", "known.yaml"];
    let whole = brickbat(folder.path(), &[&run[..], &more, &["--out", "last"]].concat(), &[]);
    assert_eq!(whole.code, Some(1), "{whole:#?}");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let old = read("old.json");
    assert!(old.len() > 32 << 10 && read("short.sarif").len() < 16 << 10, "the limit is between the two");
    fs::remove_file(folder.path().join("short.sarif")).unwrap();

    let full = on_a_small_disk(folder.path(), &[&run[..], &more, &["--out", "full"]].concat());
    assert_eq!(full.code, whole.code, "{full:#?}");
    assert_eq!(read("old.json"), old, "an old report survives");
    assert!(!read("short.sarif").is_empty(), "the other report is written");
    assert!(full.err.contains("not written: old.json: "), "{full:#?}");
    assert!(full.err.contains("not kept: the run directory is incomplete: cannot write full/"), "{full:#?}");
    // A case that was not kept is not suggested.
    if let Some((_, id)) = full.out.split_once("brickbat show ") {
        let id = id.split_whitespace().next().unwrap();
        let shown = brickbat(folder.path(), &["show", id, "--out", "full"], &[]);
        assert_eq!(shown.code, Some(0), "{shown:#?} {full:#?}");
    }
    let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let parts: Vec<_> = left.filter(|name| name.to_string_lossy().ends_with(".part")).collect();
    assert!(parts.is_empty(), "{parts:?}");
}

#[test]
fn a_report_that_cannot_be_replaced_does_not_stop_the_others() {
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full.json")).unwrap();
    let args =
        ["run", "control/", "--system", "reference/simulated", "--report", "full.json", "--report", "r.json"];
    let said = brickbat(folder.path(), &args, &[]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.err.contains("not written: full.json: "), "{said:#?}");
    assert_eq!(report(&folder.path().join("r.json"))["schema"], 1);
}

/// The exit code is that of the same command without a file to write.
#[test]
fn a_file_that_cannot_be_written_changes_no_verdict_of_wrap_or_filters() {
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full")).unwrap();
    let filters = ["filters", "--filter", "identity", "--histories", "5"];
    let wrap = ["--", "true"];
    for (before, write, after) in [
        (&["wrap"][..], "--report", &wrap[..]),
        (&filters, "--html", &[]),
        (&filters, "--write-baseline", &[]),
    ] {
        let without = brickbat(folder.path(), &[before, after].concat(), &[]);
        assert!(matches!(without.code, Some(0 | 1 | 3)), "{without:#?}");
        let failed = brickbat(folder.path(), &[before, &[write, "full"], after].concat(), &[]);
        assert_eq!((failed.code, &failed.out), (without.code, &without.out), "{failed:#?}");
        assert!(failed.err.contains("not written: full: "), "{failed:#?}");
    }
}

#[test]
fn a_run_locks_its_folder_until_it_is_killed() {
    let folder = TempDir::new().unwrap();
    adapter(folder.path(), "2", "3");
    let mut child = command(folder.path(), &[&RUN[..], &["--out", "last"]].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("seen: "), "{line}");
    let second = ["run", "control/", "--system", "reference/simulated", "--out", "last"];
    let said = brickbat(folder.path(), &second, &[]);
    assert!(said.code == Some(2) && said.err.contains("another run"), "{said:#?}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(brickbat(folder.path(), &second, &[]).code, Some(0));
}

#[test]
fn a_search_that_is_interrupted_reports_what_it_has_found() {
    let folder = TempDir::new().unwrap();
    // The search has judged two plans when the third session begins, which is silent.
    let script = format!(
        "#!/bin/sh\n'{BRICKBAT}' agent | sed -u -E -e '/\"sessionId\":\"session-3\"/w third' \
         -e '/\"sessionId\":\"session-([3-9]|[0-9]{{2,}})\"/d' -e '/\"completed\"/d'\n"
    );
    fs::write(folder.path().join("wrong.sh"), script).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("third")).status().unwrap().success());
    let args =
        ["fuzz", "--command", "sh wrong.sh", "--jobs", "1", "--time", "10m", "--dialect", "openai-chat"];
    let child = command(folder.path(), &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut third = String::new();
    BufReader::new(fs::File::open(folder.path().join("third")).unwrap()).read_line(&mut third).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let out = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{out}");
    assert!(out.contains("stuck-part") && out.contains("not minimised: it was interrupted"), "{out}");
    assert!(out.contains("1 distinct failure") && out.trim_end().ends_with("; interrupted"), "{out}");
}

#[test]
fn the_evidence_of_a_finding_outlives_any_number_of_passing_runs_and_is_found_from_another_project() {
    const CACHE: [(&str, &str); 1] = [("BRICKBAT_CACHE", "../cache")];
    let folder = TempDir::new().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    for project in [&one, &other] {
        fs::create_dir_all(project.join(".git")).unwrap();
    }
    adapter(&one, "[2-9]", "none");
    let failed = brickbat(&one, &RUN, &CACHE);
    assert_eq!(failed.code, Some(1), "{failed:#?}");
    let ids = ids(&failed.out);
    assert!(!ids.is_empty(), "{failed:#?}");
    for project in [&one, &other] {
        for _ in 0..12 {
            let passed = brickbat(project, &["run", "control/plain-batch@openai-chat"], &CACHE);
            assert_eq!(passed.code, Some(0), "{passed:#?}");
        }
    }
    for (project, id) in
        [&one, &other].into_iter().flat_map(|project| ids.iter().map(move |id| (project, id)))
    {
        let shown = brickbat(project, &["show", id], &CACHE);
        assert!(shown.code == Some(0) && shown.out.contains(PLAN), "{shown:#?}");
    }
    // The records of the passing runs are gone, except for the last one of each project.
    let runs = |project: &fs::DirEntry| fs::read_dir(project.path()).unwrap().count();
    let mut n_runs: Vec<usize> = fs::read_dir(folder.path().join("cache/runs"))
        .unwrap()
        .map(|project| runs(&project.unwrap()))
        .collect();
    n_runs.sort_unstable();
    assert_eq!(n_runs, [2, 3]);
}

/// Several plans fail, each with a cause that no earlier one has shown, or not. A moment is a time of the run, so
/// what has been seen by then differs: whatever it is, it is in every format.
#[test]
fn whenever_a_run_is_stopped_what_it_has_seen_is_in_every_format() {
    let folder = TempDir::new().unwrap();
    adapter(folder.path(), "[2-9]|[0-9]{2,}", "none");
    let run = ["run", "fault/second-step", "abort/mid-batch", "--command", "sh wrong.sh", "--jobs", "2"];
    let mut n_seen = 0;
    for moment in 1..=10 {
        let time = format!("{}s", moment);
        let said = brickbat(folder.path(), &[&run[..], &REPORTS, &["--timeout", &time]].concat(), &[]);
        let lines = said.out.lines().filter_map(|line| {
            let line = line.strip_prefix("seen: ").or_else(|| line.strip_prefix("found: "))?;
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.trim_end_matches(':').to_owned()))
        });
        let (severities, seen): (Vec<String>, Vec<String>) = lines.unzip();
        // SARIF has one plan for each cause.
        let sarif = fs::read_to_string(folder.path().join("r.sarif")).unwrap();
        assert!(severities.iter().all(|severity| sarif.contains(severity)), "{time}: {said:#?}");
        n_seen += seen.len();
        let json = report(&folder.path().join("r.json"));
        let failed = |plan: &str| {
            let cases = json["cases"].as_array().unwrap();
            cases.iter().any(|case| case["plan"] == plan && case["verdict"] == "fail")
        };
        for plan in &seen {
            assert!(failed(plan), "{time}: {plan} is not in r.json: {said:#?}");
            for file in ["r.xml", "r.html"] {
                let text = fs::read_to_string(folder.path().join(file)).unwrap();
                assert!(text.contains(plan.as_str()), "{time}: {plan} is not in {file}: {said:#?}");
            }
        }
        if !seen.is_empty() {
            assert!(
                said.out.contains("cause") && !said.out.contains("nothing is wrong"),
                "{time}: {said:#?}"
            );
        }
        if !said.out.contains("stopped: ") {
            break;
        }
    }
    assert!(n_seen > 0, "no moment came after a failure");
}
