//! The provider for `wiremock`, used as the author of an SDK in Rust would: their agent leaves calls dangling
//! on a stop, and its next turn is rejected; the fixed agent continues.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use crate::small_agent::OwnAgent;
use brickbat::strict::{Dialect, Strict};
use brickbat_engine::agent::{BodyEnd, Input, Output, RunId, SansIo};
use brickbat_scenario::lower;
use brickbat_scenario::plan::ToolOutcome;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer};

const SCENARIO: &str = include_str!("../../scenarios/abort/mid-batch.yaml");

#[tokio::test]
async fn an_agent_that_leaves_calls_dangling_is_caught() {
    let refusals = refusals_after_a_stop::<true>().await;
    assert_eq!(refusals.len(), 1);
    assert!(refusals[0].contains("tool_call_ids did not have response messages"), "{}", refusals[0]);
}

#[tokio::test]
async fn an_agent_that_closes_its_calls_passes() {
    assert_eq!(refusals_after_a_stop::<false>().await, [""; 0]);
}

#[tokio::test]
async fn a_script_continues_from_turn_to_turn() {
    let (server, strict) = served().await;
    let ask = |text: &str| {
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{text}"}}],"tools":[{}]}}"#, TOOL)
    };
    let first = post(&server, ask("Look up the three orders.").into_bytes()).await;
    assert!(first.0 == 200 && String::from_utf8_lossy(&first.1).contains("tool_calls"));
    strict.begin_turn(1);
    let second = post(&server, ask("What happened?").into_bytes()).await;
    assert!(String::from_utf8_lossy(&second.1).contains("Some of them were found."));
    let refused = post(&server, b"{".to_vec()).await;
    assert_eq!((refused.0, strict.refusals().len()), (400, 1));
}

#[test]
fn a_text_that_is_not_a_scenario_is_reported() {
    let error = Strict::of_scenario("schema: 1\nturn: []\n", Dialect::OpenaiChat).unwrap_err();
    assert!(error.to_string().contains("scenario.yaml"), "{error}");
}

const TOOL: &str = r#"{"type":"function","function":{"name":"lookup"}}"#;

async fn served() -> (MockServer, Strict) {
    let strict = Strict::of_scenario(SCENARIO, Dialect::OpenaiChat).unwrap();
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(strict.clone()).mount(&server).await;
    (server, strict)
}

/// A turn that is stopped when the first of its calls has a result, and another turn.
async fn refusals_after_a_stop<const DANGLES: bool>() -> Vec<String> {
    let (server, strict) = served().await;
    let plan =
        lower::plans("scenario", "scenario.yaml", SCENARIO, &[Dialect::OpenaiChat], 0).unwrap().remove(0);
    let mut agent: OwnAgent<DANGLES> = SansIo::of_plan(&plan).unwrap();
    let started = turn(&server, &mut agent, "Look up the three orders.").await;
    assert_eq!(started.len(), 3);
    let outcome = ToolOutcome::Return("found".to_owned());
    agent.step(Input::ToolDone { run: started[0], outcome });
    agent.step(Input::Stop);
    strict.begin_turn(1);
    turn(&server, &mut agent, "What happened?").await;
    strict.refusals()
}

/// Runs a turn of the agent up to where it waits for tools; returns the runs that it has started.
async fn turn<const DANGLES: bool>(
    server: &MockServer,
    agent: &mut OwnAgent<DANGLES>,
    text: &str,
) -> Vec<RunId> {
    let mut outputs = agent.step(Input::Prompt(text));
    let mut started = Vec::new();
    while let Some(output) = outputs.pop() {
        match output {
            Output::Request { request, body } => {
                let (status, body) = post(server, body).await;
                outputs.extend(agent.step(Input::Head { request, status, pause_ms: None }));
                outputs.extend(agent.step(Input::Body { request, bytes: &body }));
                outputs.extend(agent.step(Input::End { request, how: BodyEnd::Complete }));
            }
            Output::StartTool { run, .. } => started.push(run),
            _ => {}
        }
    }
    started
}

async fn post(server: &MockServer, body: Vec<u8>) -> (u16, Vec<u8>) {
    let mut stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
    (status, answer[end + 4..].to_vec())
}
