//! Harmless strings that fit a schema.

use serde_json::Value;

use super::super::words::word;
use brickbat_scenario::random::Random;

/// A string for a schema. `name` is the name of the property.
pub(super) fn string(schema: &Value, name: &str, random: &mut Random) -> String {
    let text = of_example(schema).unwrap_or_else(|| {
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        of_format(format, random).unwrap_or_else(|| of_name(&name.to_ascii_lowercase(), random))
    });
    fitted(schema, text)
}

/// The maximum number of characters in one string, regardless of the schema.
const MAX_CHARS: u64 = 4096;

/// An address where nothing listens: port 9 of this machine.
const NOWHERE: &str = "http://127.0.0.1:9/";

/// The author's own example. If there is a pattern, only such an example is sure to fit it.
fn of_example(schema: &Value) -> Option<String> {
    schema.get("pattern")?;
    let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
    let known = examples.chain(schema.get("example")).chain(schema.get("default"));
    known.filter_map(Value::as_str).next().map(str::to_owned)
}

/// A string of a format that JSON Schema or OpenAPI defines.
fn of_format(format: &str, random: &mut Random) -> Option<String> {
    let day = 1 + random.below(28);
    let word = word(random);
    Some(match format {
        "date-time" => format!("2026-11-{day:02}T10:00:00Z"),
        "date" => format!("2026-11-{day:02}"),
        "time" => format!("10:{day:02}:00Z"),
        "duration" => format!("PT{day}M"),
        "uri" | "url" | "iri" => format!("{NOWHERE}{word}"),
        "uri-reference" | "iri-reference" => format!("/{word}"),
        "email" | "idn-email" => format!("{word}@example.com"),
        "hostname" | "idn-hostname" => "localhost".to_owned(),
        "ipv4" => "127.0.0.1".to_owned(),
        "ipv6" => "::1".to_owned(),
        "uuid" => format!("00000000-0000-4000-8000-{:012x}", random.below(1 << 32)),
        "regex" => word.to_owned(),
        "byte" | "binary" => "YW1iZXI=".to_owned(),
        "json-pointer" => format!("/{word}"),
        _ => return None,
    })
}

/// A string that does no harm if a program uses it as the name suggests.
fn of_name(name: &str, random: &mut Random) -> String {
    let word = word(random);
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match () {
        () if has(&["command", "cmd", "script", "shell"]) => format!("echo {word}"),
        () if has(&["url", "uri", "href", "endpoint"]) => format!("{NOWHERE}{word}"),
        () if has(&["dir", "folder", "cwd", "root"]) => ".".to_owned(),
        () if has(&["path", "file"]) => format!("{word}.txt"),
        () if has(&["email"]) => format!("{word}@example.com"),
        () if has(&["date"]) => "2026-11-25".to_owned(),
        () => word.to_owned(),
    }
}

/// The string, cut or extended to the length that the schema requires.
fn fitted(schema: &Value, mut text: String) -> String {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let most = bound("maxLength").unwrap_or(MAX_CHARS);
    let least = bound("minLength").unwrap_or(0).min(MAX_CHARS).min(most);
    let n_chars = text.chars().count() as u64;
    if n_chars > most {
        text = text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect();
    }
    text.extend((n_chars..least).map(|_| 'x'));
    text
}
