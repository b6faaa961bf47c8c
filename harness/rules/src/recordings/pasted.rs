//! Requests inside the texts that people have: a curl command, a page of Markdown, a line of a log, or an export of
//! another tool.

mod around;
mod aws;
mod begin;
mod classes;
mod curl;
mod excerpt;
mod literal;
mod loose;
mod pretty;
mod printed;
mod python;
mod recipient;
mod shell;
#[cfg(test)]
mod tests;
mod traces;
mod unread;

use std::ops::Range;

use hashbrown::HashSet;
use serde_json::{Map, Value};

use begin::Begin;
use loose::{Loose, without_gutters};
use recipient::{Chosen, Recipient};
use traces::Written;

use super::left_out::{LeftOut, UNKNOWN};
use super::{Exchange, read};
use crate::check::CheckOptions;
use crate::histories::{Message, Role};
use crate::{Address, Dialect, detect, is_known_host};

pub use unread::{Unread, Unreadable};

/// A request that was found inside a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    /// The request, with the address if the text names it.
    pub exchange: Exchange,
    /// Where it is: a JSON pointer, `the curl command`, or the line where its JSON begins.
    pub place: String,
}

/// The maximum number of bytes that are searched in a text that is not JSON. An issue or a piece of a log has less.
const MAX_SEARCHED: usize = 1 << 20;

/// The maximum number of places in such a text at which JSON is tried.
const MAX_TRIED: usize = 200;

/// The maximum number of requests that are taken from one text.
const MAX_FOUND: usize = 1_000;

/// The maximum depth at which JSON is searched, including JSON in strings.
const MAX_DEPTH: usize = 32;

/// The maximum number of values that are looked at.
const MAX_VALUES: usize = 200_000;

/// The fields that name the address of a request.
const ADDRESSES: [&str; 11] = [
    "url",
    "uri",
    "endpoint",
    "requestUrl",
    "request_url",
    "request_path",
    "api_base",
    "base_url",
    "target_url",
    "url.full",
    "http.url",
];

/// Returns the requests inside a text that is not itself one. The options name the provider that the messages of a
/// framework are written for.
pub fn pasted(text: &[u8], options: &CheckOptions) -> Vec<Pasted> {
    searched(text, options).found
}

/// The outcome of a search in a text.
#[derive(Debug, Clone, Default)]
pub struct Searched {
    /// The requests.
    pub found: Vec<Pasted>,
    /// The places that look like requests and cannot be read.
    pub unread: Vec<Unread>,
    /// The text around the requests, which may quote the provider's reply to them.
    pub around: String,
}

/// Searches a text that is not itself a request.
pub fn searched(text: &[u8], options: &CheckOptions) -> Searched {
    let Ok(text) = std::str::from_utf8(text) else { return Searched::default() };
    let beginning = &text[..text.floor_char_boundary(MAX_SEARCHED)];
    let mut search = Search { recipient: Recipient::of(beginning, options), ..Search::default() };
    match serde_json::from_str(text) {
        Ok(value) => {
            search.in_value(&value, "", &Context::default(), MAX_DEPTH);
            search.around = around::errors(&value);
            if search.found.is_empty() && printed::is_message(&value) {
                search.take_excerpt(&Value::Array(vec![value]), 1, &Context::default());
            }
        }
        Err(_) => {
            let text = &text[..text.floor_char_boundary(MAX_SEARCHED)];
            if !search.in_yaml(text) {
                search.in_prose(text);
            }
        }
    }
    let Search { found, unread, around, .. } = search;
    Searched { found, unread, around }
}

#[derive(Default)]
struct Search {
    recipient: Recipient,
    found: Vec<Pasted>,
    unread: Vec<Unread>,
    n_values: usize,
    /// Messages that follow one another in a text.
    loose: Vec<Loose>,
    /// The ranges of a text with requests.
    taken: Vec<Range<usize>>,
    around: String,
}

