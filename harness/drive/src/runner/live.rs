//! One plan over real sockets: the conductor between the server and a session.

mod change;
mod gates;
mod kill;
mod pace;
mod receipts;
mod saves;
mod session;

use crate::by_now::by_now;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{LocalBoxFuture, ready};
use serde_json::{Value, json};

use gates::OpenGates;
pub(super) use pace::Pace;
use saves::{Due, Saves};
use session::broken;
pub(super) use session::{Remains, SystemSession};

use super::recorder::Recorder;
use crate::driver::stopwatch::{TimeOver, within};
use crate::driver::{DriverError, SessionEvent};
use crate::server::{Answered, Mount, Server, ServerEvent};
use brickbat_engine::conductor::{Command, Conductor};
use brickbat_engine::interpreter::{World, perform};
use brickbat_engine::provider::Provider;
use brickbat_engine::run::Run;
use brickbat_report::record::Observed;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;
use brickbat_scenario::action::{ToolChange, WriteFailure};
use brickbat_scenario::plan::{CallKey, Change, Plan, PlannedTool, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{
    Aside, Consent, Ending, Event, ExchangeId, LetGo, QuestionId, RequestKind, Trace, TurnOutcome,
};

pub(super) struct DriveResult {
    pub(super) run: Result<Run, DriverError>,
    /// The record of the plan, even if it broke off, and the redactor for its secrets.
    pub(super) kept: Option<(Observed, Redactor)>,
}

impl From<DriverError> for DriveResult {
    fn from(error: DriverError) -> DriveResult {
        DriveResult { run: Err(error), kept: None }
    }
}

/// The settings of a session that a plan may change.
pub(super) struct Settings {
    /// The dialect of the provider.
    pub(super) dialect: Dialect,
    /// The tools that the system has.
    pub(super) tools: Vec<PlannedTool>,
}

/// Opens a system's sessions for one plan.
pub(super) trait Opener {
    /// Opens a session at the base path of the plan, with these settings. With `remains`, it loads the session that a
    /// process has left.
    fn open<'a>(
        &'a self,
        base_path: &'a str,
        settings: &'a Settings,
        remains: Option<&'a Remains>,
    ) -> Opening<'a>;
}

pub(super) type Opening<'a> = LocalBoxFuture<'a, Result<SystemSession, DriverError>>;

/// Drives a plan. With a redactor, everything is recorded.
pub(super) async fn drive(
    server: &Server,
    plan: &Arc<Plan>,
    provider: Provider,
    width: Option<usize>,
    pace: Pace,
    keep: Option<Redactor>,
    opener: &dyn Opener,
) -> DriveResult {
    let mount = server.mount(match keep {
        Some(_) => Recorder::keeping(provider),
        None => Recorder::forgetful(provider),
    });
    let base_url = mount.base_url();
    let address = server.addr().to_string();
    let origin = format!("http://{address}");
    let base_path = base_url.strip_prefix(&origin).unwrap_or_default().to_owned();
    let settings = Settings { dialect: plan.dialect, tools: plan.tools_after(&[]) };
    let session = match opener.open(&base_path, &settings, None).await {
        Ok(session) => session,
        Err(error) => return error.into(),
    };
    mount.belongs_to(session.process());
    let stderr_from = session.stderr_len();
    let conductor = Conductor::new(Arc::clone(plan), pace.patience, width);
    let mut live = Live {
        plan,
        mount,
        session,
        other: None,
        opener,
        base_path,
        settings,
        tool_changes: Vec::new(),
        remains: None,
        conductor,
        todo: VecDeque::new(),
        is_finished: false,
        trace: Trace::default(),
        gates: OpenGates::default(),
        saves: Saves::default(),
        open: Vec::new(),
        alive: Vec::new(),
        ending: VecDeque::new(),
        address,
        pace,
        silence: Duration::ZERO,
        stderr: String::new(),
        stderr_from,
    };
    let process = live.session.process();
    let run = live.run(pace.quiet);
    let done = match within(process, MAX_PLAN_TIME, run).await {
        Ok(done) => done,
        Err(TimeOver) => Err(broken(&format!("the plan took longer than {} s", MAX_PLAN_TIME.as_secs()))),
    };
    // The stored history is requested only from a system that still answers.
    let store = match done {
        Ok(()) => live.session.history().await,
        Err(_) => None,
    };
    if let Some(Ok(history)) = &store {
        live.trace.push(Event::Stored { history: history.to_string().into_bytes().into() });
    }
    let misaddressed = live.mount.with_core(|core| core.provider.misaddressed().cloned());
    let done = misaddressed.map_or(done, |lost| Err(lost.into()));
    let kept = keep.map(|redactor| live.observed(redactor, store));
    let is_plain = live.session.is_plain();
    let run = done.map(|()| Run { trace: live.trace, receipts: live.conductor.receipts().to_vec() });
    // An agent without an adapter does not report whether it followed the command.
    let run = run.map(|run| if is_plain { run.doubting_changes(plan) } else { run });
    DriveResult { run, kept }
}

