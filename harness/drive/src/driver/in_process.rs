//! Drives the reference agent, or a canary, over real sockets.
//!
//! The agent lives in one task. It posts to the provider and to the gates as any SDK would, with its own
//! plain HTTP client, so it shares nothing with the server. The task gives the agent everything that it has
//! read from a socket before it takes the next command, which makes the barrier correct.

mod endpoints;
mod store;

use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, select_all};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::error::DriverError;
use super::event::SessionEvent;
use super::http::{HttpPiece, Post};
use super::protocol::{Reading, ToolSpec};
use super::readings::Readings;
use brickbat_engine::agent::{Agent, BodyEnd, BrokenStore, Input, Output, RequestId, RunId, TimerId, Tool};
use brickbat_scenario::plan::{Change, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, QuestionId};
pub use endpoints::Endpoints;
pub use store::Store;

/// A conversation with an agent of our own.
#[derive(Debug)]
pub struct InProcess {
    commands: mpsc::UnboundedSender<AgentCommand>,
    events: mpsc::UnboundedReceiver<SessionEvent>,
    readings: Readings,
    task: JoinHandle<()>,
}

#[derive(Debug)]
enum AgentCommand {
    Prompt(String),
    Say(Aside, String),
    Interrupt(InterruptCause),
    Cancel,
    Answer(RunId, Consent),
    Change(Change, oneshot::Sender<()>),
    Tools(Vec<ToolSpec>, oneshot::Sender<()>),
    Barrier(oneshot::Sender<()>),
    History(oneshot::Sender<Vec<u8>>),
    Saved(oneshot::Sender<Vec<u8>>),
    Reload(Vec<u8>),
    Kill(oneshot::Sender<Vec<u8>>),
}

impl InProcess {
    /// Starts an agent that keeps its thread in memory. It ends when the session is dropped.
    pub fn start(agent: Agent, endpoints: Endpoints) -> InProcess {
        InProcess::run(agent, endpoints, None)
    }

    /// Starts an agent that also keeps its thread in a file.
    pub fn start_stored(agent: Agent, endpoints: Endpoints, store: Store) -> InProcess {
        InProcess::run(agent, endpoints, Some(store))
    }

    fn run(agent: Agent, endpoints: Endpoints, store: Option<Store>) -> InProcess {
        let (commands, inbox) = mpsc::unbounded_channel();
        let (outbox, events) = mpsc::unbounded_channel();
        let readings = Readings::default();
        let live = AgentTask {
            agent,
            endpoints,
            store,
            readings: readings.clone(),
            outbox,
            exchanges: Vec::new(),
            changed: None,
            tools: FuturesUnordered::new(),
            timers: FuturesUnordered::new(),
        };
        let task = tokio::spawn(live.run(inbox));
        InProcess { commands, events, readings, task }
    }

    pub fn prompt(&self, text: &str) {
        self.send(AgentCommand::Prompt(text.to_owned()));
    }

    pub fn say(&self, way: Aside, text: String) {
        self.send(AgentCommand::Say(way, text));
    }

    /// Throws an exception out of the agent's loop.
    pub fn interrupt(&self, cause: InterruptCause) {
        self.send(AgentCommand::Interrupt(cause));
    }

    pub fn cancel(&self) {
        self.send(AgentCommand::Cancel);
    }

    pub fn answer(&self, question: QuestionId, consent: Consent) {
        self.send(AgentCommand::Answer(RunId(question.0), consent));
    }

    /// Waits until the agent has changed its history, or, while a turn runs, has scheduled the change; false
    /// if its task has ended.
    pub async fn change(&self, change: &Change) -> bool {
        self.ask(|changed| AgentCommand::Change(change.clone(), changed)).await.is_some()
    }

    /// Waits until the agent has a new list of tools, which its next request offers; false if its task has ended.
    pub async fn offer(&self, tools: Vec<ToolSpec>) -> bool {
        self.ask(|taken| AgentCommand::Tools(tools, taken)).await.is_some()
    }

