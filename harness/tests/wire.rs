//! The wire: what the provider sends for each scenario, and that the decoder reads any reply back.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

mod chained;
mod compacting;
mod own_question;
mod scripts;
mod thinking;

use std::collections::BTreeMap;
use std::sync::Arc;

use brickbat_engine::provider::{Headers, Provider, Request};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::{self as rules};
use brickbat_scenario::plan::{CallKey, Mark, Plan, PlanId, PlannedCall, Script, ScriptBlock};
use brickbat_scenario::trace::{Ending, RequestKind};
use brickbat_scenario::wire::thread::ServerBlock;
use brickbat_scenario::wire::{
    self, Decoder, Delivery, Encoded, Envelope, ReplyEvent, SseEvent, SseReader, Tokens, decode_whole,
};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::plans;

/// The words of the user in such a request.
const SAID: &str = "Go on.";

/// A request that every profile accepts.
fn asking(plan: &Plan) -> Value {
    let tool = |name: &str| match plan.dialect {
        Dialect::AnthropicMessages => json!({ "name": name, "input_schema": { "type": "object" } }),
        Dialect::Gemini => json!({ "functionDeclarations": [{ "name": name }] }),
        Dialect::BedrockConverse => {
            json!({ "toolSpec": { "name": name, "inputSchema": { "json": { "type": "object" } } } })
        }
        Dialect::OpenaiResponses => json!({ "type": "function", "name": name }),
        Dialect::OpenaiChat | Dialect::Mistral => {
            json!({ "type": "function", "function": { "name": name } })
        }
    };
    let mut body = json!({
        "model": "m",
        "stream": true,
    });
    match plan.dialect {
        Dialect::AnthropicMessages => body["max_tokens"] = 2048.into(),
        Dialect::OpenaiChat => body["stream_options"] = json!({ "include_usage": true }),
        _ => {}
    }
    if plan.thinks() {
        let enabled = json!({ "type": "enabled", "budget_tokens": 1024 });
        match plan.dialect {
            Dialect::AnthropicMessages => body["thinking"] = enabled,
            Dialect::BedrockConverse => body["additionalModelRequestFields"] = json!({ "thinking": enabled }),
            Dialect::Gemini => {
                body["generationConfig"] = json!({ "thinkingConfig": { "includeThoughts": true } });
            }
            Dialect::OpenaiResponses => body["reasoning"] = json!({ "summary": "auto" }),
            Dialect::OpenaiChat | Dialect::Mistral => {}
        }
    }
    body[rules::list_of(plan.dialect)] = match plan.dialect {
        Dialect::Gemini => json!([{ "role": "user", "parts": [{ "text": SAID }] }]),
        Dialect::BedrockConverse => json!([{ "role": "user", "content": [{ "text": SAID }] }]),
        _ => json!([{ "role": "user", "content": SAID }]),
    };
    let search = json!({ "type": "web_search_20250305", "name": "web_search" });
    let search = Some(search).filter(|_| !plan.searches.is_empty() && wire::of(plan.dialect).searches());
    let tools: Vec<Value> = plan.tools.iter().map(|planned| tool(&planned.name)).chain(search).collect();
    if !tools.is_empty() {
        match plan.dialect {
            Dialect::BedrockConverse => body["toolConfig"] = json!({ "tools": tools }),
            _ => body["tools"] = tools.into(),
        }
    }
    body
}

/// A client of the provider in the first turn of a plan, which asks for replies in one piece.
struct Client {
    plan: Arc<Plan>,
    provider: Provider,
}

impl Client {
    fn of(id: &str) -> Client {
        let mut all = plans::built_in().into_iter().flat_map(|(_, plans)| plans);
        let plan = Arc::new(all.find(|plan| plan.id.to_string() == id).unwrap());
        let mut provider = Provider::new(plan.clone(), plan.profile_from(&[]));
        provider.begin_turn(0);
        Client { plan, provider }
    }

