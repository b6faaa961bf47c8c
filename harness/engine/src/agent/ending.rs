//! Ends of a turn that are not the model's: a limit, a tool that ends it, an exception, a stop that comes late.

use super::canary::Canary;
use super::step::{CallState, Phase, Step, interrupted, not_allowed};
use super::thread::Message;
use super::turn::{Turn, raised, run_call};
use super::{Agent, Output, Straggler};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{ShownState, TurnOutcome};

/// Why a turn ends although its reply makes calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// A tool that ends the turn has its result.
    FinalTool,
    /// So many steps are all that is allowed.
    Limit,
}

impl Agent {
    /// Whether the turn ends with this step, whose calls all have their results.
    pub(super) fn halt(&self, turn: &mut Turn) -> Option<Halt> {
        turn.step.calls().next()?;
        turn.n_steps += 1;
        if self.ends_with(&turn.step).is_some() {
            return Some(Halt::FinalTool);
        }
        let is_reached = self.setup.step_limit.is_some_and(|limit| turn.n_steps >= limit);
        is_reached.then_some(Halt::Limit)
    }

    /// The call that has ended the turn by its success.
    fn ends_with<'a>(&self, step: &'a Step) -> Option<&'a str> {
        let is_final = |name: &str| self.setup.tools.iter().any(|tool| tool.name == name && tool.ends);
        let mut calls = step.calls().filter(|call| is_final(&call.call.tool));
        let ended = calls.find(|call| matches!(&call.state, CallState::Done(result) if !result.is_error));
        ended.map(|call| call.call.id.as_str())
    }

    /// Ends the turn there. Its calls are answered all the same: the thread goes on with the next turn.
    pub(super) fn end_early(&mut self, mut turn: Turn, halt: Halt, outputs: &mut Vec<Output>) {
        let leaves_all = halt == Halt::Limit && self.is(Canary::LimitLeavesCalls);
        let last = self.ends_with(&turn.step).map(str::to_owned);
        let leaves_last = halt == Halt::FinalTool && self.is(Canary::FinalToolUnanswered);
        for call in turn.step.calls_mut() {
            if leaves_all || (leaves_last && last.as_ref() == Some(&call.call.id)) {
                call.state = CallState::Forgotten;
            }
        }
        self.close(&mut turn);
        outputs.push(Output::Ended(match halt {
            // The model may have wanted to say more.
            Halt::FinalTool => turn.step.broken.take().map_or(TurnOutcome::Returned, raised),
            Halt::Limit => TurnOutcome::Raised {
                class: "StepLimitReached".to_owned(),
                text: format!("the turn has had its {} steps", turn.n_steps),
            },
        }));
    }

    /// Closes what is on its way for a turn that ends: the reply, and a request beside it.
    pub(super) fn hang_up(&mut self, step: &Step, outputs: &mut Vec<Output>) {
        if !matches!(step.phase, Phase::Over | Phase::Pausing(_)) {
            outputs.push(Output::HangUp { request: step.request });
        }
        if let Some(errand) = self.errand.take() {
            outputs.push(Output::HangUp { request: errand.request() });
        }
    }

    /// An exception leaves the loop: what has come is kept, and every call that is kept gets an answer.
    pub(super) fn interrupt(&mut self, mut turn: Turn, cause: InterruptCause, outputs: &mut Vec<Output>) {
        self.hang_up(&turn.step, outputs);
        turn.step.drop_open_calls();
        self.let_go(&turn.step, outputs);
        let dangles = match cause {
            InterruptCause::Guardrail => self.is(Canary::GuardrailDangles),
            InterruptCause::Credits => self.is(Canary::CreditsDangle),
            _ => false,
        };
        for call in turn.step.calls_mut() {
            if matches!(call.state, CallState::Asked(_)) {
                outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
            }
            call.state = match &call.state {
                CallState::Done(_) => continue,
                _ if dangles => CallState::Forgotten,
                CallState::Asked(_) => {
                    CallState::Done(not_allowed(&call.call, "the turn was broken off before an answer"))
                }
                _ => CallState::Done(interrupted(&call.call)),
            };
        }
        self.close(&mut turn);
        let class = "TurnInterrupted".to_owned();
        outputs.push(Output::Ended(TurnOutcome::Raised { class, text: cause.name().to_owned() }));
    }

    /// The user stops when no turn runs any more. There is nothing to stop; a canary undoes the turn that is over.
    pub(super) fn stopped_again(&mut self) {
        if self.is(Canary::SecondStopUndoes) {
            self.thread.truncate(self.last_mark);
        }
    }

    /// What canaries do with a stop before anything else. Gives the turn back to those that go on as they should.
    #[expect(clippy::result_large_err, reason = "a turn is moved here once in its life")]
    pub(super) fn stop_wrongly(
        &mut self,
        mut turn: Turn,
        outputs: &mut Vec<Output>,
    ) -> Result<Turn, Option<Turn>> {
        let is_whole = matches!(turn.step.phase, Phase::Coming { terminated: true, .. });
        if self.is(Canary::FinishedTurnDropped) && is_whole && turn.step.calls().next().is_none() {
            outputs.push(Output::HangUp { request: turn.step.request });
            self.thread.truncate(turn.mark);
            outputs.push(Output::Ended(TurnOutcome::Cancelled));
            return Err(None);
        }
        if self.is(Canary::DeafToolAwaited) && self.runs_deaf(&turn.step) {
            self.hang_up(&turn.step, outputs);
            turn.step.drop_open_calls();
            self.answer_those_that_hear(&mut turn.step, outputs);
            turn.step.phase = Phase::Over;
            turn.is_stopping = true;
            return Err(Some(turn));
        }
        Ok(turn)
    }

    /// A canary takes the results of a turn that is stopped while the model talks about them for results that nobody
    /// knows.
    pub(super) fn remember_batch(&mut self, turn: &Turn) {
        let is_talking = matches!(turn.step.phase, Phase::Coming { terminated: false, .. });
        let has_spoken = !turn.step.message().is_empty() && turn.step.calls().next().is_none();
        if !self.is(Canary::FinishedBatchReruns) || !is_talking || !has_spoken {
            return;
        }
        let results = self.thread[turn.mark..].iter().rev().find_map(|message| match message {
            Message::Results(results) => Some(results.clone()),
            _ => None,
        });
        self.stragglers.clear();
        self.reruns = true;
        for result in results.unwrap_or_default() {
            let run = self.counter.run();
            self.stragglers.push(Straggler { run, call_id: result.call_id });
        }
    }

    /// A canary lets the calls run that the user has refused when it may run another one.
    pub(super) fn run_refused(&mut self, step: &mut Step, outputs: &mut Vec<Output>) {
        if !self.is(Canary::ConsentMisrouted) {
            return;
        }
        let is_asking = |name: &str| self.setup.tools.iter().any(|tool| tool.name == name && tool.asks);
        let was_refused = |state: &CallState| matches!(state, CallState::Done(result) if result.is_error);
        let refused = step.calls_mut().find(|call| is_asking(&call.call.tool) && was_refused(&call.state));
        if let Some(call) = refused {
            let run = self.counter.run();
            run_call(call, run, outputs);
        }
    }

    fn runs_deaf(&self, step: &Step) -> bool {
        step.calls().any(|call| matches!(call.state, CallState::Running(_)) && self.is_deaf(&call.call.tool))
    }

    fn is_deaf(&self, name: &str) -> bool {
        self.setup.tools.iter().any(|tool| tool.name == name && tool.deaf)
    }

    fn answer_those_that_hear(&self, step: &mut Step, outputs: &mut Vec<Output>) {
        for call in step.calls_mut() {
            match call.state {
                CallState::Running(_) if self.is_deaf(&call.call.tool) => continue,
                CallState::Running(run) => outputs.push(Output::CancelTool { run }),
                CallState::Asked(_) => {}
                CallState::Open | CallState::Done(_) | CallState::Forgotten => continue,
            }
            outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
            call.state = CallState::Done(interrupted(&call.call));
        }
    }
}
