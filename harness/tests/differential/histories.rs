//! Random histories in the formats of Mistral and OpenAI: legal by construction, and then most of them
//! broken.

use serde_json::{Value, json};

/// The seed of all histories.
pub const SEED: u64 = 2026;

/// The first `n` histories.
pub fn all(n: usize) -> impl Iterator<Item = Value> {
    let mut dice = Dice(SEED);
    (0..n).map(move |_| body(&mut dice))
}

/// A generator of numbers that is the same everywhere (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A request body.
fn body(dice: &mut Dice) -> Value {
    let mut messages = match dice.percent(15) {
        true => (0..dice.below(7)).map(|_| any_message(dice)).collect(),
        false => conversation(dice),
    };
    if dice.percent(65) {
        for _ in 0..=dice.below(3) {
            break_it(dice, &mut messages);
        }
    }
    let mut body = json!({ "model": "mistral-large-latest", "messages": messages });
    if dice.percent(10) {
        let name = function_name(dice);
        let parameters = json!({ "type": "object", "properties": {} });
        body["tools"] =
            json!([{ "type": "function", "function": { "name": name, "parameters": parameters } }]);
    }
    body
}

/// A legal conversation.
fn conversation(dice: &mut Dice) -> Vec<Value> {
    let mut messages = Vec::new();
    if dice.percent(30) {
        messages.push(json!({ "role": "system", "content": "Be brief." }));
    }
    for turn in 0..=dice.below(3) {
        if turn > 0 {
            messages.push(json!({ "role": "assistant", "content": "It is done." }));
        }
        messages.push(json!({ "role": "user", "content": "Look it up." }));
        for _ in 0..dice.below(3) {
            batch(dice, &mut messages);
        }
    }
    messages
}

/// A reply with calls, and their results in any order.
fn batch(dice: &mut Dice, messages: &mut Vec<Value>) {
    let mut ids: Vec<String> = (0..=dice.below(3)).map(|_| good_id(dice)).collect();
    ids.dedup();
    let content = if dice.percent(20) { json!("I look.") } else { json!("") };
    let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
    messages.push(json!({ "role": "assistant", "content": content, "tool_calls": calls }));
    let start = dice.below(ids.len());
    ids.rotate_left(start);
    messages.extend(ids.iter().map(|id| result(id)));
}

fn call(id: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": "lookup", "arguments": "{}" } })
}

fn result(id: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": "found it" })
}

/// Few enough that ids repeat.
fn good_id(dice: &mut Dice) -> String {
    format!("call0000{}", dice.pick(b"123456789abcdef").to_owned() as char)
}

/// Ids of other providers, and ids at the edges of the pattern.
const ODD_IDS: [&str; 12] = [
    "",
    "null",
    "None",
    "call_a",
    "toolu_01ABCDEFGHIJKLMNOPQRSTUV",
    "abcdefgh",
    "abcdefghij",
    "abcdefghi\n",
    "abcdefghi\n\n",
    "abc-efghi",
    "äbcdefghi",
    "١٢٣٤٥٦٧٨٩",
];

fn function_name(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 => String::new(),
        1 => "look up".to_owned(),
        2 => "look.up".to_owned(),
        3 => "lookup\n".to_owned(),
        4 => "l".repeat(64),
        5 => "l".repeat(65),
        _ => "look-up_1".to_owned(),
    }
}

fn any_message(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => json!({ "role": "system", "content": "Be brief." }),
        1 => json!({ "role": "user", "content": "Well?" }),
        2 => json!({ "role": "assistant", "content": "It is done." }),
        3 => result(&good_id(dice)),
        4 => json!({ "role": "assistant", "content": "", "tool_calls": [call(&good_id(dice))] }),
        _ => json!({ "role": "assistant", "content": "It is", "prefix": true }),
    }
}

/// Changes one thing.
fn break_it(dice: &mut Dice, messages: &mut Vec<Value>) {
    if messages.is_empty() {
        return messages.push(any_message(dice));
    }
    let at = dice.below(messages.len());
    match dice.below(15) {
        0 => messages.insert(at, any_message(dice)),
        1 => messages.push(any_message(dice)),
        2 => drop(messages.remove(at)),
        3 => messages.insert(at, messages[at].clone()),
        4 => {
            let other = dice.below(messages.len());
            messages.swap(at, other);
        }
        5 => messages.truncate(at),
        6 => drop(messages.drain(..at)),
        7 | 8 => change_id(dice, messages),
        9 => repeat_call(dice, messages),
        10 => empty_content(dice, &mut messages[at]),
        11 => rename(dice, messages),
        12 => {
            if let Some(reply) = any_of(dice, messages, |message| message["role"] == "assistant") {
                reply["prefix"] = dice.percent(80).into();
            }
        }
        13 => foreign_shape(dice, &mut messages[at]),
        _ if dice.percent(50) => break_shape(dice, &mut messages[at]),
        _ => messages.push(json!({ "role": "assistant", "content": "It is", "prefix": true })),
    }
}

