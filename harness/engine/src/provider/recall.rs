//! What the provider of a plan remembers: the replies that it gave, in its own words.
//!
//! It is worked out from the plan and the requests alone, so the checkers come to the same memory as the provider did.

use std::borrow::Cow;
use std::collections::BTreeMap;

use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::{Document, Json};
use brickbat_rules::{Delivery, Memory, Retention, Severity, Violation};
use brickbat_scenario::plan::{
    Mark, Plan, PlannedAction, PlannedCall, PlannedPoint, Script, ScriptBlock, SearchKey, ServerBlock, Side,
};
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
        // What the provider ran itself it does not keep.
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
            RequestKind::Surplus => {
                (Cow::Owned(shown(plan, &surplus(), &sight()).into_owned()), Delivery::Whole)
            }
            RequestKind::Auxiliary => (Cow::Owned(title()), Delivery::Whole),
            RequestKind::Refused { .. } | RequestKind::Faulted { .. } => return,
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

/// What a request lets its client see of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Whether it asks the model to think.
    thinking: bool,
    /// The blocks of searches that cannot be: the search is not offered, or one that was not over has been dropped.
    hidden: Vec<ServerBlock>,
}

impl Sight {
    /// That of a request to a provider of that dialect.
    pub(crate) fn of(plan: &Plan, dialect: Dialect, body: Json, bytes: &[u8]) -> Sight {
        let wire = wire::of(dialect);
        let thinking = wire.asks_to_think(body);
        if plan.searches.is_empty() {
            return Sight { thinking, hidden: Vec::new() };
        }
        let is_offered = wire.offers_search(body);
        let text = String::from_utf8_lossy(bytes);
        let hidden = (0..).map(SearchKey).zip(&plan.searches).flat_map(|(key, search)| {
            let is_unknown = !is_offered || !text.contains(&search.id);
            let call = (!is_offered).then_some(ServerBlock::Search(key));
            call.into_iter().chain(is_unknown.then_some(ServerBlock::Found(key)))
        });
        Sight { thinking, hidden: hidden.collect() }
    }

    /// That of a request about searches of which nothing is known, which asks the model to think or not.
    pub(crate) fn of_thinking(thinking: bool) -> Sight {
        Sight { thinking, hidden: Vec::new() }
    }

    /// A reply without the blocks that cannot be in it.
    fn fitted<'s>(&self, script: &'s Script) -> Cow<'s, Script> {
        // What is called in this reply is found in it, whatever came before.
        let is_called = |key| script.server_blocks().any(|block| block == ServerBlock::Search(key));
        let is_hidden = |block: ServerBlock| {
            let is_own = matches!(block, ServerBlock::Found(key) if is_called(key));
            let known_by = if is_own { ServerBlock::Search(block.key()) } else { block };
            self.hidden.contains(&known_by)
        };
        if !script.server_blocks().any(is_hidden) {
            return Cow::Borrowed(script);
        }
        let mut fitted = script.clone();
        fitted.blocks.retain(|block| !matches!(block, ScriptBlock::Server(block) if is_hidden(*block)));
        if fitted.blocks.is_empty() {
            fitted = surplus();
        }
        Cow::Owned(fitted)
    }
}

/// What a client gets to see of a reply. A model that is asked to think does: where the plan says nothing about it, because
/// the system asks by itself, it thinks before each reply.
pub(crate) fn shown<'s>(plan: &Plan, script: &'s Script, sight: &Sight) -> Cow<'s, Script> {
    match sight.fitted(script) {
        Cow::Borrowed(script) => thought_over(plan, script, sight.thinking),
        Cow::Owned(script) => Cow::Owned(thought_over(plan, &script, sight.thinking).into_owned()),
    }
}

/// A reply with what the model thinks before it, or without, by whether it is asked to.
fn thought_over<'s>(plan: &Plan, script: &'s Script, is_asked: bool) -> Cow<'s, Script> {
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
