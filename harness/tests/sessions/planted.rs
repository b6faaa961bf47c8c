//! Secrets in every free text of a stored session: its ids, names of tools, arguments, results and paths.

use std::ffi::OsStr;
use std::path::Path;

use brickbat_sessions::{File, Files};
use serde_json::Value;

use super::entry::Case;

/// A mark in every text that was planted.
pub(crate) const MARK: &str = "QZmark7";

/// Secrets that people lose to logs. Each is made up, in the shape of a real one.
const SECRETS: [&str; 9] = [
    "sk-ant-api03-Zk3vQ9xLmT7rWb2NcYpD5sHfGj8aEuKi",
    "sk-proj-4fGh7JkL9mNp2QrStUvWxYz3AbCdEf",
    "AKIAZQ7PLANTED2KEY5X",
    "ghp_Zq8WxY3vUt6SrQp1OnMl4KjIhGfEdCbA2z9y",
    "AIzaSyZq7WxYvUtSrQpOnMlKjIhGfEdCbA01234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ6aW1tZXJtYW5uIn0.Zq7WxYvUtSrQpOnMlKjIhGfEdCbA",
    "Zimmermann",
    "/home/zimmermann/clients/acme",
    "zimmermann@example.org",
];

/// An image of one pixel.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";

/// Fields that describe a record. Their values are words of the product.
const OF_THE_PRODUCT: [&str; 49] = [
    "$type",
    "_type",
    "action",
    "block_type",
    "class_name",
    "content_type",
    "from",
    "observation",
    "source",
    "type",
    "role",
    "kind",
    "part_kind",
    "state",
    "status",
    "subtype",
    "media_type",
    "api",
    "provider",
    "model",
    "model_name",
    "model_provider",
    "provider_name",
    "providerID",
    "modelID",
    "selectedModel",
    "version",
    "cli_version",
    "copilotVersion",
    "timestamp",
    "time",
    "processedAt",
    "startTime",
    "lastUpdated",
    "finish",
    "stopReason",
    "userType",
    "history_mode",
    "auth_type",
    "producer",
    "current_model",
    "created_at",
    "last_modified",
    "lc",
    "v",
    "execution",
    "ts",
    "level",
    "$rewindTo_",
];

/// Fields with the arguments of calls.
const ARGUMENTS: [&str; 5] = ["input", "args", "arguments", "toolInput", "item"];

/// Words of products in databases.
const SQL_WORDS: [&str; 10] =
    ["user", "assistant", "tool", "anthropic", "openai", "msgpack", "json", "NULL", "messages", "1.18.33"];

/// A text with its mark and a secret. The same text always gets the same result, so that ids still match.
fn planted(text: &str) -> String {
    let n = text.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    // Longer texts are what people wrote, and get all of them.
    match text.contains(' ') {
        true => format!("{text} {MARK} {} {PICTURE}", SECRETS.join(" ")),
        // Ids keep to letters that providers accept.
        false => format!("{text}-{MARK}-{}", SECRETS[n % 5]),
    }
}

fn plant(value: &mut Value, key: &str) {
    match value {
        Value::String(_) if OF_THE_PRODUCT.contains(&key) => {}
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(mut inner @ (Value::Object(_) | Value::Array(_))) => {
                plant(&mut inner, key);
                *text = inner.to_string();
            }
            _ => *text = planted(text),
        },
        Value::Array(items) => items.iter_mut().for_each(|item| plant(item, key)),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                plant(value, key);
            }
            if ARGUMENTS.contains(&key) {
                fields.insert(planted("key"), Value::String(planted("of a key")));
            }
        }
        _ => {}
    }
}

