//! `brickbat verify-adapter`: the reference adapter passes, and a bad adapter for each probe is caught by it.
//!
//! The bad adapters are the reference adapter behind filters of its lines, in `sh` and `sed`.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::probes::{examine_each, with};
use crate::program::{BRICKBAT, Said, brickbat};

/// Every probe, in the order of the report.
const PROBES: [&str; 16] = [
    "introduces-itself",
    "silent-on-stdout",
    "holds-a-conversation",
    "keeps-native-ids",
    "sends-prompts-once",
    "passes-the-stop-on",
    "awaits-the-turn",
    "tells-the-outcome",
    "isolates-sessions",
    "reloads-sessions",
    "honours-the-mode",
    "answers-extensions",
    "changes-the-history",
    "keeps-its-claims",
    "survives-many-plans",
    "ends-with-its-input",
];

fn verify(folder: &Path, args: &[&str]) -> Said {
    brickbat(folder, &[&["verify-adapter"], args].concat(), &[])
}

/// The results of the probes for an adapter that is a shell script; `AGENT` in it is the reference adapter.
fn examine(script: &str) -> (Option<i32>, Value) {
    let folder = TempDir::new().unwrap();
    let script = script.replace("AGENT", &format!("'{BRICKBAT}' agent"));
    std::fs::write(folder.path().join("adapter.sh"), script).unwrap();
    let output = verify(folder.path(), &["--command", "sh adapter.sh", "--format", "json"]);
    let found = serde_json::from_str(&output.out);
    (output.code, found.unwrap_or_else(|error| panic!("{error}: {output:?}")))
}

/// Expects that only these probes catch the script, and that the first has these words.
#[track_caller]
fn caught(script: &str, probes: &[&str], words: &str) {
    let (code, found) = examine(script);
    let failed = with(&found, "failed", "seen");
    let names: Vec<&str> = failed.iter().map(|(probe, _)| *probe).collect();
    assert_eq!(names, probes, "{found:#}");
    assert!(failed[0].1.contains(words), "{found:#}");
    assert_eq!(code, Some(1), "{found:#}");
    assert!(with(&found, "failed", "hint").iter().all(|(_, hint)| hint.len() > 20), "{found:#}");
}

/// The reference adapter with filters of the incoming and outgoing lines.
fn filtered(input: &str, output: &str) -> String {
    format!("sed -u '{input}' | AGENT | sed -u '{output}'")
}

#[test]
fn each_adapter_gets_the_expected_result() {
    examine_each(&ADAPTERS);
}

