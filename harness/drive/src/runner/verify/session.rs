//! One session in a probe: it logs everything that happens, and the probe decides what happens next.

use crate::by_now::by_now;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::judge::{self, GateCall, TurnLog};
use super::probe::{Defect, Halt};
use super::script::REFUSAL;
use crate::driver::stopwatch::within;
use crate::driver::{
    Adapter, DriverError, FailingWrite, Session, SessionEvent, SessionSpec, StoreWrite, ToolSpec,
};
use crate::server::{Answerer, GateId, Mount, Server, ServerEvent};
use brickbat_engine::provider::{Answer, Provider, Request};
use brickbat_rules::Profile;
use brickbat_scenario::plan::{CallKey, Change, Plan, ToolOutcome};
use brickbat_scenario::trace::{Aside, Consent, Event, ExchangeId, RequestKind};

/// The longest wait for an event: an SDK answers in milliseconds, and backs off for a few seconds at most.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// After a silence of this length no event is on its way: it is longer than a busy adapter takes for a step.
pub(super) const QUIET: Duration = Duration::from_millis(500);

/// The provider, with a unique message in a rejection.
#[derive(Debug)]
pub(super) struct RefusingProvider(Provider);

impl Answerer for RefusingProvider {
    fn answer(&mut self, request: Request<'_>) -> (RequestKind, Answer) {
        let (kind, mut answer) = self.0.answer(request);
        if matches!(kind, RequestKind::Faulted { .. }) {
            let body = String::from_utf8_lossy(answer.frames.slice(0..answer.frames.len()));
            let body = in_our_words(&body);
            answer.frames.truncate(0);
            answer.frames.push_with(|out| out.extend_from_slice(body.as_bytes()));
        }
        (kind, answer)
    }
}

/// An error body of any dialect with our message in it.
fn in_our_words(body: &str) -> String {
    let mut body: Value = serde_json::from_str(body).unwrap_or_default();
    for place in ["/error/message", "/message"] {
        if let Some(words) = body.pointer_mut(place) {
            *words = REFUSAL.into();
        }
    }
    body.to_string()
}

/// A session, the provider that it talks to, and what has happened in its turn.
pub(super) struct ProbeSession {
    pub(super) plan: Arc<Plan>,
    pub(super) spec: SessionSpec,
    pub(super) log: TurnLog,
    mount: Mount<RefusingProvider>,
    session: Session,
    /// The calls that wait at the gates, by the number of the gate.
    gates: Vec<Option<CallKey>>,
}

/// An event that a probe may have to react to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Observation {
    Requested,
    Held(ExchangeId),
    Opened(GateId),
    Dropped(GateId),
    /// The store waits at one of its writes.
    Saving(GateId, StoreWrite),
    Refused,
    Ended,
    Other,
}

impl Observation {
    pub(super) fn is_opened(self) -> bool {
        matches!(self, Observation::Opened(_))
    }
}

impl ProbeSession {
    /// Opens a session for a plan; `offered` is the same plan with the names under which the model is offered
    /// the tools.
    pub(super) async fn open(
        server: &Server,
        adapter: &Adapter,
        (plan, offered): (Arc<Plan>, Arc<Plan>),
        mode: &str,
        state_dir: PathBuf,
    ) -> Result<ProbeSession, DriverError> {
        let profile = Profile::newest(plan.dialect);
        let mount = server.mount(RefusingProvider(Provider::new(offered, profile)));
        let spec = spec(&mount, &plan, mode, state_dir);
        let session = adapter.open(&spec).await?;
        Ok(ProbeSession { plan, spec, log: TurnLog::default(), mount, session, gates: Vec::new() })
    }

    /// Continues the same conversation, loaded by another process.
    pub(super) async fn load(&mut self, adapter: &Adapter, state: PathBuf) -> Result<(), DriverError> {
        let spec = SessionSpec { state_dir: state, ..self.spec.clone() };
        let id = self.session.id().to_owned();
        self.session = adapter.load(&id, &spec).await?;
        Ok(())
    }

    pub(super) fn base_url(&self) -> &str {
        &self.spec.base_url
    }

    pub(super) fn acp(&self) -> &Session {
        &self.session
    }

    pub(super) async fn prompt(&mut self, turn: usize) -> Result<(), DriverError> {
        self.mount.with_core(|core| core.0.begin_turn(turn));
        self.log = TurnLog::default();
        self.session.prompt(&self.plan.turns[turn].user).await
    }

