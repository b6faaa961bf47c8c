//! Complete runs on adapters that misbehave in one plan: the error names what happened and the last output,
//! every other plan is judged, and nothing is left running.
//!
//! The adapter is our own agent behind a shell script that passes every line on. It misbehaves at the second
//! prompt of one scenario (the first is its control plan's).

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::program::{BRICKBAT, Said, brickbat, report};
use serde_json::Value;
use tempfile::TempDir;

const SCENARIO: &str = r#"schema: 1
comment: The adapter misbehaves in this plan.
class: [control]
tools: { lookup: { returns: "found {key}" } }
turns:
  - user: Misbehave now.
    replies:
      - - text: Not yet.
        - call: { as: a, tool: lookup, args: { key: x } }
      - - text: Done.
"#;

/// `$id` is the id of the prompt, `$session` its session; text that is written to 3 goes to the harness.
const WRAPPER: &str = r#"
exec 3>&1
field() { printf '%s\n' "$line" | sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'; }
show() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"tool_call_update","toolCallId":"x","status":"%s"}}}\n' "$1" "$2"; }
START
{
while IFS= read -r line; do
    case $line in
        *'"text":"Misbehave now."'*)
            echo >> prompts
            if [ "$(wc -l < prompts)" -gt 1 ]; then
                id=$(field id) session=$(field sessionId)
                MISBEHAVE
            fi ;;
    esac
    printf '%s\n' "$line"
done
END
} | "$BRICKBAT" agent | FILTER
"#;

/// The behaviour of the adapter, in shell: in the turn, at its start and at its end.
struct Bad<'a> {
    /// A filter of the agent's complete output.
    filter: &'a str,
    start: &'a str,
    turn: &'a str,
    end: &'a str,
}

impl Default for Bad<'_> {
    fn default() -> Self {
        Bad { filter: "cat", start: ":", turn: ":", end: ":" }
    }
}

/// Runs the bad plan and some good ones at once.
#[track_caller]
fn run(folder: &Path, bad: &Bad<'_>, options: &[&str]) -> (Said, Vec<Value>) {
    let said = started(folder, bad, options);
    let report = report(&folder.join("r.json"));
    (said, report["cases"].as_array().unwrap().clone())
}

/// The same without the report, which does not exist if the adapter cannot start.
#[track_caller]
fn started(folder: &Path, bad: &Bad<'_>, options: &[&str]) -> Said {
    let script = WRAPPER
        .replace("START", bad.start)
        .replace("MISBEHAVE", bad.turn)
        .replace("END", bad.end)
        .replace("FILTER", bad.filter);
    fs::write(folder.join("bad.sh"), script).unwrap();
    fs::write(folder.join("bad.yaml"), SCENARIO).unwrap();
    // Every process of the run has the folder's name in its environment.
    let mark = folder.to_string_lossy();
    let temporary = folder.join("tmp");
    fs::create_dir(&temporary).unwrap();
    let temporary = temporary.to_string_lossy();
    let variables = [
        ("BRICKBAT", BRICKBAT),
        ("BRICKBAT_TEST_MARK", &*mark),
        ("TMPDIR", &*temporary),
        ("STORES", &*temporary),
    ];
    let args = ["run", "--verbose", "bad.yaml", "abort/mid-batch", "control/", "--dialect", "openai-chat"];
    let more = ["--command", "sh bad.sh", "--report", "r.json"];
    let said = brickbat(folder, &[&args[..], &more, options].concat(), &variables);
    assert_gone(&mark);
    said
}