/// The facts that the values around a request name.
#[derive(Debug, Clone, Default)]
struct Context {
    address: Address,
    model: Option<String>,
    /// The line of a text with the value, and where the value begins in it.
    line: Option<u64>,
}

impl Context {
    fn inside(&self, fields: &Map<String, Value>) -> Context {
        let named = ADDRESSES.iter().find_map(|name| fields.get(*name)?.as_str());
        let model = Some(traces::model(fields)).filter(|model| !model.is_empty() && model != UNKNOWN);
        Context {
            address: named.map_or_else(|| self.address.clone(), |url| self.at(url)),
            model: model.or_else(|| self.model.clone()),
            line: self.line,
        }
    }

    /// The address of a URL. Clients log the host and the path apart from each other, and other URLs beside them.
    fn at(&self, url: &str) -> Address {
        let address = Address::of(url);
        let host = if address.host.is_empty() { self.address.host.clone() } else { address.host.clone() };
        match address.api() {
            Some(_) => Address { host, ..address },
            None if is_known_host(&address.host) => Address { host, path: String::new() },
            None => self.address.clone(),
        }
    }
}

impl Search {
    /// Searches a list of messages, or a file with some, in YAML, such as the prompts of promptfoo
    /// (<https://www.promptfoo.dev/docs/configuration/chat/>). Returns whether it has a request.
    fn in_yaml(&mut self, text: &str) -> bool {
        const SIGNS: [&str; 3] = ["role:", "messages:", "prompts:"];
        let is_sign = |line: &str| {
            let line = line.trim_start_matches([' ', '-']);
            SIGNS.iter().any(|sign| line.starts_with(sign))
        };
        // Values that Node.js prints are often YAML, too, but a mark such as `[Array]` is not a list.
        let is_printed = text.match_indices('[').any(|(at, _)| literal::is_elision(&text[at..]));
        let is_meant = !is_printed && text.lines().any(is_sign);
        let Some(value) = is_meant.then(|| read::yaml(text)).flatten() else { return false };
        let context = Context { line: Some(1), ..Context::default() };
        self.in_value(&value, "", &context, MAX_DEPTH);
        !self.found.is_empty()
    }

    /// Searches a text with commands, fenced blocks, JSON or the literals of a program in it.
    fn in_prose(&mut self, text: &str) {
        let text = &*without_gutters(text);
        if let Some(messages) = pretty::messages(text) {
            let context = Context { line: Some(messages.line), ..Context::default() };
            let chosen = self.recipient.dialect(&context.address, "", "");
            let (request, how) = written_for(chosen, &Written::from(messages.messages), "");
            return self.take_value(&request, "", &how, &context);
        }
        let commands = self.in_commands(text);
        self.taken.clone_from(&commands);
        let (mut from, mut n_tried) = (0, 0);
        // A value inside one that cannot be read is not reported again.
        let mut reported = 0;
        // The messages inside it are not judged by themselves.
        let mut unread_until = 0;
        let mut unreads: Vec<(Range<usize>, Unread)> = Vec::new();
        let mut errors = String::new();
        while let Some(at) = text[from..].find(['{', '[', '(', '<']).map(|at| from + at) {
            from = at + 1;
            if let Some(command) = commands.iter().find(|command| command.contains(&at)) {
                from = command.end;
                continue;
            }
            let Some(begin) = Begin::at(text, at) else { continue };
            if n_tried == MAX_TRIED {
                break;
            }
            n_tried += 1;
            let Some((value, n_bytes)) = begin.read(text, at) else {
                if at >= unread_until
                    && let Some((unread, end)) = unread::at(text, at)
                {
                    unread_until = end;
                    if at >= reported {
                        reported = end + unread::MAX_SEARCHED;
                        unreads.push((at..end, unread));
                    }
                }
                continue;
            };
            let context = Context {
                address: address_before(&text[..at]),
                line: Some(line_at(text, at)),
                ..Context::default()
            };
            let before = self.found.len();
            self.in_value(&value, "", &context, MAX_DEPTH);
            if self.found.len() > before {
                self.taken.push(at..at + n_bytes);
                errors.push_str(&around::errors(&value));
                errors.push('\n');
            } else if at >= unread_until && printed::is_message(&value) {
                self.loose.push(Loose { line: line_at(text, at), span: at..at + n_bytes, message: value });
                from = at + n_bytes;
            }
            // A call may have a request inside a string.
            if self.found.len() > before || begin != Begin::Call {
                from = from.max(at + n_bytes);
            }
        }
        self.take_loose(text);
        // A call around a request is not one that was missed.
        let is_around = |span: &Range<usize>| {
            self.taken.iter().any(|taken| span.start < taken.start && taken.end <= span.end)
        };
        self.unread.extend(unreads.iter().filter(|(span, _)| !is_around(span)).map(|(_, unread)| *unread));
        self.around = around::text(text, &mut self.taken) + errors.trim_end();
    }

