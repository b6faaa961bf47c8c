//! The conductor decides from its observations what the harness does next.
//!
//! It decides when the user speaks and stops, when a held reply continues, and when and how each tool
//! settles.
//! It has no clock: [`Event::Quiet`] reports that nothing has happened for a while.
//! The simulation and the live runner obey the same conductor, so they cannot diverge.

mod between;
mod carry_out;
mod pending;
mod questions;
mod settle;
mod sub_agents;
mod summaries;
mod turn;
mod writes;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::run::Receipt;
use brickbat_scenario::action::{Action, WriteFailure};
use brickbat_scenario::plan::{CallKey, Change, Mark, Plan, PlannedPoint, Side, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{
    Aside, Compaction, Confidence, Consent, Ending, Event, ExchangeId, Held, LetGo, QuestionId, RequestKind,
};
use pending::Pending;
use questions::Questions;
use settle::{Now, ToolRuns};
use turn::{TurnStage, TurnState};

/// The next step of the harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Send the system the user's message of a turn.
    Prompt {
        turn: usize,
    },
    /// Deliver the user's stop to the system.
    Stop,
    /// Continue in another process of the system, which first loads the session if it has not done so yet.
    Switch {
        process: u32,
    },
    /// Throw an exception out of the system's loop.
    Interrupt(InterruptCause),
    /// Send a message to the running turn.
    Say {
        way: Aside,
        text: String,
    },
    /// Kill the process of the system.
    Kill,
    /// Let the write fail that is about to begin.
    FailWrite(WriteFailure),
    /// Start a new process and let it load the session.
    Resume,
    /// Ask the system to change the history.
    Change(Change),
    /// Let a held reply continue.
    Release(ExchangeId),
    Settle {
        call: CallKey,
        outcome: ToolOutcome,
    },
    /// Record that a call has started a sub-agent, which no gate reports.
    SubAgentStarted {
        call: CallKey,
        args: String,
    },
    /// Record how a sub-agent has ended.
    SubAgentEnded {
        call: CallKey,
        outcome: ToolOutcome,
        grade: Confidence,
    },
    /// Send the system the user's answer.
    Answer {
        question: QuestionId,
        call: Option<CallKey>,
        consent: Consent,
    },
    /// Records that a stop has not ended the turn, so that the replies or the tools continue.
    LetGo(LetGo),
    /// Record that the harness waited without success.
    GiveUp,
    Finish,
}

/// How long the conductor waits, counted in [`Event::Quiet`] events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Quiet periods after which the conductor assumes that a tool will not start.
    pub progress: u32,
    /// Quiet periods after which the conductor assumes that a turn hangs.
    pub hang: u32,
    /// The number of quiet periods after which the replies continue in a stopped turn, and after as many again
    /// the tools. Set for a system that notices a stop only then; `None` for one that must notice it on its own.
    pub grace: Option<u32>,
}

/// The wait for the next request may be longer than the longest wait of the turn by this factor. A client
/// that doubles its pauses, and draws each at random between one and two times its length, multiplies them by
/// up to four.
const BACK_OFF: u32 = 4;

/// The largest factor by which back-off extends the wait for a hang, however long a client pauses.
const MAX_BACK_OFF: u32 = 16;

/// The number of requests in one turn after which the user stops it. Clients retry 2 to 10 times; a turn has
/// a few replies.
const MAX_REQUESTS: u32 = 128;

/// Decides what happens next in one plan.
#[derive(Debug)]
pub struct Conductor {
    plan: Arc<Plan>,
    patience: Patience,
    /// Tools that this system runs at once, if a control plan has shown it.
    width: Option<usize>,
    turn: TurnState,
    /// The action that is changing the history, and the confidence of its proof.
    changing: Option<(usize, Confidence)>,
    kinds: BTreeMap<ExchangeId, RequestKind>,
    /// The requests for a summary.
    summaries: BTreeMap<ExchangeId, Compaction>,
    /// How certain it is that the system received a reply that proves something with its end; `observed` if it is not listed.
    ends: BTreeMap<ExchangeId, Confidence>,
    holding: Vec<Holding>,
    tools: ToolRuns,
    questions: Questions,
    actions: Vec<Pending>,
}