/// The number of characters kept from an SDK error. A provider's sentence with all its ids takes a few
/// hundred.
const MAX_ERROR_CHARS: usize = 4000;

/// A plan takes less than a second; a system that backs off between many retries may take some minutes.
const MAX_PLAN_TIME: Duration = Duration::from_secs(600);

struct Live<'a> {
    plan: &'a Plan,
    mount: Mount<Recorder>,
    session: SystemSession,
    /// The other process of the session, if there are two, and the position in its standard error where the
    /// plan began.
    other: Option<(SystemSession, u64)>,
    opener: &'a dyn Opener,
    /// The path of the plan on the server.
    base_path: String,
    settings: Settings,
    /// The changes of the list of tools so far.
    tool_changes: Vec<ToolChange>,
    /// The remains of the last killed process.
    remains: Option<Remains>,
    /// The standard error of killed processes.
    stderr: String,
    /// The position in the standard error of the current process where the plan began.
    stderr_from: u64,
    conductor: Conductor,
    /// Commands of the conductor that are still to be executed.
    todo: VecDeque<Command>,
    is_finished: bool,
    trace: Trace,
    gates: OpenGates,
    saves: Saves,
    /// Answers that are being sent and are not held.
    open: Vec<ExchangeId>,
    /// Answers that have not ended, held or not.
    alive: Vec<ExchangeId>,
    /// Ends of turns that arrived while answers were still being sent: the end of the answers is reported
    /// first.
    ending: VecDeque<TurnOutcome>,
    /// The server's address, as texts may contain it.
    address: String,
    pace: Pace,
    /// The time since the last event.
    silence: Duration,
}

