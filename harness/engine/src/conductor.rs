//! The conductor: decides, from what has been observed, what the harness does next.
//!
//! It says when the user speaks and stops, when a held reply goes on, and when and how each tool settles.
//! It holds no clock: it is told when nothing has happened for a while ([`Event::Quiet`]).
//! The simulation and the live runner obey the same conductor, so that they cannot diverge.

mod between;
mod deeds;
mod pending;
mod questions;
mod settle;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::provider::ending_of;
use crate::run::Receipt;
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{CallKey, Change, Mark, Plan, PlannedPoint, Side, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{
    Aside, Consent, Ending, Event, ExchangeId, Grade, Held, QuestionId, RequestKind,
};
use pending::Pending;
use questions::Questions;
use settle::{Batch, Now};

/// What the harness is to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Give the system the user's message of a turn.
    Prompt {
        /// The turn, from 0.
        turn: usize,
    },
    /// Give the system the user's stop.
    Stop,
    /// Go on in another process of the system, which loads the session if it has not yet.
    Switch {
        /// The process, 1 or 2.
        process: u32,
    },
    /// Let an exception out of the system's loop.
    Interrupt(InterruptCause),
    /// Say something to the running turn.
    Say {
        /// In which way.
        way: Aside,
        /// What.
        text: String,
    },
    /// Kill the process of the system.
    Kill,
    /// Start a new process, and let it load the session.
    Resume,
    /// Ask the system to change the history.
    Change(Change),
    /// Let a held reply go on.
    Release(ExchangeId),
    /// Let a tool end.
    Settle {
        /// The call.
        call: CallKey,
        /// How.
        outcome: ToolOutcome,
    },
    /// Give the system the user's answer.
    Answer {
        /// The question.
        question: QuestionId,
        /// The call that it is about, if it is one of the plan.
        call: Option<CallKey>,
        /// What the user says.
        consent: Consent,
    },
    /// Write down that the harness waited in vain.
    GiveUp,
    /// The plan is over.
    Finish,
}

/// How long the conductor waits, counted in [`Event::Quiet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Quiet spells after which a tool that has not started is taken as one that will not.
    pub progress: u32,
    /// Quiet spells after which a turn that does not end is taken as hanging.
    pub hang: u32,
}

/// Requests of one turn, after which the user stops it. Clients retry 2 to 10 times; a turn has a few replies.
const MAX_REQUESTS: u32 = 128;

/// Decides what happens next in one plan.
#[derive(Debug)]
pub struct Conductor {
    plan: Arc<Plan>,
    patience: Patience,
    /// Tools that this system runs at once, where a control plan has shown it.
    width: Option<usize>,
    turn: usize,
    stopped: bool,
    /// The process is being killed, or is dead: nothing of this turn is conducted any more.
    killed: bool,
    /// A new process is being started.
    resuming: bool,
    /// The action by which the history is being changed, and what it is proven with.
    changing: Option<(usize, Grade)>,
    ended: bool,
    /// Prompts whose turns have not ended.
    n_running: u32,
    quiet: u32,
    /// Requests of this turn.
    n_requests: u32,
    /// Whether the script of this turn had no reply left for a request.
    surplus: bool,
    kinds: BTreeMap<ExchangeId, RequestKind>,
    holding: Vec<Holding>,
    batch: Batch,
    questions: Questions,
    actions: Vec<Pending>,
}

/// A reply that is being held, and what is still to happen there.
#[derive(Debug)]
struct Holding {
    exchange: ExchangeId,
    grade: Grade,
    /// Indices into the actions, in the order of the file.
    todo: Vec<usize>,
}

impl Conductor {
    /// A conductor at the start of a plan.
    pub fn new(plan: Arc<Plan>, patience: Patience, width: Option<usize>) -> Conductor {
        let actions = Pending::all_of(&plan);
        let batch = Batch::new(&plan, 0, &[]);
        Conductor {
            plan,
            patience,
            width,
            turn: 0,
            stopped: false,
            killed: false,
            resuming: false,
            changing: None,
            ended: false,
            n_running: 0,
            quiet: 0,
            n_requests: 0,
            surplus: false,
            kinds: BTreeMap::new(),
            holding: Vec::new(),
            batch,
            questions: Questions::default(),
            actions,
        }
    }

