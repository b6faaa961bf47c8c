//! Changes to the history, switches of the thinking mode, and the requests outside turns that some changes
//! need.
//!
//! Such a request offers no tools, so it sends the thread as one text: providers reject calls without tools,
//! and even a thread with faults must be summarised. While a turn runs, a change waits until its step's
//! results have arrived. Otherwise calls would be separated from them.

use super::compaction::{STEP, Summary};
use super::decisions::Asking;
use super::step::{Phase, Step};
use super::turn::Turn;
use super::{Agent, BodyEnd, Delivery, Input, Output, RequestId, Thinking, compaction};
use brickbat_scenario::plan::Change;
use brickbat_scenario::wire::{ReplyEvent, decode_whole};

/// A request outside of turns, and the change that needs it.
#[derive(Debug)]
pub(crate) struct SideRequest {
    step: Step,
    change: Change,
}

impl SideRequest {
    pub(super) fn id(&self) -> RequestId {
        self.step.request
    }

    /// The part of a summary that has arrived, if the request asks for one.
    pub(super) fn summary(&self) -> Option<String> {
        matches!(self.change, Change::Summarise { .. }).then(|| self.step.text())
    }
}

impl Agent {
    /// Changes the history of an idle agent.
    pub(super) fn change(&mut self, change: &Change) {
        if !self.begin_change(change, None) {
            self.session.outputs.push(Output::Changed(change.clone()));
        }
    }

    /// The change that a full context requires. There is one only if the first `end` messages contain more
    /// than the prompt of the running turn. A thread that is too short stays unchanged until it is longer.
    pub(super) fn own_compaction(&mut self, end: usize, start_of_turn: usize) -> Option<Change> {
        let thread = &self.session.thread;
        let prompt = compaction::prompt_from(thread, start_of_turn);
        let is_long = thread.iter().take(end).any(|message| Some(message) != prompt.as_ref());
        (is_long && self.decisions.is_full(self.session.tokens)).then_some(Change::Summarise { keep: 0 })
    }

    /// Changes the history, or sends the request that the change needs. `turn` is the running turn, between
    /// two steps. Returns whether a request was sent.
    pub(super) fn begin_change(&mut self, change: &Change, turn: Option<&mut Turn>) -> bool {
        match change {
            Change::Trim { keep } => self.trim(*keep as usize, turn),
            Change::Rewind { prompts } => {
                self.session.thread = self.decisions.rewound(&self.session.thread, *prompts as usize);
            }
            Change::Thinking { on } => {
                self.setup.thinking = if *on { Thinking::Asked } else { Thinking::Unasked };
            }
            Change::Provider { dialect } => self.go_over_to(*dialect),
            // The new list comes with its own input, because the change only names the tool.
            Change::Tools { .. } => {}
            Change::Summarise { keep } => {
                let end = compaction::start(&self.session.thread, kept(*keep, turn.is_some()));
                if end > 0 {
                    let request = self.decisions.summary_request(&self.setup, &self.session.thread, end);
                    self.send(request, change);
                    return true;
                }
            }
            Change::Aside { question } => {
                let request = self.decisions.question_request(&self.setup, &self.session.thread, question);
                self.send(request, change);
                return true;
            }
        }
        false
    }

    /// True if an input belongs to the side request.
    pub(super) fn is_of_side_request(&self, input: &Input<'_>) -> bool {
        let (Input::Head { request, .. } | Input::Body { request, .. } | Input::End { request, .. }) = input
        else {
            return false;
        };
        self.side_request.as_ref().is_some_and(|side_request| side_request.step.request == *request)
    }

    /// Takes an input for the side request.
    pub(super) fn advance_side_request(&mut self, turn: Option<Turn>, input: Input<'_>) -> Option<Turn> {
        let Some(mut side_request) = self.side_request.take() else { return turn };
        match input {
            Input::Head { status, .. } => side_request.step.answered_with(status, self.setup.dialect),
            Input::Body { bytes, .. } => {
                for event in side_request.step.take_in(bytes, self.setup.delivery) {
                    side_request.step.take_event(event);
                }
            }
            Input::End { how, .. } => return self.side_request_over(side_request, turn, how),
            _ => {}
        }
        self.side_request = Some(side_request);
        turn
    }