/// JSON, or lines of it; text that cannot be parsed stays.
fn planted_json(text: &str) -> String {
    if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        plant(&mut value, "");
        return format!("{value}\n");
    }
    let lines = text.split('\n').map(|line| match serde_json::from_str::<Value>(line) {
        Ok(mut value) => {
            plant(&mut value, "");
            value.to_string()
        }
        Err(_) => line.replace("\"text\":\"", &format!("\"text\":\"{} ", planted("a torn text"))),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The texts of a database, each between single quotes.
fn planted_sql(text: &str) -> String {
    let mut planted_text = String::new();
    for line in text.lines() {
        let is_data = line.starts_with("INSERT INTO") && !line.contains("schema_version");
        let mut is_inside = false;
        let line = line.replace("''", "\u{1}");
        for piece in line.split('\'') {
            let is_blob = planted_text.ends_with(" x'");
            match is_data && is_inside && !piece.is_empty() && !is_blob {
                true if SQL_WORDS.contains(&piece) => planted_text.push_str(piece),
                true if piece.starts_with(['{', '[']) => {
                    planted_text.push_str(planted_json(&piece.replace('\u{1}', "'")).trim_end());
                }
                true => planted_text.push_str(&planted(piece)),
                false => planted_text.push_str(piece),
            }
            planted_text.push('\'');
            is_inside = !is_inside;
        }
        planted_text.pop();
        planted_text.push('\n');
    }
    planted_text.replace('\u{1}', "''")
}

/// The ids of the threads in a dump of PostgreSQL; the rest of it is in MessagePack.
fn planted_dump(text: &str) -> String {
    let mut is_row = false;
    let lines = text.lines().map(|line| {
        let is_of_thread = line.contains(" public.checkpoint") && !line.contains("_migrations");
        let parts = match line.strip_prefix("INSERT INTO ").filter(|_| is_of_thread) {
            Some(_) => line.split_once("('").and_then(|(start, rest)| {
                let (id, rest) = rest.split_once('\'')?;
                Some(format!("{start}('{}'{rest}", planted(id)))
            }),
            None if is_row => line.split_once('\t').map(|(id, rest)| format!("{}\t{rest}", planted(id))),
            None => None,
        };
        is_row = (is_row && line != "\\.") || (line.starts_with("COPY ") && is_of_thread);
        parts.unwrap_or_else(|| line.to_owned())
    });
    lines.map(|line| line + "\n").collect()
}

/// The JSON in rows with tabs between the cells.
fn planted_rows(text: &str) -> String {
    let cell = |cell: &str| match cell.starts_with('{') {
        true => planted_json(cell).trim_end().to_owned(),
        false => cell.to_owned(),
    };
    let line = |line: &str| line.split('\t').map(cell).collect::<Vec<_>>().join("\t") + "\n";
    text.lines().map(line).collect()
}

impl Case {
    /// The store with secrets in every text.
    pub(crate) fn with_secrets(&self) -> Files {
        let text = String::from_utf8_lossy(&self.text()).into_owned();
        let text = match Path::new(&self.entry.store).extension().and_then(OsStr::to_str) {
            Some("sql") => planted_sql(&text),
            Some("pgdump") => planted_dump(&text),
            Some("csv") => planted_rows(&text),
            _ => planted_json(&text),
        };
        let mut files = self.files_of(text.into_bytes());
        for companion in self.files().files.into_iter().skip(1) {
            // A file for each message is JSON. Others have what a tool returned.
            let bytes = match companion.name.contains("messages/message_") {
                true => planted_json(&String::from_utf8_lossy(&companion.bytes)).into_bytes(),
                false => [companion.bytes.as_slice(), planted("a large result").as_bytes()].concat(),
            };
            files.files.push(File { name: companion.name, bytes });
        }
        files
    }
}

/// The secret that a text contains, if any.
pub(crate) fn leaked(text: &str) -> Option<&'static str> {
    let all = SECRETS.into_iter().chain([MARK, PICTURE, "immermann", "clients/acme"]);
    // A part of a key is enough.
    let short = |secret: &'static str| &secret[..secret.len().min(16)];
    all.map(short).find(|secret| text.contains(secret))
}
