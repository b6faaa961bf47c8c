//! `check` and `check --fix` with the texts that people paste or save.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Said, brickbat, folder_of};

const BAD: &str = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"user","content":"Well?"}]}"#;
const MISSING: &str = "openai-chat/tool-message-missing";

fn said(folder: &TempDir, args: &[&str]) -> Said {
    brickbat(folder.path(), args, &[])
}

fn body() -> Value {
    serde_json::from_str(BAD).expect("the body is JSON")
}

#[test]
fn every_form_is_found_named_and_fixed() {
    let python = BAD.replace("null", "None").replace('"', "'");
    let messages: String =
        body()["messages"].as_array().unwrap().iter().map(|message| format!("{message}\n")).collect();
    let otlp = serde_json::json!({ "attributes": [
        { "key": "gen_ai.request.model", "value": { "stringValue": "gpt-5" } },
        { "key": "gen_ai.input.messages", "value": { "stringValue": serde_json::json!([
            { "role": "user", "parts": [{ "type": "text", "content": "Rain?" }] },
            { "role": "assistant", "parts": [{ "type": "tool_call", "id": "call_1", "name": "weather", "arguments": {} }] },
            { "role": "user", "parts": [{ "type": "text", "content": "Well?" }] },
        ]).to_string() } },
    ] });
    let logged = format!(
        "2026-11-29 DEBUG request body=\"{}\" try=1\n",
        BAD.replace('\\', "\\\\").replace('"', "\\\"")
    );
    let langfuse = format!("{{\"observations\":[{{\"model\":\"gpt-5\",\"input\":{}}}]}}", body()["messages"]);
    for (name, text, place) in [
        ("dump.txt", format!("payload = {python}\n"), Some("at line 1")),
        ("run.py", format!("r = client.chat.completions.create(**{python})\n"), Some("at line 1")),
        ("messages.jsonl", messages, None),
        ("span.json", otlp.to_string(), Some("at /attributes, and written again as a request")),
        ("app.log", logged, Some("at line 1")),
        ("trace.json", langfuse, Some("at /observations/0/input")),
        (
            "saved.json",
            serde_json::json!({ "response": {}, "request": { "body": BAD } }).to_string(),
            Some("at /request/body"),
        ),
    ] {
        let folder = folder_of(&[(name, &text)]);
        let checked = said(&folder, &["check", name]);
        assert!(checked.code == Some(1) && checked.out.contains(MISSING), "{name}: {checked:#?}");
        assert!(place.is_none_or(|place| checked.err.contains(place)), "{name}: {checked:#?}");
        let fixed = said(&folder, &["check", "--fix", name]);
        assert_eq!(fixed.code, Some(0), "{name}: {fixed:#?}");
        let out = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let out = out.into_iter().find(|name| name.contains(".fixed.")).unwrap();
        let again = said(&folder, &["check", &out]);
        assert_eq!(again.code, Some(0), "{name}: {again:#?}");
        for words in ["Rain?", "Well?"] {
            assert!(fs::read_to_string(folder.path().join(&out)).unwrap().contains(words), "{name}");
        }
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), text, "{name} was changed");
    }
}

#[test]
fn rows_with_only_texts_do_not_fail_the_others() {
    let plain = r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#;
    let call = r#"{"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"no"},{"role":"assistant","content":"No."}]}"#;
    let folder = folder_of(&[("train.jsonl", &format!("{plain}\n{call}\n{plain}\n"))]);
    let checked = said(&folder, &["check", "train.jsonl"]);
    assert_eq!(checked.code, Some(0), "{checked:#?}");
    assert_eq!(checked.err.matches("rows with only texts show no dialect").count(), 1, "{checked:#?}");
}

#[test]
fn a_session_is_named_once_with_the_command_for_it() {
    let line = r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","version":"2.1.0","message":{"role":"user","content":"Hi"}}"#;
    let folder = folder_of(&[(
        "s.jsonl",
        &format!("{line}\n{}\n", line.replace("\"1\"", "\"2\"").replace("null", "\"1\"")),
    )]);
    let checked = said(&folder, &["check", "s.jsonl"]);
    assert_eq!(checked.code, Some(2), "{checked:#?}");
    assert_eq!(checked.err.matches("is a session of Claude Code").count(), 1, "{checked:#?}");
    assert!(checked.err.contains("`brickbat session s.jsonl` judges it"), "{checked:#?}");
}

