//! A dialect without a real provider; see the toy in `brickbat-scenario`. It requires JSON requests, and a
//! stop at the end of a stream.

use serde_json::{Map, Value, json};

use super::{Checker, Definition, Switches};
use crate::histories::read::{json_text, spoken, text};
use crate::histories::render::{Source, Writer, object, text_of};
use crate::histories::{
    ALPHANUMERICS, Block, Call, CallResult, Codec, IdForm, KEPT_ELSEWHERE, Message, Placement, Role, Signs,
    is_short_id,
};
use crate::json::{Document, Json};
use crate::streams::{
    Common, Framing, Machine, Standing, StreamEvent, StreamRule, Verdict, Warnings, underway,
};
use crate::{Dialect, Envelope, Memory, Occurrence, Profile, Retention, Rule, Violations};

pub(super) static DEFINITION: Definition = Definition {
    name: "toy",
    rules: &[&BODY_NOT_JSON],
    profiles: &PROFILES,
    path_ends: &["/toy"],
    only_host: None,
    model_field: "model",
    model_of_path: None,
    list: "messages",
    codec: &CODEC,
    bare: br#"{"messages":[]}"#,
    refuse_unreadable: |_, _, out| out.add(&BODY_NOT_JSON, || Occurrence::at("")),
    keeps: |_| Retention::Nothing,
    remember: |_, _, _, _| {},
    stream_rules: &[&TRUNCATED, &UNREADABLE],
    tolerated_of_relatives: &[],
    framing: Framing::Lines,
    machine: || Box::new(ToyMachine(false)),
};

static CODEC: Codec = Codec {
    write,
    read: |reader, entry| reader.message(entry, "content", block),
    result: result_of,
    placement: Placement::Apart,
    prompt: |words| entry("user", vec![json!({ "text": words })]),
    call_id: IdForm { prefix: "c", alphabet: ALPHANUMERICS, n_letters: 8 },
    takes_id: is_short_id,
    models: &["toy-1"],
    model: "toy-1",
    vendor: "toy",
    signs: Signs::Nothing,
    instructions_at: &[],
    alternates: false,
    may_lack_role: false,
    has_pictures_in_results: false,
    kept_at: KEPT_ELSEWHERE,
};

fn entry(role: &str, content: Vec<Value>) -> Value {
    json!({ "role": role, "content": content })
}

/// Each message is an entry, and each result is one.
fn write(writer: &mut Writer, _: &mut Map<String, Value>, messages: &[Message]) {
    for (n, message) in messages.iter().enumerate() {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let at = writer.next();
        let mut content = Vec::new();
        for (block, said) in message.blocks.iter().enumerate() {
            let source = Source { message: n, block };
            match said {
                Block::Text(text) => content.push((source, json!({ "text": text }))),
                Block::Call(call) => {
                    let args = object(&call.arguments);
                    content.push((
                        source,
                        json!({ "call": { "id": call.id, "name": call.name, "args": args } }),
                    ));
                }
                Block::Result(result) => {
                    writer.note(writer.next(), source);
                    writer.push(result_of(result));
                }
                Block::Native { dialect: Dialect::Toy, value } => content.push((source, value.clone())),
                Block::Thinking(_) | Block::Image(_) | Block::Native { .. } => {}
            }
        }
        if message.role != Role::Tool {
            for (n, (source, _)) in content.iter().enumerate() {
                writer.note(format!("{at}/content/{n}"), *source);
            }
            writer.push(entry(role, content.into_iter().map(|(_, value)| value).collect()));
        }
    }
}

fn result_of(result: &CallResult) -> Value {
    let result = json!({ "id": result.call, "text": text_of(result), "is_error": result.is_error });
    entry("tool", vec![json!({ "result": result })])
}

fn block(value: &Value) -> Option<Block> {
    if let Some(call) = value.get("call") {
        let (id, name, arguments) = (text(call, "id"), text(call, "name"), json_text(call.get("args")));
        return Some(Block::Call(Call { id, name, arguments, ..Call::default() }));
    }
    if let Some(result) = value.get("result") {
        return Some(Block::Result(CallResult {
            call: text(result, "id"),
            output: vec![spoken(result.get("text"))],
            is_error: result.get("is_error").and_then(Value::as_bool) == Some(true),
            ..CallResult::default()
        }));
    }
    Some(Block::Text(value.get("text")?.as_str()?.to_owned()))
}

static BODY_NOT_JSON: Rule = Rule::measured("toy/body-not-json", "TOY-BODY-1", 0, "2026-11");

static PROFILES: [Profile; 1] =
    [Profile { name: "toy@2026-11", ..Profile::base(Dialect::Toy, "Toy", Envelope::Openai, &NoSwitches) }];

#[derive(Debug)]
struct NoSwitches;

impl Switches for NoSwitches {
    fn checker<'a>(&'static self, _: &'static Profile, _: &'a Memory) -> Box<dyn Checker<'a> + 'a> {
        Box::new(AnyConversation)
    }
}

struct AnyConversation;

impl<'a> Checker<'a> for AnyConversation {
    fn message(&mut self, _: usize, _: Json<'_, 'a>, _: &mut Violations) {}

    fn finish(&mut self, _: Json<'_, 'a>, _: Option<usize>, _: &mut Violations) {}
}

static TRUNCATED: StreamRule = rule("toy/stream/truncated", "the stream ends with its stop");
static UNREADABLE: StreamRule = rule("toy/stream/unreadable", "every event is JSON");

const fn rule(id: &'static str, summary: &'static str) -> StreamRule {
    crate::streams::error(id, summary, "")
}

/// True after the stop.
#[derive(Debug)]
struct ToyMachine(bool);

impl Machine for ToyMachine {
    fn common(&self) -> &'static Common {
        static COMMON: Common =
            Common { truncated: &TRUNCATED, unreadable: &UNREADABLE, unended: None, stray: None };
        &COMMON
    }

    fn step(&mut self, event: &StreamEvent<'_>, _: &mut Warnings) -> Verdict {
        let document = Document::parse(event.data).unwrap_or_default();
        self.0 |= document.root().field("stop").is_str();
        Ok(())
    }

    fn standing(&self) -> Standing {
        if self.0 { Standing::Complete } else { underway("a stop") }
    }
}