impl Live<'_> {
    async fn run(&mut self, quiet: Duration) -> Result<(), DriverError> {
        let first = self.conductor.start();
        self.execute(first).await?;
        while !self.is_finished {
            if let Some(event) = self.next(quiet).await? {
                self.observe(event);
            }
            self.execute(Vec::new()).await?;
        }
        Ok(())
    }

    /// Passes an event to the conductor and queues its commands.
    fn observe(&mut self, event: Event) {
        self.note_wait(&event);
        if matches!(event, Event::TurnEnded { .. }) {
            self.saves.end_turn();
        }
        self.todo.extend(self.conductor.observe(&event));
        self.trace.push(event);
    }

    /// Notes a long silence that the system has ended itself.
    fn note_wait(&mut self, event: &Event) {
        let goes_on = match event {
            Event::Quiet => return self.silence += self.pace.quiet,
            Event::Requested { kind, .. } => {
                !matches!(kind, RequestKind::Auxiliary | RequestKind::Repeated { .. })
            }
            Event::TurnEnded { .. } => true,
            _ => false,
        };
        if goes_on && self.silence >= self.pace.slow {
            let seconds = u32::try_from(self.silence.as_secs()).unwrap_or(u32::MAX);
            self.trace.push(Event::Waited { seconds });
        }
        self.silence = Duration::ZERO;
    }

    /// Executes commands, and everything that immediately follows from them.
    async fn execute(&mut self, commands: Vec<Command>) -> Result<(), DriverError> {
        self.todo.extend(commands);
        while let Some(command) = self.todo.pop_front() {
            perform(self, command).await?;
        }
        Ok(())
    }

    /// Processes the events that the server has seen so far.
    async fn catch_up(&mut self) -> Result<(), DriverError> {
        while let Some(Some(seen)) = by_now(self.mount.next()) {
            if let Some(event) = self.on_server_event(seen).await? {
                self.observe(event);
            }
        }
        Ok(())
    }

    /// The next event. `None` if what happened is not an event.
    async fn next(&mut self, quiet: Duration) -> Result<Option<Event>, DriverError> {
        match self.saves.next() {
            Some(Due::Happened(event)) => return Ok(Some(event)),
            Some(Due::GoesOn(gate, failing)) => {
                self.mount.let_write(gate, failing.as_ref());
                return Ok(None);
            }
            None => {}
        }
        if self.open.is_empty() && !self.ending.is_empty() {
            // Events that the server has seen by then belong to the turn.
            match by_now(self.mount.next()) {
                Some(Some(seen)) => return self.on_server_event(seen).await,
                _ => return Ok(self.ending.pop_front().map(|outcome| Event::TurnEnded { outcome })),
            }
        }
        let process = self.session.process();
        let next = async {
            // The server first: what it saw caused what the session reports.
            tokio::select! {
                biased;
                seen = self.mount.next() => Incoming::ServerEvent(seen),
                event = self.session.next() => Incoming::Session(event),
            }
        };
        match within(process, quiet, next).await {
            Ok(Incoming::ServerEvent(Some(seen))) => self.on_server_event(seen).await,
            Ok(Incoming::ServerEvent(None)) => Err(broken("the provider's server stopped")),
            Ok(Incoming::Session(Some(event))) => self.on_session_event(event),
            Ok(Incoming::Session(None)) => Err(broken("the session ended")),
            Err(TimeOver) => {
                self.open.clear();
                Ok(Some(Event::Quiet))
            }
        }
    }

    async fn on_server_event(&mut self, seen: ServerEvent) -> Result<Option<Event>, DriverError> {
        let event = match seen {
            ServerEvent::Trace(event) => self.on_exchange(event).await?,
            ServerEvent::GateOpened { gate, args, .. } => {
                let call = self.plan.call_with_marker(&args);
                match call {
                    Some(call) => self.gates.opened(gate, call),
                    None => {
                        let unknown = "the harness does not know this call".to_owned();
                        self.mount.settle(gate, &ToolOutcome::Error(unknown));
                    }
                }
                Event::ToolStarted { call, args }
            }
            ServerEvent::SaveHeld { gate, write } => {
                self.saves.held(gate, &write)?;
                return Ok(None);
            }
            ServerEvent::GateSettled { gate, grade } => {
                let Some(run) = self.gates.closed(gate) else { return Ok(None) };
                let outcome = self.plan.calls[run.call.0 as usize].outcome.clone();
                run.settled(outcome, self.confirm(grade, Answered::Gate(gate)).await?)
            }
            ServerEvent::GateDropped { gate } => {
                let Some(run) = self.gates.closed(gate) else { return Ok(None) };
                run.cancelled()
            }
            ServerEvent::Broken => return Err(broken("the provider core failed")),
        };
        Ok(Some(event))
    }

    /// Keeps track of the answers that are being sent.
    async fn on_exchange(&mut self, event: Event) -> Result<Event, DriverError> {
        match event {
            Event::Requested { exchange, .. } => {
                self.open.push(exchange);
                self.alive.push(exchange);
            }
            Event::Held { exchange, at, grade } => {
                self.open.retain(|open| *open != exchange);
                let grade = self.confirm(grade, Answered::Exchange(exchange)).await?;
                return Ok(Event::Held { exchange, at, grade });
            }
            Event::Replied { exchange, ending } => {
                self.closed(exchange);
                if matches!(ending, Ending::Reset | Ending::Eof | Ending::EndEarly | Ending::ErrorEvent) {
                    // A tool that is still running settles in a system that knows of the break.
                    self.session.barrier().await?;
                }
                if self.conductor.rests_on_end(exchange) {
                    let grade = self.confirm_end(exchange, ending).await?;
                    self.conductor.at_most(exchange, grade);
                }
            }
            Event::PeerClosed { exchange } => self.closed(exchange),
            _ => {}
        }
        Ok(event)
    }

    /// Processes the events that the system has reported so far. A tool result that is sent next therefore
    /// comes later, in particular after the end of a turn that was already reported.
    async fn drain_session(&mut self) -> Result<(), DriverError> {
        while let Some(Some(event)) = by_now(self.session.next()) {
            if let Some(event) = self.on_session_event(event)? {
                self.observe(event);
            }
        }
        // Events that the server has seen by then belong to the turn.
        while !self.ending.is_empty()
            && let Some(Some(seen)) = by_now(self.mount.next())
        {
            if let Some(event) = self.on_server_event(seen).await? {
                self.observe(event);
            }
        }
        if self.open.is_empty()
            && let Some(outcome) = self.ending.pop_front()
        {
            self.observe(Event::TurnEnded { outcome });
        }
        Ok(())
    }

    fn on_session_event(&mut self, event: SessionEvent) -> Result<Option<Event>, DriverError> {
        match event {
            SessionEvent::Shown { id, state } => Ok(Some(Event::CallShown { id, state })),
            SessionEvent::Asked { question, id, args } => {
                // A system that gives calls ids of its own may show the arguments, which contain the marker.
                let by_args = || args.as_deref().and_then(|args| self.plan.call_with_marker(args));
                let call = self.plan.call_with_id(&id).or_else(by_args);
                Ok(Some(Event::Asked { question, id, call }))
            }
            SessionEvent::Repaired(repair) => Ok(Some(Event::Repaired { repair })),
            SessionEvent::Ended(outcome) => {
                self.ending.push_back(self.redacted(outcome));
                Ok(None)
            }
            SessionEvent::PromptRefused => Ok(Some(Event::PromptRefused)),
            SessionEvent::Lost(error) => Err(error),
        }
    }

    /// The provider's address differs from run to run, and SDKs often quote it in their errors.
    fn redacted(&self, outcome: TurnOutcome) -> TurnOutcome {
        match outcome {
            TurnOutcome::Raised { class, text } => {
                let text = text
                    .replace(&self.mount.base_url(), "http://provider")
                    .replace(&self.address, "provider");
                let cut = |text: &str| text.chars().take(MAX_ERROR_CHARS).collect();
                TurnOutcome::Raised { class: cut(&class), text: cut(&text) }
            }
            other => other,
        }
    }

    /// The record of the plan. Our own agent in this process is not an adapter: its store is not recorded as
    /// a file.
    fn observed(
        &self,
        redactor: Redactor,
        store: Option<Result<Value, DriverError>>,
    ) -> (Observed, Redactor) {
        let store = store.filter(|_| matches!(self.session, SystemSession::Acp(_)));
        let store = store.map(|store| store.unwrap_or_else(|error| json!({ "error": error.to_string() })));
        let stderr = self.session.stderr_since(self.stderr_from).map(|text| format!("{}{text}", self.stderr));
        let exchanges = self.mount.with_core(Recorder::take);
        let redactor = redactor
            .with_path(&self.mount.base_url(), "http://provider")
            .with_path(&self.address, "provider");
        (Observed { trace: self.trace.clone(), exchanges, stderr, store }, redactor)
    }

    /// Waits until the system has processed everything before this point.
    async fn await_barrier(&mut self) -> Result<(), DriverError> {
        self.session.barrier().await.map(drop)
    }

    /// Processes everything that a watched system still does on its own. Otherwise, the machine's load
    /// would decide which turn this belongs to, or whether it is observed. Returns true if the system is
    /// idle.
    async fn come_to_rest(&mut self) -> Result<bool, DriverError> {
        let is_at_rest = self.session.is_watched() && self.session.barrier().await?;
        if is_at_rest {
            self.catch_up().await?;
        }
        Ok(is_at_rest)
    }

    fn closed(&mut self, exchange: ExchangeId) {
        self.open.retain(|open| *open != exchange);
        self.alive.retain(|alive| *alive != exchange);
    }
}

