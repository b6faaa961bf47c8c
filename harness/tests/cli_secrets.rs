//! Private data of 30 kinds in every input: no command prints it or writes it into a report or a scenario.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::program::{brickbat, folder_of};
use serde_json::json;
use tempfile::TempDir;

/// A planted text, and the part of it that must not be shown.
struct Planted {
    kind: &'static str,
    text: String,
    private: String,
}

/// Letters and digits that look random, the same in each run.
fn random(n: usize) -> String {
    const LETTERS: &[u8] = b"q7Rk2Zb9XwTf4LmNc8VsHd3JpGy6Ae5Uu1";
    (0..n).map(|at| char::from(LETTERS[(at * 7 + at / 5) % LETTERS.len()])).collect()
}

fn hex(n: usize) -> String {
    (0..n).map(|at| char::from(b"9f3c07a1d58be264"[(at * 5 + at / 3) % 16])).collect()
}

/// All kinds. The texts are put together here, so that no scanner finds a key in this file.
fn planted() -> Vec<Planted> {
    let keys = [
        // Ten providers.
        ("anthropic", format!("sk-{}-api03-{}", "ant", random(80))),
        ("openai", format!("sk-{}-{}", "proj", random(60))),
        ("google", format!("AI{}Sy{}", "za", random(33))),
        ("google AQ", format!("A{}.Ab8R{}", "Q", random(44))),
        ("xai", format!("x{}-{}", "ai", random(70))),
        ("groq", format!("g{}_{}", "sk", random(52))),
        ("openrouter", format!("sk-{}-v1-{}", "or", hex(64))),
        ("hugging face", format!("h{}_{}", "f", random(34))),
        ("perplexity", format!("pp{}-{}", "lx", random(48))),
        ("nvidia", format!("nv{}-{}", "api", random(60))),
        // Four clouds.
        ("aws id", format!("AK{}Q7RK2ZB9XWTF4LMN", "IA")),
        ("aws secret", format!("wJalrXUtn{}/K7MDENG/bPxRfiCYzX8MPLEKEY", "FEMI")),
        ("azure", format!("{}{}{}", random(52), "JQQJ99BCACYeBjFXJ3w3AAAB", "ACOGa1b2")),
        ("azure storage", format!("{}/{}+{}a1b2c3==", random(40), random(33), "AStR")),
        ("google cloud", format!("ya{}.a0Af{}", "29", random(60))),
        ("alibaba", format!("LT{}5t{}", "AI", random(18))),
        // Six services.
        ("github", format!("g{}_{}", "hp", random(36))),
        ("gitlab", format!("gl{}-{}", "pat", random(20))),
        ("slack", format!("xo{}-123456789012-{}", "xb", random(24))),
        ("stripe", format!("sk_{}_{}", "live", random(24))),
        ("npm", format!("n{}_{}", "pm", random(36))),
        ("sendgrid", format!("S{}.{}.{}", "G", random(22), random(43))),
        ("jwt", format!("ey{}.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}", "JhbGciOiJIUzI1NiJ9", random(43))),
    ];
    let pem = format!("-----{} RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "BEGIN", random(60));
    let mut all: Vec<Planted> =
        keys.into_iter().map(|(kind, text)| Planted { kind, private: text.clone(), text }).collect();
    let others = [
        ("pem", pem, random(60)),
        (
            "url with a password",
            "postgres://ada:hunter22Secret@db.example.com/prod".to_owned(),
            "hunter22".to_owned(),
        ),
        ("home on Linux", "/home/adalovelace/project".to_owned(), "adalovelace".to_owned()),
        ("home on macOS", "/Users/adabyron/project".to_owned(), "adabyron".to_owned()),
        ("home on Windows", "C:\\Users\\adaking\\project".to_owned(), "adaking".to_owned()),
        ("e-mail", "ada.noel@corp-example.com".to_owned(), "ada.noel".to_owned()),
        ("machine", "adas-macbook-pro.local".to_owned(), "adas-macbook".to_owned()),
        ("Windows machine", "DESKTOP-AB12CD3".to_owned(), "DESKTOP-AB12CD3".to_owned()),
    ];
    all.extend(others.into_iter().map(|(kind, text, private)| Planted { kind, text, private }));
    all
}

/// Fails if an output has a planted text.
fn assert_clean(command: &str, output: &str) {
    for own in planted() {
        let is_there = output.contains(&own.private);
        assert!(!is_there, "`{command}` prints the {}:\n{}", own.kind, output.get(..2_000).unwrap_or(output));
    }
}

/// Files in each form that a command reads, with every kind in them.
fn files() -> TempDir {
    let all: Vec<String> = planted().into_iter().map(|own| own.text).collect();
    let said = all.join(" | ");
    let calls: Vec<_> = all
        .iter()
        .enumerate()
        .map(|(n, text)| json!({ "type": "tool_use", "id": format!("toolu_{n}"), "name": "find", "input": { "key": text } }))
        .collect();
    let body = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 9,
        "messages": [
            { "role": "user", "content": said }, { "role": "assistant", "content": calls },
            { "role": "user", "content": said },
        ],
    });
    let call = |n: usize, text: &String| {
        let function = json!({ "name": "find", "arguments": json!({ "key": text }).to_string() });
        json!({ "id": format!("call_{n}"), "type": "function", "function": function })
    };
    let calls: Vec<_> = all.iter().enumerate().map(|(n, text)| call(n, text)).collect();
    let chat = json!({
        "model": "gpt-5",
        "messages": [
            { "role": "user", "content": said }, { "role": "assistant", "content": said, "tool_calls": calls },
            { "role": "user", "content": said },
        ],
    });
    let header = |text: &String| json!({ "name": "x-custom", "value": text });
    let headers: Vec<_> = all.iter().map(header).collect();
    let error = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": said } });
    let query: String =
        all.iter().map(|text| format!("&key={}", text.replace(['\n', ' ', '\\'], ""))).collect();
    let har = json!({ "log": { "entries": [{
        "request": {
            "method": "POST", "url": format!("https://api.anthropic.com/v1/messages?a=1{query}"),
            "headers": headers, "postData": { "text": body.to_string() },
        },
        "response": { "status": 400, "headers": headers, "content": { "text": error.to_string() } },
    }] } });
    let line = |uuid: &str, parent: Option<&str>, role: &str, content: serde_json::Value| {
        json!({
            "parentUuid": parent, "isSidechain": false, "cwd": "/home/adalovelace/w", "sessionId": "s",
            "version": "2.1.20", "type": role, "uuid": uuid, "timestamp": "t",
            "message": { "role": role, "id": format!("m{uuid}"), "content": content },
        })
        .to_string()
    };
    let used: Vec<_> = body["messages"][1]["content"].as_array().cloned().unwrap_or_default();
    let session = [
        line("u1", None, "user", json!(said)),
        line("u2", Some("u1"), "assistant", json!(used)),
        line("u3", Some("u2"), "user", json!(said)),
    ];
    let scenario = json!({ "schema": 1, "comment": said, "turns": [{ "user": said, "zzz": said }] });
    folder_of(&[
        ("body.json", &body.to_string()),
        ("chat.json", &chat.to_string()),
        ("torn.json", &body.to_string()[..900]),
        ("traffic.har", &har.to_string()),
        ("session.jsonl", &session.join("\n")),
        ("unknown.json", &json!([{ "role": said, "parts": said }]).to_string()),
        ("scenario.yaml", &scenario.to_string()),
        ("error.txt", &error.to_string()),
    ])
}

