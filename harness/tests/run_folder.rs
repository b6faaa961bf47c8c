//! The results of a run: run folders, the drawings of `show`, and the secrets that are in neither.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::{Concurrency, judge};
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate::simulate;
use brickbat_report::record::{Observed, PlanNote, Record};
use brickbat_report::report::{Case, timeline};
use brickbat_rules::redact::Redactor;
use brickbat_scenario::action::Action;
use brickbat_scenario::lower;
use brickbat_scenario::plan::{BoundAction, Plan};
use brickbat_scenario::trace::{Confidence, Event, Trace};
use serde_json::Value;
use tempfile::TempDir;

use crate::plans;
use crate::program::{self, Said};

fn brickbat(folder: &Path, args: &[&str]) -> Said {
    program::brickbat(folder, args, &[])
}

/// Every file below a folder, by its path.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// The same without durations.
fn timeless(folder: &Path) -> BTreeMap<String, String> {
    let mut files = files(folder);
    files.retain(|name, _| !name.ends_with("/timing.json"));
    for name in ["run.json", "report.json"] {
        let mut value: Value = serde_json::from_str(&files[name]).unwrap();
        assert!(value.as_object_mut().unwrap().remove("timing").is_some(), "{name}");
        files.insert(name.to_owned(), value.to_string());
    }
    files
}

/// The record of a plan in the simulation.
pub(crate) fn record(plan: &Plan, canary: Option<Canary>) -> Record {
    let profile = plan.profile_from(&[]);
    let agent = |plan: &Plan| Agent::of_plan(plan, Delivery::Streamed, canary);
    let control = Arc::new(lower::control(plan));
    let concurrency = Concurrency::of(&control, &simulate(&control, profile, agent(&control), None).trace);
    let plan = Arc::new(plan.clone());
    let run = simulate(&plan, profile, agent(&plan), Some(concurrency.max_parallel_tools));
    let judgement = judge(&plan, &run, profile, Confidence::Observed, Some(&concurrency));
    let system = canary.map_or("reference".to_owned(), |canary| format!("canary/{}", canary.name()));
    let case = Case::new(&system, &plan.id, judgement, run.receipts.clone(), "brickbat run …".to_owned());
    // The store is a file of its own, and the simulation has none.
    let mut trace = Trace::default();
    let events = run.trace.events().iter().filter(|event| !matches!(event, Event::Stored { .. }));
    events.for_each(|event| trace.push(event.clone()));
    let observed = Observed::of_simulation(&plan, profile, agent(&plan).path(), &trace);
    Record { observed: Some(observed), ..case.record(PlanNote::of(&plan), Some(profile.name)) }
}

fn read_back(record: &Record) -> Record {
    let files: BTreeMap<String, String> =
        record.files(&Redactor::default()).into_iter().map(|file| (file.name, file.text)).collect();
    Record::read(&|name| Ok(files.get(name).cloned())).unwrap()
}

pub(crate) fn built_in(id: &str) -> Plan {
    let mut plans = plans::built_in().into_iter().flat_map(|(_, plans)| plans);
    plans.find(|plan| plan.id.to_string() == id).unwrap()
}

#[test]
fn the_timeline_of_a_brick_tells_the_story() {
    for dialect in ["anthropic-messages", "openai-chat"] {
        let plan = built_in(&format!("abort/mid-batch#k=1@{dialect}"));
        let record = read_back(&record(&plan, Some(crate::plans::canary("dangling-on-abort"))));
        insta::assert_snapshot!(
            format!("brick_{dialect}"),
            timeline::draw(&record, 100, &|_, word| word.to_owned())
        );
    }
}

/// True if a call of the plan cannot end for a reason other than a stop.
fn is_left_open(plan: &Plan) -> bool {
    let ends = |what: &BoundAction| {
        let is_harmless = matches!(what, Action::Pause | Action::Settle(_) | Action::Http(_));
        !is_harmless && !what.ends_attempt()
    };
    let mut actions = plan.turns.iter().flat_map(|turn| &turn.actions);
    actions.any(|action| ends(&action.what))
        || !plan.given.is_empty()
        || plan.calls.iter().any(|call| call.malformation.is_some())
}

