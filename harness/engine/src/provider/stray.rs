//! Requests from a run that continues after its stop. They arrive in a later turn and do not belong to its
//! thread.
//!
//! The content of a request, not its time, decides to which turn it belongs. It belongs to the stopped turn
//! if it lacks the user's message of the current turn, and contains no more user messages than the thread had
//! when the turn before was stopped.

use brickbat_rules::Memory;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::{Document, Json};
use brickbat_scenario::history::{Content, History, Item, Role};
use brickbat_scenario::plan::{Plan, PlannedTurn};
use brickbat_scenario::wire;

/// Counts by which a plan's provider recognises requests from stopped runs.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// The number of user messages in the turn's last request; counted only if the plan stops the turn.
    n_said: Option<usize>,
    /// The same number at the end of the last turn that the plan stops.
    n_said_at_stop: Option<usize>,
}

impl Strays {
    /// Notes that the user has sent a new message.
    pub(super) fn begin_turn(&mut self) {
        self.n_said_at_stop = self.n_said.take().or(self.n_said_at_stop);
    }

    /// True if a request belongs to a turn that has ended. Otherwise it belongs to this turn, and is counted.
    pub(super) fn has(&mut self, plan: &Plan, turn: usize, memory: &Memory, body: Json) -> bool {
        let dialect = plan.dialect_of(turn);
        let Some(planned) = plan.turns.get(turn) else { return false };
        if self.n_said_at_stop.is_none() && !is_stopped(planned) {
            return false;
        }
        let history = conversation(dialect, memory, body);
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

/// True if a request contains the user's message of a turn.
pub(crate) fn says(history: &History, turn: &PlannedTurn) -> bool {
    user_texts(history).any(|text| text.contains(turn.user.trim()))
}

/// True if a request ends in user texts that contain nothing the plan lets the user say.
pub(super) fn ends_in_words_of_the_system(plan: &Plan, history: &History) -> bool {
    let is_user_text = |item: &&Item| matches!(item.content, Content::Text { .. }) && item.role == Role::User;
    let last: Vec<&str> = history.items.iter().rev().take_while(is_user_text).filter_map(user_text).collect();
    let prompts = plan.turns.iter().map(|turn| turn.user.as_str());
    let actions = plan.turns.iter().flat_map(|turn| &turn.actions);
    let said: Vec<&str> = prompts.chain(actions.filter_map(|action| action.what.text())).collect();
    !last.is_empty() && !last.iter().any(|text| said.iter().any(|words| text.contains(words.trim())))
}

fn user_texts(history: &History) -> impl Iterator<Item = &str> {
    history.items.iter().filter_map(user_text)
}

fn user_text(item: &Item) -> Option<&str> {
    match &item.content {
        Content::Text { text } if item.role == Role::User => Some(text),
        Content::Text { .. }
        | Content::Thought { .. }
        | Content::Call { .. }
        | Content::Result { .. }
        | Content::Raw { .. } => None,
    }
}

/// The conversation that a request continues, including the parts that it only references.
pub(crate) fn conversation(dialect: Dialect, memory: &Memory, body: Json) -> History {
    let Some(written) = memory.expanded(body) else {
        return wire::history(dialect, body);
    };
    let text = written.body.to_string();
    let Ok(document) = Document::parse(text.as_bytes()) else { return History::default() };
    let mut history = wire::history(dialect, document.root());
    for item in &mut history.items {
        item.pointer = written.pointer_as_sent(&item.pointer);
    }
    history
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::lower;
    use serde_json::json;

    #[test]
    fn only_a_request_that_ends_in_foreign_words_is_the_systems_own() {
        let text = include_str!("../../../../scenarios/control/plain-batch.yaml");
        let plans = lower::plans("x", "plain-batch.yaml", text, &[Dialect::AnthropicMessages], 0).unwrap();
        let said = plans[0].turns[0].user.clone();
        let is_own = |last: &str| {
            let body = json!({ "messages": [
                { "role": "user", "content": said },
                { "role": "assistant", "content": "Done." },
                { "role": "user", "content": [{ "type": "text", "text": last }] },
            ] });
            let text = body.to_string();
            let document = Document::parse(text.as_bytes()).unwrap();
            ends_in_words_of_the_system(&plans[0], &wire::history(plans[0].dialect, document.root()))
        };
        assert!(is_own("Suggest what the user might type next."));
        assert!(!is_own(&format!("A note of the system. {said}")));
    }
}
