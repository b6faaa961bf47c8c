//! Turns one variant of a scenario into a plan: mints wire ids and markers, cuts texts and arguments,
//! resolves points, and adds follow-up turns. An event in a scenario that can never happen is a [`Problem`].
//!
//! [`lower`] checks the scenario, builds the plan (`lowered`), and checks the plan. `checks` lists all checks
//! in order.

use std::io;

use crate::parse::{self, Diagnostic, Variant};
use crate::plan::{Plan, PlanId};
use crate::scenario::Scenario;
use brickbat_rules::dialect::Dialect;

mod actions;
mod call_table;
mod checks;
mod compactions;
mod control;
mod endings;
mod feasibility;
mod follow_up;
mod fragments;
mod given;
mod header;
mod ids;
mod limits;
mod lowered;
mod malformations;
mod messages;
mod points;
mod position;
mod problem;
mod processes;
mod providers;
mod searches;
mod settle;
mod sub_agent_turns;
mod sub_agents;
mod tool_changes;
mod tools;

pub use control::{control, control_key};
pub use fragments::{cut, fragments};
pub use given::{Files, MAX_GIVEN, fetch};
pub use limits::{
    MAX_ACTIONS, MAX_ARGS, MAX_ATTEMPTS, MAX_BLOCKS, MAX_CALLS, MAX_REPLIES, MAX_STRING, MAX_TOOLS, MAX_TURNS,
};
pub use problem::Problem;
pub use tool_changes::{has_call_without_tool, impossible_tool_change};

use ids::IdSource;
use lowered::Lowered;

/// Every plan in a scenario file: each variant in each of the dialects, variants first.
pub fn plans(
    id: &str,
    file_name: &str,
    text: &str,
    dialects: &[Dialect],
    seed: u64,
) -> Result<Vec<Plan>, Diagnostic> {
    plans_with(id, file_name, text, dialects, seed, &|_| Err(io::Error::other("there are no files here")))
}

/// Like [`plans`], for a scenario that may name other files.
pub fn plans_with(
    id: &str,
    file_name: &str,
    text: &str,
    dialects: &[Dialect],
    seed: u64,
    files: Files<'_>,
) -> Result<Vec<Plan>, Diagnostic> {
    let mut variants = parse::parse(file_name, text)?;
    for variant in &mut variants {
        fetch(file_name, variant, files)?;
    }
    let mut plans = Vec::with_capacity(variants.len() * dialects.len());
    for variant in &variants {
        for dialect in dialects {
            let plan = lower(id, &variant.name, &variant.scenario, *dialect, seed);
            plans.push(plan.map_err(|problem| diagnose(&variants, variant, *dialect, &problem))?);
        }
    }
    Ok(plans)
}

/// Shows the problem of a variant. The message names the variant, unless all variants have the problem.
fn diagnose(variants: &[Variant], own: &Variant, dialect: Dialect, problem: &Problem) -> Diagnostic {
    let has_it = |variant: &Variant| {
        let other = lower("", &variant.name, &variant.scenario, dialect, 0);
        other.is_err_and(|other| other == *problem)
    };
    let show = if variants.iter().all(has_it) { Variant::diagnose } else { Variant::diagnose_own };
    show(own, &problem.pointer, &problem.message, problem.hint.clone())
}

/// The plan for one variant of the scenario `id` in one dialect, or the first problem of the scenario.
/// `variant` is the variant's name.
pub fn lower(
    id: &str,
    variant: &str,
    scenario: &Scenario,
    dialect: Dialect,
    seed: u64,
) -> Result<Plan, Problem> {
    if let Some(problem) = checks::of_scenario(scenario) {
        return Err(problem);
    }
    let built = Lowered::of(scenario, IdSource { seed, scenario: id, dialect });
    match checks::of_lowered(&built) {
        Some(problem) => Err(problem),
        None => Ok(built.plan(PlanId { variant: variant.to_owned(), ..PlanId::new(id, dialect) })),
    }
}
