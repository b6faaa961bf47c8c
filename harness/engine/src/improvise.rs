//! Improvised model replies, for requests that no scenario answers.
//!
//! After a prompt, the model calls several of the offered tools at once, with arguments that fit their
//! schemas. It answers in text when the results have arrived, or with the tool that ends a turn.
//! Everything depends only on a seed and on the
//! request number, so the same requests in the same order get the same replies, including ids.

mod arguments;
mod tools;
mod words;

pub use arguments::fill;
pub(crate) use tools::is_closing;

use std::cmp::Ordering;

use serde_json::Value;

use crate::provider::Answer;
use crate::provider::voice::Voice;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Json;
use brickbat_scenario::history::{Content, History, Role};
use brickbat_scenario::lower::{cut, fragments};
use brickbat_scenario::plan::{CallKey, Plan, PlanId, PlannedCall, Script, ScriptBlock};
use brickbat_scenario::random::Random;
use brickbat_scenario::trace::ExchangeId;
use brickbat_scenario::wire::{self, Offer, Tokens};

/// The settings of the improvising model.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// The seed of all random choices.
    pub seed: u64,
    /// How many times the model calls tools after a prompt before it answers.
    pub n_rounds: u32,
}

/// The state of a conversation, as far as it decides about the model's next reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The number of batches of results since the user last spoke.
    pub n_rounds: u32,
    /// True if the model has said anything before.
    pub has_begun: bool,
}

impl Standing {
    /// The state of a conversation. The messages since the model's last one decide, because programs add
    /// their own notes to tool results.
    pub fn of(history: &History) -> Standing {
        let is_of_model = |role: Role| role == Role::Assistant;
        let mut n_rounds = 0;
        let mut rest = history.items.as_slice();
        loop {
            let n_since = rest.iter().rev().take_while(|item| !is_of_model(item.role)).count();
            let (before, since) = rest.split_at(rest.len() - n_since);
            let has_results = since.iter().any(|item| matches!(item.content, Content::Result { .. }));
            if !has_results {
                break;
            }
            n_rounds += 1;
            let n_said = before.iter().rev().take_while(|item| is_of_model(item.role)).count();
            rest = &before[..before.len() - n_said];
        }
        Standing { n_rounds, has_begun: history.items.iter().any(|item| is_of_model(item.role)) }
    }
}

/// A reply, and a plan with its calls.
#[derive(Debug, Clone)]
pub struct Improvised {
    /// A plan with only these calls.
    pub plan: Plan,
    /// The content of the reply.
    pub script: Script,
}

/// The model's reply to a request. `number` must differ for each request.
pub fn reply(manner: Manner, dialect: Dialect, number: u32, standing: Standing, body: Json) -> Improvised {
    let offer = wire::of(dialect).offer(body);
    let mut random = Random::of(manner.seed, &[dialect.name().as_bytes(), &number.to_le_bytes()]);
    let mut plan = empty_plan(dialect, manner.seed);
    let called = match standing.n_rounds.cmp(&manner.n_rounds) {
        Ordering::Less => tools::called(&offer, &mut random),
        // A program that continues after that call gets a text.
        Ordering::Equal => tools::closing(&offer),
        Ordering::Greater => tools::forced(&offer),
    };
    let mut blocks = Vec::new();
    if called.is_empty() {
        blocks.push(ScriptBlock::Text(fragments(&answer(&offer, standing, &mut random))));
    } else {
        blocks.push(ScriptBlock::Text(fragments(words::before_calls(&mut random))));
    }
    for tool in called {
        let args = fill(&tool.schema.to_value(), &mut random);
        let key = CallKey(plan.calls.len() as u32);
        plan.calls.push(call(dialect, key, &tool.name, args, &mut random));
        blocks.push(ScriptBlock::Call(key));
    }
    let script = Script::new(blocks);
    Improvised { plan, script }
}

fn answer(offer: &Offer<'_, '_>, standing: Standing, random: &mut Random) -> String {
    match offer.answer.filter(|schema| schema.is_object()) {
        Some(schema) => fill(&schema.to_value(), random).to_string(),
        None if offer.answers_in_json => r#"{"answer":"done"}"#.to_owned(),
        None if standing.n_rounds > 0 => words::after_results(random).to_owned(),
        None => words::without_tools(random).to_owned(),
    }
}

/// The names of the calls in a reply, as in scenarios.
const NAMES: [&str; tools::MAX_CALLS] = ["a", "b", "c"];

/// The number of pieces in which arguments are sent, if they are long enough.
const N_PIECES: usize = 3;

fn call(dialect: Dialect, key: CallKey, tool: &str, args: Value, random: &mut Random) -> PlannedCall {
    let text = args.to_string();
    PlannedCall {
        deltas: cut(&text, text.chars().count().clamp(1, N_PIECES)),
        ..PlannedCall::new(
            NAMES.get(key.0 as usize).copied().unwrap_or("call"),
            wire::mint(dialect.codec().call_id, random),
            tool,
            args,
        )
    }
}

/// An answer to this request that does not come from the model.
pub(crate) fn spoken(
    dialect: Dialect,
    seed: u64,
    exchange: ExchangeId,
    say: impl FnOnce(Voice<'_>) -> Answer,
) -> Answer {
    let (plan, unique) = (empty_plan(dialect, seed), unique(seed, exchange));
    say(Voice { plan: &plan, dialect, exchange, unique: &unique, tokens: Tokens::PLANNED, n_late: 0 })
}

/// Digits that are unique to the answer to this request.
pub(crate) fn unique(seed: u64, exchange: ExchangeId) -> String {
    let stem = Random::of(seed, &[b"answers"]).next_number();
    format!("{stem:016x}{:08x}", exchange.0)
}

/// A plan without turns and actions.
fn empty_plan(dialect: Dialect, seed: u64) -> Plan {
    Plan::new(PlanId::new("improvised", dialect), seed)
}

#[cfg(test)]
mod tests;
