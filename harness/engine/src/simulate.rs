//! The simulation: provider core, agent and gates in one process, without sockets, and with a virtual clock.
//!
//! Everything that would travel over the wire happens here in one fixed order, byte for byte.
//! When nothing is left to do, the clock jumps to the agent's next timer: an hour takes no time.
//! If there is no timer, the conductor receives [`Event::Quiet`], which is exact here.

mod chorus;
mod disk;
mod hold_place;
mod judged;

pub use chorus::play_among;
pub use judged::{assess, judged, play};

use disk::{Disk, Write};

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::agent::{BodyEnd, Input, Output, RequestId, RunId, SansIo, TimerId, Tool};
use crate::conductor::{Command, Conductor, Patience};
use crate::interpreter::{World, perform};
use crate::provider::{Answer, Headers, Provider, Request, Sent, Sight};
use crate::run::Run;
use brickbat_rules::Profile;
use brickbat_rules::json::Document;
use brickbat_scenario::action::{ToolChange, WriteFailure};
use brickbat_scenario::plan::{CallKey, Change, Plan, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{
    Aside, Confidence, Consent, Ending, Event, ExchangeId, LetGo, QuestionId, RequestKind, Trace,
};

/// In the simulation a quiet period means that nothing can happen any more, so one is enough.
pub const PATIENCE: Patience = Patience { progress: 1, hang: 2, grace: None };

/// The shortest pause that is reported.
const SLOW: Duration = Duration::from_secs(5);

/// The maximum number of steps in one simulation. A plan from the built-in suite takes about 300.
const MAX_STEPS: usize = 100_000;

/// Drives a plan on an agent. `width` is the number of tools that the agent runs at once, if known.
pub fn simulate<A: SansIo>(
    plan: &Arc<Plan>,
    profile: &'static Profile,
    agent: A,
    width: Option<usize>,
) -> Run {
    simulate_on(Provider::new(Arc::clone(plan), profile), plan, agent, width)
}

/// Drives a plan on an agent, with this provider of the plan, such as a canary that is late.
pub fn simulate_on<A: SansIo>(provider: Provider, plan: &Arc<Plan>, agent: A, width: Option<usize>) -> Run {
    let mut simulation = Simulation {
        plan: Arc::clone(plan),
        provider,
        conductor: Conductor::new(Arc::clone(plan), PATIENCE, width),
        agent,
        process: 1,
        turn: 0,
        other: None,
        disk: None,
        failing: None,
        trace: Trace::default(),
        todo: VecDeque::new(),
        bodies: Vec::new(),
        gates: Vec::new(),
        n_runs: BTreeMap::new(),
        clock: Clock::default(),
        tool_changes: Vec::new(),
        finished: false,
    };
    if plan.holds_saves() {
        simulation.disk = Some(Disk::of(&simulation.agent));
    }
    let first = simulation.conductor.start();
    simulation.obey(first);
    for _ in 0..MAX_STEPS {
        if simulation.finished {
            break;
        }
        match simulation.todo.pop_front() {
            Some(todo) => simulation.work(todo),
            None => simulation.let_time_pass(),
        }
    }
    simulation.trace.push(Event::Stored { history: simulation.agent.history().into() });
    Run { receipts: simulation.conductor.receipts(), trace: simulation.trace }
}

struct Simulation<A> {
    plan: Arc<Plan>,
    provider: Provider,
    conductor: Conductor,
    agent: A,
    /// The process that currently holds the session, 1 or 2.
    process: u32,
    /// The 0-based turn that is running.
    turn: usize,
    /// The other process of the session, if there are two.
    other: Option<A>,
    /// The contents of the store at a point between two of its writes.
    disk: Option<Disk>,
    /// How the next write fails, or each one of the turn.
    failing: Option<WriteFailure>,
    trace: Trace,
    todo: VecDeque<Todo>,
    bodies: Vec<Body>,
    /// The open gates of tools, in the order in which they opened.
    gates: Vec<Gate>,
    /// How many runs of each call have begun.
    n_runs: BTreeMap<CallKey, u32>,
    clock: Clock,
    /// The changes of the list of tools so far.
    tool_changes: Vec<ToolChange>,
    finished: bool,
}

/// Virtual time, in milliseconds. It stops while there is anything to do.
#[derive(Default)]
struct Clock {
    now: u64,
    /// The time at which each timer runs out.
    timers: Vec<(u64, TimerId)>,
    /// The time before which the provider does not want another request.
    due: u64,
}

impl Clock {
    /// Advances to the timer that runs out next, and returns it.
    fn jump(&mut self) -> Option<TimerId> {
        let (at, _) = self.timers.iter().enumerate().min_by_key(|(_, (due, _))| *due)?;
        let (due, timer) = self.timers.remove(at);
        self.now = due;
        Some(timer)
    }
}

/// A task; tasks are done in order.
enum Todo {
    Obey(Command),
    /// Send the next part of the answer at this index.
    Send(usize),
    Give(ToAgent),
}

/// An input for the agent.
enum ToAgent {
    Prompt(usize),
    Change(Change),
    Stop,
    Interrupt(InterruptCause),
    Settle { call: CallKey, outcome: ToolOutcome },
    Answer { run: RunId, consent: Consent },
    Refuse(RunId),
}

struct Body {
    request: RequestId,
    kind: RequestKind,
    /// The parts of the reply that the request lets its client see; determined only if the answer has a hold.
    sight: Sight,
    answer: Answer,
    sent: Sent,
    next_hold: usize,
    state: BodyState,
}

#[derive(PartialEq, Eq)]
enum BodyState {
    Going,
    Held,
    Over,
}

struct Gate {
    /// The process that runs the tool: each process numbers its runs itself.
    process: u32,
    run: RunId,
    call: CallKey,
    /// The 0-based turn that opened it.
    turn: usize,
    /// Which run of the call it is, from 1.
    nth: u32,
    deaf: bool,
}

impl<A: SansIo> World for Simulation<A> {
    type Done<'a>
        = ()
    where
        A: 'a;

    fn note(&mut self, event: Event) {
        self.trace.push(event);
    }

    fn prompt(&mut self, turn: usize) {
        self.provider.begin_turn(turn);
        self.turn = turn;
        // The user speaks when they like.
        self.clock.due = self.clock.now;
        if let Some(disk) = &mut self.disk {
            disk.n_before = disk.n_entries;
        }
        self.failing = None;
        self.note(Event::Prompted { turn });
        self.give(ToAgent::Prompt(turn));
    }

    fn stop(&mut self) {
        self.give(ToAgent::Stop);
    }

    fn interrupt(&mut self, cause: InterruptCause) {
        self.give(ToAgent::Interrupt(cause));
    }

    fn say(&mut self, way: Aside, text: String) {
        self.step(Input::said(way, &text));
    }

    fn kill(&mut self) {
        self.todo.clear();
        self.agent = match &self.disk {
            Some(disk) => self.agent.reborn_from(&disk.stored),
            None => self.agent.reborn_from(&self.agent.saved()),
        };
        self.disk = self.disk.as_ref().map(|_| Disk::of(&self.agent));
        self.gates.clear();
        self.clock.timers.clear();
        self.bodies.iter_mut().for_each(|body| body.state = BodyState::Over);
        self.observe(Event::Killed);
    }

    fn fail_write(&mut self, how: WriteFailure) {
        self.failing = Some(how);
    }

    fn resume(&mut self) {
        self.observe(Event::Resumed);
    }

    fn switch(&mut self, process: u32) {
        let store = self.agent.saved();
        let mut next = self.other.take().unwrap_or_else(|| self.agent.reborn_from(&store));
        next.reload(&store);
        self.other = Some(std::mem::replace(&mut self.agent, next));
        self.process = process;
        // The turn of the other process is over, so none of its timers matters.
        self.clock.timers.clear();
        self.note(Event::Switched { process });
    }

    fn change(&mut self, change: Change) {
        if self.conductor.is_between_turns() {
            self.provider.begin_change();
        }
        self.give(ToAgent::Change(change));
    }

    fn release(&mut self, exchange: ExchangeId) {
        let held = |body: &Body| body.answer.exchange == exchange && body.state == BodyState::Held;
        if let Some(at) = self.bodies.iter().position(held) {
            self.bodies[at].state = BodyState::Going;
            self.todo.push_back(Todo::Send(at));
        }
    }

    fn settle(&mut self, call: CallKey, outcome: ToolOutcome) {
        self.give(ToAgent::Settle { call, outcome });
    }

    fn sub_agent(&mut self, event: Event) {
        self.note(event);
    }

    fn answer(&mut self, question: QuestionId, consent: Consent) {
        self.give(ToAgent::Answer { run: RunId(question.0), consent });
    }

    fn let_go(&mut self, what: LetGo) {
        self.note(Event::LetGo { what });
    }

    fn give_up(&mut self) {
        self.note(Event::GaveUp);
    }

    fn finish(&mut self) {
        self.finished = true;
    }
}

impl<A: SansIo> Simulation<A> {
    fn give(&mut self, news: ToAgent) {
        self.todo.push_back(Todo::Give(news));
    }

    fn observe(&mut self, event: Event) {
        let commands = self.conductor.observe(&event);
        self.trace.push(event);
        self.obey(commands);
    }

    fn obey(&mut self, commands: Vec<Command>) {
        for command in commands {
            match command {
                // These events are recorded even if the process dies next, and a write that is about to begin fails.
                Command::SubAgentStarted { .. } | Command::SubAgentEnded { .. } | Command::FailWrite(_) => {
                    perform(self, command);
                }
                // A killed process does none of its remaining tasks.
                Command::Kill => self.todo.push_front(Todo::Obey(command)),
                _ => self.todo.push_back(Todo::Obey(command)),
            }
        }
    }

    /// Lets the next timer run out, if there is one, because nothing is left to do.
    fn let_time_pass(&mut self) {
        let before = self.clock.now;
        let Some(timer) = self.clock.jump() else { return self.observe(Event::Quiet) };
        let waited = Duration::from_millis(self.clock.now.saturating_sub(before));
        if waited >= SLOW {
            self.trace.push(Event::Waited { seconds: u32::try_from(waited.as_secs()).unwrap_or(u32::MAX) });
        }
        self.step(Input::Elapsed { timer });
    }

    fn work(&mut self, todo: Todo) {
        match todo {
            Todo::Obey(command) => perform(self, command),
            Todo::Send(at) => self.send(at),
            Todo::Give(news) => self.take(news),
        }
    }

    fn take(&mut self, news: ToAgent) {
        match news {
            ToAgent::Prompt(turn) => {
                let plan = Arc::clone(&self.plan);
                self.step(Input::Prompt(&plan.turns[turn].user));
            }
            ToAgent::Change(Change::Tools { change }) => {
                self.tool_changes.push(change.clone());
                let tools = self.plan.tools_after(&self.tool_changes);
                let tools: Vec<Tool> = tools.iter().map(Tool::from).collect();
                self.step(Input::Tools(&tools));
                self.provider.end_change();
                self.observe(Event::Changed { change: Change::Tools { change } });
            }
            ToAgent::Change(change) => self.step(Input::Change(&change)),
            ToAgent::Stop => self.step(Input::Stop),
            ToAgent::Interrupt(cause) => self.step(Input::Interrupt(cause)),
            ToAgent::Settle { call, outcome } => {
                let Some(at) = self.gates.iter().position(|gate| gate.call == call) else {
                    return self.observe(Event::ToolCancelled { call });
                };
                let gate = self.gates.remove(at);
                let Gate { process, run, turn, .. } = gate;
                let done = Input::ToolDone { run, outcome: outcome.clone() };
                let ended = match self.is_latest(&gate) {
                    true => Event::ToolSettled { call, outcome, grade: Confidence::Observed },
                    false => Event::OldRunEnded { call, turn, outcome: Some(outcome) },
                };
                if process != self.process {
                    // The other process is idle and wants nothing done.
                    let _ = self.other.as_mut().map(|other| other.step(done));
                    return self.observe(ended);
                }
                let outputs = self.agent.step(done);
                // If the result ends the turn, the result is observed before the end.
                let is_end = |output: &Output| matches!(output, Output::Ended(_));
                let (ends, others) = outputs.into_iter().partition(is_end);
                self.follow(others);
                self.observe(ended);
                if !self.is_dying() {
                    self.follow(ends);
                }
            }
            ToAgent::Answer { run, consent } => self.step(Input::Answered { run, consent }),
            ToAgent::Refuse(run) => {
                let outcome = ToolOutcome::Error("the harness does not know this call".to_owned());
                self.step(Input::ToolDone { run, outcome });
            }
        }
    }

    fn step(&mut self, input: Input<'_>) {
        let outputs = self.agent.step(input);
        self.follow(outputs);
    }

    /// Carries out the agent's outputs once its store is written. A process that dies while it writes does
    /// nothing more.
    fn follow(&mut self, mut outputs: Vec<Output>) {
        match self.write() {
            Write::Died => return,
            Write::Refused => outputs.extend(self.agent.step(Input::WriteFailed)),
            Write::Done => {}
        }
        outputs.into_iter().for_each(|output| self.carry_out(output));
    }

    /// True if no later run of the call has begun.
    fn is_latest(&self, gate: &Gate) -> bool {
        self.n_runs.get(&gate.call) == Some(&gate.nth)
    }

    fn is_dying(&self) -> bool {
        matches!(self.todo.front(), Some(Todo::Obey(Command::Kill)))
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Request { request, body } => {
                let (kind, answer) = self.provider.answer(Request {
                    method: "POST",
                    path: self.agent.path(),
                    headers: Headers::NONE,
                    body: &body,
                });
                let requested = answer.requested(kind, body.as_slice());
                let exchange = answer.exchange;
                let at = self.bodies.len();
                let sent = Sent::Nothing;
                let document = (!answer.holds.is_empty()).then(|| Document::parse(&body).unwrap_or_default());
                let sight =
                    document.map(|document| Sight::of(&self.plan, self.provider.dialect(), document.root()));
                let sight = sight.unwrap_or_default();
                let (next_hold, state) = (0, BodyState::Going);
                self.bodies.push(Body { request, kind, sight, answer, sent, next_hold, state });
                self.todo.push_back(Todo::Send(at));
                self.observe(requested);
                if kind.is_of_thread() && self.clock.now < self.clock.due {
                    self.observe(Event::Early { exchange });
                }
            }
            Output::Wait { timer, ms } => {
                self.clock.timers.push((self.clock.now.saturating_add(ms), timer));
            }
            Output::HangUp { request } => {
                let open = self
                    .bodies
                    .iter_mut()
                    .find(|body| body.request == request && body.state != BodyState::Over);
                if let Some(body) = open {
                    body.state = BodyState::Over;
                    let exchange = body.answer.exchange;
                    self.observe(Event::PeerClosed { exchange });
                }
            }
            // The agent asks once about each run, so the number of the run identifies the question.
            Output::Ask { run, id } => {
                let call = self.plan.call_with_id(&id);
                self.observe(Event::Asked { question: QuestionId(run.0), id, call });
            }
            Output::StartTool { run, args, .. } => {
                let call = self.plan.call_with_marker(&args);
                match call {
                    Some(call) => {
                        let deaf = self.plan.calls[call.0 as usize].deaf;
                        let n_runs = self.n_runs.entry(call).or_default();
                        *n_runs += 1;
                        let (process, turn, nth) = (self.process, self.turn, *n_runs);
                        self.gates.push(Gate { process, run, call, turn, nth, deaf });
                    }
                    None => self.give(ToAgent::Refuse(run)),
                }
                self.observe(Event::ToolStarted { call, args });
            }
            Output::CancelTool { run } => {
                let is_own = |gate: &Gate| (gate.process, gate.run) == (self.process, run);
                let heard = self.gates.iter().position(|gate| is_own(gate) && !gate.deaf);
                if let Some(at) = heard {
                    let gate = self.gates.remove(at);
                    let Gate { call, turn, .. } = gate;
                    self.observe(match self.is_latest(&gate) {
                        true => Event::ToolCancelled { call },
                        false => Event::OldRunEnded { call, turn, outcome: None },
                    });
                }
            }
            Output::Show { id, state } => self.observe(Event::CallShown { id, state }),
            Output::PromptRefused => self.observe(Event::PromptRefused),
            Output::Changed(change) => {
                self.provider.end_change();
                self.observe(Event::Changed { change });
            }
            Output::Ended(outcome) => self.observe(Event::TurnEnded { outcome }),
        }
    }

    /// Sends the next piece of an answer, holds it, or ends it.
    fn send(&mut self, at: usize) {
        let body = &mut self.bodies[at];
        if body.state != BodyState::Going {
            return;
        }
        let request = body.request;
        let exchange = body.answer.exchange;
        if let Some(hold) = body.answer.holds.get(body.next_hold)
            && hold.after <= body.sent
        {
            body.next_hold += 1;
            body.state = BodyState::Held;
            let held = hold.at;
            // A hold at any other place than the planned one proves nothing.
            let is_as_planned = hold_place::is_as_planned(
                &self.plan,
                (body.kind, &body.sight),
                &body.answer,
                held,
                body.sent,
            );
            let grade = if is_as_planned { Confidence::Observed } else { Confidence::Written };
            return self.observe(Event::Held { exchange, at: held, grade });
        }
        let n_frames = body.answer.frames.len();
        match body.sent {
            Sent::Nothing => {
                body.sent = Sent::Frames(0);
                let (status, pause_ms) = (body.answer.status, body.answer.pause_ms());
                if let Some(pause_ms) = pause_ms.filter(|_| body.kind.is_of_thread()) {
                    self.clock.due = self.clock.now.saturating_add(pause_ms);
                }
                self.todo.push_back(Todo::Send(at));
                self.step(Input::Head { request, status, pause_ms });
            }
            Sent::Frames(sent) if sent < n_frames => {
                body.sent = Sent::Frames(sent + 1);
                let bytes = body.answer.frames.slice(sent..sent + 1);
                let outputs = self.agent.step(Input::Body { request, bytes });
                self.todo.push_back(Todo::Send(at));
                self.follow(outputs);
            }
            Sent::Frames(_) => {
                body.state = BodyState::Over;
                let ending = body.answer.ending;
                let how = match ending {
                    Ending::Eof | Ending::Reset => BodyEnd::Broken,
                    Ending::Complete | Ending::EndEarly | Ending::ErrorEvent | Ending::Status => {
                        BodyEnd::Complete
                    }
                };
                self.observe(Event::Replied { exchange, ending });
                self.step(Input::End { request, how });
            }
        }
    }
}
