//! A message of a program that is not known, read by the names that most programs use.
//!
//! Names are compared without case, `_` and `-`. A field or a part that has a name like a call and is not understood is
//! noted, so that the judgement is called incomplete.

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use serde_json::{Value, json};

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
    Tool,
}

/// A message.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) speaker: Speaker,
    texts: Vec<String>,
    /// The ids, the names and the arguments.
    calls: Vec<(String, String, String)>,
    /// The ids and the names of the calls, and the outputs.
    results: Vec<(String, String, String)>,
    /// True if a text comes before the results.
    is_text_first: bool,
}

/// The state that the messages before lead to.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) dialect: Option<Dialect>,
    /// The names that were not understood.
    pub(super) foreign: Vec<String>,
    /// The ids and names of the calls without a result.
    open: Vec<(String, String)>,
    n_calls: usize,
    n_results: usize,
    /// The number of replies with calls.
    n_calling: usize,
    /// The names of the calls by their ids.
    names: BTreeMap<String, String>,
    /// The ids that not every provider takes. Their form is not judged, since the program may change it when it sends.
    renamed: BTreeMap<String, String>,
}

/// Fields, by the names that programs use, the most telling first.
const SPEAKERS: &[&str] = &["role", "sender", "author", "speaker", "from", "type", "kind", "messagetype"];
const WRAPPERS: &[&str] = &["message", "msg", "payload", "data", "item", "record", "event"];
const CONTENTS: &[&str] =
    &["content", "parts", "text", "message", "contents", "blocks", "body", "value", "mes"];
const CALLS: &[&str] =
    &["toolcalls", "calls", "tooluses", "functioncalls", "toolinvocations", "toolrequests"];
const RESULTS: &[&str] =
    &["toolresults", "tooloutputs", "functionresults", "functionresponses", "toolresponses"];
const CALL_IDS: &[&str] = &["toolcallid", "tooluseid", "callid", "invocationid"];
const NAMES: &[&str] = &["name", "toolname", "functionname"];
const ARGUMENTS: &[&str] =
    &["arguments", "args", "input", "inputs", "parameters", "rawinput", "argumentsjson"];
const OUTPUTS: &[&str] = &["output", "result", "response", "content", "toolresult", "returnvalue"];
const KINDS: &[&str] = &["type", "kind", "blocktype", "partkind", "parttype"];

/// The number of names that are noted.
const MAX_FOREIGN: usize = 5;

/// The longest id and name that are kept, in bytes.
const MAX_ID: usize = 64;

/// The name of a field without case, `_` and `-`.
pub(super) fn plain(name: &str) -> String {
    name.chars()
        .filter(|letter| !matches!(letter, '_' | '-' | ' '))
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

/// The first field with one of these names that is not null.
pub(super) fn field<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    let fields = value.as_object()?;
    let named = |name: &&str| fields.iter().find(|(own, value)| !value.is_null() && plain(own) == **name);
    names.iter().find_map(named).map(|(_, value)| value)
}

/// Returns whether an object, or one in it, names its speaker and has a field with content or calls.
pub(super) fn has_speaker(item: &Value) -> bool {
    message_in(item).is_some()
}

/// The message in an object, and its speaker.
fn message_in(item: &Value) -> Option<(&Value, Speaker)> {
    let has_content = |value: &Value| {
        [CONTENTS, CALLS, OUTPUTS].iter().any(|names| field(value, names).is_some())
            || field(value, &["tools"]).and_then(Value::as_array).is_some_and(|tools| has_calls(tools))
    };
    let inner = WRAPPERS.iter().filter_map(|name| field(item, &[name]).filter(|value| value.is_object()));
    for value in inner {
        // The kind of the record may name the speaker of the message in it.
        let speaker = speaker_of(value).or_else(|| speaker_of(item));
        if let Some(speaker) = speaker.filter(|_| has_content(value)) {
            return Some((value, speaker));
        }
    }
    if let Some(kind) = own_kind(item).filter(|kind| is_call(kind) || is_result(kind)) {
        return Some((item, if is_result(&kind) { Speaker::Tool } else { Speaker::Assistant }));
    }
    speaker_of(item).filter(|_| has_content(item)).map(|speaker| (item, speaker))
}