#[test]
fn the_model_chooses_the_provider_and_the_note_says_how_to_choose_another() {
    let lost = r#"{"model":"deepseek-v4-flash","tools":[],"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"no"},{"role":"user","content":"Why?"}]}"#;
    let folder = folder_of(&[("lost.json", lost)]);
    let checked = said(&folder, &["check", "lost.json"]);
    assert!(checked.out.contains("refused by deepseek@"), "{checked:#?}");
    assert!(checked.out.contains("the model's own provider judged (deepseek@"), "{checked:#?}");
    assert!(checked.out.contains("--host names another"), "{checked:#?}");
    let other = said(&folder, &["check", "--profile", "openai-chat", "lost.json"]);
    assert_eq!(other.code, Some(0), "{other:#?}");
}

#[test]
fn hostile_texts_end_soon_with_an_error() {
    let folder = TempDir::new().unwrap();
    let (deep, long) = ("[".repeat(10_000), "{\"a".repeat(1 << 20));
    for (name, bytes) in [
        ("deep.json", deep.as_bytes()),
        ("deep.py", "{'a':".repeat(10_000).as_bytes()),
        ("call.py", "f(a=".repeat(10_000).as_bytes()),
        ("long.txt", long.as_bytes()),
        ("bytes.txt", b"{'a': '\xff\xfe'}"),
        ("cut.gz", b"\x1f\x8b\x08\x00\x00"),
        ("cut.zst", b"\x28\xb5\x2f\xfd\x00"),
        ("cut.jsonl", b"{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"us"),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
        for args in [&["check", name][..], &["check", "--diff", name]] {
            let checked = said(&folder, args);
            assert_eq!(checked.code, Some(2), "{name}: {}", checked.err);
        }
    }
}

#[test]
fn a_part_that_was_left_out_is_reported_with_its_line() {
    let command = "It fails:\n\n```bash\ncurl -s http://127.0.0.1:8080/v1/chat/completions -d '{\n \"model\":\"m\",\"tools\":[...],\n \"messages\": [{\"role\":\"user\",\"content\":}]}'\n```\n";
    let folder = folder_of(&[("issue.md", command)]);
    let checked = said(&folder, &["check", "issue.md"]);
    assert_eq!(checked.code, Some(2), "{checked:#?}");
    assert!(
        checked.err.contains("cannot read issue.md:5: a part of the request is left out"),
        "{checked:#?}"
    );
}

#[test]
fn a_body_that_is_not_json_is_called_so_although_the_host_is_unknown() {
    let command =
        "curl https://llm.example.com/v1/chat/completions -d '{\"model\":\"m\",,\"messages\":[]}'\n";
    let folder = folder_of(&[("run.sh", command)]);
    let checked = said(&folder, &["check", "run.sh"]);
    assert!(checked.err.contains("cannot read run.sh:1 as JSON"), "{checked:#?}");
    assert!(!checked.err.contains("no profile known"), "{checked:#?}");
}

#[test]
fn a_body_behind_a_line_of_json_in_a_log_is_found() {
    let pretty = serde_json::to_string_pretty(&body()).unwrap();
    let log = format!(
        "{{\"gptel\": \"request headers\", \"timestamp\": \"1\"}}\n{{\n  \"Content-Type\": \"application/json\"\n}}\n{pretty}\n"
    );
    let folder = folder_of(&[("gptel.log", &log)]);
    let checked = said(&folder, &["check", "gptel.log"]);
    assert!(checked.code == Some(1) && checked.out.contains(MISSING), "{checked:#?}");
    assert!(checked.err.contains("the request was found at line 5"), "{checked:#?}");
    // A long log is read line by line, so that no request behind its beginning is lost.
    let long = format!("{{}}\n{}{BAD}\n", format!("12:00 INFO {}\n", "x".repeat(1_000)).repeat(1_100));
    let folder = folder_of(&[("long.log", &long)]);
    let checked = said(&folder, &["check", "long.log"]);
    assert!(checked.out.contains(MISSING) && checked.out.contains("long.log:1102"), "{}", checked.out);
    // Lines of JSON with a torn one are still lines.
    let lines = format!("{BAD}\n{}\n", &BAD[..40]);
    let folder = folder_of(&[("two.log", &lines)]);
    let checked = said(&folder, &["check", "two.log"]);
    assert!(checked.out.contains(MISSING) && checked.err.contains("two.log:2"), "{checked:#?}");
}

#[test]
fn a_report_of_roo_code_is_judged_by_the_provider_that_it_names() {
    let report = serde_json::json!({
        "error": { "provider": "openai", "model": "kimi-k2.5", "details": "400" },
        "history": [
            { "role": "user", "content": [{ "type": "text", "text": "ping" }], "ts": 1 },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "a_0", "name": "find", "input": {} }], "ts": 2 },
            { "role": "user", "content": [{ "type": "text", "text": "again" }], "ts": 3 },
        ],
    });
    let text = format!("// Please share this file with Roo Code Support\n\n{report}\n");
    let folder = folder_of(&[("roo.json", &text)]);
    let checked = said(&folder, &["check", "roo.json"]);
    assert!(checked.code == Some(1) && checked.out.contains("refused by moonshot@"), "{checked:#?}");
    assert!(checked.err.contains("/history of the value in line 3, and written again"), "{checked:#?}");
}

