//! The tools of a session, whose bodies wait at the harness.

use serde::Deserialize;
use serde_json::Value;

/// A tool of a session.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Given {
    /// The name by which the model calls it.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// Whether the user is asked before it runs ([`crate::Session::ask`]).
    #[serde(default)]
    pub asks: bool,
    gate_url: String,
    deaf: bool,
}

/// How a tool ended badly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// `error` for a tool that answers with an error, `throw` for one that breaks, `deny` for one that was refused.
    pub kind: String,
    /// What it says.
    pub text: String,
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ToolError {}

/// Posts a tool's arguments to its gate and waits: the harness decides when and how the tool ends. To drop the future
/// is to give the tool up.
pub async fn gate(tool: Given, arguments: Value) -> Result<String, ToolError> {
    let deaf = tool.deaf;
    let asking = async move {
        let answer = reqwest::Client::new().post(&tool.gate_url).body(arguments.to_string()).send().await?;
        answer.text().await
    };
    let said = match deaf {
        // A deaf tool goes on when the SDK gives it up.
        true => tokio::spawn(asking).await.map_err(|error| broken(&error))?,
        false => asking.await,
    };
    read(&said.map_err(|error| broken(&error))?)
}

/// The same for an SDK that tells its tools of a stop by a future of its own, such as that of a cancellation token. The
/// tool then gives up, and answers with an error.
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

/// The answer of a gate. A text may hold half of a character, which no string of Rust can.
fn read(said: &str) -> Result<String, ToolError> {
    let answer: Value = serde_json::from_str(&whole(said)).map_err(|error| broken(&error))?;
    let word = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    match word("kind").as_str() {
        "return" => Ok(word("text")),
        _ => Err(ToolError { kind: word("kind"), text: word("text") }),
    }
}

/// The text with U+FFFD where half of a character was.
fn whole(said: &str) -> String {
    said.replace("\\ud83d", "\\ufffd")
}

fn broken(error: &dyn std::error::Error) -> ToolError {
    ToolError { kind: "throw".to_owned(), text: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_says_how_the_tool_ended() {
        assert_eq!(read(r#"{"kind":"return","text":"found \ud83d"}"#), Ok("found \u{fffd}".to_owned()));
        let denied = ToolError { kind: "deny".to_owned(), text: "no".to_owned() };
        assert_eq!(read(r#"{"kind":"deny","text":"no"}"#), Err(denied));
        assert_eq!(read("no JSON").map_err(|error| error.kind), Err("throw".to_owned()));
    }
}