/// A reply that is being held, and the actions that are still due there.
#[derive(Debug)]
struct Holding {
    exchange: ExchangeId,
    grade: Confidence,
    /// Indices into the actions, in the order of the file.
    todo: VecDeque<usize>,
    /// True if the provider has gone silent here by plan: the reply never continues, as it would not in life.
    is_stalled: bool,
}

impl Holding {
    /// A reply that is held at these actions, and continues after them.
    fn new(exchange: ExchangeId, grade: Confidence, todo: VecDeque<usize>) -> Holding {
        Holding { exchange, grade, todo, is_stalled: false }
    }
}

impl Conductor {
    /// Creates the conductor of a plan, before its first turn.
    pub fn new(plan: Arc<Plan>, patience: Patience, width: Option<usize>) -> Conductor {
        let actions = Pending::all_of(&plan);
        let tools = ToolRuns::new(&plan, 0, &[]);
        Conductor {
            plan,
            patience,
            width,
            turn: TurnState::begun(0),
            changing: None,
            kinds: BTreeMap::new(),
            summaries: BTreeMap::new(),
            ends: BTreeMap::new(),
            holding: Vec::new(),
            tools,
            questions: Questions::default(),
            actions,
        }
    }

    pub fn start(&mut self) -> Vec<Command> {
        self.begin(0)
    }

    /// The receipt of each action, as far as proven.
    pub fn receipts(&self) -> Vec<Receipt> {
        self.actions.iter().map(|action| action.receipt.clone()).collect()
    }

    /// True if the last turn has ended and the next one has not begun.
    pub fn is_between_turns(&self) -> bool {
        self.turn.stage.is_over()
    }

    /// Handles the system's report that its history needs no change.
    pub fn forgo_change(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        if let Some((index, grade)) = self.changing.take() {
            self.forgo(index, grade);
            self.work_holds(&mut commands);
            self.settle_next(&mut commands);
            self.next_turn(&mut commands);
        }
        commands
    }

    /// Takes in an observation and returns the commands that follow from it.
    pub fn observe(&mut self, event: &Event) -> Vec<Command> {
        if matches!(event, Event::Requested { .. }) {
            self.turn.longest_wait = self.turn.longest_wait.max(self.turn.n_quiet);
        }
        if !matches!(event, Event::Quiet) {
            self.turn.n_quiet = 0;
        }
        let mut commands = Vec::new();
        let is_of_change = self.is_dead() && matches!(event, Event::Changed { .. });
        if self.turn.stage.is_killed() && !is_of_change && !matches!(event, Event::Killed | Event::Resumed) {
            // Whatever a process does while it is being killed has no effect.
            return commands;
        }
        self.take_in(event, &mut commands);
        self.end_put_off(&mut commands);
        self.work_holds(&mut commands);
        self.answer(&mut commands);
        self.settle_next(&mut commands);
        self.next_turn(&mut commands);
        commands
    }

    /// Records what an event changes, and carries out what is planned for the points that it reaches.
    fn take_in(&mut self, event: &Event, commands: &mut Vec<Command>) {
        match event {
            Event::Requested { exchange, kind, compacted, summary, .. } => {
                if *compacted {
                    self.note_compaction();
                }
                if let Some(summary) = summary {
                    self.asked_for_summary(*exchange, *summary);
                }
                self.requested(*exchange, *kind, commands);
                self.sub_agent_asks(*kind, commands);
            }
            Event::Held { exchange, at, grade } => self.hold(*exchange, *at, *grade),
            Event::Replied { exchange, ending } => {
                self.actions.iter_mut().for_each(|action| action.replied(*exchange, *ending));
                self.reply_over(*exchange, *ending);
                self.sub_agent_hears(*exchange, *ending, commands);
            }
            Event::PeerClosed { exchange } => {
                self.holding.retain(|holding| holding.exchange != *exchange);
                self.actions.iter_mut().for_each(|action| action.hung_up(*exchange));
                self.reply_over(*exchange, Ending::Complete);
            }
            Event::Asked { question, call, .. } => {
                self.questions.asked(*question, *call);
                if let Some(call) = call {
                    self.tool_point(PlannedPoint::Asked(*call), Confidence::Observed, commands);
                    self.tool_points_after_question(commands);
                }
            }
            Event::ToolStarted { call: Some(call), .. } => self.tool_started(*call, commands),
            Event::ToolSettled { call, grade, .. } => self.tool_settled(*call, *grade, commands),
            Event::ToolCancelled { call } => {
                self.tools.cancelled(*call);
                self.forget_settling(*call);
            }
            Event::OldRunEnded { call, .. } => self.tools.old_run_ended(*call),
            Event::Saving { entry, side, failed } => self.saving((*entry, *side), *failed, commands),
            Event::Quiet => self.be_patient(commands),
            Event::TurnEnded { .. } => self.turn_over(),
            Event::PromptRefused => self.prompt_refused(),
            Event::Killed => self.bury(),
            Event::Changed { .. } => {
                if let Some((index, grade)) = self.changing.take() {
                    self.actions[index].prove(grade);
                }
            }
            Event::Resumed => self.turn.stage.resumed(),
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
            | Event::Waited { .. }
            | Event::Repaired { .. }
            | Event::LetGo { .. }
            | Event::GaveUp => {}
        }
    }

