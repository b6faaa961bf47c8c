//! The command line as its users see it: arguments in; text, files and an exit code out.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

mod illegal;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use brickbat_rules::dialect::Dialect;
use illegal::ILLEGAL;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Said, command, finish};

/// Runs brickbat in a new folder.
pub fn brickbat(args: &[&str]) -> Said {
    let folder = TempDir::new().unwrap();
    finish(command(folder.path(), args), b"")
}

/// Runs brickbat in that folder.
pub fn brickbat_in(folder: &TempDir, args: &[&str]) -> Said {
    finish(command(folder.path(), args), b"")
}

/// Expects the result of bad input: exit code 2, nothing on standard output, no panic, and these words.
#[track_caller]
pub fn assert_bad(said: &Said, words: &[&str]) {
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert_eq!(said.out, "", "{said:#?}");
    for word in words {
        assert!(said.err.contains(word), "`{word}` is not in {said:#?}");
    }
}

/// One call that runs once, although the scenario forbids it.
const NEVER: &str = r#"schema: 1
comment: A call that may not run.
class: [control]
tools: { lookup: { returns: "found {key}" } }
turns:
  - user: Look it up.
    replies:
      - - call: { as: a, tool: lookup, args: { key: x } }
      - - text: It is here.
expect: { executed: { a: never } }
"#;

pub fn folder_with(name: &str, text: impl AsRef<[u8]>) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

// Runs.

const TWO_DIALECTS: [&str; 4] = ["--dialect", "anthropic-messages", "--dialect", "openai-chat"];

#[test]
fn two_files_of_one_name_stay_distinct() {
    let folder = TempDir::new().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("own.yaml"), NEVER).unwrap();
    }
    assert_bad(&brickbat_in(&folder, &["run", "one", "two"]), &["both called `own`", "one by one"]);
    let twice = brickbat_in(&folder, &["run", "one/own.yaml", "./one/own.yaml", "--list"]);
    assert_eq!(twice.out.lines().count(), Dialect::ALL.len(), "{twice:#?}");
}

#[test]
fn a_folder_of_the_name_of_a_built_in_family_does_not_hide_it() {
    let folder = TempDir::new().unwrap();
    let list = |word: &str| brickbat_in(&folder, &["run", word, "--list", "--dialect", "gemini"]);
    let built_in = list("kill/").out;
    fs::create_dir_all(folder.path().join("kill")).unwrap();
    for word in ["kill/", "kill"] {
        let said = list(word);
        assert_eq!((said.code, said.out.as_str()), (Some(0), built_in.as_str()), "{said:#?}");
        assert!(said.err.contains(&format!("`./{word}`")), "{said:#?}");
    }
    let own = list("./kill/");
    assert!(own.code == Some(2) && own.err.contains("contains no scenario"), "{own:#?}");
}

#[test]
fn a_history_from_the_store_of_a_product_can_be_given() {
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/stored");
    let files = fs::read_dir(stored).unwrap().map(|entry| entry.unwrap().path());
    let n_scenarios = files.filter(|path| path.extension().is_some_and(|ending| ending == "yaml")).count();
    let said = brickbat(&["run", stored, "--list", "--dialect", "anthropic-messages"]);
    assert_eq!((said.code, said.out.lines().count()), (Some(0), n_scenarios), "{said:#?}");
}

#[test]
fn nothing_is_cut_where_there_is_no_terminal() {
    let folder = TempDir::new().unwrap();
    let run = |columns: Option<&str>| {
        let args = ["run", "abort/mid-batch", "--system", "canary/dangling-on-abort/simulated"];
        let mut program = command(folder.path(), &args);
        columns.into_iter().for_each(|columns| {
            program.env("COLUMNS", columns);
        });
        finish(program, b"").out
    };
    let is_cut = |text: &str| text.lines().any(|line| line.ends_with('…'));
    let (log, narrow) = (run(None), run(Some("80")));
    assert!(!is_cut(&log) && is_cut(&narrow), "{log}\n{narrow}");
    assert!(log.contains(" Each `tool_use` block must have a corresponding `tool_result` block"), "{log}");
}

