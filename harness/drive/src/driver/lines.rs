//! The adapter's standard output, line by line: bounded, and checked before the ACP crate sees it.
//!
//! That crate reads without a bound and reads an unknown state of a tool call as `pending`. A harness that
//! counts stuck calls must not.

use std::borrow::Cow;
use std::sync::Arc;

use futures::Stream;
use serde_json::{Map, Value};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use super::error::{DriverError, quote};
use super::talk::Talk;
use brickbat_rules::json::without_halves;
use brickbat_scenario::trace::ShownState;

/// The reason why a line is not a message of the protocol.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidMessage {
    #[error("a line of more than {0} bytes")]
    TooLong(usize),
    #[error("not UTF-8")]
    NotUtf8,
    #[error("not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("{0}")]
    Malformed(&'static str),
    #[error("unknown status {0} of a call")]
    UnknownStatus(Value),
}

use InvalidMessage::Malformed;

/// The checked lines that an adapter writes. The first bad one ends the stream with an error.
pub fn checked(
    source: impl AsyncBufRead + Unpin + Send + 'static,
    max_bytes: usize,
    talk: Arc<Talk>,
) -> impl Stream<Item = Result<String, DriverError>> + Send + 'static {
    futures::stream::try_unfold((source, talk), move |(mut source, talk)| async move {
        loop {
            let Some(line) = read_line(&mut source, max_bytes).await? else { return Ok(None) };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Ok(Some((check(line, &talk)?, (source, talk))));
        }
    })
}

/// The lines that a harness writes to an adapter of our own. The ACP crate checks their content.
pub(super) fn bounded(
    source: impl AsyncBufRead + Unpin + Send + 'static,
    max_bytes: usize,
) -> impl Stream<Item = Result<String, DriverError>> + Send + 'static {
    futures::stream::try_unfold(source, move |mut source| async move {
        let line = read_line(&mut source, max_bytes).await?;
        // Bytes that are not UTF-8 are not JSON either, and get the same answer.
        Ok(line.map(|line| (String::from_utf8_lossy(&line).into_owned(), source)))
    })
}

