//! Carries out planned actions, at held replies and at the points that tools reach.

use super::pending::Pending;
use super::turn::TurnStage;
use super::{Command, Conductor};
use brickbat_scenario::action::{Action, Actor};
use brickbat_scenario::plan::{BoundAction, CallKey, Mark, PlannedCall, PlannedPoint, Side};
use brickbat_scenario::trace::{Aside, Confidence, ExchangeId};

/// The kind of position at which an action is due.
#[derive(Clone, Copy)]
enum Due {
    AtHold(ExchangeId),
    AtTools,
}

/// The result of carrying out an action; the next one may happen only after `Yes`.
enum Carried {
    Yes,
    NotYet,
    Dying,
}

impl Conductor {
    /// Carries out the actions that are due at held replies, and lets those replies continue.
    pub(super) fn work_holds(&mut self, commands: &mut Vec<Command>) {
        if self.turn.stage == TurnStage::Dying {
            return;
        }
        for at in 0..self.holding.len() {
            let (due, grade) = (Due::AtHold(self.holding[at].exchange), self.holding[at].grade);
            while let Some(index) = self.holding[at].todo.front().copied() {
                match self.carry_out(index, due, grade, commands) {
                    Carried::Yes => drop(self.holding[at].todo.pop_front()),
                    Carried::NotYet => break,
                    Carried::Dying => return,
                }
            }
        }
        // A reply in a stopped turn stays held until the turn is over, so that the system receives the stop
        // and not the rest of the reply. While a result is in flight, the next due action is not yet known.
        let is_stopping = self.turn.stopped && !self.turn.stage.is_over() && self.turn.let_go.is_none();
        let waits = is_stopping || self.tools.is_settling() || self.changing.is_some();
        self.holding.retain(|holding| {
            let keep = !holding.todo.is_empty() || waits;
            if !keep && !holding.is_stalled {
                commands.push(Command::Release(holding.exchange));
            }
            keep
        });
    }

    /// Carries out the actions that wait for a tool to start or settle.
    pub(super) fn tool_point(&mut self, point: PlannedPoint, grade: Confidence, commands: &mut Vec<Command>) {
        for index in 0..self.actions.len() {
            let action = &self.actions[index];
            if action.turn == self.turn.idx && action.at == point && !action.fired && !action.asked {
                if self.waits_for_question(index) {
                    self.actions[index].due = Some(grade);
                } else {
                    self.carry_out(index, Due::AtTools, grade, commands);
                }
            }
        }
    }

    /// Carries out the actions that only waited for a question, now that it has been asked.
    pub(super) fn tool_points_after_question(&mut self, commands: &mut Vec<Command>) {
        for index in 0..self.actions.len() {
            if self.actions[index].turn == self.turn.idx && !self.waits_for_question(index) {
                let Some(grade) = self.actions[index].due.take() else { continue };
                self.carry_out(index, Due::AtTools, grade, commands);
            }
        }
    }

    /// Ends the turn if its end was postponed until a result in flight had arrived.
    pub(super) fn end_put_off(&mut self, commands: &mut Vec<Command>) {
        if self.tools.is_settling() {
            return;
        }
        let put_off = std::mem::take(&mut self.turn.put_off);
        // A turn that has already ended by itself needs no second end.
        let is_over = self.turn.stage.is_over();
        for (index, grade) in put_off.into_iter().filter(|_| !is_over) {
            self.carry_out(index, Due::AtTools, grade, commands);
        }
    }

    /// Settles a call that has just started, if it was due to settle earlier. Parallel tools start in an
    /// order that the system chooses.
    pub(super) fn settle_awaited(&mut self, call: CallKey, commands: &mut Vec<Command>) {
        let awaiting = std::mem::take(&mut self.turn.awaiting);
        let is_due = |(index, _): &(usize, Confidence)| self.actions[*index].what == Action::Settle(call);
        let (due, others): (Vec<_>, Vec<_>) = awaiting.into_iter().partition(is_due);
        self.turn.awaiting = others;
        for (index, grade) in due {
            self.carry_out(index, Due::AtTools, grade, commands);
        }
    }

