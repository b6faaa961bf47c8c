//! Requests inside the texts that people have: a curl command, a page of Markdown, a line of a log, or an export of
//! another tool.

mod curl;
mod literal;
mod traces;

use hashbrown::HashSet;
use serde_json::{Map, Value};

use super::Exchange;
use crate::{Address, Dialect, detect, is_known_host};

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

/// Returns the requests inside a text that is not itself one.
pub fn pasted(text: &[u8]) -> Vec<Pasted> {
    let mut search = Search { found: Vec::new(), n_values: 0 };
    let Ok(text) = std::str::from_utf8(text) else { return search.found };
    match serde_json::from_str(text) {
        Ok(value) => search.in_value(&value, "", &Context::default(), MAX_DEPTH),
        Err(_) => search.in_prose(&text[..text.floor_char_boundary(MAX_SEARCHED)]),
    }
    search.found
}

struct Search {
    found: Vec<Pasted>,
    n_values: usize,
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
        let model = Some(traces::model(fields)).filter(|model| !model.is_empty());
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
    /// Searches a text with a command, fenced blocks, JSON or the literals of a program in it.
    fn in_prose(&mut self, text: &str) {
        for (at, _) in text.match_indices("curl ") {
            if let Some(exchange) = curl::command(&text[at..], line_at(text, at)) {
                self.take(exchange, "the curl command".to_owned());
            }
        }
        if !self.found.is_empty() {
            return;
        }
        let (mut from, mut n_tried) = (0, 0);
        while let Some(at) = text[from..].find(['{', '[', '(']).map(|at| from + at) {
            from = at + 1;
            let Some(begin) = Begin::at(text, at) else { continue };
            if n_tried == MAX_TRIED {
                return;
            }
            n_tried += 1;
            if let Some((value, n_bytes)) = begin.read(&text[at..]) {
                let context = Context {
                    address: address_before(&text[..at]),
                    line: Some(line_at(text, at)),
                    ..Context::default()
                };
                let before = self.found.len();
                self.in_value(&value, "", &context, MAX_DEPTH);
                // A call may have a request inside a string.
                if self.found.len() > before || begin != Begin::Call {
                    from = at + n_bytes;
                }
            }
        }
    }

