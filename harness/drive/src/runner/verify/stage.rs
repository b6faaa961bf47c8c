//! One session of a probe: everything that happens is written down, and the probe decides what happens next.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;

use super::host::Host;
use crate::driver::{Adapter, DriverError, Session, SessionEvent, SessionSpec, ToolSpec};
use crate::server::{Answerer, GateId, Mount, ServerEvent};
use brickbat_engine::provider::{Answer, Provider, Request};
use brickbat_rules::rules::Profile;
use brickbat_scenario::plan::{CallKey, Plan, ToolOutcome};
use brickbat_scenario::trace::{Consent, Event, ExchangeId, RequestKind, ShownState, TurnOutcome};

/// What a provider says to a request that it refuses for good: words that an SDK cannot have of itself.
pub(super) const REFUSAL: &str = "brickbat refuses this request for good";

/// Something that is awaited has come by then, or does not come: an SDK answers in milliseconds, and backs off for a
/// few seconds at the most.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// With nothing happening for so long nothing is on its way any more: longer than a busy adapter takes for a step.
pub(super) const QUIET: Duration = Duration::from_millis(500);

/// The provider, with a refusal in words of its own.
#[derive(Debug)]
pub(super) struct Core(Provider);

impl Answerer for Core {
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

/// An error body of any dialect with our words in it.
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
pub(super) struct Stage {
    pub(super) plan: Arc<Plan>,
    pub(super) spec: SessionSpec,
    pub(super) log: Log,
    mount: Mount<Core>,
    session: Session,
    /// The calls behind the gates, by the number of the gate.
    gates: Vec<Option<CallKey>>,
}

/// What has happened in a turn.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// The requests for replies, with their bodies.
    pub(super) requests: Vec<(RequestKind, Arc<[u8]>)>,
    /// The starts of tools.
    pub(super) runs: Vec<Run>,
    /// The states of calls, as the user saw them.
    pub(super) shown: Vec<(String, ShownState)>,
    /// How the turn ended.
    pub(super) outcome: Option<TurnOutcome>,
}

/// One start of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// The tool whose gate was asked.
    pub(super) tool: String,
    /// The arguments as they came.
    pub(super) args: String,
    /// The call, known by its marker.
    pub(super) call: Option<CallKey>,
}

/// What a probe may have to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The provider is asked.
    Requested,
    /// The reply is held.
    Held(ExchangeId),
    /// A tool waits at its gate.
    Opened(GateId),
    /// A tool does not wait any more.
    Dropped(GateId),
    /// The turn has been answered.
    Ended,
    /// Anything else.
    Other,
}

impl Stage {
    /// Opens a session for a plan.
    pub(super) async fn open(
        host: &Host,
        adapter: &Adapter,
        plan: Arc<Plan>,
        mode: &str,
    ) -> Result<Stage, DriverError> {
        let profile = Profile::newest(plan.dialect);
        let mount = host.server().await?.mount(Core(Provider::new(host.offered(&plan), profile)));
        let spec = spec(&mount, &plan, mode, host.folder()?);
        let session = adapter.open(&spec).await?;
        Ok(Stage { plan, spec, log: Log::default(), mount, session, gates: Vec::new() })
    }

    /// The same conversation, loaded by another process.
    pub(super) async fn load(&mut self, adapter: &Adapter, state: PathBuf) -> Result<(), DriverError> {
        let spec = SessionSpec { state_dir: state, ..self.spec.clone() };
        let id = self.session.id().to_owned();
        self.session = adapter.load(&id, &spec).await?;
        Ok(())
    }

