//! A request, as the checks see it.

use std::borrow::Cow;

use super::Place;
use crate::provider::{self, Recall, conversation};
use brickbat_rules::json::Document;
use brickbat_rules::{self as rules, Profile};
use brickbat_scenario::action::DETAIL;
use brickbat_scenario::history::{Content, History, Item};
use brickbat_scenario::plan::{CallKey, Plan, marker_in};
use brickbat_scenario::trace::{ExchangeId, RequestHead, RequestKind};
use brickbat_scenario::wire::{self, CallableTool, Offer, ToolChoice};

pub struct RequestView {
    pub exchange: ExchangeId,
    /// The 0-based number of the turn.
    pub turn: usize,
    /// The kind that the provider assigned to it.
    pub kind: RequestKind,
    /// True if its body is JSON. Otherwise its content is unknown.
    pub is_read: bool,
    pub history: History,
    /// The names of the tools that it offers to the model.
    pub offered: Vec<String>,
    /// The names of those that take the argument which an extended schema has.
    pub extended: Vec<String>,
    /// True if it asks the model to think.
    pub asks_to_think: bool,
    /// True if it offers the search that the provider runs itself.
    pub offers_search: bool,
    /// The number of calls that its reply may have.
    pub allowed: Allowed,
    /// The model in the request, if it can be read.
    pub model: Option<String>,
    /// The plan's calls in it.
    calls: Vec<CallView>,
    pub refusal: Option<Refusal>,
}

/// The number of calls that a request allows in its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    /// True if there must be one, as with `tool_choice: required`.
    pub at_least_one: bool,
    /// True if there may be several; not with `parallel_tool_calls: false`.
    pub several: bool,
}

impl Allowed {
    fn of(offer: &Offer<'_, '_>) -> Allowed {
        let at_least_one = match offer.choice {
            ToolChoice::Any | ToolChoice::Only(_) => true,
            ToolChoice::Free | ToolChoice::Never => false,
        };
        Allowed { at_least_one, several: offer.parallel }
    }
}

pub struct Refusal {
    pub rule: &'static str,
    pub pointer: String,
    pub message: String,
    pub status: u16,
}

impl RequestView {
    /// The human-readable location of this request.
    pub(super) fn place(&self, pointer: &str) -> Place {
        Place::of_request(self.turn, self.exchange, pointer)
    }

    /// The plan's calls in this request that have no result in it.
    pub fn unanswered(&self) -> impl Iterator<Item = &CallView> {
        self.calls.iter().filter(|call| self.results().all(|result| result.id != call.id))
    }

    /// The results in this request, with their locations.
    pub fn results(&self) -> impl Iterator<Item = ResultView<'_>> {
        self.history.items.iter().filter_map(|item| match &item.content {
            Content::Result { id, text, is_error } => {
                Some(ResultView { pointer: &item.pointer, id, text, is_error: *is_error })
            }
            _ => None,
        })
    }

    /// True if a text or a result in this request contains these words.
    pub fn contains(&self, words: &str) -> bool {
        self.history.items.iter().any(|item| match &item.content {
            Content::Text { text } | Content::Result { text, .. } => text.contains(words),
            Content::Raw { value } => value.to_string().contains(words),
            Content::Thought { .. } | Content::Call { .. } => false,
        })
    }

    /// The plan's calls in this request.
    pub fn calls(&self) -> impl Iterator<Item = &CallView> {
        self.calls.iter()
    }

    /// The number of calls with this id in the request.
    pub fn n_calls_with(&self, id: &str) -> usize {
        let has_it = |item: &&Item| matches!(&item.content, Content::Call { id: own, .. } if own == id);
        self.history.items.iter().filter(has_it).count()
    }

    /// The call of the plan with this id in the request.
    pub fn key_of(&self, id: &str) -> Option<CallKey> {
        self.calls.iter().find(|call| call.id == id).map(|call| call.key)
    }
}

pub struct CallView {
    /// The number of its item in the request.
    pub item: usize,
    pub message: usize,
    pub pointer: String,
    /// The id in the request. A system may have given the call its own id.
    pub id: String,
    pub key: CallKey,
}

pub struct ResultView<'a> {
    pub pointer: &'a str,
    pub id: &'a str,
    pub text: &'a str,
    /// The error flag, if the result has one.
    pub is_error: Option<bool>,
}

pub(super) fn view(
    plan: &Plan,
    profile: &'static Profile,
    recall: &mut Recall,
    (exchange, turn, kind): (ExchangeId, usize, RequestKind),
    (head, body): (&RequestHead, &[u8]),
) -> RequestView {
    let dialect = plan.dialect_of(turn);
    let model = head.model.as_deref();
    let profile = provider::profile_of(dialect, profile, head.version.as_deref());
    let body = &*profile.readable(body);
    let document = Document::parse(body);
    let violations = rules::validate_asking(profile, recall.memory(dialect), model, body, &document);
    let (is_read, document) = (document.is_ok(), document.unwrap_or_default());
    // Requests that the script does not answer need not follow the rules of the thread.
    let refusal = provider::refusal(plan, dialect, &violations, document.root());
    let refusal = refusal.filter(|_| kind != RequestKind::Auxiliary).map(|violation| Refusal {
        rule: violation.rule.id,
        pointer: violation.pointer.clone(),
        message: violation.message.clone(),
        status: violation.status(),
    });
    let history = conversation(dialect, recall.memory(dialect), document.root());
    recall.replied(plan, dialect, exchange, kind, document.root());
    let offered = wire::offered_tools(dialect, document.root());
    let asks_to_think = wire::of(dialect).asks_to_think(document.root());
    let offers_search = wire::of(dialect).offers_search(document.root());
    let offer = wire::of(dialect).offer(document.root());
    let extended = extended(&offer);
    let allowed = Allowed::of(&offer);
    let named = || document.root().field("model").as_str().map(Cow::into_owned);
    let model = model.map(str::to_owned).or_else(named);
    let items = history.items.iter().enumerate();
    let calls = items.filter_map(|(at, item)| call_view(plan, at, item)).collect();
    RequestView {
        exchange,
        turn,
        kind,
        is_read,
        history,
        offered,
        extended,
        asks_to_think,
        offers_search,
        allowed,
        model,
        calls,
        refusal,
    }
}

/// The names of the offered tools that take the argument of an extended schema.
fn extended(offer: &Offer<'_, '_>) -> Vec<String> {
    let is_extended = |tool: &&CallableTool<'_, '_>| tool.schema.field("properties").get(DETAIL).is_some();
    offer.tools.iter().filter(is_extended).map(|tool| tool.name.clone().into_owned()).collect()
}

/// Finds the plan's call by its id. If a system gives calls its own ids, or several calls have the same id,
/// the marker in the arguments identifies the call.
fn call_view(plan: &Plan, at: usize, item: &Item) -> Option<CallView> {
    let Content::Call { id, args, .. } = &item.content else { return None };
    let marker = marker_in(args);
    let by_marker = || (0..).zip(&plan.calls).find(|(_, call)| marker == Some(call.marker.as_str()));
    let key = plan.call_with_id(id).or_else(|| by_marker().map(|(at, _)| CallKey(at)))?;
    let (message, pointer, id) = (item.message, item.pointer.clone(), id.clone());
    Some(CallView { item: at, message, pointer, id, key })
}
