//! The memory of a plan's provider: the replies that it sent, in its own format.
//!
//! The memory depends only on the plan and the requests, so the checks compute the same memory as the
//! provider.

use std::borrow::Cow;
use std::collections::BTreeMap;

use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::{Document, Json};
use brickbat_rules::{Delivery, Memory, Retention, Severity, Violation};
use brickbat_scenario::history::{Content, History};
use brickbat_scenario::plan::{
    Mark, Plan, PlannedAction, PlannedCall, PlannedPoint, PlannedSearch, Script, ScriptBlock, SearchKey,
    ServerBlock, Side,
};
use brickbat_scenario::trace::{ExchangeId, RequestKind};
use brickbat_scenario::wire::{self, Envelope, Tokens};

/// The replies from one plan's provider.
#[derive(Debug)]
pub struct Recall {
    /// The part that all ids share: 16 hexadecimal digits.
    stem: String,
    /// The memory of each dialect's provider. No provider knows the replies of another.
    memories: BTreeMap<Dialect, Memory>,
}

impl Recall {
    /// The memory before the first request: the thinking in the given history.
    pub fn of(plan: &Plan) -> Recall {
        let stem = plan.id.to_string().bytes().fold(plan.seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let nothing_said = |dialect| (dialect, Memory::of_nothing_said());
        let mut memories: BTreeMap<Dialect, Memory> = plan.dialects().into_iter().map(nothing_said).collect();
        let memory = memories.entry(plan.dialect).or_default();
        let request = Document::default();
        for (reply, _) in wire::given_thoughts(plan) {
            if Memory::keeps(plan.dialect, request.root()) == Retention::Thinking {
                memory.add(plan.dialect, request.root(), &reply, Delivery::Whole);
            }
        }
        Recall { stem: format!("{stem:016x}"), memories }
    }

    /// The memory of the provider with this dialect.
    pub fn memory(&self, dialect: Dialect) -> &Memory {
        &self.memories[&dialect]
    }

    /// Adds the reply of this dialect's provider to a request, if there was one.
    pub fn replied(
        &mut self,
        plan: &Plan,
        dialect: Dialect,
        exchange: ExchangeId,
        kind: RequestKind,
        request: Json,
    ) {
        if Memory::keeps(dialect, request) == Retention::Nothing {
            return;
        }
        // A memory does not include the searches that the provider itself ran.
        let sight = || Sight::of_thinking(wire::of(dialect).asks_to_think(request));
        let (script, told) = match kind {
            RequestKind::Scripted { turn, reply, attempt } => {
                let Some(turn) = plan.turns.get(turn) else { return };
                let Some(script) = turn.replies.get(reply).and_then(|reply| reply.attempts.get(attempt))
                else {
                    return;
                };
                let is_cut = turn.actions.iter().any(|action| cuts(action, reply, attempt));
                (shown(plan, script, &sight()), if is_cut { Delivery::Cut } else { Delivery::Whole })
            }
            RequestKind::Surplus | RequestKind::Repeated { .. } => {
                (Cow::Owned(shown(plan, &surplus(), &sight()).into_owned()), Delivery::Whole)
            }
            RequestKind::Auxiliary => (Cow::Owned(title()), Delivery::Whole),
            RequestKind::OfSubAgent { call, reply, refused: None } => {
                let said = plan.sub_agent(call).and_then(|agent| agent.replies.get(reply)).cloned();
                (
                    Cow::Owned(shown(plan, &said.unwrap_or_else(surplus), &sight()).into_owned()),
                    Delivery::Whole,
                )
            }
            RequestKind::Refused { .. } | RequestKind::Faulted { .. } | RequestKind::OfSubAgent { .. } => {
                return;
            }
        };
        let unique = self.unique(exchange);
        if let Some(memory) = self.memories.get_mut(&dialect) {
            remember(memory, (plan, dialect), &unique, &script, request, told);
        }
    }

    /// Digits that are unique to the answer.
    pub(super) fn unique(&self, exchange: ExchangeId) -> String {
        format!("{}{:08x}", self.stem, exchange.0)
    }
}

/// Adds a reply to a provider's memory. `unique` contains the digits of its answer.
pub(crate) fn remember(
    memory: &mut Memory,
    (plan, dialect): (&Plan, Dialect),
    unique: &str,
    script: &Script,
    request: Json,
    told: Delivery,
) {
    let keeps = Memory::keeps(dialect, request);
    if keeps == Retention::Nothing || (keeps == Retention::Thinking && !script.thinks()) {
        return;
    }
    let wire = wire::of(dialect);
    let id = wire.message_id(unique);
    let envelope = Envelope { id: &id, model: "", usage: false, tokens: Tokens::PLANNED };
    memory.add(dialect, request, &wire.encode_whole(plan, script, envelope), told);
}

/// The parts of a reply that a request lets its client see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sight {
    /// True if it asks the model to think.
    thinking: bool,
    searches: Option<Searches>,
}

/// The searches of the plan in a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Searches {
    /// True if it offers the search.
    is_offered: bool,
    /// Searches that the request calls and that have no result in it: the provider runs them now.
    open: Vec<SearchKey>,
}

impl Sight {
    /// Reads what a provider of this dialect sees of a request.
    pub(crate) fn of(plan: &Plan, dialect: Dialect, body: Json) -> Sight {
        let wire = wire::of(dialect);
        let searches = (!plan.searches.is_empty()).then(|| Searches {
            is_offered: wire.offers_search(body),
            open: open_searches(plan, &wire::history(dialect, body)),
        });
        Sight { thinking: wire.asks_to_think(body), searches }
    }