fn speaker_of(value: &Value) -> Option<Speaker> {
    SPEAKERS.iter().find_map(|name| {
        let found = field(value, &[name])?;
        let word = found.as_str().or_else(|| field(found, &["role", "name"])?.as_str())?;
        Some(match plain(word).trim_end_matches("message") {
            "user" | "human" | "you" => Speaker::User,
            "assistant" | "ai" | "bot" | "model" | "gpt" | "llm" | "agent" | "chatbot" | "aichunk" => {
                Speaker::Assistant
            }
            "system" | "developer" => Speaker::System,
            "tool" | "function" | "observation" | "toolresult" | "toolresponse" => Speaker::Tool,
            _ => return None,
        })
    })
}

fn kind_of(value: &Value) -> Option<String> {
    field(value, KINDS)?.as_str().map(plain)
}

/// The kind of an item that is a call or a result by itself, and so has an id.
fn own_kind(item: &Value) -> Option<String> {
    let has_id = field(item, CALL_IDS).is_some() || field(item, &["id"]).is_some();
    kind_of(item).filter(|_| has_id && field(item, &["role"]).is_none())
}

fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "tooluse"
            | "toolcall"
            | "functioncall"
            | "toolinvocation"
            | "toolrequest"
            | "dynamictool"
            | "callpart"
    )
}

fn is_result(kind: &str) -> bool {
    matches!(
        kind,
        "toolresult"
            | "tooloutput"
            | "functioncalloutput"
            | "functionresult"
            | "toolresponse"
            | "toolreturn"
            | "functionresponse"
            | "toolcalloutput"
            | "toolcallresult"
    )
}

impl Thread {
    /// Returns whether several replies have calls and no call has a result: a program that keeps the results at another place
    /// is more likely than one that ran none of them.
    pub(super) fn keeps_results_elsewhere(&self) -> bool {
        self.n_calling > 1 && self.n_results == 0
    }

    /// Reads an item of the list. `None` if it is not a message.
    pub(super) fn read(&mut self, item: &Value) -> Option<Said> {
        let said = self.said(item)?;
        self.n_results += said.results.len();
        self.n_calling += usize::from(!said.calls.is_empty());
        Some(said)
    }

    fn said(&mut self, item: &Value) -> Option<Said> {
        let (message, speaker) = message_in(item)?;
        let mut said =
            Said { speaker, texts: Vec::new(), calls: Vec::new(), results: Vec::new(), is_text_first: false };
        let kind = own_kind(message).unwrap_or_default();
        if is_call(&kind) {
            self.call(message, &mut said);
            return Some(said);
        }
        if is_result(&kind) || speaker == Speaker::Tool && !has_parts_with_results(message) {
            self.result(message, &mut said);
            return Some(said);
        }
        if let Some(content) = field(message, CONTENTS) {
            self.content(content, &mut said);
        }
        for (name, value) in message.as_object().into_iter().flatten() {
            self.calls_and_results(name, value, &mut said);
        }
        Some(said)
    }

    /// A field of a message about calls or results.
    fn calls_and_results(&mut self, name: &str, value: &Value, said: &mut Said) {
        let plain = plain(name);
        let parsed = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let value = parsed.as_ref().unwrap_or(value);
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        if CALLS.contains(&plain.as_str()) {
            items.iter().for_each(|call| self.call(call, said));
        } else if RESULTS.contains(&plain.as_str()) {
            items.iter().for_each(|result| self.result(result, said));
        } else if plain == "functioncall" && value.is_object() {
            self.call(value, said);
        } else if plain == "tools" && has_calls(items) {
            // neuron-ai: the calls of a reply, and the same list again with the results as a message of the user.
            match said.speaker {
                Speaker::Assistant => items.iter().for_each(|call| self.call(&without_output(call), said)),
                _ => items.iter().for_each(|result| self.result(result, said)),
            }
        } else if is_about_calls(&plain) && !items.is_empty() && !items.iter().all(is_offer) {
            self.note(name);
        }
    }

