//! Handles the end of a reply, including a failed one.
//!
//! A failed request is sent again if its reply has had no effect yet. Once a tool has started, the request is
//! not repeated, because the tool would run twice: the complete calls get their results, and the turn
//! continues from them.

use std::ops::ControlFlow;

use super::decisions::{Asking, CutOff, Failure};
use super::step::{Phase, Step};
use super::turn::{MAX_REQUESTS, Turn};
use super::{Agent, BodyEnd, Delivery, Output, compaction};
use brickbat_scenario::plan::Change;
use brickbat_scenario::trace::TurnOutcome;
use brickbat_scenario::wire::{ReplyEvent, decode_whole};

/// How many times one request is sent again after a failure that a retry may fix.
pub(crate) const MAX_RETRIES: u32 = 3;
/// The longest pause before a retry: an hour.
const MAX_PAUSE_MS: u64 = 3_600_000;

impl Agent {
    /// Handles the end of an answer's body.
    pub(super) fn reply_over(&mut self, mut turn: Turn, how: BodyEnd) -> Option<Turn> {
        let phase = std::mem::replace(&mut turn.step.phase, Phase::Over);
        let Phase::Coming { status, mut terminated, .. } = phase else {
            return self.failed(turn, "the connection broke before an answer", true);
        };
        if status != 200 {
            let text = format!("status {status}: {}", String::from_utf8_lossy(&turn.step.whole));
            return self.failed(turn, &text, self.decisions.may_pass(status));
        }
        if let Some(error) = turn.step.error.take() {
            return self.failed(turn, &error, true);
        }
        if self.setup.delivery == Delivery::Whole && how == BodyEnd::Complete {
            let mut events = Vec::new();
            decode_whole(self.setup.dialect, &turn.step.whole, |event| events.push(event));
            terminated = events.contains(&ReplyEvent::End);
            self.hear(&mut turn.step, events);
        }
        self.session.tokens = turn.step.tokens.unwrap_or(self.session.tokens);
        if !self.decisions.is_complete(&mut turn.step, terminated) {
            return self.failed(turn, "the stream ended before the reply was complete", true);
        }
        for index in std::mem::take(&mut turn.step.put_off) {
            self.start_call(&mut turn.step, index);
        }
        turn.progress.n_retries = 0;
        let next = self.decisions.reply_complete(&turn.step, &mut self.session);
        match self.follow(next, turn) {
            ControlFlow::Continue(turn) => self.go_on(turn),
            ControlFlow::Break(turn) => turn,
        }
    }

    fn failed(&mut self, mut turn: Turn, text: &str, may_pass: bool) -> Option<Turn> {
        let may_retry =
            may_pass && turn.progress.n_retries < MAX_RETRIES && turn.progress.n_requests < MAX_REQUESTS;
        let failure = Failure { text, may_pass, may_retry };
        let next = self.decisions.reply_failed(&mut turn.step, failure, &mut self.session);
        let mut turn = match self.follow(next, turn) {
            ControlFlow::Continue(turn) => turn,
            ControlFlow::Break(turn) => return turn,
        };
        turn.step.drop_open_calls();
        if turn.step.has_side_effects() {
            self.decisions.keeps_part(CutOff::Broken, &mut turn.step, &mut self.session.thread);
            turn.step.broken = Some(text.to_owned());
            return self.go_on(turn);
        }
        if self.decisions.shortens(self.setup.dialect, text) && self.shorten(&mut turn) {
            turn.progress.n_requests += 1;
            return Some(turn);
        }
        // If the provider asks for a longer pause than a turn may take, there is no retry.
        let pause_ms = turn.step.pause_ms;
        if may_retry && pause_ms.is_none_or(|ms| ms <= MAX_PAUSE_MS) {
            let left = self.decisions.retries(&turn.step, turn.progress);
            self.session.thread.extend(left);
            turn.progress.n_retries += 1;
            turn.progress.n_requests += 1;
            turn.step = self.ask_again(pause_ms);
            return Some(turn);
        }
        if self.decisions.keeps_failed(&turn.step, turn.progress, failure, &mut self.session) {
            self.save(&mut turn);
        }
        self.session.end(raised(text));
        None
    }

    /// Shortens a thread that was too long and sends the request again. The first time the thread is
    /// summarised, the second time the remaining results are cut. A third time there is nothing left to try.
    fn shorten(&mut self, turn: &mut Turn) -> bool {
        turn.n_shortened += 1;
        if turn.n_shortened == 1 && self.begin_change(&Change::Summarise { keep: 0 }, Some(turn)) {
            turn.step = Step::over(turn.step.request);
            return true;
        }
        let is_cut = turn.n_shortened <= 2
            && self.decisions.cuts_results()
            && compaction::cut_results(&mut self.session.thread);
        if is_cut {
            turn.n_shortened = 2;
            turn.step = self.ask(Asking::Retry);
        }
        is_cut
    }

    /// Sends the request again, immediately or after the pause that the provider asks for.
    fn ask_again(&mut self, wanted_ms: Option<u64>) -> Step {
        let Some(ms) = self.decisions.pause_ms(wanted_ms).filter(|ms| *ms > 0) else {
            return self.ask(Asking::Retry);
        };
        let timer = self.session.counter.timer();
        self.session.outputs.push(Output::Wait { timer, ms });
        // No request has this number, so no answer belongs to it.
        let mut step = Step::over(self.session.counter.request());
        step.phase = Phase::Pausing(timer);
        step
    }
}

/// The outcome of a turn that failed because of a provider error.
pub(crate) fn raised(text: &str) -> TurnOutcome {
    TurnOutcome::Raised { class: "ProviderError".to_owned(), text: text.to_owned() }
}
