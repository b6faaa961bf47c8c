//! Requests inside the texts that people have: a curl command, a page of Markdown, a line of a log, or an export of
//! another tool.

use serde_json::Value;

use super::Exchange;
use crate::{Address, Dialect};

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
const ADDRESSES: [&str; 4] = ["url", "uri", "endpoint", "requestUrl"];

/// Returns the requests inside a text that is not itself one.
pub fn pasted(text: &[u8]) -> Vec<Pasted> {
    let mut search = Search { found: Vec::new(), n_values: 0 };
    let Ok(text) = std::str::from_utf8(text) else { return search.found };
    match serde_json::from_str(text) {
        Ok(value) => search.in_value(&value, "", &Address::default(), MAX_DEPTH),
        Err(_) => search.in_prose(&text[..text.floor_char_boundary(MAX_SEARCHED)]),
    }
    search.found
}

struct Search {
    found: Vec<Pasted>,
    n_values: usize,
}

impl Search {
    /// Searches a text with a command, fenced blocks or JSON in it.
    fn in_prose(&mut self, text: &str) {
        for (at, _) in text.match_indices("curl ") {
            if let Some(exchange) = command(&text[at..], line_at(text, at)) {
                self.take(exchange, "the curl command".to_owned());
            }
        }
        if !self.found.is_empty() {
            return;
        }
        let (mut from, mut n_tried) = (0, 0);
        while let Some(at) = text[from..].find(['{', '[']).map(|at| from + at) {
            from = at + 1;
            let begins_json = text[from..].trim_start().starts_with(['"', '{', '[']);
            if !begins_json || n_tried == MAX_TRIED {
                continue;
            }
            n_tried += 1;
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                let line = line_at(text, at);
                let before = self.found.len();
                if is_request(&value) {
                    let exchange =
                        Exchange { line, request: value.to_string().into_bytes(), ..Exchange::default() };
                    self.take(exchange, format!("line {line}"));
                } else {
                    self.in_value(&value, "", &Address::default(), MAX_DEPTH);
                }
                for pasted in &mut self.found[before..] {
                    pasted.exchange.line = line;
                }
                from = at + values.byte_offset();
            }
        }
    }

    /// Searches a JSON value, except the value at its top. `address` is what the values around it name.
    fn in_value(&mut self, value: &Value, pointer: &str, address: &Address, depth: usize) {
        self.n_values += 1;
        if depth == 0 || self.n_values > MAX_VALUES {
            return;
        }
        if !pointer.is_empty() && is_request(value) {
            let exchange = Exchange {
                line: 1,
                host: address.host.clone(),
                path: address.path.clone(),
                request: value.to_string().into_bytes(),
                ..Exchange::default()
            };
            return self.take(exchange, pointer.to_owned());
        }
        match value {
            Value::Object(fields) => {
                let named = ADDRESSES.iter().find_map(|name| fields.get(*name)?.as_str());
                let address = named.map_or_else(|| address.clone(), Address::of);
                for (name, value) in fields {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    self.in_value(value, &format!("{pointer}/{name}"), &address, depth - 1);
                }
            }
            Value::Array(values) => {
                for (k, value) in values.iter().enumerate() {
                    self.in_value(value, &format!("{pointer}/{k}"), address, depth - 1);
                }
            }
            // Loggers write bodies as strings.
            Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                if let Ok(value) = serde_json::from_str::<Value>(text)
                    && (value.is_object() || value.is_array())
                {
                    self.in_value(&value, pointer, address, depth - 1);
                }
            }
            Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn take(&mut self, exchange: Exchange, place: String) {
        if self.found.len() < MAX_FOUND {
            self.found.push(Pasted { exchange, place });
        }
    }
}

/// Returns whether a value is a request, or a list of messages.
fn is_request(value: &Value) -> bool {
    let is_list = |list: &Value| {
        let items = list.as_array().map_or(&[][..], |items| &items[..]);
        !items.is_empty()
            && items.iter().all(|item| item.get("role").or_else(|| item.get("type")).is_some())
            && items.iter().any(|item| item.get("role").is_some())
    };
    let has_list = |dialect: Dialect| value.get(dialect.definition().list).is_some_and(is_list);
    is_list(value) || Dialect::ALL.into_iter().any(has_list)
}

/// The request of a curl command at the beginning of a text.
fn command(text: &str, line: u64) -> Option<Exchange> {
    let words = shell_words(text);
    let (mut url, mut body) = (None, None);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (word.as_str(), None),
        };
        match option {
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-ascii" | "--json" => {
                body = joined.map(str::to_owned).or_else(|| words.next().cloned());
            }
            "--url" => url = joined.map(str::to_owned).or_else(|| words.next().cloned()),
            // Options with a value that could look like a URL.
            "-H" | "--header" | "-X" | "--request" | "-A" | "-e" | "-u" | "-o" | "-x" | "--proxy"
                if joined.is_none() =>
            {
                words.next();
            }
            _ if word.starts_with("http://") || word.starts_with("https://") => url = Some(word.clone()),
            _ => {}
        }
    }
    let body = body?;
    let begins_json = body.trim_start().starts_with(['{', '[']);
    let exchange = Exchange { line, request: body.into_bytes(), ..Exchange::at(&url.unwrap_or_default()) };
    begins_json.then_some(exchange)
}

/// The words of a command, as a POSIX shell reads them, up to the end of the command
/// (<https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02>). Variables stay as they are.
fn shell_words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                // The command continues in the next line.
                Some('\n') | None => {}
                Some('\r') => drop(chars.next_if_eq(&'\n')),
                Some(c) => word.get_or_insert_default().push(c),
            },
            '\'' => {
                // `$'…'` also has escapes.
                let has_escapes = word.as_deref().is_some_and(|word| word.ends_with('$'));
                let word = word.get_or_insert_default();
                if has_escapes {
                    word.pop();
                }
                while let Some(c) = chars.next().filter(|c| *c != '\'') {
                    match (c, has_escapes) {
                        ('\\', true) => word.extend(chars.next().map(|c| if c == 'n' { '\n' } else { c })),
                        _ => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    match c {
                        '\\' => match chars.next() {
                            Some('\n') | None => {}
                            Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                            Some(c) => word.extend(['\\', c]),
                        },
                        _ => word.push(c),
                    }
                }
            }
            '\n' | ';' | '|' | '&' => break,
            _ if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
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
                json!({ "request": { "url": "https://a.example/v1/x", "body": body() } }),
                "/request/body",
                "a.example/v1/x",
            ),
            (json!({ "request": { "body": BODY } }), "/request/body", ""),
            (json!({ "custom_id": "1", "url": "/v1/x", "body": body() }), "/body", "/v1/x"),
            (json!({ "observations": [{ "input": body() }] }), "/observations/0/input", ""),
            (json!([{ "a/b": { "messages": body()["messages"] } }]), "/0/a~1b", ""),
        ] {
            let found = found(&export.to_string());
            assert_eq!(found, [(pointer.to_owned(), address.to_owned(), found[0].2.clone())], "{export}");
        }
    }

    #[test]
    fn what_is_no_request_is_not_taken() {
        for text in
            ["", "no JSON", "{", "[[[[", r#"{"messages":[]}"#, r#"{"messages":["a"]}"#, r#"{"input":"Hi"}"#]
        {
            assert_eq!(found(text), [], "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(found(&deep), []);
        assert_eq!(pasted(b"\xff\xfe{"), []);
    }
}