    fn content(&mut self, content: &Value, said: &mut Said) {
        match content {
            Value::String(text) => {
                let parts =
                    text.trim_start().starts_with('[').then(|| serde_json::from_str::<Value>(text).ok());
                match parts
                    .flatten()
                    .filter(|parts| parts.as_array().is_some_and(|parts| parts.iter().all(is_part)))
                {
                    Some(parts) => self.content(&parts, said),
                    None => said.texts.push(text.clone()),
                }
            }
            Value::Array(parts) => parts.iter().for_each(|part| self.part(part, said)),
            Value::Object(_) => match field(content, CONTENTS) {
                Some(Value::String(text)) => said.texts.push(text.clone()),
                Some(parts @ Value::Array(_)) => self.content(parts, said),
                _ => {}
            },
            _ => {}
        }
    }

    fn part(&mut self, part: &Value, said: &mut Said) {
        if let Value::String(text) = part {
            return said.texts.push(text.clone());
        }
        let kind = kind_of(part).unwrap_or_default();
        let inner = |names: &[&str]| field(part, names).filter(|value| value.is_object());
        if let Some(call) = inner(&["tooluse", "functioncall", "toolcall"]) {
            self.see(part);
            self.call(call, said);
        } else if let Some(result) = inner(&["toolresult", "functionresponse", "toolresponse"]) {
            self.result(result, said);
        } else if is_call(&kind)
            || kind.starts_with("tool") && field(part, CALL_IDS).is_some() && !is_result(&kind)
        {
            self.see(part);
            self.call(part, said);
        } else if is_result(&kind) {
            self.result(part, said);
        } else if let Some(Value::String(text)) =
            field(part, &["text", "content"]).filter(|_| !is_thought(&kind))
        {
            said.texts.push(text.clone());
        } else if is_about_calls(&kind) {
            self.note(&kind);
        }
    }

    /// Notes the dialect that the form of a call shows.
    fn see(&mut self, part: &Value) {
        let has = |name: &str| part.get(name).is_some();
        let shown = match part.get("type").and_then(Value::as_str) {
            Some("tool_use") => Some(Dialect::AnthropicMessages),
            _ if has("functionCall") => Some(Dialect::Gemini),
            _ if has("toolUse") => Some(Dialect::BedrockConverse),
            _ => None,
        };
        self.dialect = self.dialect.or(shown);
    }

    /// A call, with its result if it has one.
    fn call(&mut self, call: &Value, said: &mut Said) {
        let function = field(call, &["function"]).filter(|function| function.is_object());
        let of = |names: &[&str]| field(call, names).or_else(|| field(function?, names));
        let name = of(NAMES).and_then(Value::as_str);
        let id = field(call, CALL_IDS).or_else(|| field(call, &["id"])).and_then(Value::as_str);
        if name.is_none() && id.is_none() {
            return self.note("call");
        }
        self.n_calls += 1;
        let n_calls = self.n_calls;
        let id = id.map(|id| self.kept_id(id)).unwrap_or_else(|| format!("call_{n_calls}"));
        let name = kept_name(name.unwrap_or("tool"));
        let arguments = match of(ARGUMENTS) {
            Some(Value::String(text))
                if serde_json::from_str::<Value>(text).is_ok_and(|it| it.is_object()) =>
            {
                text.clone()
            }
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => "{}".to_owned(),
        };
        self.names.insert(id.clone(), name.clone());
        said.calls.push((id.clone(), name.clone(), arguments));
        // A call that has ended has its output beside it, or the text of its error.
        match field(call, &["output", "result", "response", "toolresult", "errortext", "error"]) {
            Some(output) if !is_blank(output) => said.results.push((id, name, words(output))),
            _ => self.open.push((id, name)),
        }
    }

    /// A result. Without an id it is that of the first open call, of its name if it has one.
    fn result(&mut self, result: &Value, said: &mut Said) {
        said.is_text_first |= !said.texts.is_empty() && said.results.is_empty();
        let id = field(result, CALL_IDS).and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = id.map(|id| self.kept_id(id));
        let name = field(result, NAMES).and_then(Value::as_str).map(kept_name);
        let is_its = |(own_id, own_name): &(String, String)| match (&id, &name) {
            (Some(id), _) => own_id == id,
            (None, Some(name)) => own_name == name,
            (None, None) => true,
        };
        let at = self.open.iter().position(is_its);
        let open = at.map(|at| self.open.remove(at).0);
        let Some(id) = id.or(open) else { return self.note("result") };
        let name = name.or_else(|| self.names.get(&id).cloned()).unwrap_or_else(|| "tool".to_owned());
        said.results.push((id, name, field(result, OUTPUTS).map(words).unwrap_or_default()));
    }

