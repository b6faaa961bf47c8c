//! A client that reconnects in the background, over real sockets: what it sends late is not the present turn's.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use brickbat_drive::runner::System;
use brickbat_drive::server::{Mount, Server, ServerEvent, ServerLimits};
use brickbat_engine::agent::Delivery;
use brickbat_engine::provider::Provider;
use brickbat_report::report::Case;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::CONTROL;
use brickbat_scenario::trace::{Ending, Event, ExchangeId, RequestKind};
use brickbat_scenario::verdict::{Severity, Verdict};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::program::folder_of;
use crate::runs::{load, load_file, run, within_patience};

/// Does what `reqwest-eventsource` does in async-openai 0.30: it posts a body and reads the stream in a task of
/// its own. If the stream breaks, the application gets an error, and the task posts the same body again when its
/// timer runs out. Here the test is the timer.
struct EventSource {
    timer: oneshot::Sender<()>,
    task: JoinHandle<String>,
}

impl EventSource {
    fn open(mount: &Mount<Provider>, body: Vec<u8>) -> EventSource {
        let url = format!("{}/v1/chat/completions", mount.base_url());
        let (timer, runs_out) = oneshot::channel();
        let task = tokio::spawn(async move {
            // The connection breaks inside the body.
            let _ = post(&url, &body).await;
            runs_out.await.unwrap();
            post(&url, &body).await.unwrap()
        });
        EventSource { timer, task }
    }

    /// Lets the timer run out, and returns the reply to the second request.
    async fn reconnects(self) -> String {
        self.timer.send(()).unwrap();
        self.task.await.unwrap()
    }
}

async fn post(url: &str, body: &[u8]) -> std::io::Result<String> {
    let (authority, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(authority).await?;
    let head = format!(
        "POST /{path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn body(said: &[&str]) -> Vec<u8> {
    let tool = json!({ "type": "function", "function": { "name": "lookup" } });
    let messages: Vec<_> = said.iter().map(|text| json!({ "role": "user", "content": text })).collect();
    json!({ "model": "m", "stream": true, "tools": [tool], "messages": messages }).to_string().into_bytes()
}

/// The next event for which `wanted` returns something. A reply that is held continues.
async fn next<T>(mount: &mut Mount<Provider>, wanted: impl Fn(&Event) -> Option<T>) -> T {
    loop {
        let ServerEvent::Trace(event) = mount.next().await.unwrap() else { continue };
        if let Event::Held { exchange, .. } = event {
            mount.release(exchange);
        }
        if let Some(found) = wanted(&event) {
            return found;
        }
    }
}

fn kind(event: &Event) -> Option<RequestKind> {
    match event {
        Event::Requested { kind, .. } => Some(*kind),
        _ => None,
    }
}

#[test]
fn a_request_that_is_repeated_in_the_background_does_not_get_the_reply_of_the_turn() {
    within_patience(async {
        let job = load("fault/reset-in-stream#p=text-1@openai-chat").remove(0);
        let (first, second) = (job.plan.turns[0].user.clone(), job.plan.turns[1].user.clone());
        let server = Server::start(ServerLimits::STANDARD).await.unwrap();
        let mut mount = server.mount(Provider::new(job.plan, Profile::newest(Dialect::OpenaiChat)));
        mount.with_core(|provider| provider.begin_turn(0));
        let source = EventSource::open(&mount, body(&[&first]));
        let scripted = |turn| RequestKind::Scripted { turn, reply: 0, attempt: 0 };
        assert_eq!(next(&mut mount, kind).await, scripted(0));
        let ended = |event: &Event| match event {
            Event::Replied { ending, .. } => Some(*ending),
            _ => None,
        };
        assert_eq!(next(&mut mount, ended).await, Ending::Reset);
        // The application has reported the error to its user, who begins another turn.
        mount.with_core(|provider| provider.begin_turn(1));
        let reply = source.reconnects().await;
        assert_eq!(next(&mut mount, kind).await, RequestKind::Repeated { of: ExchangeId(0) });
        assert!(reply.contains("200") && !reply.contains("Some of them"), "{reply}");
        let url = format!("{}/v1/chat/completions", mount.base_url());
        let own = body(&[&first, &second]);
        let asked = tokio::spawn(async move { post(&url, &own).await.unwrap() });
        assert_eq!(next(&mut mount, kind).await, scripted(1));
        next(&mut mount, ended).await;
        let reply = asked.await.unwrap();
        assert!(reply.contains("Some of them"), "the turn gets its own reply: {reply}");
    });
}

/// The client repeats the broken request when the second turn has its calls. Both calls end after the request
/// has arrived: their gates are requests too, and are answered one after the other.
const BROKEN_THEN_CALLS: &str = "
schema: 1
tools:
  lookup: { returns: 'found {key}' }
turns:
  - user: Look up the order.
    replies: [[{ text: Let me look. }]]
    at: [{ after: { text: 1 }, do: reset }]
  - user: Try again.
    replies:
      - - call: { as: a, tool: lookup, args: { key: a } }
        - call: { as: b, tool: lookup, args: { key: b } }
      - - text: Here it is.
    settle: [b, a]
  - user: What did you find?
    replies: [[{ text: Both orders. }]]
";

#[test]
fn a_client_that_repeats_a_broken_request_is_accused_of_only_that() {
    within_patience(async {
        let folder = folder_of(&[("scenario.yaml", BROKEN_THEN_CALLS)]);
        let jobs = load_file(&folder.path().join("scenario.yaml"));
        let canary = crate::plans::canary("broken-request-repeated");
        let cases = run(&System::Live(Some(canary), Delivery::Streamed), &jobs).await;
        let (controls, faulty): (Vec<Case>, Vec<Case>) =
            cases.into_iter().partition(|case| case.plan.ends_with(CONTROL));
        assert!(controls.iter().all(|case| case.verdict == Verdict::Pass), "{controls:#?}");
        assert_eq!(faulty.len(), Dialect::ALL.len());
        assert!(faulty.iter().all(|case| case.verdict == Verdict::Fail), "{faulty:#?}");
        for finding in faulty.iter().flat_map(|case| &case.findings) {
            assert_eq!(finding.severity, Severity::AbandonedRequestRepeated, "{finding:#?}");
        }
        for case in run(&System::Live(None, Delivery::Streamed), &jobs).await {
            assert_eq!(case.verdict, Verdict::Pass, "{case:#?}");
        }
    });
}
