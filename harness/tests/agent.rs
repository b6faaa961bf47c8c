//! `brickbat agent`: the reference agent and the canaries as a process of their own, over the adapter
//! protocol.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use brickbat::cli::embedded::catalogue;
use brickbat::cli::library::{self, Selection};
use brickbat_drive::runner::{Job, System};
use brickbat_drive::server::{Mount, Server, ServerEvent, ServerLimits};
use brickbat_engine::flaws::Canary;
use brickbat_engine::provider::Provider;
use brickbat_report::report::Case;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::trace::{Confidence, Event};
use brickbat_scenario::verdict::Verdict;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::BRICKBAT;
use crate::runs::{load, run, within_patience};

/// A process of the agent, used line by line.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    n_asked: u64,
}

impl Process {
    fn start() -> Process {
        let mut command = Command::new(BRICKBAT);
        let command = command.arg("agent").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Process { input: child.stdin.take(), child, output, n_asked: 0 }
    }

    /// A process that has been initialized.
    fn greeted() -> Process {
        let mut process = Process::start();
        let about = process.ask("initialize", &json!({ "protocolVersion": 1 }));
        assert_eq!(about["result"]["protocolVersion"], 1, "{about}");
        process
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.n_asked += 1;
        let id = self.n_asked;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    fn hear(&mut self) -> Value {
        serde_json::from_str(&self.output.next().unwrap().unwrap()).unwrap()
    }

    /// Sends a request and returns its answer. Updates before the answer are ignored.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let answer = self.hear();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// The message of the error with which a request is refused.
    fn refused(&mut self, method: &str, params: &Value) -> String {
        let answer = self.ask(method, params);
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        answer["error"]["data"].as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn session(base_url: &str, state: &Path, change: &Value) -> Value {
    let mut brickbat = json!({
        "protocol": 1, "baseUrl": base_url, "dialect": "anthropic-messages", "mode": "thread", "stateDir": state,
        "tools": [{
            "name": "lookup", "description": "Looks up.", "inputSchema": { "type": "object" },
            "gateUrl": format!("{base_url}/gate/lookup"), "deaf": false,
        }],
    });
    for (key, value) in change.as_object().into_iter().flatten() {
        brickbat[key] = value.clone();
    }
    json!({ "cwd": state, "mcpServers": [], "_meta": { "brickbat": brickbat } })
}

fn prompt(session_id: &str, text: &str) -> Value {
    json!({ "sessionId": session_id, "prompt": [{ "type": "text", "text": text }] })
}

fn served(canary: Option<Canary>) -> System {
    System::served_by(Path::new(BRICKBAT), canary).unwrap()
}

fn cases(system: &System, jobs: &[Job]) -> Vec<Case> {
    within_patience(run(system, jobs))
}

#[test]
fn the_reference_agent_passes_every_plan_over_acp_with_observed_receipts() {
    // Two dialects are enough here: `brickbat canaries` runs all of them.
    let dialects = [Dialect::AnthropicMessages, Dialect::OpenaiResponses];
    let jobs =
        library::load(&Selection { sources: &[], dialects: &dialects, filter: None, seed: 0 }).unwrap();
    let cases = cases(&served(None), &jobs);
    assert!(cases.len() > jobs.len(), "{} cases", cases.len());
    // Some points and faults do not exist in some dialects.
    let is_impossible = |case: &Case| {
        let job = jobs.iter().find(|job| job.plan.id.to_string() == case.plan);
        // Only the simulation holds the writes of its store.
        if job.is_some_and(|job| job.plan.holds_saves()) {
            return case.verdict == Verdict::Unsupported;
        }
        let why = job.and_then(|job| job.plan.impossible.as_ref());
        why.is_some() && case.reason.as_ref() == why && case.verdict == Verdict::Unsupported
    };
    let others: Vec<&Case> =
        cases.iter().filter(|case| case.verdict != Verdict::Pass && !is_impossible(case)).collect();
    assert!(others.is_empty(), "{others:#?}");
    let receipts: Vec<_> = cases.iter().flat_map(|case| &case.receipts).collect();
    assert!(receipts.len() > 100, "{} receipts", receipts.len());
    let weaker: Vec<_> =
        receipts.iter().filter(|receipt| receipt.grade != Some(Confidence::Observed)).collect();
    assert!(weaker.is_empty(), "{weaker:#?}");
}

#[test]
fn canaries_are_caught_over_acp() {
    for canary in [crate::plans::canary("dangling-on-abort"), crate::plans::canary("success-invented")] {
        let cases = cases(&served(Some(canary)), &load("abort/mid-batch#k=1"));
        let faulted: Vec<&Case> = cases.iter().filter(|case| !case.plan.ends_with("+control")).collect();
        assert_eq!(faulted.len(), Dialect::ALL.len());
        for case in faulted {
            let is_meant = case.all_findings().any(|finding| finding.check == canary.caught_by());
            assert!(case.verdict == Verdict::Fail && is_meant, "{case:#?}");
        }
    }
}

#[test]
fn names_of_canaries_are_systems() {
    for canary in Canary::all() {
        for way in ["", "/simulated", "/acp"] {
            let name = format!("canary/{}{way}", canary.name());
            assert_eq!(System::named(&name, catalogue()).unwrap().name(), name);
        }
    }
    let unknown = |name| System::named(name, catalogue()).unwrap_err().to_string();
    assert_eq!(unknown("canary/never-end"), "unknown canary `never-end`; did you mean `never-ends`?");
    assert!(unknown("canary/never-ends/http").contains("there is acp, simulated"));
}

#[test]
fn a_closed_session_is_gone_and_its_id_is_not_reused() {
    let state = TempDir::new().unwrap();
    let mut process = Process::greeted();
    let open = session("http://127.0.0.1:9/p/0", state.path(), &json!({}));
    let first = process.ask("session/new", &open)["result"]["sessionId"].clone();
    let closed = process.ask("session/close", &json!({ "sessionId": first }));
    assert!(closed["result"].is_object(), "{closed}");
    let words = process.refused("session/prompt", &prompt(first.as_str().unwrap(), "hello"));
    assert!(words.contains("unknown session"), "{words}");
    assert_ne!(process.ask("session/new", &open)["result"]["sessionId"], first);
    let back = json!({ "sessionId": first, "cwd": "/", "mcpServers": [], "_meta": open["_meta"] });
    assert!(process.ask("session/load", &back)["result"].is_object(), "what it has stored stays");
}

#[test]
fn bad_input_is_refused_with_a_message_and_does_no_harm() {
    let state = TempDir::new().unwrap();
    let url = "http://127.0.0.1:9/p/0";
    let mut process = Process::greeted();
    let without_meta = json!({ "cwd": "/", "mcpServers": [] });
    assert_eq!(process.refused("session/new", &without_meta), "`_meta.brickbat` is missing");
    for (change, words) in [
        (json!({ "protocol": 2 }), "`_meta.brickbat.protocol` is not 1"),
        (json!({ "mode": "ui-messages" }), "unknown mode `ui-messages`; there is thread"),
        (
            json!({ "dialect": "gopher" }),
            "unknown dialect `gopher`; there is anthropic-messages, openai-chat",
        ),
        (
            json!({ "baseUrl": "ftp://x" }),
            "expected an address such as `http://127.0.0.1:4010/p/7`, got `ftp://x/v1/messages`",
        ),
        (json!({ "tools": 1 }), "`_meta.brickbat`: invalid type: integer `1`, expected a sequence"),
        (json!({ "stateDir": "/nowhere/at/all" }), "cannot write the stored thread in /nowhere/at/all/"),
    ] {
        let said = process.refused("session/new", &session(url, state.path(), &change));
        assert!(said.contains(words), "{change}: {said}");
    }
    for method in ["_brickbat/barrier", "_brickbat/history"] {
        assert_eq!(process.refused(method, &json!({ "sessionId": "s" })), "unknown session `s`");
    }
    assert_eq!(process.refused("session/prompt", &prompt("s", "hello")), "unknown session `s`");
    process.say(
        &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s" } }).to_string(),
    );
    process.say("not JSON");
    assert_eq!(process.hear()["error"]["code"], -32700);
    assert_eq!(process.ask("session/dance", &json!({}))["error"]["code"], -32601);
    let mut loading = session(url, state.path(), &json!({}));
    loading["sessionId"] = json!("session-7");
    assert_eq!(process.refused("session/load", &loading), "no session `session-7` is stored in `stateDir`");
    loading["sessionId"] = json!("../session-7");
    assert_eq!(process.refused("session/load", &loading), "unknown session `../session-7`");
    // After all this it still works.
    let opened = process.ask("session/new", &session(url, state.path(), &json!({})));
    let id = opened["result"]["sessionId"].as_str().unwrap();
    let told = process.ask("_brickbat/history", &json!({ "sessionId": id }));
    assert_eq!(told["result"]["history"], json!([]));
}

#[test]
fn it_ends_when_its_input_ends_even_in_a_turn() {
    let (state, silent) = (TempDir::new().unwrap(), std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("http://{}/p/0", silent.local_addr().unwrap());
    let mut process = Process::greeted();
    let opened = process.ask("session/new", &session(&url, state.path(), &json!({})));
    let id = opened["result"]["sessionId"].as_str().unwrap();
    process.send("session/prompt", &prompt(id, "hello"));
    let _request = silent.accept().unwrap();
    let busy = process.refused("session/prompt", &prompt(id, "again"));
    assert_eq!(busy, "the previous turn is still running");
    drop(process.input.take());
    assert_eq!(process.child.wait().unwrap().code(), Some(0));
    // All its remaining output was messages of the protocol.
    for line in process.output.by_ref() {
        assert_eq!(serde_json::from_str::<Value>(&line.unwrap()).unwrap()["jsonrpc"], "2.0");
    }
}

#[test]
fn a_store_that_fails_in_a_turn_fails_the_request_and_not_the_process() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut process = Process::greeted();
    let mut open = |state: &Path| {
        let opened = process.ask("session/new", &session("http://127.0.0.1:9", state, &json!({})));
        opened["result"]["sessionId"].as_str().unwrap().to_owned()
    };
    let (broken, whole) = (open(first.path()), open(second.path()));
    first.close().unwrap();
    let said = process.refused("session/prompt", &prompt(&broken, "hello"));
    assert!(said.contains("cannot write the stored thread in"), "{said}");
    assert!(process.refused("session/prompt", &prompt(&broken, "again")).contains("the session is over"));
    // No server listens at port 9, which is an outcome and not an error.
    let answer = process.ask("session/prompt", &prompt(&whole, "hello"));
    assert_eq!(answer["result"]["_meta"]["brickbat"]["outcome"]["kind"], "raised", "{answer}");
}

/// Answers the gates of a mount until a request comes, and returns its body.
async fn next_request(mount: &mut Mount<Provider>, job: &Job) -> String {
    loop {
        match mount.next().await.unwrap() {
            ServerEvent::Trace(Event::Requested { body, .. }) => {
                return String::from_utf8_lossy(&body).into_owned();
            }
            ServerEvent::GateOpened { gate, args, .. } => {
                let call = job.plan.call_with_marker(&args).unwrap();
                mount.settle(gate, &job.plan.calls[call.0 as usize].outcome);
            }
            _ => {}
        }
    }
}

#[test]
fn a_session_is_loaded_in_a_new_process() {
    within_patience(async {
        let state = TempDir::new().unwrap();
        let job = load("control/plain-batch@anthropic-messages").remove(0);
        let server = Server::start(ServerLimits::STANDARD).await.unwrap();
        let mut mount = server.mount(Provider::new(job.plan.clone(), job.plan.profile_from(&[])));
        let given = session(&mount.base_url(), state.path(), &json!({}));

        let mut process = Process::greeted();
        let opened = process.ask("session/new", &given);
        let id = opened["result"]["sessionId"].as_str().unwrap().to_owned();
        mount.with_core(|provider| provider.begin_turn(0));
        process.send("session/prompt", &prompt(&id, "the words of the first turn"));
        next_request(&mut mount, &job).await;
        // The request with the results: by then the results are stored.
        let before = next_request(&mut mount, &job).await;
        drop(process);

        let mut process = Process::greeted();
        let mut loading = given.clone();
        loading["sessionId"] = json!(id);
        let loaded = process.ask("session/load", &loading);
        assert!(loaded["result"].is_object(), "{loaded}");
        assert_eq!(process.refused("session/load", &loading), format!("the session `{id}` is open"));
        let other = process.ask("session/new", &given);
        assert_ne!(other["result"]["sessionId"], json!(id), "the id of a loaded session is given out again");
        process.send("session/prompt", &prompt(&id, "the words of the second turn"));
        let after = next_request(&mut mount, &job).await;
        let messages = |body: &str| serde_json::from_str::<Value>(body).unwrap()["messages"].clone();
        let (before, after) = (messages(&before), messages(&after));
        let n_before = before.as_array().unwrap().len();
        assert_eq!(after.as_array().unwrap()[..n_before], before.as_array().unwrap()[..]);
        assert!(after.to_string().contains("the words of the second turn"), "{after}");
    });
}
