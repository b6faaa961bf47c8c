//! `serve`: the standalone strict provider, over sockets.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::command;

/// A test that hangs fails after this time instead.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// `brickbat serve` or `proxy` on a free port. It is killed with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
    out: BufReader<std::process::ChildStdout>,
    _folder: TempDir,
}

impl Served {
    fn start(args: &[&str]) -> Served {
        Served::start_as("serve", args)
    }

    pub(crate) fn start_as(name: &str, args: &[&str]) -> Served {
        let folder = TempDir::new().unwrap();
        let mut command = command(folder.path(), &[&[name, "--port", "0"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let url = line.split_whitespace().next().unwrap();
        let address = url.strip_prefix("http://").unwrap().to_owned();
        Served { child, address, out, _folder: folder }
    }

    /// The same, driven by lines of JSON; and its first output.
    fn controlled(args: &[&str]) -> (Controlled, Value) {
        let folder = TempDir::new().unwrap();
        let args = [&["serve", "--port", "0", "--control"], args].concat();
        let mut command = command(folder.path(), &args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let ready = line(&mut out);
        let address = ready["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let orders = child.stdin.take();
        let served = Served { child, address, out, _folder: folder };
        (Controlled { served, orders }, ready)
    }

    /// Posts a body and returns the status and the answer, on a connection of its own.
    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, String) {
        answer(self.open(path, "", body))
    }

    /// Posts a body with a further header line.
    pub(crate) fn post_with(&self, path: &str, header: &str, body: &Value) -> (u16, String) {
        answer(self.open(path, &format!("{header}\r\n"), body))
    }

    /// Posts a body, and returns the connection on which the answer comes.
    fn open(&self, path: &str, headers: &str, body: &Value) -> TcpStream {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
            .write_all(
                format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n").as_bytes(),
            )
            .unwrap();
        answer(stream)
    }

    /// Interrupts it, and returns its exit code and its complete output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let mut said = String::new();
        self.out.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

/// A provider that takes orders.
struct Controlled {
    served: Served,
    orders: Option<std::process::ChildStdin>,
}

impl Controlled {
    fn order(&mut self, order: &Value) {
        writeln!(self.orders.as_ref().unwrap(), "{order}").unwrap();
    }

    fn hear(&mut self) -> Value {
        line(&mut self.served.out)
    }

    fn ask(&mut self, order: &Value) -> Value {
        self.order(order);
        self.hear()
    }
}

/// A line of JSON.
fn line(out: &mut impl BufRead) -> Value {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

impl Drop for Served {
    fn drop(&mut self) {
        // It has exited already if the test reached its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    // A reset connection has nothing more to send.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, body.to_owned())
}

fn chat(model: &str, messages: Value) -> Value {
    json!({ "model": model, "messages": messages })
}

#[test]
fn an_unread_output_blocks_neither_answers_nor_ctrl_c() {
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), &["serve", "--port", "0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (pid, mut err) = (Pid::from_child(&child), child.stderr.take().unwrap());
    let mut out = child.stdout.take().unwrap();
    let mut banner = Vec::new();
    while !banner.ends_with(b"\n") {
        let mut byte = [0];
        out.read_exact(&mut byte).unwrap();
        banner.push(byte[0]);
    }
    let banner = String::from_utf8(banner).unwrap();
    let address = banner.split_whitespace().next().unwrap().strip_prefix("http://").unwrap().to_owned();
    let served = Served { child, address, out: BufReader::new(out), _folder: folder };
    refuse_many(&served);
    kill_process(pid, Signal::INT).unwrap();
    // Its standard error ends when it does; its standard output stays unread.
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut said = String::new();
        err.read_to_string(&mut said).unwrap();
        sender.send(said)
    });
    let said = ended.recv_timeout(PATIENCE).expect("it did not end");
    assert!(said.contains("not printed, because standard output was not read"), "{said}");
    let mut served = served;
    assert_eq!(served.child.wait().unwrap().code(), Some(1));
}

#[test]
fn an_unread_output_does_not_keep_a_controlled_provider_running() {
    let (Controlled { mut served, orders }, _) = Served::controlled(&[]);
    refuse_many(&served);
    drop(orders);
    let pid = Pid::from_child(&served.child);
    let (sender, ended) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || sender.send(served.child.wait().unwrap().code()));
    let code = ended.recv_timeout(PATIENCE);
    if code.is_err() {
        kill_process(pid, Signal::KILL).unwrap();
    }
    waiting.join().unwrap().unwrap();
    assert_eq!(code, Ok(Some(1)), "it did not end");
}

/// Causes more rejections than fit into a pipe.
fn refuse_many(served: &Served) {
    let broken = json!({ "model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "look", "input": {} }] },
        { "role": "user", "content": "Well?" },
    ]});
    for _ in 0..600 {
        assert_eq!(served.post("/v1/messages", &broken).0, 400);
    }
}

#[test]
fn all_dialects_are_spoken_on_one_port_and_the_choice_is_printed() {
    let served = Served::start(&[]);
    let prompt = json!([{ "role": "user", "content": "Hello." }]);
    let anthropic = json!({ "model": "claude-sonnet-4-5", "max_tokens": 9, "messages": prompt });
    let gemini = json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hello." }] }] });
    let bedrock = json!({ "messages": [{ "role": "user", "content": [{ "text": "Hello." }] }] });
    for (path, body) in [
        ("/v1/messages", &anthropic),
        ("/anthropic-messages/v1/messages", &anthropic),
        ("/anthropic-messages@2026-05/v1/messages", &anthropic),
        ("/v1/chat/completions", &chat("gpt-5", prompt.clone())),
        ("/deepseek/chat/completions", &chat("deepseek-chat", prompt.clone())),
        ("/v1/responses", &json!({ "model": "gpt-5", "input": "Hello." })),
        ("/v1beta/models/gemini-3-pro-preview:generateContent", &gemini),
        ("/model/amazon.nova-pro-v1%3A0/converse", &bedrock),
        ("/mistral/v1/chat/completions", &chat("mistral-large-latest", prompt.clone())),
        ("/v1/chat/completions", &chat("mistral-large-latest", prompt.clone())),
    ] {
        let (status, said) = served.post(path, body);
        assert_eq!(status, 200, "{path}: {said}");
    }
    let (_, state) = served.get("/_brickbat/state");
    let state: Value = serde_json::from_str(&state).unwrap();
    let requests = |dialect: &str| state["dialects"][dialect]["requests"].as_u64();
    assert_eq!(requests("anthropic-messages"), Some(3), "{state:#}");
    assert_eq!(requests("openai-chat"), Some(2), "{state:#}");
    assert_eq!(requests("mistral"), Some(2), "{state:#}");
    let (code, said) = served.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("/v1/chat/completions: judged by openai-chat@2026-09, the newest of the dialect"),
        "{said}"
    );
    assert!(
        said.contains("/v1/chat/completions: judged by mistral@2026-09, by the name of the model"),
        "{said}"
    );
    assert!(said.contains("10 requests, 0 refused"), "{said}");
}

#[test]
fn a_rejection_has_the_words_of_the_host_and_is_printed() {
    let served = Served::start(&["--host", "https://api.deepseek.com/v1"]);
    let call =
        json!({ "id": "call_1", "type": "function", "function": { "name": "look", "arguments": "{}" } });
    let broken = json!([
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "user", "content": "And?" },
    ]);
    let (status, said) = served.post("/v1/chat/completions", &chat("deepseek-chat", broken));
    assert_eq!(status, 400, "{said}");
    let (code, said) = served.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("refused request 0: openai-chat/tool-message-missing at /messages/1"), "{said}");
    assert!(said.contains("(deepseek@"), "{said}");
    assert!(said.contains("u[text] a[call a] u[text]"), "{said}");
}

