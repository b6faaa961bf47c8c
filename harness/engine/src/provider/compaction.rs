//! Compactions of the system's own: the provider has reported a full context, and the system makes its history shorter.
//!
//! When it does so, and whether it asks the provider for a summary, is its own affair. What is known of it is what it sends:
//! a request of the thread that lacks what the one before held.

use std::collections::BTreeSet;

use super::recall::cuts;
use super::stray::ends_in_words_of_the_system;
use brickbat_scenario::history::{Content, History};
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::RequestKind;
use serde_json::Value;

/// What the provider of a plan knows of compactions.
#[derive(Debug, Default)]
pub(super) struct Compaction {
    /// A full context was reported, or a request was too long, and nothing is gone since.
    is_due: bool,
    /// What every reply reports until something is gone: a thread that grows does not need fewer tokens.
    tokens: Option<u64>,
    /// A summary was asked for since.
    is_asked: bool,
    /// Whether the request at hand shows that something is gone.
    is_seen: bool,
    /// What stands in the thread: the marks of the last request that was answered, and of its reply.
    standing: BTreeSet<String>,
}

impl Compaction {
    /// The provider says that the context is full, with a count of tokens, or that it is too long.
    pub(super) fn report(&mut self, tokens: Option<u64>) {
        (self.is_due, self.is_asked) = (true, false);
        self.tokens = tokens.or(self.tokens);
    }

    /// The tokens that are reported for a request, if it is not the usual count.
    pub(super) fn tokens(&self) -> Option<u64> {
        self.tokens
    }

    /// Whether a request asks for a summary though it offers tools, as systems do whose prompt is in the provider's cache:
    /// it ends in words of the system's own that say so.
    pub(super) fn is_asked_for(&self, plan: &Plan, body: &[u8], history: impl FnOnce() -> History) -> bool {
        if !self.is_due || self.is_asked || !speaks_of_a_summary(&String::from_utf8_lossy(body)) {
            return false;
        }
        let history = history();
        let asks = history.items.last().is_some_and(|item| match &item.content {
            Content::Text { text } => speaks_of_a_summary(text),
            _ => false,
        });
        // A thread without tools may be summarised as one text, which holds the user's words.
        asks && (plan.tools.is_empty() || ends_in_words_of_the_system(plan, &history))
    }

    /// Looks at a request of the thread before it is answered: what is gone shows that the history was compacted.
    pub(super) fn look(&mut self, body: &[u8]) {
        if !self.is_due {
            return;
        }
        let body = String::from_utf8_lossy(body);
        if self.standing.iter().any(|mark| !body.contains(mark.as_str())) {
            *self = Compaction { is_seen: true, ..Compaction::default() };
        }
    }

    /// A request is answered. Whether it shows that the history was compacted.
    pub(super) fn answered(&mut self, plan: &Plan, kind: RequestKind, body: &[u8]) -> bool {
        let mut actions = plan.turns.iter().flat_map(|turn| &turn.actions);
        if plan.window.is_none() && !actions.any(|action| action.what.fills_context()) {
            return false;
        }
        let body = String::from_utf8_lossy(body);
        match kind {
            RequestKind::Scripted { .. } | RequestKind::Surplus | RequestKind::Faulted { .. } => {
                let sent = marks(plan).filter(|mark| body.contains(mark.as_str()));
                self.standing = sent.chain(replied(plan, kind)).collect();
            }
            RequestKind::Auxiliary => self.is_asked |= self.is_due && speaks_of_a_summary(&body),
            RequestKind::Refused { .. } | RequestKind::OfSubAgent { .. } => {}
        }
        std::mem::take(&mut self.is_seen)
    }
}

/// What every prompt for a summary has a word of.
fn speaks_of_a_summary(text: &str) -> bool {
    ["summar", "Summar", "SUMMAR"].iter().any(|word| text.contains(word))
}

/// The marks of the calls of a reply that comes to its end, which stand in the history from then on. Of a reply that is cut
/// a system may keep nothing, and of a malformed call it need not keep the arguments.
pub(crate) fn replied(plan: &Plan, kind: RequestKind) -> Vec<String> {
    let RequestKind::Scripted { turn, reply, attempt } = kind else { return Vec::new() };
    let Some(turn) = plan.turns.get(turn) else { return Vec::new() };
    if turn.actions.iter().any(|action| cuts(action, reply, attempt)) {
        return Vec::new();
    }
    let script = turn.replies.get(reply).and_then(|reply| reply.attempts.get(attempt));
    let calls = script.into_iter().flat_map(|script| script.calls());
    let calls = calls.map(|call| &plan.calls[call.0 as usize]).filter(|call| call.malformation.is_none());
    calls.map(|call| call.marker.clone()).filter(|marker| !marker.is_empty()).collect()
}

/// What stands in a request that holds the conversation: what the user says, and the marks of the calls.
pub(crate) fn marks(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let written = |text: &str| Value::from(text.trim()).to_string().trim_matches('"').to_owned();
    let said = plan.turns.iter().map(move |turn| written(&turn.user));
    said.chain(plan.calls.iter().map(|call| call.marker.clone()).filter(|marker| !marker.is_empty()))
}