    /// The sight of a request without searches. `thinking` is true if it asks the model to think.
    pub(crate) fn of_thinking(thinking: bool) -> Sight {
        Sight { thinking, searches: None }
    }

    /// Fits a reply to the request. Searches that are not offered are removed. The reply begins with the
    /// results of the searches that the request leaves open, as where the plan specifies them, and the model
    /// does not repeat those searches. Results of other searches that the request does not contain are
    /// removed.
    fn fitted<'s>(&self, plan: &Plan, script: &'s Script) -> Cow<'s, Script> {
        let Some(Searches { is_offered, open }) = &self.searches else { return Cow::Borrowed(script) };
        let has = |block| script.server_blocks().any(|other| other == block);
        let is_said = |key| has(ServerBlock::Found(key)) && !has(ServerBlock::Search(key));
        let is_shown = |block: ServerBlock| match block {
            ServerBlock::Search(_) => *is_offered,
            ServerBlock::Found(key) => *is_offered && (has(ServerBlock::Search(key)) || open.contains(&key)),
        };
        let resumed: Vec<SearchKey> = open.iter().copied().filter(|key| !is_said(*key)).collect();
        if resumed.is_empty() && script.server_blocks().all(is_shown) {
            return Cow::Borrowed(script);
        }
        let mut blocks = script.blocks.clone();
        blocks.retain(|block| !matches!(block, ScriptBlock::Server(block) if !is_shown(*block)));
        let name = |key: SearchKey| plan.searches[key.0 as usize].name.as_str();
        for key in &resumed {
            let is_it = |block: &ScriptBlock| matches!(block, ScriptBlock::Server(block) if name(block.key()) == name(*key));
            if let Some(last) = blocks.iter().rposition(is_it) {
                blocks.drain(..=last);
            }
        }
        let found = resumed.into_iter().map(|key| ScriptBlock::Server(ServerBlock::Found(key)));
        blocks.splice(..0, found);
        Cow::Owned(if blocks.is_empty() { surplus() } else { Script { blocks, ..script.clone() } })
    }
}

/// The searches of a plan that a request calls without containing their results.
fn open_searches(plan: &Plan, history: &History) -> Vec<SearchKey> {
    let blocks = || {
        history.items.iter().filter_map(|item| match &item.content {
            Content::Raw { value } => Some(value),
            _ => None,
        })
    };
    let has = |key: &str, id: &str| blocks().any(|value| value[key] == id);
    let is_open = |search: &PlannedSearch| has("id", &search.id) && !has("tool_use_id", &search.id);
    let searches = (0..).map(SearchKey).zip(&plan.searches);
    searches.filter(|(_, search)| is_open(search)).map(|(key, _)| key).collect()
}

/// The part of a reply that a client sees. A model thinks if it is asked to: if the plan does not mention
/// thinking, because the system asks for it on its own, the model thinks before each reply.
pub(crate) fn shown<'s>(plan: &Plan, script: &'s Script, sight: &Sight) -> Cow<'s, Script> {
    match sight.fitted(plan, script) {
        Cow::Borrowed(script) => thought_over(plan, script, sight.thinking),
        Cow::Owned(script) => Cow::Owned(thought_over(plan, &script, sight.thinking).into_owned()),
    }
}

/// A reply with or without thinking, depending on whether the request asks for it.
fn thought_over<'s>(plan: &Plan, script: &'s Script, is_asked: bool) -> Cow<'s, Script> {
    match (is_asked, script.thinks()) {
        (true, false) if !plan.thinks() => Cow::Owned(script.with_thought(THOUGHT)),
        (false, true) => Cow::Owned(script.without_thinking()),
        (true, _) | (false, false) => Cow::Borrowed(script),
    }
}

/// The model's thought when the plan does not specify one.
const THOUGHT: &str = "The user asks me for something.";

/// The violation for which the provider of this dialect rejects a request, if any. It accepts the ids that it
/// created itself, whatever their format, but not those of another provider.
pub fn refusal<'v>(
    plan: &Plan,
    dialect: Dialect,
    violations: &'v [Violation],
    request: Json,
) -> Option<&'v Violation> {
    let is_own = |id: &str| {
        let gave_out =
            |call: &PlannedCall| !call.given && call.id == id && plan.dialect_of(call.turn) == dialect;
        !id.is_empty() && plan.calls.iter().any(gave_out)
    };
    let takes = |violation: &Violation| {
        violation.rule.is_about_id_form()
            && request.pointer(&violation.pointer).as_str().is_some_and(|id| is_own(&id))
    };
    violations.iter().find(|violation| violation.severity == Severity::Error && !takes(violation))
}

/// True if an action keeps a reply from reaching its end.
pub(super) fn cuts(action: &PlannedAction, reply: usize, attempt: usize) -> bool {
    let PlannedPoint::Stream { reply: r, attempt: a, mark, side } = action.at else { return false };
    let is_inside = (mark, side) != (Mark::Reply, Side::After);
    let ends = action.what.ends_attempt() || action.what.ends_turn();
    (r, a) == (reply, attempt) && is_inside && ends
}

/// The reply to a request after the last one of the script.
pub(crate) fn surplus() -> Script {
    short_text("Done.")
}

/// The reply to a request that offers no tools.
pub(crate) fn title() -> Script {
    short_text("A conversation")
}

fn short_text(text: &str) -> Script {
    Script::saying(vec![text.to_owned()])
}
