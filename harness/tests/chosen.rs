//! The choice of the system: the one of the project around the working directory, unless another is named;
//! and the errors for one that cannot be started.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::program::{BRICKBAT, Said, brickbat};

/// The manifest of our own agent, as a user's.
fn sheet() -> String {
    format!(
        "name: mine\nsdk: brickbat-reference\ndescription: Mine.\nversions: [{{ version: {} }}]\n\
         dialects: [openai-chat]\nmodes: [{{ name: thread, description: d }}]\ncommand: [\"{BRICKBAT}\", agent]\n",
        env!("CARGO_PKG_VERSION"),
    )
}

/// A project with that manifest in the folder of its adapter.
fn project(sheet: &str) -> TempDir {
    let root = TempDir::new().unwrap();
    for folder in [".git", "brickbat", "src"] {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    fs::write(root.path().join("brickbat/system.yaml"), sheet).unwrap();
    root
}

const PLAN: [&str; 3] = ["control/plain-batch", "--dialect", "openai-chat"];

fn run(folder: &Path, more: &[&str]) -> Said {
    brickbat(folder, &[&["run"], &PLAN[..], more].concat(), &[])
}

#[test]
fn the_manifest_of_the_project_runs_unless_another_system_is_named() {
    let root = project(&sheet());
    let at = root.path();
    let full = format!("mine@{}/thread", env!("CARGO_PKG_VERSION"));
    for folder in [at.to_owned(), at.join("src"), at.join("brickbat")] {
        let said = run(&folder, &[]);
        assert_eq!(said.code, Some(0), "{said:#?}");
        assert!(said.out.contains(&full) && !said.out.contains("reference"), "{said:#?}");
    }
    let named = run(at, &["--system", "mine/thread"]);
    assert!(named.code == Some(0) && named.out.contains(&full), "{named:#?}");
    let reference = run(at, &["--system", "reference/simulated"]);
    assert!(reference.code == Some(0) && !reference.out.contains("mine"), "{reference:#?}");
    // A configuration that names a system takes precedence; one that does not leaves the choice to the
    // manifest.
    fs::write(at.join("brickbat.toml"), "systems = ['reference/simulated']\n").unwrap();
    let configured = run(at, &[]);
    assert!(configured.out.contains("reference/simulated"), "{configured:#?}");
    fs::write(at.join("brickbat.toml"), "jobs = 2\n").unwrap();
    assert!(run(at, &[]).out.contains(&full));
    for args in [&["verify-adapter"][..], &["fuzz", "--plans", "1", "--dialect", "openai-chat"]] {
        let said = brickbat(at, args, &[]);
        assert!(said.code == Some(0) && said.out.contains("mine"), "{args:?}: {said:#?}");
    }
}

#[test]
fn without_a_project_the_headline_names_the_built_in_agent() {
    let folder = TempDir::new().unwrap();
    let said = run(folder.path(), &["--system", "reference/simulated"]);
    assert!(
        said.out.starts_with("pass: nothing is wrong in 2 judged plans, on the built-in reference agent\n"),
        "{said:#?}"
    );
    let said = brickbat(folder.path(), &["verify-adapter"], &[]);
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert!(said.err.contains("--manifest brickbat/system.yaml"), "{said:#?}");
}

#[test]
fn a_manifest_with_a_misspelt_file_name_is_not_ignored() {
    let root = project(&sheet());
    let at = root.path();
    fs::rename(at.join("brickbat/system.yaml"), at.join("brickbat/system.yml")).unwrap();
    let said = run(&at.join("src"), &[]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
    assert!(said.err.contains("is not called system.yaml\nhint: rename it"), "{said:#?}");
    let said = run(at, &["--manifest", "brickbat/system.yaml"]);
    assert!(said.err.contains("did you mean `system.yml`?"), "{said:#?}");
    assert_eq!(run(at, &["--manifest", "brickbat/system.yml"]).code, Some(0));
}

#[test]
fn a_system_that_cannot_start_is_one_error_before_any_plan() {
    for (from, to, words) in [
        (
            "command:",
            "files: [nope.mjs]\ncommand:",
            "`files` of its manifest names nope.mjs, which cannot be read in ",
        ),
        ("name: thread", "name: thraed", "offers no mode `thraed`; did you mean `thread`?"),
        ("sdk: brickbat-reference", "sdk: other", "`sdk` of its manifest names `other`; correct one of them"),
        (
            "command: [",
            "command: [sh, -c, 'echo one >&2; echo two >&2; exit 3'] #",
            "the adapter ended (exit status: 3); it wrote:\n  | one\n  | two\n",
        ),
    ] {
        cannot_start(from, to, words);
    }
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_program_that_is_too_old_is_one_error_before_any_plan() {
    cannot_start("dialects:", "requires: { node: '>=99' }\ndialects:", "node is too old: found v");
}

#[test]
#[cfg(unix)]
fn the_python_of_the_adapters_own_environment_is_the_one_that_is_required() {
    use std::os::unix::fs::PermissionsExt;
    let needs = "requires: { python: '>=3.98' }\ninstall: pip\ndialects:";
    let root = project(&sheet().replacen("dialects:", needs, 1));
    let bin = root.path().join("brickbat/.venv/bin");
    fs::create_dir_all(&bin).unwrap();
    for (version, code) in [("3.99.1", 0), ("3.97.2", 2)] {
        let python = bin.join("python");
        fs::write(&python, format!("#!/bin/sh\necho Python {version}\n")).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        let said = run(root.path(), &[]);
        assert_eq!(said.code, Some(code), "{said:#?}");
        let is_named =
            said.err.contains("brickbat/.venv/bin/python is too old: found Python 3.97.2, need 3.98");
        assert_eq!(is_named, code == 2, "{said:#?}");
    }
}

/// Runs the system with a change to its manifest, and expects one error with these words.
fn cannot_start(from: &str, to: &str, words: &str) {
    let root = project(&sheet().replacen(from, to, 1));
    let said = run(root.path(), &[]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{words}: {said:#?}");
    assert!(said.err.contains("error: cannot start mine"), "{said:#?}");
    assert!(said.err.contains(words), "{words}: {said:#?}");
}

#[test]
fn a_system_that_cannot_start_is_reported_and_the_others_run() {
    let two = sheet().replacen("modes: [", "modes: [{ name: thraed, description: d }, ", 1);
    let root = project(&two);
    let said = run(root.path(), &["--system", "mine/thraed", "--system", "mine/thread"]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.err.contains("cannot start mine@") && said.out.contains("2 pass"), "{said:#?}");
    let said = run(root.path(), &["--system", "mine/thraed", "--system", "mine/thraed"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
}

#[test]
fn the_word_after_baseline_may_be_its_file_or_a_scenario() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let canary = ["--system", "canary/dangling-on-abort/simulated", "--dialect", "openai-chat"];
    let run = |args: &[&str]| brickbat(at, &[&["run"], args, &canary[..]].concat(), &[]);
    assert_eq!(run(&["abort/mid-batch", "--write-baseline", "b.yaml"]).code, Some(1));
    for args in
        [&["abort/mid-batch", "--baseline", "b.yaml"][..], &["--baseline", "b.yaml", "abort/mid-batch"]]
    {
        assert_eq!(run(args).code, Some(0), "{args:?}");
    }
    // The next word may be a scenario, by its id or in a folder; then the baseline is the system's own.
    let own = run(&["--baseline", "control/plain-batch"]);
    assert_eq!(own.code, Some(0), "{own:#?}");
    let missing = run(&["--baseline", "no.yaml"]);
    assert_eq!((missing.code, missing.out.as_str()), (Some(2), ""), "{missing:#?}");
    assert!(
        missing.err.contains("there is no file no.yaml, neither a baseline nor a scenario"),
        "{missing:#?}"
    );
    // A file with a mistake is still a baseline, and the mistake is shown.
    let text = fs::read_to_string(at.join("b.yaml")).unwrap();
    fs::write(at.join("b.yaml"), text.replace("severity:", "severty:")).unwrap();
    let said = run(&["--baseline", "b.yaml", "abort/mid-batch"]);
    assert!(said.code == Some(2) && said.err.contains("did you mean `severity`"), "{said:#?}");
}

#[test]
fn a_plan_about_another_host_is_not_played_against_a_vendors_own_client() {
    let plan = ["model/empty-arguments-at-minimax", "--dialect", "openai-chat", "--quiet"];
    let run = |sheet: &str| {
        let root = project(sheet);
        brickbat(root.path(), &[&["run"], &plan[..], &["--report", "r.json"]].concat(), &[]);
        let text = fs::read_to_string(root.path().join("r.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let case = &report["cases"][report["cases"].as_array().unwrap().len() - 1];
        (case["verdict"].clone(), case["reason"].as_str().unwrap_or_default().to_owned())
    };
    let (verdict, _) = run(&sheet());
    assert_eq!(verdict, "pass");
    let (verdict, reason) = run(&sheet().replace("description: Mine.", "description: Mine.\nvendor: OpenAI"));
    assert_eq!(verdict, "unsupported");
    assert!(reason.contains("OpenAI's own client, and the plan is about MiniMax"), "{reason}");
}
