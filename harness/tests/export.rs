//! `brickbat export`: findings as tests of the projects that they are about.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::fs;
use std::path::Path;

use brickbat_report::export::{Framework, Package, Refusal, Target, export};
use brickbat_report::record::Record;
use tempfile::TempDir;

use brickbat_scenario::plan::Plan;

use crate::plans::{self, canary};
use crate::program::{self, Said};
use crate::run_folder::{built_in, record};

fn brickbat(folder: &Path, args: &[&str]) -> Said {
    program::brickbat(folder, args, &[])
}

/// The record of a plan in which a canary shows its planted bug.
fn bricked(plan: &str) -> Record {
    record(&built_in(plan), Some(canary("dangling-on-abort")))
}

const JAVASCRIPT: &str = include_str!("../systems/anthropic-sdk/export.mjs");
const PYTHON: &str = include_str!("../systems/openai-agents-python/export.py");

fn target<'a>(template: &'a str, packages: &'a [Package]) -> Target<'a> {
    Target {
        system: "own",
        sdk: "own-sdk",
        version: "1.2.3",
        mode: "finished",
        template,
        issue: None,
        packages,
        baseline: None,
    }
}

fn package(name: &str, version: &str) -> Package {
    Package { name: name.to_owned(), version: version.to_owned() }
}

#[test]
fn a_finding_becomes_a_test_with_its_packages_and_an_issue() {
    let record = bricked("abort/mid-batch#k=1@anthropic-messages");
    let packages = [package("@anthropic-ai/sdk", "1.2.3"), package("zod", "4.0.0")];
    let made = export(&record, &target(JAVASCRIPT, &packages), Framework::Vitest, None).unwrap();
    let text: Vec<String> =
        made.files.iter().map(|file| format!("==> {}\n{}", file.name, file.text)).collect();
    insta::assert_snapshot!("vitest", text.join("\n"));
    let again = export(&record, &target(JAVASCRIPT, &packages), Framework::Vitest, None).unwrap();
    assert_eq!(made, again);
}

#[test]
fn the_same_in_python() {
    let record = bricked("abort/mid-batch#k=1@openai-responses");
    let packages = [package("openai-agents", "1.2.3"), package("openai", "2.0.0"), package("httpx", "1.0")];
    let target = Target { mode: "session", ..target(PYTHON, &packages) };
    let made = export(&record, &target, Framework::Pytest, None).unwrap();
    let text: Vec<String> =
        made.files.iter().map(|file| format!("==> {}\n{}", file.name, file.text)).collect();
    insta::assert_snapshot!("pytest", text.join("\n"));
}

#[test]
fn a_case_that_a_test_cannot_express_is_refused() {
    let packages = [];
    let refusal = |record: &Record, template: &str, check: Option<&str>| {
        export(record, &target(template, &packages), Framework::NodeTest, check).unwrap_err()
    };
    let brick = bricked("abort/mid-batch#k=1@anthropic-messages");
    let sound = record(&built_in("abort/mid-batch#k=1@anthropic-messages"), None);
    assert_eq!(refusal(&sound, JAVASCRIPT, None), Refusal::NoFinding);
    let other = Some("results-kept");
    assert_eq!(refusal(&brick, JAVASCRIPT, other), Refusal::NoSuchFinding("results-kept".to_owned()));
    let template = refusal(&brick, "//? mode=finished\n// refuse: a browser\n//? end\n", None);
    assert_eq!(template.to_string(), "the template of `own` cannot express this: a browser");
    let bedrock = bricked("abort/mid-batch#k=1@bedrock-converse");
    let words = refusal(&bedrock, JAVASCRIPT, None).to_string();
    assert!(words.contains("bedrock-converse/"), "{words}");
    let killed = record(&built_in("kill/mid-batch#k=1@anthropic-messages"), Some(canary("kill-dangles")));
    let words = refusal(&killed, JAVASCRIPT, None).to_string();
    assert_eq!(words, "a test in one process cannot express this: the death of a process");
    let given = record(&built_in("model/foreign-id@openai-responses"), Some(canary("foreign-id-kept")));
    let words = refusal(&given, JAVASCRIPT, None).to_string();
    assert_eq!(words, "a test in one process cannot express this: a given history");
    let last = built_in("tools/final-tool#sibling=lookup@anthropic-messages");
    let last = record(&last, Some(canary("final-tool-unanswered")));
    let words = refusal(&last, JAVASCRIPT, None).to_string();
    assert_eq!(words, "a test in one process cannot express this: a tool that ends the turn with its result");
    let deaf = bricked("abort/deaf-tools#k=1@openai-responses");
    let target = Target { mode: "session", ..target(PYTHON, &packages) };
    let words = export(&deaf, &target, Framework::Pytest, None).unwrap_err().to_string();
    assert_eq!(
        words,
        "a test in one process cannot express this: a tool that continues after a stop, in Python"
    );
}

