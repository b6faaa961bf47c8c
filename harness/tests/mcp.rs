//! `brickbat mcp` with the gates of a real server: the agent's requests and answers, and what the harness
//! sees of them.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use brickbat_drive::driver::ToolSpec;
use brickbat_drive::server::{GateId, Mount, Server, ServerEvent, ServerLimits};
use brickbat_engine::provider::Provider;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::{Plan, PlannedTool, ToolOutcome};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A relay that hangs fails its test after this time instead.
const PATIENCE: Duration = Duration::from_secs(60);

/// A relay with its server, and the agent's ends of its pipes.
struct Relay {
    mount: Mount<Provider>,
    child: Child,
    stdin: Option<ChildStdin>,
    said: Lines<BufReader<ChildStdout>>,
    _folder: TempDir,
    _server: Server,
}

impl Relay {
    /// Starts and initializes a relay for the tools `lookup` and `deaf`; the latter ignores a cancellation.
    async fn start() -> Relay {
        let text = include_str!("../../scenarios/control/plain-batch.yaml");
        let plans: Vec<Plan> =
            lower::plans("control/plain-batch", "x.yaml", text, &[Dialect::OpenaiChat], 0).unwrap();
        let plan = Arc::new(plans.into_iter().next().unwrap());
        let server = Server::start(ServerLimits::STANDARD).await.unwrap();
        let mount = server.mount(Provider::new(plan, Profile::newest(Dialect::OpenaiChat)));
        let tool = |name: &str| {
            let params = vec![("key".to_owned(), "string"), ("n".to_owned(), "number")];
            let planned = PlannedTool { deaf: name == "deaf", ..PlannedTool::new(name, params) };
            ToolSpec::new(&planned, mount.gate_url(name))
        };
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("tools.json");
        std::fs::write(&list, serde_json::to_vec(&[tool("lookup"), tool("deaf")]).unwrap()).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_brickbat"))
            .args(["mcp", "--tools", list.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut relay = Relay { mount, child, stdin, said, _folder: folder, _server: server };
        relay.say(
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
        ).await;
        let hello = relay.hear().await;
        assert_eq!(hello["result"]["serverInfo"]["name"], "brickbat");
        assert!(hello["result"]["capabilities"]["tools"].is_object(), "{hello}");
        relay.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        relay
    }

    async fn say(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.stdin.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
    }

    async fn call(&mut self, id: u32, tool: &str, args: Value) {
        let params = json!({"name": tool, "arguments": args});
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
    }

    async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.said.next_line()).await.expect("the relay is silent");
        serde_json::from_str(&line.unwrap().expect("the relay is gone")).unwrap()
    }

    async fn seen(&mut self) -> ServerEvent {
        tokio::time::timeout(PATIENCE, self.mount.next()).await.expect("nothing was seen").unwrap()
    }

    /// Waits for a tool to reach its gate, and returns the gate and the arguments.
    async fn opened(&mut self, tool: &str) -> (GateId, String) {
        match self.seen().await {
            ServerEvent::GateOpened { gate, tool: name, args } if name == tool => (gate, args),
            other => panic!("{other:?}"),
        }
    }

    /// Calls a tool with this outcome, and returns the answer.
    async fn answer(&mut self, outcome: &ToolOutcome) -> Value {
        self.call(7, "lookup", json!({"ref": "r"})).await;
        let (gate, _) = self.opened("lookup").await;
        self.mount.settle(gate, outcome);
        let answer = self.hear().await;
        assert_eq!(answer["id"], 7);
        assert!(
            matches!(self.seen().await, ServerEvent::GateSettled { gate: settled, .. } if settled == gate)
        );
        answer
    }
}

#[tokio::test]
async fn the_tools_are_listed_as_the_session_has_them() {
    let mut relay = Relay::start().await;
    relay.say(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let tools = relay.hear().await["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["lookup", "deaf"]);
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["ref"]));
    assert_eq!(tools[0]["inputSchema"]["properties"]["n"], json!({"type": "number"}));
}