    /// The first commands.
    pub fn start(&mut self) -> Vec<Command> {
        self.begin(0)
    }

    /// What has been proven of each action so far.
    pub fn receipts(&self) -> Vec<Receipt> {
        self.actions.iter().map(|action| action.receipt.clone()).collect()
    }

    /// Takes an observation and says what to do.
    pub fn observe(&mut self, event: &Event) -> Vec<Command> {
        if !matches!(event, Event::Quiet) {
            self.quiet = 0;
        }
        let mut commands = Vec::new();
        if self.killed && !matches!(event, Event::Killed | Event::Resumed) {
            // What a process does while it is being killed changes nothing any more.
            return commands;
        }
        match event {
            Event::Requested { exchange, kind, .. } => {
                self.kinds.insert(*exchange, *kind);
                self.note_http_fault(*kind);
                self.surplus |= *kind == RequestKind::Surplus;
                self.n_requests += 1;
                self.bound_requests(&mut commands);
            }
            Event::Held { exchange, at, grade } => self.hold(*exchange, *at, *grade),
            Event::Replied { exchange, ending } => {
                self.actions.iter_mut().for_each(|receipt| receipt.replied(*exchange, *ending));
                self.reply_over(*exchange, *ending);
            }
            Event::PeerClosed { exchange } => {
                self.holding.retain(|holding| holding.exchange != *exchange);
                self.actions.iter_mut().for_each(|receipt| receipt.hung_up(*exchange));
                self.reply_over(*exchange, Ending::Complete);
            }
            Event::Asked { question, call, .. } => {
                self.questions.asked(*question, *call);
                if let Some(call) = call {
                    self.tool_point(PlannedPoint::Asked(*call), Grade::Observed, &mut commands);
                }
            }
            Event::ToolStarted { call: Some(call), .. } => {
                self.batch.started(*call);
                self.tool_point(PlannedPoint::Started(*call), Grade::Observed, &mut commands);
                let n_started = self.batch.n_started(&self.plan, self.turn);
                self.tool_point(PlannedPoint::StartedCount(n_started), Grade::Observed, &mut commands);
            }
            Event::ToolSettled { call, grade, .. } => {
                self.batch.settled(*call);
                self.actions.iter_mut().for_each(|receipt| receipt.settled(*call, *grade));
                self.tool_point(PlannedPoint::Settled(*call, Side::After), *grade, &mut commands);
                let n_settled = self.batch.n_settled(&self.plan, self.turn);
                self.tool_point(PlannedPoint::SettledCount(n_settled), *grade, &mut commands);
            }
            Event::ToolCancelled { call } => {
                self.batch.cancelled(*call);
                self.forget_settling(*call);
            }
            Event::Saving { entry, side } => {
                self.tool_point(PlannedPoint::Saved(*entry, *side), Grade::Observed, &mut commands);
            }
            Event::Quiet => self.be_patient(&mut commands),
            Event::TurnEnded { .. } => self.turn_over(),
            Event::PromptRefused => self.prompt_refused(),
            Event::Killed => self.bury(),
            Event::Changed { .. } => {
                if let Some((index, grade)) = self.changing.take() {
                    self.actions[index].prove(grade);
                }
            }
            Event::Resumed => (self.killed, self.resuming) = (false, false),
            Event::Prompted { .. }
            | Event::ToolStarted { call: None, .. }
            | Event::CallShown { .. }
            | Event::Answered { .. }
            | Event::Stopped
            | Event::Switched { .. }
            | Event::Interrupted { .. }
            | Event::Said { .. }
            | Event::Early { .. }
            | Event::Stored { .. }
            | Event::GaveUp => {}
        }
        self.work_holds(&mut commands);
        self.answer(&mut commands);
        self.settle_next(&mut commands);
        self.next_turn(&mut commands);
        commands
    }