#[test]
fn every_plan_can_be_drawn_from_its_files() {
    let plain = |_, word: &str| word.to_owned();
    let (mut missing, mut n_receipts) = (Vec::new(), 0);
    for plan in plans::built_in().into_iter().flat_map(|(_, plans)| plans) {
        let record = record(&plan, None);
        let again = read_back(&record);
        assert_eq!(again, record, "{}", plan.id);
        let drawn = timeline::draw(&again, 100, &plain);
        // Each proven fault is marked where it happened.
        let n_fired = record.receipts.iter().filter(|receipt| receipt.fired).count();
        let n_marked = drawn.split_once("\n\n").unwrap().1.matches("(planned:").count();
        if n_marked < n_fired {
            missing.push(format!("{}\n{drawn}", plan.id));
        }
        n_receipts += n_fired;
        // The reference agent makes up only results for calls that a stop, a refusal or a kill leaves open.
        let leaves_open = ["user stops", "refused by", "says no", "is killed"];
        let may_invent = leaves_open.iter().any(|words| drawn.contains(words)) || is_left_open(&plan);
        assert!(may_invent || !drawn.contains(",made-up"), "{drawn}");
        let is_name = |line: &str| line.starts_with("again:") || line.starts_with(&plan.id.to_string());
        let wide = drawn.lines().find(|line| line.chars().count() > 100 && !is_name(line));
        assert_eq!(wide, None, "{}", plan.id);
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(n_receipts > 200, "{n_receipts}");
}

#[test]
fn no_text_of_our_own_is_redacted_as_a_secret() {
    let redactor = Redactor::default();
    let is_clean = |text: &str| matches!(redactor.text(text), Cow::Borrowed(_));
    for plan in plans::built_in().into_iter().flat_map(|(_, plans)| plans) {
        let record = record(&plan, None);
        for exchange in record.observed.as_ref().unwrap().exchanges.iter() {
            let body = std::str::from_utf8(&exchange.body).unwrap();
            let mut value: Value = serde_json::from_str(body).unwrap();
            redactor.value(&mut value);
            assert!(is_clean(body) && serde_json::to_string(&value).unwrap() == body, "{body}");
            exchange.reply.frames.iter().for_each(|frame| assert!(is_clean(frame), "{frame}"));
            exchange.reply.headers.iter().for_each(|line| assert!(is_clean(line), "{line}"));
        }
        for file in record.files(&redactor) {
            assert!(is_clean(&file.text) && !file.text.contains("[redacted]"), "{}: {}", plan.id, file.name);
        }
    }
}

#[test]
fn two_runs_on_the_reference_agent_write_the_same_files() {
    // Over sockets, it is a race whether a request in flight is seen when the user stops the turn. That
    // includes the request of a tool, as in reorder/.
    leave_the_same(&["run", "retry/", "control/"]);
    leave_the_same(&[
        "run",
        "--system",
        "reference/simulated",
        "--dialect=gemini",
        "--dialect=openai-responses",
    ]);
}

fn leave_the_same(args: &[&str]) {
    let folder = TempDir::new().unwrap();
    for out in ["one", "two"] {
        let run = brickbat(folder.path(), &[args, &["--out", out]].concat());
        assert!(run.code == Some(0), "{run:?}");
    }
    let (one, two) = (timeless(&folder.path().join("one")), timeless(&folder.path().join("two")));
    assert!(one.len() > 200, "{}", one.len());
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, text) in &one {
        assert_eq!(text, &two[name], "{name}");
        for machine in ["127.0.0.1", folder.path().to_str().unwrap()] {
            assert!(!text.contains(machine), "`{machine}` is in {name}");
        }
    }
}