#[test]
fn a_provider_without_requests_has_judged_nothing() {
    let served = Served::start(&[]);
    assert_eq!(served.get("/v1/nowhere").0, 404);
    let (code, said) = served.end();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("GET /v1/nowhere: nothing answers there"), "{said}");
}

#[test]
fn every_cut_of_two_hundred_is_delivered_with_its_receipt() {
    let served = Served::start(&["--faults=eof,reset,end-early,error", "--every", "2", "--seed", "3"]);
    let mut n_broken = 0;
    for _ in 0..400 {
        let body = json!({
            "model": "claude-sonnet-4-5", "max_tokens": 9, "stream": true,
            "messages": [{ "role": "user", "content": "Look." }],
            "tools": [{ "name": "look", "input_schema": { "type": "object" } }],
        });
        let (_, said) = served.post("/v1/messages", &body);
        n_broken += u32::from(!said.contains("message_stop"));
    }
    assert_eq!(n_broken, 200);
    // The last client may see the end of its reply before the provider has noted it.
    let faults =
        || serde_json::from_str::<Value>(&served.get("/_brickbat/state").1).unwrap()["faults"].clone();
    let faults = (0..1000).map(|_| faults()).find(|faults| faults["delivered"] == 200).unwrap_or_else(faults);
    assert_eq!(faults, json!({ "armed": 200, "delivered": 200, "then_accepted": 199, "then_refused": 0 }));
}

#[test]
fn a_port_in_use_is_bad_input() {
    let folder = TempDir::new().unwrap();
    let used = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = used.local_addr().unwrap().port().to_string();
    for command in
        [&["serve", "--port", &port][..], &["proxy", "--upstream", "http://127.0.0.1:9", "--port", &port]]
    {
        let said = crate::program::brickbat(folder.path(), command, &[]);
        assert_eq!(said.code, Some(2), "{said:#?}");
        assert!(said.err.contains("hint: `--port 0` selects a free port"), "{said:#?}");
    }
}

#[test]
fn an_unknown_host_is_bad_input() {
    let folder = TempDir::new().unwrap();
    let said = crate::program::brickbat(folder.path(), &["serve", "--host", "llm.example.org"], &[]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("not known how strict"), "{said:#?}");
}