#[test]
fn no_command_shows_planted_private_data() {
    let folder = files();
    let commands: [&[&str]; 26] = [
        &["check", "body.json"],
        &["check", "--format", "json", "body.json"],
        &["check", "--format", "sarif", "body.json"],
        &["check", "--diff", "body.json"],
        &["check", "chat.json"],
        &["check", "--diff", "chat.json"],
        &["check", "--format", "json", "chat.json"],
        &["check", "torn.json"],
        &["check", "traffic.har"],
        &["check", "--format", "json", "traffic.har"],
        &["check", "scenario.yaml"],
        &["check", "error.txt"],
        &["recordings", "traffic.har"],
        &["session", "session.jsonl"],
        &["session", "--format", "json", "session.jsonl"],
        &["session", "--format", "sarif", "session.jsonl"],
        &["session", "--list", "session.jsonl"],
        &["session", "--request", "session.jsonl"],
        &["session", "unknown.json"],
        &["session", "."],
        &["repair", "--dry-run", "session.jsonl"],
        &["repair", "--dry-run", "--format", "json", "session.jsonl"],
        &["repair", "unknown.json"],
        &["import", "session.jsonl", "--out", "imported.yaml"],
        &["run", "--system", "reference", "scenario.yaml"],
        &["keep", "body.json"],
    ];
    for args in commands {
        let said = brickbat(folder.path(), args, &[]);
        assert_clean(&args.join(" "), &format!("{}{}", said.out, said.err));
    }
    for written in ["imported.yaml", "imported.json", "brickbat/regressions/body.json"] {
        if let Ok(text) = fs::read_to_string(folder.path().join(written)) {
            assert_clean(written, &text);
        }
    }
    for own in planted() {
        for args in [["explain", own.text.as_str()], ["check", own.text.as_str()]] {
            let said = brickbat(folder.path(), &args, &[]);
            let output = format!("{}{}", said.out, said.err);
            assert!(!output.contains(&own.private), "{} of {}: {output}", args[0], own.kind);
        }
    }
}

