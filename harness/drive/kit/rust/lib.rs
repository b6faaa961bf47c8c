//! Speaks Brickbat's protocol for the adapter of an SDK, and knows none.
//!
//! This is version 1 of the protocol. An adapter says what it is ([`Adapter`]), plays a turn of its SDK, and calls
//! [`serve`]; [`gate`] is the body of each tool.

mod gate;
mod session;
mod wire;

pub use gate::{Given, ToolError, gate, gate_until};
pub use session::{Failure, Session, Spec};

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

/// A turn of the SDK: it ends when everything has ended.
pub type Turn = fn(Arc<Session>, String) -> BoxFuture<'static, Result<(), Failure>>;

/// Makes, of a history that the harness gives, what [`Session::save`] would have stored.
pub type Give = fn(&Spec, &[Value]) -> Result<Vec<Value>, String>;

/// Lets go of a session that is over, such as of its connections.
pub type Closed = fn(&Session);

/// How the user's stop comes to the SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The future of the turn is dropped, as by an application that drops a run.
    Drop,
    /// The SDK has a stop of its own: the turn awaits [`Session::stopped`] beside its work, tells the SDK, and ends by
    /// itself, with [`Failure::Cancelled`] where the SDK reports that it was stopped.
    Ask,
}

/// What an adapter is.
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
    /// An adapter whose turns are stopped by dropping them, and that claims no more than most can do.
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

    /// The same with another way of the stop.
    pub fn stopped_by(self, stop: Stop) -> Adapter {
        Adapter { stop, ..self }
    }

    /// The same with a store that a given history can be put into.
    pub fn given(self, give: Give) -> Adapter {
        Adapter { give: Some(give), ..self }
    }

    /// The same with something to do when a session is over.
    pub fn closed(self, closed: Closed) -> Adapter {
        Adapter { closed: Some(closed), ..self }
    }

    /// The same with a capability that differs from the usual ones, by its key: `eagerTools` if the SDK starts tools
    /// while the reply is still streaming, `history` if what is stored may be shown.
    pub fn with(mut self, capability: &str, value: impl Into<Value>) -> Adapter {
        self.capabilities.insert(capability.to_owned(), value.into());
        self
    }

    /// What the answer to `initialize` says of it.
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

/// The version of a crate that is built in, as a lockfile names it; empty if it is not there.
pub fn locked(lockfile: &str, name: &str) -> String {
    let rest = lockfile.split(&format!("name = \"{name}\"\nversion = \"")).nth(1);
    rest.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
}

/// Answers the harness until standard input ends.
pub fn serve(adapter: Adapter) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map(|runtime| runtime.block_on(wire::answer(adapter))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => eprintln!("{error}"),
        Err(error) => eprintln!("{error}"),
    }
    // The harness is gone, and so is the reason to live, whatever tools still wait.
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
    fn what_is_claimed_is_the_usual_and_what_differs() {
        let turn: Turn = |_, _| Box::pin(async { Ok(()) });
        let adapter = Adapter::new("sdk", "0.4.2", &["mode"], &["gemini"], turn).with("eagerTools", true);
        let capabilities = &adapter.about()["capabilities"];
        assert_eq!((&capabilities["eagerTools"], &capabilities["load"]), (&json!(true), &json!(true)));
        assert!(!adapter.can("givenHistory") && adapter.given(|_, _| Ok(Vec::new())).can("givenHistory"));
    }
}