/// The adapters, each with the expected result.
const ADAPTERS: [(&str, fn()); 38] = [
    ("words on standard error are free", || {
        // Each incoming message is written to standard error, and a refusal stays a refusal.
        let (code, found) = examine("tee /dev/stderr | AGENT");
        assert_eq!(with(&found, "failed", "seen"), [], "{found:#}");
        assert_eq!(code, Some(0), "{found:#}");
    }),
    ("a filter that changes nothing passes too", || {
        let (code, found) = examine(&filtered("", ""));
        assert_eq!(with(&found, "failed", "seen"), [], "{found:#}");
        assert_eq!(code, Some(0), "{found:#}");
        let names: Vec<&Value> =
            found["probes"].as_array().unwrap().iter().map(|probe| &probe["probe"]).collect();
        assert_eq!(names, PROBES);
    }),
    ("what is not claimed is skipped with the reason", || {
        let claims = r#"s/"load":true/"load":false/; s/"cancel":true/"cancel":false/; s/"barrier":true,"history":true/"barrier":false,"history":false/"#;
        let (code, found) = examine(&filtered("", claims));
        let expected = [
            ("passes-the-stop-on", "the capability `cancel` is not claimed"),
            ("reloads-sessions", "the capability `load` is not claimed"),
            ("answers-extensions", "neither `barrier` nor `history` is claimed"),
        ];
        assert_eq!(with(&found, "skipped", "reason"), expected, "{found:#}");
        assert_eq!((code, with(&found, "failed", "seen")), (Some(0), vec![]), "{found:#}");
    }),
    ("an adapter that does not start is reported", || {
        caught("echo 'Cannot find module x' >&2; exit 3", &["introduces-itself"], "Cannot find module x")
    }),
    ("another version of the protocol is reported", || {
        let script = filtered("", r#"s/"protocol":1/"protocol":2/"#);
        caught(&script, &["introduces-itself"], "it speaks version 2 of the protocol");
    }),
    ("words on standard output at the start are reported", || {
        let (code, found) = examine("echo 'Listening on port 3000'; exec AGENT");
        let failed = with(&found, "failed", "seen");
        assert_eq!(failed.len(), 1, "{found:#}");
        assert_eq!(failed[0].0, "silent-on-stdout");
        assert!(failed[0].1.contains("`Listening on port 3000`"), "{found:#}");
        assert_eq!(
            (code, with(&found, "not-judged", "reason").len()),
            (Some(1), PROBES.len() - 1),
            "{found:#}"
        );
    }),
    ("words on standard output in a turn are reported", || {
        let (code, found) = examine(&filtered("", r#"/"stopReason"/i tokens used: 5"#));
        let failed = with(&found, "failed", "seen");
        assert_eq!(failed[0].0, "silent-on-stdout");
        assert!(failed[0].1.contains("`tokens used: 5` (in the probe holds-a-conversation)"), "{found:#}");
        assert_eq!((code, failed.len()), (Some(1), 1), "{found:#}");
    }),
    ("a tool behind a wrong gate is caught", || {
        let (_, found) = examine(&filtered("s#/gate/measure#/gate/lookup#", ""));
        let failed = with(&found, "failed", "seen");
        assert_eq!(failed[0].0, "holds-a-conversation", "{found:#}");
        assert!(failed[0].1.contains("call b of the tool measure reached the gate of lookup"), "{found:#}");
    }),
    ("a tool that is not offered is caught", || {
        let (_, found) = examine(&filtered(r#"s/"name":"measure"/"name":"mesure"/"#, ""));
        let failed = with(&found, "failed", "seen");
        assert_eq!(failed[0].0, "holds-a-conversation", "{found:#}");
    }),
    ("ids of the adapters own are caught", || {
        let script = filtered("", r#"s/"toolCallId":"[a-z]*_/"toolCallId":"own-/"#);
        caught(&script, &["keeps-native-ids"], "which is not an id of the provider");
    }),
    ("a prompt that is sent twice is caught", || {
        let script = filtered(r#"s/"text":"\(Please look up two[^"]*\)"/"text":"\1 \1"/"#, "");
        caught(&script, &["sends-prompts-once"], "measure one thing.` 2 times");
    }),
    ("showing no call is a warning", || {
        let (code, found) = examine(&filtered("", r#"/"session\/update"/d"#));
        assert_eq!((code, with(&found, "failed", "seen")), (Some(0), vec![]), "{found:#}");
        let warned = found["probes"][3]["warnings"][0].as_str().unwrap();
        assert_eq!(warned, "no call is shown, so stuck calls cannot be detected");
    }),
    ("a stop that does not reach the tools is caught", || {
        let script = filtered(r#"s/"deaf":false/"deaf":true/g"#, "");
        let seen = "after session/cancel, the tool still waits at its gate although it is not deaf";
        caught(&script, &["passes-the-stop-on"], seen);
    }),
    ("a stop that reaches a deaf tool is caught", || {
        let script = filtered(r#"s/"deaf":true/"deaf":false/g"#, "");
        caught(&script, &["passes-the-stop-on"], "a tool that is `deaf` was given up");
    }),
    ("a turn that is answered at once is caught", || {
        let script = format!(
            r#"exec 3>&1
        while IFS= read -r line; do
            case $line in *'"session/prompt"'*) {ID}; {} ;; esac
            printf '%s\n' "$line"
        done | AGENT | sed -u '/"stopReason"/d'"#,
            answer("$id", "returned")
        );
        let (code, found) = examine(&script);
        let failed = with(&found, "failed", "seen");
        let awaits = failed.iter().find(|(probe, _)| *probe == "awaits-the-turn");
        assert!(awaits.is_some(), "{found:#}");
        assert_eq!(code, Some(1));
    }),
    (
        "a_turn_that_is_answered_when_its_tools_are_done_is_caught",
        a_turn_that_is_answered_when_its_tools_are_done_is_caught,
    ),
    ("a stopped turn that goes on is caught", || {
        let script = format!(
            r#"exec 3>&1
        while IFS= read -r line; do
            session=${{line#*'"sessionId":"'}}; session=${{session%%'"'*}}
            case $line in
                *'"session/prompt"'*) {ID}; echo "$id" > "prompt-$session" ;;
                *'"session/cancel"'*) read -r prompt < "prompt-$session"; : > "answered-$prompt"; {}; continue ;;
            esac
            printf '%s\n' "$line"
        done | AGENT | while IFS= read -r line; do
            case $line in *'"stopReason"'*) {ID}; [ -e "answered-$id" ] && continue ;; esac
            printf '%s\n' "$line"
        done"#,
            answer("$prompt", "cancelled")
        );
        let (code, found) = examine(&script);
        let failed = with(&found, "failed", "seen");
        let seen = "the provider is asked again after a stopped turn was answered";
        assert!(failed.contains(&("awaits-the-turn", seen)), "{found:#}");
        assert_eq!(failed[0].0, "passes-the-stop-on", "{found:#}");
        assert_eq!(code, Some(1));
    }),
    ("an error that is reported as an end is caught", || {
        let script = filtered("", r#"s/{"kind":"raised".*$/{"kind":"returned"}}}}}/"#);
        let seen = "the provider refused the request with status 400, and the outcome is returned";
        caught(&script, &["tells-the-outcome", "keeps-its-claims"], seen);
    }),
    ("an error without the providers words is caught", || {
        let script = filtered("", r#"s/"text":"status 400.*$/"text":"something went wrong"}}}}}/"#);
        caught(&script, &["tells-the-outcome"], "something went wrong");
    }),
    ("a stop that is reported as an end is caught", || {
        let script = filtered("", r#"s/{"kind":"cancelled"}/{"kind":"returned"}/"#);
        let seen = "the turn was stopped, and its outcome is returned";
        caught(&script, &["tells-the-outcome"], seen);
    }),
    ("a stop that surfaces as an error is a warning", || {
        let script = filtered(
            "",
            r#"s/{"kind":"cancelled"}/{"kind":"raised","class":"AbortError","text":"stopped"}/"#,
        );
        let (code, found) = examine(&script);
        assert_eq!((code, with(&found, "failed", "seen")), (Some(0), vec![]), "{found:#}");
        let warned = found["probes"][7]["warnings"][0].as_str().unwrap();
        assert!(warned.starts_with("a stop is reported as raised, AbortError"), "{warned}");
    }),
    (
        "a_session_that_hears_what_another_was_told_is_caught",
        a_session_that_hears_what_another_was_told_is_caught,
    ),
    ("sessions that are one are caught", || {
        let (_, found) = examine(&filtered(r#"s/"sessionId":"session-[0-9]*"/"sessionId":"session-1"/"#, ""));
        let failed: Vec<&str> = with(&found, "failed", "seen").iter().map(|(probe, _)| *probe).collect();
        assert!(failed.contains(&"isolates-sessions"), "{found:#}");
    }),
    ("a load that forgets is caught", || {
        let script = filtered(r#"s/"method":"session\/load"/"method":"session\/new"/"#, "");
        caught(&script, &["reloads-sessions"], "the next request does not contain the user's message");
    }),
    ("a load that is refused is caught", || {
        let script = filtered(r#"s/"method":"session\/load"/"method":"session\/lod"/"#, "");
        caught(&script, &["reloads-sessions"], "the adapter refused session/load");
    }),
    ("a store outside of its folder is caught", || {
        let script =
            format!("mkdir -p store; {}", filtered(r#"s|"stateDir":"[^"]*"|"stateDir":"store"|"#, ""));
        let seen = "session/load restores the session even with an empty `stateDir`";
        caught(&script, &["reloads-sessions"], seen);
    }),
    (
        "an_unknown_mode_that_is_taken_for_a_known_one_is_caught",
        an_unknown_mode_that_is_taken_for_a_known_one_is_caught,
    ),
    (
        "an_unknown_dialect_that_is_taken_for_a_known_one_is_caught",
        an_unknown_dialect_that_is_taken_for_a_known_one_is_caught,
    ),
    ("a mode that is claimed and not there is caught", || {
        let script = filtered("", r#"s/"modes":\["thread"\]/"modes":["thread","other"]/"#);
        caught(&script, &["honours-the-mode"], "unknown mode `other`");
    }),
    (
        "a_dialect_that_a_command_does_not_speak_is_a_warning",
        a_dialect_that_a_command_does_not_speak_is_a_warning,
    ),
    ("a barrier that is claimed and not there is caught", || {
        let script = filtered(r#"s/"_brickbat\/barrier"/"_brickbat\/barrel"/"#, "");
        caught(&script, &["answers-extensions"], "the adapter refused _brickbat/barrier");
    }),
    (
        "a_history_that_does_not_hold_what_was_said_is_caught",
        a_history_that_does_not_hold_what_was_said_is_caught,
    ),
    ("a summary that is claimed and not written is caught", || {
        let script = filtered(r#"s/"kind":"summarise","keep":1/"kind":"summarise","keep":99/"#, "");
        let seen = "after `summarise 1`, the next request still contains the complete previous turn";
        caught(&script, &["changes-the-history"], seen);
    }),
    ("a change that is claimed and not known is caught", || {
        let script = filtered(r#"s/"kind":"trim"/"kind":"shave"/"#, "");
        caught(&script, &["changes-the-history"], "the adapter refused _brickbat/action");
    }),
    ("a change of which nothing comes is caught", || {
        let script = filtered("", r#"s/"result":{}/"result":{"changed":false}/"#);
        caught(&script, &["changes-the-history"], "it reports nothing to change for");
    }),
    ("claims_that_are_not_kept_are_caught", claims_that_are_not_kept_are_caught),
    ("an adapter that dies after many plans is caught", || {
        let script = "AGENT | sed -u 500q";
        caught(script, &["survives-many-plans"], "the adapter ended");
    }),
    ("an adapter that outlives its input is caught", || {
        let (_, found) = examine("AGENT; exec sleep 600");
        let failed = with(&found, "failed", "seen");
        assert_eq!(failed.len(), 1, "{found:#}");
        assert_eq!(failed[0].0, "ends-with-its-input");
        assert!(failed[0].1.contains("it is still running 5 s after its standard input ended"), "{found:#}");
    }),
];

/// Each claim beyond a plain conversation, with an adapter that does not receive it.
fn claims_that_are_not_kept_are_caught() {
    let deaf = [
        (
            r#"s/"steer":"[^"]*"/"steer":"x"/"#,
            "`steer` is claimed: no later request contains a message sent to a running turn",
        ),
        (
            r#"s/"inject":"[^"]*"/"inject":"x"/"#,
            "`hooks` is claimed: no later request contains a message sent to a running turn",
        ),
        (r#"s/"interrupt":"guardrail"/"steer":"x"/"#, "`interrupt` is claimed: the outcome of a turn"),
        // The words of the prompt that comes while a turn runs.
        (
            r#"/"session\/prompt".*Mind the gap/d"#,
            "`secondPrompt` is claimed: one of two simultaneous prompts is never answered",
        ),
        (r#"s/"maxSteps":1,//"#, "`stepLimit` is claimed: the turn sent 2 requests"),
        (r#"s/,"ends":true//"#, "`finalTools` is claimed: the turn sent 2 requests"),
        (
            r#"s/,"handsOver":"[^"]*"//"#,
            "`handoffs` is claimed: no request after the handoff names the agent",
        ),
        (
            r#"s/"prompts":1/"prompts":0/"#,
            "`changes.rewind` is claimed: a later request contains a message that was taken back",
        ),
        (
            r#"s/"kind":"aside","question":"[^"]*"/"kind":"thinking","on":false/"#,
            "`changes.aside` is claimed: a question outside the conversation was not asked",
        ),
        (
            r#"s/"kind":"provider","dialect":"[^"]*"/"kind":"thinking","on":false/"#,
            "`changes.provider` is claimed: a thread that should continue with openai-chat sends no request to that",
        ),
    ];
    for (script, seen) in deaf {
        caught(&filtered(script, ""), &["keeps-its-claims"], seen);
    }
    let boasts = filtered("", r#"s/"saving":false/"saving":true/"#);
    let seen = "`saving` is claimed: a turn of 5 entries asked after 0 of them";
    caught(&boasts, &["keeps-its-claims"], seen);
    let boasts = filtered("", r#"s/"failingWrites":false/"failingWrites":true/"#);
    let seen = "`failingWrites` is claimed: no write of a turn has failed";
    caught(&boasts, &["keeps-its-claims"], seen);
}

#[test]
fn the_reference_adapter_passes_every_probe() {
    let folder = TempDir::new().unwrap();
    let output = verify(folder.path(), &["--system", "reference/acp"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let text = output.out;
    assert!(text.starts_with("reference/acp: brickbat-reference "), "{text}");
    for probe in PROBES {
        assert!(text.contains(&format!("ok          {probe} ")), "{probe} in {text}");
    }
    assert!(text.ends_with("\n16 ok, 0 failed, 0 skipped, 0 not judged\n"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something is left");
}

#[test]
fn an_adapter_that_differs_from_its_manifest_is_reported() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("adapter.sh"), format!("exec '{BRICKBAT}' agent")).unwrap();
    let manifest = |sdk: &str, mode: &str| {
        format!(
            "name: mine\nsdk: {sdk}\ndescription: Mine.\ndialects: [openai-chat]\n\
             modes: [{{ name: {mode}, description: A mode. }}]\nversions: [{{ version: {} }}]\n\
             command: [sh, adapter.sh]\n",
            env!("CARGO_PKG_VERSION")
        )
    };
    for (text, code, words) in [
        (manifest("brickbat-reference", "thread"), 0, "16 ok"),
        (manifest("another", "thread"), 1, "the adapter reports brickbat-reference"),
        (
            format!("{}capabilities: [cancel]\n", manifest("brickbat-reference", "thread")),
            1,
            "the manifest lists cancel",
        ),
        (
            manifest("brickbat-reference", "other"),
            1,
            "the mode other is required, but the adapter offers only thread",
        ),
    ] {
        std::fs::write(folder.path().join("system.yaml"), &text).unwrap();
        let said = verify(folder.path(), &["--manifest", "system.yaml"]);
        assert!(said.code == Some(code) && said.out.contains(words), "{said:#?}");
    }
}

/// In shell: the id of the message in `$line`, without its quotes. It starts no process, because a shell that
/// starts programs is too slow on a busy machine.
const ID: &str = r#"id=${line#*'"id":"'}; id=${id%%'"'*}"#;

/// In shell: an answer to a prompt, on the adapter's standard output.
fn answer(id: &str, outcome: &str) -> String {
    let result =
        format!(r#"{{"stopReason":"end_turn","_meta":{{"brickbat":{{"outcome":{{"kind":"{outcome}"}}}}}}}}"#);
    format!(r#"printf '{{"jsonrpc":"2.0","id":"%s","result":{result}}}\n' "{id}" >&3"#)
}

fn a_turn_that_is_answered_when_its_tools_are_done_is_caught() {
    // The answer comes before the provider's last reply has ended: at the first call that is shown as
    // completed.
    let script = format!(
        r#"exec 3>&1; : > prompt
        while IFS= read -r line; do
            case $line in *'"session/prompt"'*'an order.'*) {ID}; echo "$id" > prompt ;; esac
            printf '%s\n' "$line"
        done | AGENT | while IFS= read -r line; do
            case $line in
                *'"completed"'*)
                    id=; read -r id < prompt
                    if [ -n "$id" ]; then : > prompt; : > "answered-$id"; {}; fi ;;
                *'"stopReason"'*) {ID}; [ -e "answered-$id" ] && continue ;;
            esac
            printf '%s\n' "$line"
        done"#,
        answer("$id", "returned")
    );
    let (_, found) = examine(&script);
    let failed = with(&found, "failed", "seen");
    // It may come before the last reply is requested, or while that is held.
    let early = [
        "the turn returned after 1 of 2 requests to the provider",
        "session/prompt was answered while the provider's reply was still coming",
    ];
    assert!(early.iter().any(|early| failed.contains(&("awaits-the-turn", early))), "{found:#}");
}

fn a_session_that_hears_what_another_was_told_is_caught() {
    let script = r#"
        while IFS= read -r line; do
            case $line in *'"session/prompt"'*)
                session=${line#*'"sessionId":"'}; session=${session%%'"'*}
                rest=${line#*'"text":"'}; text=${rest%%'"'*}
                if [ "$session" != "$last" ]; then line="${line%%'"text":"'*}\"text\":\"$before $rest"; fi
                last=$session; before=$text ;;
            esac
            printf '%s\n' "$line"
        done | AGENT"#;
    let (_, found) = examine(script);
    let failed = with(&found, "failed", "seen");
    // The words of an earlier probe's session are among those of this one, so some are there twice.
    let [(twice, _), (isolates, seen)] = failed.as_slice() else { panic!("{found:#}") };
    assert_eq!((*twice, *isolates), ("sends-prompts-once", "isolates-sessions"), "{found:#}");
    assert!(seen.contains("a request of one session contains `I am user "), "{found:#}");
}

fn an_unknown_mode_that_is_taken_for_a_known_one_is_caught() {
    let script = filtered(r#"s/"mode":"[^"]*"/"mode":"thread"/"#, "");
    caught(
        &script,
        &["honours-the-mode"],
        "session/new with the mode `brickbat-no-such-thing` opened a session",
    );
}

fn an_unknown_dialect_that_is_taken_for_a_known_one_is_caught() {
    let script = filtered(r#"s/"dialect":"brickbat[^"]*"/"dialect":"openai-chat"/"#, "");
    caught(&script, &["honours-the-mode"], "the dialect `brickbat-no-such-thing` opened a session");
}

fn a_dialect_that_a_command_does_not_speak_is_a_warning() {
    let script = filtered(r#"s/"dialect":"openai-chat"/"dialect":"gopher"/"#, "");
    let (code, found) = examine(&script);
    assert_eq!((code, with(&found, "failed", "seen")), (Some(0), vec![]), "{found:#}");
    assert!(found["probes"][0]["warnings"][0].as_str().unwrap().starts_with("does not speak openai-chat"));
}

fn a_history_that_does_not_hold_what_was_said_is_caught() {
    let script = filtered("", r#"s/"history":\[.*\]/"history":[]/"#);
    caught(&script, &["answers-extensions"], "`_brickbat/history` does not contain the user's message");
}

#[test]
fn bad_input_gets_a_message() {
    let folder = TempDir::new().unwrap();
    for (args, words) in [
        (vec!["--system", "reference"], "reference has no adapter; `reference/acp` has one"),
        (vec!["--system", "referense/acp"], "unknown system"),
        (vec!["--command", "sh 'a"], "its quotes closed"),
        (vec!["--manifest", "nowhere.yaml"], "nowhere.yaml"),
    ] {
        let said = verify(folder.path(), &args);
        assert!(said.code == Some(2) && said.err.contains(words), "{said:#?}");
    }
    let said = verify(folder.path(), &["--command", "no-such-program-here"]);
    assert!(said.code == Some(3) && said.out.contains("no-such-program-here is missing"), "{said:#?}");
}
