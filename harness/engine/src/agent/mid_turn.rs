//! What is said to a running turn: a message of the user's, a hook's context, another prompt.
//!
//! None of it may come between a call and its result, so it waits until the whole batch has its results.

use super::decisions::{Asking, CutOff};
use super::step::{CallState, Phase};
use super::thread::Message;
use super::turn::Turn;
use super::{Agent, Output};
use brickbat_scenario::trace::Aside;

/// Something that was said to a turn and is not yet in the thread.
#[derive(Debug)]
pub(crate) struct MidTurnMessage {
    pub(crate) way: Aside,
    pub(crate) text: String,
    /// The calls that had a result when it was said.
    pub(crate) answered: Vec<String>,
    /// Whether the user was being asked something.
    pub(crate) is_reply: bool,
}

impl Agent {
    /// Something is said to the turn, which goes on. If the user says it, a question that is still open is answered by
    /// it: no.
    pub(super) fn told(&mut self, mut turn: Turn, way: Aside, text: &str) -> Option<Turn> {
        let answered = turn.step.results().into_iter().map(|result| result.call_id).collect();
        let is_reply = turn.step.is_asking();
        turn.said.push(MidTurnMessage { way, text: text.to_owned(), answered, is_reply });
        if way == Aside::Steered {
            let asked = turn.step.calls_mut().filter(|call| matches!(call.state, CallState::Asked(_)));
            asked.for_each(|call| self.answer(call, CutOff::TalkedOver));
        }
        // While a summary is on its way, the turn waits for it.
        let is_over = matches!(turn.step.phase, Phase::Over) && self.side_request.is_none();
        if is_over { self.go_on(turn) } else { Some(turn) }
    }

    /// The message came when the turn was already over: it is stored before the next prompt of the user.
    pub(super) fn said_too_late(&mut self, text: &str) {
        self.drop_open_searches();
        self.session.thread.push(Message::User(text.to_owned()));
    }

    /// Another prompt comes while a turn runs.
    pub(super) fn prompted_again(&mut self, mut turn: Turn, text: &str) -> Option<Turn> {
        if self.decisions.takes_second_prompt(&mut turn, text, &mut self.session) {
            turn.step = self.ask(Asking::Prompt);
        } else {
            self.session.outputs.push(Output::PromptRefused);
        }
        Some(turn)
    }

    /// Saves what was said to the turn.
    pub(super) fn push_said(&mut self, turn: &mut Turn) {
        for message in std::mem::take(&mut turn.said) {
            self.push_user(message.text);
        }
    }
}
