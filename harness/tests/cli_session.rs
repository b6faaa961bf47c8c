//! Stored sessions on the command line: `session`, `repair`, `check --fix` and `import`.

use std::fs;

use crate::program::{Said, brickbat, folder_of};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A batch of two calls of which one has no result, on three lines.
const BROKEN: &str = r#"{"model":"claude-sonnet-5","max_tokens":1024,"messages":[
  {"role":"user","content":"The private question."},
  {"role":"assistant","content":[{"type":"tool_use","id":"toolu_secret1","name":"private_tool","input":{"path":"/home/me"}},{"type":"tool_use","id":"toolu_secret2","name":"private_tool","input":{}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_secret1","content":"private result"},{"type":"text","text":"And now?"}]}]}"#;
const HEALTHY: &str =
    r#"{"model":"claude-sonnet-5","max_tokens":1024,"messages":[{"role":"user","content":"Rain?"}]}"#;

/// Texts that must not be in a report or in a scenario.
const PRIVATE: [&str; 5] = ["private", "secret", "/home/me", "And now?", "claude-sonnet-5"];

fn said(folder: &TempDir, args: &[&str]) -> Said {
    brickbat(folder.path(), args, &[])
}

#[test]
fn a_survey_lists_bricked_sessions_without_their_content() {
    let folder = folder_of(&[("a/broken.json", BROKEN), ("a/healthy.json", HEALTHY), ("a/other.json", "{}")]);
    let survey = said(&folder, &["session", "a"]);
    assert_eq!(survey.code, Some(1), "{survey:#?}");
    assert_eq!(
        survey.out,
        "2 sessions of request body: 1 accepted, 1 BRICKED.\n  BRICKED  a/broken.json  anthropic-messages/tool-result-missing\n"
    );
    assert_eq!(survey.err.trim(), "1 other files were skipped");
    for format in ["json", "sarif"] {
        let report = said(&folder, &["session", "a", "--format", format]);
        assert_eq!(report.code, Some(1), "{report:#?}");
        serde_json::from_str::<Value>(&report.out).unwrap();
        for words in PRIVATE {
            assert!(!report.out.contains(words), "{words} in {}", report.out);
        }
        assert_eq!(report.out, said(&folder, &["session", "a", "--format", format]).out);
    }
}

/// An agent of Strands, which is a folder.
fn strands(message: &str) -> TempDir {
    folder_of(&[
        ("session_1/session.json", r#"{"session_id":"1","session_type":"AGENT"}"#),
        (
            "session_1/agents/agent_a/agent.json",
            r#"{"agent_id":"a","state":{},"conversation_manager_state":{"removed_message_count":0}}"#,
        ),
        ("session_1/agents/agent_a/messages/message_0.json", message),
        ("notes.json", "{}"),
    ])
}

#[test]
fn the_files_of_a_folder_with_a_session_are_not_other_files() {
    let healthy = r#"{"message_id":0,"message":{"role":"user","content":[{"text":"Rain?"}]}}"#;
    let survey = said(&strands(healthy), &["session", "."]);
    assert_eq!(survey.out, "1 session of Strands: 1 accepted.\n", "{survey:#?}");
    assert_eq!(survey.err.trim(), "1 other files were skipped", "only the notes");
}

#[test]
fn a_session_that_is_only_read_gets_no_advice_to_repair_it() {
    let empty = r#"{"message_id":0,"message":{"role":"user","content":[{"text":""}]}}"#;
    let (folder, agent) = (strands(empty), "session_1/agents/agent_a/agent.json");
    let shown = said(&folder, &["session", agent]);
    assert_eq!(shown.code, Some(1), "{shown:#?}");
    assert!(!shown.out.contains("brickbat repair"), "{}", shown.out);
    assert!(
        shown.out.contains("Brickbat reads the sessions of Strands and does not write them."),
        "{}",
        shown.out
    );
    let saved = format!("brickbat session {agent} --request > body.json\n  brickbat check --fix body.json\n");
    assert!(shown.out.ends_with(&saved), "{}", shown.out);
    let beyond = said(&folder, &["repair", agent]);
    assert!(beyond.out.contains("`brickbat check --fix`"), "{}", beyond.out);
}

#[test]
fn a_repair_writes_a_copy_that_is_accepted_and_leaves_the_original() {
    let folder = folder_of(&[("broken.json", BROKEN)]);
    let repaired = said(&folder, &["repair", "broken.json"]);
    assert_eq!(repaired.code, Some(0), "{repaired:#?}");
    assert!(repaired.out.starts_with("1 edit, nothing lost.\n"), "{}", repaired.out);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("broken.json"), BROKEN);
    let copy = read("broken.repaired.json");
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&copy)[..3], lines(BROKEN)[..3], "only the message of the results changes");
    assert!(copy.contains("No result of this call was recorded."), "{copy}");
    assert_eq!(said(&folder, &["session", "broken.repaired.json"]).code, Some(0));
    let again = said(&folder, &["repair", "broken.repaired.json"]);
    assert_eq!((again.code, again.out.as_str()), (Some(0), "healthy: nothing written.\n"));
    let twice = said(&folder, &["repair", "broken.json"]);
    assert_eq!(twice.code, Some(2), "a copy is never overwritten: {twice:#?}");
    assert_eq!(
        twice.err,
        "error: broken.repaired.json already exists\nhint: choose another file with --out\n"
    );
    assert_eq!(said(&folder, &["repair", "broken.json", "--out", "other.json"]).code, Some(0));
}

/// A session is private, and so is everything that is made from it.
#[cfg(unix)]
#[test]
fn a_text_report_lists_a_thousand_edits_and_counts_the_others() {
    let block = |n| json!({ "type": "tool_use", "id": format!("toolu_{n}"), "name": "look", "input": {} });
    let calls: Vec<Value> = (0..1_250).map(block).collect();
    let messages = json!([
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": calls },
        { "role": "user", "content": "And now?" },
    ]);
    let body = json!({ "model": "claude-sonnet-5", "max_tokens": 1024, "messages": messages });
    let folder = folder_of(&[("long.json", &body.to_string())]);
    let repaired = said(&folder, &["repair", "long.json"]);
    assert_eq!(repaired.code, Some(0), "{repaired:#?}");
    assert!(repaired.out.starts_with("1250 edits, nothing lost.\n"), "{}", &repaired.out[..200]);
    assert_eq!(repaired.out.lines().filter(|line| line.starts_with("  /messages/1/content/")).count(), 1_000);
    assert!(repaired.out.contains("\n  … and 250 more; `--format json` lists them all\n"));
    let listed = said(&folder, &["repair", "long.json", "--dry-run", "--format", "json"]);
    let report: Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(report["edits"].as_array().unwrap().len(), 1_250, "{report}");
}

#[test]
fn files_made_from_a_private_session_are_private() {
    use std::os::unix::fs::PermissionsExt;

    for bits in [0o600, 0o640] {
        let folder = folder_of(&[("broken.json", BROKEN)]);
        fs::set_permissions(folder.path().join("broken.json"), fs::Permissions::from_mode(bits)).unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        for (args, made, expected) in [
            (&["repair", "broken.json"][..], &["broken.repaired.json"][..], bits),
            (&["repair", "broken.json", "--out", "other.json"], &["other.json"], bits),
            (&["check", "--fix", "broken.json"], &["broken.fixed.json"], bits),
            (&["import", "broken.json", "--out", "mine.yaml"], &["mine.yaml", "mine.json"], 0o600),
            (&["repair", "broken.json", "--write"], &["broken.json", "broken.json.backup-1"], bits),
        ] {
            let run = said(&folder, args);
            assert_eq!(run.code, Some(0), "{args:?}: {run:#?}");
            for name in made {
                assert_eq!(mode(name), expected, "{args:?} makes {name}");
            }
        }
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".brickbat-")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_file_is_replaced_only_with_a_backup_and_while_no_process_has_it_open() {
    let folder = folder_of(&[("broken.json", BROKEN)]);
    let path = folder.path().join("broken.json");
    // Another process holds the file: `tail` follows it until it is killed.
    let mut holder = std::process::Command::new("tail")
        .args(["-f", "broken.json"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut first).unwrap();
    let refused = said(&folder, &["repair", "broken.json", "--write"]);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.err.contains("has this file open"), "{}", refused.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), BROKEN);
    let written = said(&folder, &["repair", "broken.json", "--write"]);
    assert_eq!(written.code, Some(0), "{written:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("broken.json.backup-1")).unwrap(), BROKEN);
    assert_eq!(said(&folder, &["session", "broken.json"]).code, Some(0));
}

#[cfg(unix)]
#[test]
fn the_target_of_a_link_is_replaced() {
    let folder = folder_of(&[("kept/broken.json", BROKEN)]);
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink("kept/broken.json", &link).unwrap();
    let written = said(&folder, &["repair", "link.json", "--write"]);
    assert_eq!(written.code, Some(0), "{written:#?}");
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(folder.path().join("kept/broken.json.backup-1")).unwrap(), BROKEN);
    assert_eq!(said(&folder, &["session", "kept/broken.json"]).code, Some(0));
}

#[test]
fn a_repair_that_the_product_undoes_is_reported_with_a_workaround() {
    let name = "result-stored-twice.jsonl";
    let store = include_str!("../../corpora/sessions/gemini-cli/result-stored-twice.jsonl");
    let folder = folder_of(&[(name, store)]);
    let text = said(&folder, &["repair", "--dry-run", name]);
    assert_eq!(text.code, Some(0), "{text:#?}");
    let issue = "https://github.com/google-gemini/gemini-cli/issues/29365";
    for words in ["This repair holds for one resume", "repair the session again before each resume", issue] {
        assert!(text.out.contains(words), "{words}: {}", text.out);
    }
    let json = said(&folder, &["repair", "--format", "json", "--out", "copy.jsonl", name]);
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((report["outcome"].as_str(), report["lasts"].as_bool()), (Some("mended"), Some(false)));
    assert_eq!(report["relapse"]["source"], issue);
    assert!(report["relapse"]["way_out"].as_str().is_some_and(|words| !words.is_empty()), "{report:#}");
    assert_eq!(report["written"], "copy.jsonl");

    // Another fault of the same product, and a repair of another product, last.
    let lasting = include_str!("../../corpora/sessions/gemini-cli/batch-partly-answered.jsonl");
    let folder = folder_of(&[(name, lasting), ("broken.json", BROKEN)]);
    for path in [name, "broken.json"] {
        let text = said(&folder, &["repair", "--dry-run", path]);
        assert_eq!((text.code, text.out.contains("holds for")), (Some(0), false), "{text:#?}");
        let json = said(&folder, &["repair", "--dry-run", "--format", "json", path]);
        let report: Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!((report["lasts"].as_bool(), &report["relapse"]), (Some(true), &Value::Null));
        assert_eq!((&report["written"], report["edits"].as_array().map(Vec::len)), (&Value::Null, Some(1)));
    }
}

/// Two results of one call that differ: to choose between them would be a guess.
const CONTRADICTION: &str = r#"{"model":"claude-sonnet-5","max_tokens":1024,"messages":[
  {"role":"user","content":"The private question."},
  {"role":"assistant","content":[{"type":"text","text":"A private answer."}]},
  {"role":"user","content":"And then?"},
  {"role":"assistant","content":[{"type":"tool_use","id":"toolu_secret1","name":"private_tool","input":{}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_secret1","content":"private one"},{"type":"tool_result","tool_use_id":"toolu_secret1","content":"private two"}]}]}"#;

#[test]
fn an_irreparable_session_is_reported_with_a_workaround() {
    // Nothing that the provider accepts comes before it.
    let at = CONTRADICTION.find("  {\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\"").unwrap();
    let from_the_start = format!("{}{}", CONTRADICTION.lines().next().unwrap(), &CONTRADICTION[at..]);
    let folder = folder_of(&[("late.json", CONTRADICTION), ("first.json", &from_the_start)]);
    for (path, way_out) in [("late.json", "`--truncate` ends"), ("first.json", "Begin a new session")] {
        let text = said(&folder, &["repair", path]);
        assert_eq!(text.code, Some(1), "{text:#?}");
        assert!(text.out.contains(way_out), "{}", text.out);
        let json = said(&folder, &["repair", "--format", "json", path]);
        let report: Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!((json.code, report["outcome"].as_str()), (Some(1), Some("beyond")));
        assert!(report["way_out"].as_str().is_some_and(|words| words.starts_with(way_out)), "{report:#}");
        for words in PRIVATE {
            assert!(!json.out.contains(words) && !text.out.contains(words), "{words}: {}", json.out);
        }
    }
    assert!(!folder.path().join("late.repaired.json").exists());
}

#[test]
fn a_folder_is_surveyed_although_one_inside_it_cannot_be_read() {
    let deep = vec!["d"; 40].join("/");
    let folder = folder_of(&[("a/broken.json", BROKEN), (&format!("a/{deep}/healthy.json"), HEALTHY)]);
    let survey = said(&folder, &["session", "a"]);
    assert_eq!(survey.code, Some(2), "{survey:#?}");
    assert!(survey.out.contains("1 BRICKED"), "{}", survey.out);
    assert!(survey.err.contains("nested more than"), "{}", survey.err);
    let imported = said(&folder, &["import", "a", "--explain"]);
    assert_eq!(imported.code, Some(2), "{imported:#?}");
    assert!(imported.out.contains("1 session with tool-result-missing-"), "{}", imported.out);
}

/// A fork of Codex is in another folder than the rollout in which it begins.
#[test]
fn a_fork_is_judged_with_the_rollout_that_it_refers_to() {
    let record = |ordinal: u64, kind: &str, payload: Value| {
        let time = "2026-11-25T08:00:00Z";
        json!({ "timestamp": time, "ordinal": ordinal, "type": kind, "payload": payload }).to_string()
    };
    let meta = |ordinal: u64, id: &str, base: Value| {
        let payload =
            json!({ "id": id, "history_mode": "paginated", "history_base": base, "cli_version": "0.169.0" });
        record(ordinal, "session_meta", payload)
    };
    let said_by_user = |ordinal: u64| {
        let content = json!([{ "type": "input_text", "text": "Look." }]);
        record(ordinal, "response_item", json!({ "type": "message", "role": "user", "content": content }))
    };
    let base = json!({ "thread_id": "t-parent", "end_ordinal_exclusive": 2, "end_byte_offset": 300 });
    let parent = [meta(0, "t-parent", Value::Null), said_by_user(1), said_by_user(2)].join("\n");
    let fork = [meta(2, "t-fork", base), said_by_user(3)].join("\n");
    let path = "sessions/2026/11/25/rollout-2-t-fork.jsonl";
    let folder = folder_of(&[(path, &fork), ("sessions/2026/10/01/rollout-1-t-parent.jsonl", &parent)]);
    let report = said(&folder, &["session", "--format", "json", path]);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    let [session] = report["sessions"].as_array().unwrap().as_slice() else { panic!("{report:#}") };
    assert_eq!((session["verdict"].as_str(), session["messages"].as_u64()), (Some("accepted"), Some(2)));
    let alone = folder_of(&[(path, &fork)]);
    assert!(said(&alone, &["session", path]).out.contains("excerpt"));
}

#[test]
fn a_file_that_is_not_a_session_gets_a_clear_error() {
    let folder = folder_of(&[("other.json", "{\"a\":1}"), ("torn.json", "{\"messages\":[")]);
    for (path, words) in [
        ("other.json", "not the store of any known product"),
        ("torn.json", "not the store of any known product"),
        ("nothing.json", "cannot read nothing.json"),
        ("/dev/zero", "not a regular file"),
    ] {
        let session = said(&folder, &["session", path]);
        assert_eq!(session.code, Some(2), "{session:#?}");
        assert!(session.err.contains(words), "{}", session.err);
        assert_eq!(said(&folder, &["repair", path]).code, Some(2));
    }
}

#[test]
fn a_fix_is_shown_or_written_next_to_the_request() {
    let folder = folder_of(&[("broken.json", BROKEN), ("healthy.json", HEALTHY)]);
    let diff = said(&folder, &["check", "--diff", "broken.json"]);
    assert_eq!(diff.code, Some(0), "{diff:#?}");
    let added: Vec<&str> =
        diff.out.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).collect();
    assert_eq!(added.len(), 1, "{}", diff.out);
    assert!(!folder.path().join("broken.fixed.json").exists());
    let fixed = said(&folder, &["check", "--fix", "broken.json", "healthy.json"]);
    assert_eq!(fixed.code, Some(0), "{fixed:#?}");
    assert_eq!(said(&folder, &["check", "broken.fixed.json"]).code, Some(0));
    assert!(!folder.path().join("healthy.fixed.json").exists());
    let twice = said(&folder, &["check", "--fix", "broken.json"]);
    assert_eq!(twice.code, Some(2), "{twice:#?}");
    assert!(twice.err.contains("hint: move it away, or remove it"), "{}", twice.err);
}

/// One fault in one form is one scenario, whatever the texts are.
#[test]
fn two_sessions_with_one_fault_make_one_scenario() {
    let other = BROKEN.replace("private", "other").replace("secret", "else").replace("And now?", "Hello?");
    let folder = folder_of(&[("one.json", BROKEN), ("two.json", &other)]);
    let explained = |name: &str| said(&folder, &["import", name, "--explain"]).out;
    assert!(
        explained("one.json").contains("given: { history: tool-result-missing-"),
        "{}",
        explained("one.json")
    );
    assert_eq!(explained("one.json"), explained("two.json"));
}

#[test]
fn an_imported_scenario_keeps_the_fault_but_no_text() {
    let folder = folder_of(&[("broken.json", BROKEN), ("healthy.json", HEALTHY)]);
    let imported = said(&folder, &["import", "broken.json", "--out", "mine.yaml"]);
    assert_eq!(imported.code, Some(0), "{imported:#?}");
    for name in ["mine.yaml", "mine.json"] {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        for words in PRIVATE {
            assert!(!text.contains(words), "{words} in {text}");
        }
    }
    let run = said(&folder, &["run", "--system", "reference", "mine.yaml", "--no-out"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let healthy = said(&folder, &["import", "healthy.json"]);
    assert_eq!(healthy.code, Some(2));
    assert!(healthy.err.contains("not bricked"), "{}", healthy.err);
}

#[test]
fn a_closed_loop_without_a_readable_store_shows_nothing() {
    let folder = folder_of(&[]);
    for system in ["reference/simulated", "reference/acp"] {
        let args = ["closed-loop", "kill/mid-batch", "--system", system, "--dialect", "openai-chat"];
        let none = said(&folder, &args);
        assert_eq!(none.code, Some(3), "{none:#?}");
        assert!(none.err.contains("no stored session could be judged"), "{none:#?}");
    }
}

/// A result without a call.
const ORPHAN: &str = r#"{"model":"claude-sonnet-5","max_tokens":1024,"messages":[
  {"role":"user","content":"The private question."},
  {"role":"assistant","content":[{"type":"text","text":"A private answer."}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_secret9","content":"private result"}]},
  {"role":"assistant","content":[{"type":"text","text":"Another."}]}]}"#;

#[test]
fn a_folder_makes_one_scenario_for_each_fault_with_a_count() {
    let other = BROKEN.replace("private", "other").replace("secret", "else").replace("And now?", "Hello?");
    let folder = folder_of(&[
        ("a/one.json", BROKEN),
        ("a/two.json", &other),
        ("a/three.json", ORPHAN),
        ("a/healthy.json", HEALTHY),
        ("a/other.json", "{}"),
    ]);
    let imported = said(&folder, &["import", "a", "--out", "found"]);
    assert_eq!(imported.code, Some(0), "{imported:#?}");
    assert!(imported.out.contains("2 sessions with tool-result-missing-"), "{}", imported.out);
    assert!(imported.out.contains("1 session with tool-result-orphan-"), "{}", imported.out);
    let last = "4 sessions: 3 bricked with 2 faults, 1 not bricked, 0 with a fault that cannot be named; 1 file from no known product.\n";
    assert!(imported.out.ends_with(last), "{}", imported.out);
    let written = fs::read_dir(folder.path().join("found")).unwrap();
    let histories = written
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "json"));
    assert_eq!(histories.count(), 2);
    let again = said(&folder, &["import", "a", "--out", "found"]);
    assert_eq!(again.code, Some(2), "{again:#?}");
    assert!(again.err.contains("already exists"), "{}", again.err);
}

/// The complete path of a broken session with private texts: a scenario, a smaller one, a regression, and a
/// verdict.
#[test]
fn an_imported_scenario_is_replayed_shrunk_and_promoted() {
    let folder = folder_of(&[("orphan.json", ORPHAN)]);
    let imported = said(&folder, &["import", "orphan.json", "--out", "mine.yaml"]);
    assert_eq!(imported.code, Some(0), "{imported:#?}");
    let history = fs::read_to_string(folder.path().join("mine.json")).unwrap();
    let history: Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history["lost"].as_array().map(Vec::len), Some(1), "{history:#}");
    assert!(!history.to_string().contains("secret9"));
    let replayed = said(&folder, &["replay", "mine.yaml"]);
    assert_eq!(replayed.code, Some(1), "{replayed:#?}");
    assert!(replayed.out.starts_with("STILL FAILS: 3 of 3 runs show it\n"), "{}", replayed.out);
    let fixed = said(&folder, &["replay", "mine.yaml", "--system", "reference"]);
    assert!(fixed.out.starts_with("FIXED: 0 of 3 runs show it\n"), "{fixed:#?}");
    let nowhere = said(&folder, &["shrink", "mine.yaml"]);
    assert_eq!(nowhere.code, Some(2), "{nowhere:#?}");
    let shrunk = said(&folder, &["shrink", "mine.yaml", "--out", "small.yaml"]);
    assert_eq!(shrunk.code, Some(0), "{shrunk:#?}");
    let text = fs::read_to_string(folder.path().join("small.yaml")).unwrap();
    assert!(text.contains("history: small.json"), "{text}");
    let promoted = said(&folder, &["promote", "small.yaml", "--into", "kept"]);
    assert_eq!(promoted.code, Some(0), "{promoted:#?}");
    assert_eq!(fs::read_dir(folder.path().join("kept")).unwrap().count(), 2);
    let twice = said(&folder, &["promote", "small.yaml", "--into", "kept"]);
    assert!(twice.err.contains("shows the same failure"), "{twice:#?}");
}

#[test]
fn a_cause_that_the_store_shows_becomes_a_scenario() {
    let open = BROKEN.replace(",{\"type\":\"text\",\"text\":\"And now?\"}", "");
    let folder = folder_of(&[("open.json", &open), ("orphan.json", ORPHAN)]);
    let imported = said(&folder, &["import", "open.json", "--out", "mine.yaml"]);
    assert_eq!(imported.code, Some(0), "{imported:#?}");
    assert!(
        imported.out.contains("calls had begun, and nothing was recorded after them"),
        "{}",
        imported.out
    );
    let cause = fs::read_to_string(folder.path().join("mine-cause.yaml")).unwrap();
    for words in PRIVATE {
        assert!(!cause.contains(words), "{words} in {cause}");
    }
    assert_eq!(said(&folder, &["replay", "mine-cause.yaml"]).code, Some(1));
    assert_eq!(said(&folder, &["replay", "mine-cause.yaml", "--system", "reference"]).code, Some(0));
    let orphan = said(&folder, &["import", "orphan.json", "--explain"]);
    assert!(orphan.out.contains("The store does not show how the thread broke.\n"), "{}", orphan.out);
}

/// A Kimi session with arguments that were cut (<https://github.com/MoonshotAI/kimi-cli/issues/2165>).
#[test]
fn arguments_that_only_some_servers_refuse_are_a_warning() {
    let lines = [
        r#"{"role":"_system_prompt","content":"You are a helper."}"#,
        r#"{"role":"user","content":"Run it."}"#,
        r#"{"role":"assistant","content":"","tool_calls":[{"type":"function","id":"s:1","function":{"name":"Shell","arguments":"{\"command\": \"./run.sh\", description\": \"a\"}"}}]}"#,
        r#"{"role":"tool","content":"error","tool_call_id":"s:1"}"#,
        r#"{"role":"_checkpoint","id":1}"#,
    ];
    let folder = folder_of(&[("context.jsonl", &lines.join("\n"))]);
    let judged = said(&folder, &["session", "context.jsonl"]);
    assert_eq!(judged.code, Some(0), "{judged:#?}");
    assert!(judged.out.contains("accepted\nwarning  line 3  openai-chat/arguments-not-json"), "{judged:#?}");
}