    /// The process is gone, and its turn with it.
    fn bury(&mut self) {
        self.holding.clear();
        self.changing = None;
        self.batch.die();
        self.questions = Questions::default();
        self.ended = true;
    }

    fn begin(&mut self, turn: usize) -> Vec<Command> {
        self.turn = turn;
        self.stopped = false;
        self.killed = false;
        self.resuming = false;
        self.ended = false;
        self.n_running = 1;
        self.quiet = 0;
        self.n_requests = 0;
        self.surplus = false;
        let reserved = self.reserved();
        self.batch.begin(&self.plan, turn, &reserved);
        let process = |turn: usize| self.plan.turns[turn].process;
        match turn > 0 && process(turn) != process(turn - 1) {
            true => vec![Command::Switch { process: process(turn) }, Command::Prompt { turn }],
            false => vec![Command::Prompt { turn }],
        }
    }

    /// Calls that an action will settle, so that they do not settle by themselves.
    fn reserved(&self) -> Vec<CallKey> {
        let pending = self.actions.iter().filter(|receipt| !receipt.fired && receipt.turn >= self.turn);
        pending
            .filter_map(|receipt| match receipt.what {
                Action::Settle(call) => Some(call),
                _ => None,
            })
            .collect()
    }

    fn note_http_fault(&mut self, kind: RequestKind) {
        let RequestKind::Faulted { turn, reply, attempt, .. } = kind else { return };
        let here = PlannedPoint::Stream { reply, attempt, mark: Mark::Headers, side: Side::Before };
        for receipt in &mut self.actions {
            if receipt.turn == turn && receipt.at == here && matches!(receipt.what, Action::Http(_)) {
                receipt.prove(Grade::Observed);
            }
        }
    }

    fn hold(&mut self, exchange: ExchangeId, at: Held, grade: Grade) {
        let Some(RequestKind::Scripted { turn, reply, attempt }) = self.kinds.get(&exchange).copied() else {
            return self.holding.push(Holding { exchange, grade, todo: Vec::new() });
        };
        let here = PlannedPoint::Stream { reply, attempt, mark: at.mark, side: at.side };
        let todo = (0..self.actions.len())
            .filter(|index| {
                let receipt = &self.actions[*index];
                receipt.turn == turn && receipt.at == here && !receipt.fired
            })
            .collect();
        self.holding.push(Holding { exchange, grade, todo });
    }

    /// A call that is gone settles nowhere any more.
    fn forget_settling(&mut self, call: CallKey) {
        let actions = &self.actions;
        for holding in &mut self.holding {
            holding.todo.retain(|index| actions[*index].what != Action::Settle(call));
        }
    }