#[test]
fn a_scenario_of_a_user_needs_no_comment_and_no_class_but_a_class_exists() {
    let folder = TempDir::new().unwrap();
    let run = |class: &str| {
        let text = format!("schema: 1\n{class}turns:\n  - user: Hello.\n    replies: [[{{ text: Hi. }}]]\n");
        fs::write(folder.path().join("own.yaml"), text).unwrap();
        brickbat_in(&folder, &["run", "own.yaml", "--list", "--dialect", "gemini"])
    };
    for class in ["", "class: [abort-batch]\n", "class: [control]\n"] {
        assert_eq!(run(class).code, Some(0), "{class}");
    }
    for (class, words) in [
        ("abort-bach", "unknown failure class `abort-bach`\nhint: did you mean `abort-batch`?"),
        ("foo", "unknown failure class `foo`\nhint: `brickbat classes` lists them"),
    ] {
        assert_bad(&run(&format!("class: [{class}]\n")), &["own.yaml", words]);
    }
}

#[test]
fn list_prints_the_ids_of_built_in_plans() {
    let said = brickbat(&[&["run", "--list", "abort/mid-batch"], &TWO_DIALECTS[..]].concat());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:#?}");
    insta::assert_snapshot!(said.out, @r"
    abort/mid-batch#k=0@anthropic-messages
    abort/mid-batch#k=0@openai-chat
    abort/mid-batch#k=1@anthropic-messages
    abort/mid-batch#k=1@openai-chat
    abort/mid-batch#k=2@anthropic-messages
    abort/mid-batch#k=2@openai-chat
    abort/mid-batch#k=3@anthropic-messages
    abort/mid-batch#k=3@openai-chat
    ");
    let all = brickbat(&["run", "--list"]);
    let of_gateways = brickbat(&["run", "--list", "--premise", "gateway,model"]);
    let lines = of_gateways.out.lines();
    assert!(lines.clone().any(|line| line.starts_with("model/same-index")), "{}", of_gateways.out);
    assert!(lines.clone().all(|line| !line.starts_with("abort/") && !line.starts_with("kill/")));
    assert_bad(
        &brickbat(&["run", "--list", "kill/", "--premise", "user"]),
        &["no plan matches all of this selection: ", "--premise user"],
    );
    assert_bad(&brickbat(&["run", "--premise", "weather"]), &["weather", "network"]);
    assert_eq!(all.code, Some(0));
    assert!(said.out.lines().all(|line| all.out.contains(line)), "{}", all.out);
    assert!(all.out.lines().count() > 60, "{}", all.out);
    assert_eq!(all.out, brickbat(&["run", "--list"]).out);
}

#[test]
fn list_prints_the_plans_of_a_file_and_of_a_folder() {
    let folder = folder_with("mine.yaml", NEVER);
    fs::create_dir(folder.path().join("more")).unwrap();
    fs::write(folder.path().join("more/other.yml"), NEVER).unwrap();
    fs::write(folder.path().join("more/notes.txt"), "not a scenario").unwrap();
    let said = brickbat_in(&folder, &["run", "--list", "mine.yaml", "--dialect", "openai-chat"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), "mine@openai-chat\n"), "{said:#?}");
    let said = brickbat_in(&folder, &[&["run", "--list", "."], &TWO_DIALECTS[..]].concat());
    assert_eq!(said.code, Some(0), "{said:#?}");
    insta::assert_snapshot!(said.out, @r"
    mine@anthropic-messages
    mine@openai-chat
    more/other@anthropic-messages
    more/other@openai-chat
    ");
}

#[test]
fn one_plan_passes_on_the_reference_agent() {
    let said = brickbat(&["run", "abort/mid-batch#k=1@anthropic-messages"]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("reference  2 plans: 2 pass, 0 fail"), "{said:#?}");
    assert!(said.out.contains("faults: 1 armed, 1 with receipt"), "{said:#?}");
    assert!(!said.out.contains('\x1b'), "no colour goes into a pipe: {said:#?}");
}

#[test]
fn plans_of_a_dialect_that_the_manifest_does_not_list_run_only_on_demand() {
    let folder = TempDir::new().unwrap();
    let brickbat = json!(env!("CARGO_BIN_EXE_brickbat"));
    let sheet = format!(
        "name: own\nsdk: brickbat-reference\ndescription: Mine.\nversions: [{{ version: {} }}]\n\
         dialects: [openai-chat]\nmodes: [{{ name: thread, description: d }}]\ncommand: [{brickbat}, agent]\n",
        env!("CARGO_PKG_VERSION"),
    );
    fs::write(folder.path().join("system.yaml"), sheet).unwrap();
    let run = |dialect: &[&str]| {
        let args = ["run", "--verbose", "control/plain-batch", "--manifest", "system.yaml"];
        brickbat_in(&folder, &[&args, dialect].concat())
    };
    let said = run(&[]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("2 plans: 2 pass, 0 fail; "), "{said:#?}");
    assert!(said.err.contains("2 of 2 judged"), "{said:#?}");
    let said = run(&["--dialect", "anthropic-messages"]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.out.contains("does not speak anthropic-messages"), "{said:#?}");
}

#[test]
fn reports_are_sorted_and_equal_except_for_timing() {
    let folder = TempDir::new().unwrap();
    let report = |name: &str| {
        let (json, xml) = (format!("{name}.json"), format!("{name}.xml"));
        let args = ["run", "abort/", "--system", "reference/simulated", "--report", &json, "--report", &xml];
        let said = brickbat_in(&folder, &args);
        assert_eq!(said.code, Some(0), "{said:#?}");
        let text = fs::read_to_string(folder.path().join(json)).unwrap();
        let mut report: Value = serde_json::from_str(&text).unwrap();
        let timing = report.as_object_mut().unwrap().remove("timing").unwrap();
        assert!(timing["wall_ms"].is_u64(), "{timing}");
        (report, fs::read_to_string(folder.path().join(xml)).unwrap())
    };
    let (first, xml) = report("one");
    let (second, _) = report("two");
    assert_eq!(first.to_string(), second.to_string());

    let ids: Vec<(&str, &str)> = first["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| (case["system"].as_str().unwrap(), case["plan"].as_str().unwrap()))
        .collect();
    assert!(ids.len() > 20 && ids.is_sorted(), "{ids:#?}");
    // A point inside a call does not exist if calls arrive in one piece.
    let count = |verdict: &str| first["summary"][verdict].as_u64().unwrap_or(0) as usize;
    let (pass, unsupported) = (count("pass"), count("unsupported"));
    assert!(pass + unsupported == ids.len() && pass > 8 * unsupported, "{}", first["summary"]);
    let text = first.to_string();
    let folder = folder.path().to_str().unwrap();
    for machine in [folder, env!("CARGO_MANIFEST_DIR"), "127.0.0.1", "localhost", "wall_ms", "/p/0"] {
        assert!(!text.contains(machine), "`{machine}` is in the report");
    }

    assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</testsuites>"), "{xml}");
    assert_eq!(xml.matches("<testsuite ").count(), 1);
    // A plan that does not apply is not a test.
    assert_eq!(xml.matches("<testcase ").count(), pass);
    assert!(xml.contains("classname=\"reference/simulated.abort\"") && xml.contains(" time=\""), "{xml}");
}

#[test]
fn an_expectation_that_the_reference_agent_breaks_is_exit_code_4() {
    let folder = folder_with("never.yaml", NEVER);
    for system in ["reference", "reference/simulated", "reference/blocking"] {
        let said = brickbat_in(&folder, &["run", "--verbose", "never.yaml", "--system", system]);
        assert_eq!(said.code, Some(4), "{said:#?}");
        let words = [
            "executed-again",
            "call a ran 1 times",
            "expected no run; got 1 runs",
            "again: brickbat run never.yaml",
        ];
        for word in words {
            assert!(said.out.contains(word), "`{word}` is not in {said:#?}");
        }
    }
}

#[test]
fn a_finding_milder_than_fail_on_is_shown_but_not_red() {
    let folder = folder_with("never.yaml", NEVER);
    let args = ["run", "never.yaml", "--system", "reference/simulated", "--fail-on", "bricked"];
    let said = brickbat_in(&folder, &args);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("executed-again"), "{said:#?}");
}

#[test]
fn without_node_a_system_cannot_start_which_is_reported_once() {
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), &["run", "--system", "ai-sdk@6/ui-messages", "abort/mid-batch"]);
    command.env("PATH", folder.path()).env("BRICKBAT_CACHE", folder.path().join("cache"));
    let said = finish(command, b"");
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
    assert_eq!(said.err.matches("node is missing").count(), 1, "{said:#?}");
    assert!(said.err.contains("cannot start ai-sdk@6") && said.err.contains("nodejs.org"), "{said:#?}");
}