    /// An id in a form that every provider takes.
    fn kept_id(&mut self, id: &str) -> String {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if !id.is_empty() && id.len() <= 40 && id.chars().all(is_plain) {
            return id.to_owned();
        }
        let next = format!("id_{}", self.renamed.len() + 1);
        self.renamed.entry(id.to_owned()).or_insert(next).clone()
    }

    fn note(&mut self, name: &str) {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let is_known = self.foreign.iter().any(|own| own == name);
        if self.foreign.len() < MAX_FOREIGN && !is_known && name.len() <= MAX_ID && name.chars().all(is_name)
        {
            self.foreign.push(name.to_owned());
        }
    }
}

impl Said {
    /// The message in the form of the Chat Completions API.
    pub(super) fn records(&self) -> Vec<Value> {
        let text = self.texts.join("\n");
        let results = self.results.iter().map(|(id, name, output)| {
            json!({ "role": "tool", "tool_call_id": id, "name": name, "content": output })
        });
        // Nothing is said about blank texts.
        let words = if text.trim().is_empty() { "." } else { &text };
        let said = |role: &str| json!({ "role": role, "content": words });
        let mut records: Vec<Value> = Vec::new();
        match self.speaker {
            Speaker::Assistant if self.calls.is_empty() && text.trim().is_empty() => {}
            Speaker::Assistant if self.calls.is_empty() => records.push(said("assistant")),
            Speaker::Assistant => {
                let call = |(id, name, arguments): &(String, String, String)| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
                let calls: Vec<Value> = self.calls.iter().map(call).collect();
                let content = if text.trim().is_empty() { Value::Null } else { json!(text) };
                records.push(json!({ "role": "assistant", "content": content, "tool_calls": calls }));
            }
            Speaker::System => records.push(said("system")),
            Speaker::User if self.is_text_first => records.push(said("user")),
            Speaker::User | Speaker::Tool => {}
        }
        records.extend(results);
        if self.speaker == Speaker::User
            && !self.is_text_first
            && (self.results.is_empty() || !text.trim().is_empty())
        {
            records.push(said("user"));
        }
        records
    }
}

/// Returns whether the message of a tool has its results in parts.
fn has_parts_with_results(message: &Value) -> bool {
    let parts = field(message, CONTENTS).and_then(Value::as_array);
    parts.is_some_and(|parts| {
        parts.iter().any(|part| {
            kind_of(part).is_some_and(|kind| is_result(&kind))
                || field(part, &["toolresult", "functionresponse", "toolresponse"]).is_some()
        })
    })
}

fn is_part(part: &Value) -> bool {
    part.is_object()
        && (kind_of(part).is_some() || field(part, &["text", "tooluse", "functioncall"]).is_some())
}

fn is_thought(kind: &str) -> bool {
    kind.contains("think") || kind.contains("reason") || kind.contains("thought")
}

/// Returns whether a name is one of calls or results.
fn is_about_calls(plain: &str) -> bool {
    plain.contains("tool") || plain.contains("functioncall") || plain.contains("functionresp")
}

/// Returns whether a list of tools is one of calls.
fn has_calls(tools: &[Value]) -> bool {
    tools.iter().any(|tool| field(tool, CALL_IDS).is_some())
}

/// Returns whether an item describes a tool that is offered.
fn is_offer(item: &Value) -> bool {
    let function = field(item, &["function"]).unwrap_or(item);
    let is_described = field(function, &["description", "parameters", "inputschema"]).is_some();
    item.is_string()
        || is_described && field(item, CALL_IDS).is_none() && field(item, &["result", "output"]).is_none()
}

/// A call without the result beside it.
fn without_output(call: &Value) -> Value {
    let fields = call.as_object().into_iter().flatten();
    let kept = fields.filter(|(name, _)| !OUTPUTS.contains(&plain(name).as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(str::is_empty)
}

/// A result as a text.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A name in a form that every provider takes.
fn kept_name(name: &str) -> String {
    let letters = name.chars().take(MAX_ID);
    let plain: String =
        letters.map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if plain.is_empty() { "tool".to_owned() } else { plain }
}