    /// Does what is to happen at held replies, and lets them go on.
    fn work_holds(&mut self, commands: &mut Vec<Command>) {
        if self.is_dying() {
            return;
        }
        for holding in &mut self.holding {
            while let Some(index) = holding.todo.first().copied() {
                let receipt = &mut self.actions[index];
                // A result that is under way comes before the end of its turn.
                if receipt.what.ends_turn() && self.batch.is_settling() {
                    break;
                }
                match receipt.what {
                    Action::Abort => {
                        receipt.prove(holding.grade);
                        self.stopped = true;
                        commands.push(Command::Stop);
                    }
                    Action::Kill => {
                        receipt.prove(holding.grade);
                        // Also where its turn was over: the next one waits for its death.
                        (self.killed, self.ended) = (true, false);
                        commands.push(Command::Kill);
                        return;
                    }
                    Action::Stall => break,
                    // It had to settle before, for the turn of this system to end.
                    Action::Settle(call) if !receipt.asked && self.batch.has_settled(call) => {}
                    Action::Settle(call) if !self.batch.has_started(call) => break,
                    Action::Settle(call) => {
                        if !receipt.asked {
                            receipt.asked = true;
                            receipt.grade = Some(holding.grade);
                            self.batch.settling(call);
                            let outcome = self.plan.calls[call.0 as usize].outcome.clone();
                            commands.push(Command::Settle { call, outcome });
                        }
                        if !receipt.fired {
                            break;
                        }
                    }
                    // Nobody says anything to a turn that is stopped.
                    Action::Steer(_) | Action::Prompt(_) if self.stopped => {}
                    // A history is not changed at a held reply.
                    Action::Http(_)
                    | Action::Trim(_)
                    | Action::Summarise(_)
                    | Action::Rewind(_)
                    | Action::Aside(_) => {}
                    Action::Pause => receipt.prove(holding.grade),
                    Action::Duplicate | Action::Malformed => {
                        receipt.arm(holding.exchange, holding.grade, None);
                    }
                    Action::StopAgain
                    | Action::Interrupt(_)
                    | Action::Steer(_)
                    | Action::Prompt(_)
                    | Action::Inject(_)
                    | Action::Ignore
                    | Action::Finish => {
                        receipt.prove(holding.grade);
                        self.stopped |= receipt.what.ends_turn();
                        self.n_running += deeds::prompts(&receipt.what);
                        commands.extend(deeds::commands(&receipt.what));
                    }
                    Action::Reset | Action::Eof | Action::EndEarly | Action::Error(_) => {
                        receipt.arm(holding.exchange, holding.grade, ending_of(&receipt.what));
                    }
                }
                holding.todo.remove(0);
            }
        }
        // A reply that the user stopped stays held until the turn is over: the system hears the stop, not the rest.
        // While a result is under way, what is due after it is not yet known.
        let waits = (self.stopped && !self.ended) || self.batch.is_settling() || self.changing.is_some();
        self.holding.retain(|holding| {
            let keep = !holding.todo.is_empty() || waits;
            if !keep {
                commands.push(Command::Release(holding.exchange));
            }
            keep
        });
    }

    /// Fires the actions that wait for a tool to start or settle.
    fn tool_point(&mut self, point: PlannedPoint, grade: Grade, commands: &mut Vec<Command>) {
        for (index, receipt) in self.actions.iter_mut().enumerate() {
            if receipt.turn != self.turn || receipt.at != point || receipt.fired || receipt.asked {
                continue;
            }
            if let Some(change) = receipt.what.change() {
                commands.push(Command::Change(change));
                receipt.asked = true;
                self.changing = Some((index, grade));
                continue;
            }
            match receipt.what {
                Action::Settle(call) if self.batch.has_started(call) => {
                    receipt.asked = true;
                    self.batch.settling(call);
                    let outcome = self.plan.calls[call.0 as usize].outcome.clone();
                    commands.push(Command::Settle { call, outcome });
                }
                Action::Settle(_) => {}
                Action::Kill => {
                    receipt.prove(grade);
                    (self.killed, self.ended) = (true, false);
                    commands.push(Command::Kill);
                }
                _ if receipt.what.ends_turn() => {
                    receipt.prove(grade);
                    if !self.stopped {
                        self.stopped = true;
                        commands.extend(deeds::commands(&receipt.what));
                    }
                }
                _ => {
                    receipt.prove(grade);
                    if let PlannedPoint::Asked(call) = point {
                        self.questions.leave(call);
                    }
                    self.n_running += deeds::prompts(&receipt.what);
                    commands.extend(deeds::commands(&receipt.what));
                }
            }
        }
    }

    /// Answers what has been asked, by the plan. Who stops the turn answers nothing any more.
    fn answer(&mut self, commands: &mut Vec<Command>) {
        let is_over = self.stopped || self.ended;
        for (question, call) in self.questions.take(is_over) {
            let consent = match is_over {
                true => Consent::Withheld,
                false => questions::consent(&self.plan, call),
            };
            if let Some(call) = call.filter(|_| consent == Consent::Given) {
                self.batch.allowed(call);
            }
            commands.push(Command::Answer { question, call, consent });
        }
    }

