//! `proxy`: in front of our own provider, and in front of servers that misbehave.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::command;
use crate::serve::{PATIENCE, Served};

/// A proxy in front of `brickbat serve`.
fn in_front_of_serve(args: &[&str]) -> (Served, Served) {
    let server = Served::start_as("serve", &[]);
    let upstream = format!("http://{}", server.address);
    let proxy = Served::start_as("proxy", &[&["--upstream", &upstream], args].concat());
    (server, proxy)
}

/// A server that accepts connections one after the other, and sends each the next answer once its request has
/// arrived.
/// Returns the heads of the requests, and true for each peer that had closed at the end.
fn server(answers: Vec<Vec<u8>>) -> (String, JoinHandle<Vec<(String, bool)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let each = answers.into_iter().map(|answer| {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let head = read_request(&mut stream);
            stream.write_all(&answer).unwrap();
            if !answer.ends_with(HANGS) {
                return (head, false);
            }
            // The peer closes, or the test ends here.
            (head, stream.read(&mut [0; 1]).is_ok_and(|n| n == 0))
        });
        each.collect()
    });
    (url, serving)
}

/// The end of an answer after which the server sends nothing more, and waits until the client disconnects.
const HANGS: &[u8] = b": hangs\n\n";

fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).unwrap();
    head
}

fn stream_of(events: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}")
        .into_bytes()
}

fn prompt() -> Value {
    let tool = json!({ "name": "look", "input_schema": { "type": "object", "properties": {} } });
    json!({
        "model": "claude-sonnet-4-5", "max_tokens": 9, "stream": true, "tools": [tool],
        "messages": [{ "role": "user", "content": "Look." }],
    })
}

/// A request with a call that has no result.
fn broken() -> Value {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "look", "input": {} });
    let mut body = prompt();
    body["messages"] = json!([
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": [call] },
        { "role": "user", "content": "And?" },
    ]);
    body
}

fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_version_in_the_header_chooses_the_rules() {
    let version = "anthropic-version: 2026-10-21";
    let mut body = prompt();
    body["temperature"] = json!(1);
    let (server, proxy) = in_front_of_serve(&[]);
    let direct = Served::start_as("serve", &[]);
    for served in [&direct, &proxy] {
        assert_eq!(served.post("/v1/messages", &body).0, 200);
        let (status, said) = served.post_with("/v1/messages", version, &body);
        assert!(status == 400 && said.contains("temperature"), "{status}: {said}");
    }
    let (_, said) = proxy.end();
    assert!(said.contains("anthropic-messages/sampling-parameter"), "{said}");
    server.end();
}

#[test]
fn a_reply_passes_through_unchanged_and_is_recorded_without_the_key() {
    let folder = TempDir::new().unwrap();
    let record = folder.path().join("rec.jsonl");
    let (server, proxy) = in_front_of_serve(&["--record", record.to_str().unwrap()]);
    let direct = Served::start_as("serve", &[]);
    let (status, through) = proxy.post("/v1/messages", &prompt());
    assert_eq!((status, through), direct.post("/v1/messages", &prompt()));
    let (status, models) = proxy.get("/v1/models");
    assert!(status == 200 && models.contains("brickbat"), "{models}");
    let (_, state) = proxy.get("/_brickbat/state");
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["streams"]["complete"], 1, "{state:#}");
    let (code, said) = proxy.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 requests, 0 refused"), "{said}");
    assert!(said.contains("1 streams: 1 complete, 0 ended with the server's error, 0 illegal"), "{said}");
    assert!(said.contains("GET /v1/models: not a request for a reply; forwarded unchanged"), "{said}");
    let rows = rows(&record);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["request"], &rows[0]["ended"]), (&prompt(), &json!("whole")));
    assert_eq!(rows[0]["reply"].as_array().unwrap().last().unwrap()["call"]["name"], "look");
    let (_, said) = server.end();
    assert!(said.contains("1 requests, 0 refused"), "{said}");
}