/// The next line without its end, or none at the end of the stream. A line that the end of the stream cut off
/// is dropped, because the adapter died while it wrote.
async fn read_line(
    source: &mut (impl AsyncBufRead + Unpin),
    max_bytes: usize,
) -> Result<Option<Vec<u8>>, DriverError> {
    let mut line = Vec::new();
    loop {
        // A pipe that cannot be read counts as closed: the exit status of the process tells more than this
        // error.
        let Ok(chunk) = source.fill_buf().await else { return Ok(None) };
        if chunk.is_empty() {
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        if line.len() + part.len() > max_bytes {
            line.extend_from_slice(part);
            return Err(invalid(InvalidMessage::TooLong(max_bytes), &line));
        }
        line.extend_from_slice(part);
        let taken = end.map_or(chunk.len(), |end| end + 1);
        source.consume(taken);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

/// Checks that a line is a JSON-RPC message that belongs to the conversation and, if it shows the state of a
/// call, that the state is known.
fn check(mut line: Vec<u8>, talk: &Talk) -> Result<String, DriverError> {
    // JavaScript stores lone surrogates when a stream broke off in the middle of a character, and writes them
    // unchanged. A Rust string cannot contain them.
    if let Cow::Owned(whole) = without_halves(&line) {
        line = whole;
    }
    let message = match serde_json::from_slice::<Value>(&line) {
        Ok(Value::Object(message)) => check_message(&message).map(|()| message),
        Ok(_) => Err(Malformed("not a JSON object")),
        Err(error) => Err(error.into()),
    };
    let message = message.map_err(|error| invalid(error, &line))?;
    // It is a message, but does not belong to this conversation.
    talk.heard(&message).map_err(|error| DriverError::violation(error, String::from_utf8_lossy(&line)))?;
    // Bytes that parse as JSON are UTF-8.
    String::from_utf8(line).map_err(|error| invalid(InvalidMessage::NotUtf8, error.as_bytes()))
}

fn check_message(message: &Map<String, Value>) -> Result<(), InvalidMessage> {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Malformed("`jsonrpc` is not \"2.0\""));
    }
    match message.get("method") {
        Some(Value::String(method)) if method == "session/update" => check_update(message.get("params")),
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err(Malformed("`method` is not a string")),
        None => check_response(message),
    }
}

fn check_response(message: &Map<String, Value>) -> Result<(), InvalidMessage> {
    if !message.contains_key("id") {
        return Err(Malformed("neither `method` nor `id`"));
    }
    match (message.get("result"), message.get("error")) {
        (Some(_), None) | (None, Some(Value::Object(_))) => Ok(()),
        _ => Err(Malformed("a response needs either `result` or an object `error`")),
    }
}

fn check_update(params: Option<&Value>) -> Result<(), InvalidMessage> {
    let params = params.ok_or(Malformed("a `session/update` without `params`"))?;
    if !params.get("sessionId").is_some_and(Value::is_string) {
        return Err(Malformed("a `session/update` without a string `sessionId`"));
    }
    let update = params.get("update").ok_or(Malformed("a `session/update` without `update`"))?;
    if !update.get("sessionUpdate").is_some_and(Value::is_string) {
        return Err(Malformed("a `session/update` without a string `sessionUpdate`"));
    }
    shown(update).map(|_| ())
}

/// The call state that an update shows: the call's id and state. `None` if the update is not about a call.
pub(super) fn shown(update: &Value) -> Result<Option<(String, ShownState)>, InvalidMessage> {
    let first = match update.get("sessionUpdate").and_then(Value::as_str) {
        Some("tool_call") => true,
        Some("tool_call_update") => false,
        _ => return Ok(None),
    };
    let id = update
        .get("toolCallId")
        .and_then(Value::as_str)
        .ok_or(Malformed("a call without a string `toolCallId`"))?;
    let state = match update.get("status") {
        // ACP: a new call without a status is pending; an update without a status leaves it unchanged.
        None | Some(Value::Null) if first => ShownState::Pending,
        None | Some(Value::Null) => return Ok(None),
        Some(status) => state(status).ok_or_else(|| InvalidMessage::UnknownStatus(status.clone()))?,
    };
    Ok(Some((id.to_owned(), state)))
}

fn state(status: &Value) -> Option<ShownState> {
    match status.as_str()? {
        "pending" => Some(ShownState::Pending),
        "in_progress" => Some(ShownState::InProgress),
        "completed" => Some(ShownState::Completed),
        "failed" => Some(ShownState::Failed),
        _ => None,
    }
}

fn invalid(error: InvalidMessage, line: &[u8]) -> DriverError {
    DriverError::InvalidMessage { source: Arc::new(error), excerpt: quote(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk() -> Talk {
        let talk = Talk::default();
        talk.sent(r#"{"id":1,"method":"session/load","params":{"sessionId":"s"}}"#);
        talk.sent(r#"{"id":"a","method":"session/prompt"}"#);
        talk
    }

    fn why(line: &str) -> Option<String> {
        match check(line.as_bytes().to_vec(), &talk()) {
            Ok(text) => {
                assert_eq!(text, line);
                None
            }
            Err(DriverError::InvalidMessage { source, .. }) => Some(source.to_string()),
            Err(other) => panic!("{other}"),
        }
    }

    fn update(update: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
        )
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        let update = |text: &str| {
            let content = format!(r#"{{"type":"text","text":"{text}"}}"#);
            update(&format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{content}}}"#))
        };
        let checked = check(update(r"x\ud83d y").into_bytes(), &talk()).unwrap();
        assert_eq!(checked, update(r"x\ufffd y"));
    }

    #[test]
    fn messages_of_the_protocol_pass() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{}}"#,
            &update(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"é"}}"#),
            &update(r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"t"}"#),
            &update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}"#),
        ] {
            assert_eq!(why(line), None, "{line}");
        }
    }

    #[test]
    fn any_other_line_is_reported() {
        for (line, expected) in [
            ("hello", "not JSON: expected value at line 1 column 1"),
            ("[]", "not a JSON object"),
            ("{}", "`jsonrpc` is not \"2.0\""),
            (r#"{"jsonrpc":"2.0","method":1}"#, "`method` is not a string"),
            (r#"{"jsonrpc":"2.0"}"#, "neither `method` nor `id`"),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#,
                "a response needs either `result` or an object `error`",
            ),
            (
                &update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"done"}"#),
                "unknown status \"done\" of a call",
            ),
            (
                &update(r#"{"sessionUpdate":"tool_call","toolCallId":7}"#),
                "a call without a string `toolCallId`",
            ),
        ] {
            assert_eq!(why(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn a_new_call_without_a_status_is_pending() {
        let update = serde_json::json!({"sessionUpdate": "tool_call", "toolCallId": "a"});
        assert_eq!(shown(&update).unwrap(), Some(("a".to_owned(), ShownState::Pending)));
    }
}
