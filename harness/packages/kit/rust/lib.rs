//! Speaks version 1 of Brickbat's protocol for an adapter. It is independent of the SDK.
//!
//! To write an adapter, describe the SDK ([`Adapter`]), write a function that runs one of its turns, use [`gate`] as
//! the body of each tool, and call [`serve`].

mod gate;
mod session;
mod wire;

pub use gate::{Given, ToolError, gate, gate_until};
pub use session::{Failure, Session, Spec};

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

/// A turn of the SDK. It ends when all its work has ended.
pub type Turn = fn(Arc<Session>, String) -> BoxFuture<'static, Result<(), Failure>>;

/// Converts a given history to the form that [`Session::save`] stores.
pub type Give = fn(&Spec, &[Value]) -> Result<Vec<Value>, Box<dyn std::error::Error>>;

/// Releases the resources of an ended session, such as its connections.
pub type Closed = fn(&Session);

/// The way the user's stop reaches the SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The future of the turn is dropped, as in an application that drops a run.
    Drop,
    /// The SDK has its own way to stop. The turn awaits [`Session::stopped`] while it works, stops the SDK, and returns
    /// on its own, with [`Failure::Cancelled`] if the SDK reports the stop.
    Ask,
}

/// The description of an adapter.
#[derive(Debug, Clone)]
pub struct Adapter {
    sdk: String,
    version: String,
    modes: Vec<String>,
    dialects: Vec<String>,
    turn: Turn,
    stop: Stop,
    give: Option<Give>,
    closed: Option<Closed>,
    capabilities: Map<String, Value>,
}

impl Adapter {
    /// An adapter with default capabilities. A stop drops the future of its turn.
    pub fn new(sdk: &str, version: &str, modes: &[&str], dialects: &[&str], turn: Turn) -> Adapter {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Adapter {
            sdk: sdk.to_owned(),
            version: version.to_owned(),
            modes: owned(modes),
            dialects: owned(dialects),
            turn,
            stop: Stop::Drop,
            give: None,
            closed: None,
            capabilities: Map::new(),
        }
    }

    /// Sets the way to stop.
    pub fn stopped_by(self, stop: Stop) -> Adapter {
        Adapter { stop, ..self }
    }

    /// Adds a function that converts given histories.
    pub fn given(self, give: Give) -> Adapter {
        Adapter { give: Some(give), ..self }
    }

    /// Adds a function that runs at the end of a session.
    pub fn closed(self, closed: Closed) -> Adapter {
        Adapter { closed: Some(closed), ..self }
    }

    /// Sets a capability that differs from the default, by its key: `eagerTools` if the SDK starts tools while the
    /// reply is still streaming, `history` if the stored history may be shown.
    pub fn with(mut self, capability: &str, value: impl Into<Value>) -> Adapter {
        self.capabilities.insert(capability.to_owned(), value.into());
        self
    }

    /// The response to `initialize`.
    fn about(&self) -> Value {
        let mut capabilities = json!({ "cancel": true, "streaming": true, "eagerTools": false, "barrier": true,
            "history": false, "load": true, "givenHistory": self.give.is_some() });
        for (key, value) in &self.capabilities {
            capabilities[key.as_str()] = value.clone();
        }
        json!({ "protocol": 1, "sdk": self.sdk, "version": self.version, "modes": self.modes,
            "capabilities": capabilities })
    }

    fn can(&self, capability: &str) -> bool {
        self.about()["capabilities"][capability] == true
    }
}

/// A dependency's version, read from a lockfile's text. Empty if the lockfile does not list it.
pub fn locked(lockfile: &str, name: &str) -> String {
    let rest = lockfile.split(&format!("name = \"{name}\"\nversion = \"")).nth(1);
    rest.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
}

/// Serves the protocol until standard input ends.
pub fn serve(adapter: Adapter) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map(|runtime| runtime.block_on(wire::answer(adapter))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => eprintln!("{error}"),
        Err(error) => eprintln!("{error}"),
    }
    // The harness has exited, so this process exits too, even if tools still wait.
    std::process::exit(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_lockfile() {
        let package =
            |name: &str, version: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        let lockfile = package("other", "1.0.0") + &package("sdk", "0.4.2");
        assert_eq!(locked(&lockfile, "sdk"), "0.4.2");
        assert_eq!(locked(&lockfile, "none"), "");
    }

    #[test]
    fn claims_are_the_defaults_with_the_changes() {
        let turn: Turn = |_, _| Box::pin(async { Ok(()) });
        let adapter = Adapter::new("sdk", "0.4.2", &["mode"], &["gemini"], turn).with("eagerTools", true);
        let capabilities = &adapter.about()["capabilities"];
        assert_eq!((&capabilities["eagerTools"], &capabilities["load"]), (&json!(true), &json!(true)));
        assert!(!adapter.can("givenHistory") && adapter.given(|_, _| Ok(Vec::new())).can("givenHistory"));
    }
}
