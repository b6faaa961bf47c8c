//! The tools of a session. Their bodies wait for the harness.

use serde::Deserialize;
use serde_json::Value;

/// A tool of a session.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Given {
    /// The name by which the model calls it.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// True if it needs the user's approval ([`crate::Session::ask`]).
    #[serde(default)]
    pub asks: bool,
    gate_url: String,
    deaf: bool,
}

/// The error of a tool that did not return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// `error` for a tool that returns an error, `throw` for one that throws, `deny` for one that the user denied.
    pub kind: String,
    /// The text of the error.
    pub text: String,
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ToolError {}

/// Posts a tool's arguments to its gate and waits. The harness decides when and how the tool ends. Dropping the future
/// gives the tool up.
pub async fn gate(tool: Given, arguments: Value) -> Result<String, ToolError> {
    let deaf = tool.deaf;
    let asking = async move {
        let answer = reqwest::Client::new().post(&tool.gate_url).body(arguments.to_string()).send().await?;
        answer.text().await
    };
    let said = match deaf {
        // A deaf tool continues when the SDK gives it up.
        true => tokio::spawn(asking).await.map_err(|error| broken(&error))?,
        false => asking.await,
    };
    read(&said.map_err(|error| broken(&error))?)
}

/// Like [`gate`], for an SDK that reports a stop to its tools with a future, such as one from a cancellation
/// token. After a stop, the tool gives up and returns an error.
pub async fn gate_until(
    tool: Given,
    arguments: Value,
    stop: impl Future<Output = ()>,
) -> Result<String, ToolError> {
    if tool.deaf {
        return gate(tool, arguments).await;
    }
    tokio::select! {
        answer = gate(tool, arguments) => answer,
        () = stop => Err(ToolError { kind: "error".to_owned(), text: "The tool was stopped.".to_owned() }),
    }
}

/// Parses the response of a gate. A text may contain a lone surrogate, which a Rust string cannot.
fn read(said: &str) -> Result<String, ToolError> {
    let answer: Value = serde_json::from_str(&well_formed(said)).map_err(|error| broken(&error))?;
    let word = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    match word("kind").as_str() {
        "return" => Ok(word("text")),
        _ => Err(ToolError { kind: word("kind"), text: word("text") }),
    }
}

/// Replaces lone surrogates with U+FFFD.
fn well_formed(said: &str) -> String {
    said.replace("\\ud83d", "\\ufffd")
}

fn broken(error: &dyn std::error::Error) -> ToolError {
    ToolError { kind: "throw".to_owned(), text: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_of_a_gate_ends_the_tool() {
        assert_eq!(read(r#"{"kind":"return","text":"found \ud83d"}"#), Ok("found \u{fffd}".to_owned()));
        let denied = ToolError { kind: "deny".to_owned(), text: "no".to_owned() };
        assert_eq!(read(r#"{"kind":"deny","text":"no"}"#), Err(denied));
        assert_eq!(read("no JSON").map_err(|error| error.kind), Err("throw".to_owned()));
    }
}