#[test]
fn a_broken_request_reaches_the_server_only_if_it_is_let_through() {
    for (args, n_at_server, sentence) in [
        (&[][..], "0 requests", "tool_use"),
        (&["--let-through"], "1 requests, 1 refused", "let through request 0: the server refused it too"),
    ] {
        let (server, proxy) = in_front_of_serve(args);
        let (status, answer) = proxy.post("/v1/messages", &broken());
        assert!(status == 400 && answer.contains("tool_use"), "{answer}");
        let (code, said) = proxy.end();
        assert_eq!(code, Some(1), "{said}");
        let refused = "refused request 0: anthropic-messages/tool-result-missing at /messages/1/content/0";
        assert!(said.contains(refused) && said.contains(sentence), "{said}");
        let (_, said) = server.end();
        assert!(said.contains(n_at_server), "{said}");
    }
}

#[test]
fn faults_happen_at_their_points_with_receipts() {
    let (_server, proxy) =
        in_front_of_serve(&["--at", "eof after start b", "--at", "overloaded before headers of reply 2"]);
    let (status, cut) = proxy.post("/v1/messages", &prompt());
    let starts = cut.matches("\"type\":\"tool_use\"").count();
    assert_eq!((status, starts, cut.contains("message_stop")), (200, 2, false), "{cut}");
    let (status, answer) = proxy.post("/v1/messages", &prompt());
    assert!(status == 529 && answer.contains("overloaded_error"), "{answer}");
    let (status, whole) = proxy.post("/v1/messages", &prompt());
    assert!(status == 200 && whole.contains("message_stop"), "{whole}");
    let (code, said) = proxy.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("request 0: eof after start b (read)"), "{said}");
    assert!(said.contains("faults: 2 armed, 2 with receipt; next request accepted 2 times"), "{said}");
    assert!(said.contains("1 streams: 1 complete"), "{said}");
}