    /// Changes the history, between two turns or while one runs. Returns whether there was anything to
    /// change.
    pub(super) async fn change(&mut self, change: &Change) -> Result<bool, DriverError> {
        let is_between_turns = self.log.outcome.is_some();
        if is_between_turns {
            self.mount.with_core(|core| core.0.begin_change());
        }
        let is_changed = self.session.change(change).await;
        self.mount.with_core(|core| core.0.end_change());
        is_changed
    }

    /// Sends a message to the running turn.
    pub(super) async fn say(&mut self, way: Aside, words: &str) -> Result<(), DriverError> {
        self.session.say(way, words.to_owned()).await
    }

    /// True if a request of the turn contains this text.
    pub(super) fn has_requested(&self, words: &str) -> bool {
        self.log.requests.iter().any(|(_, body)| String::from_utf8_lossy(body).contains(words))
    }

    /// The same, or one outside the conversation.
    pub(super) fn has_asked(&self, words: &str) -> bool {
        let mut outside = self.log.outside.iter();
        self.has_requested(words) || outside.any(|body| String::from_utf8_lossy(body).contains(words))
    }

    /// Waits until the adapter has sent all pending messages: its answer to a later request has arrived. The
    /// next event then shows whether it is silent or gone.
    pub(super) async fn drain(&self) {
        let _ = within(self.session.process(), PATIENCE, self.session.answers()).await;
    }

    pub(super) fn release(&self, exchange: ExchangeId) {
        self.mount.release(exchange);
    }

    /// Ends a tool as planned.
    pub(super) fn settle(&self, gate: GateId) {
        let outcome = match self.gates.get(gate.0 as usize).copied().flatten() {
            Some(call) => self.plan.calls[call.0 as usize].outcome.clone(),
            None => ToolOutcome::Error("the harness does not know this call".to_owned()),
        };
        self.mount.settle(gate, &outcome);
    }

    /// The next event, or none if nothing happens for a while.
    pub(super) async fn next(&mut self, wait: Duration) -> Result<Option<Observation>, DriverError> {
        let process = self.session.process();
        let next = async {
            // The server first: what it saw caused what the session reports.
            tokio::select! {
                biased;
                seen = self.mount.next() => Incoming::ServerEvent(seen),
                event = self.session.next() => Incoming::Said(event),
            }
        };
        match within(process, wait, next).await {
            Ok(Incoming::ServerEvent(Some(seen))) => self.on_server_event(seen).map(Some),
            Ok(Incoming::Said(Some(event))) => self.on_session_event(event).map(Some),
            Ok(Incoming::ServerEvent(None) | Incoming::Said(None)) => {
                Err(DriverError::harness(CUT_SHORT, "the server or the session is over"))
            }
            Err(_) => Ok(None),
        }
    }