    /// Searches a JSON value. In a text that is JSON, the value at its top is not a request.
    fn in_value(&mut self, value: &Value, pointer: &str, context: &Context, depth: usize) {
        self.n_values += 1;
        if depth == 0 || self.n_values > MAX_VALUES {
            return;
        }
        if (!pointer.is_empty() || context.line.is_some()) && is_request(value) {
            return self.take_value(value, pointer, "", context);
        }
        match value {
            Value::Object(fields) => self.in_object(fields, pointer, &context.inside(fields), depth),
            Value::Array(values) => {
                let messages = traces::of_langchain(value)
                    .or_else(|| traces::of_parts(value))
                    .or_else(|| traces::of_ai_sdk(value));
                if let Some(messages) = messages {
                    let request = traces::request(messages, context.model.as_deref().unwrap_or_default(), "");
                    return self.take_value(&request, pointer, WRITTEN_AGAIN, context);
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
        if let Some(request) = traces::of_span(fields, &attributes) {
            let mut context = context.inside(&attributes);
            if let Some(Value::String(host)) = attributes.get("server.address") {
                context.address.host.clone_from(host);
            }
            return self.take_value(&request, &at, WRITTEN_AGAIN, &context);
        }
        if fields.get("object").and_then(Value::as_str) == Some("list")
            && let Some(items) = fields.get("data").and_then(Value::as_array)
            && is_newest_first(items)
        {
            let items: Vec<Value> = items.iter().rev().cloned().collect();
            return self.take_value(&Value::Array(items), &format!("{pointer}/data"), BACKWARDS, context);
        }
        for (name, value) in fields {
            let name = name.replace('~', "~0").replace('/', "~1");
            self.in_value(value, &format!("{pointer}/{name}"), context, depth - 1);
        }
    }

    fn take_value(&mut self, value: &Value, pointer: &str, how: &str, context: &Context) {
        let own = value.get("model").is_some_and(Value::is_string);
        let exchange = Exchange {
            line: context.line.unwrap_or(1),
            host: context.address.host.clone(),
            path: context.address.path.clone(),
            model: context.model.clone().filter(|_| !own),
            request: value.to_string().into_bytes(),
            ..Exchange::default()
        };
        let place = match (context.line, pointer) {
            (Some(line), "") => format!("line {line}"),
            (Some(line), pointer) => format!("{pointer} of the value in line {line}"),
            (None, "") => "the top".to_owned(),
            (None, pointer) => pointer.to_owned(),
        };
        self.take(exchange, format!("{place}{how}"));
    }

    fn take(&mut self, exchange: Exchange, place: String) {
        if self.found.len() < MAX_FOUND {
            self.found.push(Pasted { exchange, place });
        }
    }
}

/// Added to the place of a request in a form that is not that of a provider.
const WRITTEN_AGAIN: &str = ", and written again as a request";

/// Added to the place of a list that begins with the newest item.
const BACKWARDS: &str = ", read backwards because it begins with the newest item";

/// The kinds of values in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    /// An object or a list.
    Value,
    /// JSON inside a string.
    Quoted,
    /// The named arguments of a call.
    Call,
}

impl Begin {
    /// The kind of value that may begin at a bracket.
    fn at(text: &str, at: usize) -> Option<Begin> {
        let (bracket, rest) = text[at..].split_at(1);
        let rest = rest.trim_start();
        let is_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '\'' | '"');
        match bracket {
            "(" => {
                let is_call = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                let name = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(0);
                let is_named = name > 0 && rest[name..].trim_start().starts_with('=');
                (is_call && (is_named || rest.starts_with("**"))).then_some(Begin::Call)
            }
            _ if rest.starts_with("\\\"") => Some(Begin::Quoted),
            "{" => rest.starts_with(|c| is_name(c) || c == '.' || c == '*').then_some(Begin::Value),
            _ => rest.starts_with(|c| is_name(c) || c == '{' || c == '[').then_some(Begin::Value),
        }
    }

    /// The value at the beginning of a text, and its length.
    fn read(self, text: &str) -> Option<(Value, usize)> {
        match self {
            Begin::Value => {
                let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
                match values.next() {
                    Some(Ok(value)) => Some((value, values.byte_offset())),
                    _ => literal::read(text),
                }
            }
            Begin::Quoted => {
                let mut is_escaped = false;
                let end = text.bytes().position(|byte| {
                    let is_end = byte == b'"' && !is_escaped;
                    is_escaped = byte == b'\\' && !is_escaped;
                    is_end
                })?;
                let inner: String = serde_json::from_str(&format!("\"{}\"", &text[..end])).ok()?;
                Some((serde_json::from_str(&inner).ok()?, end))
            }
            Begin::Call => literal::arguments(text),
        }
    }
}

/// The last address of an API before a place in a text.
fn address_before(text: &str) -> Address {
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_BEFORE))..];
    let mut urls = text.rmatch_indices("://").filter_map(|(at, _)| {
        let rest = &text[at + 3..];
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | '>' | ','));
        let address = Address::of(&format!("https://{}", &rest[..end.unwrap_or(rest.len())]));
        address.api().is_some().then_some(address)
    });
    urls.next().unwrap_or_default()
}

/// The number of bytes before a request that are searched for its address.
const MAX_BEFORE: usize = 2_000;

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

