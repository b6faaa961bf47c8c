//! Disagreements as vectors, without the words of the people who recorded them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::table::{Disagreement, Table};
use super::{Agreement, Comparison, Exchange, compare};
use crate::Profile;
use crate::lint::{Expectation, Vector, VectorFile};
use crate::recordings::CompareOptions;

/// The disagreements of a table as files of vectors.
#[derive(Debug, Clone, Default)]
pub struct Promoted {
    /// The files by their paths below the folder of vectors, such as `openai-chat/recorded-refused.json`.
    pub files: BTreeMap<String, VectorFile>,
    /// The number of causes that are left out: the body is too large or is not JSON, or gets another verdict without its
    /// words.
    pub n_left_out: usize,
}

impl Table {
    /// Returns a vector for each cause with a disagreement, if the table keeps requests.
    ///
    /// Letters and digits of texts are replaced by `x` and `0`. Names of tools, ids, types and roles stay. Accepted requests are
    /// in `recorded-accepted.json`. Refused ones are in `recorded-refused.json`: those vectors name no rule, because it does not
    /// exist yet.
    pub fn promoted(&self) -> Promoted {
        let mut promoted = Promoted::default();
        for (n, disagreement) in self.disagreements().iter().enumerate() {
            match disagreement.promoted(n + 1) {
                Some((path, vector)) => {
                    promoted.files.entry(path).or_insert_with(file).vectors.push(vector);
                }
                None => promoted.n_left_out += 1,
            }
        }
        promoted
    }
}

fn file() -> VectorFile {
    VectorFile {
        schema: 1,
        comment: "Disagreements between the rules and recorded replies.".to_owned(),
        rule: None,
        source: "recorded".to_owned(),
        vectors: Vec::new(),
    }
}

impl Disagreement {
    fn promoted(&self, n: usize) -> Option<(String, Vector)> {
        let Disagreement { profile, exchange, agreement, .. } = self;
        let profile = Profile::named(profile)?;
        let mut request: Value = serde_json::from_slice(&exchange.request).ok()?;
        plain(&mut request, "", false);
        let without_words = Exchange { request: serde_json::to_vec(&request).ok()?, ..exchange.clone() };
        let options = CompareOptions { dialect: Some(profile.dialect), profile: Some(profile) };
        let Comparison::Judged(_, again) = compare(&without_words, &options) else { return None };
        let (name, result) = match (agreement, again) {
            (Agreement::TooStrict { rule, .. }, Agreement::TooStrict { rule: still, .. })
                if *rule == still =>
            {
                let name = rule.split_once('/').map_or(*rule, |(_, name)| name);
                (format!("recorded-{n}-{}", name.replace('/', "-")), Expectation::Valid)
            }
            (Agreement::TooLax, Agreement::TooLax) => (format!("recorded-{n}"), Expectation::Invalid),
            _ => return None,
        };
        let kind = if result == Expectation::Valid { "accepted" } else { "refused" };
        let model = exchange.model().unwrap_or(Cow::Borrowed("a model that is not named"));
        let vector = Vector {
            name,
            comment: format!(
                "{} {kind} it ({model}, status {}, recorded {} times).",
                exchange.host, exchange.status, self.n
            ),
            flags: Default::default(),
            source: None,
            profile: Some(profile.name.to_owned()),
            earlier: None,
            padded: None,
            request: Some(request),
            body: None,
            result,
            violated: Default::default(),
            error: (result == Expectation::Invalid).then(|| exchange.error.clone()),
        };
        Some((format!("{}/recorded-{kind}.json", profile.dialect.name()), vector))
    }
}

