//! Killing a system's process, starting a new one that loads the session, and starting a second one
//! while the first still runs.
//!
//! Nothing here waits for a fixed time: the process is gone when the kernel reports it, its connections are
//! closed by then, and the server reports this for each one that was in use. Only then does the conversation
//! continue.

use super::Live;
use super::session::{Remains, SystemSession, broken};
use crate::by_now::by_now;
use crate::driver::{DriverError, SessionEvent};
use crate::server::ServerEvent;
use brickbat_scenario::trace::Event;

impl Live<'_> {
    /// Kills the process and waits until it is completely gone. Everything that it did before its death
    /// is reported first.
    pub(super) async fn kill_process(&mut self) -> Result<(), DriverError> {
        let remains = self.session.kill().await?;
        self.mount.drop_late_words();
        while let Some(seen) = self.next_of_dead().await? {
            if let Some(event) = self.on_dead_event(seen)? {
                self.trace.push(event);
            }
        }
        // Everything that it wrote before it died has arrived by now, up to the end of its output.
        while let Some(event) = self.session.next().await {
            match event {
                SessionEvent::Lost(DriverError::AdapterExited { .. }) => break,
                // It failed before it was killed.
                SessionEvent::Lost(error) => return Err(error),
                said => {
                    if let Some(event) = self.on_session_event(said)? {
                        self.trace.push(event);
                    }
                }
            }
        }
        while let Some(outcome) = self.ending.pop_front() {
            self.trace.push(Event::TurnEnded { outcome });
        }
        self.open.clear();
        self.saves.forget();
        self.remains = Some(remains);
        // The remaining commands were meant for the dead process.
        self.todo.clear();
        self.observe(Event::Killed);
        Ok(())
    }

    /// Starts a new process, and makes it load the session.
    pub(super) async fn restart(&mut self) -> Result<(), DriverError> {
        let said = self.session.stderr_since(self.stderr_from).unwrap_or_default();
        self.session = self.opener.open(&self.base_path, &self.settings, self.remains.as_ref()).await?;
        self.stderr.push_str(&said);
        self.stderr_from = 0;
        self.mount.belongs_to(self.session.process());
        self.observe(Event::Resumed);
        Ok(())
    }

    /// Continues in the other process, which is started, and loads the session, when it is first needed.
    pub(super) async fn switch_to(&mut self, process: u32) -> Result<(), DriverError> {
        let remains = match &self.session {
            SystemSession::Acp(session) => Remains::Stored(session.id().to_owned()),
            SystemSession::InProcess(session) => {
                let saved = session.saved().await;
                Remains::Saved(saved.ok_or_else(|| broken("the agent ended before its successor took over"))?)
            }
        };
        let (next, stderr_from) = match self.other.take() {
            Some(other) => {
                if let (SystemSession::InProcess(session), Remains::Saved(saved)) = (&other.0, remains) {
                    session.reload(saved);
                }
                other
            }
            None => (self.opener.open(&self.base_path, &self.settings, Some(&remains)).await?, 0),
        };
        let session = std::mem::replace(&mut self.session, next);
        self.other = Some((session, std::mem::replace(&mut self.stderr_from, stderr_from)));
        self.mount.belongs_to(self.session.process());
        self.trace.push(Event::Switched { process });
        Ok(())
    }

    /// Continues in a new process that is started with the settings of the current provider and loads the
    /// session: this is how users change the provider of an agent that does not know the harness. The
    /// previous process ends with its session.
    pub(super) async fn move_over(&mut self) -> Result<(), DriverError> {
        let SystemSession::Acp(session) = &self.session else { return Ok(()) };
        let remains = Remains::Stored(session.id().to_owned());
        let said = self.session.stderr_since(self.stderr_from).unwrap_or_default();
        self.session = self.opener.open(&self.base_path, &self.settings, Some(&remains)).await?;
        self.stderr.push_str(&said);
        self.stderr_from = 0;
        self.mount.belongs_to(self.session.process());
        Ok(())
    }

    /// The next event that the server saw from the dead process; none after all its connections have been
    /// reported.
    async fn next_of_dead(&mut self) -> Result<Option<ServerEvent>, DriverError> {
        if self.alive.is_empty() && self.gates.is_empty() {
            return Ok(by_now(self.mount.next()).flatten());
        }
        self.mount.next().await.map(Some).ok_or_else(|| broken("the provider's server stopped"))
    }

    /// Something that a process did while it was being killed. Closing its connections does not count.
    fn on_dead_event(&mut self, seen: ServerEvent) -> Result<Option<Event>, DriverError> {
        Ok(match seen {
            ServerEvent::Trace(event) => {
                match event {
                    Event::Requested { exchange, .. } => self.alive.push(exchange),
                    Event::Replied { exchange, .. } | Event::PeerClosed { exchange } => self.closed(exchange),
                    _ => {}
                }
                Some(event).filter(|event| matches!(event, Event::Requested { .. } | Event::Replied { .. }))
            }
            ServerEvent::GateOpened { gate, args, .. } => {
                let call = self.plan.call_with_marker(&args);
                call.into_iter().for_each(|call| self.gates.opened(gate, call));
                Some(Event::ToolStarted { call, args })
            }
            ServerEvent::GateSettled { gate, grade } => self.gates.closed(gate).map(|run| {
                let outcome = self.plan.calls[run.call.0 as usize].outcome.clone();
                run.settled(outcome, grade)
            }),
            ServerEvent::GateDropped { gate } => {
                self.gates.closed(gate);
                None
            }
            ServerEvent::SaveHeld { .. } => None,
            ServerEvent::Broken => return Err(broken("the provider core failed")),
        })
    }
}
