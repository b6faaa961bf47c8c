//! What is said to a running turn: a message of the user's, a hook's context, another prompt.
//!
//! None of it may come between a call and its result, so it waits until the whole batch has its results.

use super::canary::Canary;
use super::step::{CallState, Phase, not_allowed};
use super::thread::Message;
use super::turn::Turn;
use super::{Agent, Output};
use brickbat_scenario::plan::Change;
use brickbat_scenario::trace::{Aside, ShownState, TurnOutcome};

/// Something that was said to a turn and is not yet in the thread.
#[derive(Debug)]
pub(super) struct Heard {
    way: Aside,
    pub(super) text: String,
    /// The calls that were answered when it was said.
    answered: Vec<String>,
    /// Whether the user was being asked something.
    is_reply: bool,
}

impl Agent {
    /// Something is said to the turn, which goes on. A question that waits for an answer has it now: no.
    pub(super) fn heard(
        &mut self,
        mut turn: Turn,
        way: Aside,
        text: &str,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        let answered = turn.step.results().into_iter().map(|result| result.call_id).collect();
        let is_reply = turn.step.is_asking();
        turn.asides.push(Heard { way, text: text.to_owned(), answered, is_reply });
        let forgets = self.is(Canary::ApprovalTalkedOver);
        let waiting = turn.step.calls_mut().filter(|call| matches!(call.state, CallState::Asked(_)));
        for call in waiting.filter(|_| way == Aside::Steered) {
            outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
            call.state = match forgets {
                true => CallState::Forgotten,
                false => CallState::Done(not_allowed(&call.call, "the user said something else instead")),
            };
        }
        // While a summary is on its way, the turn waits for it.
        let is_over = matches!(turn.step.phase, Phase::Over) && !turn.is_stopping && self.errand.is_none();
        if is_over { self.go_on(turn, outputs) } else { Some(turn) }
    }

    /// The turn was over before the system heard it: it stands before what the user says next.
    pub(super) fn said_too_late(&mut self, text: &str) {
        self.thread.push(Message::User(text.to_owned()));
    }

    /// Another prompt comes while a turn runs.
    pub(super) fn prompted_again(
        &mut self,
        mut turn: Turn,
        text: &str,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        if !self.is(Canary::PromptsInterleave) {
            outputs.push(Output::PromptRefused);
            return Some(turn);
        }
        // The second turn begins in the thread of the first, which is in the middle of its calls.
        self.let_go(&turn.step, outputs);
        self.push_message(turn.step.message_so_far());
        outputs.push(Output::Ended(TurnOutcome::Cancelled));
        self.thread.push(Message::User(text.to_owned()));
        turn.step = self.ask(outputs);
        Some(turn)
    }

    /// Saves the reply, its results and, behind all of them, what was said meanwhile. Says whether something was.
    pub(super) fn close(&mut self, turn: &mut Turn) -> bool {
        let asides = std::mem::take(&mut turn.asides);
        let is_early = |heard: &Heard| match heard.way {
            Aside::Steered => self.is(Canary::SteerSplitsBatch) && !heard.is_reply,
            Aside::Injected => self.is(Canary::HookSplitsBatch),
            Aside::Prompted => false,
        };
        if let Some(early) = asides.iter().find(|heard| is_early(heard)) {
            self.push_message(turn.step.message());
            let mut results = turn.step.results();
            let first = results.iter().filter(|result| early.answered.contains(&result.call_id));
            let first: Vec<_> = first.cloned().collect();
            results.retain(|result| !early.answered.contains(&result.call_id));
            self.push_results(first);
            self.thread.push(Message::User(early.text.clone()));
            self.push_results(results);
            return true;
        }
        let forgets =
            self.is(Canary::SummaryDropsOpenCalls) && matches!(self.put_off, Some(Change::Summarise { .. }));
        match forgets {
            true => self.push_results(turn.step.results()),
            false => self.push_step(&mut turn.step),
        }
        let has_heard = !asides.is_empty();
        turn.asides = asides;
        self.say_heard(turn);
        has_heard
    }

    /// Saves what was said to the turn.
    pub(super) fn say_heard(&mut self, turn: &mut Turn) {
        for heard in std::mem::take(&mut turn.asides) {
            self.part_from_results();
            self.thread.push(Message::User(heard.text));
        }
    }
}