    /// Posts a body and returns the provider's classification and reply.
    fn post(&mut self, body: &Value) -> (RequestKind, Value) {
        let (path, body) = (wire::of(self.plan.dialect).post_path("m", Delivery::Whole), body.to_string());
        let request = Request { method: "POST", path: &path, headers: Headers::NONE, body: body.as_bytes() };
        let (kind, answer) = self.provider.answer(request);
        (kind, serde_json::from_slice(answer.frames.slice(0..answer.frames.len())).unwrap())
    }
}

fn scripted(reply: usize) -> RequestKind {
    RequestKind::Scripted { turn: 0, reply, attempt: 0 }
}

/// A reply with the calls that it makes.
fn reply() -> impl Strategy<Value = (Plan, Script)> {
    let text = prop::collection::vec(piece(), 1..4);
    let args = prop::collection::vec((piece(), value()), 0..4);
    let call = (args, prop::collection::vec(any::<Index>(), 0..4));
    let blocks = prop::collection::vec(
        prop_oneof![text.prop_map(Block::Text), call.prop_map(|(args, cuts)| Block::Call(args, cuts))],
        0..6,
    );
    let dialect = prop::sample::select(Dialect::ALL.to_vec());
    let thought = prop::option::of(prop::collection::vec(piece(), 1..4));
    (dialect, thought, blocks, any::<bool>()).prop_map(|(dialect, thought, blocks, interleave)| {
        let mut plan = empty_plan(dialect);
        let mut script = Script { interleave, ..Script::new(Vec::new()) };
        script.blocks.extend(thought.map(ScriptBlock::Think));
        for block in blocks {
            script.blocks.push(match block {
                Block::Text(fragments) => ScriptBlock::Text(fragments),
                Block::Call(args, cuts) => {
                    let key = CallKey(plan.calls.len() as u32);
                    plan.calls.push(call_of(key, Value::Object(args.into_iter().collect()), &cuts));
                    ScriptBlock::Call(key)
                }
            });
        }
        (plan, script)
    })
}

#[derive(Debug, Clone)]
enum Block {
    Text(Vec<String>),
    Call(Vec<(String, Value)>, Vec<Index>),
}

/// A piece of text with characters that could upset a line reader or a JSON writer.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{1,12}",
        "\\PC{1,8}",
        any::<String>().prop_map(|text| format!("{text}x")),
        Just("data: [DONE]\n\n\r\n\u{2028}\u{feff}\"\\\0😀".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        piece().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        prop::collection::vec(piece(), 0..3).prop_map(Value::from),
    ]
}

fn empty_plan(dialect: Dialect) -> Plan {
    Plan::new(PlanId::new("any", dialect), 0)
}

fn call_of(key: CallKey, args: Value, cuts: &[Index]) -> PlannedCall {
    let text = args.to_string();
    let mut cuts: Vec<usize> =
        cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len()))).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    PlannedCall {
        deltas: cuts.windows(2).map(|cut| text[cut[0]..cut[1]].to_owned()).collect(),
        ..PlannedCall::new(format!("c{}", key.0), format!("call_{}", key.0), format!("tool_{}", key.0), args)
    }
}

const ENVELOPE: Envelope<'static> =
    Envelope { id: "msg_\"1\"", model: "a model\n", usage: true, tokens: Tokens::PLANNED };

fn streamed(plan: &Plan, script: &Script) -> Encoded {
    wire::encode_stream(plan.dialect, plan, script, ENVELOPE)
}

fn bytes_of(encoded: &Encoded) -> &[u8] {
    encoded.frames.slice(0..encoded.frames.len())
}

fn decoded<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<ReplyEvent> {
    let mut decoder = Decoder::new(dialect);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece, |event| events.push(event));
    }
    events
}

/// The model's reply, put together.
#[derive(Debug, Default, PartialEq)]
struct Said {
    thought: String,
    text: String,
    /// Id, tool and arguments, in order.
    calls: Vec<(String, String, Value)>,
    /// The blocks of what the provider runs itself.
    server: Vec<ServerBlock>,
    stop: String,
}

