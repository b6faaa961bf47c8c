//! Writes a changed JSON value back into its text. Unchanged values keep their bytes.

use brickbat_rules::json::{Document, Json, JsonType};
use serde_json::Value;

/// The text of a JSON value after a change. `None` if the text is not JSON.
pub(super) fn rewritten(text: &[u8], new: &Value) -> Option<Vec<u8>> {
    let document = Document::parse(text).ok()?;
    let root = document.root();
    let mut writer = Writer { text, out: text[..root.span().start].to_vec() };
    writer.value(root, new);
    writer.out.extend_from_slice(&text[root.span().end..]);
    Some(writer.out)
}

struct Writer<'t> {
    text: &'t [u8],
    out: Vec<u8>,
}

impl<'t> Writer<'t> {
    fn value(&mut self, old: Json<'_, 't>, new: &Value) {
        match (old.kind(), new) {
            _ if old.to_value() == *new => self.out.extend_from_slice(&self.text[old.span()]),
            (JsonType::Array, Value::Array(items)) => self.list(old, items),
            (JsonType::Object, Value::Object(_)) => self.object(old, new),
            _ => self.out.extend(new.to_string().into_bytes()),
        }
    }

    fn list(&mut self, old: Json<'_, 't>, new: &[Value]) {
        let items: Vec<Json<'_, 't>> = old.items().collect();
        let values: Vec<Value> = items.iter().map(|item| item.to_value()).collect();
        let mut next = 0;
        self.out.push(b'[');
        for (k, value) in new.iter().enumerate() {
            if k > 0 {
                self.out.push(b',');
            }
            let same = values.iter().skip(next).position(|old| old == value).map(|at| next + at);
            // With as many items as before, each has its own place.
            let own = same.or_else(|| (values.len() == new.len()).then_some(k));
            self.space(
                &items,
                own.unwrap_or_else(|| next.min(items.len().saturating_sub(1))),
                old.span().start + 1,
            );
            match own {
                Some(at) => self.value(items[at], value),
                None => self.out.extend(value.to_string().into_bytes()),
            }
            next = same.map_or(next, |at| at + 1);
        }
        self.end(items.last().map(|item| item.span().end), old);
    }

    fn object(&mut self, old: Json<'_, 't>, new: &Value) {
        let fields: Vec<(Json<'_, 't>, Json<'_, 't>)> = old.fields().collect();
        let names: Vec<Json<'_, 't>> = fields.iter().map(|(name, _)| *name).collect();
        let ends: Vec<usize> = fields.iter().map(|(_, value)| value.span().end).collect();
        self.out.push(b'{');
        for (n_written, (name, value)) in new.as_object().into_iter().flatten().enumerate() {
            if n_written > 0 {
                self.out.push(b',');
            }
            let at = names.iter().position(|own| own.is(name));
            let nearest = at.unwrap_or(0);
            let start = if nearest == 0 { old.span().start + 1 } else { ends[nearest - 1] };
            let until = names.get(nearest).map_or(start, |name| name.span().start);
            self.white(start..until);
            match at.map(|at| fields[at]) {
                Some((own_name, own)) => {
                    self.out.extend_from_slice(&self.text[own_name.span().start..own.span().start]);
                    self.value(own, value);
                }
                None => self.out.extend(format!("{}: {value}", Value::from(name.as_str())).into_bytes()),
            }
        }
        self.end(ends.last().copied(), old);
    }

    /// The white space before an item.
    fn space(&mut self, items: &[Json<'_, 't>], at: usize, first: usize) {
        let start =
            at.checked_sub(1).and_then(|before| items.get(before)).map_or(first, |item| item.span().end);
        let until = items.get(at).map_or(start, |item| item.span().start);
        self.white(start..until);
    }

    fn white(&mut self, range: std::ops::Range<usize>) {
        self.out.extend(self.text[range].iter().filter(|byte| byte.is_ascii_whitespace()));
    }

    fn end(&mut self, last: Option<usize>, old: Json<'_, 't>) {
        let end = old.span().end - 1;
        self.white(last.unwrap_or(end).min(end)..end);
        self.out.push(self.text[end]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_unchanged_keeps_its_bytes() {
        let text = "{ \"a\": [1.50, { \"b\" : 2 } ],\n  \"c\":\"\\u00e9\" }\n";
        for (new, expected) in [
            (
                json!({ "a": [1.5, { "b": 3 }], "c": "é" }),
                "{ \"a\": [1.50, { \"b\" : 3 } ],\n  \"c\":\"\\u00e9\" }\n",
            ),
            (json!({ "a": [{ "b": 2 }], "c": "é" }), "{ \"a\": [ { \"b\" : 2 } ],\n  \"c\":\"\\u00e9\" }\n"),
            (json!({ "c": "é" }), "{\n  \"c\":\"\\u00e9\" }\n"),
            (json!({ "a": [], "c": "é", "d": 1 }), "{ \"a\": [ ],\n  \"c\":\"\\u00e9\", \"d\": 1 }\n"),
        ] {
            assert_eq!(String::from_utf8_lossy(&rewritten(text.as_bytes(), &new).unwrap()), expected);
        }
        assert_eq!(rewritten(b"{", &json!({})), None);
    }
}
