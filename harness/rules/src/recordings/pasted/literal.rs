//! Reads the objects and lists that programs in Python, JavaScript, Ruby, PHP and Elixir write or print.
//!
//! People paste a dictionary from a debugger, the arguments of a call from their source, or a printed SDK object. The
//! syntax is that of the languages together: single quotes, `None`, keys without quotes, commas before a closing
//! bracket, comments, `=>`, symbols, and calls. The named arguments of a call become the fields of an object. A value
//! that only the program knows becomes [`UNKNOWN`].

use serde_json::{Map, Value};

use super::classes;
use crate::recordings::left_out::UNKNOWN;

/// The maximum depth, as for JSON.
const MAX_DEPTH: usize = 128;

/// Reads the value at the beginning of a text. Returns it with the number of bytes read; `None` if the text begins with
/// something else, or leaves parts of the value out.
pub(super) fn read(text: &str) -> Option<(Value, usize)> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(MAX_DEPTH)?;
    Some((value, reader.at))
}

/// Reads the arguments of a call of this class or function, from the opening parenthesis on.
pub(super) fn arguments(text: &str, class: &str) -> Option<(Value, usize)> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.call(class, MAX_DEPTH)?;
    Some((value, reader.at))
}

/// Reads the fields of an object of this class, from the opening brace on.
pub(super) fn printed(text: &str, class: &str) -> Option<(Value, usize)> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.printed(class, MAX_DEPTH)?;
    Some((value, reader.at))
}

/// Reads an object as Ruby prints it, from the `<` behind its `#` on.
pub(super) fn inspected(text: &str) -> Option<(Value, usize)> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.inspected(MAX_DEPTH)?;
    Some((value, reader.at))
}

/// Reads the items of PHP's `array(…)`, from the opening parenthesis on.
pub(super) fn array(text: &str) -> Option<(Value, usize)> {
    let mut reader = Reader { text, at: 1 };
    let value = reader.list(')', MAX_DEPTH)?.0;
    Some((value, reader.at))
}

/// Returns where the reader stops in a text that [`read`] or [`arguments`] cannot read.
pub(super) fn stop(text: &str) -> usize {
    let mut reader = Reader { text, at: 0 };
    let _ = if text.starts_with('(') { reader.call("", MAX_DEPTH) } else { reader.value(MAX_DEPTH) };
    reader.at
}