/// A request that offers a tool, in a thread that ends with these messages.
fn asking(messages: &Value) -> Value {
    json!({
        "model": "claude-sonnet-4-5", "max_tokens": 9, "stream": true, "messages": messages,
        "tools": [{ "name": "look", "input_schema": { "type": "object" } }],
    })
}

#[test]
fn a_test_holds_a_reply_at_a_point_and_receives_rejections() {
    let (mut test, ready) = Served::controlled(&[]);
    assert_eq!(ready["base_urls"]["openai-chat"], json!(format!("http://{}/v1", test.served.address)));
    assert_eq!(ready["variables"]["ANTHROPIC_API_KEY"], "sk-ant-brickbat");
    let arm = |id: u64, what: &str, at: &str| json!({ "order": "arm", "id": id, "what": what, "at": at });
    assert_eq!(test.ask(&arm(0, "stop", "after end a")), json!({ "said": "answer", "id": 0, "armed": 0 }));
    for (what, at, why) in [
        ("stop", "after end b", "`stop after end a of reply 1` is ordered for the same reply"),
        ("overloaded", "after end a of reply 2", "overloaded after end a of reply 2: "),
        ("stop", "after lunch", "is no point of a reply"),
        ("fire", "after calls", "unknown order `fire`"),
    ] {
        let answer = test.ask(&arm(1, what, at));
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(why)), "{answer}");
    }
    assert!(test.ask(&json!({ "order": "arm", "id": 2, "what": "reset" }))["error"].is_string());
    assert!(test.ask(&json!({ "order": "dance", "id": 3 }))["error"].is_string());

    let user = json!([{ "role": "user", "content": "Look." }]);
    let mut reply = test.served.open("/v1/messages", "", &asking(&user));
    assert_eq!(test.hear(), json!({ "said": "reached", "armed": 0, "exchange": 0 }));
    test.ask(&json!({ "order": "release", "id": 4, "armed": 0 }));
    let mut rest = String::new();
    reply.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("message_stop"), "{rest}");

    // The next reply from here on is corrupted, whatever its number is.
    test.ask(&json!({ "order": "arm", "id": 5, "what": "overloaded" }));
    assert_eq!(test.served.post("/v1/messages", &asking(&user)).0, 529);
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "look", "input": {} });
    let broken = json!([user[0], { "role": "assistant", "content": [call] }, user[0]]);
    assert_eq!(test.served.post("/v1/messages", &asking(&broken)).0, 400);
    test.order(&arm(6, "eof", "after calls of reply 7"));
    assert_eq!(test.hear()["rule"], "anthropic-messages/tool-result-missing");
    assert_eq!(test.hear()["armed"], 2);
    let report = test.ask(&json!({ "order": "report", "id": 7 }));
    assert_eq!((&report["requests"], &report["refused"]), (&json!(3), &json!(1)), "{report:#}");
    let refused = json!({ "refused": "anthropic-messages/tool-result-missing" });
    let orders = report["orders"].as_array().unwrap();
    assert_eq!(orders[0]["words"], "stop after end a of reply 1");
    assert!(orders[0]["receipt"].is_string() && orders[0]["then"] == "accepted", "{report:#}");
    assert!(orders[1]["receipt"].is_string() && orders[1]["then"] == refused, "{report:#}");
    assert_eq!(orders[2]["receipt"], Value::Null);
}

#[test]
fn a_test_reads_the_histories_that_its_agent_sends() {
    let (mut test, _) = Served::controlled(&[]);
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "look", "input": { "key": "a" } });
    let result =
        json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": "found", "is_error": true });
    let messages = json!([
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": [call] },
        { "role": "user", "content": [result] },
    ]);
    assert_eq!(test.served.post("/v1/messages", &asking(&messages)).0, 200);
    // Rejected requests are sent, too.
    assert_eq!(test.served.post("/v1/messages", &asking(&json!([messages[1]]))).0, 400);
    test.order(&json!({ "order": "histories", "id": 0 }));
    assert_eq!(test.hear()["said"], "refused");
    let answer = test.hear();
    let contents = |at: usize| -> Vec<Value> {
        let items = answer["histories"][at]["items"].as_array().unwrap();
        items.iter().map(|item| item["content"].clone()).collect()
    };
    let called = json!({ "kind": "call", "id": "toolu_1", "name": "look", "args": { "key": "a" } });
    let expected = [
        json!({ "kind": "text", "text": "Look." }),
        called.clone(),
        json!({ "kind": "result", "id": "toolu_1", "text": "found", "is_error": true }),
    ];
    assert_eq!(contents(0), expected, "{answer:#}");
    assert_eq!(contents(1), [called]);
    assert_eq!(answer["histories"][1]["exchange"], 1);
}

#[test]
fn a_provider_controlled_by_a_test_ends_with_it_and_not_by_ctrl_c() {
    let (mut test, _) = Served::controlled(&[]);
    kill_process(Pid::from_child(&test.served.child), Signal::INT).unwrap();
    assert_eq!(test.ask(&json!({ "order": "report", "id": 0 }))["requests"], 0);
    test.orders = None;
    let mut rest = String::new();
    test.served.out.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), test.served.child.wait().unwrap().code()), ("", Some(3)));
}
