//! The oracle on the command line: `check`, `explain`, `recordings` and `lint`.

use std::fs;
use std::path::Path;

use crate::program::{Said, brickbat, command, finish, folder_of, report};
use serde_json::Value;
use tempfile::TempDir;

const GOOD: &str = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"}]}"#;
const BAD: &str = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},{"role":"user","content":"Well?"}]}"#;
/// A request that one profile accepts with a warning.
const REUSED: &str = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"w1"}]},{"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"w1"}]}]}"#;
const MISSING: &str = "anthropic-messages/tool-result-missing";

fn said(folder: &TempDir, args: &[&str]) -> Said {
    brickbat(folder.path(), args, &[])
}

#[test]
fn a_finding_shows_the_block_in_its_place() {
    let folder = folder_of(&[("bad.json", BAD)]);
    let said = said(&folder, &["check", "bad.json"]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    let expected = format!("error[{MISSING}]: messages.1: ");
    assert!(said.out.starts_with(&expected), "{}", said.out);
    let column = BAD.find("{\"type\":\"tool_use").unwrap() + 1;
    for words in [
        &format!(" --> bad.json:1:{column} at /messages/1/content/0\n"),
        "  | messages[0] user: \"Rain?\"\n",
        "{ \"type\": \"tool_use\", \"id\": \"w1\", \"name\": \"weather\", \"input\": {} }",
        "^^^^",
        "  | messages[2] user: \"Well?\"\n",
        "  = rule ANT-TU-1: ",
        "  = help: ",
        "bad.json: refused by anthropic-messages@",
    ] {
        assert!(said.out.contains(words), "{words}\n{}", said.out);
    }
}

#[test]
fn no_output_shows_private_data_and_the_fixed_file_keeps_it() {
    let hex = "3fa85f6457174562b3fc2c963f66afa6";
    let planted = [
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS secret key"),
        ("AQ.Ab8RN6Zk9qLmT4wXr2Pb7Nc1Vd8Ys3Hf6Gj5Ku0QeRaSiOtUyWx", "Google key"),
        ("rk_live_Zk9qLmT4wXr2Pb7Nc1Vd8Ys3", "Stripe key"),
        ("ada.lovelace@analytical.example", "e-mail"),
        ("/home/lovelace/notes", "Linux home"),
        ("/Users/lovelace/notes", "macOS home"),
        ("C:\\Users\\lovelace\\notes", "Windows home"),
        ("adas-macbook-pro.local", "machine"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----", "PEM"),
    ];
    let named = [
        ("AZURE_OPENAI_API_KEY", hex),
        ("password", "hunter2-and-more"),
        ("client_secret", "s3cr3t-of-mine"),
    ];
    let marks = [
        "wJalrXU",
        "K7MDENG",
        "Zk9qLmT4",
        "ada.love",
        "lovelace",
        "macbook",
        "MIIEvQ",
        hex,
        "hunter2",
        "s3cr3t-of",
        "3fa85f64",
    ];
    let mut bodies: Vec<Value> =
        planted.iter().map(|(secret, _)| Value::from(format!("My own: {secret}, see."))).collect();
    bodies.extend(
        named.iter().map(|(name, secret)| Value::from(format!("{name}={secret} and {name}: {secret}"))),
    );
    // Cut for display, in the middle of the secret.
    bodies.extend(planted.iter().map(|(secret, _)| Value::from(format!("{}{secret}", "word ".repeat(8)))));
    for secret in bodies {
        let input: serde_json::Map<String, Value> =
            named.iter().map(|(name, secret)| ((*name).to_owned(), Value::from(*secret))).collect();
        let mut body: Value = serde_json::from_str(BAD).unwrap();
        body["messages"][0]["content"] = secret.clone();
        body["messages"][1]["content"][0]["input"] = input.clone().into();
        body["messages"][2]["content"] = secret.clone();
        let folder = folder_of(&[("bad.json", format!("{body:#}").as_str())]);
        let mut printed = Vec::new();
        for form in [
            &["check", "bad.json"][..],
            &["check", "--format", "json", "bad.json"],
            &["check", "--format", "sarif", "bad.json"],
            &["check", "--format", "github", "bad.json"],
            &["check", "--diff", "bad.json"],
            &["check", "--fix", "bad.json"],
            &["check", "bad.fixed.json"],
        ] {
            let said = said(&folder, form);
            printed.push(format!("{form:?}\n{}{}", said.out, said.err));
            if form.contains(&"json") || form.contains(&"sarif") {
                assert!(serde_json::from_str::<Value>(&said.out).is_ok(), "{}", said.out);
            }
        }
        for text in printed {
            let leaked = marks.iter().find(|mark| text.contains(*mark));
            assert!(leaked.is_none(), "{leaked:?} of {secret}:\n{text}");
        }
        // The file is the user's, word for word.
        let fixed = report(&folder.path().join("bad.fixed.json"));
        assert_eq!(fixed["messages"][0]["content"], secret);
        assert_eq!(fixed["messages"][1]["content"][0]["input"], Value::from(input));
        // The path to the place stays.
        let said = said(&folder, &["check", "bad.json"]);
        for words in ["at /messages/1/content/0\n", "\"id\": \"w1\"", "^^^^", MISSING] {
            assert!(said.out.contains(words), "{words}: {}", said.out);
        }
    }
}

#[test]
fn folders_are_walked_in_order_with_a_summary() {
    let lines = format!("{GOOD}\n\n{BAD}\n{{\"status\":200,\"request\":{GOOD}}}\n");
    let folder = folder_of(&[
        ("a/rows.jsonl", &lines),
        ("a/b/bad.json", BAD),
        ("a/good.json", GOOD),
        ("a/package.json", "{\"name\":\"x\"}"),
        ("a/notes.md", "hello"),
    ]);
    let first = said(&folder, &["check", "a"]);
    assert_eq!((first.code, first.err.as_str()), (Some(1), ""), "{first:#?}");
    let summaries: Vec<&str> =
        first.out.lines().filter(|line| line.contains("accepted") || line.contains("refused")).collect();
    assert!(summaries[0].starts_with("a/b/bad.json: refused by"), "{summaries:#?}");
    assert!(summaries[1].starts_with("a/good.json: accepted by"), "{summaries:#?}");
    assert_eq!(summaries[2], "a/rows.jsonl: 3 requests: 2 accepted, 1 refused");
    assert_eq!(summaries[3], "in all: 4 files, 5 requests: 3 accepted, 2 refused; 2 other files passed over");
    assert!(first.out.contains(" --> a/rows.jsonl:3:"), "{}", first.out);
    assert_eq!(said(&folder, &["check", "a"]).out, first.out);
}

#[test]
fn a_broken_line_does_not_stop_the_others_from_being_judged() {
    let folder = folder_of(&[("rows.jsonl", &format!("{GOOD}\n{{\"messages\":\n{BAD}\n[]\n"))]);
    let said = said(&folder, &["check", "rows.jsonl", "none.json"]);
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert!(said.err.contains("cannot read rows.jsonl:2 as JSON: EOF while parsing"), "{said:#?}");
    assert!(said.err.contains(" at column 12\n") && !said.err.contains("at line"), "{said:#?}");
    assert!(said.err.contains("rows.jsonl:4 does not show its dialect"), "{said:#?}");
    assert!(said.err.contains("cannot read none.json"), "{said:#?}");
    assert!(said.out.contains("rows.jsonl: 2 requests: 1 accepted, 1 refused, 2 not judged"), "{said:#?}");
}

#[test]
fn many_lines_keep_their_order() {
    let lines: String = (0..5000).map(|n| format!("{}\n", if n % 1000 == 7 { BAD } else { GOOD })).collect();
    let folder = folder_of(&[("rows.jsonl", &lines)]);
    let said = said(&folder, &["check", "rows.jsonl"]);
    let places: Vec<&str> =
        said.out.lines().filter_map(|line| line.strip_prefix(" --> rows.jsonl:")).collect();
    let lines: Vec<&str> = places.iter().map(|place| place.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["8", "1008", "2008", "3008", "4008"]);
    assert!(said.out.contains("5000 requests: 4995 accepted, 5 refused"), "{said:#?}");
}

#[test]
fn rules_are_switched_off_and_denied_by_each_of_their_names() {
    let folder = folder_of(&[("bad.json", BAD), ("reused.json", REUSED)]);
    for name in [MISSING, "tool-result-missing", "ANT-TU-1"] {
        assert_eq!(said(&folder, &["check", "--off", name, "bad.json"]).code, Some(0), "{name}");
    }
    let warned = said(&folder, &["check", "reused.json"]);
    assert_eq!(warned.code, Some(0), "{warned:#?}");
    assert!(warned.out.contains("warning[anthropic-messages/tool-use-id-reused]"), "{warned:#?}");
    let denied = said(&folder, &["check", "--deny", "tool-use-id-reused", "reused.json"]);
    assert_eq!(denied.code, Some(1), "{denied:#?}");
    assert!(denied.out.contains("denied[anthropic-messages/tool-use-id-reused]"), "{denied:#?}");
    let wrong = said(&folder, &["check", "--off", "tool-result-mising", "bad.json"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    assert!(wrong.err.contains("did you mean `tool-result-missing`?"), "{wrong:#?}");
}

#[test]
fn programs_get_json_sarif_and_commands_of_github() {
    let folder = folder_of(&[("a,b.jsonl", &format!("{GOOD}\n{BAD}\n{{\n")), ("reused.json", REUSED)]);
    let with = |format: &str| {
        let said = said(&folder, &["check", "--format", format, "a,b.jsonl", "reused.json"]);
        assert_eq!(said.code, Some(2), "{said:#?}");
        said.out
    };
    let read = |format: &str| {
        let path = folder.path().join(format);
        fs::write(&path, with(format)).unwrap();
        report(&path)
    };
    let json = read("json");
    assert_eq!(json["requests"].as_array().unwrap().len(), 4);
    assert_eq!(json["requests"][1]["findings"][0]["rule"], MISSING);
    assert_eq!(json["requests"][1]["findings"][0]["place"]["line"], 2);
    assert_eq!(json["summary"]["n_refused"], 1);
    let sarif = read("sarif");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some(MISSING), Some("error")));
    let region = &result["locations"][0]["physicalLocation"]["region"];
    let at = BAD.find("{\"type\":\"tool_use").unwrap();
    assert_eq!(region["byteOffset"], GOOD.len() + 1 + at);
    assert_eq!((&region["startLine"], &region["startColumn"]), (&Value::from(2), &Value::from(at + 1)));
    let github = with("github");
    let lines: Vec<&str> = github.lines().collect();
    assert_eq!(lines.len(), 3, "{github}");
    assert!(lines[0].starts_with("::error file=a%2Cb.jsonl,line=2,col="), "{github}");
    assert!(lines[0].contains(",title=anthropic-messages/tool-result-missing::messages.1: "), "{github}");
    assert!(lines[1].starts_with("::error file=a%2Cb.jsonl,line=3,title=not judged::"), "{github}");
    assert!(lines[2].starts_with("::warning file=reused.json,"), "{github}");
}

#[test]
fn explain_writes_a_site() {
    let folder = TempDir::new().unwrap();
    let told = said(&folder, &["explain", "--html", "rules"]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    let index = fs::read_to_string(folder.path().join("rules/index.html")).unwrap();
    assert!(index.contains("href=\"anthropic-messages/index.html\""), "{index}");
    let index = fs::read_to_string(folder.path().join("rules/anthropic-messages/index.html")).unwrap();
    assert!(index.contains(&format!("href=\"../{MISSING}.html\"")), "{index}");
    let page = fs::read_to_string(folder.path().join(format!("rules/{MISSING}.html"))).unwrap();
    assert!(page.contains("<h2>Before</h2>") && page.contains("<h2>After</h2>"), "{page}");
    assert_eq!(said(&folder, &["explain", "--book", "errors"]).code, Some(0));
    let summary = fs::read_to_string(folder.path().join("errors/SUMMARY.md")).unwrap();
    assert!(summary.contains(&format!("]({MISSING}.md)")), "{summary}");
    let page = said(&folder, &["explain", "tool-result-missing"]).out;
    assert!(
        page.contains("\nBefore: ") && page.contains("\nAfter: ") && page.contains("Enforced by: "),
        "{page}"
    );
    assert_eq!(said(&folder, &["explain", "--all"]).out, said(&folder, &["explain"]).out);
}

#[test]
fn recordings_are_compared_without_showing_secrets() {
    let key = format!("sk-ant-{}", "x1".repeat(20));
    let row = |status: u16, request: &str, error: &str| {
        format!(r#"{{"host":"api.anthropic.com","status":{status},"request":{request},"error":{error}}}"#)
    };
    let rows = [
        row(200, GOOD, "null"),
        row(400, BAD, "{\"error\":{\"message\":\"tool_use without tool_result\"}}"),
        row(429, GOOD, "\"slow down\""),
        row(400, GOOD, &format!("\"no {} here\"", key)),
    ];
    let agreed = format!("{}\n", rows.join("\n"));
    let strict = format!("{agreed}{}\n", row(200, BAD, "null"));
    let cassette = "interactions:\n- request:\n    uri: https://api.openai.com/v1/embeddings\n    body: '{\"input\":\"hi\"}'\n  response:\n    status: { code: 200 }\n";
    let folder = folder_of(&[
        ("a.jsonl", &agreed),
        ("b.jsonl", &strict),
        ("c.yaml", cassette),
        ("d.yaml", "interactions:\n  - 1\n"),
    ]);
    let told = said(&folder, &["recordings", "a.jsonl", "c.yaml"]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    assert!(told.out.contains("a.jsonl:4: too lax: api.anthropic.com refused it"), "{told:#?}");
    assert!(!told.out.contains("sk-ant-"), "{told:#?}");
    assert!(told.out.contains("1 requests ask for no reply"), "{told:#?}");
    let strict = said(&folder, &["recordings", "--format", "json", "b.jsonl"]);
    assert_eq!(strict.code, Some(1), "{strict:#?}");
    let json: Value = serde_json::from_str(&strict.out).unwrap();
    let row = &json["profiles"][0];
    let counts = ["requests", "accepted", "refused", "too_strict", "too_lax", "something_else"];
    assert_eq!(counts.map(|name| row[name].as_u64().unwrap()), [5, 1, 1, 1, 1, 1]);
    assert!(json["disagreements"].as_array().unwrap().iter().any(|found| found["rule"] == MISSING));
    assert!(!strict.out.contains("sk-ant-"), "{strict:#?}");
    let promoted = said(&folder, &["recordings", "--promote", "vectors", "b.jsonl"]);
    assert_eq!(promoted.code, Some(1), "{promoted:#?}");
    let vectors = ["accepted", "refused"].map(|kind| {
        let path = format!("vectors/anthropic-messages/recorded-{kind}.json");
        assert!(promoted.err.contains(&format!("{path}: 1 vector")), "{promoted:#?}");
        fs::read_to_string(folder.path().join(path)).unwrap()
    });
    assert!(!vectors.concat().contains("Rain") && !vectors.concat().contains("sk-ant-"), "{vectors:#?}");
    let [accepted, refused] =
        ["accepted", "refused"].map(|kind| format!("vectors/anthropic-messages/recorded-{kind}.json"));
    fs::remove_file(folder.path().join(&accepted)).unwrap();
    let again = said(&folder, &["recordings", "--promote", "vectors", "b.jsonl"]);
    assert!(!folder.path().join(accepted).exists(), "{again:#?}");
    assert_eq!(again.code, Some(2), "{again:#?}");
    assert!(again.err.contains(&format!("{refused} exists\nhint: ")), "{again:#?}");
    let broken = said(&folder, &["recordings", "a.jsonl", "d.yaml"]);
    assert_eq!(broken.code, Some(2), "{broken:#?}");
    assert!(broken.err.contains("cannot read d.yaml:2: not a cassette"), "{broken:#?}");
    fs::write(folder.path().join("e.jsonl"), "{}\n{\"a\":\n").unwrap();
    let broken = said(&folder, &["recordings", "e.jsonl"]);
    assert!(broken.err.contains("cannot read e.jsonl:2: not JSON: EOF while parsing"), "{broken:#?}");
    assert!(broken.err.contains(" at column ") && !broken.err.contains("at line"), "{broken:#?}");
}

#[test]
fn recordings_are_judged_as_strictly_as_their_host_and_model() {
    let contents = r#"{"contents":[{"role":"user","parts":[{"text":"Rain?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"rain":true}}}]}]}"#;
    let row = |host: &str, model: &str, status: u16| {
        format!(
            r#"{{"dialect":"gemini","host":"{host}","model":"{model}","status":{status},"request":{contents}}}"#
        )
    };
    let rows = [
        row("generativelanguage.googleapis.com", "gemini-2.5-flash", 200),
        row("generativelanguage.googleapis.com", "gemini-3-flash-preview", 400),
        row("europe-west4-aiplatform.googleapis.com", "gemini-2.5-pro", 200),
    ];
    let folder = folder_of(&[("rows.jsonl", &rows.join("\n"))]);
    let told = said(&folder, &["recordings", "rows.jsonl"]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    let counts = |profile: &str| -> Vec<&str> {
        let row = told.out.lines().find(|line| line.contains(profile)).unwrap();
        row.split_whitespace().skip(2).collect()
    };
    assert_eq!(counts(" gemini@"), ["2", "1", "1", "0", "0", "0"]);
    assert_eq!(counts(" vertex-gemini@"), ["1", "1", "0", "0", "0", "0"]);
}

#[test]
fn lint_writes_vectors_in_one_form() {
    let vectors = r#"{"schema":1,"comment":"c","source":"s","vectors":[{"comment":"v","name":"n","request":{},"result":"valid","violated":[]}]}"#;
    let folder = folder_of(&[("v/a.json", vectors), ("v/vector.schema.json", "{}")]);
    let differs = said(&folder, &["lint", "v"]);
    assert_eq!(differs.code, Some(1), "{differs:#?}");
    assert!(differs.out.starts_with("v/a.json:1: "), "{differs:#?}");
    assert_eq!(said(&folder, &["lint", "--fix", "v"]).code, Some(0));
    assert_eq!(said(&folder, &["lint", "v"]).code, Some(0));
    fs::write(folder.path().join("v/a.json"), vectors.replace("\"valid\"", "\"good\"")).unwrap();
    let wrong = said(&folder, &["lint", "--fix", "v"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    assert!(wrong.err.contains("v/a.json: vectors[0].result: unknown variant `good`"), "{wrong:#?}");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/histories");
    assert_eq!(said(&folder, &["lint", corpus.to_str().unwrap()]).code, Some(0));
}

#[test]
fn lint_skips_the_vectors_of_streams_with_a_note() {
    let folder = folder_of(&[]);
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
    let all = said(&folder, &["lint", corpora.to_str().unwrap()]);
    assert_eq!((all.code, all.out.as_str()), (Some(0), ""), "{all:#?}");
    assert!(all.err.contains(" files with vectors for streams: "), "{all:#?}");
    assert_eq!(all.err.lines().count(), 1, "{all:#?}");
    let streams = said(&folder, &["lint", corpora.join("streams").to_str().unwrap()]);
    assert_eq!((streams.code, streams.err.lines().count()), (Some(2), 2), "{streams:#?}");
    assert!(streams.err.contains("error: no vectors for request bodies in "), "{streams:#?}");
    let one = said(&folder, &["lint", corpora.join("streams/gemini/truncated.json").to_str().unwrap()]);
    assert_eq!(one.code, Some(2), "{one:#?}");
    assert!(one.err.contains("contains vectors for streams\nhint: "), "{one:#?}");
}

/// A call of Gemini 3 without its signature, which an older model accepts.
const UNSIGNED: &str = r#"{"contents":[{"role":"user","parts":[{"text":"List."}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a"}}}]}],"tools":[{"functionDeclarations":[{"name":"ls"}]}]}"#;

/// A request that ends with the beginning of a reply, which older models of Claude accept.
const PREFILL: &str = r#"{"max_tokens":5,"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":[{"type":"text","text":"Well,"}]}]}"#;

#[test]
fn a_fix_begins_with_the_verdict_of_check_with_the_same_options() {
    let row = format!(r#"{{"dialect":"gemini","model":"gemini-3-pro-preview","request":{UNSIGNED}}}"#);
    let folder = folder_of(&[
        ("unsigned.json", UNSIGNED),
        ("prefill.json", PREFILL),
        ("bad.json", BAD),
        ("reused.json", REUSED),
        ("row.jsonl", &row),
    ]);
    for options in [
        &["--model", "gemini-3-pro-preview", "unsigned.json"][..],
        &["--model", "gemini-2.5-pro", "unsigned.json"],
        &["--host", "generativelanguage.googleapis.com", "--model", "gemini-3-pro-preview", "unsigned.json"],
        &["--model", "claude-sonnet-5", "prefill.json"],
        &["--model", "claude-3-haiku-20240307", "prefill.json"],
        &["--profile", "anthropic-messages@2025-03", "bad.json"],
        &["--off", MISSING, "bad.json"],
        &["--deny", "tool-use-id-reused", "reused.json"],
        &["row.jsonl"],
    ] {
        let check = said(&folder, &[&["check"][..], options].concat());
        let diff = said(&folder, &[&["check", "--diff"][..], options].concat());
        let is_mended = diff.code == Some(0) && diff.out.contains("\n+");
        let is_accepted = diff.code == Some(0) && diff.err.contains(": accepted by ");
        assert_eq!(check.code == Some(0), is_accepted, "{options:?}\n{check:#?}\n{diff:#?}");
        assert_eq!(
            check.code == Some(1),
            is_mended || diff.code == Some(1),
            "{options:?}\n{check:#?}\n{diff:#?}"
        );
    }
    let fixed = said(&folder, &["check", "--fix", "--model", "gemini-3-pro-preview", "unsigned.json"]);
    assert_eq!(fixed.code, Some(0), "{fixed:#?}");
    assert!(fixed.out.contains("gemini/thought-signature-missing"), "{fixed:#?}");
}

#[test]
fn each_row_of_a_file_is_repaired_separately() {
    let other =
        r#"{ "host": "api.anthropic.com", "status": 400, "request": REQUEST }"#.replace("REQUEST", BAD);
    let text = format!("{GOOD}\n\n{other}\r\n{BAD}\n");
    let folder = folder_of(&[("rows.jsonl", &text)]);
    let fixed = said(&folder, &["check", "--fix", "rows.jsonl"]);
    assert_eq!(fixed.code, Some(0), "{fixed:#?}");
    assert!(fixed.err.contains("rows.jsonl:1: accepted by"), "{fixed:#?}");
    assert!(fixed.out.contains("rows.jsonl:3: ") && fixed.out.contains("rows.jsonl:4: "), "{fixed:#?}");
    let mended = fs::read_to_string(folder.path().join("rows.fixed.jsonl")).unwrap();
    assert!(mended.starts_with(&format!("{GOOD}\n\n{{ \"host\": \"api.anthropic.com\"")), "{mended}");
    assert!(mended.contains("}\r\n{") && mended.ends_with("}\n"), "{mended}");
    let after = said(&folder, &["check", "rows.fixed.jsonl"]);
    assert_eq!(after.code, Some(0), "{after:#?}");
    assert!(after.out.contains("3 requests: 3 accepted"), "{after:#?}");
}

#[test]
fn the_model_of_the_check_is_not_written_into_the_copy() {
    let named = BAD.replace("claude-opus-4-5", "my-alias");
    let bare = BAD.replace(r#""model":"claude-opus-4-5","#, "");
    let folder = folder_of(&[("named.json", &named), ("bare.json", &bare)]);
    for (file, kept) in [("named", Some("my-alias")), ("bare", None)] {
        let args = ["check", "--fix", "--model", "claude-sonnet-5", &format!("{file}.json")];
        let fixed = said(&folder, &args);
        assert_eq!(fixed.code, Some(0), "{fixed:#?}");
        let copy = report(&folder.path().join(format!("{file}.fixed.json")));
        assert_eq!((copy["model"].as_str(), copy["messages"].as_array().map(Vec::len)), (kept, Some(3)));
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_device_is_refused_by_name_and_never_opened() {
    let folder = folder_of(&[("good.json", GOOD)]);
    for name in ["pipe.json", "pipe.jsonl", "pipe.yaml", "brickbat.toml"] {
        let pipe = folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let elsewhere = folder_of(&[]);
    let pipe = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, lines, yaml) = (pipe("pipe.json"), pipe("pipe.jsonl"), pipe("pipe.yaml"));
    let baseline = format!("--baseline={yaml}");
    for args in [
        &["check", &json][..],
        &["check", "--stream", &json],
        &["check", "--diff", &json],
        &["check", "/dev/zero"],
        &["recordings", &lines],
        &["recordings", "/dev/zero"],
        &["run", &yaml],
        &["run", "--explore", "singles", "--from", &yaml],
        &["run", "control/", &baseline],
        &["merge", &json],
        &["replay", &json],
        &["import", &json],
        &["lint", &json],
    ] {
        let refused = said(&elsewhere, args);
        assert_eq!(refused.code, Some(2), "{args:?}\n{refused:#?}");
        assert!(refused.err.contains("not a regular file"), "{args:?}\n{refused:#?}");
    }
    let hint = said(&elsewhere, &["check", &json]);
    assert!(hint.err.contains("hint: `-` reads standard input"), "{hint:#?}");
    // A folder is searched, and other files in it are ignored.
    assert_eq!(said(&folder, &["check", "."]).code, Some(0));
    let input = finish(command(elsewhere.path(), &["check", "-"]), GOOD.as_bytes());
    assert_eq!(input.code, Some(0), "{input:#?}");
}

#[test]
fn a_file_of_another_kind_is_skipped_with_a_count() {
    let noise: String = (0..5000).map(|n| format!("no JSON in line {n}\n")).collect();
    let late: String = noise.split_inclusive('\n').take(300).chain([GOOD]).collect();
    let folder = folder_of(&[("noise.jsonl", &noise), ("late.jsonl", &late)]);
    for command in ["check", "recordings"] {
        let given_up = said(&folder, &[command, "noise.jsonl"]);
        assert_eq!(given_up.code, Some(2), "{given_up:#?}");
        assert!(given_up.err.lines().count() < 40, "{given_up:#?}");
        assert!(given_up.err.contains("… and 981 more that could not be "), "{given_up:#?}");
    }
    let json = said(&folder, &["check", "--format", "json", "noise.jsonl"]).out;
    assert!(json.contains("none of the first 1000 lines is JSON, so the rest is not read"), "{json}");
    let late = said(&folder, &["check", "late.jsonl"]);
    assert!(late.code == Some(2) && late.out.contains("1 accepted"), "{late:#?}");
}

#[test]
fn a_byte_order_mark_is_ignored_with_a_note() {
    let mark = '\u{feff}';
    let folder = folder_of(&[
        ("bad.json", &format!("{mark}{BAD}")),
        ("rows.jsonl", &format!("{mark}{GOOD}\n{BAD}\n")),
        (
            "traffic.jsonl",
            &format!("{mark}{{\"status\":200,\"host\":\"api.anthropic.com\",\"request\":{GOOD}}}\n"),
        ),
    ]);
    let bad = said(&folder, &["check", "bad.json"]);
    assert_eq!(bad.code, Some(1), "{bad:#?}");
    assert!(bad.err.contains("note: bad.json begins with a byte order mark"), "{bad:#?}");
    let column = BAD.find("{\"type\":\"tool_use").unwrap() + 1;
    assert!(bad.out.contains(&format!("bad.json:1:{column} at ")), "{}", bad.out);
    let json: Value =
        serde_json::from_str(&said(&folder, &["check", "--format", "json", "bad.json"]).out).unwrap();
    assert_eq!(json["requests"][0]["findings"][0]["place"]["offset"], column + 2, "{json:#}");
    let rows = said(&folder, &["check", "rows.jsonl"]);
    assert!(rows.out.contains("rows.jsonl: 2 requests: 1 accepted, 1 refused"), "{rows:#?}");
    let compared = said(&folder, &["recordings", "traffic.jsonl"]);
    assert_eq!(compared.code, Some(0), "{compared:#?}");
    assert!(compared.err.contains("byte order mark"), "{compared:#?}");
    assert_eq!(said(&folder, &["check", "--fix", "bad.json"]).code, Some(0));
    let copy = fs::read_to_string(folder.path().join("bad.fixed.json")).unwrap();
    assert!(copy.starts_with('{') && said(&folder, &["check", "bad.fixed.json"]).code == Some(0), "{copy}");
}

#[test]
fn a_file_in_utf_16_is_read() {
    let folder = folder_of(&[]);
    let units = || std::iter::once(0xfeff).chain(BAD.encode_utf16());
    fs::write(folder.path().join("low.json"), units().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        .unwrap();
    fs::write(folder.path().join("high.json"), units().flat_map(u16::to_be_bytes).collect::<Vec<u8>>())
        .unwrap();
    for file in ["low.json", "high.json"] {
        let bad = said(&folder, &["check", file]);
        assert!(bad.code == Some(1) && bad.out.contains("tool-result-missing"), "{bad:#?}");
    }
    fs::write(folder.path().join("half.json"), [0xff, 0xfe, b'{', 0, b'}']).unwrap();
    let half = said(&folder, &["check", "half.json"]);
    assert!(half.code == Some(2) && half.err.contains("begins like UTF-16"), "{half:#?}");
}

#[test]
fn a_request_is_found_inside_what_people_paste() {
    let batch = format!("{{\"custom_id\":\"1\",\"url\":\"/v1/messages\",\"body\":{BAD}}}\n").repeat(2);
    let folder = folder_of(&[
        ("curl.txt", &format!("curl https://api.anthropic.com/v1/messages -d '{BAD}' | jq .\n")),
        ("issue.md", &format!("# It is bricked\n\n```json\n{BAD}\n```\n")),
        ("trace.json", &format!("{{\"observations\":[{{\"input\":{BAD}}}]}}")),
        ("batch.jsonl", &batch),
        ("nothing.txt", "curl https://api.anthropic.com\n"),
    ]);
    for (file, place) in [
        ("curl.txt", "note: curl.txt: the request was found at the curl command"),
        ("issue.md", "note: issue.md: the request was found at line 4"),
        ("trace.json", "note: trace.json: the request was found at /observations/0/input"),
        ("batch.jsonl", "note: batch.jsonl:2: the request was found at /body"),
    ] {
        let bad = said(&folder, &["check", file]);
        assert_eq!(bad.code, Some(1), "{bad:#?}");
        assert!(bad.out.contains("error[anthropic-messages/tool-result-missing]"), "{bad:#?}");
        assert!(bad.err.contains(place), "{bad:#?}");
    }
    let nothing = said(&folder, &["check", "nothing.txt"]);
    assert!(nothing.code == Some(2) && nothing.err.contains("as JSON"), "{nothing:#?}");
}

#[test]
fn a_lone_surrogate_is_rejected_and_replaced_by_a_fix() {
    let half = GOOD.replace("Rain?", r"Rain \ud83d");
    let folder = folder_of(&[("half.json", &half)]);
    let refused = said(&folder, &["check", "half.json"]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    assert!(refused.out.contains("error[anthropic-messages/body-not-json]"), "{refused:#?}");
    assert!(refused.out.contains("no low surrogate in string"), "{refused:#?}");
    assert_eq!(said(&folder, &["check", "--fix", "half.json"]).code, Some(0));
    let copy = fs::read_to_string(folder.path().join("half.fixed.json")).unwrap();
    assert_eq!(copy, half.replace(r"\ud83d", r"\ufffd"));
}

#[test]
fn explain_reads_a_long_text_up_to_its_bound_and_says_so() {
    let folder = folder_of(&[]);
    let long = "a".repeat(100_000);
    let word = said(&folder, &["explain", &long]);
    assert_eq!(word.code, Some(2), "{word:#?}");
    assert!(word.err.contains("only its first 64 KiB are read") && word.err.len() < 1000, "{word:#?}");
    let log = format!("{}No tool output found for function call call_1. {long}", "x ".repeat(1000));
    let found = finish(command(folder.path(), &["explain", "-"]), log.as_bytes());
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.starts_with("openai-responses/tool-output-missing"), "{found:#?}");
    let unknown = said(&folder, &["run", &long]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");
}