/// Puts events together, and checks that each call starts before its arguments and ends after them.
fn said(events: &[ReplyEvent]) -> Said {
    let mut said = Said::default();
    let mut open: BTreeMap<u64, (usize, String)> = BTreeMap::new();
    assert_eq!(events.last(), Some(&ReplyEvent::End), "{events:?}");
    for event in &events[..events.len() - 1] {
        match event {
            ReplyEvent::Thought(text) => {
                assert!(said.text.is_empty() && said.calls.is_empty(), "{events:?}");
                said.thought.push_str(text);
            }
            ReplyEvent::ThoughtEnd { .. } => assert!(!said.thought.is_empty(), "{events:?}"),
            ReplyEvent::Text(text) => said.text.push_str(text),
            ReplyEvent::CallStart { index, id, name } => {
                let before = open.insert(*index, (said.calls.len(), String::new()));
                assert_eq!(before, None, "{events:?}");
                said.calls.push((id.clone(), name.clone(), Value::Null));
            }
            ReplyEvent::CallSignature { index, signature } => {
                assert!(open.contains_key(index) && !signature.is_empty(), "{events:?}");
            }
            ReplyEvent::CallArgs { index, fragment } => {
                open.get_mut(index).expect("the call is open").1.push_str(fragment);
            }
            ReplyEvent::CallEnd { index } => {
                let (at, args) = open.remove(index).expect("the call is open");
                said.calls[at].2 = serde_json::from_str(&args).unwrap();
            }
            ReplyEvent::Server(block) => said.server.push(block.clone()),
            ReplyEvent::Tokens(_) => {}
            ReplyEvent::ResponseId(id) => assert!(!id.is_empty(), "{events:?}"),
            ReplyEvent::Stop(reason) => {
                assert!(open.is_empty() && said.stop.is_empty(), "{events:?}");
                said.stop.clone_from(reason);
            }
            ReplyEvent::End | ReplyEvent::Error { .. } | ReplyEvent::Unknown(_) => panic!("{events:?}"),
        }
    }
    said
}

fn meant(plan: &Plan, script: &Script) -> Said {
    let calls = script.calls().map(|key| &plan.calls[key.0 as usize]);
    let calls: Vec<_> = calls.map(|call| (call.id.clone(), call.tool.clone(), call.args.clone())).collect();
    let stop = match (plan.dialect, calls.is_empty()) {
        (Dialect::AnthropicMessages, true) => "end_turn",
        (Dialect::AnthropicMessages, false) => "tool_use",
        (Dialect::Gemini, _) => "STOP",
        (Dialect::BedrockConverse, true) => "end_turn",
        (Dialect::BedrockConverse, false) => "tool_use",
        (Dialect::OpenaiChat | Dialect::Mistral, true) => "stop",
        (Dialect::OpenaiChat | Dialect::Mistral, false) => "tool_calls",
        (Dialect::OpenaiResponses, _) => "completed",
    };
    let thoughts = script.blocks.iter().filter_map(|block| match block {
        ScriptBlock::Think(fragments) if wire::of(plan.dialect).shows_thinking() => Some(fragments.concat()),
        _ => None,
    });
    let (thought, text) = (thoughts.collect(), script.text());
    Said { thought, text, calls, server: Vec::new(), stop: stop.to_owned() }
}

#[test]
fn the_provider_answers_at_the_path_that_clients_post_to() {
    for dialect in Dialect::ALL {
        let wire = wire::of(dialect);
        let (streamed, whole) = ((Delivery::Streamed, true), (Delivery::Whole, false));
        for (model, (delivery, streamed)) in [("m", streamed), ("m", whole), ("maker.model-1:0", streamed)] {
            let path = wire.post_path(model, delivery);
            let route = wire.route("POST", &path).unwrap();
            assert!(route.streamed.is_none_or(|said| said == streamed), "{dialect}: {path}");
            assert!(route.model.is_none_or(|said| said == model), "{dialect}: {path}");
            assert_eq!(wire.route("GET", &path), None, "{dialect}");
            assert_eq!(wire.route("POST", &format!("{path}/x")), None, "{dialect}");
        }
    }
}

