//! A turn, from the user's message until the agent is idle again.

use std::borrow::Cow;

use super::compaction::STEP;
use super::decisions::{Asking, Next, Progress, Said};
use super::model_errors::{self, InvalidCall};
use super::step::{CallState, Phase, Step, not_allowed, result_of};
use super::thread::{Block, Message};
use super::{Agent, Input, Output, RequestId, RunId, compaction};
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::trace::{Aside, Consent, ShownState, TurnOutcome};
use brickbat_scenario::wire;

/// A running turn.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) step: Step,
    pub(super) progress: Progress,
    /// How many times a request in the turn was too long and the thread was shortened.
    pub(super) n_shortened: u32,
    /// The number of finished replies with calls.
    pub(super) n_steps: u32,
    /// Messages to the turn that are not yet in the thread.
    pub(super) said: Said,
}

/// The maximum number of requests in one turn; more means a loop.
pub(super) const MAX_REQUESTS: u32 = 64;

impl Agent {
    /// Begins a turn with the user's message, which is in the thread before the first request.
    pub(super) fn begin(&mut self, text: &str) -> Option<Turn> {
        let start = self.session.thread.len();
        self.put_off = None;
        for call in self.decisions.turn_begins(&self.session.thread, &mut self.session.late) {
            let run = self.session.counter.run();
            self.session.outputs.push(Output::StartTool { run, tool: call.tool, args: call.args });
        }
        self.push_user(text.to_owned());
        if let Some(refusal) = self.decisions.refuses(&self.session.thread) {
            self.session.end(refusal);
            return None;
        }
        // No request has this number.
        let step = Step::over(RequestId(u32::MAX));
        let progress = Progress { start, n_requests: 1, n_retries: 0 };
        let mut turn = Turn { step, progress, n_shortened: 0, n_steps: 0, said: Vec::new() };
        // A full context is compacted before the first request.
        let end = compaction::start(&self.session.thread, STEP);
        let is_compacting = match self.own_compaction(end, start) {
            Some(change) => self.begin_change(&change, Some(&mut turn)),
            None => false,
        };
        if !is_compacting {
            turn.step = self.ask(Asking::Prompt);
        }
        Some(turn)
    }

    /// Takes an input while the turn runs.
    pub(super) fn advance(&mut self, mut turn: Turn, input: Input<'_>) -> Option<Turn> {
        match input {
            Input::Head { request, status, pause_ms } => {
                if request == turn.step.request {
                    turn.step.pause_ms = pause_ms;
                    turn.step.answered_with(status, self.setup.dialect);
                }
                Some(turn)
            }
            Input::Body { request, bytes } => {
                if request == turn.step.request {
                    let events = turn.step.take_in(bytes, self.setup.delivery);
                    self.hear(&mut turn.step, events);
                }
                Some(turn)
            }
            Input::End { request, how } if request == turn.step.request => self.reply_over(turn, how),
            Input::End { .. } => Some(turn),
            Input::Answered { run, consent } => self.consented(turn, run, consent),
            Input::ToolDone { run, outcome } => self.tool_done(turn, run, &outcome),
            Input::Elapsed { timer } => {
                if matches!(turn.step.phase, Phase::Pausing(awaited) if awaited == timer) {
                    turn.step = self.ask(Asking::Retry);
                }
                Some(turn)
            }
            Input::Stop => self.stop(turn),
            Input::Interrupt(cause) => {
                self.interrupt(turn, cause);
                None
            }
            Input::Prompt(text) => self.prompted_again(turn, text),
            Input::Steer(text) => self.told(turn, Aside::Steered, text),
            Input::Inject(text) => self.told(turn, Aside::Injected, text),
            Input::Tools(tools) => {
                self.takes_tools(tools);
                Some(turn)
            }
            Input::WriteFailed => self.write_failed(Some(turn)),
            Input::Change(change) => {
                self.put_off = Some(change.clone());
                self.session.outputs.push(Output::Changed(change.clone()));
                Some(turn)
            }
        }
    }

    /// Handles a failed write of the store. The turn may be over: its last write comes at its end.
    pub(super) fn write_failed(&mut self, turn: Option<Turn>) -> Option<Turn> {
        let mut turn = turn;
        let step = turn.as_mut().map(|turn| &mut turn.step);
        self.decisions.write_fails(step, &mut self.session);
        turn
    }