#[test]
fn the_original_is_shown_on_demand() {
    let folder = files();
    let said = brickbat(folder.path(), &["session", "--show-secrets", "--request", "session.jsonl"], &[]);
    for own in planted().iter().filter(|own| own.kind != "pem" && own.kind != "home on Windows") {
        assert!(said.out.contains(&own.private), "{}", own.kind);
    }
}

#[test]
fn serve_logs_no_private_data_of_bodies_headers_and_queries() {
    let folder = files();
    let mut served = Command::new(env!("CARGO_BIN_EXE_brickbat"))
        .args(["serve", "--port", "0"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(served.stdout.take().unwrap());
    let mut text = String::new();
    lines.read_line(&mut text).unwrap();
    let port =
        text.split_whitespace().next().and_then(|url| url.rsplit(':').next()?.parse::<u16>().ok()).unwrap();
    let texts: Vec<String> =
        planted().into_iter().map(|own| own.text.replace(['\n', '\\', ' '], "")).collect();
    for file in ["body.json", "chat.json", "torn.json", "error.txt"] {
        let body = fs::read_to_string(folder.path().join(file)).unwrap();
        let headers: String =
            texts.iter().enumerate().map(|(n, text)| format!("x-own-{n}: {text}\r\n")).collect();
        let query = texts.join("&key=");
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let request = format!(
            "POST /v1/messages?key={query} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{headers}content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        // The connection may end without a reply, if the server does not read such a request.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    served.kill().unwrap();
    lines.read_to_string(&mut text).unwrap();
    let output = served.wait_with_output().unwrap();
    assert_clean("serve", &format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
}

/// Names with letters that few words have, so that a part of one is not found by chance.
const OF_SCENARIO: [&str; 5] = ["zqxjkvwyt", "wvxzqkyj", "kxqzvjwp", "zqkxvj.jwyz", "zkqjxvwyqz"];

/// The parts of a name that a stream may leave of it.
const N_LETTERS: usize = 3;

#[test]
fn a_record_has_no_private_data_that_a_stream_cuts_into_pieces() {
    let [linux, windows, mac, mail, key] = OF_SCENARIO;
    let key = format!("sk-{}-api03-{}", "ant", key.repeat(8));
    let said = |n: usize| {
        let fill = "and so on ".repeat(n);
        format!(
            "{fill}/home/{linux}/a {fill}C:\\Users\\{windows}\\b {fill}/Users/{mac}/c {fill}{mail}@corp-example.com {fill}{key}"
        )
    };
    let call = |n: usize| json!({ "call": { "as": format!("c{n}"), "tool": "lookup", "args": { "key": said(n), "other": said(n + 1) } } });
    let mut reply: Vec<_> = (0..4).map(call).collect();
    reply.insert(0, json!({ "text": said(1) }));
    let scenario = json!({
        "schema": 1, "comment": "The texts and arguments have private data.",
        "tools": { "lookup": { "returns": said(0) } },
        "turns": [
            { "user": said(0), "replies": [reply, [{ "text": said(2) }]], "settle": ["c0", "c1", "c2", "c3"] },
            { "user": "Well?", "replies": [[{ "text": said(3) }]] },
        ],
    });
    let folder = folder_of(&[("own.yaml", &scenario.to_string())]);
    for system in ["reference/simulated", "reference/blocking"] {
        let ran = brickbat(folder.path(), &["run", "own.yaml", "--system", system, "--out", "kept"], &[]);
        assert!(ran.out.contains("plans: "), "{ran:#?}");
        let mut texts = vec![(format!("run {system}"), format!("{}{}", ran.out, ran.err))];
        let mut folders = vec![folder.path().join("kept")];
        while let Some(next) = folders.pop() {
            for path in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    if path.join("plan.json").is_file() {
                        let own = path.to_string_lossy();
                        for args in [&["show", "--raw"][..], &["show", "--html", "page.html"], &["export"]] {
                            let args: Vec<&str> = args.iter().copied().chain([own.as_ref()]).collect();
                            let shown = brickbat(folder.path(), &args, &[]);
                            texts.push((format!("{args:?}"), format!("{}{}", shown.out, shown.err)));
                        }
                        let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
                        texts.push(("page.html".to_owned(), page));
                    }
                    folders.push(path);
                } else {
                    texts.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
                }
            }
        }
        assert!(texts.len() > 50, "{} texts", texts.len());
        for (name, text) in texts {
            for own in OF_SCENARIO {
                let parts = (0..=own.len() - N_LETTERS).map(|at| &own[at..at + N_LETTERS]);
                let left: Vec<&str> = parts.filter(|part| text.contains(part)).collect();
                assert!(left.is_empty(), "{name} has {left:?} of {own}");
            }
        }
        fs::remove_dir_all(folder.path().join("kept")).unwrap();
    }
}
