//! The harness as an ACP client: one adapter process, many sessions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AuthenticateRequest, CancelNotification, CloseSessionRequest, ContentBlock, InitializeRequest,
    InitializeResponse, LoadSessionRequest, NewSessionRequest, PromptRequest, PromptResponse,
    RequestPermissionRequest, RequestPermissionResponse, TextContent,
};
use agent_client_protocol::{
    Agent, Client, JsonRpcRequest, Lines, UntypedMessage, on_receive_notification, on_receive_request,
};
use futures::{Sink, StreamExt, TryStreamExt};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, oneshot};

mod hub;
mod meet;

use hub::{Hub, Update, is_over};
pub use meet::{Introduction, Met};

use super::action::{self, SessionAction};
use super::error::DriverError;
use super::event::SessionEvent;
use super::plain::{self, PlainAgent};
use super::process::{Launch, Pipes, Process, ProcessLimits, WRITE_WAIT};
use super::protocol::{self, About, SessionSpec, ToolSpec};
use super::stopwatch::{TimeOver, within};
use super::talk::Talk;
use super::{feed, give, lines, rest};
use crate::by_now::received;
use brickbat_engine::events::{Consumed, Event};
use brickbat_scenario::plan::{Change, GivenMessage};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, QuestionId};

/// A running adapter. Clones share the process.
/// It is killed, with every process that it started, when the last clone and the last session are dropped.
#[derive(Debug, Clone)]
pub struct Adapter {
    link: Arc<Link>,
    about: Arc<About>,
    /// The description of an agent that does not know the harness; none for an adapter.
    plain: Option<Arc<PlainAgent>>,
    /// The start command for each session's process, if the provider's address is part of its
    /// command or environment. This process then only answers `initialize`.
    own_process: Option<Arc<Launch>>,
}

/// A conversation with the system.
#[derive(Debug)]
pub struct Session {
    adapter: Adapter,
    id: String,
    events: mpsc::Receiver<SessionEvent>,
    /// Prompts that were sent and have not ended.
    n_running: u32,
    lost: bool,
    /// True if the adapter can show the stored history.
    shows_history: bool,
}

impl Adapter {
    /// Starts an adapter and initializes the connection.
    pub async fn start(launch: &Launch) -> Result<Adapter, DriverError> {
        let (link, answer) = Adapter::connect(launch).await?;
        let about = protocol::about(answer.meta.as_ref())?;
        protocol::can_load(&about, &answer)?;
        Ok(Adapter { link: Arc::new(link), about: Arc::new(about), plain: None, own_process: None })
    }

    /// Starts an agent that speaks ACP itself, and initializes the connection.
    pub async fn start_plain(launch: &Launch, agent: PlainAgent) -> Result<Adapter, DriverError> {
        let own_process = plain::is_filled_in(&launch.args, &launch.env).then(|| Arc::new(launch.clone()));
        let adapter = Adapter::of_plain(&agent.launch(launch, None)?, Arc::new(agent)).await?;
        Ok(Adapter { own_process, ..adapter })
    }

    async fn of_plain(launch: &Launch, agent: Arc<PlainAgent>) -> Result<Adapter, DriverError> {
        let (link, answer) = Adapter::connect(launch).await?;
        let about = agent.about(answer.agent_info.as_ref());
        protocol::can_load(&about, &answer)?;
        if let Some(method) = &agent.plain.authenticate {
            let request = AuthenticateRequest::new(method.clone());
            link.ask("authenticate", request, launch.limits.start).await?;
        }
        Ok(Adapter { link: Arc::new(link), about: Arc::new(about), plain: Some(agent), own_process: None })
    }

    /// The process that runs the session: this one, or one that is started for it.
    async fn for_session(&self, spec: &SessionSpec) -> Result<Adapter, DriverError> {
        match (&self.own_process, &self.plain) {
            (Some(launch), Some(agent)) => {
                Adapter::of_plain(&agent.launch(launch, Some(spec))?, Arc::clone(agent)).await
            }
            _ => Ok(self.clone()),
        }
    }