// Bad arguments and bad scenarios.

#[test]
fn unknown_names_get_advice() {
    assert_bad(
        &brickbat(&["run", "abort/mid-bach"]),
        &["`abort/mid-bach`", "did you mean `abort/mid-batch`?"],
    );
    assert_bad(&brickbat(&["run", "zzz"]), &["`zzz` is neither a file nor", "`brickbat run --list`"]);
    let system = |name| brickbat(&["run", "control/", "--system", name]);
    assert_bad(&system("ai-skd"), &["unknown system `ai-skd`", "did you mean `ai-sdk`?"]);
    let nobody = system("nope");
    assert_bad(
        &nobody,
        &[
            "unknown system `nope`",
            "agent-framework, agno, ai-sdk, anthropic-sdk, anthropic-sdk-python, apex, ",
            "reference, canary/NAME",
            "`brickbat systems`",
        ],
    );
    assert_bad(&system("refrence"), &["unknown system `refrence`", "did you mean `reference`?"]);
    assert_bad(&system("reference/blockin"), &["did you mean `reference/blocking`?"]);
    assert_bad(&system("ai-sdk@6/ui-mesages"), &["unknown mode `ui-mesages`", "did you mean `ui-messages`?"]);
    assert_bad(&system("ai-sdk@77"), &["unknown version `77`", "there is"]);
    assert_bad(&brickbat(&["run", "--dialect", "openai"]), &["--dialect", "anthropic-messages, openai-chat"]);
    let profile = brickbat(&["run", "--profile", "openai-chat@1999-01"]);
    assert_bad(&profile, &["--profile", "openai-chat@2026-09"]);
    assert_bad(&brickbat(&["run", "--fail-on", "sad"]), &["--fail-on", "any, bricked, bricked-by-provider"]);
    assert_bad(&brickbat(&["run", "--jobs", "0"]), &["--jobs"]);
    assert_bad(&brickbat(&["rum"]), &["rum", "run"]);
}