    /// Takes the requests of the commands in a text. Returns the ranges of these commands.
    fn in_commands(&mut self, text: &str) -> Vec<Range<usize>> {
        let mut commands: Vec<Range<usize>> = Vec::new();
        for (at, _) in text.match_indices("curl ") {
            let is_inside = commands.last().is_some_and(|command| command.contains(&at));
            if !is_inside && let Some(found) = curl::command(&text[at..], line_at(text, at)) {
                commands.push(at..at + found.n_bytes);
                self.take(found.exchange, found.place.to_owned());
            }
        }
        for (at, _) in text.match_indices(aws::COMMAND) {
            if let Some((exchange, n_bytes)) = aws::command(&text[at..], line_at(text, at)) {
                commands.push(at..at + n_bytes);
                self.take(exchange, "the aws command".to_owned());
            }
        }
        commands
    }

    /// The request for messages in the form of a framework, and how it was written.
    fn written_again(&self, list: &Value, context: &Context) -> Option<(Value, String)> {
        let of_replies = traces::model_of_replies(list);
        let of_text = || self.recipient.model().filter(|_| context.line.is_some());
        let model = context.model.as_deref().or(of_replies.as_deref()).or_else(of_text).unwrap_or_default();
        let chosen = self.recipient.dialect(&context.address, model, "").or_by_items(list);
        let of_printed = || {
            printed::of_pydantic_ai(list)
                .or_else(|| printed::of_agentscope(list))
                .or_else(|| printed::of_livekit(list))
                .or_else(|| printed::of_ruby_llm(list))
                .or_else(|| python::of_execution_results(list))
                .or_else(|| python::of_llama_index(list))
                .or_else(|| python::of_inner_results(list))
                .or_else(|| printed::of_prism(list))
                .or_else(|| python::of_agent_framework(list))
        };
        let written = traces::of_langchain(list)
            .or_else(|| traces::of_parts(list))
            .or_else(|| traces::of_flat_calls(list))
            // A file with only these messages is a session of the product.
            .or_else(|| context.line.and_then(|_| of_printed()))
            .map(Written::from)
            .or_else(|| traces::of_ai_sdk(list, chosen))?;
        Some(written_for(chosen, &written, model))
    }