#[test]
fn a_text_without_a_request_or_with_elided_values_says_so() {
    for (text, reason) in [
        (
            "[\n  { role: 'user', content: 'Hi' },\n  { role: 'assistant', tool_calls: [Array] }\n]\n",
            "Node.js left a part of the request out",
        ),
        ("The agent fails with the second question.", "no request was found in it"),
        ("The agent fails with: 400 Bad Request", "no request was found; the text may be about this error:"),
    ] {
        let folder = folder_of(&[("log.txt", text)]);
        let checked = said(&folder, &["check", "log.txt"]);
        assert!(checked.code == Some(2) && checked.err.contains(reason), "{checked:#?}");
    }
}

#[test]
fn a_profile_of_another_dialect_judges_nothing() {
    let items = r#"{"input":[{"role":"user","content":"Rain?"},{"type":"function_call","call_id":"c","name":"w","arguments":"{}"}]}"#;
    let folder = folder_of(&[("items.json", items)]);
    let checked = said(&folder, &["check", "--profile", "vllm", "items.json"]);
    assert_eq!(checked.code, Some(2), "{checked:#?}");
    assert!(checked.err.contains("a request of openai-responses, which the profile vllm@"), "{checked:#?}");
    assert!(checked.err.contains("profiles of openai-responses: `copilot-responses` (GitHub Copilot), `deepseek-responses` (DeepSeek)"), "{checked:#?}");
}

#[test]
fn the_error_in_a_text_without_a_request_is_explained() {
    let quoted =
        "After a restart the bot never answers again:\n\n> No tool output found for function call call_1.\n";
    let error = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."}}"#;
    let folder = folder_of(&[("issue.md", quoted), ("error.json", error), ("bad.json", BAD)]);
    for (name, rule) in
        [("issue.md", "openai-responses/"), ("error.json", "anthropic-messages/tool-result-missing")]
    {
        let checked = said(&folder, &["check", name]);
        assert_eq!(checked.code, Some(2), "{checked:#?}");
        assert!(checked.err.contains("no request was found; the text contains an error:"), "{checked:#?}");
        assert!(checked.out.contains(rule), "{checked:#?}");
    }
    let both = said(&folder, &["check", "issue.md", "bad.json"]);
    assert!(both.code == Some(2) && both.out.contains(MISSING), "{both:#?}");
    // A body that is cut stays one.
    let folder = folder_of(&[("cut.json", &BAD[..BAD.len() - 20])]);
    assert_eq!(said(&folder, &["check", "cut.json"]).code, Some(2));
}

