//! `brickbat shrink`, `replay` and `promote` as their users see them.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs;
use std::path::Path;

use crate::program::{Said, brickbat};
use tempfile::TempDir;

const CANARY: &str = "canary/dangling-on-abort/simulated";

fn run(folder: &TempDir, args: &[&str]) -> Said {
    brickbat(folder.path(), args, &[])
}

/// Shrinks a built-in scenario on a planted bug.
#[track_caller]
fn small(folder: &TempDir, out: &str, more: &[&str]) -> String {
    let args =
        ["shrink", "abort/mid-batch#k=1", "--system", CANARY, "--dialect", "openai-chat", "--out", out];
    let said = run(folder, &[&args[..], more].concat());
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains(&format!("again: brickbat replay {out}")), "{said:#?}");
    fs::read_to_string(folder.path().join(out)).unwrap()
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_failing_scenario_becomes_one_call_and_one_action() {
    let folder = TempDir::new().unwrap();
    let text = small(&folder, "small.yaml", &[]);
    insta::assert_snapshot!(text, @r#"
    schema: 1
    comment: "On canary/dangling-on-abort/simulated in openai-chat: abort after settled 0 in turn 1; then thread-survives fails: An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_GKbjeUs5rD4wMVJBQZWa4i7M."
    class: [abort-batch]
    evidence: ["twentyhq/twenty#21276", "pydantic/pydantic-ai#7977", "vercel/ai#10638"]
    found: { check: thread-survives, harm: bricked-by-provider, says: unanswered-call, trigger: stop, calls: unanswered, system: canary/dangling-on-abort/simulated, dialect: openai-chat, brickbat: "0.1.0" }
    tools:
      lookup: { returns: ok }
    turns:
      - user: Do step 1.
        replies:
          - - call: { as: a, tool: lookup, args: {} }
        at:
          - { after: { settled: 0 }, do: abort }
    "#);
    // More jobs take more runs and have the same result.
    assert_eq!(small(&folder, "alone.yaml", &["--jobs", "1"]), text);
}

/// This demands something that no correct agent does, so the reference agent is accused in it.
const UNFAIR: &str = include_str!("scenarios/unfair.yaml");

#[test]
fn a_failure_of_the_reference_agent_is_minimised_only_on_it() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("unfair.yaml"), UNFAIR).unwrap();
    let args = ["shrink", "unfair.yaml", "--dialect", "openai-chat", "--system"];
    let said = run(&folder, &[&args[..], &["reference/simulated"]].concat());
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("found: { check: executed-once, "), "{said:#?}");
    assert!(said.out.contains("executed: { a: never }") && !said.out.contains("as: b"), "{said:#?}");
    let said = run(&folder, &[&args[..], &[CANARY]].concat());
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
    assert!(
        said.err.contains("the reference agent fails it, which `--system reference/simulated`"),
        "{said:#?}"
    );
}

#[test]
fn the_requested_cause_is_kept() {
    let folder = TempDir::new().unwrap();
    let args = ["shrink", "kill/before-second-step", "--system", "canary/kill-forgets/simulated"];
    let said = run(&folder, &[&args[..], &["--dialect", "openai-chat", "--check", "results-kept"]].concat());
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(
        said.out.contains("found: { check: results-kept, harm: results-lost, trigger: kill, calls: "),
        "{said:#?}"
    );
    let said = run(&folder, &[&args[..], &["--dialect", "openai-chat", "--check", "order-kept"]].concat());
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
    assert!(said.err.contains("shows no finding of order-kept"), "{said:#?}");
}

#[test]
fn an_exhausted_budget_is_reported_and_the_best_result_is_written() {
    let folder = TempDir::new().unwrap();
    let args =
        ["shrink", "abort/mid-batch#k=1", "--system", CANARY, "--dialect", "openai-chat", "--budget", "2"];
    let said = run(&folder, &args);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.err.contains("the budget is used up"), "{said:#?}");
    assert!(said.out.contains("found: { check: thread-survives"), "{said:#?}");
}

