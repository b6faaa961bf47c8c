//! The request in a command of the AWS command line.

use serde_json::{Map, Value};

use super::shell;
use crate::recordings::Exchange;

/// The beginning of such a command.
pub(super) const COMMAND: &str = "aws bedrock-runtime ";

/// The options with parts of the body, and the fields that they fill
/// (<https://docs.aws.amazon.com/cli/latest/reference/bedrock-runtime/converse.html>).
const FIELDS: [(&str, &str); 5] = [
    ("--messages", "messages"),
    ("--system", "system"),
    ("--tool-config", "toolConfig"),
    ("--inference-config", "inferenceConfig"),
    ("--additional-model-request-fields", "additionalModelRequestFields"),
];

/// The request of a command at the beginning of a text, and the length of the command.
pub(super) fn command(text: &str, line: u64) -> Option<(Exchange, usize)> {
    let (words, n_bytes) = shell::words(text);
    let operation = words.iter().skip(2).find(|word| !word.starts_with('-'))?;
    let path = match operation.as_str() {
        "converse" | "converse-stream" => "converse",
        "invoke-model" | "invoke-model-with-response-stream" => "invoke",
        _ => return None,
    };
    let option = |name: &str| {
        let at = words.iter().position(|word| {
            word == name || word.strip_prefix(name).is_some_and(|value| value.starts_with('='))
        })?;
        match words[at].split_once('=').filter(|(option, _)| *option == name) {
            Some((_, value)) => Some(value),
            None => words.get(at + 1).map(String::as_str),
        }
    };
    let json = |name: &str| serde_json::from_str::<Value>(option(name)?).ok();
    let mut body = match (json("--cli-input-json"), json("--body")) {
        (Some(Value::Object(body)), _) | (None, Some(Value::Object(body))) => body,
        _ => Map::new(),
    };
    let named = body.remove("modelId").and_then(|model| Some(model.as_str()?.to_owned()));
    let model = option("--model-id").map(str::to_owned).or(named)?;
    body.extend(FIELDS.iter().filter_map(|(name, field)| Some(((*field).to_owned(), json(name)?))));
    body.get("messages")?;
    let region = option("--region").unwrap_or("us-east-1");
    let at = Exchange::at(&format!("https://bedrock-runtime.{region}.amazonaws.com/model/{model}/{path}"));
    Some((Exchange { line, request: Value::Object(body).to_string().into_bytes(), ..at }, n_bytes))
}
