//! Questions that a system asks its user before a tool runs (`session/request_permission`), until they
//! are answered.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SelectedPermissionOutcome,
};

use brickbat_scenario::trace::{Consent, QuestionId};

type SendOutcome = Box<dyn FnOnce(RequestPermissionOutcome) + Send>;

/// The questions of all sessions that wait for an answer.
#[derive(Default)]
pub(super) struct Questions(Mutex<PendingQuestions>);

#[derive(Default)]
struct PendingQuestions {
    /// The number of questions that each session has asked.
    n_asked: HashMap<String, u32>,
    waiting: HashMap<(String, QuestionId), (Vec<PermissionOption>, SendOutcome)>,
}

/// The maximum number of questions that wait in all sessions of one adapter. Each of its few dozen plans
/// asks about a few calls.
const MAX_WAITING: usize = 1024;

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions").field("n_waiting", &self.state().waiting.len()).finish()
    }
}

impl Questions {
    /// Keeps a question. `None` if there are too many; the question is then answered as cancelled.
    pub(super) fn keep(
        &self,
        request: &RequestPermissionRequest,
        reply: impl FnOnce(RequestPermissionOutcome) + Send + 'static,
    ) -> Option<QuestionId> {
        let session = request.session_id.to_string();
        let mut state = self.state();
        if state.waiting.len() >= MAX_WAITING {
            drop(state);
            reply(RequestPermissionOutcome::Cancelled);
            return None;
        }
        let n_asked = state.n_asked.entry(session.clone()).or_default();
        let question = QuestionId(*n_asked);
        *n_asked += 1;
        state.waiting.insert((session, question), (request.options.clone(), Box::new(reply)));
        Some(question)
    }

    /// Answers a question; one that no longer waits is ignored.
    pub(super) fn answer(&self, session: &str, question: QuestionId, consent: Consent) {
        let waiting = self.state().waiting.remove(&(session.to_owned(), question));
        if let Some((options, reply)) = waiting {
            reply(outcome(&options, consent));
        }
    }

    /// Answers all questions of a session that has ended.
    pub(super) fn leave(&self, session: &str) {
        let mut state = self.state();
        state.n_asked.remove(session);
        let left = state.waiting.extract_if(|(asker, _), _| asker == session).collect::<Vec<_>>();
        drop(state);
        for (_, (_, reply)) in left {
            reply(RequestPermissionOutcome::Cancelled);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, PendingQuestions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The option for this consent; the narrower one first. If the question offers none, the answer is
/// `cancelled`, as from a user who can only walk away.
fn outcome(options: &[PermissionOption], consent: Consent) -> RequestPermissionOutcome {
    let kinds = match consent {
        Consent::Given => [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways],
        Consent::Refused => [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
        Consent::Withheld => return RequestPermissionOutcome::Cancelled,
    };
    let chosen = kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    match chosen {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrower_option_is_chosen_by_its_kind() {
        let option = |id: &'static str, kind| PermissionOption::new(id, id, kind);
        let all = [
            option("always", PermissionOptionKind::AllowAlways),
            option("never", PermissionOptionKind::RejectAlways),
            option("once", PermissionOptionKind::AllowOnce),
        ];
        let chosen = |options: &[PermissionOption], consent| match outcome(options, consent) {
            RequestPermissionOutcome::Selected(selected) => Some(selected.option_id.to_string()),
            _ => None,
        };
        assert_eq!(chosen(&all, Consent::Given).as_deref(), Some("once"));
        assert_eq!(chosen(&all, Consent::Refused).as_deref(), Some("never"));
        assert_eq!(chosen(&all, Consent::Withheld), None);
        assert_eq!(chosen(&[], Consent::Given), None);
    }
}