#[test]
fn an_excerpt_and_a_program_with_variables_are_judged_as_far_as_they_go() {
    let message = body()["messages"][1].to_string();
    let program = "client.messages.create(model=M, messages=[{'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': call.id, 'content': text}]}, *more])\n";
    for (name, text, words) in [
        ("one.md", message.as_str(), "an excerpt of 1 message; 1 before it and 1 after it were added"),
        ("program.py", program, "left out; nothing that depends on them is reported"),
    ] {
        let folder = folder_of(&[(name, text)]);
        let checked = said(&folder, &["check", name]);
        assert_eq!(checked.code, Some(0), "{checked:#?}");
        assert!(checked.err.contains(words), "{checked:#?}");
    }
    let user = r#"{"role":"user","content":"Well?"}"#;
    let result = r#"{"role":"tool","tool_call_id":"call_1","content":"no"}"#;
    let folder = folder_of(&[("three.md", &format!("```\n{message},\n{user},\n{result}\n```\n"))]);
    let checked = said(&folder, &["check", "three.md"]);
    assert!(checked.code == Some(1) && checked.out.contains(MISSING), "{checked:#?}");
    let fixed = said(&folder, &["check", "--diff", "three.md"]);
    assert!(fixed.code == Some(2) && fixed.err.contains("leaves parts of the request out"), "{fixed:#?}");
}