    /// True if an action would end the turn before the user is asked a question that an earlier action in the
    /// file leaves open. Some systems ask while the other tools of the batch run, and some ask after these
    /// have ended. The file requires the question to be open when the turn ends, in either order.
    fn waits_for_question(&self, index: usize) -> bool {
        let action = &self.actions[index];
        let is_open = |earlier: &Pending| match earlier.at {
            PlannedPoint::Asked(call) => {
                let is_unasked = earlier.what == Action::Ignore && !earlier.fired;
                is_unasked && earlier.turn == action.turn && self.tools.is_replied(call)
            }
            _ => false,
        };
        action.what.ends_turn() && self.actions[..index].iter().any(is_open)
    }

    /// True if a reply is about to break after a complete call, and the system has not had the time to start it. A
    /// system that starts tools while a reply streams does so before the break, and not, by coincidence, after it.
    fn waits_for_starts(&self, index: usize, due: &Due) -> bool {
        let action = &self.actions[index];
        let PlannedPoint::Stream { reply, attempt, mark, side } = action.at else { return false };
        if !action.what.ends_attempt() || matches!(due, Due::AtTools) || self.turn.n_quiet > 0 {
            return false;
        }
        let is_of_reply = |call: &PlannedCall| {
            !call.given
                && call.within.is_none()
                && (call.turn, call.reply, call.attempt) == (action.turn, reply, attempt)
        };
        let keys = || (0..).map(CallKey).zip(&self.plan.calls).filter(|(_, call)| is_of_reply(call));
        let Some((first, _)) = keys().next() else { return false };
        let is_after_a_call = match mark {
            Mark::Start(key) | Mark::Delta(key, _) => key != first,
            Mark::End(key) => key != first || side == Side::After,
            Mark::Calls | Mark::Stop | Mark::Reply => true,
            Mark::Headers | Mark::Think(_) | Mark::Text(_) | Mark::Search(_) | Mark::Found(_) => false,
        };
        is_after_a_call && !keys().any(|(key, _)| self.tools.has_started(key))
    }

    fn carry_out(
        &mut self,
        index: usize,
        due: Due,
        grade: Confidence,
        commands: &mut Vec<Command>,
    ) -> Carried {
        let what = self.actions[index].what.clone();
        if self.waits_for_starts(index, &due) {
            return Carried::NotYet;
        }
        let action = &mut self.actions[index];
        match (&what, due) {
            // A result in flight comes before the end of its turn.
            (_, Due::AtHold(_)) if what.ends_turn() && self.tools.is_settling() => return Carried::NotYet,
            (_, Due::AtTools) if what.ends_turn() && self.tools.is_settling() => {
                self.turn.put_off.push((index, grade));
                return Carried::NotYet;
            }
            (Action::Kill, _) => {
                action.prove(grade);
                // This applies even if the turn was over: the next turn waits for the death of the process.
                self.turn.stage = TurnStage::Dying;
                commands.push(Command::Kill);
                return Carried::Dying;
            }
            (Action::Settle(call), Due::AtHold(_)) => {
                return self.settle_at_hold(index, *call, grade, commands);
            }
            (Action::Settle(call), Due::AtTools) if !self.tools.has_started(*call) => {
                self.turn.awaiting.push((index, grade));
                return Carried::NotYet;
            }
            (Action::Settle(call), Due::AtTools) => {
                action.asked = true;
                self.settle(*call, commands);
            }
            (Action::Stall, Due::AtHold(_)) => return Carried::NotYet,
            // The store proves it when the write is over.
            (Action::Fail(how), _) => {
                action.asked = true;
                commands.push(Command::FailWrite(*how));
            }
            // The history is not changed at a held reply, and the provider sends an HTTP error by itself.
            (
                Action::Http(_)
                | Action::Tokens(_)
                | Action::Trim(_)
                | Action::Summarise(_)
                | Action::Rewind(_)
                | Action::Aside(_)
                | Action::Thinking(_)
                | Action::Provider(_)
                | Action::Tools(_),
                Due::AtHold(_),
            ) => {}
            // The user says nothing to a stopped turn, and a message after its end begins the next turn.
            (Action::Steer(_) | Action::Prompt(_), _) if self.turn.stopped => {}
            (Action::Prompt(_), _) if self.turn.stage.is_over() => {}
            // The provider is only silent for a while: nothing has to arrive.
            (Action::Pause, _) => self.act_at_once(index, &what, grade, commands),
            (_, Due::AtHold(exchange)) if what.spec().actor == Actor::Provider => {
                action.arm(exchange, grade, what.spec().ending);
            }
            (_, Due::AtTools) if what.ends_turn() && self.turn.stopped => action.prove(grade),
            _ => self.act_at_once(index, &what, grade, commands),
        }
        Carried::Yes
    }