/// `export` reads the turn or the call of these findings in their messages, so other words must turn this red.
#[test]
fn each_check_that_a_test_can_assert_is_exported_from_a_canary() {
    let all: Vec<_> = plans::built_in().into_iter().flat_map(|(_, plans)| plans).collect();
    let is_meant = |plan: &&Plan| {
        let id = plan.id.to_string();
        id.ends_with("@anthropic-messages") && (id.starts_with("abort/") || id.starts_with("fault/"))
    };
    for (check, flaw) in [
        ("results-kept", "results-lost"),
        ("user-message-kept", "prompt-lost"),
        ("truncation-noticed", "truncation-swallowed"),
        ("arguments-complete", "partial-arguments-run"),
        ("executed-once", "runs-twice"),
    ] {
        let exported = all.iter().filter(is_meant).any(|plan| {
            let record = record(plan, Some(canary(flaw)));
            export(&record, &target(JAVASCRIPT, &[]), Framework::Vitest, Some(check)).is_ok()
        });
        assert!(exported, "{check}");
    }
}

/// A user's own system, with a template that needs only Node.js, and a run in which it was bricked.
fn own_system(folder: &Path) {
    let sheet = "name: own\nsdk: own-sdk\ndescription: Mine.\nversions: [{ version: 1.0.0 }, { version: 2.0.0 }]\n\
                 dialects: [anthropic-messages]\nmodes: [{ name: loop, description: A loop. }]\ninstall: npm\n\
                 files: [adapter.mjs]\ncommand: [node, adapter.mjs]\n";
    fs::create_dir(folder.join("own")).unwrap();
    fs::write(folder.join("own/system.yaml"), sheet).unwrap();
    fs::write(folder.join("own/export.mjs"), include_str!("export/export.mjs")).unwrap();
    let run = [
        "run",
        "abort/mid-batch#k=1@anthropic-messages",
        "--system",
        "canary/dangling-on-abort/simulated",
        "--out",
        "last",
    ];
    assert_eq!(brickbat(folder, &run).code, Some(1));
    // The canary's behaviour represents version 1.
    for case in walk(&folder.join("last/cases")).into_iter().filter(|path| path.ends_with("case.json")) {
        let text = fs::read_to_string(&case).unwrap();
        fs::write(&case, text.replace("canary/dangling-on-abort/simulated", "own@1.0.0/loop")).unwrap();
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn an_exported_test_is_red_with_the_bug_and_green_without_it() {
    let folder = TempDir::new().unwrap();
    own_system(folder.path());
    let of = [
        "export",
        "mid-batch#k=1",
        "--out",
        "last",
        "--manifest",
        "own/system.yaml",
        "--as",
        "node-test",
        "--run",
    ];
    let red = brickbat(folder.path(), &[&of[..], &["--to", "red"]].concat());
    assert_eq!(red.code, Some(0), "{red:?}");
    assert!(
        red.out.contains("\nred: ") && red.out.contains("own-sdk 1.0.0: when the user stops the turn"),
        "{red:?}"
    );
    let green = brickbat(folder.path(), &[&of[..], &["--to", "green", "--on", "2"]].concat());
    assert_eq!(green.code, Some(0), "{green:?}");
    assert!(green.out.contains("\ngreen: "), "{green:?}");
    // A test with an unexpected result is a failure.
    let not_mended = brickbat(folder.path(), &[&of[..], &["--to", "again", "--on", "1"]].concat());
    assert_eq!(not_mended.code, Some(1), "{not_mended:?}");
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn assertions_accept_valid_requests_and_reject_invalid_ones() {
    let mut node = std::process::Command::new("node");
    node.arg("harness/tests/export/vectors.mjs").current_dir(env!("CARGO_MANIFEST_DIR"));
    let ran = node.output().expect("Node.js 20 or later, which CONTRIBUTING.md asks for");
    let n_rules = std::fs::read_to_string("harness/report/src/export/rules.rs").unwrap();
    let n_rules = n_rules.lines().filter(|line| line.starts_with("    \"")).count();
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), format!("{n_rules} rules\n"));
}

#[test]
fn mistakes_are_reported_with_advice() {
    let folder = TempDir::new().unwrap();
    own_system(folder.path());
    let of = ["export", "mid-batch#k=1", "--out", "last"];
    let own = ["--manifest", "own/system.yaml"];
    fs::create_dir(folder.path().join("there")).unwrap();
    fs::write(folder.path().join("there/issue.md"), "mine").unwrap();
    for (args, words) in [
        (vec![], "unknown system `own`"),
        (vec![own[0], own[1], "--as", "pytest"], "has no template for a test as pytest: it has no export.py"),
        (vec![own[0], own[1], "--to", "there"], "already exists with different content"),
        (vec![own[0], own[1], "--on", "3"], "unknown version `3`"),
        (vec![own[0], own[1], "--check", "results-kept"], "has no finding of the check `results-kept`"),
    ] {
        let refused = brickbat(folder.path(), &[&of[..], &args].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(words), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("there/issue.md")).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.path().join("there")).unwrap().count(), 1);
}