impl World for Live<'_> {
    type Done<'a>
        = LocalBoxFuture<'a, Result<(), DriverError>>
    where
        Self: 'a;

    fn note(&mut self, event: Event) {
        self.trace.push(event);
    }

    fn prompt(&mut self, turn: usize) -> Self::Done<'_> {
        Box::pin(async move {
            self.mount.with_core(|core| core.provider.begin_turn(turn));
            // The user speaks when they like.
            self.mount.forget_pause();
            if turn > 0 {
                self.come_to_rest().await?;
            }
            // Gates that had opened by then belong to the turn before.
            self.catch_up().await?;
            self.saves.begin_turn();
            self.gates.begin_turn(turn);
            self.note(Event::Prompted { turn });
            self.session.prompt(&self.plan.turns[turn].user).await
        })
    }

    fn stop(&mut self) -> Self::Done<'_> {
        Box::pin(async move {
            self.session.cancel().await?;
            if !self.session.is_watched() {
                return self.await_barrier().await;
            }
            if self.come_to_rest().await? {
                // Nothing runs any more: whatever the system does from here on did not start before the stop.
                self.note(Event::Quiet);
            }
            Ok(())
        })
    }

    fn interrupt(&mut self, cause: InterruptCause) -> Self::Done<'_> {
        Box::pin(async move {
            self.session.interrupt(cause).await?;
            self.await_barrier().await
        })
    }

    fn say(&mut self, way: Aside, text: String) -> Self::Done<'_> {
        Box::pin(async move {
            self.session.say(way, text).await?;
            self.await_barrier().await
        })
    }

    fn kill(&mut self) -> Self::Done<'_> {
        Box::pin(async move {
            self.await_barrier().await?;
            // Otherwise chance would decide whether data reaches the store just before or after its death.
            self.session.settle_down().await;
            self.kill_process().await
        })
    }

    fn fail_write(&mut self, how: WriteFailure) -> Self::Done<'_> {
        self.saves.fail(how);
        Box::pin(ready(Ok(())))
    }

    fn resume(&mut self) -> Self::Done<'_> {
        Box::pin(self.restart())
    }

    fn switch(&mut self, process: u32) -> Self::Done<'_> {
        Box::pin(self.switch_to(process))
    }

    fn change(&mut self, change: Change) -> Self::Done<'_> {
        Box::pin(self.change_history(change))
    }

    fn release(&mut self, exchange: ExchangeId) -> Self::Done<'_> {
        self.open.push(exchange);
        self.mount.release(exchange);
        Box::pin(ready(Ok(())))
    }

    fn settle(&mut self, call: CallKey, outcome: ToolOutcome) -> Self::Done<'_> {
        Box::pin(async move {
            if self.plan.calls.iter().any(|call| call.asks) {
                // A question that the system has asked by now must come before the result.
                self.await_barrier().await?;
            }
            self.drain_session().await?;
            match self.gates.oldest(call) {
                Some(gate) => self.mount.settle(gate, &outcome),
                None => self.observe(Event::ToolCancelled { call }),
            }
            Ok(())
        })
    }

    fn answer(&mut self, question: QuestionId, consent: Consent) -> Self::Done<'_> {
        self.session.answer(question, consent);
        Box::pin(ready(Ok(())))
    }

    fn sub_agent(&mut self, event: Event) -> Self::Done<'_> {
        self.note(event);
        Box::pin(ready(Ok(())))
    }

    fn let_go(&mut self, what: LetGo) -> Self::Done<'_> {
        self.note(Event::LetGo { what });
        Box::pin(ready(Ok(())))
    }

    fn give_up(&mut self) -> Self::Done<'_> {
        Box::pin(async move {
            self.session.answers().await?;
            self.note(Event::GaveUp);
            Ok(())
        })
    }

    fn finish(&mut self) -> Self::Done<'_> {
        Box::pin(async move {
            self.come_to_rest().await?;
            self.is_finished = true;
            self.todo.clear();
            Ok(())
        })
    }
}

enum Incoming {
    ServerEvent(Option<ServerEvent>),
    Session(Option<SessionEvent>),
}