    /// Carries out an action that a system takes in immediately.
    fn act_at_once(
        &mut self,
        index: usize,
        what: &BoundAction,
        grade: Confidence,
        commands: &mut Vec<Command>,
    ) {
        let action = &mut self.actions[index];
        if let Some(change) = what.change() {
            commands.push(Command::Change(change));
            action.asked = true;
            self.changing = Some((index, grade));
            return;
        }
        action.prove(grade);
        if what.ends_turn() {
            self.turn.stopped = true;
        } else if let PlannedPoint::Asked(call) = action.at {
            self.questions.leave(call);
        }
        if matches!(what, Action::Prompt(_)) {
            self.turn.stage.prompted();
        }
        commands.extend(commands_of(what));
    }

    /// Gives a result while a reply is held. The reply continues when the result has arrived.
    fn settle_at_hold(
        &mut self,
        index: usize,
        call: CallKey,
        grade: Confidence,
        commands: &mut Vec<Command>,
    ) -> Carried {
        let action = &mut self.actions[index];
        // The call had to settle earlier, so that the turn of this system could end.
        if !action.asked && self.tools.has_settled(call) {
            return Carried::Yes;
        }
        if !self.tools.has_started(call) {
            return Carried::NotYet;
        }
        let is_fired = action.fired;
        if !action.asked {
            action.asked = true;
            action.grade = Some(grade);
            self.settle(call, commands);
        }
        if is_fired { Carried::Yes } else { Carried::NotYet }
    }
}

/// The commands for an action that a system takes in immediately. The match names every action, because acting at once
/// proves one: a new action that a system has to take in needs its command here.
fn commands_of(what: &BoundAction) -> Vec<Command> {
    let say = |way, text: &String| vec![Command::Say { way, text: text.clone() }];
    match what {
        Action::Steer(text) => say(Aside::Steered, text),
        Action::Prompt(text) => say(Aside::Prompted, text),
        Action::Inject(text) => say(Aside::Injected, text),
        Action::Interrupt(cause) => vec![Command::Interrupt(*cause)],
        Action::StopAgain => vec![Command::Stop, Command::Stop],
        Action::Abort | Action::Stall => vec![Command::Stop],
        // The provider, the supervisor or the store carries it out, or it was carried out above.
        Action::Kill
        | Action::Fail(_)
        | Action::Pause
        | Action::Reset
        | Action::Eof
        | Action::EndEarly
        | Action::Error(_)
        | Action::Http(_)
        | Action::Tokens(_)
        | Action::Summary(_)
        | Action::Settle(_)
        | Action::Duplicate
        | Action::Malformed
        | Action::Ignore
        | Action::Trim(_)
        | Action::Summarise(_)
        | Action::Rewind(_)
        | Action::Aside(_)
        | Action::Thinking(_)
        | Action::Provider(_)
        | Action::Tools(_)
        | Action::Finish => Vec::new(),
    }
}
