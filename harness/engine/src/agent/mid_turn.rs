//! Messages to a running turn: from the user, from a hook, or another prompt.
//!
//! None of them may come between a call and its result, so they wait until the complete batch has its
//! results.

use super::decisions::{Asking, CutOff, MidTurnMessage};
use super::step::{CallState, Phase};
use super::thread::Message;
use super::turn::Turn;
use super::{Agent, Output};
use brickbat_scenario::trace::Aside;

impl Agent {
    /// Takes in a message to the turn, which continues. If the user sends it, it answers an open question
    /// with no.
    pub(super) fn told(&mut self, mut turn: Turn, way: Aside, text: &str) -> Option<Turn> {
        let answered = turn.step.results().into_iter().map(|result| result.call_id).collect();
        let is_reply = turn.step.is_asking();
        turn.said.push(MidTurnMessage { way, text: text.to_owned(), answered, is_reply });
        if way == Aside::Steered {
            let asked = turn.step.calls_mut().filter(|call| matches!(call.state, CallState::Asked(_)));
            asked.for_each(|call| self.answer(call, CutOff::TalkedOver));
        }
        // If a summary was requested, the turn waits for it.
        let is_over = matches!(turn.step.phase, Phase::Over) && self.side_request.is_none();
        if is_over { self.go_on(turn) } else { Some(turn) }
    }

    /// Takes in a message that came when the turn was already over. It is stored before the user's next
    /// prompt.
    pub(super) fn said_too_late(&mut self, text: &str) {
        self.drop_open_searches();
        self.session.thread.push(Message::User(text.to_owned()));
    }

    /// Takes in another prompt while a turn runs.
    pub(super) fn prompted_again(&mut self, mut turn: Turn, text: &str) -> Option<Turn> {
        if self.decisions.takes_second_prompt(&turn.step, text, &mut self.session) {
            turn.step = self.ask(Asking::Prompt);
        } else {
            self.session.outputs.push(Output::PromptRefused);
        }
        Some(turn)
    }

    /// Saves the messages to the turn.
    pub(super) fn push_said(&mut self, turn: &mut Turn) {
        for message in std::mem::take(&mut turn.said) {
            self.push_user(message.text);
        }
    }
}