/// Returns the length of the value at the beginning of a text by its brackets, which may be read or not. `None` if it has
/// no end.
pub(super) fn extent(text: &str) -> Option<usize> {
    if !text.starts_with(['{', '[', '(']) {
        return None;
    }
    let (mut depth, mut quote, mut before) = (0_usize, None, ' ');
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let is_apostrophe = c == '\'' && before.is_alphanumeric();
        before = c;
        match (quote, c) {
            (Some(_), '\\') => drop(chars.next()),
            (Some(open), c) if c == open => quote = None,
            (None, _) if is_apostrophe => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '{' | '[' | '(') => depth += 1,
            (None, '}' | ']' | ')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a text begins with the mark that Node.js prints in place of a value that is too deep
/// (<https://nodejs.org/api/util.html#utilinspectobject-options>).
pub(super) fn is_elision(text: &str) -> bool {
    ["[Array]", "[Object]", "[Function:", "[Function ", "[Circular", "[Getter"]
        .iter()
        .any(|mark| text.starts_with(mark))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Goes past a text, if it is next.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    /// Goes past white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let is_comment = trimmed.starts_with('#') && !trimmed.starts_with("#<");
            let n_bytes = if trimmed.starts_with("//") || is_comment {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += n_bytes;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.skip();
        match self.peek()? {
            '{' => self.object(depth),
            '[' if is_elision(&self.text[self.at..]) => None,
            '[' => {
                self.next();
                Some(self.list(']', depth)?.0)
            }
            '(' => {
                self.next();
                match self.list(')', depth)? {
                    // One value in parentheses is that value.
                    (Value::Array(mut items), false) if items.len() == 1 => items.pop(),
                    (value, _) => Some(value),
                }
            }
            // A map of Elixir's, with or without the name of a struct.
            '%' => {
                self.next();
                let name = self.name();
                if self.peek()? == '{' { self.printed(name, depth) } else { None }
            }
            // An object as Ruby prints it.
            '#' => self.inspected(depth),
            // A symbol of Ruby's or Elixir's.
            ':' => {
                self.next();
                self.symbol()
            }
            '\'' | '"' | '`' => self.strings(),
            // The representation of an object without a literal, or of a member of an enumeration: `<Role.USER: 'user'>`.
            '<' => {
                let end = self.rest().find('>')?;
                let inner = &self.rest()[1..end];
                self.at += end + 1;
                let member = inner.split_once(": '").and_then(|(_, rest)| rest.strip_suffix('\''));
                Some(member.map_or_else(unknown, |member| Value::String(member.to_owned())))
            }
            c if c.is_ascii_digit() || c == '-' || c == '+' => self.number(),
            c if is_of_name(c) => self.named(depth),
            _ => None,
        }
    }

    /// The values up to a closing bracket, and whether a comma comes before it. PHP's lists may have keys.
    fn list(&mut self, close: char, depth: usize) -> Option<(Value, bool)> {
        let (mut items, mut fields, mut ends_with_comma) = (Vec::new(), Map::new(), false);
        loop {
            self.skip();
            if self.peek()? == close {
                self.next();
                let list = if fields.is_empty() { Value::Array(items) } else { Value::Object(fields) };
                return Some((list, ends_with_comma));
            }
            let is_first = items.is_empty() && fields.is_empty();
            if !is_first && !ends_with_comma {
                return None;
            }
            // The items of another list come in here.
            let is_spread = self.take("*") || self.take("...");
            if is_spread && !self.peek().is_some_and(is_of_name) {
                return None;
            }
            let item = self.value(depth)?;
            let item = if is_spread { unknown() } else { item };
            self.skip();
            match (self.take("=>"), item) {
                (true, Value::String(key)) => drop(fields.insert(key, self.value(depth)?)),
                (true, _) => items.push(self.value(depth)?),
                (false, item) => items.push(item),
            }
            self.skip();
            ends_with_comma = self.take(",");
        }
    }

    /// The name after the colon of a symbol.
    fn symbol(&mut self) -> Option<Value> {
        match self.peek()? {
            '"' | '\'' => self.strings(),
            c if is_of_name(c) => Some(Value::String(self.name().to_owned())),
            _ => None,
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.next();
        let mut fields = Map::new();
        loop {
            self.skip();
            match self.peek()? {
                '}' => {
                    self.next();
                    return Some(Value::Object(fields));
                }
                // The fields of another object come in here, or some were left out.
                '.' | '…' | '*' => {
                    self.at += self.rest().find(|c: char| !matches!(c, '.' | '…' | '*'))?;
                    self.skip();
                    if !matches!(self.peek()?, ',' | '}') {
                        self.value(depth)?;
                    }
                    fields.insert(UNKNOWN.to_owned(), unknown());
                }
                c => {
                    let key = match c {
                        '\'' | '"' | '`' => self.strings()?.as_str()?.to_owned(),
                        ':' => {
                            self.next();
                            self.symbol()?.as_str()?.to_owned()
                        }
                        _ if is_of_name(c) => self.name().to_owned(),
                        _ => return None,
                    };
                    self.skip();
                    let is_short = matches!(self.peek()?, ',' | '}');
                    if !is_short && !self.take(":") && !self.take("=>") {
                        return None;
                    }
                    let value = if is_short { unknown() } else { self.value(depth)? };
                    fields.insert(key, value);
                }
            }
            self.skip();
            if !self.take(",") && self.peek()? != '}' {
                return None;
            }
        }
    }

    /// The fields of an object behind the name of its class.
    fn printed(&mut self, class: &str, depth: usize) -> Option<Value> {
        match self.object(depth)? {
            Value::Object(fields) => Some(classes::object(class, fields, Vec::new())),
            value => Some(value),
        }
    }

    /// An object as Ruby prints it: `#<Class:0x1f @name=value, …>`, or `#<struct Class name=value>`.
    fn inspected(&mut self, depth: usize) -> Option<Value> {
        self.take("#");
        if !self.take("<") {
            return None;
        }
        self.take("struct ");
        let class = self.name();
        if self.take(":0x") {
            self.name();
        }
        let mut fields = Map::new();
        loop {
            self.skip();
            if self.take(">") {
                return Some(classes::object(class, fields, Vec::new()));
            }
            self.take("@");
            let name = self.name();
            if name.is_empty() || !self.take("=") {
                return None;
            }
            let value = self.value(depth)?;
            fields.insert(name.to_owned(), value);
            self.skip();
            if !self.take(",") && self.peek()? != '>' {
                return None;
            }
        }
    }

    /// A name, and the call or the string that it begins.
    fn named(&mut self, depth: usize) -> Option<Value> {
        let name = self.name();
        if name == "new" || name == "await" {
            return self.value(depth);
        }
        match (self.peek(), name) {
            (_, "True" | "true") => Some(Value::Bool(true)),
            (_, "False" | "false") => Some(Value::Bool(false)),
            (Some('\'' | '"'), _) if name.len() <= 2 => {
                self.at -= name.len();
                self.strings()
            }
            (Some('('), "array") => {
                self.next();
                Some(self.list(')', depth)?.0)
            }
            (Some('('), _) => {
                let value = self.call(name, depth)?;
                match self.peek() {
                    // A part of what the call returns.
                    Some('.' | '[') => {
                        while let Some('.' | '[' | '(') = self.peek() {
                            if self.name().is_empty() {
                                self.value(depth)?;
                            }
                        }
                        Some(unknown())
                    }
                    _ => Some(value),
                }
            }
            (_, "None" | "null" | "undefined" | "nil" | "NULL" | "Null" | "nullptr" | "NaN") => {
                Some(Value::Null)
            }
            // An object as Node.js prints it.
            (Some(' '), name) if is_class(name) && self.rest().trim_start().starts_with('{') => {
                self.skip();
                self.printed(name, depth)
            }
            // A variable, and what a program takes from it.
            _ => {
                while let Some('[' | '(') = self.peek() {
                    self.value(depth)?;
                    self.name();
                }
                Some(unknown())
            }
        }
    }

    /// A name, with those of the modules or objects before it.
    fn name(&mut self) -> &'t str {
        let rest = self.rest();
        let is_end = |c: char| !is_of_name(c) && c != '.';
        let mut end = rest.find(is_end).unwrap_or(rest.len());
        while end > 0 && rest[end..].starts_with("::") {
            let after = &rest[end + 2..];
            end += 2 + after.find(is_end).unwrap_or(after.len());
        }
        self.at += end;
        &rest[..end]
    }

    /// The arguments of a call, as [`classes::object`] gives them.
    fn call(&mut self, class: &str, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.next();
        let (mut named, mut positional) = (Map::new(), Vec::new());
        loop {
            self.skip();
            if self.take(")") {
                return Some(classes::object(class, named, positional));
            }
            if self.take("**") || self.take("...") {
                self.value(depth)?;
                named.insert(UNKNOWN.to_owned(), unknown());
            } else {
                let before = self.at;
                let name = self.name();
                self.skip();
                if !name.is_empty() && is_of_argument(self.rest()) {
                    self.next();
                    let value = self.value(depth)?;
                    named.insert(name.to_owned(), value);
                } else {
                    self.at = before;
                    let value = self.value(depth)?;
                    positional.push(value);
                }
            }
            self.skip();
            if !self.take(",") && self.peek()? != ')' {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let is_of_number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
        let end = rest.find(|c: char| !is_of_number(c)).unwrap_or(rest.len());
        self.at += end;
        let digits = rest[..end].replace('_', "");
        serde_json::from_str(digits.trim_start_matches('+')).ok()
    }

    /// A string, joined with those directly after it, as Python does.
    fn strings(&mut self) -> Option<Value> {
        let mut joined = self.string()?;
        loop {
            let before = self.at;
            self.skip();
            self.take("+");
            self.skip();
            match self.peek() {
                Some('\'' | '"') => joined.push_str(&self.string()?),
                _ => {
                    self.at = before;
                    return Some(Value::String(joined));
                }
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let prefix = self.name().to_ascii_lowercase();
        let quote = self.peek()?;
        let triple = quote.to_string().repeat(3);
        let end = if self.take(&triple) {
            triple
        } else {
            self.next();
            quote.to_string()
        };
        let mut text = Vec::new();
        while !self.take(&end) {
            match self.next()? {
                '\\' if !prefix.contains('r') => self.escape(&mut text, prefix.contains('b'))?,
                c => text.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    fn escape(&mut self, text: &mut Vec<u8>, is_bytes: bool) -> Option<()> {
        let c = match self.next()? {
            '\n' => return Some(()),
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' => '\0',
            'x' if is_bytes => {
                text.push(u8::try_from(self.hex(2)?).ok()?);
                return Some(());
            }
            'x' => char::from_u32(self.hex(2)?)?,
            'u' if self.take("{") => {
                let n_digits = self.rest().find('}')?;
                let c = char::from_u32(self.hex(n_digits)?)?;
                self.next();
                c
            }
            'u' => match self.hex(4)? {
                high @ 0xD800..0xDC00 if self.take("\\u") => {
                    let low = self.hex(4)?.checked_sub(0xDC00)?;
                    char::from_u32(0x10000 + ((high - 0xD800) << 10) + low)?
                }
                code => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
            },
            'U' => char::from_u32(self.hex(8)?)?,
            c @ ('\\' | '\'' | '"' | '`' | '/') => c,
            c => {
                text.push(b'\\');
                c
            }
        };
        text.extend(c.encode_utf8(&mut [0; 4]).bytes());
        Some(())
    }

    fn hex(&mut self, n_digits: usize) -> Option<u32> {
        let digits = self.rest().get(..n_digits)?;
        self.at += n_digits;
        u32::from_str_radix(digits, 16).ok()
    }
}

/// Returns whether the name of an argument ends before a text.
fn is_of_argument(rest: &str) -> bool {
    let begins = |mark: &str, others: &[&str]| {
        rest.starts_with(mark) && !others.iter().any(|other| rest.starts_with(other))
    };
    begins("=", &["==", "=>"]) || begins(":", &["::"])
}

/// Returns whether a name is that of a class.
fn is_class(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_uppercase()))
}

pub(super) fn unknown() -> Value {
    Value::String(UNKNOWN.to_owned())
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literals_of_both_languages_are_read() {
        for (text, value) in [
            ("{'a': None, 'b': [True, False,], }", json!({ "a": null, "b": [true, false] })),
            (
                "{a: undefined, \"b\": `x`, c, ...rest, // why\n}",
                json!({ "a": null, "b": "x", "c": UNKNOWN, UNKNOWN: UNKNOWN }),
            ),
            (
                "{'a': call.id, 'b': get().x[0], 'c': xs[1].y, **rest, 'd': f(g()), e: null}",
                json!({ "a": UNKNOWN, "b": UNKNOWN, "c": UNKNOWN, UNKNOWN: UNKNOWN, "d": UNKNOWN, "e": null }),
            ),
            ("[*xs, 1, ...ys()]", json!([UNKNOWN, 1, UNKNOWN])),
            ("{..., \"id\": \"x\"}", json!({ UNKNOWN: UNKNOWN, "id": "x" })),
            (
                "{'a': 'it\\'s', \"b\": b'\\xc3\\xa9', 'c': r'\\d'}",
                json!({ "a": "it's", "b": "é", "c": "\\d" }),
            ),
            ("{'a': ('b' 'c'), 'd': (1,), 'e': -1.5e3}", json!({ "a": "bc", "d": [1], "e": -1500.0 })),
            (
                "Message(role='assistant', calls=[Call(id='c', function=Function(name='w'))], at=datetime(2026, 1, 2))",
                json!({ "role": "assistant", "calls": [{ "id": "c", "function": { "name": "w" } }], "at": 2026 }),
            ),
            (
                "{ body: JSON.stringify({ x: 1 }, null, 2), o: <object at 0x7f> }",
                json!({ "body": { "x": 1 }, "o": UNKNOWN }),
            ),
            ("'\\u00e9\\ud83d\\ude00\\u{e9}' rest", json!("é😀é")),
            ("'''two\nlines'''", json!("two\nlines")),
            (
                "%{\"a\" => [%{role: :user, b: nil}], c: %Some.Struct{d: 1}}",
                json!({ "a": [{ "role": "user", "b": null }], "c": { "d": 1 } }),
            ),
            ("{:a=>\"x\", \"b\"=>[:c, nil], d: :\"e f\"}", json!({ "a": "x", "b": ["c", null], "d": "e f" })),
            (
                "[ 'a' => 'x', 'b' => ['c', null,], 'd' => array('e' => true, 0 => 1) ]",
                json!({ "a": "x", "b": ["c", null], "d": { "e": true } }),
            ),
            ("array(0 => array('a' => 1), 1 => [2])", json!([{ "a": 1 }, [2]])),
        ] {
            assert_eq!(read(text).map(|(value, _)| value), Some(value), "{text}");
        }
        assert_eq!(
            arguments("(model='m', n=1) # call", "create").unwrap(),
            (json!({ "model": "m", "n": 1 }), 16)
        );
    }

    #[test]
    fn what_is_left_out_or_cut_is_not_read() {
        for text in ["", "{'a': ...}", "[1, 2", "{'a'", "{'a' 1}", "[...]", "'open", "['a' b]", "\\"] {
            assert_eq!(read(text), None, "{text}");
        }
        for text in ["[".repeat(10_000), "f(".repeat(10_000), "{a:".repeat(10_000), "((".repeat(10_000)] {
            assert_eq!(read(&text), None);
        }
    }
}
