//! Plans over real sockets: the strict provider with hostile peers, the reference agent and canaries on the
//! runner.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::net::SocketAddr;
use std::sync::Arc;

use brickbat::cli::embedded::catalogue;
use brickbat_drive::driver::SessionEvent;
use brickbat_drive::driver::in_process::{Endpoints, InProcess};
use brickbat_drive::runner::{Job, System};
use brickbat_drive::server::{Mount, Server, ServerEvent, ServerLimits};
use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::provider::Provider;
use brickbat_report::report::{Case, Report, text};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::{self as rules, Profile};
use brickbat_scenario::action::Action;
use brickbat_scenario::lower;
use brickbat_scenario::plan::{Plan, PlannedAction, PlannedPoint};
use brickbat_scenario::trace::{Event, RequestKind, TurnOutcome};
use brickbat_scenario::verdict::{About, Finding, Severity, Verdict};
use brickbat_scenario::wire;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::runs::{load, run, within_patience};

#[track_caller]
fn assert_all_pass(cases: &[Case]) {
    let others: Vec<&Case> = cases.iter().filter(|case| case.verdict != Verdict::Pass).collect();
    assert!(!cases.is_empty() && others.is_empty(), "{others:#?}");
}

// The provider.

/// Sends bytes on a connection of their own, and reads the answer.
async fn answer(addr: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

/// The status and the body of the answer.
async fn send(addr: SocketAddr, bytes: &[u8]) -> (u16, Value) {
    let answer = answer(addr, bytes).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// A request to a mount: its address, and its bytes.
fn request(mount: &Mount<Provider>, method: &str, path: &str, body: &[u8]) -> (SocketAddr, Vec<u8>) {
    let url = mount.base_url() + path;
    let (authority, target) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let head = format!(
        "{method} /{target} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (authority.parse().unwrap(), [head.as_bytes(), body].concat())
}

async fn ask(mount: &Mount<Provider>, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
    let (addr, bytes) = request(mount, method, path, body);
    send(addr, &bytes).await
}

/// The head of the answer to a POST.
async fn head_of(mount: &Mount<Provider>, path: &str, body: &[u8]) -> String {
    let (addr, bytes) = request(mount, "POST", path, body);
    let answer = answer(addr, &bytes).await;
    answer.split_inclusive("\r\n").take_while(|line| *line != "\r\n").collect()
}

/// The next request that the mount saw. Other events are ignored.
async fn requested(mount: &mut Mount<Provider>) -> RequestKind {
    loop {
        if let ServerEvent::Trace(Event::Requested { kind, .. }) = mount.next().await.unwrap() {
            return kind;
        }
    }
}

/// A body with the plan's tool and these messages.
fn body(dialect: Dialect, messages: &Value) -> Value {
    let tool = match dialect {
        Dialect::AnthropicMessages => json!({ "name": "lookup", "input_schema": { "type": "object" } }),
        Dialect::Gemini => json!({ "functionDeclarations": [{ "name": "lookup" }] }),
        Dialect::BedrockConverse => {
            let tool = json!({ "name": "lookup", "inputSchema": { "json": { "type": "object" } } });
            let mut messages = messages.clone();
            for message in messages.as_array_mut().unwrap() {
                if let Some(text) = message["content"].as_str() {
                    message["content"] = json!([{ "text": text }]);
                }
            }
            return json!({ "toolConfig": { "tools": [{ "toolSpec": tool }] }, "messages": messages });
        }
        Dialect::OpenaiResponses => {
            let tool = json!({ "type": "function", "name": "lookup" });
            return json!({ "model": "some-model", "tools": [tool], "input": messages });
        }
        Dialect::OpenaiChat | Dialect::Mistral => {
            json!({ "type": "function", "function": { "name": "lookup" } })
        }
    };
    match dialect {
        Dialect::Gemini => json!({ "tools": [tool], "contents": messages }),
        _ => json!({ "model": "some-model", "tools": [tool], "messages": messages }),
    }
}

/// A user's message.
fn words(dialect: Dialect, text: &str) -> Value {
    match dialect {
        Dialect::Gemini => json!({ "role": "user", "parts": [{ "text": text }] }),
        _ => json!({ "role": "user", "content": text }),
    }
}

/// A history with an unanswered call.
fn dangling(dialect: Dialect) -> Value {
    let call = match dialect {
        Dialect::AnthropicMessages => json!({ "role": "assistant", "content": [
            { "type": "tool_use", "id": "x1", "name": "lookup", "input": {} },
        ] }),
        Dialect::OpenaiChat | Dialect::Mistral => json!({ "role": "assistant", "tool_calls": [
            { "id": "x1", "type": "function", "function": { "name": "lookup", "arguments": "{}" } },
        ] }),
        Dialect::Gemini => {
            // Calls without any response are rejected by only some models.
            let call = json!({ "functionCall": { "name": "lookup", "args": {} } });
            let response = json!({ "functionResponse": { "name": "lookup", "response": {} } });
            return json!([
                words(dialect, "Look it up."),
                { "role": "model", "parts": [call, call] },
                { "role": "user", "parts": [response] },
            ]);
        }
        Dialect::BedrockConverse => json!({ "role": "assistant", "content": [
            { "toolUse": { "toolUseId": "x1", "name": "lookup", "input": {} } },
        ] }),
        Dialect::OpenaiResponses => {
            json!({ "type": "function_call", "call_id": "x1", "name": "lookup", "arguments": "{}" })
        }
    };
    json!([words(dialect, "Look it up."), call, words(dialect, "Well?")])
}

#[test]
fn hostile_and_auxiliary_requests_are_answered_and_do_not_move_the_script() {
    within_patience(async {
        for dialect in Dialect::ALL {
            let job = load(&format!("control/plain-batch@{dialect}")).remove(0);
            let profile = Profile::newest(dialect);
            let server = Server::start(ServerLimits::STANDARD).await.unwrap();
            let mut mount = server.mount(Provider::new(job.plan, profile));

            let path = wire::of(dialect).post_path("m", Delivery::Whole);
            for bytes in [&b"{\"messages\":["[..], b"", b"\xff\xfe", &[b'['; 100_000]] {
                let (status, said) = ask(&mount, "POST", &path, bytes).await;
                assert_eq!(
                    (status, requested(&mut mount).await),
                    (400, RequestKind::Refused { status: 400 })
                );
                let violations = rules::validate(profile, bytes);
                let refusal = rules::refusal(&violations).unwrap();
                assert!(refusal.rule.id.ends_with("/body-not-json"), "{refusal:?}");
                let request_id = said["request_id"].as_str().unwrap_or_default();
                assert_eq!(said, refusal.envelope(request_id), "{dialect}");
            }

            let illegal = body(dialect, &dangling(dialect));
            let (status, said) = ask(&mount, "POST", &path, illegal.to_string().as_bytes()).await;
            assert_eq!(requested(&mut mount).await, RequestKind::Refused { status: 400 });
            let violations = rules::validate_value(profile, &illegal);
            let refusal = rules::refusal(&violations).unwrap();
            let what = refusal.rule.id.rsplit('/').next().unwrap();
            let (rule, kind) = match dialect {
                Dialect::AnthropicMessages => ("tool-result-missing", "invalid_request_error"),
                Dialect::OpenaiChat => ("tool-message-missing", "invalid_request_error"),
                Dialect::OpenaiResponses => ("tool-output-missing", "invalid_request_error"),
                Dialect::Gemini => ("response-count", "INVALID_ARGUMENT"),
                Dialect::BedrockConverse => ("tool-result-missing", "ValidationException"),
                Dialect::Mistral => ("call-and-result-counts", "invalid_request_message_order"),
            };
            assert_eq!(what, rule, "{refusal:?}");
            let request_id = said["request_id"].as_str().unwrap_or_default();
            assert_eq!(request_id.starts_with("req_"), dialect == Dialect::AnthropicMessages, "{said}");
            assert_eq!((status, &said), (400, &refusal.envelope(request_id)));
            let told = match dialect {
                Dialect::Mistral => &said["type"],
                Dialect::Gemini => &said["error"]["status"],
                // Bedrock reports it in a header.
                Dialect::BedrockConverse => {
                    let wanted = format!("x-amzn-errortype: {kind}\r\n");
                    let head = head_of(&mount, &path, illegal.to_string().as_bytes()).await;
                    assert!(head.contains(&wanted), "{head}");
                    assert_eq!(requested(&mut mount).await, RequestKind::Refused { status: 400 });
                    &json!(kind)
                }
                _ => &said["error"]["type"],
            };
            assert_eq!(told, kind, "{said}");

            let (status, said) = ask(&mount, "POST", "/v1/telepathy", b"{}").await;
            assert_eq!((status, requested(&mut mount).await), (404, RequestKind::Auxiliary));
            assert!(said["error"]["message"].is_string() || said["message"].is_string(), "{said}");
            let (status, said) = ask(&mount, "GET", &path, b"").await;
            assert_eq!((status, requested(&mut mount).await), (404, RequestKind::Auxiliary), "{said}");
            let (status, said) = ask(&mount, "GET", "/v1/models", b"").await;
            // Bedrock lists its models at another host.
            let has_list = dialect != Dialect::BedrockConverse;
            let expected = (if has_list { 200 } else { 404 }, RequestKind::Auxiliary);
            assert_eq!((status, requested(&mut mount).await), expected);
            match dialect {
                Dialect::Gemini => assert_eq!(said["models"][0]["name"], "models/brickbat", "{said}"),
                _ => assert_eq!(said["data"][0]["id"] == "brickbat", has_list, "{said}"),
            }
            let (status, said) = ask(&mount, "POST", "/v1/messages/count_tokens", b"{\"messages\":[]}").await;
            assert_eq!(requested(&mut mount).await, RequestKind::Auxiliary);
            match dialect {
                Dialect::AnthropicMessages => {
                    assert!(status == 200 && said["input_tokens"].is_u64(), "{said}")
                }
                _ => assert_eq!(status, 404, "{said}"),
            }
            let unknown =
                b"GET /p/4294967295/v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
            assert_eq!(send(server.addr(), unknown).await.0, 404);
            assert_eq!(send(server.addr(), &huge(0)).await.0, 413);

            let legal = body(dialect, &json!([words(dialect, "Look it up.")]));
            let (status, said) = ask(&mount, "POST", &path, legal.to_string().as_bytes()).await;
            let first = RequestKind::Scripted { turn: 0, reply: 0, attempt: 0 };
            assert_eq!((status, requested(&mut mount).await), (200, first), "{said}");
        }
    });
}

/// A request that announces a gigabyte.
fn huge(token: u64) -> Vec<u8> {
    format!("POST /p/{token}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1073741824\r\n\r\n{{")
        .into_bytes()
}

/// Drives the first turn of a plan without faults on a server that others use too.
async fn drive_first_turn(server: &Server, job: &Job) -> TurnOutcome {
    let plan = &job.plan;
    let mut mount = server.mount(Provider::new(plan.clone(), plan.profile_from(&[])));
    let agent = Agent::of_plan(plan, Delivery::Streamed, None);
    let place = Endpoints::of_plan(&mount.base_url(), agent.path(), &plan.tools).unwrap();
    let mut session = InProcess::start(agent, place);
    session.prompt(&plan.turns[0].user);
    loop {
        tokio::select! {
            seen = mount.next() => match seen.unwrap() {
                ServerEvent::GateOpened { gate, args, .. } => {
                    let call = plan.call_with_marker(&args).unwrap();
                    mount.settle(gate, &plan.calls[call.0 as usize].outcome);
                }
                ServerEvent::Trace(Event::Requested { kind, .. }) => assert!(matches!(kind, RequestKind::Scripted { .. }), "{kind:?}"),
                _ => {}
            },
            event = session.next() => {
                if let SessionEvent::Ended(outcome) = event.unwrap() {
                    return outcome;
                }
            }
        }
    }
}

#[test]
fn hostile_requests_do_not_disturb_other_plans() {
    const N_TURNS: usize = 50;
    within_patience(async {
        let server = Server::start(ServerLimits::STANDARD).await.unwrap();
        let job = load("control/plain-batch@anthropic-messages").remove(0);
        let mut victim = server.mount(Provider::new(job.plan.clone(), job.plan.profile_from(&[])));
        let (done, is_done) = watch::channel(false);
        let attack = async {
            let mut n_rounds = 0;
            while !*is_done.borrow() || n_rounds == 0 {
                n_rounds += 1;
                let path = &wire::of(job.plan.dialect).post_path("m", Delivery::Whole);
                let illegal = body(job.plan.dialect, &dangling(job.plan.dialect)).to_string();
                assert_eq!(ask(&victim, "POST", path, b"not JSON").await.0, 400);
                assert_eq!(requested(&mut victim).await, RequestKind::Refused { status: 400 });
                assert_eq!(ask(&victim, "POST", path, illegal.as_bytes()).await.0, 400);
                assert_eq!(requested(&mut victim).await, RequestKind::Refused { status: 400 });
                // The first mount of a server, which is the victim's, has the token 0.
                assert_eq!(send(server.addr(), &huge(0)).await.0, 413);
                assert_eq!(send(server.addr(), b"\x16\x03\x01\x02\x00\r\n\r\n").await.0, 400);
                assert_eq!(
                    send(server.addr(), b"GET /p/x HTTP/1.1\r\nconnection: close\r\n\r\n").await.0,
                    404
                );
            }
        };
        let work = async {
            for _ in 0..N_TURNS {
                assert_eq!(drive_first_turn(&server, &job).await, TurnOutcome::Returned);
            }
            assert_all_pass(
                &run(&System::named("reference", catalogue()).unwrap(), &load("abort/mid-batch")).await,
            );
            done.send(true).unwrap();
        };
        tokio::join!(attack, work);
    });
}

// The agents.

/// True if the case belongs to a plan that its dialect cannot play and reports as such, or to one that only
/// the simulation can play. Other tests pin which plans those are.
fn is_impossible(case: &Case, jobs: &[Job]) -> bool {
    let job = jobs.iter().find(|job| job.plan.id.to_string() == case.plan);
    if job.is_some_and(|job| job.plan.holds_saves()) {
        return case.verdict == Verdict::Unsupported;
    }
    let why = job.and_then(|job| job.plan.impossible.as_ref());
    why.is_some() && case.reason.as_ref() == why && case.verdict == Verdict::Unsupported
}

#[test]
fn the_reference_agent_passes_every_plan_over_http() {
    within_patience(async {
        let jobs = load("");
        let cases = run(&System::Live(None, Delivery::Streamed), &jobs).await;
        let (impossible, others): (Vec<Case>, Vec<Case>) =
            cases.into_iter().partition(|case| is_impossible(case, &jobs));
        assert_all_pass(&others);
        let cannot = |job: &&Job| job.plan.impossible.is_some() || job.plan.holds_saves();
        assert_eq!(impossible.len(), jobs.iter().filter(cannot).count());
    });
}

#[test]
fn the_reference_agent_passes_or_does_not_support_every_plan_with_whole_replies() {
    within_patience(async {
        let jobs = load("");
        let cases = run(&System::Live(None, Delivery::Whole), &jobs).await;
        let (unsupported, others): (Vec<Case>, Vec<Case>) =
            cases.into_iter().partition(|case| case.verdict == Verdict::Unsupported);
        assert_all_pass(&others);
        let lacks = |case: &Case| case.reason.as_ref().is_some_and(|why| why.contains(" lacks "));
        let without_reason = |case: &&Case| !is_impossible(case, &jobs) && !lacks(case);
        assert_eq!(unsupported.iter().find(without_reason), None);
        assert!(others.len() > 20, "{unsupported:#?}");
    });
}

#[test]
fn two_runs_over_http_give_equal_cases() {
    within_patience(async {
        let (system, jobs) = (System::Live(None, Delivery::Streamed), load("abort/"));
        let (first, second) = (run(&system, &jobs).await, run(&system, &jobs).await);
        assert_eq!(first.len(), second.len());
        for (first, second) in first.into_iter().zip(second) {
            // Only durations may differ.
            assert_eq!(Case { took_ms: None, ..first }, Case { took_ms: None, ..second });
        }
    });
}

#[test]
fn canaries_are_caught_over_http() {
    within_patience(async {
        let expected = [
            (crate::plans::canary("dangling-on-abort"), Severity::BrickedByProvider),
            (crate::plans::canary("never-ends"), Severity::Hang),
        ];
        for (canary, severity) in expected {
            let cases =
                run(&System::Live(Some(canary), Delivery::Streamed), &load("abort/mid-batch#k=1")).await;
            let faulted: Vec<&Case> = cases.iter().filter(|case| !case.plan.ends_with("+control")).collect();
            assert_eq!(faulted.len(), Dialect::ALL.len());
            for case in faulted {
                assert_eq!(case.verdict, Verdict::Fail, "{case:#?}");
                let meant = |check: &&str| *check == canary.caught_by();
                assert!(
                    case.all_findings().map(|finding| finding.check).any(|check| meant(&check)),
                    "{case:#?}"
                );
                assert_eq!(case.worst(), Some(severity), "{case:#?}");
            }
        }
    });
}

/// Gemini's path names the model, and only some models want their signatures back.
#[test]
fn a_dropped_signature_is_refused_because_of_the_model_in_the_path() {
    within_patience(async {
        let mut jobs = load("fault/reset-in-stream");
        jobs.retain(|job| job.plan.dialect == Dialect::Gemini);
        let system = System::Live(Some(crate::plans::canary("signature-dropped")), Delivery::Streamed);
        let cases = run(&system, &jobs).await;
        let refused = |case: &&Case| {
            let is_meant = |finding: &Finding| {
                finding.check == crate::plans::canary("signature-dropped").caught_by()
                    && finding.rule == Some("gemini/thought-signature-missing")
            };
            case.verdict == Verdict::Fail && case.all_findings().any(is_meant)
        };
        assert!(cases.iter().any(|case| refused(&case)), "{cases:#?}");
        // The provider and the checkers agree on every plan, whether the rule binds or not.
        let disagreeing: Vec<&Case> =
            cases.iter().filter(|case| case.verdict == Verdict::HarnessError).collect();
        assert!(disagreeing.is_empty(), "{disagreeing:#?}");
    });
}

/// A finding, and those folded under it, without the numbers of requests.
fn unnumbered(finding: Finding) -> Finding {
    let about = About { request: None, refused: Vec::new(), ..finding.about };
    let also = finding.also.into_iter().map(unnumbered).collect();
    Finding { place: String::new(), about, also, ..finding }
}

/// The cases of plans with a fault, without the name of the system and without the numbers of requests:
/// chance decides whether an agent that is killed after the last result has sent another request by then.
async fn verdicts(system: &System, jobs: &[Job]) -> Vec<(String, Verdict, Vec<Finding>)> {
    let faulted = run(system, jobs).await.into_iter().filter(|case| !case.plan.ends_with("+control"));
    faulted
        .map(|case| (case.plan, case.verdict, case.findings.into_iter().map(unnumbered).collect()))
        .collect()
}

#[test]
fn a_killed_agent_is_judged_alike_in_the_simulation_and_over_http() {
    within_patience(async {
        let jobs = load("kill/");
        for canary in [
            None,
            Some(crate::plans::canary("kill-dangles")),
            Some(crate::plans::canary("kill-forgets")),
            Some(crate::plans::canary("kill-loses-results")),
        ] {
            let simulated = verdicts(&System::Simulated(canary), &jobs).await;
            let live = verdicts(&System::Live(canary, Delivery::Streamed), &jobs).await;
            assert!(simulated.len() > 40, "{simulated:#?}");
            // Only the simulation holds the writes of the store.
            let is_held =
                |plan: &str| jobs.iter().any(|job| job.plan.id.to_string() == plan && job.plan.holds_saves());
            for (simulated, live) in simulated.iter().zip(&live).filter(|((plan, ..), _)| !is_held(plan)) {
                assert_eq!(simulated, live, "{canary:?}");
            }
            let failed = live.iter().any(|(_, verdict, _)| *verdict == Verdict::Fail);
            assert_eq!(failed, canary.is_some(), "{live:#?}");
        }
    });
}

/// A job for each point of the control plans: the process is killed there.
fn kills_at_every_point() -> Vec<Job> {
    let killed = |plan: &Plan, at: PlannedPoint, number: usize| {
        let mut plan = plan.clone();
        plan.id.variant = format!("{} point={number}", plan.id.variant);
        let words = format!("kill at {at:?}");
        plan.turns[0].actions = vec![PlannedAction { words, at, what: Action::Kill }];
        Job { plan: Arc::new(plan), path: None }
    };
    let jobs = load("control/");
    let at_each = |job: &Job| {
        let points = crate::plans::points(&job.plan, 0).into_iter().enumerate();
        points.map(|(number, at)| killed(&job.plan, at, number)).collect::<Vec<Job>>()
    };
    jobs.iter().flat_map(at_each).collect()
}

#[test]
fn the_reference_agent_survives_a_kill_at_every_point_over_http() {
    within_patience(async {
        let jobs = kills_at_every_point();
        assert!(jobs.len() > 200, "{}", jobs.len());
        assert_all_pass(&run(&System::Live(None, Delivery::Streamed), &jobs).await);
    });
}

#[test]
fn a_late_request_of_a_dead_process_is_ignored() {
    within_patience(async {
        let job = load("control/plain-batch@openai-chat").remove(0);
        let server = Server::start(ServerLimits::STANDARD).await.unwrap();
        let mut mount = server.mount(Provider::new(job.plan, Profile::newest(Dialect::OpenaiChat)));
        let target = mount.base_url().strip_prefix(&format!("http://{}", server.addr())).unwrap().to_owned();
        let body = body(Dialect::OpenaiChat, &json!([{ "role": "user", "content": "hi" }])).to_string();
        let request = format!(
            "POST {target}/v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        // No request is handled while the core is held: the peer sends one, and is gone before it is handled.
        let ask_and_die = || {
            let mut stream = std::net::TcpStream::connect(server.addr()).unwrap();
            std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        };
        mount.drop_late_words();
        mount.with_core(|_| ask_and_die());
        let (status, _) = ask(&mount, "POST", "/v1/chat/completions", body.as_bytes()).await;
        assert_eq!(status, 200);
        let Some(ServerEvent::Trace(Event::Requested { exchange, .. })) = mount.next().await else {
            panic!()
        };
        assert_eq!(exchange.0, 0, "the late request took a number");
        let Some(ServerEvent::Trace(Event::Replied { exchange, .. })) = mount.next().await else { panic!() };
        assert_eq!(exchange.0, 0);
    });
}

/// Three calls that all fail.
const ALL_FAIL: &str = r#"schema: 1
comment: Every call of a batch fails.
class: [exec-throw]
tools: { lookup: { fails: "no {key}" } }
turns:
  - user: Look up three things.
    replies:
      - - call: { as: a, tool: lookup, args: { key: a } }
        - call: { as: b, tool: lookup, args: { key: b } }
        - call: { as: c, tool: lookup, args: { key: c } }
      - - text: There is nothing.
    at:
      - { after: stop, do: { settle: a } }
      - { after: stop, do: { settle: b } }
      - { after: stop, do: { settle: c } }
"#;

#[test]
fn the_calls_of_a_turn_are_one_cause_with_its_plans_counted() {
    within_patience(async {
        let mut jobs = load("");
        let all_fail = lower::plans("a/all-fail", "all-fail.yaml", ALL_FAIL, &Dialect::ALL, 0).unwrap();
        jobs.extend(all_fail.into_iter().map(|plan| Job { plan: Arc::new(plan), path: None }));
        let cases = run(&System::Simulated(Some(crate::plans::canary("error-parked"))), &jobs).await;
        let mut n_plans = 0;
        for case in &cases {
            let parked: Vec<&Finding> =
                case.all_findings().filter(|finding| finding.check == "parts-settled").collect();
            assert!(parked.is_sorted_by(|a, b| a.place < b.place), "one finding for a turn: {case:#?}");
            n_plans += usize::from(!parked.is_empty());
            let expected = match case.plan.starts_with("a/all-fail@") && !case.plan.ends_with("+control") {
                true => "calls a, b and c are still shown as `in_progress` after their turn is over",
                false => "call b is still shown as `in_progress` after its turn is over",
            };
            assert!(parked.iter().all(|finding| finding.message == expected), "{case:#?}");
        }
        let report = Report::new(0, Vec::new(), cases);
        let text = text::render(&report, Severity::MILDEST, |_, word| word.to_owned());
        let (_, told) = text.split_once("stuck-part parts-settled\n").unwrap();
        let (shown, rest) = told.split_once("  … and ").unwrap();
        let n_shown = shown.matches("    again: ").count();
        let more = match n_plans - n_shown {
            1 => "another plan\n".to_owned(),
            n_more => format!("{n_more} more plans\n"),
        };
        assert!(rest.starts_with(&more), "{n_plans} {text}");
        assert!(shown.contains("calls a, b and c are"), "{text}");
    });
}

#[test]
fn a_request_that_only_a_later_model_rejects_is_a_finding_with_the_model() {
    within_patience(async {
        let jobs = load("fault/second-step#fault=reset@anthropic-messages");
        let system = System::named("canary/retry-prefills", catalogue()).unwrap();
        let cases = run(&system, &jobs).await;
        let case = cases.iter().find(|case| !case.plan.ends_with("+control")).unwrap();
        let found = case.findings.iter().find(|finding| finding.check == "thread-survives").unwrap();
        assert_eq!(found.rule, Some("anthropic-messages/prefill-not-supported"), "{case:#?}");
        let model = wire::of(Dialect::AnthropicMessages).newer_model();
        assert_eq!(found.model.as_deref(), model);
        let text =
            text::render(&Report::new(0, Vec::new(), vec![case.clone()]), Severity::MILDEST, |_, word| {
                word.to_owned()
            });
        assert!(text.contains(&format!("    model: {}\n", model.unwrap())), "{text}");

        // A model that is named is the only one.
        let named = |model: &str| {
            let with = |job: &Job| Job { plan: Arc::new(job.plan.with_model(model)), path: None };
            jobs.iter().map(with).collect::<Vec<Job>>()
        };
        assert_all_pass(&run(&system, &named("claude-haiku-4-5")).await);
        let cases = run(&system, &named("claude-opus-4-7")).await;
        let again = "--system canary/retry-prefills --model claude-opus-4-7";
        assert!(cases.iter().all(|case| case.reproduce.ends_with(again)), "{cases:#?}");
        assert!(cases.iter().any(|case| case.verdict == Verdict::Fail), "{cases:#?}");
    });
}