    fn tool_started(&mut self, call: CallKey, commands: &mut Vec<Command>) {
        self.tools.started(call);
        self.settle_awaited(call, commands);
        self.tool_point(PlannedPoint::Started(call), Confidence::Observed, commands);
        let n_started = self.tools.n_started(&self.plan, self.turn.idx);
        self.tool_point(PlannedPoint::StartedCount(n_started), Confidence::Observed, commands);
    }

    fn tool_settled(&mut self, call: CallKey, grade: Confidence, commands: &mut Vec<Command>) {
        self.tools.settled(call);
        self.turn.results = self.turn.results.min(grade);
        self.actions.iter_mut().for_each(|action| action.settled(call, grade));
        self.tool_point(PlannedPoint::Settled(call, Side::After), grade, commands);
        let n_settled = self.tools.n_settled(&self.plan, self.turn.idx);
        self.tool_point(PlannedPoint::SettledCount(n_settled), grade, commands);
    }

    fn requested(&mut self, exchange: ExchangeId, kind: RequestKind, commands: &mut Vec<Command>) {
        self.kinds.insert(exchange, kind);
        self.note_http_fault(kind);
        self.note_report(kind);
        self.turn.is_off_script |= kind == RequestKind::Surplus;
        self.turn.n_requests += 1;
        // A system that sends requests without end is stopped. If that does not help, the plan ends.
        if self.turn.n_requests == MAX_REQUESTS && !self.turn.stopped {
            self.break_off(commands);
        } else if self.turn.n_requests >= 2 * MAX_REQUESTS {
            commands.push(Command::Finish);
        }
    }

    /// Handles the death of the process, which also ends its turn.
    fn bury(&mut self) {
        self.holding.clear();
        self.changing = None;
        self.tools.die();
        self.questions = Questions::default();
        self.turn.stage.died();
    }

    fn begin(&mut self, turn: usize) -> Vec<Command> {
        self.turn = TurnState::begun(turn);
        let reserved = self.reserved();
        self.tools.begin(&self.plan, turn, &reserved);
        let process = |turn: usize| self.plan.turns[turn].process;
        let switch = turn > 0 && process(turn) != process(turn - 1);
        let switch = switch.then(|| Command::Switch { process: process(turn) });
        switch.into_iter().chain([Command::Prompt { turn }]).collect()
    }