    async fn connect(launch: &Launch) -> Result<(Link, InitializeResponse), DriverError> {
        let (process, pipes) = Process::start(launch).await?;
        let hub = Arc::new(Hub::default());
        let process = Arc::new(process);
        let (connected, connection) = oneshot::channel();
        tokio::spawn(serve(pipes, hub.clone(), process.clone(), launch.limits, connected));
        // If the connection fails before the handshake, the cause is known.
        let Ok(connection) = connection.await else { return Err(hub.cause().await) };
        let is_restless = AtomicBool::new(false);
        let mut link = Link { connection, hub, process, limits: launch.limits, is_restless, closes: false };
        let request = InitializeRequest::new(ProtocolVersion::V1);
        let answer = link.ask("initialize", request, launch.limits.start).await?;
        link.closes = answer.agent_capabilities.session_capabilities.close.is_some();
        Ok((link, answer))
    }

    pub fn about(&self) -> &About {
        &self.about
    }

    /// True once the connection is closed, so that no session can be opened.
    pub fn is_over(&self) -> bool {
        self.link.hub.failure.borrow().is_some()
    }

    /// The number of bytes that the process has written to its standard error so far.
    pub fn stderr_len(&self) -> u64 {
        self.link.process.stderr_len()
    }

    /// The text that the process has written to its standard error after the first `len` bytes.
    pub fn stderr_since(&self, len: u64) -> String {
        self.link.process.stderr_since(len)
    }

    /// Kills the adapter as `kill -9` would, with every process that it started, and returns when all of them
    /// are gone.
    /// Its sessions are lost.
    pub async fn kill(&self) -> Result<(), DriverError> {
        self.link.process.kill();
        match within(self.link.process.id(), KILL_WAIT, self.link.process.ended()).await {
            Ok(_) => Ok(()),
            Err(TimeOver) => Err(DriverError::harness(
                format!("cannot kill the adapter's processes within {} s", KILL_WAIT.as_secs()),
                "they are still running",
            )),
        }
    }

    pub async fn open(&self, spec: &SessionSpec) -> Result<Session, DriverError> {
        match &self.plain {
            None => self.open_with(spec, spec.meta()).await,
            Some(agent) => self.for_session(spec).await?.enter(agent.new_session(spec)?).await,
        }
    }

    /// Opens a session with a `_meta` that differs from the spec's, to check what the adapter rejects.
    pub async fn open_with(
        &self,
        spec: &SessionSpec,
        meta: Map<String, Value>,
    ) -> Result<Session, DriverError> {
        self.enter(NewSessionRequest::new(spec.state_dir.clone()).meta(meta)).await
    }

    /// Puts a history into the adapter's store, and returns the id under which it can be loaded.
    pub async fn give(&self, spec: &SessionSpec, history: &[GivenMessage]) -> Result<String, DriverError> {
        let answer = self.link.extension(give::METHOD, give::params(spec, history)).await?;
        give::session_id(&answer)
    }

    /// Feeds events to a consumer of the SDK's stream, and returns what was stored after each.
    pub async fn feed(&self, consumer: &str, events: &[Event]) -> Result<Consumed, DriverError> {
        let params = json!({ "consumer": consumer, "events": events });
        feed::consumed(self.link.extension(feed::METHOD, params).await?, events.len())
    }

    /// True if the adapter does not answer barriers itself, so that its processes are watched instead.
    pub(crate) fn is_watched(&self) -> bool {
        self.plain.is_some() || !self.about.capabilities.has("barrier")
    }

    /// Waits until its processes are idle; false if that cannot be determined. An adapter that polls for work
    /// is never idle, and every wait would take its full time, so only one such wait is made.
    async fn rests<F: Future<Output = bool>>(&self, reached: impl FnOnce(u32) -> F) -> bool {
        let link = &self.link;
        let Some(process) = link.process.id().filter(|_| rest::can_be_told()) else { return false };
        if link.is_restless.load(Ordering::Relaxed) {
            return false;
        }
        let rests = reached(process).await;
        link.is_restless.store(!rests && self.plain.is_none(), Ordering::Relaxed);
        rests
    }

    async fn enter(&self, request: NewSessionRequest) -> Result<Session, DriverError> {
        let answer = self.link.ask("session/new", request, self.link.limits.answer).await?;
        let id = answer.session_id.to_string();
        let events = self.link.hub.enter(&id)?;
        Ok(Session::of(self.clone(), id, events))
    }

    /// Closes the adapter's standard input and waits for the adapter to exit.
    pub async fn hang_up(&self) -> Result<(), DriverError> {
        self.link.hub.hanging_up.notify_one();
        match self.link.hub.cause().await {
            DriverError::AdapterExited { .. } => Ok(()),
            other => Err(other),
        }
    }

