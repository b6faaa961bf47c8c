use super::*;
use crate::improvise::Manner;
use crate::provider::Headers;
use crate::standalone::Standalone;
use crate::standalone::{Behaviour, Due, ReplyPoint};
use brickbat_scenario::wire::thread::Message;
use brickbat_scenario::wire::{Delivery, OfferedTool, Thinking};
use serde_json::json;

fn behaviour() -> RelayBehaviour {
    RelayBehaviour {
        strictness: Strictness::default(),
        host: "127.0.0.1:9".to_owned(),
        url: "http://127.0.0.1:9".to_owned(),
        refused: Refused::Here,
        faults: None,
        spoils: Vec::new(),
        seed: 0,
        records: true,
    }
}

/// A request with a tool, and a strict provider's streamed answer to it.
fn asked(dialect: Dialect, delivery: Delivery) -> (String, Vec<u8>) {
    let schema =
        json!({ "type": "object", "properties": { "key": { "type": "string" } }, "required": ["key"] });
    let tools = [OfferedTool { name: "lookup", description: "Looks up.", input_schema: &schema }];
    let wire = wire::of(dialect);
    let (model, declared) = (wire.current_model(), wire.declared_tools(&tools, wire::Searching::Unoffered));
    let thread = [Message::User("Look around.".to_owned())];
    let body = wire.request_body(model, delivery, Thinking::Unasked, &declared, &thread);
    (format!("/{dialect}{}", wire.post_path(model, delivery)), body.to_vec())
}

fn request<'a>(path: &'a str, body: &'a [u8]) -> Request<'a> {
    Request { method: "POST", path, headers: Headers::NONE, body }
}

/// The head and the body of the provider's answer.
fn answered(path: &str, body: &[u8]) -> (String, Vec<u8>) {
    let mut provider = Standalone::new(Behaviour::improvised(Manner { seed: 0, n_rounds: 1 }));
    let (_, answer) = provider.answer(request(path, body));
    let bytes = answer.frames.slice(0..answer.frames.len()).to_vec();
    (answer.headers[0].1.to_string(), bytes)
}

/// Sends a complete answer through a passage in chunks. Returns the bytes sent, and the ending that a fault
/// caused.
fn play(
    passage: &mut Passage,
    kind: &str,
    bytes: &[u8],
    n_at_once: usize,
) -> (Vec<u8>, Option<Ending>, usize) {
    let mut sent = Vec::new();
    let mut n_stalls = 0;
    let mut take = |steps: Vec<Step>| {
        for step in steps {
            match step {
                Step::Head => {}
                Step::Send(bytes) => sent.extend(bytes),
                Step::Stall => n_stalls += 1,
                Step::End(ending) => return Some(ending),
            }
        }
        None
    };
    let mut ended = take(passage.head(200, kind, None));
    for chunk in bytes.chunks(n_at_once) {
        if ended.is_some() {
            break;
        }
        ended = take(passage.body(chunk));
    }
    if ended.is_none() {
        ended = take(passage.rest());
    }
    (sent, ended, n_stalls)
}

fn onward(decision: Decision) -> Passage {
    match decision {
        Decision::Onward(passage) => *passage,
        Decision::Answered(kind, answer, _) => panic!("{kind:?} {answer:?}"),
    }
}

fn each(mut test: impl FnMut(Dialect, Delivery, &str, &[u8])) {
    for dialect in Dialect::ALL {
        for delivery in [Delivery::Streamed, Delivery::Whole] {
            let (path, body) = asked(dialect, delivery);
            test(dialect, delivery, &path, &body);
        }
    }
}