/// Checks that nothing that the run has started is left. Killed processes may need a moment to disappear.
#[track_caller]
fn assert_gone(mark: &str) {
    let wanted = format!("BRICKBAT_TEST_MARK={mark}");
    let is_of_run = |pid: &Path| {
        let environment = fs::read(pid.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let started = Instant::now();
    loop {
        let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        let left: Vec<String> = entries
            .filter(|pid| is_of_run(pid))
            .map(|pid| fs::read_to_string(pid.join("cmdline")).unwrap_or_default().replace('\0', " "))
            .collect();
        if left.is_empty() {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "left running: {left:#?}");
        std::thread::yield_now();
    }
}

/// The reason of the bad plan's error, in a correct run: that plan is an error, all others pass.
#[track_caller]
fn reason(bad: &Bad<'_>, options: &[&str]) -> String {
    let folder = TempDir::new().unwrap();
    let (said, cases) = run(folder.path(), bad, options);
    assert_eq!(said.code, Some(3), "{said:#?}");
    let (bad, good): (Vec<&Value>, Vec<&Value>) =
        cases.iter().partition(|case| case["plan"] == "bad@openai-chat");
    assert!(good.len() > 6, "{cases:#?}");
    for case in good {
        assert_eq!(case["verdict"], "pass", "{case:#}");
    }
    assert_eq!(bad[0]["verdict"], "harness-error", "{bad:#?}");
    assert!(said.out.contains("bad@openai-chat on brickbat-reference@"), "{said:#?}");
    bad[0]["reason"].as_str().unwrap().to_owned()
}

#[track_caller]
fn check(turn: &str, words: &[&str]) {
    let reason = reason(&Bad { turn, ..Bad::default() }, &[]);
    for word in words {
        assert!(reason.contains(word), "`{word}` is not in `{reason}`");
    }
}

#[test]
fn a_line_that_is_not_the_protocol() {
    check(
        "echo 'no port is free' >&2; echo 'Listening on port 3000' >&3",
        &["not JSON", "`Listening on port 3000`", "the end of its standard error: no port is free"],
    );
}

#[test]
fn a_line_without_end() {
    check("head -c 20000000 /dev/zero | tr '\\0' x >&3", &["a line of more than 8388608 bytes"]);
}

#[test]
fn a_flood_of_updates() {
    // The trace is full, or there are more events than can be read: the machine decides which comes first.
    check("show \"$session\" pending | sed 's/.*/&/;:a;p;ba' | head -n 100000 >&3", &["events"]);
}

#[test]
fn an_unknown_status() {
    check("show \"$session\" done >&3", &["unknown status \"done\" of a call"]);
}

#[test]
fn a_sudden_end() {
    check("echo 'out of memory' >&2; kill -9 $$", &["the adapter ended", "out of memory"]);
}

#[test]
fn a_call_of_a_session_that_is_not_there() {
    check("show session-4711 pending >&3", &["a call in a session that was never opened", "session-4711"]);
}

#[test]
fn an_answer_to_another_question() {
    let answer = r#"{"jsonrpc":"2.0","id":"another","result":{"stopReason":"end_turn"}}"#;
    check(&format!("echo '{answer}' >&3"), &["an answer to a question that was not asked"]);
}

#[test]
fn a_turn_without_an_outcome() {
    let answer = r#"'{"jsonrpc":"2.0","id":"%s","result":{"stopReason":"end_turn"}}\n'"#;
    check(
        &format!("printf {answer} \"$id\" >&3; continue"),
        &["session/prompt contains nothing under `_meta.brickbat`"],
    );
}

#[test]
fn a_refused_turn() {
    let answer = r#"'{"jsonrpc":"2.0","id":"%s","error":{"code":-32603,"message":"disk is gone"}}\n'"#;
    check(
        &format!("echo 'cannot write' >&2; printf {answer} \"$id\" >&3; continue"),
        &["refused session/prompt: disk is gone", "the end of its standard error: cannot write"],
    );
}

#[test]
fn a_store_that_is_full() {
    // Opened before the turn; from then on every write finds the device full.
    let turn =
        "for stored in $(find \"$STORES\" -name \"$session.json\"); do ln -s /dev/full \"$stored.new\"; done";
    check(turn, &["No space left on device"]);
}

#[test]
fn an_adapter_that_stops_answering() {
    let bad = Bad { turn: "echo 'thinking' >&2; sleep 100000", ..Bad::default() };
    let reason = reason(&bad, &["--no-confirm"]);
    assert!(reason.contains("did not answer") && reason.contains("thinking"), "{reason}");
}

#[test]
fn an_adapter_without_a_barrier_that_stops_answering() {
    // An answer to an unknown method proves that an adapter is alive; this one does not answer.
    let filter = r#"sed -u 's/"barrier":true/"barrier":false/'"#;
    let folder = TempDir::new().unwrap();
    let bad = Bad { turn: "sleep 100000", filter, ..Bad::default() };
    let (said, cases) = run(folder.path(), &bad, &["--filter", "bad@", "--no-confirm"]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    let bad = cases.iter().find(|case| case["plan"] == "bad@openai-chat").unwrap();
    let reason = bad["reason"].as_str().unwrap();
    assert!(bad["verdict"] == "harness-error" && reason.contains("did not answer"), "{bad:#}");
}

#[test]
fn a_change_without_an_effect_has_no_receipt() {
    let folder = TempDir::new().unwrap();
    let plan = "transform/summarise-then-tools@openai-chat";
    let verdict = |filter: &str| {
        let script = format!("'{BRICKBAT}' agent | sed -u '{filter}'\n");
        fs::write(folder.path().join("idle.sh"), script).unwrap();
        let args = ["run", plan, "--command", "sh idle.sh", "--report", "r.json", "--no-confirm"];
        brickbat(folder.path(), &args, &[]);
        let report = report(&folder.path().join("r.json"));
        let case = report["cases"].as_array().unwrap().iter().find(|case| case["plan"] == plan).unwrap();
        case["verdict"].clone()
    };
    assert_eq!(verdict(""), "pass");
    assert_eq!(verdict(r#"s/"result":{}/"result":{"changed":false}/"#), "vacuous");
}

#[test]
fn a_failure_that_does_not_recur_stays() {
    let turn = r#"[ "$(wc -l < prompts)" -eq 2 ] && kill -9 $$"#;
    let folder = TempDir::new().unwrap();
    let (said, cases) = run(folder.path(), &Bad { turn, ..Bad::default() }, &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    let bad = cases.iter().find(|case| case["plan"] == "bad@openai-chat").unwrap();
    assert_eq!(bad["verdict"], "harness-error", "{bad:#}");
    assert_eq!(bad["repeats"]["alone"], false, "{bad:#}");
    assert!(said.out.contains("1 of 2 runs, never when run alone"), "{said:#?}");
}

#[test]
fn a_system_that_hangs_in_a_living_adapter() {
    let folder = TempDir::new().unwrap();
    let (said, cases) = run(folder.path(), &Bad { turn: "continue", ..Bad::default() }, &["--no-confirm"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    let bad = cases.iter().find(|case| case["plan"] == "bad@openai-chat").unwrap();
    assert_eq!(bad["verdict"], "fail", "{bad:#}");
    let is_hang = |finding: &Value| finding["check"] == "turn-ends" && finding["harm"] == "hang";
    assert!(bad["findings"].as_array().unwrap().iter().any(is_hang), "{bad:#}");
    assert!(cases.iter().filter(|case| *case != bad).all(|case| case["verdict"] == "pass"), "{cases:#?}");
}

#[test]
fn an_adapter_that_does_not_exit_is_killed_with_its_children() {
    let folder = TempDir::new().unwrap();
    let bad = Bad {
        filter: "cat",
        start: "trap '' TERM HUP; sleep 100000 & sleep 100001 >/dev/null 2>&1 &",
        turn: ":",
        end: "sleep 100002",
    };
    let (said, cases) = run(folder.path(), &bad, &[]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(cases.iter().all(|case| case["verdict"] == "pass"), "{cases:#?}");
}

#[test]
fn an_adapter_that_cannot_start_is_one_error_before_any_plan() {
    for (start, words) in
        [("echo 'cannot find module' >&2; exit 3", "cannot find module"), ("echo 'Welcome!'", "`Welcome!`")]
    {
        let folder = TempDir::new().unwrap();
        let said = started(folder.path(), &Bad { start, ..Bad::default() }, &[]);
        assert_eq!(said.code, Some(2), "{said:#?}");
        assert!(said.err.contains("cannot start ") && said.err.contains(words), "{said:#?}");
        assert!(said.out.is_empty() && !folder.path().join("r.json").exists(), "{said:#?}");
    }
}

#[test]
fn the_error_names_a_temporary_folder_that_is_not_writable() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("ok.yaml"), SCENARIO).unwrap();
    let command = format!("{BRICKBAT} agent");
    let args = ["run", "--verbose", "ok.yaml", "--command", &command];
    let said = brickbat(folder.path(), &args, &[("TMPDIR", "/proc/self/no/such")]);
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert!(said.err.contains("cannot start ") && said.err.contains("temporary folder"), "{said:#?}");
}

/// An adapter that uses the API of another dialect than the requested one.
fn at_the_api_of(asked: &str) -> String {
    format!("sed -u 's/\"dialect\":\"[a-z-]*\"/\"dialect\":\"{asked}\"/' | '{BRICKBAT}' agent\n")
}

#[test]
fn the_api_of_another_dialect() {
    for (own, asked) in [
        ("openai-chat", "openai-responses"),
        ("anthropic-messages", "openai-chat"),
        ("gemini", "anthropic-messages"),
        ("mistral", "bedrock-converse"),
    ] {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("lost.sh"), at_the_api_of(asked)).unwrap();
        let args = ["run", "control/plain-batch", "abort/mid-batch", "--dialect", own, "--no-out"];
        let more = ["--command", "sh lost.sh", "--report", "r.json"];
        let said = brickbat(folder.path(), &[&args[..], &more].concat(), &[]);
        assert_eq!(said.code, Some(3), "{said:#?}");
        assert!(!said.out.contains("bricked"), "{said:#?}");
        let report = report(&folder.path().join("r.json"));
        for case in report["cases"].as_array().unwrap() {
            let verdict = case["verdict"].as_str().unwrap();
            if verdict == "inconclusive" {
                continue;
            }
            assert_eq!(verdict, "harness-error", "{case:#}");
            let reason = case["reason"].as_str().unwrap();
            assert!(reason.contains(&format!("the system asks {asked} (POST /")), "{reason}");
            assert!(reason.contains(&format!("the dialect of this session is {own}")), "{reason}");
        }
        assert!(said.out.contains(&format!("the system asks {asked}")), "{said:#?}");
    }
}

#[test]
fn verify_adapter_names_the_api_of_another_dialect() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("lost.sh"), at_the_api_of("openai-responses")).unwrap();
    let args = ["verify-adapter", "--command", "sh lost.sh"];
    let said = brickbat(folder.path(), &args, &[]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    let words = "the system asks openai-responses (POST /v1/responses), but the dialect of this session is anthropic-messages";
    assert!(said.out.replace('\n', " ").contains(words), "{said:#?}");
}
