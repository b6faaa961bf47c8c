//! Requests of a run that goes on after its stop: they come in a later turn, and are not of its thread.
//!
//! A request belongs to a turn by what it says, not by when it comes. One that lacks what the user says in the turn, and
//! has no more of the user's words than the thread had when the turn before was stopped, is that of the stopped turn.

use brickbat_rules::Memory;
use brickbat_rules::json::{Document, Json};
use brickbat_scenario::history::{Content, History, Role};
use brickbat_scenario::plan::{Plan, PlannedTurn};
use brickbat_scenario::wire;

/// What the provider of a plan knows of runs that may go on after their stop.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// How often the user has spoken in the last request of the turn; counted only where the plan stops it.
    n_said: Option<usize>,
    /// The same when the last turn was over that the plan stops.
    n_said_at_stop: Option<usize>,
}

impl Strays {
    /// The user says something new.
    pub(super) fn begin_turn(&mut self) {
        self.n_said_at_stop = self.n_said.take().or(self.n_said_at_stop);
    }

    /// Whether a request is of a turn that is over; else it is one of this turn, and is remembered.
    pub(super) fn has(&mut self, plan: &Plan, turn: usize, memory: &Memory, body: Json) -> bool {
        let Some(planned) = plan.turns.get(turn) else { return false };
        if self.n_said_at_stop.is_none() && !is_stopped(planned) {
            return false;
        }
        let history = conversation(plan, memory, body);
        let n_said = n_said(&history);
        let is_stray = self.n_said_at_stop.is_some_and(|before| n_said <= before) && !says(&history, planned);
        if !is_stray && is_stopped(planned) {
            self.n_said = Some(n_said);
        }
        is_stray
    }
}

fn is_stopped(turn: &PlannedTurn) -> bool {
    turn.actions.iter().any(|action| action.what.ends_turn())
}

fn n_said(history: &History) -> usize {
    user_texts(history).count()
}

/// Whether what the user says in a turn is in a request.
pub(crate) fn says(history: &History, turn: &PlannedTurn) -> bool {
    user_texts(history).any(|text| text.contains(turn.user.trim()))
}

fn user_texts(history: &History) -> impl Iterator<Item = &str> {
    history.items.iter().filter_map(|item| match &item.content {
        Content::Text { text } if item.role == Role::User => Some(text.as_str()),
        Content::Text { .. }
        | Content::Thought { .. }
        | Content::Call { .. }
        | Content::Result { .. }
        | Content::Raw { .. } => None,
    })
}

/// The conversation that a request goes on with, what it only names included.
pub(crate) fn conversation(plan: &Plan, memory: &Memory, body: Json) -> History {
    let Some(written) = memory.expanded(body) else {
        return wire::history(plan.dialect, body);
    };
    let text = written.body.to_string();
    let Ok(document) = Document::parse(text.as_bytes()) else { return History::default() };
    let mut history = wire::history(plan.dialect, document.root());
    for item in &mut history.items {
        item.pointer = written.pointer_as_sent(&item.pointer);
    }
    history
}
