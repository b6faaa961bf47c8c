use super::*;
use crate::provider::Headers;
use brickbat_scenario::plan::{Mark, Side};
use brickbat_scenario::wire::thread::{Block, Call, CallResult, Message};
use brickbat_scenario::wire::{Decoder, Delivery, OfferedTool, ReplyEvent, Thinking, decode_whole};

fn behaviour() -> Behaviour {
    Behaviour::improvised(Manner { seed: 0, n_rounds: 1 })
}

/// A client of one dialect that maintains its thread correctly.
struct Client {
    core: Standalone,
    dialect: Dialect,
    delivery: Delivery,
    thread: Vec<Message>,
}

impl Client {
    fn new(behaviour: Behaviour, dialect: Dialect, delivery: Delivery) -> Client {
        let thread = vec![Message::User("Look around.".to_owned())];
        Client { core: Standalone::new(behaviour), dialect, delivery, thread }
    }

    fn ask(&mut self) -> (RequestKind, Answer) {
        let schema =
            json!({ "type": "object", "properties": { "key": { "type": "string" } }, "required": ["key"] });
        let tools = [OfferedTool { name: "lookup", description: "Looks up.", input_schema: &schema }];
        let wire = wire::of(self.dialect);
        let (model, declared) =
            (wire.current_model(), wire.declared_tools(&tools, wire::Searching::Unoffered));
        let body = wire.request_body(model, self.delivery, Thinking::Unasked, &declared, &self.thread);
        let path = format!("/{}{}", self.dialect, wire.post_path(model, self.delivery));
        self.core.answer(Request { method: "POST", path: &path, headers: Headers::NONE, body: &body })
    }

    /// Adds a reply to the thread, with the results of all its calls except the last `n_lost`.
    fn keep(&mut self, answer: &Answer, n_lost: usize) {
        let mut blocks: Vec<Block> = Vec::new();
        let mut take = |event| match event {
            ReplyEvent::Text(text) => match blocks.last_mut() {
                Some(Block::Text(own)) => own.push_str(&text),
                _ => blocks.push(Block::Text(text)),
            },
            ReplyEvent::CallStart { id, name, .. } => {
                blocks.push(Block::Call(Call::new(id, name, "")));
            }
            ReplyEvent::CallArgs { fragment, .. } => {
                if let Some(Block::Call(call)) = blocks.last_mut() {
                    call.args.push_str(&fragment);
                }
            }
            ReplyEvent::CallSignature { signature, .. } => {
                if let Some(Block::Call(call)) = blocks.last_mut() {
                    call.signature = Some(signature);
                }
            }
            _ => {}
        };
        let bytes = answer.frames.slice(0..answer.frames.len());
        match self.delivery {
            Delivery::Streamed => Decoder::new(self.dialect).feed(bytes, take),
            Delivery::Whole => decode_whole(self.dialect, bytes, &mut take),
        }
        blocks.retain(|block| *block != Block::Text(String::new()));
        let reply = Message::Assistant(blocks);
        let mut results: Vec<CallResult> =
            reply.calls().map(|call| CallResult::text(call.id.clone(), "found".to_owned(), false)).collect();
        results.truncate(results.len().saturating_sub(n_lost));
        self.thread.push(reply);
        if !results.is_empty() {
            self.thread.push(Message::Results(results));
        }
    }

    fn get(&mut self, path: &str) -> Value {
        let request = Request { method: "GET", path, headers: Headers::NONE, body: b"" };
        let (_, answer) = self.core.answer(request);
        serde_json::from_slice(answer.frames.slice(0..answer.frames.len())).unwrap()
    }
}

const DELIVERIES: [Delivery; 2] = [Delivery::Streamed, Delivery::Whole];

fn each(mut test: impl FnMut(Dialect, Delivery)) {
    for dialect in Dialect::ALL {
        DELIVERIES.into_iter().for_each(|delivery| test(dialect, delivery));
    }
}

#[test]
fn threads_continue_in_every_dialect_and_a_lost_result_is_rejected() {
    each(|dialect, delivery| {
        let mut client = Client::new(behaviour(), dialect, delivery);
        let (_, first) = client.ask();
        client.keep(&first, 0);
        let n_calls = client.thread[1].calls().count();
        assert!((2..=3).contains(&n_calls), "{dialect} {delivery:?}: {n_calls} calls");
        let (_, second) = client.ask();
        assert_eq!(second.status, 200, "{dialect} {delivery:?}: {:?}", client.core.take_notices());
        client.thread.truncate(1);
        client.keep(&first, 1);
        let (kind, _) = client.ask();
        assert!(matches!(kind, RequestKind::Refused { .. }), "{dialect} {delivery:?}");
        assert_eq!((client.core.log().n_requests(), client.core.log().n_refused()), (3, 1));
        let notices = client.core.take_notices();
        let is_it = |notice: &Notice| matches!(notice, Notice::Refused { exchange: 2, rule, .. } if rule.starts_with(dialect.name()));
        assert!(notices.iter().any(is_it), "{notices:?}");
    });
}

