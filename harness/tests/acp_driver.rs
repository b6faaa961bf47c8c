//! The driver against adapters that misbehave: each fault becomes an error of the adapter, with a message, in
//! bounded time.
//!
//! The adapters are shell scripts that print canned lines.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;
use std::time::Duration;

use crate::polite::{self, POLITE, spec};
use brickbat_drive::driver::{Adapter, DriverError, Launch, ProcessLimits, Session, SessionEvent};
use brickbat_scenario::trace::{Consent, QuestionId, ShownState, TurnOutcome};

/// Longer than a healthy shell needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn launch(script: &str, arg: &str) -> Launch {
    let limits = ProcessLimits { start: PATIENCE, answer: PATIENCE, ..ProcessLimits::STANDARD };
    Launch { limits, ..polite::launch(script, arg) }
}

async fn refused_at_start(script: &str) -> DriverError {
    Adapter::start(&launch(script, "")).await.expect_err(script)
}

async fn open(on_prompt: &str) -> Session {
    let adapter = Adapter::start(&launch(POLITE, on_prompt)).await.unwrap();
    assert_eq!(adapter.about().sdk, "sh");
    adapter.open(&spec(Path::new("/tmp"))).await.unwrap()
}

async fn turn(on_prompt: &str) -> Vec<SessionEvent> {
    let mut session = open(on_prompt).await;
    session.prompt("hello").await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = session.next().await {
        let last = matches!(event, SessionEvent::Ended(_));
        events.push(event);
        if last {
            break;
        }
    }
    events
}

fn shown(id: &str, state: ShownState) -> SessionEvent {
    SessionEvent::Shown { id: id.into(), state }
}

#[tokio::test]
async fn a_session_is_closed_if_the_adapter_supports_it() {
    let able = r#""loadSession":true"#;
    let closing = format!(r#"{able},"sessionCapabilities":{{"close":{{}}}}"#);
    for (says, n_closed) in [(able, "0"), (closing.as_str(), "1")] {
        let history = r#"*'"method":"_brickbat/history"'*) answer '{"history":["kept"]}' ;;"#;
        let counted = r#"*'"method":"session/close"'*) n=$((n + 1)); answer '{}' ;;
            *'"method":"_brickbat/history"'*) answer '{"history":"'$n'"}' ;;"#;
        assert!(POLITE.contains(history));
        let script = format!("n=0\n{}", POLITE.replace(able, says).replace(history, counted));
        let adapter = Adapter::start(&launch(&script, "")).await.unwrap();
        drop(adapter.open(&spec(Path::new("/tmp"))).await.unwrap());
        // The lines of one connection arrive in order.
        let second = adapter.open(&spec(Path::new("/tmp"))).await.unwrap();
        assert_eq!(second.history().await.unwrap(), Some(n_closed.into()), "{says}");
    }
}

