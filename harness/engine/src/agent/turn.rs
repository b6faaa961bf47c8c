//! A turn: from the user's message to the moment when the agent is idle again.

use super::aside::Heard;
use super::canary::Canary;
use super::cut;
use super::heal::healed;
use super::intake::{Misfit, misfit, turn_down};
use super::request;
use super::spoil::answered_first;
use super::step::{CallState, Phase, Step, StepCall, interrupted, not_allowed, result_of};
use super::thread::{Block, CallResult, Message, unanswered};
use super::{Agent, BodyEnd, Input, Output, RunId};
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::trace::{Aside, Consent, ShownState, TurnOutcome};
use brickbat_scenario::wire::{self, ReplyEvent, decode_whole};

/// A running turn.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) step: Step,
    n_retries: u32,
    n_requests: u32,
    /// Length of the thread before the turn.
    pub(super) mark: usize,
    /// Replies with calls that are over.
    pub(super) n_steps: u32,
    /// What was said to the turn and is not yet in the thread.
    pub(super) asides: Vec<Heard>,
    /// Requests that a storming canary still sends.
    pub(super) storm: Option<u32>,
    /// A canary waits for its tools before it ends a stopped turn.
    pub(super) is_stopping: bool,
}

/// How often one request is sent again after a failure that a retry may cure.
const MAX_RETRIES: u32 = 3;
/// Requests of one turn; more is a loop.
const MAX_REQUESTS: u32 = 64;
/// Stop reasons of a reply that has reached its greatest length.
const LENGTH: [&str; 4] = ["max_tokens", "length", "max_output_tokens", "MAX_TOKENS"];
/// Stop reasons of a reply with calls.
const CALLS: [&str; 2] = ["tool_use", "tool_calls"];
/// The longest pause that is waited for: an hour.
const MAX_PAUSE_MS: u64 = 3_600_000;
/// Requests of the storming canary.
const STORM: u32 = 8;

impl Agent {
    pub(super) fn begin(&mut self, text: &str, outputs: &mut Vec<Output>) -> Option<Turn> {
        let mark = self.thread.len();
        self.last_mark = mark;
        self.put_off = None;
        if self.is(Canary::RunsTwice) || std::mem::take(&mut self.reruns) {
            self.run_again(outputs);
        }
        self.part_from_results();
        self.thread.push(Message::User(text.to_owned()));
        if self.is(Canary::RefusesOwnHistory) && !unanswered(&self.thread).is_empty() {
            let text = "tool results are missing".to_owned();
            outputs.push(Output::Ended(TurnOutcome::Raised {
                class: "MissingToolResultsError".to_owned(),
                text,
            }));
            return None;
        }
        let step = self.ask(outputs);
        Some(Turn {
            step,
            n_retries: 0,
            n_requests: 1,
            mark,
            n_steps: 0,
            asides: Vec::new(),
            storm: None,
            is_stopping: false,
        })
    }