#[test]
fn a_reply_passes_unchanged_is_checked_and_becomes_a_row() {
    each(|dialect, delivery, path, body| {
        let (kind, bytes) = answered(path, body);
        let mut relay = Relay::new(behaviour());
        let mut passage = onward(relay.asked(request(path, body)));
        let (sent, ended, _) = play(&mut passage, &kind, &bytes, 7);
        assert_eq!((sent == bytes, ended), (true, None), "{dialect} {delivery:?}");
        let row = relay.over(passage, PassageEnd::Whole).unwrap();
        let expected = if delivery == Delivery::Streamed { 1 } else { 0 };
        let notices = relay.take_notices();
        assert_eq!(relay.log().streams.complete, expected, "{dialect} {notices:?}");
        assert!(!relay.log().has_findings());
        assert_eq!(row["request"], serde_json::from_slice::<Value>(body).unwrap());
        assert_eq!((row["status"].as_u64(), row["dialect"].as_str()), (Some(200), Some(dialect.name())));
        let calls = row["reply"].as_array().unwrap().iter().filter(|block| !block["call"].is_null());
        assert!(calls.count() >= 2, "{dialect} {delivery:?}: {row:#}");
    });
}

#[test]
fn a_stream_that_breaks_off_or_is_illegal_is_reported() {
    let (path, body) = asked(Dialect::AnthropicMessages, Delivery::Streamed);
    let (kind, bytes) = answered(&path, &body);
    let mut relay = Relay::new(behaviour());
    let mut passage = onward(relay.asked(request(&path, &body)));
    play(&mut passage, &kind, &bytes[..bytes.len() / 2], 9);
    relay.over(passage, PassageEnd::BrokeOff("the connection was closed".to_owned()));
    assert_eq!((relay.log().streams.broken, relay.log().failures.len()), (1, 1));
    let twice = [&bytes[..], &bytes].concat();
    let mut passage = onward(relay.asked(request(&path, &body)));
    play(&mut passage, &kind, &twice, 9);
    relay.over(passage, PassageEnd::Whole);
    assert_eq!(relay.log().streams.broken, 2);
    let notices = relay.take_notices();
    let streams = notices.iter().filter(|notice| matches!(notice, RelayNotice::Stream { .. }));
    assert_eq!(streams.count(), 2, "{notices:?}");
}

#[test]
fn a_request_that_breaks_a_rule_is_rejected_or_let_through_and_compared() {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "look", "input": {} });
    let body = json!({ "model": "m", "max_tokens": 9, "messages": [
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": [call] },
        { "role": "user", "content": "And?" },
    ] });
    let body = body.to_string().into_bytes();
    let mut relay = Relay::new(behaviour());
    let Decision::Answered(RequestKind::Refused { status: 400 }, answer, Some(row)) =
        relay.asked(request("/v1/messages", &body))
    else {
        panic!("not refused")
    };
    assert_eq!(answer.status, 400);
    assert_eq!((row["by"].as_str(), row["status"].as_u64()), (Some("brickbat"), Some(400)));
    assert_eq!(row["breaks"]["rule"], "anthropic-messages/tool-result-missing");
    let mut relay = Relay::new(RelayBehaviour { refused: Refused::LetThrough, ..behaviour() });
    let mut passage = onward(relay.asked(request("/v1/messages", &body)));
    play(&mut passage, "application/json", b"{\"type\":\"message\",\"content\":[]}", 100);
    relay.over(passage, PassageEnd::Whole);
    let let_through = relay.log().let_through["anthropic-messages/tool-result-missing"];
    assert_eq!((let_through.accepted, let_through.refused, relay.log().requests.n_refused()), (1, 0, 1));
}