    /// Loads a session that another process of this adapter opened with that spec. That process is dead.
    pub async fn load(&self, id: &str, spec: &SessionSpec) -> Result<Session, DriverError> {
        let request = match &self.plain {
            None => LoadSessionRequest::new(id.to_owned(), spec.state_dir.clone()).meta(spec.meta()),
            Some(agent) => agent.load_session(id, spec)?,
        };
        let adapter = self.for_session(spec).await?;
        // While loading, the adapter shows the past again. The session is not open yet, so these updates are
        // dropped.
        adapter.link.ask("session/load", request, adapter.link.limits.answer).await?;
        let events = adapter.link.hub.enter(id)?;
        Ok(Session::of(adapter, id.to_owned(), events))
    }
}

impl Session {
    fn of(adapter: Adapter, id: String, events: mpsc::Receiver<SessionEvent>) -> Session {
        let shows_history = adapter.about.capabilities.has("history");
        Session { adapter, id, events, n_running: 0, lost: false, shows_history }
    }

    /// The same session in a mode in which the adapter exposes no history.
    #[must_use]
    pub fn without_history(mut self) -> Session {
        self.shows_history = false;
        self
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The id of the root process under which the system runs everything.
    pub(crate) fn process(&self) -> Option<u32> {
        self.link().process.id()
    }

    /// Kills the process that runs this session, and with it all other sessions in that process.
    pub async fn kill(&self) -> Result<(), DriverError> {
        self.adapter.kill().await
    }

    /// Sends the user's message. The end of the turn arrives as an event.
    pub async fn prompt(&mut self, text: &str) -> Result<(), DriverError> {
        if self.n_running > 0 {
            return Err(DriverError::TurnRunning);
        }
        self.send_prompt(text, Hub::end_turn).await
    }

    /// Sends a message to the running turn. If it is another prompt, the system may refuse it, which arrives
    /// as an event.
    pub async fn say(&mut self, way: Aside, text: String) -> Result<(), DriverError> {
        match way {
            Aside::Prompted => self.send_prompt(&text, Hub::end_turn_beside).await,
            Aside::Steered => self.act(SessionAction::Steer(text)).await.map(drop),
            Aside::Injected => self.act(SessionAction::Inject(text)).await.map(drop),
        }
    }

    /// Throws an exception out of the system's loop.
    pub async fn interrupt(&self, cause: InterruptCause) -> Result<(), DriverError> {
        self.act(SessionAction::Interrupt(cause)).await.map(drop)
    }

    async fn act(&self, action: SessionAction) -> Result<Value, DriverError> {
        let params = json!({ "sessionId": self.id, "action": action });
        self.link().extension(action::METHOD, params).await
    }

    async fn send_prompt(&mut self, text: &str, end: EndTurn) -> Result<(), DriverError> {
        let request = prompt_request(&self.id, text);
        let (hub, id, plain) = (self.link().hub.clone(), self.id.clone(), self.adapter.plain.is_some());
        // The callback runs in the order of the wire, so updates that were shown before the end become events
        // before the end.
        let sent = self.link().connection.prepare_request(request).on_receiving_result(async move |result| {
            end(&hub, &id, result, plain);
            Ok(())
        });
        match sent {
            Ok(()) => self.n_running += 1,
            Err(_) => return Err(self.link().hub.cause().await),
        }
        Ok(())
    }

    pub async fn cancel(&self) -> Result<(), DriverError> {
        match self.link().connection.send_notification(CancelNotification::new(self.id.clone())) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.link().hub.cause().await),
        }
    }

    /// Answers a question. If the adapter is gone, the answer is dropped.
    pub fn answer(&self, question: QuestionId, consent: Consent) {
        self.link().hub.questions.answer(&self.id, question, consent);
    }

    /// Waits until the adapter has consumed everything that it has received; false if that cannot be
    /// determined. If the adapter answers no barriers, its processes are watched.
    pub async fn barrier(&self) -> Result<bool, DriverError> {
        if !self.adapter.is_watched() {
            return self.extension("_brickbat/barrier").await.map(|_| true);
        }
        Ok(self.adapter.rests(rest::reached).await)
    }

    /// True if Brickbat watches the processes to learn what the system has consumed.
    pub fn is_watched(&self) -> bool {
        self.adapter.is_watched()
    }

    /// True if the system is an agent that does not know the harness.
    pub fn is_plain(&self) -> bool {
        self.adapter.plain.is_some()
    }

    /// Waits until the processes of the system have also done the work that they postponed, such as writing
    /// to the store. This is always observed from outside, never asked of the system, so nothing else may run
    /// in these processes.
    pub async fn settle_down(&self) {
        self.adapter.rests(rest::reached_for_long).await;
    }

    /// Waits for any answer of the adapter, which proves that it is alive. An error for the unknown method is
    /// enough.
    pub async fn answers(&self) -> Result<(), DriverError> {
        match self.extension("_brickbat/barrier").await {
            Err(error) if !error.is_refusal() => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The history as the system has stored it, in its own format. `None` if the adapter does not show it.
    pub async fn history(&self) -> Result<Option<Value>, DriverError> {
        if !self.shows_history {
            return Ok(None);
        }
        let mut answer = self.extension("_brickbat/history").await?;
        match answer.get_mut("history") {
            Some(history) => Ok(Some(history.take())),
            None => Err(DriverError::violation("its answer to _brickbat/history has no `history`", answer)),
        }
    }

    /// The number of bytes that the adapter's process has written to its standard error so far.
    pub fn stderr_len(&self) -> u64 {
        self.link().process.stderr_len()
    }

    /// The text that the process has written to its standard error after the first `len` bytes.
    /// Other sessions may share the process.
    pub fn stderr_since(&self, len: u64) -> String {
        self.link().process.stderr_since(len)
    }

    /// The next event, or none after [`SessionEvent::Lost`]. Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<SessionEvent> {
        if self.lost {
            return None;
        }
        let event = match received(&mut self.events).await {
            Some(event) => event,
            None => SessionEvent::Lost(self.link().hub.why_closed()),
        };
        let event = match event {
            SessionEvent::Lost(error) => SessionEvent::Lost(error.with_stderr(self.link().process.stderr())),
            other => other,
        };
        match event {
            SessionEvent::Shown { .. } | SessionEvent::Asked { .. } | SessionEvent::Repaired(_) => {}
            SessionEvent::Ended(_) | SessionEvent::PromptRefused => {
                self.n_running = self.n_running.saturating_sub(1);
            }
            SessionEvent::Lost(_) => self.lost = true,
        }
        Some(event)
    }

    /// Changes the history. While a turn runs, the answer may come before the change.
    /// Returns false if the system reports that there was nothing to change.
    pub async fn change(&self, change: &Change) -> Result<bool, DriverError> {
        match self.adapter.plain.as_ref().and_then(|agent| agent.words_for(change)) {
            Some(words) => self.order(words).await.map(|()| true),
            None => {
                let answer = self.act(SessionAction::Change(change.clone())).await?;
                Ok(!action::is_idle(&answer))
            }
        }
    }

    /// Gives the system a new list of tools, which its next request offers.
    /// Returns false if the system reports that there was nothing to change.
    pub async fn offer(&self, tools: Vec<ToolSpec>) -> Result<bool, DriverError> {
        self.act(SessionAction::Tools(tools)).await.map(|answer| !action::is_idle(&answer))
    }

    /// Sends an idle agent a prompt that it reads as a command, and waits until it has run or failed.
    /// The user continues in both cases.
    async fn order(&self, words: &str) -> Result<(), DriverError> {
        let request = prompt_request(&self.id, words);
        match self.link().ask("session/prompt", request, self.link().limits.answer).await {
            Err(error) if !error.is_refusal() => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    pub(super) async fn extension(&self, method: &'static str) -> Result<Value, DriverError> {
        self.link().extension(method, json!({ "sessionId": self.id })).await
    }

    fn link(&self) -> &Link {
        &self.adapter.link
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.link().hub.leave(&self.id);
        if self.n_running > 0 {
            // An abandoned turn must not keep sending requests to the provider. If the adapter is gone, so is
            // the turn.
            let _ = self.link().connection.send_notification(CancelNotification::new(self.id.clone()));
        }
        // An agent without an adapter may write to its store when a session ends, while the next plan watches
        // its processes.
        if self.link().closes && self.adapter.plain.is_none() {
            let request = self.link().connection.prepare_request(CloseSessionRequest::new(self.id.clone()));
            // The harness does not wait for the answer: the adapter may close the session as it likes.
            let _ = request.on_receiving_result(async |_| Ok(()));
        }
    }
}

fn prompt_request(session: &str, text: &str) -> PromptRequest {
    PromptRequest::new(session.to_owned(), vec![ContentBlock::Text(TextContent::new(text))])
}

/// Handles the answer to a prompt.
type EndTurn = fn(&Hub, &str, Result<PromptResponse, agent_client_protocol::Error>, bool);

/// The time limit for a killed adapter to disappear. The kernel takes milliseconds, unless a process hangs
/// in a device.
const KILL_WAIT: Duration = Duration::from_secs(20);

#[derive(Debug)]
struct Link {
    connection: ConnectionTo<Agent>,
    hub: Arc<Hub>,
    process: Arc<Process>,
    limits: ProcessLimits,
    /// True if the adapter ever failed to settle in time.
    is_restless: AtomicBool,
    /// True if it supports `session/close`.
    closes: bool,
}

impl Link {
    async fn extension(&self, method: &'static str, params: Value) -> Result<Value, DriverError> {
        let request = UntypedMessage { method: method.to_owned(), params };
        self.ask(method, request, self.limits.answer).await
    }

    async fn ask<R: JsonRpcRequest>(
        &self,
        method: &'static str,
        request: R,
        wait: Duration,
    ) -> Result<R::Response, DriverError> {
        match within(self.process.id(), wait, self.connection.send_request(request).block_task()).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if is_over(&error) => Err(self.hub.cause().await),
            Ok(Err(error)) => Err(DriverError::refused(method, error).with_stderr(self.process.stderr())),
            Err(_) => Err(DriverError::AnswerTimedOut {
                method: method.to_owned(),
                waited: wait,
                stderr: self.process.stderr(),
            }),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.process.kill();
    }
}

/// Runs the connection until the adapter closes it or breaks the protocol, then reports the cause to
/// everything that waits.
async fn serve(
    pipes: Pipes,
    hub: Arc<Hub>,
    process: Arc<Process>,
    limits: ProcessLimits,
    connected: oneshot::Sender<ConnectionTo<Agent>>,
) {
    let broken = Arc::new(OnceLock::new());
    let talk = Arc::new(Talk::default());
    let lines = {
        let broken = broken.clone();
        lines::checked(BufReader::new(pipes.stdout), limits.line_bytes, talk.clone()).map_err(move |error| {
            let text = error.to_string();
            // Only the first error counts, because the stream ends with it.
            let _ = broken.set(error);
            std::io::Error::other(text)
        })
    };
    let transport = Lines::new(writer(pipes.stdin, talk), lines.boxed());
    let (shown, asked, closing) = (hub.clone(), hub.clone(), hub.clone());
    let over = Client
        .v1()
        .on_receive_notification(
            async move |update: Update, _connection| {
                shown.show(&update);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                // A peer that is gone needs no answer.
                asked.ask(&request, move |outcome| {
                    let _ = responder.respond(RequestPermissionResponse::new(outcome));
                });
                Ok(())
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |connection: ConnectionTo<Agent>| {
            // If the start was given up, the process must end, too.
            if connected.send(connection.clone()).is_err() {
                return Ok(Close::Theirs);
            }
            tokio::select! {
                () = connection.incoming_closed() => Ok(Close::Theirs),
                () = closing.hanging_up.notified() => Ok(Close::Ours),
            }
        })
        .await;
    let failure = match (broken.get(), over) {
        (Some(error), _) => {
            process.kill();
            let stderr = match process.seen_off().await {
                DriverError::AdapterExited { stderr, .. } => stderr,
                _ => process.stderr(),
            };
            error.clone().with_stderr(stderr)
        }
        (None, Ok(Close::Ours)) => process.outlived(END_WAIT).await,
        (None, Ok(Close::Theirs) | Err(_)) => process.seen_off().await,
    };
    process.kill();
    hub.fail(failure);
}

enum Close {
    Ours,
    Theirs,
}

/// The time limit for an adapter to exit after its input has ended. A healthy one has nothing left to
/// do.
const END_WAIT: Duration = Duration::from_secs(5);

/// Writes messages to the adapter, line by line. An adapter that does not read its input is treated as dead.
fn writer(stdin: ChildStdin, talk: Arc<Talk>) -> impl Sink<String, Error = std::io::Error> + Send + 'static {
    futures::sink::unfold((stdin, talk), |(mut stdin, talk), line: String| async move {
        talk.sent(&line);
        let bytes = format!("{line}\n");
        let write = async {
            stdin.write_all(bytes.as_bytes()).await?;
            stdin.flush().await
        };
        tokio::time::timeout(WRITE_WAIT, write).await.map_err(std::io::Error::other)??;
        Ok((stdin, talk))
    })
}