    /// Sends the request for the next reply.
    pub(super) fn ask(&mut self, asking: Asking) -> Step {
        self.update_tools();
        let request = self.session.counter.request();
        let thinks = self.decisions.asks_to_think(self.setup.dialect, &self.session.thread);
        let setup = if thinks { Cow::Borrowed(&self.setup) } else { Cow::Owned(self.setup.unthinking()) };
        let body = self.decisions.request(&setup, &mut self.session.thread, request, asking);
        self.session.outputs.push(Output::Request { request, body });
        let mut step = Step::new(request, self.decisions.keeps_blank_text());
        self.decisions.reply_begins(&mut step);
        step
    }

    /// Carries out the next step that a decision chose. Without one, the turn is returned.
    pub(super) fn follow(&mut self, next: Next, mut turn: Turn) -> std::ops::ControlFlow<Option<Turn>, Turn> {
        use std::ops::ControlFlow::{Break, Continue};
        match next {
            Next::GoOn => Continue(turn),
            Next::Wait => {
                turn.step = Step::over(turn.step.request);
                Break(Some(turn))
            }
            Next::Retry => {
                turn.progress.n_retries += 1;
                self.follow(Next::Ask, turn)
            }
            Next::Ask => {
                turn.progress.n_requests += 1;
                turn.step = self.ask(Asking::Retry);
                Break(Some(turn))
            }
            Next::End(outcome) => {
                self.session.end(outcome);
                Break(None)
            }
            Next::BreakOff(saved, outcome) => {
                self.session.let_go(&turn.step);
                self.session.thread.extend(saved);
                self.session.end(outcome);
                Break(None)
            }
        }
    }

    /// Handles a call that is now complete: its tool starts, or the user is asked, or the call cannot be run.
    pub(super) fn start_call(&mut self, step: &mut Step, index: u64) {
        if !self.decisions.takes_call(step, index) {
            return step.drop_open_call(index);
        }
        let Some(call) = step.open_call(index) else { return };
        if call.call.args.is_empty() && self.decisions.fills_empty_arguments() {
            call.call.args.push_str("{}");
        }
        let tool = self.setup.tools.iter().find(|tool| tool.name == call.call.tool);
        let problem = model_errors::problem(tool.map(|tool| &tool.input_schema), &call.call.args);
        let problem = problem.and_then(|problem| self.decisions.invalid(&mut call.call.args, problem));
        self.session.show(&call.call.id, ShownState::Pending);
        if let Some(problem) = problem.or(tool.is_none().then_some(InvalidCall::UnknownTool)) {
            return self.turn_down(call, problem);
        }
        let run = self.session.counter.run();
        if tool.is_some_and(|tool| tool.asks) {
            call.state = CallState::Asked(run);
            return self.session.outputs.push(Output::Ask { run, id: call.call.id.clone() });
        }
        self.session.start(call, run);
    }

    /// Handles the user's answer: the tool runs, or the call gets its result. After a stop nothing is left to
    /// answer.
    fn consented(&mut self, mut turn: Turn, run: RunId, consent: Consent) -> Option<Turn> {
        let Some(call) = turn.step.asked_about(run) else { return Some(turn) };
        if self.decisions.may_run(consent) {
            self.session.start(call, run);
        } else {
            call.state = CallState::Done(not_allowed(&call.call, "the user refused this call"));
            self.session.show(&call.call.id, ShownState::Failed);
        }
        if consent == Consent::Given
            && let Some(call) = self.decisions.also_released(&mut turn.step, &self.setup.tools)
        {
            let run = self.session.counter.run();
            self.session.start(call, run);
        }
        if matches!(turn.step.phase, Phase::Over) { self.go_on(turn) } else { Some(turn) }
    }