#[test]
fn equal_requests_in_equal_order_get_equal_bytes() {
    each(|dialect, delivery| {
        let said = || {
            let mut client = Client::new(behaviour(), dialect, delivery);
            let answers: Vec<Answer> = (0..3).map(|_| client.ask().1).collect();
            answers
        };
        assert_eq!(said(), said(), "{dialect} {delivery:?}");
    });
}

#[test]
fn state_and_journal_report_events_without_content() {
    let mut client = Client::new(behaviour(), Dialect::OpenaiChat, Delivery::Whole);
    let (_, first) = client.ask();
    client.keep(&first, 1);
    client.ask();
    let state = client.get("/_brickbat/state");
    assert_eq!(state["dialects"]["openai-chat"]["requests"], 2);
    assert_eq!(state["refusals"]["openai-chat/tool-message-missing"]["times"], 1);
    assert_eq!(state["chosen"][0]["profile"], "openai-chat@2026-09");
    let journal = client.get("/_brickbat/journal");
    let last = &journal["exchanges"][1];
    assert_eq!(last["rule"], "openai-chat/tool-message-missing");
    assert!(last["shape"].as_str().unwrap().starts_with("u[text] a[text,call a,call b"), "{last}");
    assert!(!journal.to_string().contains("Look around"));
    assert!(client.get("/_brickbat/other")["error"].is_object());
}

#[test]
fn requests_for_something_other_than_a_reply_are_answered() {
    let mut client = Client::new(behaviour(), Dialect::AnthropicMessages, Delivery::Whole);
    for path in ["/v1/models", "/openai-chat/v1/models", "/deepseek/models", "/v1beta/models", "/"] {
        assert!(client.get(path)["error"].is_null(), "{path}");
    }
    assert!(client.get("/v1/nothing")["error"].is_object());
    let notices = client.core.take_notices();
    let unspoken = Notice::Unspoken { method: "GET".to_owned(), path: "/v1/nothing".to_owned() };
    assert_eq!(notices, [unspoken]);
    assert_eq!(client.core.log().n_requests(), 0);
}

#[test]
fn a_compressed_body_is_not_blamed_on_the_program() {
    let mut core = Standalone::new(behaviour());
    let head = b"POST /v1/messages HTTP/1.1\r\ncontent-encoding: zstd\r\n\r\n";
    let headers = Headers::of_head(head);
    let (_, answer) =
        core.answer(Request { method: "POST", path: "/v1/messages", headers, body: b"\x28\xb5" });
    assert_eq!((answer.status, core.log().n_refused()), (415, 0));
}

#[test]
fn tokens_are_as_planned_or_follow_from_the_size() {
    let tokens = |usage| {
        let mut client =
            Client::new(Behaviour { usage, ..behaviour() }, Dialect::AnthropicMessages, Delivery::Whole);
        let (_, answer) = client.ask();
        let said: Value = serde_json::from_slice(answer.frames.slice(0..answer.frames.len())).unwrap();
        said["usage"]["input_tokens"].as_u64().unwrap()
    };
    assert_eq!(tokens(Some(180_000)), 180_000);
    assert!((20..200).contains(&tokens(None)), "{}", tokens(None));
}

#[test]
fn every_nth_reply_gets_a_fault_that_counts_with_its_receipt() {
    each(|dialect, delivery| {
        for kind in FaultKind::ALL {
            let faults = Some(Faults { kinds: vec![kind], due: Due::Every(2) });
            let mut client = Client::new(Behaviour { faults, ..behaviour() }, dialect, delivery);
            let (_, whole) = client.ask();
            assert!(whole.holds.is_empty() && whole.ending == Ending::Complete, "{dialect} {kind:?}");
            let (_, spoilt) = client.ask();
            let exchange = spoilt.exchange;
            for hold in spoilt.holds.clone() {
                let held = Event::Held { exchange, at: hold.at, grade: Confidence::Read };
                let next = client.core.observed(&held);
                let expected = match kind {
                    FaultKind::Stall => Next::ReleaseLater(exchange),
                    _ => Next::Release(exchange),
                };
                assert_eq!(next, expected, "{dialect} {delivery:?} {kind:?}");
            }
            assert_eq!(spoilt.ending == Ending::Complete, kind == FaultKind::Stall, "{dialect} {kind:?}");
            client.core.observed(&Event::Replied { exchange, ending: spoilt.ending });
            client.ask();
            let faults = client.core.log().faults;
            let expected = Faulted { armed: 1, delivered: 1, then_accepted: 1, then_refused: 0 };
            assert_eq!(faults, expected, "{dialect} {delivery:?} {kind:?}");
        }
    });
}

#[test]
fn a_fault_after_the_client_disconnected_is_armed_but_not_delivered() {
    let faults = Some(Faults { kinds: vec![FaultKind::Eof], due: Due::Every(1) });
    let mut client =
        Client::new(Behaviour { faults, ..behaviour() }, Dialect::AnthropicMessages, Delivery::Streamed);
    let (_, spoilt) = client.ask();
    client.core.observed(&Event::PeerClosed { exchange: spoilt.exchange });
    let faults = client.core.log().faults;
    assert_eq!((faults.armed, faults.delivered), (1, 0));
}