    /// Continues until an event that `is_awaited`. `None` if it does not come.
    pub(super) async fn until(
        &mut self,
        wait: Duration,
        is_awaited: impl Fn(Observation) -> bool,
    ) -> Result<Option<Observation>, DriverError> {
        loop {
            match self.next(wait).await? {
                Some(seen) if is_awaited(seen) => return Ok(Some(seen)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Lets the turn run to its end: tools end as planned, and held replies continue. The turn may also never
    /// end.
    pub(super) async fn finish(&mut self) -> Result<(), DriverError> {
        while self.log.outcome.is_none() {
            match self.next(PATIENCE).await? {
                Some(seen) => self.let_go_on(seen),
                None => return Ok(()),
            }
        }
        self.catch_up()?;
        self.reached()
    }

    /// Lets a turn that was stopped run to its end. If it waits for the tool at the gate, which the stop did not reach, the
    /// tool ends: another probe judges that.
    pub(super) async fn finish_stopped(&mut self, gate: GateId) -> Result<(), DriverError> {
        self.finish().await?;
        if self.log.outcome.is_none() {
            self.settle(gate);
            self.finish().await?;
        }
        Ok(())
    }

    /// Checks that the system's requests reached the provider.
    fn reached(&self) -> Result<(), DriverError> {
        let misaddressed = self.mount.with_core(|core| core.0.misaddressed().cloned());
        misaddressed.map_or(Ok(()), |lost| Err(lost.into()))
    }

    /// Prompts a turn and lets it run to its end.
    pub(super) async fn play(&mut self, turn: usize) -> Result<(), DriverError> {
        self.prompt(turn).await?;
        self.finish().await
    }

    /// Checks that the turn went as planned.
    pub(super) fn judge(&self, turn: usize) -> Result<(), Defect> {
        judge::conversation(&self.plan, turn, &self.log)
    }

    /// Starts the first turn, and stops it when its first tool waits.
    pub(super) async fn stop_at_gate(&mut self) -> Result<GateId, Halt> {
        self.prompt(0).await?;
        match self.until(PATIENCE, Observation::is_opened).await? {
            Some(Observation::Opened(gate)) => {
                self.session.cancel().await?;
                Ok(gate)
            }
            _ => {
                self.reached()?;
                Err(Defect::no_gate().into())
            }
        }
    }

    /// Lets a write of the store fail that waits for the harness.
    pub(super) fn fail_write(&self, gate: GateId, failing: &FailingWrite) {
        self.mount.let_write(gate, Some(failing));
    }

    /// Releases what waits for the harness.
    pub(super) fn let_go_on(&self, seen: Observation) {
        match seen {
            Observation::Opened(gate) => self.settle(gate),
            Observation::Held(exchange) => self.release(exchange),
            Observation::Saving(gate, _) => self.mount.let_write(gate, None),
            Observation::Requested
            | Observation::Dropped(_)
            | Observation::Refused
            | Observation::Ended
            | Observation::Other => {}
        }
    }

    /// Adds the events that the server has seen so far to the turn.
    fn catch_up(&mut self) -> Result<(), DriverError> {
        while let Some(Some(seen)) = by_now(self.mount.next()) {
            let seen = self.on_server_event(seen)?;
            self.let_go_on(seen);
        }
        Ok(())
    }

    fn on_server_event(&mut self, seen: ServerEvent) -> Result<Observation, DriverError> {
        Ok(match seen {
            ServerEvent::Trace(Event::Requested { kind: RequestKind::Auxiliary, body, .. }) => {
                self.log.outside.push(body);
                Observation::Other
            }
            ServerEvent::Trace(Event::Requested { kind: RequestKind::OfSubAgent { .. }, .. }) => {
                self.log.n_of_sub_agents += 1;
                Observation::Requested
            }
            ServerEvent::Trace(Event::Requested { kind, body, .. }) => {
                let whole = self.mount.with_core(|core| core.0.written_out(&body));
                self.log.requests.push((kind, whole.map_or(body, Into::into)));
                Observation::Requested
            }
            ServerEvent::Trace(Event::Held { exchange, .. }) => Observation::Held(exchange),
            ServerEvent::GateOpened { gate, tool, args } => {
                let call = self.plan.call_with_marker(&args);
                self.gates.push(call);
                self.log.gate_calls.push(GateCall { tool, args, call });
                Observation::Opened(gate)
            }
            ServerEvent::SaveHeld { gate, write } => {
                // Tool gates and store gates share their numbers.
                self.gates.push(None);
                Observation::Saving(gate, StoreWrite::of(&write)?)
            }
            ServerEvent::GateDropped { gate } => Observation::Dropped(gate),
            ServerEvent::GateSettled { .. } | ServerEvent::Trace(_) => Observation::Other,
            ServerEvent::Broken => {
                return Err(DriverError::harness(CUT_SHORT, "the provider core failed"));
            }
        })
    }

    fn on_session_event(&mut self, event: SessionEvent) -> Result<Observation, DriverError> {
        match event {
            SessionEvent::Shown { id, state } => {
                self.log.shown.push((id, state));
                Ok(Observation::Other)
            }
            // No probe has a tool that needs the user's consent; an agent that asks anyway may continue.
            SessionEvent::Asked { question, .. } => {
                self.session.answer(question, Consent::Given);
                Ok(Observation::Other)
            }
            SessionEvent::Repaired(_) => Ok(Observation::Other),
            SessionEvent::Ended(outcome) => {
                self.log.outcome = Some(outcome);
                Ok(Observation::Ended)
            }
            SessionEvent::PromptRefused => Ok(Observation::Refused),
            SessionEvent::Lost(error) => Err(error),
        }
    }
}

const CUT_SHORT: &str = "the probe cannot continue";

enum Incoming {
    ServerEvent(Option<ServerEvent>),
    Said(Option<SessionEvent>),
}

fn spec(mount: &Mount<RefusingProvider>, plan: &Plan, mode: &str, state_dir: PathBuf) -> SessionSpec {
    let tools = plan.tools.iter().map(|tool| ToolSpec::new(tool, mount.gate_url(&tool.name)));
    SessionSpec {
        thinking: plan.thinks(),
        search: !plan.searches.is_empty(),
        max_steps: plan.step_limit,
        mode: mode.to_owned(),
        tools: tools.collect(),
        saving_url: plan.holds_saves().then(|| mount.saving_url()),
        ..SessionSpec::plain(mount.base_url(), plan.dialect, state_dir)
    }
}