#[tokio::test]
async fn parallel_calls_wait_at_their_gates_and_are_answered_in_the_order_of_the_harness() {
    let mut relay = Relay::start().await;
    // Spelled so that a relay which sorts or rounds is caught.
    relay.call(1, "lookup", json!({"ref": "a", "n": 10.0, "key": "ä\n"})).await;
    let (first, args) = relay.opened("lookup").await;
    assert_eq!(args, r#"{"ref":"a","n":10.0,"key":"ä\n"}"#);
    relay.call(2, "lookup", json!({"ref": "b"})).await;
    let (second, _) = relay.opened("lookup").await;
    relay.mount.settle(second, &ToolOutcome::Return("b is here".into()));
    let answer = relay.hear().await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(2), &json!("b is here")));
    assert_ne!(answer["result"]["isError"], true);
    relay.mount.settle(first, &ToolOutcome::Return("a is here".into()));
    assert_eq!(relay.hear().await["id"], 1);
}

#[tokio::test]
async fn a_call_that_waits_reports_progress_to_an_agent_that_has_asked_for_it() {
    let mut relay = Relay::start().await;
    let params = json!({"name": "lookup", "arguments": {"ref": "a"}, "_meta": {"progressToken": "mine"}});
    relay.say(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    let (gate, _) = relay.opened("lookup").await;
    for n in [1.0, 2.0] {
        let said = relay.hear().await;
        assert_eq!(said["method"], "notifications/progress", "{said}");
        assert_eq!(said["params"]["progressToken"], "mine", "{said}");
        assert_eq!(said["params"]["progress"].as_f64(), Some(n), "{said}");
    }
    relay.mount.settle(gate, &ToolOutcome::Return("found".into()));
    let answer = relay.hear().await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("found")));
}

#[tokio::test]
async fn a_failure_is_a_result_and_an_exception_is_an_error() {
    let mut relay = Relay::start().await;
    for outcome in [ToolOutcome::Error("broken".into()), ToolOutcome::Deny("not allowed".into())] {
        let answer = relay.answer(&outcome).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(answer["result"]["content"][0]["text"], outcome.text());
    }
    let answer = relay.answer(&ToolOutcome::Throw("boom".into())).await;
    assert_eq!(answer["error"]["message"], "boom", "{answer}");
    relay.call(8, "nothing", json!({})).await;
    let answer = relay.hear().await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("unknown tool `nothing`"), "{answer}");
}

#[tokio::test]
async fn a_cancelled_call_leaves_its_gate_unless_the_tool_is_deaf() {
    let mut relay = Relay::start().await;
    relay.call(1, "deaf", json!({"ref": "a"})).await;
    let (deaf, _) = relay.opened("deaf").await;
    relay.call(2, "lookup", json!({"ref": "b"})).await;
    let (gate, _) = relay.opened("lookup").await;
    for id in [1, 2] {
        let params = json!({"requestId": id, "reason": "the user's stop"});
        relay.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
    }
    // The deaf one was cancelled first, and is still there when the other has gone.
    assert!(matches!(relay.seen().await, ServerEvent::GateDropped { gate: dropped } if dropped == gate));
    relay.mount.settle(deaf, &ToolOutcome::Return("late".into()));
    assert!(matches!(relay.seen().await, ServerEvent::GateSettled { gate: settled, .. } if settled == deaf));
}

#[tokio::test]
async fn a_relay_ends_with_its_agent_and_so_do_its_calls() {
    let mut relay = Relay::start().await;
    relay.call(1, "lookup", json!({"ref": "a"})).await;
    let (gate, _) = relay.opened("lookup").await;
    drop(relay.stdin.take());
    let status = tokio::time::timeout(PATIENCE, relay.child.wait()).await.expect("the relay stays").unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(matches!(relay.seen().await, ServerEvent::GateDropped { gate: dropped } if dropped == gate));
}

#[tokio::test]
async fn the_error_names_an_unreadable_list() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.json");
    std::fs::write(&bad, "{}").unwrap();
    for (path, text) in [(bad, "not a list of tools"), (folder.path().join("none.json"), "cannot read")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_brickbat"));
        command.arg("mcp").arg("--tools").arg(&path).stdin(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output()).await.unwrap().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(text) && said.contains(path.to_str().unwrap()), "{said}");
    }
}