    /// Waits until the agent has received everything that has arrived.
    pub async fn barrier(&self) -> bool {
        crossed().await.is_ok() && self.ask(AgentCommand::Barrier).await.is_some()
    }

    /// The bytes that the agent has read from each socket.
    pub(crate) fn readings(&self) -> Vec<Reading> {
        self.readings.all()
    }

    /// The same agent, which does not report what it has read.
    #[cfg(test)]
    pub(crate) fn without_readings(self) -> InProcess {
        InProcess { readings: Readings::default(), ..self }
    }

    /// The agent's history, as a JSON array of messages. `None` if its task has ended.
    pub async fn history(&self) -> Option<Vec<u8>> {
        self.ask(AgentCommand::History).await
    }

    /// The state that the agent has saved. `None` if its task has ended.
    pub async fn saved(&self) -> Option<Vec<u8>> {
        self.ask(AgentCommand::Saved).await
    }

    /// Gives the agent the state that another process has saved since.
    pub fn reload(&self, saved: Vec<u8>) {
        self.send(AgentCommand::Reload(saved));
    }

    /// Ends the agent immediately, as SIGKILL would, with all its connections. Returns the state that it had
    /// saved by then. `None` if it had ended before.
    pub async fn kill(&mut self) -> Option<Vec<u8>> {
        let saved = self.ask(AgentCommand::Kill).await;
        // The connections close with the task, even if it panicked.
        let _ = (&mut self.task).await;
        saved
    }

    pub async fn next(&mut self) -> Option<SessionEvent> {
        self.events.recv().await
    }

    /// Sends a command and waits for its result. `None` if the task has ended.
    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> AgentCommand) -> Option<T> {
        let (answer, wait) = oneshot::channel();
        self.send(command(answer));
        wait.await.ok()
    }

    fn send(&self, command: AgentCommand) {
        // The task lives as long as this session. If it panicked, its events end, which the caller notices.
        let _ = self.commands.send(command);
    }
}

/// Sends a byte through the kernel and back. The runtime learns of sockets in the order in which they became
/// ready, so when the byte is back, the runtime knows of everything that had arrived before. A command does
/// not pass through the kernel, and would overtake it.
async fn crossed() -> std::io::Result<()> {
    let (mut one, mut other) = ends().await?;
    one.write_all(b".").await?;
    other.read_exact(&mut [0]).await.map(drop)
}

#[cfg(unix)]
async fn ends() -> std::io::Result<(tokio::net::UnixStream, tokio::net::UnixStream)> {
    tokio::net::UnixStream::pair()
}

#[cfg(not(unix))]
async fn ends() -> std::io::Result<(tokio::net::TcpStream, tokio::net::TcpStream)> {
    let listener = tokio::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
    let one = tokio::net::TcpStream::connect(listener.local_addr()?).await?;
    Ok((one, listener.accept().await?.0))
}

/// The agent with its open connections.
struct AgentTask {
    agent: Agent,
    endpoints: Endpoints,
    store: Option<Store>,
    readings: Readings,
    outbox: mpsc::UnboundedSender<SessionEvent>,
    /// One exchange for the agent, and one for each of its sub-agents.
    exchanges: Vec<(RequestId, Post)>,
    /// Notified when the history has changed.
    changed: Option<oneshot::Sender<()>>,
    tools: FuturesUnordered<BoxFuture<'static, (RunId, Option<ToolOutcome>)>>,
    /// Real timers: the agent waits only for as long as it was asked to.
    timers: FuturesUnordered<BoxFuture<'static, TimerId>>,
}