#[test]
fn replay_judges_only_its_cause() {
    let folder = TempDir::new().unwrap();
    small(&folder, "small.yaml", &[]);
    let said = run(&folder, &["replay", "small.yaml"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    insta::assert_snapshot!(said.out, @r"
    STILL FAILS: 3 of 3 runs show it
      bricked-by-provider thread-survives (unanswered-call) on canary/dangling-on-abort/simulated in openai-chat
    ");
    for system in ["reference", "reference/simulated", "canary/kill-forgets/simulated"] {
        let said = run(&folder, &["replay", "small.yaml", "--system", system, "--repeat", "2"]);
        assert_eq!(said.code, Some(0), "{said:#?}");
        assert!(said.out.starts_with("FIXED: 0 of 2 runs show it\n"), "{said:#?}");
    }
}

#[test]
fn other_findings_are_listed_and_do_not_change_the_answer() {
    let folder = TempDir::new().unwrap();
    small(&folder, "small.yaml", &[]);
    let path = folder.path().join("small.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("unanswered-call", "orphan-result")).unwrap();
    let said = run(&folder, &["replay", "small.yaml"]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.starts_with("FIXED"), "{said:#?}");
    assert!(said.out.contains("other findings, which do not change the answer:\n  bricked-by-provider thread-survives in 3 of 3 runs"), "{said:#?}");
}

#[test]
fn an_unjudged_replay_is_an_error_and_not_fixed() {
    let folder = TempDir::new().unwrap();
    small(&folder, "small.yaml", &[]);
    let said = run(&folder, &["replay", "small.yaml", "--command", "sh -c 'exit 1'", "--repeat", "1"]);
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert!(!said.out.contains("FIXED") && said.err.contains("cannot start"), "{said:#?}");
    // No blocking agent reaches a point inside a stream.
    let path = folder.path().join("small.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("{ settled: 0 }", "{ end: a }")).unwrap();
    let said = run(&folder, &["replay", "small.yaml", "--system", "reference/blocking"]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.out.starts_with("ERROR: unsupported: "), "{said:#?}");
}

#[test]
fn promote_files_a_regression_once_for_each_cause() {
    let folder = TempDir::new().unwrap();
    small(&folder, "small.yaml", &[]);
    let said = run(&folder, &["promote", "small.yaml", "--into", "kept"]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    let names = files(&folder.path().join("kept"));
    assert_eq!(said.out, format!("wrote kept/{}\n", names[0]));
    let text = fs::read_to_string(folder.path().join("kept").join(&names[0])).unwrap();
    assert!(text.contains(", canary: dangling-on-abort, "), "{text}");
    let said = run(&folder, &["promote", "small.yaml", "--into", "kept"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
    assert!(said.err.contains(&format!("kept/{} shows the same failure", names[0])), "{said:#?}");
    assert_eq!(files(&folder.path().join("kept")), names);
}

#[test]
fn a_scenario_without_a_finding_is_neither_replayed_nor_promoted() {
    let folder = TempDir::new().unwrap();
    for command in ["replay", "promote"] {
        let said = run(&folder, &[command, "abort/mid-batch#k=1"]);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
        assert!(said.err.contains("has no key `found`\nhint: `brickbat shrink"), "{said:#?}");
    }
    small(&folder, "small.yaml", &[]);
    let path = folder.path().join("small.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("check: thread-survives", "check: thread-survive")).unwrap();
    let said = run(&folder, &["replay", "small.yaml"]);
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert!(said.err.contains("there is no check `thread-survive`"), "{said:#?}");
    assert!(said.err.contains("did you mean `thread-survives`?"), "{said:#?}");
    let said = run(&folder, &["shrink", "abort/mid-batch#k=1", "--system", "reference/simulated"]);
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert!(said.err.contains("shows no failure on reference/simulated"), "{said:#?}");
    let said = run(&folder, &["shrink", "abort/mid-batch#k=1"]);
    assert!(said.code == Some(2) && said.err.contains("name one with --system"), "{said:#?}");
}
