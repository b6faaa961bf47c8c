//! Puts a given history into a system's store before it loads the session.
//!
//! An adapter does this itself on the request `_brickbat/give`. For an agent that does not know the harness,
//! the manifest names a program: it reads the history from its standard input and prints the id of the
//! session.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::error::{DriverError, quote};
use super::process::{Launch, Pipes, Process};
use super::protocol::SessionSpec;
use super::stopwatch::within;
use brickbat_scenario::plan::GivenMessage;

/// The method of the request to an adapter.
pub(super) const METHOD: &str = "_brickbat/give";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GivenSession {
    session_id: String,
}

/// The parameters of the request: a session as in `session/new`, and the history for its store.
pub(super) fn params(spec: &SessionSpec, history: &[GivenMessage]) -> Value {
    json!({ "session": spec.meta().remove("brickbat"), "history": history })
}

/// The id under which the session can be loaded.
pub(super) fn session_id(answer: &Value) -> Result<String, DriverError> {
    match GivenSession::deserialize(answer) {
        Ok(given) => Ok(given.session_id),
        Err(error) => Err(DriverError::violation(format!("its answer to {METHOD}: {error}"), answer)),
    }
}

/// Runs the program of a manifest with `input` on its standard input, and returns the id of the session that
/// it created.
pub(super) async fn run(launch: &Launch, command: &[String], input: &Value) -> Result<String, DriverError> {
    let mut words = command.iter().cloned();
    let program = words.next().unwrap_or_default();
    let launch = Launch { program, args: words.collect(), ..launch.clone() };
    let (process, pipes) = Process::start(&launch).await?;
    let answer = match within(process.id(), GIVE_WAIT, exchange(pipes, input)).await {
        Ok(answer) => answer.map_err(|error| failed(&error.to_string(), &process.stderr()))?,
        Err(_) => {
            return Err(failed(&format!("it took longer than {} s", GIVE_WAIT.as_secs()), &process.stderr()));
        }
    };
    let status = within(process.id(), GIVE_WAIT, process.ended()).await.unwrap_or_default();
    let answer: Value = serde_json::from_slice(&answer)
        .map_err(|_| failed(&format!("it answers `{}` ({status})", quote(&answer)), &process.stderr()))?;
    session_id(&answer)
}

/// The time limit for the program. opencode needs a second to open its store.
const GIVE_WAIT: Duration = Duration::from_secs(60);

/// The limit of the answer in bytes. The answer contains only an id.
const MAX_ANSWER: u64 = 64 << 10;

async fn exchange(pipes: Pipes, input: &Value) -> std::io::Result<Vec<u8>> {
    let Pipes { mut stdin, stdout } = pipes;
    stdin.write_all(input.to_string().as_bytes()).await?;
    drop(stdin);
    let mut answer = Vec::new();
    stdout.take(MAX_ANSWER).read_to_end(&mut answer).await?;
    Ok(answer)
}

fn failed(text: &str, stderr: &str) -> DriverError {
    let what = "the given history could not be put into the agent's store";
    DriverError::harness(what, format!("{text}\n{stderr}").trim())
}
