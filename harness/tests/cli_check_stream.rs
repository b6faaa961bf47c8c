//! `brickbat check --stream`, and `check` for every provider of a dialect.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs;

use crate::program::{Said, brickbat, folder_of, report};
use serde_json::Value;
use tempfile::TempDir;

/// A turn that stopped after a tool call, with a field that some providers compatible with OpenAI do not
/// know.
const STOPPED: &str = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"x","reasoning_content":"y","tool_calls":[{"id":"call_a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"stop"}]"#;
const UNANSWERED: &str = "openai-chat/tool-message-missing";

const CHUNK: &str = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":"Rain."},"finish_reason":null}]}"#;
const LAST: &str = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn said(folder: &TempDir, args: &[&str]) -> Said {
    brickbat(folder.path(), args, &[])
}

fn json(folder: &TempDir, said: &Said) -> Value {
    let path = folder.path().join("said.json");
    fs::write(&path, &said.out).unwrap();
    report(&path)
}

fn stream(chunks: &[&str]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

#[test]
fn a_union_names_the_providers_that_reject_and_that_warn() {
    let body = format!(r#"{{"model":"gpt-5","messages":{STOPPED}}}"#);
    let folder = folder_of(&[("body.json", &body), ("list.json", STOPPED)]);
    for (file, pointer) in [("body.json", "/messages/1/tool_calls/0"), ("list.json", "/1/tool_calls/0")] {
        for args in [&["--profile", "union"][..], &["--profile", "union:openai-chat"]] {
            let said = said(&folder, &[&["check", file], args].concat());
            assert_eq!(said.code, Some(1), "{said:#?}");
            for words in [
                "error[openai-chat/unknown-message-field]",
                "  = refused by: groq@2026-09, cerebras@2026-09\n",
                &format!("error[{UNANSWERED}]"),
                &format!(" at {pointer}\n"),
                "  = refused by: openai-chat@",
                "  = warned of by: groq@",
                " profiles of openai-chat with status 400",
            ] {
                assert!(said.out.contains(words), "{words}\n{}", said.out);
            }
        }
    }
}

#[test]
fn a_union_is_in_the_output_for_programs_too() {
    let folder = folder_of(&[("list.json", STOPPED)]);
    let with = |format: &str| {
        let said = said(&folder, &["check", "--profile", "union", "--format", format, "list.json"]);
        assert_eq!(said.code, Some(1), "{said:#?}");
        said
    };
    let request = &json(&folder, &with("json"))["requests"][0];
    assert_eq!(request["profile"], "union:openai-chat");
    let found = request["findings"].as_array().unwrap();
    let found = found.iter().find(|found| found["rule"] == UNANSWERED).unwrap();
    let holds = |list: &Value, name: &str| list.as_array().unwrap().iter().any(|own| own == name);
    assert!(holds(&found["refused_by"], "deepseek@2026-09") && holds(&found["warned_by"], "groq@2026-09"));
    assert!(holds(&request["refused_by"], "groq@2026-09"));
    let sarif = json(&folder, &with("sarif"));
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == UNANSWERED).unwrap();
    assert!(holds(&result["properties"]["warnedBy"], "groq@2026-09"), "{result}");
    let github = with("github").out;
    assert!(github.contains("%0AWarned of by groq@2026-09"), "{github}");
}

#[test]
fn a_union_is_of_one_dialect() {
    let folder = folder_of(&[("good.json", r#"{"messages":[{"role":"user","content":"hi"}]}"#)]);
    let check = |args: &[&str]| said(&folder, &[&["check", "good.json"], args].concat());
    let unknown = check(&["--profile", "union"]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");
    assert!(unknown.err.contains("does not show its dialect"), "{unknown:#?}");
    let taken = check(&["--profile", "union", "--dialect", "mistral"]);
    assert_eq!(taken.code, Some(0), "{taken:#?}");
    assert!(taken.out.contains("accepted by all "), "{taken:#?}");
    let wrong = check(&["--profile", "union:openai-chat", "--dialect", "mistral"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    assert!(wrong.err.contains("--profile belongs to openai-chat, but --dialect is mistral"), "{wrong:#?}");
    assert_eq!(check(&["--profile", "union:nobody"]).code, Some(2));
}

#[test]
fn a_list_by_itself_is_judged_in_every_dialect() {
    for (dialect, list, pointer) in [
        (
            "openai-responses",
            r#"[{"role":"user","content":"hi"},{"type":"function_call_output","call_id":"a","output":"x"}]"#,
            "/1",
        ),
        (
            "gemini",
            r#"[{"role":"user","parts":[{"text":"hi"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]"#,
            "/1",
        ),
        (
            "bedrock-converse",
            r#"[{"role":"user","content":[{"text":"hi"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},{"role":"user","content":[{"text":"stop"}]}]"#,
            "/1",
        ),
        (
            "mistral",
            r#"[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"abcdefghi","content":"x"}]"#,
            "/1",
        ),
    ] {
        let folder = folder_of(&[("list.json", list)]);
        let said = said(&folder, &["check", "--format", "json", "--dialect", dialect, "list.json"]);
        assert_eq!(said.code, Some(1), "{dialect}: {said:#?}");
        let found = &json(&folder, &said)["requests"][0]["findings"][0];
        assert!(found["pointer"].as_str().unwrap().starts_with(pointer), "{dialect}: {found}");
        assert!(found["place"]["offset"].as_u64().unwrap() > 0, "{dialect}: {found}");
    }
}

#[test]
fn streams_are_judged_and_their_ending_is_reported() {
    let error =
        r#"{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}"#;
    let folder = folder_of(&[
        ("whole.sse", &stream(&[CHUNK, LAST, "[DONE]"])),
        ("cut.sse", &stream(&[CHUNK])),
        ("failed.sse", &stream(&[CHUNK, error])),
        ("illegal.sse", &stream(&[CHUNK, "{", LAST, "[DONE]"])),
        ("none.sse", "hello\n"),
    ]);
    for (file, code, words) in [
        ("whole.sse", 0, "whole.sse: complete: openai-chat stream, 3 events, "),
        ("cut.sse", 1, "cut.sse: truncated: openai-chat stream, 1 events, "),
        ("failed.sse", 0, "failed.sse: ended by an error of the provider: openai-chat stream, "),
        ("illegal.sse", 1, " --> illegal.sse:3 at event 1, byte "),
    ] {
        let said = said(&folder, &["check", "--stream", file]);
        assert_eq!((said.code, said.err.as_str()), (Some(code), ""), "{said:#?}");
        assert!(said.out.contains(words), "{words}\n{}", said.out);
    }
    let all = said(&folder, &["check", "--stream", "whole.sse", "cut.sse", "illegal.sse"]);
    assert_eq!(all.code, Some(1), "{all:#?}");
    assert!(all.out.ends_with("in all: 3 streams: 1 sound, 2 illegal or truncated, 0 not judged\n"));
    let silent = said(&folder, &["check", "--stream", "none.sse", "missing.sse", "cut.sse"]);
    assert_eq!(silent.code, Some(2), "{silent:#?}");
    assert!(silent.err.contains("none.sse does not show its dialect\nhint: give --dialect"), "{silent:#?}");
    assert!(silent.err.contains("cannot read missing.sse"), "{silent:#?}");
    assert!(silent.out.contains("cut.sse: truncated"), "{silent:#?}");
}

#[test]
fn programs_read_the_faults_of_a_stream() {
    let folder = folder_of(&[("cut.sse", &stream(&[CHUNK]))]);
    let check = |args: &[&str]| said(&folder, &[&["check", "--stream", "cut.sse"], args].concat());
    let told = json(&folder, &check(&["--format", "json"]));
    let stream = &told["streams"][0];
    assert_eq!(
        (&stream["ended"], &stream["dialect"]),
        (&Value::from("truncated"), &Value::from("openai-chat"))
    );
    assert_eq!(stream["faults"][0]["severity"], "error");
    assert_eq!(stream["bytes"], format!("data: {CHUNK}\n\n").len());
    assert_eq!(told["summary"]["unsound"], 1);
    let other = json(&folder, &check(&["--format", "json", "--dialect", "anthropic-messages"]));
    assert_eq!(other["streams"][0]["dialect"], "anthropic-messages");
    assert_eq!(other["streams"][0]["ended"], "truncated");
    assert_eq!(check(&["--off", "ANT-TU-1"]).code, Some(2));
}

#[test]
fn code_scanning_and_workflows_read_the_faults_of_a_stream() {
    const TRUNCATED: &str = "openai-chat/stream/truncated";
    let folder = folder_of(&[("cut.sse", &stream(&[CHUNK])), ("none.sse", "hello\n")]);
    let with =
        |format: &str| said(&folder, &["check", "--stream", "--format", format, "cut.sse", "none.sse"]);
    let sarif = with("sarif");
    assert_eq!(sarif.code, Some(2), "{sarif:#?}");
    let run = &json(&folder, &sarif)["runs"][0];
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&Value::from(TRUNCATED), &Value::from("error")));
    let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!(rule["id"], TRUNCATED);
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(
        (&region["startLine"], &region["byteOffset"]),
        (&Value::from(3), &Value::from(CHUNK.len() + 8))
    );
    let notes = &run["invocations"][0]["toolExecutionNotifications"];
    assert!(notes[0]["message"]["text"].as_str().unwrap().contains("does not show its dialect"), "{notes}");
    let github = with("github");
    assert_eq!(github.code, Some(2), "{github:#?}");
    let lines: Vec<&str> = github.out.lines().collect();
    assert_eq!(lines.len(), 2, "{github:#?}");
    assert!(lines[0].starts_with(&format!("::error file=cut.sse,line=3,title={TRUNCATED}::")), "{github:#?}");
    assert!(lines[1].starts_with("::error file=none.sse,line=1,title=not judged::"), "{github:#?}");
}

#[test]
fn explain_knows_the_rules_of_streams() {
    let folder = folder_of(&[]);
    let explain = |word: &str| said(&folder, &["explain", word]);
    let whole = explain("openai-chat/stream/truncated");
    assert_eq!(whole.code, Some(0), "{whole:#?}");
    for words in
        ["openai-chat/stream/truncated\n", "`brickbat check --stream`", "A violation is an error", "https://"]
    {
        assert!(whole.out.contains(words), "{words}\n{}", whole.out);
    }
    let short = explain("stream/truncated");
    assert!(short.out.contains(&whole.out) && short.out.contains("gemini/stream/truncated"), "{short:#?}");
    assert_eq!(explain("truncated").out, short.out);
    let wrong = explain("openai-chat/stream/truncatd");
    assert!(wrong.err.contains("did you mean `openai-chat/stream/truncated`?"), "{wrong:#?}");
    let all = said(&folder, &["explain", "--all"]).out;
    assert!(all.contains("\nopenai-chat/stream/truncated  "), "{all}");
    let off = said(&folder, &["check", "--off", "openai-chat/stream/truncated", "x.json"]);
    assert_eq!(off.code, Some(2), "{off:#?}");
    assert!(off.err.contains("is a rule for recorded streams\nhint: "), "{off:#?}");
    assert_eq!(said(&folder, &["explain", "--html", "rules"]).code, Some(0));
    let page = fs::read_to_string(folder.path().join("rules/openai-chat/stream/truncated.html")).unwrap();
    assert!(page.contains("href=\"../../index.html\""), "{page}");
    let index = fs::read_to_string(folder.path().join("rules/openai-chat/index.html")).unwrap();
    assert!(index.contains("href=\"../openai-chat/stream/truncated.html\""), "{index}");
}