#[test]
fn a_case_is_shown_by_its_folder_or_by_a_part_of_its_plan() {
    let folder = TempDir::new().unwrap();
    let run = brickbat(
        folder.path(),
        &["run", "abort/mid-batch", "--out", "last", "--system", "reference/simulated"],
    );
    assert!(run.code == Some(0), "{run:?}");
    let shown = brickbat(folder.path(), &["show", "k=1@openai-chat", "--out", "last"]);
    let words = shown.out.as_str();
    assert!(shown.code == Some(0) && words.contains("FAULT the user stops the turn"), "{shown:?}");
    assert!(!words.contains('\x1b'), "no colour goes into a pipe");
    let path = words.lines().last().unwrap().strip_prefix("in ").unwrap();
    assert_eq!(brickbat(folder.path(), &["show", path]).out, words);
    for (args, expected) in [
        (vec!["show", "mid-batch", "--out", "last"], "24 cases in last contain `mid-batch`"),
        (vec!["show", "nothing", "--out", "last"], "no case in last contains `nothing`"),
        (vec!["show", "."], "is not the directory of a case"),
        (vec!["show", "last"], "last is a complete run"),
        (vec!["show", "x", "--out", "nowhere"], "nowhere is not a run folder"),
    ] {
        let shown = brickbat(folder.path(), &args);
        assert_eq!(shown.code, Some(2), "{shown:?}");
        assert!(shown.err.contains(expected), "{shown:?}");
    }
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let run = |out: &str| {
        brickbat(folder.path(), &["run", "control/", "--system", "reference/simulated", "--out", out])
    };
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/run.json"), "{}").unwrap();
    fs::write(folder.path().join("file"), "mine").unwrap();
    for (out, words) in [
        ("mine", "files that are not from a run of Brickbat"),
        ("file", "cannot write"),
        ("file/x", "cannot write"),
    ] {
        let refused = run(out);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.out.is_empty() && refused.err.contains(words), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("mine/run.json")).unwrap(), "{}");
    // A link out of the folder is not followed.
    assert!(run("ours").code == Some(0));
    fs::remove_dir_all(folder.path().join("ours/cases")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("mine"), folder.path().join("ours/cases")).unwrap();
    assert_eq!(run("ours").code, Some(2));
    fs::remove_file(folder.path().join("ours/cases")).unwrap();
    fs::create_dir_all(folder.path().join("ours/cases/old")).unwrap();
    fs::write(folder.path().join("ours/notes.txt"), "kept").unwrap();
    assert!(run("ours").code == Some(0));
    let left = files(&folder.path().join("ours"));
    assert_eq!(left["notes.txt"], "kept");
    assert!(!folder.path().join("ours/cases/old").exists());
}

#[test]
fn a_folder_is_protected_while_a_run_writes_it() {
    let folder = TempDir::new().unwrap();
    let run = ["run", "control/", "--system", "reference/simulated", "--out", "last"];
    let run = || brickbat(folder.path(), &run);
    assert_eq!(run().code, Some(0));
    let before = fs::read(folder.path().join("last/run.json")).unwrap();
    // So the folder is locked while a run writes it; the lock ends with its process.
    let locked = fs::File::open(folder.path().join("last")).unwrap();
    locked.lock().unwrap();
    let second = run();
    assert_eq!(second.code, Some(2), "{second:#?}");
    assert!(second.err.contains("another run of Brickbat is writing to last"), "{second:#?}");
    assert_eq!(fs::read(folder.path().join("last/run.json")).unwrap(), before);
    // A process that another test is starting may share the open file for a moment, so closing it is not enough.
    locked.unlock().unwrap();
    assert_eq!(run().code, Some(0));
}

/// A call that runs once, although the scenario forbids it.
const NEVER: &str = r#"schema: 1
comment: A call that may not run.
class: [control]
vary: { user: [Look it up., Find it.] }
tools: { lookup: { returns: "found {key}" } }
turns:
  - user: $user
    replies:
      - - call: { as: a, tool: lookup, args: { key: x } }
      - - text: It is here.
expect: { executed: { a: never } }
"#;