    pub(super) fn base_url(&self) -> &str {
        &self.spec.base_url
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Says the user's words of a turn.
    pub(super) async fn prompt(&mut self, turn: usize) -> Result<(), DriverError> {
        self.mount.with_core(|core| core.0.begin_turn(turn));
        self.log = Log::default();
        self.session.prompt(&self.plan.turns[turn].user).await
    }

    /// The user's stop.
    pub(super) async fn cancel(&self) -> Result<(), DriverError> {
        self.session.cancel().await
    }

    /// Waits until the adapter has said all that it has to say by now: its answer to a later question has come. One
    /// that does not answer, or that is gone, is told by what comes next.
    pub(super) async fn hear_out(&self) {
        let _ = tokio::time::timeout(PATIENCE, self.session.answers()).await;
    }

    /// Lets a held reply go on.
    pub(super) fn release(&self, exchange: ExchangeId) {
        self.mount.release(exchange);
    }

    /// Lets a tool end as the plan says.
    pub(super) fn settle(&self, gate: GateId) {
        let outcome = match self.gates.get(gate.0 as usize).copied().flatten() {
            Some(call) => self.plan.calls[call.0 as usize].outcome.clone(),
            None => ToolOutcome::Error("the harness does not know this call".to_owned()),
        };
        self.mount.settle(gate, &outcome);
    }

    /// The next thing that happens, or none if nothing does for a while.
    pub(super) async fn next(&mut self, wait: Duration) -> Result<Option<Step>, DriverError> {
        let next = async {
            // The server first: what it saw caused what the session says.
            tokio::select! {
                biased;
                seen = self.mount.next() => Next::ServerEvent(seen),
                event = self.session.next() => Next::Said(event),
            }
        };
        match tokio::time::timeout(wait, next).await {
            Ok(Next::ServerEvent(Some(seen))) => self.seen(seen).map(Some),
            Ok(Next::Said(Some(event))) => self.said(event).map(Some),
            Ok(Next::ServerEvent(None) | Next::Said(None)) => Err(DriverError::harness(CUT_SHORT, "the server or the session is over")),
            Err(_) => Ok(None),
        }
    }

    /// Goes on until something happens that `is_awaited`; none if it does not come.
    pub(super) async fn until(
        &mut self,
        wait: Duration,
        is_awaited: impl Fn(Step) -> bool,
    ) -> Result<Option<Step>, DriverError> {
        loop {
            match self.next(wait).await? {
                Some(step) if is_awaited(step) => return Ok(Some(step)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Lets the turn run to its end: tools end as planned, held replies go on. The turn may also never end.
    pub(super) async fn finish(&mut self) -> Result<(), DriverError> {
        while self.log.outcome.is_none() {
            match self.next(PATIENCE).await? {
                Some(step) => self.help(step),
                None => return Ok(()),
            }
        }
        self.catch_up()
    }

    /// Says the words of a turn and lets it run to its end.
    pub(super) async fn play(&mut self, turn: usize) -> Result<(), DriverError> {
        self.prompt(turn).await?;
        self.finish().await
    }

    /// Lets go on what waits for the harness.
    pub(super) fn help(&self, step: Step) {
        match step {
            Step::Opened(gate) => self.settle(gate),
            Step::Held(exchange) => self.release(exchange),
            Step::Requested | Step::Dropped(_) | Step::Ended | Step::Other => {}
        }
    }

    /// What the server has seen by now belongs to the turn.
    fn catch_up(&mut self) -> Result<(), DriverError> {
        while let Some(Some(seen)) = self.mount.next().now_or_never() {
            let step = self.seen(seen)?;
            self.help(step);
        }
        Ok(())
    }

    fn seen(&mut self, seen: ServerEvent) -> Result<Step, DriverError> {
        Ok(match seen {
            ServerEvent::Trace(Event::Requested { kind: RequestKind::Auxiliary, .. }) => Step::Other,
            ServerEvent::Trace(Event::Requested { kind, body, .. }) => {
                self.log.requests.push((kind, body));
                Step::Requested
            }
            ServerEvent::Trace(Event::Held { exchange, .. }) => Step::Held(exchange),
            ServerEvent::GateOpened { gate, tool, args } => {
                let call = self.plan.call_with_marker(&args);
                self.gates.push(call);
                self.log.runs.push(Run { tool, args, call });
                Step::Opened(gate)
            }
            ServerEvent::GateDropped { gate } => Step::Dropped(gate),
            ServerEvent::GateSettled { .. } | ServerEvent::Trace(_) => Step::Other,
            ServerEvent::Broken => {
                return Err(DriverError::harness(CUT_SHORT, "the provider core failed"));
            }
        })
    }

    fn said(&mut self, event: SessionEvent) -> Result<Step, DriverError> {
        match event {
            SessionEvent::Shown { id, state } => {
                self.log.shown.push((id, state));
                Ok(Step::Other)
            }
            // No probe has a tool that needs the user's consent; an agent that asks all the same may go on.
            SessionEvent::Asked { question, .. } => {
                self.session.answer(question, Consent::Given);
                Ok(Step::Other)
            }
            SessionEvent::Ended(outcome) => {
                self.log.outcome = Some(outcome);
                Ok(Step::Ended)
            }
            SessionEvent::PromptRefused => Ok(Step::Other),
            SessionEvent::Lost(error) => Err(error),
        }
    }
}

const CUT_SHORT: &str = "the probe cannot go on";

enum Next {
    ServerEvent(Option<ServerEvent>),
    Said(Option<SessionEvent>),
}

fn spec(mount: &Mount<Core>, plan: &Plan, mode: &str, state_dir: PathBuf) -> SessionSpec {
    let tools = plan.tools.iter().map(|tool| ToolSpec::new(tool, mount.gate_url(&tool.name)));
    SessionSpec {
        base_url: mount.base_url(),
        dialect: plan.dialect,
        model: None,
        thinking: plan.thinks(),
        max_steps: None,
        mode: mode.to_owned(),
        tools: tools.collect(),
        state_dir,
    }
}