#[test]
fn keys_pass_through_and_are_neither_printed_nor_recorded() {
    let refusal = json!({ "error": { "message": "no such key: sk-ant-secret-0123" } }).to_string();
    let head = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length";
    let (url, serving) = server(vec![format!("{head}: {}\r\n\r\n{refusal}", refusal.len()).into_bytes()]);
    let folder = TempDir::new().unwrap();
    let record = folder.path().join("rec.jsonl");
    let proxy = Served::start_as("proxy", &["--upstream", &url, "--record", record.to_str().unwrap()]);
    let mut stream = TcpStream::connect(&proxy.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body =
        prompt().to_string().replace("Look.", "My key is sk-ant-secret-0123, and key-in-query-77 too.");
    let head = format!(
        "POST /v1/messages?beta=true&key=key-in-query-77 HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: sk-ant-secret-0123\r\n\
         connection: close\r\nanthropic-version: 2023-06-01\r\naccept-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("401") && answer.contains("no such key: sk-ant-secret-0123"), "{answer}");
    let (code, said) = proxy.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("the server answered with status 401") && said.contains("no such key"), "{said}");
    let (head, _) = serving.join().unwrap().remove(0);
    assert!(head.starts_with("post /v1/messages?beta=true&key=key-in-query-77 http/1.1"), "{head}");
    for header in
        ["x-api-key: sk-ant-secret-0123", "anthropic-version: 2023-06-01", "accept-encoding: identity"]
    {
        assert!(head.contains(header), "{head}");
    }
    let recorded = std::fs::read_to_string(&record).unwrap();
    for text in [&said, &recorded] {
        assert!(!text.contains("secret-0123") && !text.contains("key-in-query-77"), "{text}");
    }
    assert_eq!(rows(&record)[0]["status"], 401);
}

/// Sends a head, and returns the status and the answer.
fn ask(proxy: &Served, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(&proxy.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let rest = format!("connection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all([head, rest.as_str()].concat().as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

#[test]
fn path_and_query_arrive_as_they_were_sent() {
    let targets = [
        ("/v1/files?url=https://example.com/a.png", "/v1/files?url=https://example.com/a.png"),
        ("/proxy/http://127.0.0.1:9/evil", "/proxy/http://127.0.0.1:9/evil"),
        ("http://localhost:1/v1/models?u=http://b/c", "/v1/models?u=http://b/c"),
        ("/v1//x/?a=%2f+b%20&&=", "/v1//x/?a=%2f+b%20&&="),
        ("//host/v1/a:b@c", "//host/v1/a:b@c"),
    ];
    let answers =
        targets.map(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec());
    let (url, serving) = server(answers.to_vec());
    let proxy = Served::start_as("proxy", &["--upstream", &format!("{url}/base")]);
    for (target, _) in targets {
        let (status, answer) = ask(&proxy, &format!("GET {target} HTTP/1.1\r\nhost: 127.0.0.1\r\n"), "");
        assert_eq!(status, 200, "{target}: {answer}");
    }
    for ((head, _), (target, arrived)) in serving.join().unwrap().iter().zip(targets) {
        assert!(head.starts_with(&format!("get /base{arrived} http/1.1\r\n")), "{target}: {head}");
        // The server is named as a client would name it.
        let own = format!("host: {}\r\n", url.trim_start_matches("http://"));
        assert!(head.contains(&own), "{head}");
    }
    let (_, said) = proxy.end();
    assert!(
        said.contains("GET /v1/files: ") && said.contains("GET /proxy/http://127.0.0.1:9/evil: "),
        "{said}"
    );
}

#[test]
fn a_path_that_the_server_might_read_differently_is_not_passed_on() {
    let (url, serving) = server(vec![]);
    let proxy = Served::start_as("proxy", &["--upstream", &url]);
    serving.join().unwrap();
    for target in ["/v1/../../admin", "/v1/%2e%2E/admin", "/v1/./x", "/v1/..%2fadmin", "/v1/models#x"] {
        let (status, answer) = ask(&proxy, &format!("GET {target} HTTP/1.1\r\nhost: 127.0.0.1\r\n"), "");
        assert!(status == 400 && answer.contains("is not forwarded"), "{target}: {answer}");
    }
}

#[test]
fn quotes_of_a_request_by_a_server_are_neither_printed_nor_recorded() {
    let signature = "fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024";
    let signed = format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE9/20251128/us-east-1/bedrock/aws4_request, \
             SignedHeaders=host, Signature={signature}"
    );
    let planted = [
        ("x-litellm-api-key", "lite-9-llm-key"),
        ("Ocp-Apim-Subscription-Key", "ocp-sub-key-77"),
        ("x-portkey-api-key", "pk-port-key-88"),
        ("X-Tenant-Of-Mine", "Tenant-of-mine-99"),
        ("proxy-authorization", "Basic YWRhLWxvdmU6cGE1NXdvcmQtOQ=="),
        ("authorization", signed.as_str()),
    ];
    let secrets = [
        "lite-9-llm-key",
        "ocp-sub-key-77",
        "pk-port-key-88",
        "Tenant-of-mine-99",
        "ada-love:pa55word-9",
        "pa55word-9",
        "AKIDEXAMPLE9",
        signature,
        "query-sig-66",
        "query/token",
    ];
    let quoted = json!({ "error": { "message": format!("bad request: {}", secrets.join(" ")) } }).to_string();
    let head =
        "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length";
    let answers = vec![format!("{head}: {}\r\n\r\n{quoted}", quoted.len()).into_bytes(); 2];
    let (url, serving) = server(answers);
    let folder = TempDir::new().unwrap();
    let record = folder.path().join("rec.jsonl");
    let proxy = Served::start_as("proxy", &["--upstream", &url, "--record", record.to_str().unwrap()]);
    let headers: String = planted.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    for _ in 0..2 {
        let target = "/v1/messages?sig=query-sig-66&x_token=query%2Ftoken";
        let head = format!(
            "POST {target} HTTP/1.1\r\nhost: 127.0.0.1\r\nanthropic-version: 2023-06-01\r\n{headers}"
        );
        let (status, answer) = ask(&proxy, &head, &prompt().to_string());
        // The client gets every byte.
        assert!(status == 403 && answer.contains(signature), "{answer}");
    }
    serving.join().unwrap();
    let (_, state) = proxy.get("/_brickbat/state");
    let (_, said) = proxy.end();
    assert!(said.contains("bad request: [redacted]"), "{said}");
    let recorded = std::fs::read_to_string(&record).unwrap();
    for text in [&said, &recorded, &state] {
        for secret in secrets {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    assert_eq!(rows(&record)[0]["request"], prompt());
}

#[test]
fn a_foreign_page_and_a_foreign_host_reach_neither_the_server_nor_the_state() {
    let (url, serving) = server(vec![]);
    let proxy = Served::start_as("proxy", &["--upstream", &url, "--allow-host", "docker.example"]);
    serving.join().unwrap();
    for headers in ["host: evil.example", "host: 127.0.0.1\r\norigin: http://evil.example"] {
        for target in ["/_brickbat/state", "/_brickbat/journal", "/v1/models"] {
            let (status, answer) = ask(&proxy, &format!("GET {target} HTTP/1.1\r\n{headers}\r\n"), "");
            assert!(status == 403 && answer.contains("--allow-"), "{headers} {target}: {answer}");
        }
    }
    for host in ["docker.example:8788", "localhost", "[::1]:1"] {
        let head = format!("GET /_brickbat/state HTTP/1.1\r\nhost: {host}\r\n");
        assert_eq!(ask(&proxy, &head, "").0, 200, "{host}");
    }
}

#[test]
fn a_server_that_breaks_off_is_reported_and_its_client_sees_it() {
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\
        \"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"stop_reason\":null,\"stop_sequence\":null,\
        \"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n";
    let chunked = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{start}\r\n",
        start.len()
    );
    let (url, serving) = server(vec![chunked.into_bytes(), stream_of(start)]);
    let proxy = Served::start_as("proxy", &["--upstream", &url]);
    let (status, answer) = proxy.post("/v1/messages", &prompt());
    // The last chunk is missing, as it was at the server.
    assert!(status == 200 && answer.contains("message_start") && !answer.ends_with("0\r\n\r\n"), "{answer}");
    let (status, answer) = proxy.post("/v1/messages", &prompt());
    assert!(status == 200 && answer.contains("message_start"), "{answer}");
    serving.join().unwrap();
    // No server listens there any more.
    let (status, answer) = proxy.post("/v1/messages", &prompt());
    assert!(status == 502 && answer.contains("brickbat proxy: cannot reach the server"), "{answer}");
    let (code, said) = proxy.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("request 0: the server cut its answer off"), "{said}");
    assert!(said.contains("request 2: cannot reach the server"), "{said}");
    assert!(
        said.contains("2 streams: 0 complete, 0 ended with the server's error, 2 illegal or cut off"),
        "{said}"
    );
    assert!(said.contains("stream anthropic-messages/"), "{said}");
}

#[test]
fn a_client_that_hangs_up_closes_the_connection_to_the_server() {
    let (url, serving) = server(vec![stream_of("event: ping\ndata: {\"type\": \"ping\"}\n\n: hangs\n\n")]);
    let proxy = Served::start_as("proxy", &["--upstream", &url]);
    let mut stream = TcpStream::connect(&proxy.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = prompt().to_string();
    let head =
        format!("POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    let mut seen = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&seen).contains("hangs") {
        stream.read_exact(&mut byte).unwrap();
        seen.push(byte[0]);
    }
    drop(stream);
    let (_, was_closed) = serving.join().unwrap().remove(0);
    assert!(was_closed);
    let (code, said) = proxy.end();
    // The server is not blamed for data that the client did not wait for.
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_compressed_answer_passes_unread_and_a_redirect_is_not_followed() {
    let packed = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n\
        connection: close\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00"
        .to_vec();
    let moved =
        b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://192.0.2.1/\r\ncontent-length: 0\r\n\r\n"
            .to_vec();
    let (url, serving) = server(vec![packed, moved]);
    let proxy = Served::start_as("proxy", &["--upstream", &url]);
    let (status, _) = proxy.post("/v1/messages", &prompt());
    assert_eq!(status, 200);
    let (status, _) = proxy.post("/v1/messages", &prompt());
    assert_eq!(status, 307);
    serving.join().unwrap();
    let (code, said) = proxy.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("streams:"), "{said}");
}

#[test]
fn a_recorded_conversation_is_explored_compared_and_imported() {
    let folder = TempDir::new().unwrap();
    let record = folder.path().join("rec.jsonl");
    let (_server, proxy) = in_front_of_serve(&["--record", record.to_str().unwrap()]);
    proxy.post("/v1/messages", &prompt());
    let first = rows(&record).remove(0);
    let call = &first["reply"].as_array().unwrap().last().unwrap()["call"];
    let block = json!({ "type": "tool_use", "id": call["id"], "name": "look", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": call["id"], "content": "a tree" });
    let mut next = prompt();
    next["messages"] = json!([
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": [block] },
        { "role": "user", "content": [result] },
    ]);
    assert_eq!(proxy.post("/v1/messages", &next).0, 200);
    assert_eq!(proxy.post("/v1/messages", &broken()).0, 400);
    proxy.end();
    let says = |args: &[&str]| {
        let out = command(folder.path(), args).output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        (out.status.code(), said)
    };
    let explore = ["run", "--explore", "singles", "--limit", "40", "--dialect", "anthropic-messages"];
    let (code, said) = says(&[&explore[..], &["--from", "rec.jsonl"]].concat());
    assert!(
        code == Some(0) && said.contains("rec.jsonl:2: 1 turns, 1 calls, on anthropic-messages"),
        "{said}"
    );
    assert!(said.contains("single actions and 0 pairs in rec.jsonl:"), "{said}");
    let (code, said) =
        says(&[&explore[..], &["--from", "rec.jsonl", "--system", "canary/dangling-on-abort"]].concat());
    assert!(code == Some(1) && said.contains("bricked-by-provider"), "{said}");
    let (code, said) = says(&["recordings", "rec.jsonl"]);
    // The proxy's own refusal is not a reply of a provider.
    assert!(code == Some(0) && !said.contains("tool-result-missing"), "{said}");
    let (code, said) = says(&["import", "rec.jsonl", "--out", "mine.yaml"]);
    assert!(code == Some(0) && said.contains("keeps: anthropic-messages/tool-result-missing"), "{said}");
    let (code, said) = says(&["run", "--explore", "singles", "--from", "rec.jsonl#9"]);
    assert!(code == Some(2) && said.contains("line 9 has no request for a reply"), "{said}");
}

#[test]
fn a_url_that_leads_to_no_server_is_explained() {
    let folder = TempDir::new().unwrap();
    for (url, words) in [
        ("api.anthropic.com", "is not the URL of a server"),
        ("ftp://a", "is not the URL of a server"),
        ("https://user:secret-word@a", "a user name or a password"),
        ("http://a/?key=secret-word", "a query or a fragment"),
        ("http://user:secret-word@", "is not the URL of a server"),
    ] {
        let out = command(folder.path(), &["proxy", "--port", "0", "--upstream", url]).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{url}: {said}");
        assert!(said.contains(words) && !said.contains("secret-word"), "{url}: {said}");
    }
}