#[test]
fn only_failed_cases_are_run_again() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("never.yaml"), NEVER).unwrap();
    let system = ["--system", "reference/simulated", "--system", "reference/blocking"];
    let run = ["run", "never.yaml", "control/", "--seed", "7", "--dialect", "openai-chat", "--out", "one"];
    let first = brickbat(folder.path(), &[&run[..], &system].concat());
    assert_eq!(first.code, Some(4), "{first:?}");
    let again = brickbat(folder.path(), &["run", "--rerun-failed", "one", "--out", "two"]);
    assert_eq!(again.code, Some(4), "{again:?}");
    let note = |out: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(folder.path().join(out).join("run.json")).unwrap()).unwrap()
    };
    let failed = |out: &str| -> Vec<Value> {
        let note = note(out);
        let cases = note["cases"].as_array().unwrap().iter();
        cases.filter(|case| case["verdict"] != "pass").cloned().collect()
    };
    assert_eq!(failed("one").len(), 4, "{:?}", failed("one"));
    assert_eq!(failed("one"), failed("two"));
    assert_eq!(note("two")["arguments"], note("one")["arguments"]);
    assert!(note("one")["cases"].as_array().unwrap().len() > note("two")["cases"].as_array().unwrap().len());
    let (one, two) = (files(&folder.path().join("one")), files(&folder.path().join("two")));
    let requests = two.iter().filter(|(name, _)| name.contains("/requests/"));
    assert!(requests.clone().count() > 4);
    requests.for_each(|(name, text)| assert_eq!(one[name], *text, "{name}"));

    for (args, words) in [
        (vec!["run", "--rerun-failed", "one", "--seed", "8"], "cannot be used with"),
        (vec!["run", "--rerun-failed", "one", "--exclude", "kill/"], "cannot be used with"),
        (vec!["run", "--rerun-failed", "one", "--manifest", "x.yaml"], "cannot be used with"),
        (vec!["run", "--rerun-failed", "one", "--sdk-version", "latest"], "cannot be used with"),
        (vec!["run", "--rerun-failed", "one", "--out", "one"], "name the same directory"),
        (vec!["run", "--rerun-failed", "nowhere"], "nowhere is not a run folder"),
    ] {
        let refused = brickbat(folder.path(), &args);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(words), "{refused:?}");
    }
    let good = ["run", "control/", "--system", "reference/simulated", "--out", "good"];
    assert!(brickbat(folder.path(), &good).code == Some(0));
    let nothing = brickbat(folder.path(), &["run", "--rerun-failed", "good"]);
    assert!(nothing.code == Some(0) && nothing.out.contains("nothing to run again"), "{nothing:?}");
}

#[test]
fn cases_that_a_run_did_not_reach_are_run_again() {
    let folder = TempDir::new().unwrap();
    let run =
        ["run", "control/", "--dialect", "openai-chat", "--system", "reference/simulated", "--out", "one"];
    assert!(brickbat(folder.path(), &run).code == Some(0));
    let path = folder.path().join("one/run.json");
    let mut note: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let cases = note["cases"].as_array_mut().unwrap();
    let missed = cases.iter_mut().find(|case| !case["plan"].as_str().unwrap().ends_with("+control")).unwrap();
    let plan = missed["plan"].as_str().unwrap().to_owned();
    fs::remove_dir_all(folder.path().join("one").join(missed["folder"].as_str().unwrap())).unwrap();
    // An interrupted run leaves this: the plan is listed, and nothing is kept of it.
    missed["verdict"] = "not-run".into();
    let again = |note: &Value| {
        fs::write(&path, note.to_string()).unwrap();
        let listed = brickbat(folder.path(), &["run", "--rerun-failed", "one", "--list"]);
        assert!(listed.code == Some(0), "{listed:?}");
        listed.out
    };
    assert_eq!(again(&note), format!("{plan}\n"));
    // A killed run leaves this: there is no list of what was to run.
    note["finished"] = false.into();
    note["cases"] = Value::Array(Vec::new());
    assert_eq!(again(&note), format!("{plan}\n"));
    // A command with a redacted argument cannot be run again.
    note["arguments"]["command"] = "sh a.sh --key [redacted]".into();
    fs::write(&path, note.to_string()).unwrap();
    let refused = brickbat(folder.path(), &["run", "--rerun-failed", "one"]);
    assert!(refused.err.contains("was not kept"), "{refused:?}");
}