    /// Calls that an action will settle, and that therefore must not settle on their own.
    fn reserved(&self) -> Vec<CallKey> {
        let pending = self.actions.iter().filter(|receipt| !receipt.fired && receipt.turn >= self.turn.idx);
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
            if receipt.turn == turn && receipt.at == here && receipt.what.http().is_some() {
                receipt.prove(Confidence::Observed);
            }
        }
    }

    /// Notes that the provider reports a full context with the reply to a request.
    fn note_report(&mut self, kind: RequestKind) {
        let RequestKind::Scripted { turn, reply, attempt } = kind else { return };
        let here = PlannedPoint::Stream { reply, attempt, mark: Mark::Headers, side: Side::Before };
        for action in &mut self.actions {
            action.asked |= action.turn == turn && action.at == here && action.what.tokens().is_some();
        }
    }

    /// Notes that the system has compacted its history: every full context reported so far has had its
    /// effect.
    fn note_compaction(&mut self) {
        let reported =
            self.actions.iter_mut().filter(|action| action.what.tokens().is_some() && action.asked);
        reported.for_each(|action| action.prove(Confidence::Observed));
    }

    fn hold(&mut self, exchange: ExchangeId, at: Held, grade: Confidence) {
        let (turn, here) = match (self.kinds.get(&exchange), self.summaries.get(&exchange)) {
            (_, Some(of)) => (of.turn, PlannedPoint::Compaction(of.number, at.side)),
            (Some(RequestKind::Scripted { turn, reply, attempt }), None) => {
                let (reply, attempt) = (*reply, *attempt);
                (*turn, PlannedPoint::Stream { reply, attempt, mark: at.mark, side: at.side })
            }
            _ => return self.holding.push(Holding::new(exchange, grade, VecDeque::new())),
        };
        let todo = (0..self.actions.len())
            .filter(|index| {
                let receipt = &self.actions[*index];
                receipt.turn == turn && receipt.at == here && !receipt.fired
            })
            .collect();
        self.holding.push(Holding::new(exchange, grade, todo));
    }

    /// Drops the actions that would settle a cancelled call.
    fn forget_settling(&mut self, call: CallKey) {
        let actions = &self.actions;
        for holding in &mut self.holding {
            holding.todo.retain(|index| actions[*index].what != Action::Settle(call));
        }
    }

    /// Answers the open questions as planned. A user who stops the turn no longer answers.
    fn answer(&mut self, commands: &mut Vec<Command>) {
        // The turn ends while the question is open, as soon as the result in flight has arrived. A process
        // that is being killed gets no answers.
        if !self.turn.put_off.is_empty() || self.turn.stage == TurnStage::Dying {
            return;
        }
        let is_over = self.turn.stopped || self.turn.stage.is_over();
        for (question, call) in self.questions.take(is_over) {
            let consent = if is_over { Consent::Withheld } else { questions::consent(&self.plan, call) };
            if let Some(call) = call.filter(|_| consent == Consent::Given) {
                self.tools.allowed(call);
            }
            commands.push(Command::Answer { question, call, consent });
        }
    }

    /// Lets the calls of a finished reply settle.
    fn reply_over(&mut self, exchange: ExchangeId, ending: Ending) {
        let Some(RequestKind::Scripted { turn, reply, attempt }) = self.kinds.get(&exchange).copied() else {
            return;
        };
        for call in self.plan.turns[turn].replies[reply].attempts[attempt].calls() {
            match ending {
                Ending::Complete => self.tools.reply_complete(call),
                _ => self.tools.reply_cut(call),
            }
        }
    }

    /// Lets the next tool settle. Only one settles at a time: each result is delivered before the next one is
    /// given.
    fn settle_next(&mut self, commands: &mut Vec<Command>) {
        if self.tools.is_settling() || self.is_interrupted() {
            return;
        }
        if !self.turn.stopped && self.tools.all_started() {
            self.tool_point(PlannedPoint::SettledCount(0), Confidence::Observed, commands);
        }
        if self.is_interrupted() {
            return;
        }
        let Some(call) = self.next_to_settle() else { return };
        self.tool_point(PlannedPoint::Settled(call, Side::Before), self.turn.results, commands);
        if self.is_interrupted() {
            return;
        }
        // The actions at that point may have changed which call settles next.
        let Some(call) = self.next_to_settle() else { return };
        self.settle(call, commands);
    }

    fn next_to_settle(&self) -> Option<CallKey> {
        let forced = self.is_patient() || self.turn.let_go == Some(LetGo::Tools);
        let now = Now { width: self.width, stopped: self.turn.stopped, forced };
        self.tools.next(&self.plan, self.turn.idx, now)
    }

    fn settle(&mut self, call: CallKey, commands: &mut Vec<Command>) {
        self.tools.settling(call);
        let outcome = self.plan.calls[call.0 as usize].outcome.clone();
        commands.push(Command::Settle { call, outcome });
    }

    /// True while the system is being killed or its history changed. Results must not arrive during that
    /// time.
    fn is_interrupted(&self) -> bool {
        self.turn.stage == TurnStage::Dying || self.changing.is_some()
    }

    /// True if nothing has happened for so long that a tool that has not started will not start.
    fn is_patient(&self) -> bool {
        self.turn.n_quiet >= self.patience.progress
    }

    /// Handles a quiet period: carries out what waits for one, and eventually gives up.
    fn be_patient(&mut self, commands: &mut Vec<Command>) {
        self.turn.n_quiet += 1;
        // A fault that waited for tools to start no longer does, so that the action behind it is looked at, too.
        self.work_holds(commands);
        let is_patient = self.is_patient();
        if is_patient {
            self.questions.reopen();
        }
        for holding in &mut self.holding {
            while let Some(index) = holding.todo.front().copied() {
                let action = &mut self.actions[index];
                match action.what {
                    Action::Stall => {
                        action.prove(holding.grade);
                        holding.is_stalled = true;
                        self.turn.stopped = true;
                        // The silence before this stop is not a reaction to it.
                        self.turn.n_quiet = 0;
                        commands.push(Command::Stop);
                    }
                    // The call has not started and will not: this system does not reach that point. If it
                    // starts later anyway, it settles as if nothing had been planned.
                    Action::Settle(call) if is_patient && !action.asked => self.tools.release(call),
                    _ => break,
                }
                holding.todo.pop_front();
            }
        }
        if is_patient {
            self.release_late();
        }
        self.let_go(commands);
        if self.turn.n_quiet >= self.hang() {
            self.give_up(commands);
        }
    }

    /// Lets something continue after the grace period of a stop, for a system that notices the stop only then:
    /// first the replies, which a real provider would not hold, and if that does not end the turn, the tools. A provider
    /// that went silent by plan stays silent.
    fn let_go(&mut self, commands: &mut Vec<Command>) {
        let is_stopping = self.turn.stopped && !self.turn.stage.is_over();
        if !is_stopping || self.patience.grace.is_none_or(|grace| self.turn.n_quiet < grace) {
            return;
        }
        let holds_reply = self.holding.iter().any(|holding| !holding.is_stalled);
        let what = match self.turn.let_go {
            None if holds_reply => LetGo::Replies,
            None | Some(LetGo::Replies) if self.tools.is_any_running() => LetGo::Tools,
            None | Some(LetGo::Replies | LetGo::Tools) => return,
        };
        if what == LetGo::Tools {
            self.tools.release_all();
        }
        self.turn.let_go = Some(what);
        self.turn.n_quiet = 0;
        commands.push(Command::LetGo(what));
    }

    /// The number of quiet periods after which the turn counts as hanging. A turn that retries with ever
    /// longer pauses gets more time. A turn that the harness itself has stopped gets no more than usual.
    fn hang(&self) -> u32 {
        let Patience { progress, hang, grace: _ } = self.patience;
        if self.turn.is_broken_off {
            return hang.min(progress.saturating_mul(BACK_OFF));
        }
        let backing_off = self.turn.longest_wait.saturating_mul(BACK_OFF);
        hang.max(backing_off.min(hang.saturating_mul(MAX_BACK_OFF)))
    }

    /// Gives results that were planned for points that have not been reached, once nothing else happens.
    fn release_late(&mut self) {
        // Nothing is held, so the point at which the call was to settle will not be reached any more. A turn
        // that is still running may also wait for a result that was reserved for a later turn.
        if self.holding.is_empty() {
            let (idx, is_over) = (self.turn.idx, self.turn.stage.is_over());
            let is_due = |action: &&Pending| action.turn == idx || (action.turn > idx && !is_over);
            let unasked = self.actions.iter().filter(|action| is_due(action) && !action.asked);
            for action in unasked {
                if let Action::Settle(call) = action.what {
                    self.tools.release(call);
                }
            }
        }
        // A system that waits for a tool before it ends the stopped turn gets the result now, not at the
        // planned point.
        if self.turn.stopped && !self.turn.stage.is_over() {
            self.tools.release_all();
        }
    }

    fn give_up(&mut self, commands: &mut Vec<Command>) {
        if self.turn.stage.is_over() {
            if self.changing.is_some() {
                commands.extend([Command::GiveUp, Command::Finish]);
            }
            return self.tools.give_up();
        }
        commands.push(Command::GiveUp);
        if self.turn.stopped {
            commands.push(Command::Finish);
        } else {
            self.turn.n_quiet = 0;
            self.break_off(commands);
        }
    }

    /// Stops a turn that the plan does not stop. The consequences are not part of the plan, so they are not
    /// executed.
    fn break_off(&mut self, commands: &mut Vec<Command>) {
        self.turn.stopped = true;
        self.turn.is_broken_off = true;
        commands.push(Command::Stop);
    }
}

#[cfg(test)]
mod tests;
