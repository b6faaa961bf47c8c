//! What the provider of a plan remembers: the replies that it gave, in its own words.
//!
//! It is worked out from the plan and the requests alone, so the checkers come to the same memory as the provider did.

use std::borrow::Cow;
use std::collections::BTreeMap;

use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::{Document, Json};
use brickbat_rules::{Delivery, Memory, Retention, Severity, Violation};
use brickbat_scenario::plan::{Mark, Plan, PlannedAction, PlannedCall, PlannedPoint, Script, Side};
use brickbat_scenario::trace::{ExchangeId, RequestKind};
use brickbat_scenario::wire::{self, Envelope, Tokens};

/// The replies of one plan's provider.
#[derive(Debug)]
pub struct Recall {
    /// Part of every id: 16 hexadecimal digits.
    stem: String,
    /// What the provider of each dialect remembers: none knows what another has said.
    memories: BTreeMap<Dialect, Memory>,
}

impl Recall {
    /// What the provider of a plan remembers before the first request: what it thought in the given history.
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

    /// What the provider of a turn remembers.
    pub fn memory(&self, dialect: Dialect) -> &Memory {
        &self.memories[&dialect]
    }

    /// Adds what the provider of that dialect replied to a request, if anything was.
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
        let asks = || wire::of(dialect).asks_to_think(request);
        let (script, told) = match kind {
            RequestKind::Scripted { turn, reply, attempt } => {
                let Some(turn) = plan.turns.get(turn) else { return };
                let Some(script) = turn.replies.get(reply).and_then(|reply| reply.attempts.get(attempt))
                else {
                    return;
                };
                let is_cut = turn.actions.iter().any(|action| cuts(action, reply, attempt));
                (shown(plan, script, asks()), if is_cut { Delivery::Cut } else { Delivery::Whole })
            }
            RequestKind::Surplus => {
                (Cow::Owned(shown(plan, &surplus(), asks()).into_owned()), Delivery::Whole)
            }
            RequestKind::Auxiliary => (Cow::Owned(title()), Delivery::Whole),
            RequestKind::OfSubAgent { call, reply, refused: None } => {
                let said = plan.sub_agent(call).and_then(|agent| agent.replies.get(reply)).cloned();
                (Cow::Owned(shown(plan, &said.unwrap_or_else(surplus), asks()).into_owned()), Delivery::Whole)
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

    /// Digits that no other answer has.
    pub(super) fn unique(&self, exchange: ExchangeId) -> String {
        format!("{}{:08x}", self.stem, exchange.0)
    }
}

/// Adds a reply to what a provider remembers. `unique` are the digits of its answer.
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

/// What a client gets to see of a reply, by whether it asked the model to think. A model that is asked to think does:
/// where the plan says nothing about it, because the system asks by itself, it thinks before each reply.
pub(crate) fn shown<'s>(plan: &Plan, script: &'s Script, is_asked: bool) -> Cow<'s, Script> {
    match (is_asked, script.thinks()) {
        (true, false) if !plan.thinks() => Cow::Owned(script.with_thought(THOUGHT)),
        (false, true) => Cow::Owned(script.without_thinking()),
        (true, _) | (false, false) => Cow::Borrowed(script),
    }
}

/// What the model thinks where the plan says nothing about it.
const THOUGHT: &str = "The user asks me for something.";

/// What the provider of that dialect answers to these violations of a request, if it refuses it. It takes back what it gave
/// out, whatever form the ids have, and not what another provider did.
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

/// Whether a reply does not come to its end because of an action.
pub(super) fn cuts(action: &PlannedAction, reply: usize, attempt: usize) -> bool {
    let PlannedPoint::Stream { reply: r, attempt: a, mark, side } = action.at else { return false };
    let is_inside = (mark, side) != (Mark::Reply, Side::After);
    let ends = action.what.ends_attempt() || action.what.ends_turn();
    (r, a) == (reply, attempt) && is_inside && ends
}

/// The reply to a request beyond the script.
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