/// A key of a known shape, a secret of the environment, and one that only its headers reveal.
const SHAPED: &str = "sk-ant-api03-planted0123456789abcdefghij";
const SHAPELESS: &str = "Zq7planted-in-the-environment";
const HEADER: &str = "planted-in-a-header-alone";

#[test]
fn a_key_in_an_odd_place_is_in_no_file() {
    let mut record = record(&built_in("control/plain-batch@openai-chat"), None);
    let redactor = Redactor::new([SHAPELESS], None);
    let observed = record.observed.as_mut().unwrap();
    // Of two fields with one name, a JSON parser returns the last.
    observed.exchanges[0].body =
        format!(r#"{{"a":"{SHAPED}","a":"{SHAPELESS}","a":"c"}}"#).into_bytes().into();
    // Long texts are cut, here in the middle of the key.
    let args = "x ".repeat(32 << 10);
    let args = format!("{}{SHAPELESS}", &args[..(64 << 10) - 10]);
    observed.trace.push(Event::ToolStarted { call: None, args });
    let files = record.files(&redactor);
    for file in &files {
        assert!(!file.text.contains("planted") && !file.text.contains(&SHAPELESS[..8]), "{}", file.name);
    }
    let request = files.iter().find(|file| file.name == "requests/001.json").unwrap();
    assert!(request.text.matches("[redacted]").count() == 2, "{}", request.text);
}

#[test]
fn a_planted_key_is_in_no_artefact() {
    let folder = TempDir::new().unwrap();
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let script = include_str!("run_folder/adapter.sh");
    let script =
        script.replace("@SHAPED@", SHAPED).replace("@SHAPELESS@", SHAPELESS).replace("@HEADER@", HEADER);
    for name in ["node", "npm"] {
        fs::write(programs.join(name), &script).unwrap();
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).unwrap();
    let run = |args: &[&str]| {
        let mut command = program::command(folder.path(), args);
        command.env("PATH", &path).env("ACME_API_KEY", SHAPELESS);
        command.env("BRICKBAT_CACHE", folder.path().join("cache"));
        program::finish(command, b"")
    };
    let system = ["--system", "ai-sdk@6.0.326/ui-messages", "--dialect", "anthropic-messages"];
    let reports = ["--out", "out", "--report", "report.json", "--report", "report.xml"];
    let ran = run(&[&["run", "control/plain-batch"][..], &system, &reports].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let shown = run(&["show", "plain-batch@anthropic-messages+control", "--out", "out"]);
    assert!(shown.code == Some(0), "{shown:?}");

    let mut told = files(&folder.path().join("out"));
    for name in ["report.json", "report.xml"] {
        told.insert(format!("the {name}"), fs::read_to_string(folder.path().join(name)).unwrap());
    }
    for (name, text) in
        [("run out", &ran.out), ("run err", &ran.err), ("show out", &shown.out), ("show err", &shown.err)]
    {
        told.insert(name.to_owned(), text.clone());
    }
    for (name, text) in &told {
        for secret in [SHAPED, SHAPELESS, HEADER, "planted"] {
            assert!(!text.contains(secret), "`{secret}` is in {name}: {text}");
        }
    }
    // They were there, and each place is known.
    let marked = |end: &str, n: usize| {
        let found: Vec<&str> =
            told.iter().filter(|(name, _)| name.ends_with(end)).map(|(_, text)| text.as_str()).collect();
        let most = found.iter().map(|text| text.matches("[redacted]").count()).max().unwrap_or(0);
        assert!(most >= n, "{end}: {most} of {n}: {found:?}");
    };
    // Five headers and two in the body.
    marked("/requests/001.json", 7);
    marked("/stderr.txt", 3);
    marked("/store.json", 2);
    marked("/case.json", 1);
    marked("/trace.jsonl", 2);
    marked("the report.json", 1);
    marked("the report.xml", 1);
    marked("run out", 1);
    marked("show out", 1);
}