#[test]
fn every_random_fault_is_inside_the_reply_and_never_blamed_on_the_server() {
    each(|dialect, delivery, path, body| {
        for kind in FaultKind::ALL {
            for seed in 0..12 {
                let faults = Some(Faults { kinds: vec![kind], due: Due::Every(1) });
                let mut relay = Relay::new(RelayBehaviour { faults, seed, ..behaviour() });
                let (content_type, bytes) = answered(path, body);
                match relay.asked(request(path, body)) {
                    Decision::Answered(RequestKind::Faulted { .. }, answer, _) => {
                        let event = Event::Replied { exchange: answer.exchange, ending: Ending::Status };
                        relay.observed(&event);
                    }
                    Decision::Answered(other, ..) => panic!("{other:?}"),
                    Decision::Onward(mut passage) => {
                        let (sent, ended, n_stalls) = play(&mut passage, &content_type, &bytes, 11);
                        let exchange = passage.exchange();
                        match kind {
                            FaultKind::Stall => {
                                assert_eq!(
                                    (ended, n_stalls, sent == bytes),
                                    (None, 1, true),
                                    "{dialect} {seed}"
                                );
                            }
                            _ => assert!(
                                ended.is_some() && sent.len() < bytes.len() + 400,
                                "{dialect} {kind:?}"
                            ),
                        }
                        if matches!(kind, FaultKind::Eof | FaultKind::Reset | FaultKind::EndEarly) {
                            assert!(
                                bytes.starts_with(&sent) && sent.len() < bytes.len(),
                                "{dialect} {delivery:?}"
                            );
                        }
                        relay.delivered(exchange, Confidence::Read);
                        relay.over(*passage, PassageEnd::Spoilt);
                    }
                }
                let faults = relay.log().requests.faults;
                assert_eq!((faults.armed, faults.delivered), (1, 1), "{dialect} {delivery:?} {kind:?}");
                assert_eq!(relay.log().streams.broken, 0);
            }
        }
    });
}

#[test]
fn a_fault_happens_at_the_given_point() {
    for dialect in Dialect::ALL {
        let (path, body) = asked(dialect, Delivery::Streamed);
        let (kind, bytes) = answered(&path, &body);
        let cut_at = |point: &str| {
            let at: ReplyPoint = point.parse().unwrap();
            let spoils = vec![Spoil { kind: FaultKind::EndEarly, at }];
            let mut relay = Relay::new(RelayBehaviour { spoils, ..behaviour() });
            let mut passage = onward(relay.asked(request(&path, &body)));
            let (sent, ended, _) = play(&mut passage, &kind, &bytes, 5);
            assert_eq!(ended, Some(Ending::EndEarly), "{dialect} {point}");
            let report = brickbat_rules::streams::lint(dialect, &sent);
            (sent.len(), report.ended.name())
        };
        let points = ["after headers", "after text 1", "after start a", "after end a", "after calls"];
        let lengths: Vec<usize> = points.iter().map(|point| cut_at(point).0).collect();
        assert!(lengths.is_sorted() && lengths[0] == 0, "{dialect}: {lengths:?}");
        assert!(lengths[4] > lengths[3] && lengths[3] > lengths[1], "{dialect}: {lengths:?}");
        assert_eq!(cut_at("before stop").1, "truncated", "{dialect}");
    }
}

#[test]
fn a_fault_is_parsed_with_its_point() {
    let spoil: Spoil = "eof after end a of reply 2".parse().unwrap();
    assert_eq!((spoil.kind, spoil.at.to_string()), (FaultKind::Eof, "after end a of reply 2".to_owned()));
    for wrong in ["", "eof", "boom after calls", "stall at calls"] {
        assert!(wrong.parse::<Spoil>().is_err(), "{wrong}");
    }
}

#[test]
fn other_requests_are_passed_on_and_reported_once() {
    let mut relay = Relay::new(behaviour());
    for _ in 0..2 {
        let get = Request { method: "GET", path: "/v1/models", headers: Headers::NONE, body: b"" };
        let mut passage = onward(relay.asked(get));
        let (sent, ..) = play(&mut passage, "application/json", b"{}", 1);
        assert_eq!((sent.as_slice(), relay.over(passage, PassageEnd::Whole)), (&b"{}"[..], None));
    }
    let beside = RelayNotice::Beside { method: "GET".to_owned(), path: "/v1/models".to_owned() };
    assert_eq!((relay.take_notices(), relay.log().requests.n_requests()), (vec![beside], 0));
}
