//! A session of any system that plans are run against.

use serde_json::Value;

use crate::driver::in_process::InProcess;
use crate::driver::{self, DriverError, Reading, SessionEvent, ToolSpec};
use brickbat_scenario::plan::Change;
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, QuestionId};

pub(in crate::runner) enum SystemSession {
    InProcess(InProcess),
    Acp(driver::Session),
}

/// The remains of a session after its process was killed.
pub(in crate::runner) enum Remains {
    /// The saved state of our own agent.
    Saved(Vec<u8>),
    /// The session's id; its stored data is in its state folder.
    Stored(String),
}

impl SystemSession {
    /// A session of an adapter, which is asked for the history only in modes that show one.
    pub(in crate::runner) fn of(session: driver::Session, shows_history: bool) -> SystemSession {
        SystemSession::Acp(if shows_history { session } else { session.without_history() })
    }

    pub(super) async fn prompt(&mut self, text: &str) -> Result<(), DriverError> {
        match self {
            SystemSession::InProcess(session) => session.prompt(text),
            SystemSession::Acp(session) => session.prompt(text).await?,
        }
        Ok(())
    }

    /// Waits until the system has changed the history, or, while a turn runs, has scheduled the change.
    /// Returns false if the system reports that there was nothing to change.
    pub(super) async fn change(&self, change: &Change) -> Result<bool, DriverError> {
        match self {
            SystemSession::InProcess(session) if session.change(change).await => Ok(true),
            SystemSession::InProcess(_) => Err(broken("the agent ended while it changed its history")),
            SystemSession::Acp(session) => session.change(change).await,
        }
    }

    /// Waits until the system has a new list of tools. Returns false if the system reports that there was nothing to change.
    pub(super) async fn offer(&self, tools: Vec<ToolSpec>) -> Result<bool, DriverError> {
        match self {
            SystemSession::InProcess(session) => match session.offer(tools).await {
                true => Ok(true),
                false => Err(broken("the agent ended while its list of tools changed")),
            },
            SystemSession::Acp(session) => session.offer(tools).await,
        }
    }

    pub(super) async fn cancel(&self) -> Result<(), DriverError> {
        match self {
            SystemSession::InProcess(session) => session.cancel(),
            SystemSession::Acp(session) => session.cancel().await?,
        }
        Ok(())
    }

    pub(super) async fn say(&mut self, way: Aside, text: String) -> Result<(), DriverError> {
        match self {
            SystemSession::InProcess(session) => session.say(way, text),
            SystemSession::Acp(session) => session.say(way, text).await?,
        }
        Ok(())
    }

    pub(super) async fn interrupt(&self, cause: InterruptCause) -> Result<(), DriverError> {
        match self {
            SystemSession::InProcess(session) => session.interrupt(cause),
            SystemSession::Acp(session) => session.interrupt(cause).await?,
        }
        Ok(())
    }

    pub(super) fn answer(&self, question: QuestionId, consent: Consent) {
        match self {
            SystemSession::InProcess(session) => session.answer(question, consent),
            SystemSession::Acp(session) => session.answer(question, consent),
        }
    }

    /// The id of the system's root process. `None` if the system runs in this process.
    pub(super) fn process(&self) -> Option<u32> {
        match self {
            SystemSession::InProcess(_) => None,
            SystemSession::Acp(session) => session.process(),
        }
    }

    pub(super) async fn barrier(&self) -> Result<bool, DriverError> {
        match self {
            SystemSession::InProcess(session) => Ok(session.barrier().await),
            SystemSession::Acp(session) => session.barrier().await,
        }
    }

    /// Waits until the system has received what has arrived, and asks how many bytes it has read from a socket of its own
    /// with this port, connected to that one. `None` if it does not report this.
    pub(super) async fn n_read(&self, (port, to): (u16, u16)) -> Result<Option<u64>, DriverError> {
        let readings = match self {
            SystemSession::InProcess(session) => session.barrier().await.then(|| session.readings()),
            SystemSession::Acp(session) => session.readings().await?,
        };
        // A port may be given again; the last socket that has it is the open one.
        let of_socket = |reading: &&Reading| reading.port == port && reading.to == to;
        Ok(readings.unwrap_or_default().iter().rfind(of_socket).map(|reading| reading.bytes))
    }

    /// True if Brickbat watches its processes to learn what the system has consumed.
    pub(super) fn is_watched(&self) -> bool {
        match self {
            SystemSession::InProcess(_) => false,
            SystemSession::Acp(session) => session.is_watched(),
        }
    }

    /// True if it is an agent that does not know the harness.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            SystemSession::InProcess(_) => false,
            SystemSession::Acp(session) => session.is_plain(),
        }
    }

    /// Waits until the system has done the work that it postponed. Our own agent in this process postpones
    /// nothing.
    pub(super) async fn settle_down(&self) {
        match self {
            SystemSession::InProcess(_) => {}
            SystemSession::Acp(session) => session.settle_down().await,
        }
    }

    pub(super) async fn answers(&self) -> Result<(), DriverError> {
        match self {
            SystemSession::InProcess(_) => Ok(()),
            SystemSession::Acp(session) => session.answers().await,
        }
    }

    /// The history that the system has stored, or why it failed to report it. `None` if it cannot report it.
    pub(super) async fn history(&self) -> Option<Result<Value, DriverError>> {
        match self {
            SystemSession::InProcess(session) => {
                serde_json::from_slice(&session.history().await?).ok().map(Ok)
            }
            SystemSession::Acp(session) => session.history().await.transpose(),
        }
    }

    pub(super) fn stderr_len(&self) -> u64 {
        match self {
            SystemSession::InProcess(_) => 0,
            SystemSession::Acp(session) => session.stderr_len(),
        }
    }

    /// The adapter process's standard error since the first `len` bytes. `None` if there is no process.
    pub(super) fn stderr_since(&self, len: u64) -> Option<String> {
        match self {
            SystemSession::InProcess(_) => None,
            SystemSession::Acp(session) => Some(session.stderr_since(len)),
        }
    }

    pub(super) async fn next(&mut self) -> Option<SessionEvent> {
        match self {
            SystemSession::InProcess(session) => session.next().await,
            SystemSession::Acp(session) => session.next().await,
        }
    }

    /// Kills the system's process, waits until it is gone, and returns its remains.
    pub(super) async fn kill(&mut self) -> Result<Remains, DriverError> {
        match self {
            SystemSession::InProcess(session) => match session.kill().await {
                Some(saved) => Ok(Remains::Saved(saved)),
                None => Err(broken("the agent ended before it was killed")),
            },
            SystemSession::Acp(session) => {
                session.kill().await?;
                Ok(Remains::Stored(session.id().to_owned()))
            }
        }
    }
}

pub(super) fn broken(what: &str) -> DriverError {
    DriverError::harness("the plan cannot continue", what)
}