#[test]
fn the_program_is_ended_only_at_the_given_point() {
    let at = "after calls of reply 2".parse().unwrap();
    let stops = vec![ProgramStop { at, end: ProgramEnd::Interrupt }];
    let mut client = Client::new(Behaviour { stops, ..behaviour() }, Dialect::OpenaiChat, Delivery::Streamed);
    assert!(client.ask().1.holds.is_empty());
    let (_, answer) = client.ask();
    let at = Held { mark: Mark::Calls, side: Side::After };
    assert_eq!(answer.holds.iter().map(|hold| hold.at).collect::<Vec<_>>(), [at]);
    let next = client.core.observed(&Event::Held { exchange: answer.exchange, at, grade: Confidence::Read });
    assert_eq!(next, Next::EndProgram(answer.exchange, ProgramEnd::Interrupt, Duration::ZERO));
    assert_eq!(client.core.log().faults.delivered, 1);
    client.core.end_program_no_more();
}

#[test]
fn the_program_is_ended_after_a_complete_reply_or_at_its_next_request() {
    each(|dialect, delivery| {
        let stops = vec![ProgramStop { at: "after reply + 2s".parse().unwrap(), end: ProgramEnd::Kill }];
        let mut client = Client::new(Behaviour { stops, ..behaviour() }, dialect, delivery);
        let (_, first) = client.ask();
        assert!(first.holds.is_empty(), "{dialect} {delivery:?}");
        client.keep(&first, 0);
        let (_, second) = client.ask();
        let at = Held { mark: Mark::Headers, side: Side::Before };
        assert_eq!(second.holds.iter().map(|hold| hold.at).collect::<Vec<_>>(), [at]);
        let replied = |exchange| Event::Replied { exchange, ending: Ending::Complete };
        let next = client.core.observed(&replied(first.exchange));
        assert_eq!(next, Next::EndProgram(first.exchange, ProgramEnd::Kill, Duration::from_secs(2)));
        assert_eq!(client.core.observed(&replied(first.exchange)), Next::Nothing);
        let held = Event::Held { exchange: second.exchange, at, grade: Confidence::Read };
        let next = client.core.observed(&held);
        assert_eq!(next, Next::EndProgram(second.exchange, ProgramEnd::Kill, Duration::ZERO));
        // The cut reply that follows does not count as answered, and the stop is proven twice.
        assert_eq!(client.core.log().faults.delivered, 2);
    });
}

#[test]
fn a_scenario_is_played_turn_by_turn_and_restarts_with_each_thread() {
    let text = "
schema: 1
comment: Two turns, the first with calls.
tools: { lookup: { returns: found } }
turns:
  - user: Look.
    replies:
      - [{ text: First. }, { call: { as: a, tool: lookup, args: { key: x } } }]
      - [{ text: Second. }]
    at: [{ after: { text: 1 }, do: eof }]
  - user: And now?
    replies: [[{ text: Third. }]]
";
    for dialect in Dialect::ALL {
        let plans = brickbat_scenario::lower::plans("mine", "mine.yaml", text, &[dialect], 0).unwrap();
        let behaviour = Behaviour { scripted: plans, ..behaviour() };
        let mut client = Client::new(behaviour, dialect, Delivery::Streamed);
        for _ in 0..2 {
            client.thread.truncate(1);
            let (_, cut) = client.ask();
            assert_eq!(cut.ending, Ending::Eof, "{dialect}");
            let (_, first) = client.ask();
            client.keep(&first, 0);
            let call = client.thread[1].calls().next().unwrap().clone();
            assert_eq!(call.args, r#"{"key":"x"}"#, "{dialect}");
            for (said, prompt) in [("Second.", Some("More.")), ("Third.", None)] {
                let (_, answer) = client.ask();
                client.keep(&answer, 0);
                assert_eq!(
                    client.thread.last(),
                    Some(&Message::Assistant(vec![Block::Text(said.to_owned())])),
                    "{dialect}"
                );
                client.thread.extend(prompt.map(|prompt| Message::User(prompt.to_owned())));
            }
        }
    }
}

#[test]
fn a_scenario_sends_an_http_error_as_often_as_it_is_written() {
    let text = "
schema: 1
comment: A refused request.
turns:
  - user: Look.
    replies: [[{ text: First. }]]
    at: [{ before: headers, do: { http: { status: 429, times: 2 } } }]
";
    for dialect in Dialect::ALL {
        let plans = brickbat_scenario::lower::plans("mine", "mine.yaml", text, &[dialect], 0).unwrap();
        let mut client =
            Client::new(Behaviour { scripted: plans, ..behaviour() }, dialect, Delivery::Streamed);
        let statuses = [(); 3].map(|()| client.ask().1.status);
        assert_eq!(statuses, [429, 429, 200], "{dialect}");
    }
}