#[test]
fn nothing_to_run_is_bad_input() {
    let said = brickbat(&["run", "control/", "--filter", "no plan has this"]);
    assert_bad(&said, &["no plan matches", "--list"]);
    let empty = TempDir::new().unwrap();
    assert_bad(&brickbat_in(&empty, &["run", "."]), &["the directory . contains no scenario", ".yaml"]);
}

#[test]
fn a_broken_scenario_is_shown_at_its_place() {
    let folder =
        folder_with("broken.yaml", NEVER.replace("lookup, args: { key: x }", "lookup, args: { key: x"));
    let said = brickbat_in(&folder, &["run", "broken.yaml"]);
    assert_bad(&said, &[]);
    insta::assert_snapshot!(said.err, @r#"
    error: "-" is only valid inside a block
     --> broken.yaml:9:7
      |
    9 |       - - text: It is here.
      |       ^
    "#);

    let twice = NEVER.replace(
        "      - - text",
        "        - call: { as: a, tool: lookup, args: { key: y } }\n      - - text",
    );
    let folder = folder_with("twice.yaml", twice);
    let said = brickbat_in(&folder, &["run", "twice.yaml", "--list"]);
    assert_bad(&said, &["twice.yaml:9:", "`a`", "as: a", "^"]);

    let folder = folder_with("latin.yaml", b"schema: 1\ncomment: caf\xe9\n");
    assert_bad(&brickbat_in(&folder, &["run", "latin.yaml"]), &["latin.yaml", "not UTF-8", "22"]);

    let folder = folder_with("deep.yaml", "[".repeat(100_000));
    assert_bad(&brickbat_in(&folder, &["run", "deep.yaml"]), &["deep.yaml"]);
}

#[test]
fn a_scenario_of_a_gigabyte_is_refused_in_little_memory() {
    let folder = TempDir::new().unwrap();
    File::create(folder.path().join("huge.yaml")).unwrap().set_len(1 << 30).unwrap();
    for what in ["run", "check"] {
        // The address space is half of that, so reading all of it fails.
        let mut command = Command::new("sh");
        let script = r#"ulimit -v 524288 && exec "$0" "$@""#;
        command.args(["-c", script, env!("CARGO_BIN_EXE_brickbat"), what, "huge.yaml"]);
        command.current_dir(folder.path()).stdin(Stdio::null());
        assert_bad(&finish(command, b""), &["huge.yaml", "too large"]);
    }
}

#[test]
fn an_unwritable_report_is_detected_before_the_run() {
    let folder = TempDir::new().unwrap();
    let with = |path| brickbat_in(&folder, &["run", "control/", "--report", path]);
    assert_bad(&with("report.pdf"), &["report.pdf", "must end in .json or .xml or .html or .sarif"]);
    // A run prints what it has judged; this one has judged nothing.
    assert_bad(&with("nowhere/report.json"), &["cannot write nowhere/report.json"]);
    fs::create_dir(folder.path().join("folder.xml")).unwrap();
    assert_bad(&with("folder.xml"), &["cannot write folder.xml"]);
}

// Checks of request bodies.

const VALID: [(Dialect, &str); 3] = [
    (
        Dialect::AnthropicMessages,
        r#"{"model":"claude-opus-4-5","system":"Be brief.","messages":[{"role":"user","content":"Is it raining?"}]}"#,
    ),
    (
        Dialect::OpenaiChat,
        r#"{"model":"gpt-5","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Is it raining?"}]}"#,
    ),
    (
        Dialect::Mistral,
        r#"{"model":"mistral-large-latest","messages":[{"role":"user","content":"Is it raining?"}]}"#,
    ),
];

const INVALID: [(&str, &str, &str); 2] = [
    (
        "anthropic-messages/tool-result-missing",
        "/1/content/0",
        r#"[{"role":"user","content":"Rain?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},
            {"role":"user","content":"Well?"}]"#,
    ),
    (
        "openai-chat/tool-message-missing",
        "/1/tool_calls/0",
        r#"[{"role":"user","content":"Rain?"},
            {"role":"assistant","tool_calls":[{"id":"w1","type":"function","function":{"name":"weather","arguments":"{}"}}]},
            {"role":"user","content":"Well?"}]"#,
    ),
];