proptest! {
    #[test]
    fn a_stream_decodes_to_its_script((plan, script) in reply()) {
        let encoded = streamed(&plan, &script);
        prop_assert_eq!(said(&decoded(plan.dialect, [bytes_of(&encoded)])), meant(&plan, &script));
    }

    #[test]
    fn a_complete_body_decodes_like_its_stream((plan, script) in reply()) {
        let encoded = wire::encode_whole(plan.dialect, &plan, &script, ENVELOPE);
        let mut events = Vec::new();
        decode_whole(plan.dialect, bytes_of(&encoded), |event| events.push(event));
        prop_assert_eq!(said(&events), meant(&plan, &script));
    }

    #[test]
    fn any_split_of_the_bytes_decodes_alike(
        (plan, script) in reply(),
        cuts in prop::collection::vec(any::<Index>(), 0..40),
    ) {
        let encoded = streamed(&plan, &script);
        let bytes = bytes_of(&encoded);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        let in_one_piece = decoded(plan.dialect, [bytes]);
        prop_assert_eq!(&decoded(plan.dialect, pieces), &in_one_piece);
        prop_assert_eq!(&decoded(plan.dialect, bytes.chunks(1)), &in_one_piece);
    }

    #[test]
    fn any_line_end_decodes_alike((plan, script) in reply(), end in prop_oneof![Just("\r\n"), Just("\r")]) {
        // Binary frames have no lines.
        prop_assume!(plan.dialect != Dialect::BedrockConverse);
        let encoded = streamed(&plan, &script);
        let text = String::from_utf8(bytes_of(&encoded).to_vec()).unwrap().replace('\n', end);
        prop_assert_eq!(decoded(plan.dialect, [text.as_bytes()]), decoded(plan.dialect, [bytes_of(&encoded)]));
    }

    #[test]
    fn each_mark_of_a_script_is_completed_once_and_in_order((plan, script) in reply()) {
        let encoded = streamed(&plan, &script);
        prop_assert!(encoded.marks.is_sorted_by_key(|(_, frame)| *frame));
        prop_assert!(encoded.marks.iter().all(|(_, frame)| *frame < encoded.frames.len()));
        let marks: Vec<Mark> = encoded.marks.iter().map(|(mark, _)| *mark).collect();
        prop_assert_eq!(&marks, &wire::marks(plan.dialect, &script, &plan.calls)[1..]);
        let mut sorted = marks.clone();
        sorted.sort_unstable();
        prop_assert!(sorted.windows(2).all(|two| two[0] != two[1]), "twice the same: {marks:?}");
        let whole = wire::encode_whole(plan.dialect, &plan, &script, ENVELOPE).marks;
        prop_assert_eq!(marks, whole.into_iter().map(|(mark, _)| mark).collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_decode_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for dialect in Dialect::ALL {
            decoded(dialect, [bytes.as_slice()]);
            decode_whole(dialect, &bytes, |_| {});
        }
    }

    #[test]
    fn any_json_in_frames_decodes_without_a_panic(values in prop::collection::vec(strange(), 0..6)) {
        for dialect in Dialect::ALL {
            let frames: String = values.iter().map(|value| format!("data: {value}\n\n")).collect();
            decoded(dialect, [frames.as_bytes()]);
            values.iter().for_each(|value| decode_whole(dialect, value.to_string().as_bytes(), |_| {}));
        }
    }

    #[test]
    fn a_damaged_stream_decodes_without_a_panic(
        (plan, script) in reply(),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = bytes_of(&streamed(&plan, &script)).to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        decoded(plan.dialect, [bytes.as_slice()]);
    }
}

/// JSON that has the right keys with anything below them.
fn strange() -> impl Strategy<Value = Value> {
    const KEYS: [&str; 19] = [
        "type",
        "index",
        "delta",
        "content_block",
        "content_block_start",
        "choices",
        "tool_calls",
        "function",
        "error",
        "message",
        "content",
        "arguments",
        "finish_reason",
        "id",
        "candidates",
        "parts",
        "functionCall",
        "thoughtSignature",
        "finishReason",
    ];
    const WORDS: [&str; 7] = [
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "tool_use",
        "input_json_delta",
        "error",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<u64>().prop_map(Value::from),
        prop::sample::select(WORDS.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let entry = (prop::sample::select(KEYS.to_vec()).prop_map(str::to_owned), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
            prop::collection::vec(entry, 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}
