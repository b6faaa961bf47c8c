//! Compactions by the system itself: the provider has reported a full context, and the system shortens its
//! history.
//!
//! The system decides when to do so, and whether to ask the provider for a summary. Only its requests reveal
//! it: a request in the thread lacks something that the one before contained. If the results of a plan are as
//! large as a context, a system that counts tokens itself may also ask for a summary before the provider reports
//! anything.

use std::collections::BTreeSet;

use super::recall::{cuts, title};
use super::stray::ends_in_words_of_the_system;
use brickbat_scenario::action::{Action, HttpFault, PoorSummary};
use brickbat_scenario::history::{Content, History};
use brickbat_scenario::plan::{Mark, Plan, PlannedAction, PlannedPoint, Script, Side};
use brickbat_scenario::scenario::Stop;
use brickbat_scenario::trace::{self, RequestKind};
use serde_json::Value;

/// The state by which the provider of a plan recognises compactions.
#[derive(Debug, Default)]
pub(super) struct Compaction {
    /// True if a full context was reported or a request was too long, and nothing has disappeared since.
    is_due: bool,
    /// The count of tokens in every reply until something disappears: a growing thread does not need fewer
    /// tokens.
    tokens: Option<u64>,
    /// True if a summary was requested since then.
    is_asked: bool,
    /// True if something is missing from the current request.
    is_seen: bool,
    /// The contents of the thread: the marks of the last answered request and of its reply.
    standing: BTreeSet<String>,
    /// The turn, if its last request got an HTTP error.
    failed: Option<usize>,
    replies: Replies,
}

/// The replies to requests for a summary in a turn.
#[derive(Debug, Default, Clone, Copy)]
struct Replies {
    turn: usize,
    /// The number of complete and broken replies.
    n_given: u32,
    /// The number of HTTP errors since the last one.
    n_http_faults: u32,
}

/// A turn in which a request for a summary comes.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    /// The turn, or the one before which the history is changed.
    pub(super) turn: usize,
    /// True if the application has the history changed between two turns.
    pub(super) is_commanded: bool,
}

/// The planned answer to a request for a summary.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) of: trace::Compaction,
    /// The HTTP error instead of it, if one is planned.
    pub(super) fault: Option<HttpFault>,
    pub(super) script: Script,
    /// The actions in it, each at its position in the reply.
    pub(super) actions: Vec<PlannedAction>,
    /// True if the reply may be held. Not while the application has the history changed: the harness then waits for the
    /// system.
    pub(super) may_hold: bool,
}

impl Compaction {
    /// Notes that the provider reports a full context: with a token count, or as a request that is too long.
    pub(super) fn report(&mut self, tokens: Option<u64>) {
        (self.is_due, self.is_asked) = (true, false);
        self.tokens = tokens.or(self.tokens);
    }

    /// The count of tokens to report with a reply, if it differs from the usual one.
    pub(super) fn tokens(&self) -> Option<u64> {
        self.tokens
    }

    /// True if a request asks for a summary although it offers tools. Some systems do so to keep their prompt
    /// in the provider's cache: the request then ends in the system's own text, which mentions a summary.
    pub(super) fn is_asked_for(&self, plan: &Plan, body: &[u8], history: impl FnOnce() -> History) -> bool {
        if !self.is_due || self.is_asked || !speaks_of_a_summary(&String::from_utf8_lossy(body)) {
            return false;
        }
        let history = history();
        let asks = history.items.last().is_some_and(|item| match &item.content {
            Content::Text { text } => speaks_of_a_summary(text),
            _ => false,
        });
        // A thread without tools may be summarised as one text that contains the user's words.
        asks && (plan.tools.is_empty() || ends_in_words_of_the_system(plan, &history))
    }

    /// The planned answer to a request outside the thread, if it asks for a summary in a plan in which something happens to
    /// such requests.
    pub(super) fn summary(&mut self, plan: &Plan, when: When, body: &[u8]) -> Option<Summary> {
        let turn = plan.turns.get(when.turn)?;
        let is_told = turn.actions.iter().any(|action| matches!(action.what, Action::Summarise(_)));
        let may_be_asked = when.is_commanded || is_told || self.is_due || has_large_results(plan);
        if !plan.has_compactions() || !may_be_asked || !speaks_of_a_summary(&String::from_utf8_lossy(body)) {
            return None;
        }
        if self.replies.turn != when.turn {
            self.replies = Replies { turn: when.turn, ..Replies::default() };
        }
        let number = self.replies.n_given + 1;
        let own = turn.actions.iter().filter_map(|action| Some((action, side_of(action, number)?)));
        let own: Vec<(&PlannedAction, Side)> = own.collect();
        let faults = own.iter().filter_map(|(action, _)| action.what.http());
        let fault = faults.into_iter().find(|fault| self.replies.n_http_faults < fault.times).cloned();
        match fault {
            Some(_) => self.replies.n_http_faults += 1,
            None => self.replies = Replies { n_given: number, n_http_faults: 0, ..self.replies },
        }
        let poor = own.iter().find_map(|(action, _)| match action.what {
            Action::Summary(poor) => Some(poor),
            _ => None,
        });
        let happens = |action: &PlannedAction| {
            action.what.http().is_none() && !matches!(action.what, Action::Summary(_))
        };
        let placed = own.iter().filter(|(action, _)| happens(action)).map(|(action, side)| {
            let mark = if *side == Side::Before { Mark::Headers } else { Mark::Text(1) };
            let at = PlannedPoint::Stream { reply: 0, attempt: 0, mark, side: *side };
            PlannedAction { at, ..(*action).clone() }
        });
        let (actions, script) = (placed.collect(), script(poor));
        let of = trace::Compaction { turn: when.turn, number };
        Some(Summary { of, fault, script, actions, may_hold: !when.is_commanded && !is_told })
    }