#[test]
fn check_accepts_and_refuses_as_the_provider_would() {
    for (dialect, body) in VALID {
        let folder = folder_with("body.json", body);
        let said = brickbat_in(&folder, &["check", "body.json"]);
        assert_eq!(said.code, Some(0), "{said:#?}");
        assert!(said.out.starts_with(&format!("body.json: accepted by {dialect}@")), "{said:#?}");
        let said = finish(command(folder.path(), &["check", "-"]), body.as_bytes());
        assert_eq!((said.code, said.out.contains("accepted")), (Some(0), true), "{said:#?}");
    }
    for (rule, pointer, messages) in INVALID {
        let said = finish(command(Path::new("/"), &["check", "-"]), messages.as_bytes());
        assert_eq!(said.code, Some(1), "{said:#?}");
        let is_told = said.out.contains(&format!("error[{rule}]: "));
        assert!(is_told && said.out.contains(&format!(" at {pointer}\n")), "{said:#?}");
        assert!(said.out.contains("refused by ") && said.out.contains("with status 400"), "{said:#?}");
    }
    // The worst of several files counts: one that cannot be read, then one that is rejected.
    let folder = folder_with("good.json", VALID[0].1);
    fs::write(folder.path().join("bad.json"), INVALID[0].2).unwrap();
    assert_eq!(brickbat_in(&folder, &["check", "bad.json", "good.json"]).code, Some(1));
    assert_eq!(brickbat_in(&folder, &["check", "bad.json", "none.json", "good.json"]).code, Some(2));
}