#[tokio::test]
async fn an_adapter_that_exits_at_once_is_quoted() {
    // Its child would keep the pipes open for long.
    let error = refused_at_start("sleep 600 & echo 'cannot find module' >&2; exit 3").await;
    let text = "the adapter ended (exit status: 3); the end of its standard error: cannot find module";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn garbage_is_quoted() {
    let error = refused_at_start("echo 'Listening on port 3000'; exec sleep 600").await;
    let text = "the adapter wrote an invalid message to standard output: not JSON: expected value at line 1 column 1, \
                in `Listening on port 3000`";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn an_endless_line_is_cut_off() {
    let error = refused_at_start("head -c 100000000 /dev/zero | tr '\\0' x").await;
    let DriverError::InvalidMessage { source, excerpt } = error else { panic!("{error}") };
    assert_eq!(source.to_string(), "a line of more than 8388608 bytes");
    assert!(excerpt.len() < 300, "{}", excerpt.len());
}

#[tokio::test]
async fn a_silent_adapter_times_out() {
    let mut launch = launch("echo 'still thinking' >&2; exec sleep 600", "");
    launch.limits.start = Duration::from_millis(300);
    let error = Adapter::start(&launch).await.unwrap_err();
    assert!(
        matches!(&error, DriverError::AnswerTimedOut { method, .. } if method == "initialize"),
        "{error}"
    );
}

#[tokio::test]
async fn the_error_names_a_missing_program() {
    let launch = Launch { program: "no-such-program-here".into(), ..launch("", "") };
    let error = Adapter::start(&launch).await.unwrap_err();
    assert!(
        matches!(&error, DriverError::ProgramMissing { program, .. } if program == "no-such-program-here")
    );
}

#[tokio::test]
async fn another_version_of_the_protocol_is_refused() {
    let error = refused_at_start(&POLITE.replace(r#""protocol":1"#, r#""protocol":2"#)).await;
    assert!(error.to_string().contains("version 2 of the protocol"), "{error}");
}

#[tokio::test]
async fn updates_before_the_end_arrive_before_the_end() {
    let raised = r#"show a pending; show a completed; outcome '{"kind":"raised","class":"E","text":"t"}'"#;
    let end = SessionEvent::Ended(TurnOutcome::Raised { class: "E".into(), text: "t".into() });
    let expected = [shown("a", ShownState::Pending), shown("a", ShownState::Completed), end];
    assert_eq!(turn(raised).await, expected);
}

#[tokio::test]
async fn a_turn_is_stopped_and_the_next_one_runs() {
    let mut session = open("show a in_progress").await;
    session.prompt("hello").await.unwrap();
    assert_eq!(session.prompt("again").await, Err(DriverError::TurnRunning));
    assert_eq!(session.next().await, Some(shown("a", ShownState::InProgress)));
    assert_eq!(session.barrier().await, Ok(true));
    session.cancel().await.unwrap();
    assert_eq!(session.next().await, Some(SessionEvent::Ended(TurnOutcome::Cancelled)));
    assert_eq!(session.history().await, Ok(Some(serde_json::json!(["kept"]))));
    session.prompt("again").await.unwrap();
    assert_eq!(session.next().await, Some(shown("a", ShownState::InProgress)));
}

/// The events after two questions that get these answers: the option that the adapter got, as the name of a
/// call.
async fn told(first: Consent, second: Consent) -> Vec<SessionEvent> {
    let mut session = open("ask a; ask b").await;
    session.prompt("hello").await.unwrap();
    for (number, id) in [(0, "a"), (1, "b")] {
        let args = Some(r#"{"key":"k"}"#.to_owned());
        let asked = SessionEvent::Asked { question: QuestionId(number), id: id.into(), args };
        assert_eq!(session.next().await, Some(asked));
    }
    session.answer(QuestionId(1), second);
    let of_second = session.next().await.unwrap();
    session.answer(QuestionId(0), first);
    // A question is answered once.
    session.answer(QuestionId(0), second);
    let of_first = session.next().await.unwrap();
    assert_eq!(session.barrier().await, Ok(true));
    vec![of_first, of_second]
}

#[tokio::test]
async fn questions_are_answered_by_the_kind_of_the_option() {
    let option = |id| shown(id, ShownState::Completed);
    assert_eq!(told(Consent::Given, Consent::Refused).await, [option("yes"), option("no")]);
    assert_eq!(told(Consent::Withheld, Consent::Given).await, [option("cancelled"), option("yes")]);
}

#[tokio::test]
async fn a_killed_session_is_loaded_by_another_process() {
    let mut session = open("show a in_progress").await;
    session.prompt("hello").await.unwrap();
    assert_eq!(session.barrier().await, Ok(true));
    session.kill().await.unwrap();
    // Its earlier messages still arrive; then it is known to be dead, from the signal.
    assert_eq!(session.next().await, Some(shown("a", ShownState::InProgress)));
    let Some(SessionEvent::Lost(DriverError::AdapterExited { status, .. })) = session.next().await else {
        panic!()
    };
    assert!(status.contains("signal: 9"), "{status}");
    let heir = Adapter::start(&launch(POLITE, "show b completed")).await.unwrap();
    assert!(heir.about().capabilities.has("load"));
    let mut session = heir.load(session.id(), &spec(Path::new("/tmp"))).await.unwrap();
    session.prompt("again").await.unwrap();
    // The past that it sent while it loaded is not an event of this conversation.
    assert_eq!(session.next().await, Some(shown("b", ShownState::Completed)));
}

#[tokio::test]
async fn the_claim_to_load_requires_the_acp_capability_and_is_not_implied_by_it() {
    let error = refused_at_start(&POLITE.replace(r#""loadSession":true"#, "")).await;
    assert!(error.to_string().contains("loadSession"), "{error}");
    let silent = POLITE.replace(r#","load":true"#, "");
    assert!(!Adapter::start(&launch(&silent, "")).await.unwrap().about().capabilities.has("load"));
}

#[tokio::test]
async fn an_unknown_state_does_not_count_as_pending() {
    let events = turn("show a done").await;
    let [SessionEvent::Lost(error)] = &events[..] else { panic!("{events:?}") };
    assert!(error.to_string().contains("unknown status \"done\" of a call"), "{error}");
}

#[tokio::test]
async fn a_turn_without_an_outcome_is_an_error() {
    let events = turn(r#"answer '{"stopReason":"end_turn"}'"#).await;
    assert!(matches!(&events[..], [SessionEvent::Lost(DriverError::ProtocolViolation { .. })]), "{events:?}");
}

#[tokio::test]
async fn an_adapter_that_dies_in_a_turn_loses_only_that_turn() {
    let events = turn("show a in_progress; echo 'out of memory' >&2; exit 9").await;
    let [first, SessionEvent::Lost(error)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(first, &shown("a", ShownState::InProgress));
    assert_eq!(
        error.to_string(),
        "the adapter ended (exit status: 9); the end of its standard error: out of memory"
    );
}

#[tokio::test]
async fn a_flood_of_events_is_bounded() {
    let mut session = open("i=0; while [ $i -lt 5000 ]; do show a pending; i=$((i+1)); done").await;
    session.prompt("hello").await.unwrap();
    // Answered after the flood, so all of it has arrived.
    assert_eq!(session.barrier().await, Ok(true));
    let mut n_events = 0;
    loop {
        match session.next().await {
            Some(SessionEvent::Shown { .. }) => n_events += 1,
            Some(other) => {
                assert_eq!(other, SessionEvent::Lost(DriverError::EventOverflow { limit: n_events }));
                break;
            }
            None => panic!("the session ended without saying why"),
        }
    }
    assert_eq!(session.next().await, None);
}

#[tokio::test]
async fn the_children_of_an_adapter_die_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("alive");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // The child keeps the pipe open for as long as it lives.
    let script = format!("sleep 600 > '{}' & {POLITE}", fifo.display());
    let adapter = Adapter::start(&launch(&script, "")).await.unwrap();
    let end = tokio::task::spawn_blocking(move || read_to_end(&fifo));
    drop(adapter);
    let bytes = tokio::time::timeout(PATIENCE, end).await.expect("the child lives on").unwrap();
    assert_eq!(bytes, 0);
}

fn read_to_end(fifo: &Path) -> usize {
    // This end is briefly opened for writing too, so that the open does not wait for a writer that is already
    // dead.
    let both = std::fs::OpenOptions::new().read(true).write(true).open(fifo).unwrap();
    let mut reader = std::fs::File::open(fifo).unwrap();
    drop(both);
    std::io::copy(&mut reader, &mut std::io::sink()).unwrap().try_into().unwrap()
}