/// Returns whether a value is a request, or a list of messages.
fn is_request(value: &Value) -> bool {
    let is_list = |list: &Value| {
        let items = list.as_array().map_or(&[][..], |items| &items[..]);
        !items.is_empty()
            && items.iter().all(|item| item.get("role").or_else(|| item.get("type")).is_some())
            && items.iter().any(|item| item.get("role").or_else(|| item.get("call_id")).is_some())
            && traces::of_langchain(list).is_none()
            && traces::of_parts(list).is_none()
            && traces::of_ai_sdk(list).is_none()
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

fn line_at(text: &str, at: usize) -> u64 {
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BODY: &str = r#"{"model":"m","messages":[{"role":"user","content":"Hi, it's me."}]}"#;

    fn found(text: &str) -> Vec<(String, String, Value)> {
        let of = |pasted: Pasted| {
            let Pasted { exchange, place } = pasted;
            (place, exchange.host + &exchange.path, serde_json::from_slice(&exchange.request).unwrap())
        };
        pasted(text.as_bytes()).into_iter().map(of).collect()
    }

    fn body() -> Value {
        serde_json::from_str(BODY).unwrap()
    }

    #[test]
    fn a_curl_command_is_read_as_a_shell_reads_it() {
        let address = "api.example.com/v1/messages".to_owned();
        let quoted = BODY.replace('\'', "'\\''");
        let doubled = BODY.replace('"', "\\\"");
        for text in [
            format!("curl https://{address} \\\n  -H 'x-api-key: $KEY' \\\n  -d '{quoted}'"),
            format!("curl -X POST --url https://{address} --data-raw \"{doubled}\" | jq ."),
            format!("$ curl -sS --json '{quoted}' 'https://{address}?beta=true'"),
            format!("Try this:\n\n```sh\ncurl https://{address} --data='{quoted}'\n```\n"),
            format!("curl https://{address} -d $'{}'", BODY.replace('\'', "\\'")),
        ] {
            assert_eq!(found(&text), [("the curl command".to_owned(), address.clone(), body())], "{text}");
        }
        assert_eq!(found("curl https://api.example.com -d @body.json"), []);
        assert_eq!(found("curl 'unclosed"), []);
    }

    #[test]
    fn json_inside_prose_is_found_with_its_line() {
        for (text, line) in [
            (format!("12:00 DEBUG sending request {BODY} attempt=1"), 1),
            (format!("# Bug\n\nIt fails [sometimes]:\n```json\n{BODY}\n```\nWhy?"), 5),
        ] {
            assert_eq!(found(&text), [(format!("line {line}"), String::new(), body())], "{text}");
            assert_eq!(pasted(text.as_bytes())[0].exchange.line, line);
        }
    }

    #[test]
    fn a_request_in_an_export_is_found_at_its_pointer() {
        for (export, pointer, address) in [
            (
                json!({ "request": { "url": "https://a.example/v1/messages", "body": body() } }),
                "/request/body",
                "a.example/v1/messages",
            ),
            (json!({ "request": { "body": BODY } }), "/request/body", ""),
            (json!({ "custom_id": "1", "url": "/v1/messages", "body": body() }), "/body", "/v1/messages"),
            (json!({ "observations": [{ "input": body() }] }), "/observations/0/input", ""),
            (json!([{ "a/b": { "messages": body()["messages"] } }]), "/0/a~1b", ""),
        ] {
            let found = found(&export.to_string());
            assert_eq!(found, [(pointer.to_owned(), address.to_owned(), found[0].2.clone())], "{export}");
        }
    }

    fn chat(found: &str) -> Value {
        serde_json::from_slice(&pasted(found.as_bytes())[0].exchange.request).unwrap()
    }

    #[test]
    fn literals_and_calls_in_a_text_are_read() {
        let python = "import openai\nclient.chat.completions.create(model='gpt-5', messages=[{'role': 'user', 'content': None}], tools=tools)\n";
        assert_eq!(
            found(python),
            [(
                "line 2".to_owned(),
                String::new(),
                json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": null }], "tools": null })
            )]
        );
        for (text, place, address) in [
            (
                "DEBUG Request options: {'method': 'post', 'url': '/chat/completions', 'json_data': {'messages': [{'role': 'user', 'content': 'Hi', }]}}",
                "/json_data of the value in line 1",
                "/chat/completions",
            ),
            (
                "await fetch(\"https://api.openai.com/v1/chat/completions\", { method: 'POST', body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }) })",
                "/body of the value in line 1",
                "api.openai.com/v1/chat/completions",
            ),
            (
                "level=debug body=\"{\\\"messages\\\":[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"Hi\\\"}]}\" n=1",
                "line 1",
                "",
            ),
        ] {
            let messages = json!({ "messages": [{ "role": "user", "content": "Hi" }] });
            assert_eq!(found(text), [(place.to_owned(), address.to_owned(), messages)], "{text}");
        }
    }

    /// A user's message, a call and its result, as OpenAI's body has them.
    fn pair() -> Value {
        json!({ "model": "gpt-5", "messages": [
            { "role": "user", "content": "Rain?" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c", "type": "function", "function": { "name": "w", "arguments": "{}" } }
            ] },
            { "role": "tool", "tool_call_id": "c", "content": "no" },
        ] })
    }

    fn value(name: &str, value: &str) -> Value {
        json!({ "key": name, "value": { "stringValue": value } })
    }

    #[test]
    fn the_messages_of_traces_are_written_as_a_request() {
        let parts = json!([
            { "role": "user", "parts": [{ "type": "text", "content": "Rain?" }] },
            { "role": "assistant", "parts": [{ "type": "tool_call", "id": "c", "name": "w", "arguments": {} }] },
            { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "c", "response": "no" }] },
        ]);
        let model = value("gen_ai.request.model", "gpt-5");
        let langchain = json!([[
            { "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": { "content": "Rain?" } },
            { "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {
                "content": "", "tool_calls": [{ "name": "w", "args": {}, "id": "c", "type": "tool_call" }] } },
            { "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"], "kwargs": {
                "content": "no", "tool_call_id": "c" } },
        ]]);
        let ai_sdk = json!([
            { "role": "user", "content": [{ "type": "text", "text": "Rain?" }] },
            { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c", "toolName": "w", "input": {} }] },
            { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c", "toolName": "w", "output": { "type": "text", "value": "no" } }] },
        ]);
        for export in [
            json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [{ "attributes": [
                model, value("gen_ai.input.messages", &parts.to_string())] }] }] }] }),
            json!({ "attributes": { "gen_ai.request.model": "gpt-5", "gen_ai.input.messages": parts } }),
            json!({ "attributes": [
                model,
                value("gen_ai.prompt.0.role", "user"), value("gen_ai.prompt.0.content", "Rain?"),
                value("gen_ai.prompt.1.role", "assistant"), value("gen_ai.prompt.1.tool_calls.0.id", "c"),
                value("gen_ai.prompt.1.tool_calls.0.name", "w"), value("gen_ai.prompt.1.tool_calls.0.arguments", "{}"),
                value("gen_ai.prompt.2.role", "tool"), value("gen_ai.prompt.2.content", "no"),
                value("gen_ai.prompt.2.tool_call_id", "c"),
            ] }),
            json!({ "attributes": {
                "llm.model_name": "gpt-5",
                "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Rain?",
                "llm.input_messages.1.message.role": "assistant",
                "llm.input_messages.1.message.tool_calls.0.tool_call.id": "c",
                "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "w",
                "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": "{}",
                "llm.input_messages.2.message.role": "tool", "llm.input_messages.2.message.content": "no",
                "llm.input_messages.2.message.tool_call_id": "c",
            } }),
            json!({ "attributes": [model], "events": [
                { "name": "gen_ai.user.message", "attributes": [value("content", "Rain?")] },
                { "name": "gen_ai.assistant.message", "attributes": [value("tool_calls",
                    r#"[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]"#)] },
                { "name": "gen_ai.tool.message", "attributes": [value("id", "c"), value("content", "no")] },
            ] }),
            json!({ "inputs": { "messages": langchain }, "extra": { "metadata": { "ls_model_name": "gpt-5" } } }),
            json!({ "metadata": { "model": "gpt-5" }, "input": ai_sdk }),
        ] {
            let mut request = chat(&export.to_string());
            request.as_object_mut().unwrap().remove("tools");
            assert_eq!(request, pair(), "{export}");
        }
    }

    #[test]
    fn a_list_that_begins_with_the_newest_item_is_read_backwards() {
        let call = json!({ "type": "function_call", "call_id": "c", "name": "w", "arguments": "{}" });
        let output = json!({ "type": "function_call_output", "call_id": "c", "output": "no" });
        let list = |data: Value| json!({ "object": "list", "data": data }).to_string();
        for data in [json!([output, call]), json!([call, output])] {
            assert_eq!(chat(&list(data)), json!([call, output]));
        }
    }

    #[test]
    fn the_model_around_a_request_is_kept() {
        let export = json!({ "metadata": { "model": "gpt-5" }, "input": body()["messages"] }).to_string();
        assert_eq!(pasted(export.as_bytes())[0].exchange.model.as_deref(), Some("gpt-5"));
    }

    #[test]
    fn what_is_no_request_is_not_taken() {
        for text in
            ["", "no JSON", "{", "[[[[", r#"{"messages":[]}"#, r#"{"messages":["a"]}"#, r#"{"input":"Hi"}"#]
        {
            assert_eq!(found(text), [], "{text}");
        }
        for deep in ["[", "{\"a\":", "f(a=", "[{'a':", "{\\\"a\\\":", "\"[\\\""] {
            assert_eq!(found(&deep.repeat(100_000)), [], "{deep}");
        }
        assert_eq!(pasted(b"\xff\xfe{"), []);
    }
}