    /// Notes that a request for a summary got none, so that the system may ask again.
    pub(super) fn summary_failed(&mut self) {
        self.is_asked = false;
    }

    /// Inspects a request in the thread before it is answered: missing marks show that the history was
    /// compacted. A turn that failed and is gone when the next one has begun was dropped: the rest of the
    /// history is still there.
    pub(super) fn look(&mut self, plan: &Plan, turn: usize, body: &[u8]) {
        if !self.is_due {
            return;
        }
        let body = String::from_utf8_lossy(body);
        let missing: BTreeSet<String> =
            self.standing.iter().filter(|mark| !body.contains(mark.as_str())).cloned().collect();
        let dropped = self.failed.filter(|failed| *failed < turn);
        if dropped.is_some_and(|failed| missing.is_subset(&marks_of(plan, failed))) {
            self.standing.retain(|mark| !missing.contains(mark));
        } else if !missing.is_empty() {
            *self = Compaction { is_seen: true, replies: self.replies, ..Compaction::default() };
        }
    }

    /// Records an answered request. Returns true if the request reveals that the history was compacted.
    pub(super) fn answered(&mut self, plan: &Plan, kind: RequestKind, body: &[u8]) -> bool {
        let mut actions = plan.turns.iter().flat_map(|turn| &turn.actions);
        let is_large = has_large_results(plan);
        if plan.window.is_none() && !is_large && !actions.any(|action| action.what.fills_context()) {
            return false;
        }
        let body = String::from_utf8_lossy(body);
        match kind {
            RequestKind::Scripted { .. } | RequestKind::Surplus | RequestKind::Faulted { .. } => {
                let sent = marks(plan).filter(|mark| body.contains(mark.as_str()));
                self.standing = sent.chain(replied(plan, kind)).collect();
                self.failed = match kind {
                    RequestKind::Faulted { turn, .. } => Some(turn),
                    _ => None,
                };
            }
            RequestKind::Auxiliary if speaks_of_a_summary(&body) => {
                self.is_due |= is_large;
                self.is_asked |= self.is_due;
            }
            RequestKind::Auxiliary => {}
            RequestKind::Refused { .. } | RequestKind::Repeated { .. } | RequestKind::OfSubAgent { .. } => {}
        }
        std::mem::take(&mut self.is_seen)
    }
}

/// The side of the reply to the request for a summary with this number at which an action happens, if it happens there.
fn side_of(action: &PlannedAction, number: u32) -> Option<Side> {
    match action.at {
        PlannedPoint::Compaction(of, side) if of == number => Some(side),
        _ => None,
    }
}

/// The reply to a request for a summary. Something can happen in the middle of a whole one.
fn script(poor: Option<PoorSummary>) -> Script {
    let whole = ["They have ", "talked about it."];
    match poor {
        None => Script::saying(whole.map(str::to_owned).to_vec()),
        Some(PoorSummary::Empty) => Script::saying(vec![String::new()]),
        Some(PoorSummary::Length) => Script { stop: Some(Stop::Length), ..title() },
    }
}

/// The bytes of results that may fill a context: 100,000 tokens of four bytes each. Systems that count tokens
/// themselves estimate them in this way, and the windows of common models have 128,000 tokens or more.
const LARGE_RESULTS: usize = 400_000;

/// True if the results of a plan are as large as a context.
pub(crate) fn has_large_results(plan: &Plan) -> bool {
    plan.calls.iter().map(|call| call.outcome.text().len()).sum::<usize>() >= LARGE_RESULTS
}

/// True if the text contains a word that every prompt for a summary contains.
fn speaks_of_a_summary(text: &str) -> bool {
    ["summar", "Summar", "SUMMAR"].iter().any(|word| text.contains(word))
}

/// The call marks in a complete reply, which are in the history from then on. A system may drop a reply that
/// was cut off, and it need not keep the arguments of a malformed call.
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

/// The marks by which a conversation is recognised in a request: the user's texts, and the markers of the
/// calls.
pub(crate) fn marks(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let said = plan.turns.iter().map(|turn| written(&turn.user));
    said.chain(plan.calls.iter().map(|call| call.marker.clone()).filter(|marker| !marker.is_empty()))
}

/// The marks of one turn.
fn marks_of(plan: &Plan, turn: usize) -> BTreeSet<String> {
    let said = plan.turns.get(turn).map(|planned| written(&planned.user));
    let calls = plan.calls.iter().filter(|call| call.turn == turn && !call.given);
    said.into_iter().chain(calls.map(|call| call.marker.clone())).collect()
}

/// A text as the body of a request contains it.
fn written(text: &str) -> String {
    Value::from(text.trim()).to_string().trim_matches('"').to_owned()
}