impl AgentTask {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<AgentCommand>) {
        let mut cancels: Vec<(RunId, oneshot::Sender<()>)> = Vec::new();
        loop {
            // Sockets first: a command that was sent after bytes arrived finds them delivered.
            let wake = tokio::select! {
                biased;
                piece = next_piece(&mut self.exchanges) => Wake::Piece(piece),
                Some((run, outcome)) = self.tools.next() => Wake::Tool(run, outcome),
                Some(timer) = self.timers.next() => Wake::Timer(timer),
                command = inbox.recv() => match command {
                    Some(command) => Wake::Command(command),
                    None => return,
                },
            };
            let outputs = match wake {
                Wake::Piece((request, piece)) => self.piece(request, piece),
                Wake::Tool(run, Some(outcome)) => self.agent.step(Input::ToolDone { run, outcome }),
                Wake::Tool(_, None) => Vec::new(),
                Wake::Timer(timer) => self.agent.step(Input::Elapsed { timer }),
                Wake::Command(AgentCommand::Prompt(text)) => {
                    if let Err(error) = self.look_into_the_store() {
                        self.report(SessionEvent::Lost(error));
                        return;
                    }
                    self.agent.step(Input::Prompt(&text))
                }
                Wake::Command(AgentCommand::Say(way, text)) => self.agent.step(Input::said(way, &text)),
                Wake::Command(AgentCommand::Interrupt(cause)) => self.agent.step(Input::Interrupt(cause)),
                Wake::Command(AgentCommand::Cancel) => self.agent.step(Input::Stop),
                Wake::Command(AgentCommand::Answer(run, consent)) => {
                    self.agent.step(Input::Answered { run, consent })
                }
                Wake::Command(AgentCommand::Change(change, changed)) => {
                    self.changed = Some(changed);
                    let outputs = self.agent.step(Input::Change(&change));
                    // The other provider may have another path.
                    if let Err(error) = self.endpoints.post_to(self.agent.path()) {
                        let error = DriverError::harness("cannot switch to the other provider", error);
                        self.report(SessionEvent::Lost(error));
                        return;
                    }
                    outputs
                }
                Wake::Command(AgentCommand::Tools(tools, taken)) => {
                    if let Err(error) = self.endpoints.add_gates(&tools) {
                        let error = DriverError::harness("cannot open the address of a tool", error);
                        self.report(SessionEvent::Lost(error));
                        return;
                    }
                    let tools: Vec<Tool> = tools.iter().map(ToolSpec::tool).collect();
                    let outputs = self.agent.step(Input::Tools(&tools));
                    let _ = taken.send(());
                    outputs
                }
                Wake::Command(AgentCommand::Barrier(passed)) => {
                    let _ = passed.send(());
                    Vec::new()
                }
                Wake::Command(AgentCommand::History(told)) => {
                    let _ = told.send(self.agent.history());
                    Vec::new()
                }
                Wake::Command(AgentCommand::Saved(told)) => {
                    let _ = told.send(self.agent.saved());
                    Vec::new()
                }
                Wake::Command(AgentCommand::Reload(saved)) => {
                    if let Err(error) = self.agent.reload(&saved) {
                        self.report(SessionEvent::Lost(unread(error)));
                        return;
                    }
                    Vec::new()
                }
                Wake::Command(AgentCommand::Kill(killed)) => {
                    let _ = killed.send(self.agent.saved());
                    return;
                }
            };
            if let Err(error) = self.save() {
                self.report(SessionEvent::Lost(error));
                return;
            }
            for output in outputs {
                self.carry_out(output, &mut cancels);
            }
        }
    }

    /// Another process may have continued the session since the last turn.
    fn look_into_the_store(&mut self) -> Result<(), DriverError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let Some(changed) = store.changed()? else { return Ok(()) };
        self.agent.reload(&changed).map_err(unread)
    }

    /// Saves the agent's state before any of its outputs takes effect.
    fn save(&mut self) -> Result<(), DriverError> {
        match &mut self.store {
            Some(store) => store.write(self.agent.saved()),
            None => Ok(()),
        }
    }

    fn piece(&mut self, request: RequestId, piece: HttpPiece) -> Vec<Output> {
        let how = match piece {
            HttpPiece::Head { status, pause_ms } => {
                return self.agent.step(Input::Head { request, status, pause_ms });
            }
            HttpPiece::Body(bytes) => return self.agent.step(Input::Body { request, bytes: &bytes }),
            HttpPiece::End => BodyEnd::Complete,
            HttpPiece::Broken => BodyEnd::Broken,
        };
        self.exchanges.retain(|(open, _)| *open != request);
        self.agent.step(Input::End { request, how })
    }

    fn carry_out(&mut self, output: Output, cancels: &mut Vec<(RunId, oneshot::Sender<()>)>) {
        match output {
            Output::Request { request, body } => {
                self.exchanges.retain(|(open, _)| !open.is_of_same_agent(request));
                let post = Post::new(self.endpoints.provider(), body).counted(&self.readings);
                self.exchanges.push((request, post));
            }
            Output::HangUp { request } => {
                self.exchanges.retain(|(open, _)| *open != request);
            }
            // The agent asks once for each run, so the run identifies the question.
            Output::Ask { run, id } => {
                let question = QuestionId(run.0);
                self.report(SessionEvent::Asked { question, id, args: None });
            }
            Output::StartTool { run, tool, args } => {
                let Some(gate) = self.endpoints.gate(&tool) else {
                    // Every tool of an agent has a gate. If one is missing, the tool counts as broken off.
                    self.tools.push(std::future::ready((run, Some(broken_off()))).boxed());
                    return;
                };
                let exchange = Post::new(gate, args.into_bytes()).counted(&self.readings);
                let (cancel, cancelled) = oneshot::channel();
                cancels.retain(|(_, cancel)| !cancel.is_closed());
                cancels.push((run, cancel));
                self.tools.push(run_tool(run, exchange, cancelled, self.is_deaf(&tool)).boxed());
            }
            Output::CancelTool { run } => {
                if let Some(at) = cancels.iter().position(|(known, _)| *known == run) {
                    // A tool that has just ended no longer listens.
                    let _ = cancels.remove(at).1.send(());
                }
            }
            Output::Wait { timer, ms } => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "a client that is asked to come back later waits for as long"
                )]
                let over = tokio::time::sleep(Duration::from_millis(ms));
                self.timers.push(over.map(move |()| timer).boxed());
            }
            Output::Show { id, state } => self.report(SessionEvent::Shown { id, state }),
            Output::PromptRefused => self.report(SessionEvent::PromptRefused),
            Output::Changed(_) => {
                // A receiver that is gone needs no answer.
                let _ = self.changed.take().map(|changed| changed.send(()));
            }
            Output::Ended(outcome) => self.report(SessionEvent::Ended(outcome)),
        }
    }

    fn is_deaf(&self, tool: &str) -> bool {
        self.agent.tools().iter().any(|known| known.name == tool && known.deaf)
    }

    fn report(&self, event: SessionEvent) {
        // Without a receiver the session is gone and the task is about to end.
        let _ = self.outbox.send(event);
    }
}