/// Replaces the words in a value. `is_free` is true inside arguments and results: the application has defined their fields.
fn plain(value: &mut Value, key: &str, is_free: bool) {
    match value {
        Value::String(text) if is_free || !is_structural(key, text) => *text = without_words(text),
        Value::Array(items) => items.iter_mut().for_each(|item| plain(item, key, is_free)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| {
            plain(field, name, is_free || FREE.contains(&name.as_str()) && field.is_object());
        }),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Objects with fields that the application defines.
const FREE: [&str; 5] = ["input", "args", "arguments", "response", "metadata"];

/// Fields with names and not words, which decide about the verdict.
const STRUCTURAL: [&str; 8] = ["type", "role", "id", "name", "model", "status", "mime_type", "mimeType"];

/// Fields that hold words, also a single one.
const WORDS: [&str; 8] =
    ["text", "content", "thinking", "output", "input", "arguments", "description", "title"];

fn is_structural(key: &str, text: &str) -> bool {
    let is_id =
        key.ends_with("_id") || key.ends_with("Id") || key.ends_with("_type") || key.ends_with("Type");
    let is_name = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    STRUCTURAL.contains(&key)
        || is_id
        || !WORDS.contains(&key) && text.len() <= MAX_NAME && text.bytes().all(is_name)
}

/// The longest value, in bytes, of a field that a table of values may belong to, such as an effort.
const MAX_NAME: usize = 32;

/// The same text with `x` for letters and `0` for digits. JSON in a text stays JSON.
fn without_words(text: &str) -> String {
    if let Ok(mut value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
        plain(&mut value, "", true);
        return value.to_string();
    }
    let letter = |c: char| match c {
        c if c.is_numeric() => '0',
        c if c.is_alphabetic() => 'x',
        c => c,
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recordings::row;

    const LAX: &str = r#"{"host":"api.anthropic.com","model":"claude-opus-4-5","status":400,"error":"messages: Alice is not allowed","request":{"model":"claude-opus-4-5","max_tokens":9,"messages":[{"role":"user","content":"Call Alice at 0171"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"dial","input":{"who":"alice"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"{\"number\":\"0171\"}"}]}]}}"#;

    fn table(rows: &[&str]) -> Table {
        let mut table = Table::keeping_requests();
        for (n, text) in rows.iter().enumerate() {
            let exchange = row(text.as_bytes(), n as u64 + 1).unwrap();
            let compared = compare(&exchange, &CompareOptions::default());
            table.add("rows.jsonl", &exchange, compared);
        }
        table
    }

    #[test]
    fn a_refused_request_becomes_a_vector_without_its_words() {
        let promoted = table(&[LAX, LAX]).promoted();
        assert_eq!(promoted.n_left_out, 0);
        let file = &promoted.files["anthropic-messages/recorded-refused.json"];
        let [vector] = &file.vectors[..] else { panic!("{file:?}") };
        let text = vector.request.as_ref().unwrap().to_string();
        for private in ["Alice", "alice", "0171"] {
            assert!(!text.contains(private), "{text}");
        }
        for kept in ["toolu_1", "dial", "claude-opus-4-5", "{\\\"number\\\":\\\"0000\\\"}"] {
            assert_eq!(text.contains(kept), kept != "{kept}: {text}");
        }
        assert!(vector.comment.contains("status 400, recorded 2 times)."), "{}", vector.comment);
        assert_eq!(VectorFile::read(&file.to_text()).unwrap().vectors.len(), 1);
    }

    #[test]
    fn an_accepted_request_that_the_rules_refuse_becomes_a_valid_vector() {
        let strict = LAX
            .replace("\"status\":400", "\"status\":200")
            .replace("toolu_1\",\"content", "toolu_2\",\"content");
        let promoted = table(&[&strict]).promoted();
        let file = &promoted.files["anthropic-messages/recorded-accepted.json"];
        assert_eq!(file.vectors[0].result, Expectation::Valid, "{file:?}");
        assert!(file.vectors[0].name.starts_with("recorded-1-tool-"), "{file:?}");
    }

    #[test]
    fn a_verdict_that_depends_on_words_is_left_out() {
        // Without its data, a picture cannot be read.
        let lax = r#"{"host":"api.anthropic.com","status":400,"error":"no","request":{"model":"claude-opus-4-5","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="}}]}]}}"#;
        let promoted = table(&[lax]).promoted();
        assert_eq!((promoted.files.len(), promoted.n_left_out), (0, 1), "{promoted:?}");
    }

    #[test]
    fn a_table_that_keeps_no_requests_promotes_nothing() {
        let mut table = Table::default();
        let exchange = row(LAX.as_bytes(), 1).unwrap();
        table.add("rows.jsonl", &exchange, compare(&exchange, &CompareOptions::default()));
        assert_eq!(table.promoted().n_left_out, 1);
    }
}