#[test]
fn an_ambiguous_body_needs_the_dialect() {
    let folder = folder_with("messages.json", r#"[{"role":"user","content":"hi"}]"#);
    let said = brickbat_in(&folder, &["check", "messages.json"]);
    assert_bad(
        &said,
        &["does not show its dialect", "--dialect anthropic-messages or --dialect openai-chat"],
    );
    for dialect in [Dialect::AnthropicMessages, Dialect::OpenaiChat] {
        let said = brickbat_in(&folder, &["check", "messages.json", "--dialect", dialect.name()]);
        assert_eq!(said.code, Some(0), "{said:#?}");
        let said = brickbat_in(&folder, &["check", "messages.json", "--profile", dialect.name()]);
        assert_eq!(said.code, Some(0), "{said:#?}");
    }
}

#[test]
fn check_says_why_it_cannot_read_its_input() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let inputs: [(&str, &[u8], &str); 5] = [
        ("words.json", b"hello", "as JSON: expected value at line 1 column 1"),
        ("empty.json", b"", "as JSON: EOF while parsing a value"),
        ("cut.json", br#"{"messages":[{"role":"us"#, "the request is cut off before its end"),
        ("latin.json", b"{\"messages\":\"caf\xe9\"}", "as JSON: invalid unicode code point"),
        ("deep.json", deep.as_bytes(), "as JSON: recursion limit exceeded"),
    ];
    for (name, bytes, words) in inputs {
        let folder = folder_with(name, bytes);
        assert_bad(&brickbat_in(&folder, &["check", name]), &[name, words]);
    }
    let folder = TempDir::new().unwrap();
    assert_bad(&brickbat_in(&folder, &["check", "none.json"]), &["cannot read none.json: No such file"]);
    assert_bad(&brickbat_in(&folder, &["check", "."]), &["no request in ."]);
    assert_bad(&brickbat_in(&folder, &["check"]), &["<PATH>"]);
    let both = ["check", "-", "--dialect", "gemini", "--profile", "openai-chat@2026-09"];
    assert_bad(&brickbat_in(&folder, &both), &["--profile belongs to openai-chat, but --dialect is gemini"]);
}

#[test]
fn each_illegal_body_is_rejected_by_the_intended_rule() {
    let folder = TempDir::new().unwrap();
    for dialect in Dialect::ALL {
        let of_dialect = |(_, (rule, _)): &(usize, &(&str, &str))| rule.starts_with(dialect.name());
        let bodies: Vec<_> = ILLEGAL.iter().enumerate().filter(of_dialect).collect();
        let names: Vec<String> = bodies.iter().map(|(index, _)| format!("{index}.json")).collect();
        for (name, (_, (_, body))) in names.iter().zip(&bodies) {
            fs::write(folder.path().join(name), body).unwrap();
        }
        let mut args = vec!["check", "--dialect", dialect.name()];
        args.extend(names.iter().map(String::as_str));
        let said = brickbat_in(&folder, &args);
        assert_eq!(said.code, Some(1), "{said:#?}");
        for (name, (_, (rule, body))) in names.iter().zip(&bodies) {
            let lines: Vec<&str> = said.out.lines().collect();
            let of_file = |pair: &&[&str]| pair[1].starts_with(&format!(" --> {name}:"));
            let first = lines.windows(2).find(of_file).and_then(|pair| pair[0].strip_prefix("error["));
            let refusal = first.and_then(|line| line.split(']').next());
            assert_eq!(refusal, Some(*rule), "{body}\n{}", said.out);
            assert!(said.out.contains(&format!("{name}: refused by {dialect}@")), "{body}");
        }
    }
}

// The other commands.

#[test]
fn explain_finds_a_rule_by_each_of_its_names() {
    let by_id = brickbat(&["explain", "anthropic-messages/text-after-tool-use"]);
    assert_eq!(by_id.code, Some(0), "{by_id:#?}");
    assert!(by_id.out.starts_with("anthropic-messages/text-after-tool-use (ANT-TU-3)\n"), "{by_id:#?}");
    assert!(by_id.out.contains("with status 400") && by_id.out.contains("https://"), "{by_id:#?}");
    assert_eq!(brickbat(&["explain", "text-after-tool-use"]).out, by_id.out);
    assert_eq!(brickbat(&["explain", "ANT-TU-3"]).out, by_id.out);
    // A short name that two dialects share means both.
    let both = brickbat(&["explain", "body-not-json"]).out;
    assert!(
        both.contains("anthropic-messages/body-not-json (") && both.contains("openai-chat/body-not-json (")
    );
    let all = brickbat(&["explain"]);
    assert_eq!((all.code, all.err.as_str()), (Some(0), ""));
    assert!(all.out.lines().count() > 40, "{}", all.out);
    assert!(all.out.lines().all(|line| line.contains("  ")), "{}", all.out);
}

#[test]
fn explain_gives_advice_for_an_unknown_name() {
    let advice = [
        ("tool-result-mising", "did you mean `tool-result-missing`?"),
        ("anthropic-messages/tool-result-mising", "did you mean `anthropic-messages/tool-result-missing`?"),
        ("xyz", "lists them all"),
    ];
    for (word, hint) in advice {
        assert_bad(&brickbat(&["explain", word]), &[&format!("nothing is known about `{word}`"), hint]);
    }
}

#[test]
fn systems_help_and_version_are_printed() {
    let systems = brickbat(&["systems"]);
    assert_eq!(systems.code, Some(0), "{systems:#?}");
    for name in [
        "reference\n",
        "reference/acp\n",
        "reference/blocking\n",
        "reference/simulated\n",
        "ai-sdk@6.",
        "speaks ",
    ] {
        assert!(systems.out.contains(name), "`{name}` is not in {systems:#?}");
    }
    let version = brickbat(&["--version"]);
    assert_eq!(version.out, format!("brickbat {}\n", env!("CARGO_PKG_VERSION")));
    let help = brickbat(&["--help"]);
    assert_eq!(help.code, Some(0));
    for word in ["run", "agent", "canaries", "check", "explain", "systems", "verify-adapter", "Exit codes:"] {
        assert!(help.out.contains(word), "`{word}` is not in {help:#?}");
    }
    for name in ["run", "agent", "canaries", "check", "explain", "systems", "verify-adapter"] {
        assert_eq!(brickbat(&[name, "--help"]).code, Some(0), "{name}");
    }
}