    /// Searches a JSON value. In a text that is JSON, the value at its top is not a request.
    fn in_value(&mut self, value: &Value, pointer: &str, context: &Context, depth: usize) {
        self.n_values += 1;
        if depth == 0 || self.n_values > MAX_VALUES {
            return;
        }
        if let Some((request, how)) = self.written_again(value, context) {
            return self.take_value(&request, pointer, &how, context);
        }
        let is_shown = context.line.is_some() && pointer.is_empty() && is_whole_responses(value);
        if is_shown || (!pointer.is_empty() || context.line.is_some()) && is_request(value) {
            return self.take_value(value, pointer, "", context);
        }
        match value {
            Value::Object(fields) => self.in_object(fields, pointer, &context.inside(fields), depth),
            Value::Array(values) => {
                // Traces keep the objects of a program as Python prints them.
                if let Some(objects) = objects_in(values) {
                    let context = Context { line: context.line.or(Some(1)), ..context.clone() };
                    return self.in_value(&objects, pointer, &context, depth - 1);
                }
                for (k, value) in values.iter().enumerate() {
                    self.in_value(value, &format!("{pointer}/{k}"), context, depth - 1);
                }
            }
            // Loggers write bodies as strings.
            Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                let value = serde_json::from_str::<Value>(text).ok();
                if let Some(value) = value.or_else(|| Some(literal::read(text.trim_start())?.0))
                    && (value.is_object() || value.is_array())
                {
                    self.in_value(&value, pointer, context, depth - 1);
                }
            }
            Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn in_object(&mut self, fields: &Map<String, Value>, pointer: &str, context: &Context, depth: usize) {
        // A span, an event, or the attributes of one as an object.
        let attributes = fields.get("attributes").and_then(traces::attributes);
        let (at, attributes) = match attributes {
            Some(attributes) => (format!("{pointer}/attributes"), attributes),
            None => (pointer.to_owned(), fields.clone()),
        };
        if let Some(messages) = traces::of_span(fields, &attributes) {
            let mut context = context.inside(&attributes);
            if let Some(Value::String(host)) = attributes.get("server.address") {
                context.address.host.clone_from(host);
            }
            let (model, provider) = (traces::model(&attributes), traces::provider(&attributes));
            let chosen = self.recipient.dialect(&context.address, &model, &provider);
            let (request, how) = written_for(chosen, &messages.into(), &model);
            return self.take_value(&request, &at, &how, &context);
        }
        if context.line.is_some() && pointer.is_empty() && has_nested_list(fields) {
            return self.take_value(&Value::Object(fields.clone()), pointer, "", context);
        }
        if let Some(request) = traces::of_diagnostics(fields) {
            return self.take_value(&request, &format!("{pointer}/history"), WRITTEN_AGAIN, context);
        }
        if fields.get("object").and_then(Value::as_str) == Some("list")
            && let Some(items) = fields.get("data").and_then(Value::as_array)
            && is_newest_first(items)
        {
            let items: Vec<Value> = items.iter().rev().cloned().collect();
            return self.take_value(&Value::Array(items), &format!("{pointer}/data"), BACKWARDS, context);
        }
        // The calls and results of one message are not messages.
        const INSIDE: [&str; 5] =
            ["tool_calls", "tool_results", "toolCalls", "toolResults", "invalid_tool_calls"];
        const PARTS: [&str; 3] = ["content", "contents", "parts"];
        let is_message = fields.get("role").is_some_and(Value::is_string);
        let is_inside = |name: &str| INSIDE.contains(&name) || is_message && PARTS.contains(&name);
        for (name, value) in fields.iter().filter(|(name, _)| !is_inside(name)) {
            let name = name.replace('~', "~0").replace('/', "~1");
            self.in_value(value, &format!("{pointer}/{name}"), context, depth - 1);
        }
    }

    fn take_value(&mut self, value: &Value, pointer: &str, how: &str, context: &Context) {
        let place = match (context.line, pointer) {
            (Some(line), "") => format!("line {line}"),
            (Some(line), pointer) => format!("{pointer} of the value in line {line}"),
            (None, "") => "the top".to_owned(),
            (None, pointer) => pointer.to_owned(),
        };
        self.take_at(value, format!("{place}{how}"), context);
    }

    fn take_at(&mut self, value: &Value, place: String, context: &Context) {
        let of_text = || self.recipient.model().filter(|_| context.line.is_some()).map(str::to_owned);
        let model = context.model.clone().or_else(of_text);
        let mut request = value.clone();
        let (model, given) = match request.get("model").and_then(Value::as_str) {
            Some(UNKNOWN) => (None, model),
            Some(_) => (None, None),
            None => (model, None),
        };
        if let Some(given) = given {
            request["model"] = given.into();
        }
        let exchange = Exchange {
            line: context.line.unwrap_or(1),
            host: context.address.host.clone(),
            path: context.address.path.clone(),
            model,
            request: request.to_string().into_bytes(),
            ..Exchange::default()
        };
        self.take(exchange, place);
    }

    fn take(&mut self, mut exchange: Exchange, mut place: String) {
        let has_unknown = exchange.request.windows(UNKNOWN.len()).any(|part| part == UNKNOWN.as_bytes());
        if has_unknown && let Ok(mut request) = serde_json::from_slice::<Value>(&exchange.request) {
            // An example with parts left out may begin with the results of calls that it does not show.
            if exchange.left_out.is_empty()
                && let Some(completed) = excerpt::after_calls(&request)
            {
                exchange.left_out = LeftOut::around(completed.own.clone());
                excerpt::put(&mut request, completed.list);
            }
            let left_out = LeftOut::of(&mut request);
            place.push_str(&match left_out.n_values() {
                1 => ", where 1 value is left out; nothing that depends on it is reported".to_owned(),
                n => format!(", where {n} values are left out; nothing that depends on them is reported"),
            });
            exchange.request = request.to_string().into_bytes();
            exchange.left_out = LeftOut::of_both(exchange.left_out, left_out);
        }
        if self.found.len() < MAX_FOUND {
            self.found.push(Pasted { exchange, place });
        }
    }
}

/// Added to the place of a request in a form that is not that of a provider.
const WRITTEN_AGAIN: &str = ", and written again as a request";

/// The request of these messages, and how it was written.
fn written_for(chosen: Chosen, written: &Written, model: &str) -> (Value, String) {
    let mut messages = written.messages.clone();
    if written.n_dropped > 0 && messages.last().is_some_and(|last| last.role == Role::Assistant) {
        // The call without a result is refused in the next turn.
        messages.push(Message::text(Role::User, "…"));
    }
    (chosen.request(&messages, model), recipient::written_again(chosen, written))
}

/// Added to the place of a list that begins with the newest item.
const BACKWARDS: &str = ", read backwards because it begins with the newest item";

/// The last address of an API before a place in a text.
fn address_before(text: &str) -> Address {
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_BEFORE))..];
    let mut urls = text.rmatch_indices("://").filter_map(|(at, _)| {
        let rest = &text[at + 3..];
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | '>' | ','));
        let address = Address::of(&format!("https://{}", &rest[..end.unwrap_or(rest.len())]));
        let is_base = ["", "/", "/v1", "/openai", "/api", "/beta", "/anthropic", "/compatible-mode"]
            .iter()
            .any(|path| {
                address.path == *path || !path.is_empty() && address.path.starts_with(&format!("{path}/"))
            });
        match address.api() {
            Some(_) => Some(address),
            None => (is_base && is_known_host(&address.host))
                .then(|| Address { host: address.host, path: String::new() }),
        }
    });
    urls.next().or_else(|| path_before(text)).unwrap_or_default()
}