#[test]
fn a_refusal_beside_an_accepted_request_leaves_the_verdict_open() {
    let sent = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Rain?"}]}"#;
    let refusal = "ERROR 400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1";
    let trace = format!(r#"{{"kwargs":{sent},"error_message":"{refusal}"}}"#);
    let accepted = format!("DEBUG body {sent}\n{refusal}\n");
    // The words of a user do not refuse anything.
    let said_by_user = format!("DEBUG body {}\nDEBUG done\n", sent.replace("Rain?", refusal));
    let shown = format!("DEBUG body {BAD}\n{refusal}\n");
    // A status without a known sentence is a refusal, too, and a number is not.
    let status = format!("DEBUG body {sent}\nERROR HTTP 422 Unprocessable Entity\n");
    let number = format!("DEBUG body {sent}\nDEBUG read 400 lines\n");
    let folder = folder_of(&[
        ("accepted.log", accepted.as_str()),
        ("trace.json", trace.as_str()),
        ("user.log", said_by_user.as_str()),
        ("shown.log", shown.as_str()),
        ("status.log", status.as_str()),
        ("number.log", number.as_str()),
    ]);
    let words = "also quotes a refusal for which these rules find no reason in its request";
    for (name, code, is_told) in
        [("accepted.log", 2, true), ("trace.json", 2, true), ("user.log", 0, false), ("shown.log", 1, false)]
    {
        let checked = said(&folder, &["check", name]);
        assert_eq!(checked.code, Some(code), "{checked:#?}");
        assert_eq!(checked.err.contains(words), is_told, "{checked:#?}");
    }
    for (name, code) in [("status.log", 2), ("number.log", 0)] {
        let checked = said(&folder, &["check", name]);
        assert_eq!(checked.code, Some(code), "{checked:#?}");
        assert_eq!(checked.err.contains("says that a request was refused"), code == 2, "{checked:#?}");
    }
}

#[test]
fn a_recorded_refusal_without_a_reason_in_its_request_leaves_the_verdict_open() {
    let har = |status: u16, error: &str| {
        let body =
            json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": "Rain?" }] }).to_string();
        let reply = json!({ "error": { "message": error } }).to_string();
        let entry = json!({
            "request": { "method": "POST", "url": "https://api.openai.com/v1/chat/completions",
                "postData": { "mimeType": "application/json", "text": body } },
            "response": { "status": status, "content": { "mimeType": "application/json", "text": reply } },
        });
        json!({ "log": { "version": "1.2", "entries": [entry] } }).to_string()
    };
    let folder = folder_of(&[
        ("history.har", &har(400, "Invalid value for 'content': expected a string, got null.")),
        ("length.har", &har(400, "max_tokens is too large.")),
        ("key.har", &har(401, "Invalid value for 'content': expected a string, got null.")),
    ]);
    for (name, code, is_told) in [("history.har", 2, true), ("length.har", 0, true), ("key.har", 0, false)] {
        let checked = said(&folder, &["check", name]);
        assert_eq!(checked.code, Some(code), "{name}: {checked:#?}");
        assert_eq!(checked.err.contains("the recorded server refused this request"), is_told, "{checked:#?}");
    }
}

#[test]
fn a_pasted_request_of_the_responses_api_is_judged_as_a_whole() {
    let body = r#"{"model":"gpt-5","store":false,"input":[{"role":"user","content":"Rain?"},{"role":"tool","tool_call_id":"call_1","content":"no"}]}"#;
    let folder = folder_of(&[("issue.md", &format!("The body:\n```json\n{body}\n```\n"))]);
    let checked = said(&folder, &["check", "issue.md"]);
    assert!(checked.code == Some(1) && checked.out.contains("openai-responses/unknown-role"), "{checked:#?}");
}

#[test]
fn the_provider_whose_refusal_a_text_quotes_judges_its_request() {
    let body = r#"{"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"","tool_calls":[{"id":"chatcmpl-tool-e5add8","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"chatcmpl-tool-e5add8","content":"no"}]}"#;
    let quoted = "InvalidFunctionCallException: Tool call id ... must be a-z, A-Z, 0-9, with a length of 9.";
    let folder = folder_of(&[
        ("quoted.md", &format!("It fails with\n\n    {quoted}\n\n```\n{body}\n```\n")),
        ("alone.md", body),
    ]);
    let checked = said(&folder, &["check", "quoted.md"]);
    assert!(checked.code == Some(1) && checked.out.contains("mistral/call-id-form"), "{checked:#?}");
    assert!(
        checked.err.contains("quotes a refusal of Mistral, so its rules judged (mistral@"),
        "{checked:#?}"
    );
    assert_eq!(said(&folder, &["check", "alone.md"]).code, Some(0));
    // Who names a provider is asked for its verdict.
    let named = said(&folder, &["check", "--profile", "openai-chat", "quoted.md"]);
    assert!(named.out.contains("accepted by openai-chat@"), "{named:#?}");
}

#[test]
fn the_address_of_a_proxy_leaves_the_request_to_the_provider_of_its_dialect() {
    let curl = format!("curl https://llm.acme-agents.dev/v1/chat/completions -d '{BAD}'");
    let folder = folder_of(&[("run.sh", &curl)]);
    let checked = said(&folder, &["check", "run.sh"]);
    assert!(checked.code == Some(1) && checked.out.contains("refused by openai-chat@"), "{checked:#?}");
    assert!(checked.err.contains("the strictness of llm.acme-agents.dev is not known"), "{checked:#?}");
    let named = said(&folder, &["check", "--host", "llm.acme-agents.dev", "run.sh"]);
    assert!(named.code == Some(2) && named.err.contains("no profile known"), "{named:#?}");
}

#[test]
fn a_list_inside_an_object_is_refused_and_not_taken_for_the_request() {
    let body =
        r#"{"messages":{"messages":[{"role":"user","content":"Hi"}]},"model":"DeepSeek-R1-Distill-Qwen-7B"}"#;
    let log = format!(
        "Received request: POST to /v1/chat/completions with body {body}\n[Server Error] not iterable\n"
    );
    let folder = folder_of(&[("server.log", &log), ("body.json", body)]);
    for args in [vec!["check", "server.log"], vec!["check", "--host", "api.openai.com", "body.json"]] {
        let checked = said(&folder, &args);
        let is_refused = checked.code == Some(1) && checked.out.contains("expected an array of objects");
        assert!(is_refused, "{args:?}: {checked:#?}");
    }
}

#[test]
fn items_of_an_excerpt_include_reasoning_and_other_kinds() {
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA"}"#;
    let user = r#"{"role":"user","content":[{"type":"input_text","text":"Hi"}]}"#;
    let text = format!("The input was:\n\n{user},\n{reasoning},\n{user}\n");
    let folder = folder_of(&[("issue.md", &text)]);
    let checked = said(&folder, &["check", "issue.md"]);
    assert!(checked.code == Some(1) && checked.out.contains("reasoning-without-item"), "{checked:#?}");
}

#[test]
fn calls_with_fields_left_out_are_paired_by_their_ids() {
    let call = |id: &str| {
        format!(
            "{{\n  \"role\": \"assistant\",\n  \"tool_calls\": [\n    {{\n      \"id\": \"{id}\",\n      \"type\": \"function\",\n      .... \n    }}\n  ]\n}}"
        )
    };
    let result =
        |id: &str| format!("{{\"role\": \"tool\", \"content\": \"....\", \"tool_call_id\": \"{id}\"}}");
    let torn = [call("call_1"), call("call_2"), result("call_1"), result("call_2")].join(",\n");
    let whole = [call("call_1"), result("call_1"), call("call_2"), result("call_2")].join(",\n");
    let folder = folder_of(&[("torn.md", &torn), ("whole.md", &whole)]);
    let checked = said(&folder, &["check", "torn.md"]);
    assert!(checked.code == Some(1) && checked.out.contains(MISSING), "{checked:#?}");
    let checked = said(&folder, &["check", "whole.md"]);
    assert!(checked.code == Some(0) && checked.out.contains("accepted"), "{checked:#?}");
}

#[test]
fn a_refusal_of_a_converter_has_the_reason_in_the_request_before_it() {
    let text = "The API says: The `reasoning_content` in the thinking mode must be passed back to the API.\n\n```json\n\
        {\"model\":\"deepseek-v4-flash\",\"messages\":[{\"role\":\"user\",\"content\":\"Read it.\"},{\"role\":\"assistant\",\
        \"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"read\",\"input\":{}}]},{\"role\":\"user\",\"content\":[\
        {\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"a\"}]}]}\n```\n";
    let folder = folder_of(&[("issue.md", text)]);
    let checked = said(&folder, &["check", "issue.md"]);
    assert!(checked.code == Some(1) && checked.out.contains("thinking-not-returned"), "{checked:#?}");
    assert!(!checked.err.contains("find no reason"), "{checked:#?}");
}

#[test]
fn a_text_that_is_only_near_a_sentence_gets_the_nearest() {
    let text = "# type 'reasoning' was provided without its required following item\n\nThe context was:\n\n```\n{ \"role\": \"assistant\",\n...\n```\n";
    let folder = folder_of(&[("issue.md", text)]);
    let checked = said(&folder, &["check", "issue.md"]);
    assert!(checked.code == Some(2) && checked.out.contains("reasoning-without-item"), "{checked:#?}");
    assert!(checked.err.contains("no request was found; the text may be about this error"), "{checked:#?}");
}

#[test]
fn messages_of_frameworks_are_judged_with_their_calls_and_never_by_one_message() {
    let message = |role: &str, content: &str| format!(r#"{{"role":"{role}","contents":[{content}]}}"#);
    let call = r#"{"type":"function_call","call_id":"c1","name":"w","arguments":"{}"}"#;
    let result = r#"{"type":"function_result","call_id":"c1","result":"sun"}"#;
    let agent_framework = format!(
        "The thread:\n```json\n{{\"conversation\":[{},{},{}]}}\n```\n",
        message("assistant", call),
        message("tool", result),
        message("tool", result)
    );
    let span = r#"{"attributes":{"llm.model_name":"gpt-5","llm.input_messages.0.message.role":"assistant","llm.input_messages.0.message.content":"x","input.value":"{\"messages\":[[{\"lc\":1,\"type\":\"constructor\",\"id\":[\"langchain_core\",\"messages\",\"AIMessage\"],\"kwargs\":{\"content\":\"x\",\"tool_calls\":[{\"name\":\"w\",\"args\":{},\"id\":\"c1\"}]}}]]}"}}"#;
    let langfuse = |role: &str| {
        format!(
            r#"{{"type":"GENERATION","model":"gpt-5","input":[{{"role":"user","content":"Hi"}},{{"role":"assistant","content":"","tool_calls":[{{"name":"w","args":{{}},"id":"c1","type":"tool_call"}}]}},{{"role":"{role}","content":"sun","tool_call_id":"c1"}}]}}"#
        )
    };
    let one = message("assistant", call);
    let folder = folder_of(&[
        ("thread.md", &agent_framework),
        ("span.json", span),
        ("answered.json", &langfuse("tool")),
        ("lossy.json", &langfuse("w")),
        ("one.json", &one),
    ]);
    let duplicate = said(&folder, &["check", "thread.md"]);
    assert!(duplicate.code == Some(1) && duplicate.out.contains("tool-message-duplicate"), "{duplicate:#?}");
    let open = said(&folder, &["check", "span.json"]);
    assert!(open.code == Some(1) && open.out.contains(MISSING), "{open:#?}");
    let answered = said(&folder, &["check", "answered.json"]);
    assert!(answered.code == Some(0), "{answered:#?}");
    for lossy in ["lossy.json", "one.json"] {
        let checked = said(&folder, &["check", lossy]);
        assert!(checked.code == Some(2) && !checked.out.contains("refused"), "{lossy}: {checked:#?}");
    }
}

#[test]
fn a_part_that_somebody_tells_of_is_an_excerpt_and_a_list_that_begins_with_results_is_whole() {
    let lines = [
        r#"{'role': 'user', 'content': [{'toolResult': {'toolUseId': 't1', 'content': [{'text': 'a'}]}}]}"#,
        r#"{'role': 'assistant', 'content': []}"#,
        r#"{'role': 'user', 'content': [{'text': 'Go'}]}"#,
    ];
    let orphan =
        r#"[{"role":"tool","tool_call_id":"c1","content":"sun"},{"role":"user","content":"And now?"}]"#;
    let folder = folder_of(&[
        ("told.log", &lines.join("\n\n// the agent continues\n\n")),
        ("printed.log", &lines.join("\n")),
        ("trimmed.md", &format!("The client sends:\n\n```python\nmessages={orphan}\n```\n")),
        ("trace.json", &format!(r#"{{"observations":[{{"model":"gpt-5","input":{orphan}}}]}}"#)),
    ]);
    let told = said(&folder, &["check", "told.log"]);
    assert!(told.code == Some(1) && told.out.contains("message-empty"), "{told:#?}");
    assert!(!told.out.contains("tool-results-exceed"), "{told:#?}");
    let printed = said(&folder, &["check", "printed.log"]);
    assert!(printed.code == Some(1) && printed.out.contains("tool-results-exceed"), "{printed:#?}");
    for whole in ["trimmed.md", "trace.json"] {
        let checked = said(&folder, &["check", whole]);
        assert!(
            checked.code == Some(1) && checked.out.contains("tool-message-orphan"),
            "{whole}: {checked:#?}"
        );
    }
}

#[test]
fn the_path_of_a_file_before_a_request_chooses_no_api() {
    let text = "  File \"/app/src/interactions/run.py\", line 3, in /srv/conversations/store\nbody = \
                {\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}\n";
    let folder = folder_of(&[("trace.log", text)]);
    let checked = said(&folder, &["check", "trace.log"]);
    assert!(checked.code == Some(0) && checked.out.contains("accepted by openai-chat"), "{checked:#?}");
}

#[test]
fn a_warning_about_the_same_kind_of_fault_does_not_explain_a_quoted_refusal() {
    // The rule about signatures only warns without a model, and the quoted one is about thinking that was changed.
    let text = "400 messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be \
                modified. These blocks must remain as they were in the original response.\n\n{\"contents\":[{\"role\":\"user\",\
                \"parts\":[{\"text\":\"Hi\"}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"w\",\"args\":{}}}]},\
                {\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"w\",\"response\":{}}}]}]}\n";
    let folder = folder_of(&[("issue.md", text)]);
    let checked = said(&folder, &["check", "issue.md"]);
    assert!(checked.code == Some(2) && checked.out.contains("1 warning"), "{checked:#?}");
    assert!(checked.err.contains("find no reason"), "{checked:#?}");
}

#[test]
fn a_row_for_training_that_ends_with_a_call_says_so() {
    let row = r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]}],"tools":[]}"#;
    let folder = folder_of(&[("rows.jsonl", &format!("{row}\n{row}\n"))]);
    let checked = said(&folder, &["check", "rows.jsonl"]);
    assert!(checked.code == Some(0) && checked.out.contains("2 accepted"), "{checked:#?}");
    assert_eq!(checked.err.matches("judged as rows for training").count(), 1, "{checked:#?}");
}
