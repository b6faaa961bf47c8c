//! Ends of a turn that the model does not decide: the user's stop, an exception, a limit, a tool that ends
//! the turn.

use super::decisions::{CutOff, Halt, OnStop};
use super::failure::raised;
use super::step::{CallState, Phase, Step, StepCall};
use super::turn::Turn;
use super::{Agent, Output};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{ShownState, TurnOutcome};

impl Agent {
    /// Handles the user's stop.
    pub(super) fn stop(&mut self, mut turn: Turn) -> Option<Turn> {
        let (step, tools) = (&mut turn.step, &self.setup.tools);
        match self.decisions.stops(step, turn.progress, tools, &mut self.session) {
            OnStop::KeepReply => self.cut_off(&mut turn, CutOff::Stopped),
            OnStop::DropReply => self.give_up(&mut turn.step),
            OnStop::Wait => return Some(turn),
        }
        let next = self.decisions.stopped();
        self.follow(next, turn).break_value().flatten()
    }

    /// Handles an exception that leaves the loop.
    pub(super) fn interrupt(&mut self, mut turn: Turn, cause: InterruptCause) {
        self.cut_off(&mut turn, CutOff::Interrupted(cause));
        let (class, text) = ("TurnInterrupted".to_owned(), cause.name().to_owned());
        self.session.end(TurnOutcome::Raised { class, text });
    }

    /// Ends everything that runs. The part of the reply that has arrived is kept, and every call that is kept
    /// gets a result.
    fn cut_off(&mut self, turn: &mut Turn, why: CutOff) {
        self.give_up(&mut turn.step);
        self.decisions.keeps_part(why, &mut turn.step, &mut self.session.thread);
        turn.step.calls_mut().for_each(|call| self.answer(call, why));
        self.save(turn);
    }

    /// Gives up the request and the tools that run, and drops the calls with incomplete arguments.
    fn give_up(&mut self, step: &mut Step) {
        if !matches!(step.phase, Phase::Over | Phase::Pausing(_)) {
            self.session.outputs.push(Output::HangUp { request: step.request });
        }
        if let Some(side_request) = self.side_request.take() {
            self.session.outputs.push(Output::HangUp { request: side_request.id() });
            if let Some(text) = side_request.summary() {
                self.decisions.summary_stopped(&text, &mut self.session.thread);
            }
        }
        step.drop_open_calls();
        self.session.let_go(step);
    }

    /// Gives a call its result if it has none.
    pub(super) fn answer(&mut self, call: &mut StepCall, why: CutOff) {
        let shown = match &mut call.state {
            CallState::Done(result) => self.decisions.keeps_early_result(result, why),
            CallState::Asked(_) => Some(ShownState::Failed),
            CallState::Open | CallState::Running(_) | CallState::Forgotten => None,
        };
        if let Some(state) = shown {
            self.session.show(&call.call.id, state);
        }
        if !matches!(call.state, CallState::Done(_)) {
            call.state = self.decisions.answer(call, why).map_or(CallState::Forgotten, CallState::Done);
        }
    }

    /// The reason to end the turn with this step, if there is one. All calls of the step have their results.
    pub(super) fn halt(&self, turn: &mut Turn) -> Option<Halt> {
        turn.step.calls().next()?;
        turn.n_steps += 1;
        if self.ends_with(&turn.step).is_some() {
            return Some(Halt::FinalTool);
        }
        let is_reached = self.setup.step_limit.is_some_and(|limit| turn.n_steps >= limit);
        is_reached.then_some(Halt::Limit)
    }

    /// The id of the call that has ended the turn by its success.
    fn ends_with<'a>(&self, step: &'a Step) -> Option<&'a str> {
        let is_final = |name: &str| self.setup.tools.iter().any(|tool| tool.name == name && tool.ends);
        let mut calls = step.calls().filter(|call| is_final(&call.call.tool));
        let ended = calls.find(|call| matches!(&call.state, CallState::Done(result) if !result.is_error));
        ended.map(|call| call.call.id.as_str())
    }

    /// Ends the turn for this reason.
    pub(super) fn end_early(&mut self, mut turn: Turn, halt: Halt) {
        let last = self.ends_with(&turn.step).map(str::to_owned);
        for call in turn.step.calls_mut() {
            if !self.decisions.keeps_result_at(halt, last.as_ref() == Some(&call.call.id)) {
                call.state = CallState::Forgotten;
            }
        }
        self.save(&mut turn);
        self.session.outputs.push(Output::Ended(match halt {
            // The model may not have finished.
            Halt::FinalTool => turn.step.broken.take().map_or(TurnOutcome::Returned, |text| raised(&text)),
            Halt::Limit => TurnOutcome::Raised {
                class: "StepLimitReached".to_owned(),
                text: format!("the turn has had its {} steps", turn.n_steps),
            },
        }));
    }
}