enum Wake {
    Piece((RequestId, HttpPiece)),
    Tool(RunId, Option<ToolOutcome>),
    Timer(TimerId),
    Command(AgentCommand),
}

async fn next_piece(exchanges: &mut [(RequestId, Post)]) -> (RequestId, HttpPiece) {
    if exchanges.is_empty() {
        return std::future::pending().await;
    }
    let pieces =
        exchanges.iter_mut().map(|(request, post)| async move { (*request, post.next().await) }.boxed());
    select_all(pieces).await.0
}

/// One tool run: a post to its gate. A cancelled run has no result.
async fn run_tool(
    run: RunId,
    gate: Post,
    cancelled: oneshot::Receiver<()>,
    deaf: bool,
) -> (RunId, Option<ToolOutcome>) {
    let answer = async { ToolOutcome::of_gate(&gate.body().await?).ok() };
    if deaf {
        return (run, Some(answer.await.unwrap_or_else(broken_off)));
    }
    tokio::select! {
        biased;
        outcome = answer => (run, Some(outcome.unwrap_or_else(broken_off))),
        Ok(()) = cancelled => (run, None),
    }
}

fn unread(error: BrokenStore) -> DriverError {
    DriverError::harness("cannot continue the stored thread", error)
}

fn broken_off() -> ToolOutcome {
    ToolOutcome::Error("the gate's answer was cut off".to_owned())
}