    /// Handles the end of a tool, before or after the end of the reply.
    fn tool_done(&mut self, mut turn: Turn, run: RunId, outcome: &ToolOutcome) -> Option<Turn> {
        let is_over = matches!(turn.step.phase, Phase::Over);
        let Some(call) = turn.step.call_of(run) else {
            self.answered_late(run, outcome);
            return Some(turn);
        };
        let id = call.call.id.clone();
        let handoff = self.words_of_handoff(&turn.step, &id);
        let worded = handoff.as_ref().map(|(words, _)| ToolOutcome::Return(words.clone()));
        let outcome = worded.as_ref().unwrap_or(outcome);
        let Some(call) = turn.step.call_of(run) else { return Some(turn) };
        call.state = if self.decisions.keeps_result(outcome, is_over) {
            CallState::Done(result_of(&call.call, outcome))
        } else {
            CallState::Forgotten
        };
        self.decisions.call_ended(&mut turn.step, &id, outcome, &mut self.session);
        if handoff.is_some_and(|(_, is_taken)| is_taken) {
            self.decisions.handed_over(&mut turn.step, &mut self.session);
        }
        if self.decisions.shows_result(outcome, is_over) {
            let state = if outcome.is_success() { ShownState::Completed } else { ShownState::Failed };
            self.session.show(&id, state);
        }
        if matches!(outcome, ToolOutcome::Deny(_)) {
            let next = self.decisions.denied(&turn.step);
            turn = match self.follow(next, turn) {
                std::ops::ControlFlow::Continue(turn) => turn,
                std::ops::ControlFlow::Break(turn) => return turn,
            };
        }
        if is_over { self.go_on(turn) } else { Some(turn) }
    }

    /// Handles the late answer of a tool that was given up. Its call already has a result.
    pub(super) fn answered_late(&mut self, run: RunId, outcome: &ToolOutcome) {
        if let Some(call_id) = self.session.take_late(run) {
            self.decisions.late_result(call_id, outcome, &mut self.session.thread);
        }
    }

    /// Continues after the end of the reply. When no tool runs any more, the step is saved and the next
    /// request is sent.
    pub(super) fn go_on(&mut self, mut turn: Turn) -> Option<Turn> {
        if !self.decisions.is_settled(&turn.step) {
            return Some(turn);
        }
        if let Some(outcome) = self.decisions.ends_settled() {
            self.save(&mut turn);
            self.session.end(outcome);
            return None;
        }
        if let Some(halt) = self.halt(&mut turn) {
            self.end_early(turn, halt);
            return None;
        }
        self.decisions.continues(&mut turn.step);
        if self.handoff(&turn.step).is_some() {
            self.decisions.control_moves(&mut turn.step, &self.setup.tools);
        }
        let is_paused = self.is_paused(&turn.step) && self.decisions.resumes();
        let goes_on = is_paused || turn.step.calls().next().is_some();
        self.put_off = self.put_off.take().or_else(|| {
            // The step is not in the thread yet, so it stays. If it ends the turn, the message before it
            // stays as well.
            let thread = &self.session.thread;
            let end = if goes_on { thread.len() } else { compaction::start(thread, STEP - 1) };
            self.own_compaction(end, turn.progress.start)
        });
        // A change that has waited for this step comes before the messages that arrived meanwhile.
        let waits = self.put_off.is_some();
        let said = if waits { std::mem::take(&mut turn.said) } else { Vec::new() };
        let was_told = self.save(&mut turn) || !said.is_empty();
        turn.said = said;
        if !(goes_on || was_told) || turn.progress.n_requests >= MAX_REQUESTS {
            self.push_said(&mut turn);
            self.session.end(TurnOutcome::Returned);
            return None;
        }
        turn.progress.n_requests += 1;
        if let Some(change) = self.put_off.take()
            && self.begin_change(&change, Some(&mut turn))
        {
            // The complete step is in the thread. The next step begins when the summary has arrived.
            turn.step = Step::over(turn.step.request);
            return Some(turn);
        }
        self.push_said(&mut turn);
        turn.step = self.ask(Asking::Results { turn_start: turn.progress.start });
        Some(turn)
    }

    /// Saves the step and, after it, the messages that arrived meanwhile. Returns whether there were any.
    pub(super) fn save(&mut self, turn: &mut Turn) -> bool {
        let was_told = !turn.said.is_empty();
        let saved = self.decisions.record(&turn.step, &mut turn.said, self.put_off.as_ref());
        self.session.thread.extend(saved);
        self.push_said(turn);
        was_told
    }

    /// Saves a user message. If a prompt may not follow results directly, a text of the model is inserted
    /// between them.
    pub(super) fn push_user(&mut self, text: String) {
        self.drop_open_searches();
        let thread = &mut self.session.thread;
        let follows_results = matches!(thread.last(), Some(Message::Results(_)));
        if follows_results
            && wire::of(self.setup.dialect).traits.wants_word_after_results
            && let Some(word) = self.decisions.word_after_results()
        {
            thread.push(Message::Assistant(vec![Block::Text(word.to_owned())]));
        }
        thread.push(Message::User(text));
    }
}