/// The last path of an API in a text, as servers log it: `POST /v1/chat/completions`, or with `to` between. Other paths may be
/// those of files.
fn path_before(text: &str) -> Option<Address> {
    text.rmatch_indices("POST ").find_map(|(at, verb)| {
        let rest = text[at + verb.len()..].trim_start_matches("to ");
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`')).unwrap_or(rest.len());
        let address = Address { host: String::new(), path: rest[..end].to_owned() };
        (rest.starts_with('/') && address.api().is_some()).then_some(address)
    })
}

/// The number of bytes before a request that are searched for its address.
const MAX_BEFORE: usize = 2_000;

/// The objects that texts such as `ChatMessage(role=…)` stand for, if all texts of a list are such.
fn objects_in(values: &[Value]) -> Option<Value> {
    let object = |value: &Value| {
        let text = value.as_str()?;
        let is_class = text.starts_with(|c: char| c.is_ascii_uppercase()) && text.ends_with(')');
        literal::read(Some(text).filter(|_| is_class)?).map(|(value, _)| value)
    };
    Some(values).filter(|values| !values.is_empty())?.iter().map(object).collect()
}

/// Returns whether each result in a list comes before its call.
fn is_newest_first(items: &[Value]) -> bool {
    let word = |item: &Value, name: &str| Some(item.get(name)?.as_str()?.to_owned());
    let is_result = |item: &&Value| {
        item.get("tool_call_id").is_some() || word(item, "type").is_some_and(|kind| kind.ends_with("_output"))
    };
    let result = |item: &Value| {
        Some(item)
            .filter(is_result)
            .and_then(|item| word(item, "tool_call_id").or_else(|| word(item, "call_id")))
    };
    let calls = |item: &Value| -> Vec<String> {
        let own = Some(item).filter(|item| !is_result(item)).and_then(|item| word(item, "call_id"));
        let listed = item.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(|call| word(call, "id")).chain(own).collect()
    };
    let (mut seen, mut n_before, mut n_after) = (HashSet::new(), 0, 0);
    for item in items {
        calls(item).iter().for_each(|call| n_before += usize::from(seen.contains(call)));
        if let Some(id) = result(item) {
            seen.insert(id);
        }
    }
    seen.clear();
    for item in items {
        n_after += usize::from(result(item).is_some_and(|id| seen.contains(&id)));
        seen.extend(calls(item));
    }
    n_before > 0 && n_after == 0
}

/// Returns whether a value has a model, an `input` of messages, and only fields that a request of the Responses API has.
/// Traces have others beside them, and their `input` may be of any API.
fn is_whole_responses(value: &Value) -> bool {
    const FIELDS: [&str; 18] = [
        "model",
        "input",
        "include",
        "instructions",
        "max_output_tokens",
        "metadata",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt_cache_key",
        "reasoning",
        "store",
        "stream",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_p",
        "truncation",
    ];
    // Requests for embeddings have a text as their input, too.
    const OF_A_TEXT: [&str; 6] =
        ["instructions", "max_output_tokens", "previous_response_id", "reasoning", "tools", "store"];
    let Some(fields) = value.as_object() else { return false };
    let has_messages = fields.get("input").is_some_and(|input| match input {
        Value::Array(items) => items.iter().any(|item| item.get("role").is_some()),
        Value::String(text) => text != UNKNOWN && OF_A_TEXT.iter().any(|name| fields.contains_key(*name)),
        _ => false,
    });
    has_messages && fields.contains_key("model") && fields.keys().all(|name| FIELDS.contains(&name.as_str()))
}

/// Returns whether a value is a request, or a list of messages.
fn is_request(value: &Value) -> bool {
    let is_list = |list: &Value| {
        let items: Vec<&Value> = list.as_array().into_iter().flatten().collect();
        let items: Vec<&Value> = items.into_iter().filter(|item| item.as_str() != Some(UNKNOWN)).collect();
        !items.is_empty()
            && items.iter().all(|item| item.get("role").or_else(|| item.get("type")).is_some())
            && items.iter().any(|item| item.get("role").or_else(|| item.get("call_id")).is_some())
            && traces::of_langchain(list).is_none()
            && traces::of_parts(list).is_none()
            && !traces::is_ai_sdk(list)
    };
    // Tools for traces store any messages as `input`.
    let is_own = |list: &Value, name: &str| {
        let dialect = detect(list.to_string().as_bytes());
        dialect.is_none_or(|dialect| dialect.definition().list == name)
    };
    let has_list = |dialect: Dialect| {
        let name = dialect.definition().list;
        value.get(name).is_some_and(|list| is_list(list) && is_own(list, name))
    };
    is_list(value) || Dialect::ALL.into_iter().any(has_list)
}

/// Returns whether a request has an object in place of its list of messages.
fn has_nested_list(fields: &Map<String, Value>) -> bool {
    let list = fields.get("messages").filter(|list| list.is_object());
    list.is_some() && fields.get("model").is_some_and(Value::is_string)
}

fn line_at(text: &str, at: usize) -> u64 {
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() as u64
}
