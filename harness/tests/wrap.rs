//! `wrap`: programs that the harness does not drive, with a strict provider.

use std::path::Path;

use tempfile::TempDir;

use crate::program::{Said, brickbat, folder_of, report};

/// An agent that drops the result of the last call, unless the variable FIXED is set.
const AGENT: &str = include_str!("../../docs/fixtures/any-program/agent.mjs");

/// An agent that keeps its thread in a file and continues from there when it is started again. It stores
/// results with the reply that follows them, which is a bug; with SETTLES it closes open calls before it
/// sends a request.
const KEEPER: &str = r#"
import { existsSync, readFileSync, writeFileSync } from "node:fs";
const url = `${process.env.OPENAI_BASE_URL}/chat/completions`;
const headers = { "content-type": "application/json" };
const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }];
const messages = existsSync("thread.json") ? JSON.parse(readFileSync("thread.json", "utf8")) : [];
if (process.env.SETTLES) {
  for (const call of messages.at(-1)?.tool_calls ?? []) {
    messages.push({ role: "tool", tool_call_id: call.id, content: "stopped" });
  }
}
messages.push({ role: "user", content: process.argv[2] });
for (;;) {
  const body = JSON.stringify({ model: "gpt-5", tools, messages });
  const answer = await fetch(url, { method: "POST", headers, body });
  if (!answer.ok) { console.error(await answer.text()); process.exit(1); }
  const { message } = (await answer.json()).choices[0];
  messages.push(message);
  writeFileSync("thread.json", JSON.stringify(messages));
  if (!message.tool_calls) break;
  for (const call of message.tool_calls) messages.push({ role: "tool", tool_call_id: call.id, content: "found" });
}
"#;

fn wrap(folder: &Path, args: &[&str], command: &[&str], variables: &[(&str, &str)]) -> Said {
    let args: Vec<&str> = [&["wrap"], args, &["--"], command].concat();
    brickbat(folder, &args, variables)
}