    /// Handles the end of the side request. A summary replaces the beginning of the thread, and the turn that
    /// waited for it continues.
    fn side_request_over(
        &mut self,
        mut side_request: SideRequest,
        mut turn: Option<Turn>,
        how: BodyEnd,
    ) -> Option<Turn> {
        let is_whole = self.is_whole(&mut side_request.step, how);
        let prompt =
            turn.as_ref().and_then(|turn| compaction::prompt_from(&self.session.thread, turn.progress.start));
        let text = side_request.summary();
        let is_taken = text.as_ref().is_some_and(|text| self.decisions.takes_summary(is_whole, text));
        let is_missing = text.is_some() && !is_taken;
        if is_missing && self.decisions.asks_again_for_summary() {
            self.begin_change(&side_request.change, turn.as_mut());
            return turn;
        }
        if let (Change::Summarise { keep }, Some(text), true) = (&side_request.change, &text, is_taken) {
            let (keep, is_turn_running) = (kept(*keep, turn.is_some()), turn.is_some());
            let summary = Summary { keep, text, is_turn_running };
            let thread = &mut self.session.thread;
            *thread = self.decisions.summarised(thread, summary);
            // The count was for the longer thread.
            self.session.tokens = 0;
            let thread = &mut self.session.thread;
            // The prompt comes after the summary.
            compaction::keep_prompt(thread, 1, prompt.as_ref());
        }
        let Some(mut turn) = turn else {
            self.session.outputs.push(Output::Changed(side_request.change));
            return None;
        };
        turn.progress.start = compaction::place_of(&self.session.thread, prompt.as_ref());
        self.push_said(&mut turn);
        turn.step = self.ask(Asking::Summary);
        Some(turn)
    }

    fn is_whole(&self, step: &mut Step, how: BodyEnd) -> bool {
        let Phase::Coming { status: 200, .. } = step.phase else { return false };
        if self.setup.delivery == Delivery::Whole && how == BodyEnd::Complete {
            let mut events: Vec<ReplyEvent> = Vec::new();
            decode_whole(self.setup.dialect, &step.whole, |event| events.push(event));
            for event in events {
                step.take_event(event);
            }
        }
        matches!(step.phase, Phase::Coming { terminated: true, .. })
    }

    fn send(&mut self, body: Vec<u8>, change: &Change) {
        let request = self.session.counter.request();
        let step = Step::new(request, self.decisions.keeps_blank_text());
        self.side_request = Some(SideRequest { step, change: change.clone() });
        self.session.outputs.push(Output::Request { request, body });
    }

    fn trim(&mut self, keep: usize, turn: Option<&mut Turn>) {
        let thread = &mut self.session.thread;
        let first = thread.len().saturating_sub(keep);
        let may_begin = |message| self.decisions.may_begin_with(message, turn.is_some());
        let is_blind = thread.get(first).is_some_and(may_begin);
        let keep = kept(keep as u32, turn.is_some());
        let prompt = turn.as_ref().and_then(|turn| compaction::prompt_from(thread, turn.progress.start));
        *thread = if is_blind { thread.split_off(first) } else { compaction::trimmed(thread, keep) };
        if let Some(turn) = turn {
            if !is_blind {
                compaction::keep_prompt(thread, 0, prompt.as_ref());
            }
            turn.progress.start = compaction::place_of(thread, prompt.as_ref());
        }
    }
}

/// The number of messages that stay. While a turn runs, its last step stays.
fn kept(keep: u32, is_turn_running: bool) -> usize {
    if is_turn_running { (keep as usize).max(STEP) } else { keep as usize }
}