    pub(super) fn advance(
        &mut self,
        mut turn: Turn,
        input: Input<'_>,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        match input {
            Input::Change(change) => {
                self.put_off = Some(change.clone());
                outputs.push(Output::Changed(change.clone()));
                Some(turn)
            }
            Input::Prompt(text) => self.prompted_again(turn, text, outputs),
            Input::Steer(text) => self.heard(turn, Aside::Steered, text, outputs),
            Input::Inject(text) => self.heard(turn, Aside::Injected, text, outputs),
            Input::Stop => match self.stop_wrongly(turn, outputs) {
                Ok(turn) => {
                    self.remember_batch(&turn);
                    self.stop(turn, outputs)
                }
                Err(turn) => turn,
            },
            Input::Interrupt(cause) => {
                self.interrupt(turn, cause, outputs);
                None
            }
            Input::Head { request, status, pause_ms } => {
                if request == turn.step.request {
                    turn.step.pause_ms = pause_ms;
                    turn.step.answered_with(status, self.setup.dialect);
                }
                Some(turn)
            }
            Input::Body { request, bytes } => {
                if request == turn.step.request {
                    self.body(&mut turn, bytes, outputs);
                }
                Some(turn)
            }
            Input::End { request, how } if request == turn.step.request => self.body_over(turn, how, outputs),
            Input::End { .. } => Some(turn),
            Input::Answered { run, consent } => self.answered(turn, run, consent, outputs),
            Input::ToolDone { run, outcome } => self.tool_done(turn, run, outcome, outputs),
            Input::Elapsed { timer } => {
                if matches!(turn.step.phase, Phase::Pausing(awaited) if awaited == timer) {
                    turn.step = self.ask(outputs);
                }
                Some(turn)
            }
        }
    }

    pub(super) fn is(&self, canary: Canary) -> bool {
        self.setup.canary == Some(canary)
    }

    /// Where a prompt may not follow results, says that the answer to them was never given.
    pub(super) fn part_from_results(&mut self) {
        let follows_results = matches!(self.thread.last(), Some(Message::Results(_)));
        let must_part = wire::of(self.setup.dialect).traits.wants_word_after_results;
        if follows_results && must_part && !self.is(Canary::NoWordAfterResults) {
            self.thread.push(Message::Assistant(vec![Block::Text("(interrupted)".to_owned())]));
        }
    }

    pub(super) fn ask(&mut self, outputs: &mut Vec<Output>) -> Step {
        let request = self.counter.request();
        if self.is(Canary::RepairDrifts) {
            self.word_repairs_anew(request);
        }
        let body = match self.setup.canary {
            Some(Canary::NoteWanders) if self.was_stopped => request::body(&self.setup, &self.with_note()),
            Some(Canary::SummaryOfPoison) => request::body(&self.setup, &healed(self.thread.clone())),
            Some(Canary::SummaryFlipsRole) => self.flipped(),
            _ => request::body(&self.setup, &self.thread),
        };
        outputs.push(Output::Request { request, body });
        Step::new(request, self.setup.canary)
    }

    /// Asks again, at once or after the pause that the provider wants.
    fn ask_again(&mut self, pause_ms: Option<u64>, outputs: &mut Vec<Output>) -> Step {
        let Some(ms) = pause_ms.filter(|ms| *ms > 0 && !self.is(Canary::PauseIgnored)) else {
            return self.ask(outputs);
        };
        let timer = self.counter.timer();
        outputs.push(Output::Wait { timer, ms });
        // No request has this number, so nothing is on its way.
        let mut step = Step::new(self.counter.request(), self.setup.canary);
        step.phase = Phase::Pausing(timer);
        step
    }

    fn body(&mut self, turn: &mut Turn, bytes: &[u8], outputs: &mut Vec<Output>) {
        let events = turn.step.take_in(bytes, self.setup.delivery);
        self.hear(&mut turn.step, events, outputs);
    }

    /// Starts the tool of a call that has just become complete.
    pub(super) fn start_call(&mut self, step: &mut Step, index: u64, outputs: &mut Vec<Output>) {
        let Some(call) = step.open_call(index) else { return };
        if call.call.args.is_empty() {
            call.call.args.push_str("{}");
        }
        let tool = self.setup.tools.iter().find(|tool| tool.name == call.call.tool);
        let mut misfit = misfit(tool.map(|tool| &tool.input_schema), &call.call.args);
        if misfit == Some(Misfit::CutOff) && self.setup.canary == Some(Canary::CutArgumentsRepaired) {
            call.call.args.push_str("\"}");
            misfit = None;
        }
        outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Pending });
        if tool.is_none() || misfit.is_some() {
            return turn_down(call, misfit, self.setup.canary, outputs);
        }
        let run = self.counter.run();
        if tool.is_some_and(|tool| tool.asks) {
            call.state = CallState::Asked(run);
            return outputs.push(Output::Ask { run, id: call.call.id.clone() });
        }
        run_call(call, run, outputs);
    }

    /// The user has answered: the tool runs, or the call has its result. After a stop nothing is left to answer.
    fn answered(
        &mut self,
        mut turn: Turn,
        run: RunId,
        consent: Consent,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        let ignores = self.is(Canary::RefusalIgnored);
        let Some(call) = turn.step.asked_about(run) else { return Some(turn) };
        match consent {
            Consent::Given => run_call(call, run, outputs),
            Consent::Refused if ignores => run_call(call, run, outputs),
            Consent::Refused | Consent::Withheld => {
                call.state = CallState::Done(not_allowed(&call.call, "the user refused this call"));
                outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
            }
        }
        if consent == Consent::Given {
            self.run_refused(&mut turn.step, outputs);
        }
        if matches!(turn.step.phase, Phase::Over) { self.go_on(turn, outputs) } else { Some(turn) }
    }

    fn body_over(&mut self, mut turn: Turn, how: BodyEnd, outputs: &mut Vec<Output>) -> Option<Turn> {
        let phase = std::mem::replace(&mut turn.step.phase, Phase::Over);
        let Phase::Coming { status, terminated, .. } = phase else {
            return self.failed(
                turn,
                "the connection broke before an answer".to_owned(),
                Cure::Retry,
                outputs,
            );
        };
        if status != 200 {
            let may_pass = matches!(status, 408 | 409 | 429 | 500..) || self.is(Canary::RefusalRetried);
            let cure = if may_pass { Cure::Retry } else { Cure::None };
            let text = format!("status {status}: {}", String::from_utf8_lossy(&turn.step.whole));
            return self.failed(turn, text, cure, outputs);
        }
        if let Some(error) = turn.step.error.take() {
            return self.failed(turn, error, Cure::Retry, outputs);
        }
        let mut terminated = terminated;
        if self.setup.delivery == super::Delivery::Whole && how == BodyEnd::Complete {
            let mut events = Vec::new();
            decode_whole(self.setup.dialect, &turn.step.whole, |event| events.push(event));
            terminated = events.contains(&ReplyEvent::End);
            self.hear(&mut turn.step, events, outputs);
        }
        if self.is(Canary::TruncationSwallowed) {
            terminated = true;
            turn.step.drop_open_calls();
        }
        if !terminated {
            return self.failed(
                turn,
                "the stream ended before the reply was complete".to_owned(),
                Cure::Retry,
                outputs,
            );
        }
        turn.n_retries = 0;
        if turn.storm.is_some() {
            return self.storm_on(turn, outputs);
        }
        let has_calls = turn.step.calls().next().is_some();
        let is_stop = |words: &[&str]| turn.step.stop.as_deref().is_some_and(|stop| words.contains(&stop));
        if self.is(Canary::LengthDangles) && has_calls && is_stop(&LENGTH) {
            self.let_go(&turn.step, outputs);
            self.push_message(turn.step.message());
            outputs.push(Output::Ended(TurnOutcome::Returned));
            return None;
        }
        if self.is(Canary::EmptyToolTurn) && !has_calls && is_stop(&CALLS) {
            self.push_message(turn.step.message());
            self.thread.push(Message::Results(Vec::new()));
            turn.n_requests += 1;
            turn.step = self.ask(outputs);
            return Some(turn);
        }
        self.go_on(turn, outputs)
    }

    /// A request failed. Without side effects it is sent again; with side effects their results are kept.
    fn failed(
        &mut self,
        mut turn: Turn,
        text: String,
        cure: Cure,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        if turn.storm.is_some() {
            return self.storm_on(turn, outputs);
        }
        if self.is(Canary::PartialArgumentsRun) {
            self.run_open_calls(&mut turn.step, outputs);
        }
        let may_retry = cure == Cure::Retry && turn.n_retries < MAX_RETRIES && turn.n_requests < MAX_REQUESTS;
        if self.is(Canary::RetryMergesSteps) && may_retry && !turn.step.blocks.is_empty() {
            turn.n_retries += 1;
            turn.n_requests += 1;
            turn.step.drop_open_calls();
            let kept = std::mem::take(&mut turn.step.blocks);
            turn.step = self.ask(outputs);
            turn.step.blocks = kept;
            return Some(turn);
        }
        if self.is(Canary::RetryContinuesMessage) && may_retry && turn.step.has_text() {
            turn.n_retries += 1;
            turn.n_requests += 1;
            turn.step.drop_open_calls();
            let kept = std::mem::take(&mut turn.step.blocks);
            turn.step = self.ask(outputs);
            turn.step.failed_attempt = kept;
            return Some(turn);
        }
        turn.step.drop_open_calls();
        if turn.step.has_side_effects() {
            if self.is(Canary::InFlightDropped) {
                self.let_go(&turn.step, outputs);
                let message = turn.step.message();
                let results = turn.step.results();
                self.thread.push(Message::Assistant(message));
                self.push_results(results);
                outputs.push(Output::Ended(raised(text)));
                return None;
            }
            if self.is(Canary::SignatureDropped) {
                turn.step.calls_mut().for_each(|call| call.call.signature = None);
            }
            if !self.is(Canary::ThinkingDropped) {
                self.spoil_thoughts(&mut turn.step);
            }
            turn.step.broken = Some(text);
            return self.go_on(turn, outputs);
        }
        // Who is asked to wait for longer than a turn may take gives the turn up.
        let pause_ms = turn.step.pause_ms;
        if may_retry && pause_ms.is_none_or(|ms| ms <= MAX_PAUSE_MS) {
            if self.is(Canary::RetryPrefills) && turn.n_requests > 1 {
                self.push_message(turn.step.message());
            }
            turn.n_retries += 1;
            turn.n_requests += 1;
            turn.step = self.ask_again(pause_ms, outputs);
            return Some(turn);
        }
        if self.is(Canary::UsersNotMerged)
            && turn.step.blocks.is_empty()
            && turn.n_requests <= MAX_RETRIES + 1
        {
            self.thread.push(Message::Assistant(Vec::new()));
        }
        if self.is(Canary::PromptLost) {
            self.thread.truncate(turn.mark);
        } else if self.is(Canary::ErrorLosesResults)
            && cure == Cure::None
            && matches!(self.thread.last(), Some(Message::Results(_)))
        {
            self.thread.pop();
        } else {
            self.close(&mut turn);
        }
        outputs.push(Output::Ended(raised(text)));
        None
    }

    fn tool_done(
        &mut self,
        mut turn: Turn,
        run: RunId,
        outcome: ToolOutcome,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        let is_over = matches!(turn.step.phase, Phase::Over);
        let ignores = self.is(Canary::EarlyErrorIgnored) && !is_over && !outcome.is_success();
        let parks = self.is(Canary::ErrorParked) && !is_over && !outcome.is_success();
        let unheard = match &outcome {
            ToolOutcome::Return(text) => text.is_empty() && self.is(Canary::EmptyResultDropped),
            ToolOutcome::Throw(text) => text.is_empty() && self.is(Canary::WordlessThrowDropped),
            ToolOutcome::Error(_) | ToolOutcome::Deny(_) => false,
        };
        let Some(call) = turn.step.call_of(run) else {
            self.straggler_done(run, &outcome);
            return Some(turn);
        };
        if ignores {
            call.state = CallState::Forgotten;
            return Some(turn);
        }
        let id = call.call.id.clone();
        call.state = match unheard {
            true => CallState::Forgotten,
            false => CallState::Done(result_of(&call.call, &outcome)),
        };
        self.spoil_answered(&mut turn.step, &id, &outcome, outputs);
        let state = if outcome.is_success() { ShownState::Completed } else { ShownState::Failed };
        if !parks {
            outputs.push(Output::Show { id, state });
        }
        if matches!(outcome, ToolOutcome::Deny(_)) && self.is(Canary::DeniedKeepsReply) {
            self.let_go(&turn.step, outputs);
            self.thread.push(Message::Assistant(turn.step.message()));
            outputs.push(Output::Ended(raised("the user refused".to_owned())));
            return None;
        }
        if is_over { self.go_on(turn, outputs) } else { Some(turn) }
    }

    /// The reply is over: when no tool runs any more, its messages are saved and the next request goes out.
    pub(super) fn go_on(&mut self, mut turn: Turn, outputs: &mut Vec<Output>) -> Option<Turn> {
        let is_in_haste = self.is(Canary::LastResultOnly) && turn.step.is_last_answered();
        if turn.step.is_running() && !is_in_haste {
            return Some(turn);
        }
        if turn.is_stopping {
            self.close(&mut turn);
            outputs.push(Output::Ended(TurnOutcome::Cancelled));
            return None;
        }
        if let Some(halt) = self.halt(&mut turn) {
            self.end_early(turn, halt, outputs);
            return None;
        }
        let has_calls = turn.step.calls().next().is_some();
        if self.is(Canary::StopLingers) && self.was_stopped {
            turn.step.cut_text();
        }
        // What was said meanwhile comes behind a change that has waited for this step.
        let heard = match self.put_off {
            Some(_) if has_calls => std::mem::take(&mut turn.asides),
            _ => Vec::new(),
        };
        let has_heard = self.close(&mut turn) || !heard.is_empty();
        turn.asides = heard;
        if !(has_calls || has_heard) || turn.n_requests >= MAX_REQUESTS {
            outputs.push(Output::Ended(TurnOutcome::Returned));
            return None;
        }
        turn.n_requests += 1;
        if let Some(change) = self.put_off.take()
            && self.begin_change(&change, Some(&mut turn), outputs)
        {
            // All of this step is in the thread; the next one begins when the summary is there.
            turn.step = Step::new(turn.step.request, self.setup.canary);
            turn.step.phase = Phase::Over;
            return Some(turn);
        }
        self.say_heard(&mut turn);
        let is_doubled = self.is(Canary::MemoryDoubled) && cut::has_summary(&self.thread);
        turn.step = if is_doubled { self.ask_doubled(&turn, outputs) } else { self.ask(outputs) };
        Some(turn)
    }

    /// The user stops the turn: the request and the tools are given up, and every call that is kept gets an answer.
    fn stop(&mut self, mut turn: Turn, outputs: &mut Vec<Output>) -> Option<Turn> {
        self.was_stopped = true;
        if self.is(Canary::PlaceholderKept) && turn.n_requests == 1 && matches!(turn.step.phase, Phase::Asked)
        {
            self.thread.push(Message::Assistant(Vec::new()));
        }
        self.hang_up(&turn.step, outputs);
        turn.step.drop_open_calls();
        self.let_go(&turn.step, outputs);
        let speaks_of_results =
            turn.n_requests > 1 && turn.step.has_text() && turn.step.calls().next().is_none();
        if self.is(Canary::FinishedBatchLost) && speaks_of_results {
            self.thread.truncate(turn.mark + 1);
        }
        if self.is(Canary::ResultsLost) {
            outputs.push(Output::Ended(TurnOutcome::Cancelled));
            return None;
        }
        if self.is(Canary::CallsReordered) {
            answered_first(&mut turn.step);
        }
        self.spoil_thoughts(&mut turn.step);
        let dangles = self.is(Canary::DanglingOnAbort)
            || self.is(Canary::RefusesOwnHistory)
            || self.is(Canary::SummaryOfPoison)
            || (self.is(Canary::SecondBatchDangles) && turn.n_requests > 1);
        let is_mixed = turn.step.calls().any(|call| !matches!(call.state, CallState::Asked(_)));
        let mistakes = self.is(Canary::QuestionTakenForDone) && is_mixed;
        let invents = self.is(Canary::SuccessInvented);
        let forgets = self.is(Canary::ApprovalForgotten);
        for call in turn.step.calls_mut() {
            let is_asked = matches!(call.state, CallState::Asked(_));
            if is_asked {
                outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
            }
            let is_left = dangles || (is_asked && forgets);
            if !matches!(call.state, CallState::Done(_)) && !is_left {
                let mut result = match is_asked {
                    true => not_allowed(&call.call, "the user stopped before allowing this call"),
                    false => interrupted(&call.call),
                };
                if invents || (mistakes && is_asked) {
                    result.text = "Done.".to_owned();
                    result.is_error = false;
                }
                if self.setup.canary == Some(Canary::RunDenied) {
                    result.text = "Not run: the user stopped the turn.".to_owned();
                }
                call.state = CallState::Done(result);
            } else if let CallState::Done(result) = &mut call.state {
                if self.setup.canary == Some(Canary::SuccessDenied) && !result.is_error {
                    result.text = format!("Aborted: {}", result.text);
                    result.is_error = true;
                }
                if self.setup.canary == Some(Canary::ShownAsFailed) {
                    outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
                }
            }
        }
        if self.is(Canary::LoneThoughtKept) && turn.step.message().is_empty() {
            self.push_message(turn.step.thoughts());
        }
        self.close(&mut turn);
        if self.is(Canary::RequestStorm) {
            turn.storm = Some(STORM);
            return self.storm_on(turn, outputs);
        }
        if self.is(Canary::NeverEnds) {
            turn.step = Step::new(turn.step.request, self.setup.canary);
            turn.step.phase = Phase::Over;
            return Some(turn);
        }
        outputs.push(Output::Ended(TurnOutcome::Cancelled));
        None
    }

    pub(super) fn push_message(&mut self, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.thread.push(Message::Assistant(blocks));
        }
    }

    pub(super) fn push_results(&mut self, results: Vec<CallResult>) {
        if !results.is_empty() {
            self.thread.push(Message::Results(results));
        }
    }
}

/// Whether a failure may pass when the request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cure {
    Retry,
    None,
}

/// Starts the tool of a call.
pub(super) fn run_call(call: &mut StepCall, run: RunId, outputs: &mut Vec<Output>) {
    call.state = CallState::Running(run);
    outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::InProgress });
    outputs.push(Output::StartTool { run, tool: call.call.tool.clone(), args: call.call.args.clone() });
}

pub(super) fn raised(text: String) -> TurnOutcome {
    TurnOutcome::Raised { class: "ProviderError".to_owned(), text }
}
