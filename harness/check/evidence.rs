//! What the checkers look at.

use crate::history::{Content, History};
use crate::json::Json;
use crate::plan::{CallKey, Plan, PlannedCall};
use crate::rules::{self, Profile};
use crate::simulate::Run;
use crate::trace::{Event, ExchangeId, Ledger, RequestKind, TurnOutcome};
use crate::wire;

/// Everything known of one run, read once.
pub struct Evidence<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its run.
    pub run: &'a Run,
    /// What the tools really did.
    pub ledger: Ledger,
    /// Every request, in order.
    pub requests: Vec<RequestView>,
}

/// One request, read.
pub struct RequestView {
    /// Its number.
    pub exchange: ExchangeId,
    /// The turn, from 0, in which it came.
    pub turn: usize,
    /// What the provider made of it.
    pub kind: RequestKind,
    /// Its conversation.
    pub history: History,
    /// Why a strict provider refuses it, if it does.
    pub refusal: Option<Refusal>,
}

/// Why a request is refused.
pub struct Refusal {
    /// The rule.
    pub rule: &'static str,
    /// Where, in the body.
    pub pointer: String,
    /// The provider's sentence.
    pub message: String,
    /// The status.
    pub status: u16,
}

impl<'a> Evidence<'a> {
    /// Reads a run.
    pub fn gather(plan: &'a Plan, run: &'a Run, profile: &'static Profile) -> Evidence<'a> {
        let requests = run.trace.by_turn().filter_map(|(turn, event)| match event {
            Event::Requested { exchange, kind, body } => {
                Some(view(plan, profile, *exchange, turn, *kind, body))
            }
            _ => None,
        });
        Evidence { plan, run, ledger: Ledger::of(&run.trace, plan.calls.len()), requests: requests.collect() }
    }

    /// The last request of the thread; what it holds is what the thread remembers.
    pub fn last_request(&self) -> Option<&RequestView> {
        self.requests.iter().rev().find(|request| request.kind != RequestKind::Auxiliary)
    }

    /// The call of the plan with that wire id.
    pub fn call_by_id(&self, id: &str) -> Option<(CallKey, &PlannedCall)> {
        let at = self.plan.calls.iter().position(|call| call.id == id)?;
        Some((CallKey(at as u32), &self.plan.calls[at]))
    }

    /// The shape of a request in the scenario's names, for people.
    pub fn shape(&self, history: &History) -> String {
        history.shape(|id| self.call_by_id(id).map_or_else(|| "?".to_owned(), |(_, call)| call.name.clone()))
    }

    /// The outcome of each turn that ended.
    pub fn outcomes(&self) -> impl Iterator<Item = (usize, &TurnOutcome)> {
        self.run.trace.by_turn().filter_map(|(turn, event)| match event {
            Event::TurnEnded { outcome } => Some((turn, outcome)),
            _ => None,
        })
    }

    /// Whether the user stopped that turn.
    pub fn was_stopped(&self, turn: usize) -> bool {
        self.run.trace.by_turn().any(|(at, event)| at == turn && *event == Event::Stopped)
    }
}

impl RequestView {
    /// Where this request stands, for people.
    pub fn place(&self, pointer: &str) -> String {
        let gap = if pointer.is_empty() { "" } else { " " };
        format!("turn {} request {}{gap}{pointer}", self.turn + 1, self.exchange.0 + 1)
    }

    /// The results in it, with the place of each.
    pub fn results(&self) -> impl Iterator<Item = ResultView<'_>> {
        self.history.items.iter().filter_map(|item| match &item.content {
            Content::Result { id, text, is_error } => {
                Some(ResultView { pointer: &item.pointer, id, text, is_error: *is_error })
            }
            _ => None,
        })
    }

    /// The calls in it: message, place and id.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        self.history.items.iter().filter_map(|item| match &item.content {
            Content::Call { id, .. } => Some((item.message, item.pointer.as_str(), id.as_str())),
            _ => None,
        })
    }
}

/// A result in a request.
pub struct ResultView<'a> {
    /// Where.
    pub pointer: &'a str,
    /// Of which call.
    pub id: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether it says that it is an error.
    pub is_error: Option<bool>,
}

fn view(
    plan: &Plan,
    profile: &'static Profile,
    exchange: ExchangeId,
    turn: usize,
    kind: RequestKind,
    body: &[u8],
) -> RequestView {
    let parsed = Json::parse(body);
    let violations = rules::validate_parsed(profile, body, &parsed);
    let refusal = rules::refusal(&violations).map(|violation| Refusal {
        rule: violation.rule.id,
        pointer: violation.pointer.clone(),
        message: violation.message.clone(),
        status: violation.status(),
    });
    let history = wire::history(plan.dialect, &parsed.unwrap_or(Json::Null));
    RequestView { exchange, turn, kind, history, refusal }
}