fn agent() -> TempDir {
    folder_of(&[("agent.mjs", AGENT)])
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_program_that_loses_a_result_is_rejected_and_one_that_does_not_is_accepted() {
    let folder = agent();
    let said = wrap(folder.path(), &["--report", "report.json"], &["node", "agent.mjs"], &[]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(said.err.contains("anthropic-messages/tool-result-missing at /messages/1"), "{said:#?}");
    assert!(said.err.contains("the program ended with exit status: 1"), "{said:#?}");
    assert!(said.err.ends_with("verdict: a request was refused\n"), "{said:#?}");
    let report = report(&folder.path().join("report.json"));
    assert_eq!(report["programs"], serde_json::json!([1]));
    assert_eq!(report["state"]["refusals"]["anthropic-messages/tool-result-missing"]["times"], 1);

    let said = wrap(folder.path(), &[], &["node", "agent.mjs"], &[("FIXED", "1")]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert_eq!(said.out, "The agent is done.\n");
    assert!(said.err.contains("2 requests, 0 refused (anthropic-messages 2)"), "{said:#?}");
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_program_without_requests_is_not_judged_and_a_missing_one_is_bad_input() {
    let folder = agent();
    let said = wrap(folder.path(), &[], &["node", "-e", "process.exit(4)"], &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.err.contains("exit status: 4") && said.err.contains("no request came"), "{said:#?}");
    let said = wrap(folder.path(), &[], &["./nowhere"], &[]);
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert!(said.err.contains("cannot start `./nowhere`"), "{said:#?}");
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_program_that_ends_with_open_calls_is_undecided_until_its_thread_continues() {
    // The tool fails, as tools do: the reply is stored without results of its calls.
    let crashing = KEEPER.replace("for (const call of message.tool_calls)", "if (!existsSync(\"again\")) { writeFileSync(\"again\", \"\"); END }\n  for (const call of message.tool_calls)");
    for (end, how) in
        [("throw new Error(\"no such file\")", ", with exit status: 1"), ("process.exit(0)", "")]
    {
        let folder = folder_of(&[("keeper.mjs", &crashing.replace("END", end))]);
        let said = wrap(folder.path(), &["--report", "r.json"], &["node", "keeper.mjs", "Look it up."], &[]);
        assert_eq!(said.code, Some(3), "{said:#?}");
        let words = format!(
            "of reply 1{how}; continue its thread: brickbat wrap --resume 'COMMAND {{turn}}' -- node keeper.mjs 'Look it up.'"
        );
        let verdict = said.err.lines().last().unwrap();
        assert!(
            verdict.starts_with("verdict: undecided: the program ended before it answered "),
            "{said:#?}"
        );
        assert!(verdict.contains(&words), "{said:#?}");
        assert_eq!(report(&folder.path().join("r.json"))["exit_code"], 3);

        // The same with a run that continues: its next request decides.
        for (settles, code) in [("1", 0), ("", 1)] {
            let folder = folder_of(&[("keeper.mjs", &crashing.replace("END", end))]);
            let args = ["--resume", "node keeper.mjs {turn}"];
            let said =
                wrap(folder.path(), &args, &["node", "keeper.mjs", "Look it up."], &[("SETTLES", settles)]);
            assert_eq!(said.code, Some(code), "{said:#?}");
            let names_crash =
                said.err.ends_with("run 1 failed with exit status: 1, and the next run continued\n");
            assert_eq!(names_crash, code == 0 && !how.is_empty(), "{said:#?}");
        }
    }
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_program_that_offers_no_tool_or_fails_or_is_not_continued_is_undecided() {
    let talker = KEEPER.replace("tools, messages", "messages");
    let folder = folder_of(&[("keeper.mjs", &talker)]);
    let said = wrap(folder.path(), &[], &["node", "keeper.mjs", "Hello."], &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.err.contains("verdict: undecided: no request offered a tool"), "{said:#?}");

    let failing = format!("{KEEPER}\nprocess.exit(7);\n");
    let folder = folder_of(&[("keeper.mjs", &failing)]);
    let said = wrap(folder.path(), &[], &["node", "keeper.mjs", "Hello."], &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.err.contains("but the program failed with exit status: 7"), "{said:#?}");

    // A program that is killed at its point, and not started again, has shown nothing. Neither has one that
    // then sends no request.
    let kill = ["--kill-at", "before headers of reply 2"];
    let silent = [&kill[..], &["--resume", "node -e 0"]].concat();
    for (args, words) in
        [(&kill[..], "no request came after the program was killed"), (&silent, "1 run sent no request")]
    {
        let folder = folder_of(&[("keeper.mjs", KEEPER)]);
        let said = wrap(folder.path(), args, &["node", "keeper.mjs", "Hello."], &[]);
        assert_eq!(said.code, Some(3), "{said:#?}");
        assert!(said.err.contains(words), "{said:#?}");
    }
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn the_address_is_in_the_command_and_in_variables_and_real_keys_are_not() {
    let folder = agent();
    let script = "console.log(process.argv[1], process.env.MINE, process.env.OPENAI_API_KEY, process.env.AWS_REGION, \
                  process.env.ANTHROPIC_AUTH_TOKEN)";
    let said = wrap(
        folder.path(),
        &["--env", "MINE={url}/v1"],
        &["node", "-e", script, "{url}"],
        &[("OPENAI_API_KEY", "sk-real"), ("AWS_REGION", "eu-west-1"), ("ANTHROPIC_AUTH_TOKEN", "real")],
    );
    let words: Vec<&str> = said.out.split_whitespace().collect();
    let [url, mine, rest @ ..] = words.as_slice() else { panic!("{said:#?}") };
    assert!(url.starts_with("http://127.0.0.1:") && *mine == format!("{url}/v1"), "{said:#?}");
    assert_eq!(rest, ["sk-brickbat", "eu-west-1", "undefined"]);
}

#[test]
fn the_children_of_a_program_do_not_outlive_it() {
    let folder = agent();
    let script = "sleep 1000 & echo $! > pid; wait";
    let said = wrap(folder.path(), &["--timeout", "1s"], &["sh", "-c", script], &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.err.contains("took too long"), "{said:#?}");
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists());
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_program_that_is_stopped_in_a_batch_and_resumed_is_judged_by_its_next_request() {
    for (end, settles, code) in
        [("--stop-at", "", 1), ("--kill-at", "", 1), ("--stop-at", "1", 0), ("--kill-at", "1", 0)]
    {
        let folder = folder_of(&[("keeper.mjs", KEEPER)]);
        let args = [end, "before headers of reply 2", "--resume", "node keeper.mjs {turn}"];
        let said =
            wrap(folder.path(), &args, &["node", "keeper.mjs", "Look it up."], &[("SETTLES", settles)]);
        assert_eq!(said.code, Some(code), "{end} {settles}: {said:#?}");
        let refused = said.err.contains("openai-chat/tool-message-missing");
        assert_eq!(refused, code == 1, "{said:#?}");
        assert!(said.err.contains("faults: 1 armed, 1 with receipt"), "{said:#?}");
    }
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_point_that_is_never_reached_is_not_judged() {
    let folder = agent();
    let args = ["--stop-at", "after text 1 of reply 9"];
    let said = wrap(folder.path(), &args, &["node", "agent.mjs"], &[("FIXED", "1")]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.err.contains("never reached"), "{said:#?}");
    let said = wrap(folder.path(), &["--stop-at", "after settled 1"], &["node", "agent.mjs"], &[]);
    assert_eq!(said.code, Some(2), "{said:#?}");
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn the_turns_of_a_file_resume_the_program_one_by_one() {
    let folder = folder_of(&[("keeper.mjs", KEEPER), ("turns.txt", "And now?\n\nAnd then?\n")]);
    let args = ["--resume", "node keeper.mjs {turn}", "--turns", "turns.txt"];
    let said = wrap(folder.path(), &args, &["node", "keeper.mjs", "Look it up."], &[]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.err.contains("6 requests, 0 refused"), "{said:#?}");
    let thread = std::fs::read_to_string(folder.path().join("thread.json")).unwrap();
    assert!(thread.contains("And now?") && thread.contains("And then?"));
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn faults_on_a_program_that_retries_are_delivered_and_followed() {
    let folder = folder_of(&[(
        "again.mjs",
        r#"
        const url = `${process.env.OPENAI_BASE_URL}/responses`;
        let n_failed = 0;
        for (let n = 0; n < 12; n += 1) {
          const body = JSON.stringify({ model: "gpt-5", input: "Say something.", stream: true });
          try {
            const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
            const text = await answer.text();
            if (!answer.ok || !text.includes("response.completed")) n_failed += 1;
          } catch { n_failed += 1; }
        }
        console.log(n_failed);
        "#,
    )]);
    let said = wrap(folder.path(), &["--faults", "--every", "2"], &["node", "again.mjs"], &[]);
    // It offers no tool, so accepting everything decides nothing.
    assert_eq!((said.code, said.out.as_str()), (Some(3), "6\n"), "{said:#?}");
    assert!(said.err.contains("undecided: no request offered a tool"), "{said:#?}");
    assert!(said.err.contains("faults: 6 armed, 6 with receipt; next request accepted 5 times"), "{said:#?}");
}

/// The agent, with a tool that waits for ever in its first run.
fn waiting() -> String {
    let wait = "if (process.argv[2] === \"Look it up.\") await new Promise((r) => setTimeout(r, 1e9));";
    KEEPER.replace(
        "for (const call of message.tool_calls)",
        &format!("{wait}\n  for (const call of message.tool_calls)"),
    )
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_program_is_ended_while_its_tools_run_or_when_its_next_request_comes() {
    let run = |program: &str, at: &str, settles: &str| {
        let folder = folder_of(&[("keeper.mjs", program)]);
        let args = ["--kill-at", at, "--resume", "node keeper.mjs {turn}"];
        let said =
            wrap(folder.path(), &args, &["node", "keeper.mjs", "Look it up."], &[("SETTLES", settles)]);
        assert!(said.err.contains("the program was killed at its point"), "{said:#?}");
        said
    };
    // It may be killed before it has stored the reply. Then its next thread has lost the message.
    let said = run(&waiting(), "after reply + 500ms", "");
    assert_eq!(said.code, Some(1), "{said:#?}");
    for (settles, code) in [("", 1), ("1", 0)] {
        let said = run(KEEPER, "after reply of reply 1 + 60s", settles);
        assert_eq!(said.code, Some(code), "{settles}: {said:#?}");
        assert_eq!(said.err.contains("openai-chat/tool-message-missing"), code == 1, "{said:#?}");
    }
    let folder = folder_of(&[("keeper.mjs", KEEPER)]);
    let said = wrap(folder.path(), &["--stop-at", "after calls + 1s"], &["node", "keeper.mjs"], &[]);
    assert!(said.code == Some(2) && said.err.contains("`after reply + 500ms`"), "{said:#?}");
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_program_whose_thread_is_never_continued_is_undecided() {
    let forgetful = KEEPER.replace("writeFileSync(\"thread.json\"", "void (\"thread.json\"");
    let folder = folder_of(&[("keeper.mjs", &forgetful)]);
    let args = ["--resume", "node keeper.mjs {turn}", "--report", "r.json"];
    let said = wrap(folder.path(), &args, &["node", "keeper.mjs", "Look it up."], &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(said.err.contains("one more run shows whether --resume continues one"), "{said:#?}");
    let verdict = said.err.lines().last().unwrap();
    assert!(
        verdict.starts_with("verdict: undecided: the thread has nothing of the runs before"),
        "{said:#?}"
    );
    let report = report(&folder.path().join("r.json"));
    assert_eq!(report["programs"].as_array().unwrap().len(), 3);
    assert_eq!((&report["lost"][0]["run"], &report["lost"][0]["of"]), (&2.into(), &1.into()));
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn results_that_a_resumed_thread_lacks_are_reported() {
    // It forgets the calls and the results of the last turn, so its thread is valid and shorter.
    let trimming = KEEPER.replace(
        "messages.push({ role: \"user\"",
        "while (process.env.TRIMS && messages.length > 1) messages.pop();\nmessages.push({ role: \"user\"",
    );
    for (trims, code) in [("1", 1), ("", 0)] {
        let folder = folder_of(&[("keeper.mjs", &trimming)]);
        let args = ["--resume", "node keeper.mjs {turn}"];
        let said = wrap(folder.path(), &args, &["node", "keeper.mjs", "Look it up."], &[("TRIMS", trims)]);
        assert_eq!(said.code, Some(code), "{said:#?}");
        let is_lost = said.err.contains("verdict: the resumed thread has lost ");
        assert_eq!(is_lost && said.err.contains(" results of run 1 (seen in run 2)"), code == 1, "{said:#?}");
    }
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn an_agent_that_ends_by_a_tool_of_its_own_can_end() {
    // It asks again until the model calls the tool.
    let closing = KEEPER
        .replace("const messages =", "tools.push({ type: \"function\", function: { name: \"final_answer\", parameters: { type: \"object\" } } });\nconst messages =")
        .replace("if (!message.tool_calls) break;", "if (message.tool_calls?.some((call) => call.function.name === \"final_answer\")) process.exit(0);\n  if (!message.tool_calls) { messages.push({ role: \"user\", content: \"Call final_answer.\" }); continue; }");
    let folder = folder_of(&[("keeper.mjs", &closing)]);
    let said = wrap(folder.path(), &["--timeout", "60s"], &["node", "keeper.mjs", "Look it up."], &[]);
    assert!(said.err.contains("the program ended with exit status: 0; 2 requests"), "{said:#?}");
    // Its last call stays open, as it needs no result.
    assert_eq!(said.code, Some(0), "{said:#?}");
}