fn any_of<'a>(
    dice: &mut Dice,
    messages: &'a mut [Value],
    is: impl Fn(&Value) -> bool,
) -> Option<&'a mut Value> {
    let mut fitting: Vec<&mut Value> = messages.iter_mut().filter(|message| is(message)).collect();
    let n = fitting.len();
    if n == 0 { None } else { Some(fitting.swap_remove(dice.below(n))) }
}

fn has_calls(message: &Value) -> bool {
    message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty())
}

/// Gives a call or a result another id, or none.
fn change_id(dice: &mut Dice, messages: &mut [Value]) {
    let id = match dice.below(4) {
        0 => Some(good_id(dice)),
        1 => None,
        _ => Some((*dice.pick(&ODD_IDS)).to_owned()),
    };
    let both = dice.percent(30);
    let message = any_of(dice, messages, |message| message["role"] == "tool" || has_calls(message));
    let Some(message) = message else { return };
    let (owner, key) = match message["role"] == "tool" {
        true => (message, "tool_call_id"),
        false => {
            let n = message["tool_calls"].as_array().map_or(1, Vec::len);
            (&mut message["tool_calls"][dice.below(n)], "id")
        }
    };
    let old = owner[key].clone();
    match (&id, owner.as_object_mut()) {
        (Some(id), _) => owner[key] = json!(id),
        (None, Some(fields)) => drop(fields.remove(key)),
        (None, None) => {}
    }
    if let (true, Some(id)) = (both, id) {
        rewrite(messages, &old, &json!(id));
    }
}

/// Replaces an id everywhere.
fn rewrite(messages: &mut [Value], old: &Value, new: &Value) {
    for message in messages {
        if message["tool_call_id"] == *old && message["role"] == "tool" {
            message["tool_call_id"] = new.clone();
        }
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        calls
            .into_iter()
            .flatten()
            .filter(|call| call["id"] == *old)
            .for_each(|call| call["id"] = new.clone());
    }
}

/// Makes a call twice, with or without a second result.
fn repeat_call(dice: &mut Dice, messages: &mut Vec<Value>) {
    let Some(at) = messages.iter().position(has_calls) else { return };
    let call = messages[at]["tool_calls"][0].clone();
    if let Some(calls) = messages[at]["tool_calls"].as_array_mut() {
        calls.push(call.clone());
    }
    if dice.percent(50)
        && let Some(id) = call["id"].as_str()
    {
        messages.insert(at + 1, result(id));
    }
}

fn empty_content(dice: &mut Dice, message: &mut Value) {
    message["content"] = match dice.below(5) {
        0 => json!([]),
        1 => json!([{ "type": "text", "text": "Hello." }]),
        2 if message["role"] == "assistant" => Value::Null,
        _ => json!(""),
    };
    if message["role"] == "assistant" && dice.percent(40) {
        message["tool_calls"] = if dice.percent(50) { json!([]) } else { Value::Null };
    }
}

fn rename(dice: &mut Dice, messages: &mut [Value]) {
    let name = function_name(dice);
    let message = any_of(dice, messages, |message| message["role"] == "tool" || has_calls(message));
    match message {
        Some(result) if result["role"] == "tool" => result["name"] = name.into(),
        Some(reply) => reply["tool_calls"][0]["function"]["name"] = name.into(),
        None => {}
    }
}

/// Gives a message a content that is not text, or that belongs to another role or another provider.
fn foreign_shape(dice: &mut Dice, message: &mut Value) {
    match dice.below(8) {
        0 => message["content"] = json!([{ "text": "Hello." }]),
        1 => {
            message["content"] =
                json!([{ "type": "tool_use", "id": "toolu_1", "name": "lookup", "input": {} }])
        }
        2 => message["tool_calls"] = json!([]),
        3 => message["tool_call_id"] = good_id(dice).into(),
        4 => message["content"] = json!([{ "type": "thinking", "thinking": "Well." }]),
        5 => {
            let audio = json!({ "data": SILENCE, "format": "wav" });
            message["content"] = json!([{ "type": "input_audio", "input_audio": audio }]);
        }
        6 => {
            let image = json!({ "url": format!("data:image/png;base64,{DOT}") });
            message["content"] = json!([{ "type": "image_url", "image_url": image }]);
        }
        _ => message["reasoning_content"] = "Well.".into(),
    }
}

/// An image of one dot.
const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

/// An audio file without samples.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=";

/// Breaks the types of a message.
fn break_shape(dice: &mut Dice, message: &mut Value) {
    match dice.below(6) {
        0 => message["role"] = (*dice.pick(&["developer", "function", "model", ""])).into(),
        1 => message["content"] = json!(7),
        2 => message["content"] = Value::Null,
        3 if has_calls(message) => message["tool_calls"][0]["id"] = json!(*dice.pick(&[1, 2])),
        4 if has_calls(message) => message["tool_calls"][0]["function"]["arguments"] = json!([]),
        _ => drop(message.as_object_mut().and_then(|fields| fields.remove("content"))),
    }
}