    /// A reply is over: its calls may settle.
    fn reply_over(&mut self, exchange: ExchangeId, ending: Ending) {
        let Some(RequestKind::Scripted { turn, reply, attempt }) = self.kinds.get(&exchange).copied() else {
            return;
        };
        for call in self.plan.turns[turn].replies[reply].attempts[attempt].calls() {
            match ending {
                Ending::Complete => self.batch.reply_complete(call),
                _ => self.batch.reply_cut(call),
            }
        }
    }

    /// Lets the next tool settle, one at a time: each result is delivered before the next is given.
    fn settle_next(&mut self, commands: &mut Vec<Command>) {
        if self.batch.is_settling() || self.is_interrupted() {
            return;
        }
        let forced = self.quiet >= self.patience.progress;
        if !self.stopped && self.batch.all_started() {
            self.tool_point(PlannedPoint::SettledCount(0), Grade::Observed, commands);
        }
        if self.is_interrupted() {
            return;
        }
        let Some(call) = self.batch.next(&self.plan, self.turn, self.now(forced)) else { return };
        self.tool_point(PlannedPoint::Settled(call, Side::Before), Grade::Observed, commands);
        if self.is_interrupted() {
            return;
        }
        let Some(call) = self.batch.next(&self.plan, self.turn, self.now(forced)) else { return };
        self.batch.settling(call);
        let outcome = self.plan.calls[call.0 as usize].outcome.clone();
        commands.push(Command::Settle { call, outcome });
    }

    /// A system that asks without end is stopped, and when that does not help, the plan is over.
    fn bound_requests(&mut self, commands: &mut Vec<Command>) {
        if self.n_requests == MAX_REQUESTS && !self.stopped {
            self.stopped = true;
            commands.push(Command::Stop);
        } else if self.n_requests >= 2 * MAX_REQUESTS {
            commands.push(Command::Finish);
        }
    }

    /// Whether the process is about to be killed.
    fn is_dying(&self) -> bool {
        self.killed && !self.ended
    }

    /// Whether something is being done to the system that results must not run into.
    fn is_interrupted(&self) -> bool {
        self.is_dying() || self.changing.is_some()
    }

    fn now(&self, forced: bool) -> Now {
        Now { width: self.width, stopped: self.stopped, forced }
    }

    /// Nothing has happened for a while: do what waits for that, and in the end give up.
    fn be_patient(&mut self, commands: &mut Vec<Command>) {
        self.quiet += 1;
        if self.quiet >= self.patience.progress {
            self.questions.reopen();
        }
        for holding in &mut self.holding {
            let Some(index) = holding.todo.first().copied() else { continue };
            let receipt = &mut self.actions[index];
            match receipt.what {
                Action::Stall => {
                    receipt.prove(holding.grade);
                    holding.todo.remove(0);
                    self.stopped = true;
                    commands.push(Command::Stop);
                }
                // The call has not started, and will not: this system does not get there.
                // When it starts after all, it settles as if nothing had been planned.
                Action::Settle(call) if self.quiet >= self.patience.progress && !receipt.asked => {
                    holding.todo.remove(0);
                    self.batch.release(call);
                }
                _ => {}
            }
        }
        // The point at which a call was to settle has not come, and will not: nothing is held.
        if self.quiet >= self.patience.progress && self.holding.is_empty() {
            let unasked = self.actions.iter().filter(|receipt| receipt.turn == self.turn && !receipt.asked);
            for receipt in unasked {
                if let Action::Settle(call) = receipt.what {
                    self.batch.release(call);
                }
            }
        }
        // A system that waits for a tool before it ends the stopped turn gets the result now, not where it was planned.
        if self.stopped && !self.ended && self.quiet >= self.patience.progress {
            self.batch.release_all();
        }
        if self.quiet < self.patience.hang {
            return;
        }
        if self.ended {
            if self.changing.is_some() {
                commands.extend([Command::GiveUp, Command::Finish]);
            }
            return self.batch.give_up();
        }
        commands.push(Command::GiveUp);
        if self.stopped {
            commands.push(Command::Finish);
        } else {
            self.stopped = true;
            self.quiet = 0;
            commands.push(Command::Stop);
        }
    }
}

#[cfg(test)]
mod tests;
