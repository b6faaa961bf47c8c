//! Turns one variant of a scenario into a plan: mints wire ids and markers, cuts texts and arguments,
//! resolves points, and adds follow-up turns. An event in a scenario that can never happen is a [`Problem`].
//!
//! Lowering has stages; each runs only if the one before has found no problem.

use std::io;

use crate::action::Action;
use crate::parse::{self, Diagnostic, Variant};
use crate::plan::{CallKey, Mark};
use crate::plan::{
    Change, Plan, PlanId, PlannedAction, PlannedPoint, PlannedReply, PlannedTurn, Script, Side, ToolOutcome,
};
use crate::scenario::{Need, Scenario, Times, Turn};
use crate::surrogate::HALF_CHARACTER;
use crate::wire;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;

mod actions;
mod call_table;
mod compactions;
mod endings;
mod feasibility;
mod follow_up;
mod given;
mod header;
mod ids;
mod malformations;
mod messages;
mod points;
mod position;
mod problem;
mod processes;
mod providers;
mod searches;
mod settle;
mod sub_agents;
mod tools;

pub use call_table::{cut, fragments};
pub use given::{Files, MAX_GIVEN, fetch};
pub use header::{
    MAX_ACTIONS, MAX_ARGS, MAX_ATTEMPTS, MAX_BLOCKS, MAX_CALLS, MAX_REPLIES, MAX_STRING, MAX_TOOLS, MAX_TURNS,
};
pub use problem::Problem;

use call_table::CallTable;
use ids::IdSource;
use points::TurnContext;
use problem::Problems;

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
            plans.push(plan.map_err(|problems| diagnose(&variants, variant, *dialect, &problems))?);
        }
    }
    Ok(plans)
}

/// Shows the first problem of a variant. The message names the variant, unless all variants have the problem.
fn diagnose(variants: &[Variant], own: &Variant, dialect: Dialect, problems: &[Problem]) -> Diagnostic {
    let fallback = Problem::new("", "the scenario cannot be lowered");
    let problem = problems.first().unwrap_or(&fallback);
    let has_it = |variant: &Variant| {
        let other = lower("", &variant.name, &variant.scenario, dialect, 0);
        other.is_err_and(|problems| problems.first() == Some(problem))
    };
    let show = if variants.iter().all(has_it) { Variant::diagnose } else { Variant::diagnose_own };
    show(own, &problem.pointer, &problem.message, problem.hint.clone())
}

/// The plan for one variant of the scenario `id` in one dialect. `variant` is the variant's name. On error,
/// the list of problems is never empty.
pub fn lower(
    id: &str,
    variant: &str,
    scenario: &Scenario,
    dialect: Dialect,
    seed: u64,
) -> Result<Plan, Vec<Problem>> {
    header::check(scenario)?;
    let (tools, missing) = tools::check(scenario)?;
    searches::check(scenario)?;
    given::check(scenario)?;
    let mut table = CallTable::of(scenario, IdSource { seed, scenario: id, dialect });
    let executed = executed(scenario, &table)?;
    let mut turns = Vec::with_capacity(scenario.turns.len());
    let mut impossible = other_profile(scenario, dialect)?
        .or_else(|| hidden_thinking(scenario, dialect))
        .or_else(|| searches::impossible(scenario, dialect))
        .or_else(|| malformations::impossible(scenario, dialect))
        .or_else(|| given::impossible(scenario, dialect))
        .or_else(|| providers::impossible(scenario, dialect))
        .or_else(|| compactions::impossible(scenario));
    let mut live_prompts = Vec::new();
    for (index, said) in scenario.turns.iter().enumerate() {
        let planned = turn(&mut table, index, (said, &live_prompts), &mut impossible)?;
        stand(&mut live_prompts, index, &planned);
        turns.push(planned);
    }
    let mut problems = Problems::default();
    endings::limit(scenario, &turns, &mut problems);
    messages::unique(&turns, &mut problems);
    messages::rewound(scenario, &mut problems);
    processes::check(&turns, &mut problems);
    feasibility::outlived(&table, &turns, &mut problems);
    problems.settle()?;
    let needs = needs(scenario, dialect, &turns);
    follow_up::append(&mut turns, &table.calls);
    let mut problems = Problems::default();
    sub_agents::check_words(scenario, &turns, &mut problems);
    problems.settle()?;
    let given = given::lower(scenario, &mut table);
    let id = PlanId { variant: variant.to_owned(), ..PlanId::new(id, dialect) };
    let (classes, profile) = (scenario.class.clone(), scenario.profile.clone());
    let mut plan = Plan {
        model: scenario.model.clone(),
        needs,
        classes,
        profile,
        impossible,
        tools,
        missing,
        step_limit: scenario.limits.steps,
        window: scenario.limits.window,
        sub_agents: table.sub_agents(),
        calls: table.calls,
        searches: table.searches.searches,
        given,
        turns,
        executed,
        ..Plan::new(id, seed)
    };
    given::sign(scenario, &mut plan);
    Ok(plan)
}

/// The control plan: the same conversation, but nothing goes wrong, the store starts empty, and there is one
/// process. Each reply keeps one attempt, the first after which the turn continues. Calls settle in the order
/// in which the model made them. The control plan does not limit how often calls run, because that limit is
/// about the fault. A call that remains keeps its key.
pub fn control(plan: &Plan) -> Plan {
    let mut control = plan.clone();
    control.id.control = true;
    control.impossible = None;
    control.executed = Vec::new();
    control.given = Vec::new();
    control
        .calls
        .retain(|call| !call.given && plan.turns[call.turn].plain_attempt(call.reply) == call.attempt);
    (control.step_limit, control.window) = (None, None);
    control.tools.append(&mut control.missing);
    control
        .tools
        .iter_mut()
        .for_each(|tool| (tool.ends, tool.hands_over, tool.client) = (false, false, false));
    for call in &mut control.calls {
        call.put_right();
        (call.hangs, call.hands_over) = (false, false);
        call.attempt = 0;
        let text = call.outcome.text();
        if !call.outcome.is_success() || text.is_empty() || text.contains(HALF_CHARACTER) {
            call.outcome = ToolOutcome::Return(format!("fine [{}]", call.marker));
        }
    }
    for agent in &mut control.sub_agents {
        agent.refused = None;
        control.calls[agent.call.0 as usize].outcome = ToolOutcome::Return(agent.last_words());
    }
    let n_calls = control.calls.len();
    providers::stay(&mut control, plan);
    for (turn, planned) in control.turns.iter_mut().zip(&plan.turns) {
        turn.process = 1;
        // A request for thinking is not a fault.
        turn.actions.retain(|action| matches!(action.what, Action::Thinking(_)));
        turn.settle.retain(|key| (key.0 as usize) < n_calls);
        turn.settle.sort_unstable();
        for (index, reply) in turn.replies.iter_mut().enumerate() {
            reply.attempts.drain(..planned.plain_attempt(index));
            reply.attempts.truncate(1);
        }
    }
    searches::unpause(&mut control);
    let scripts = control.turns.iter_mut().flat_map(|turn| &mut turn.replies);
    scripts.flat_map(|reply| &mut reply.attempts).for_each(Script::put_right);
    control
}

fn executed(scenario: &Scenario, table: &CallTable<'_>) -> Result<Vec<(CallKey, Times)>, Vec<Problem>> {
    let mut problems = Problems::default();
    let mut executed = Vec::with_capacity(scenario.expect.executed.len());
    for (name, times) in &scenario.expect.executed {
        match table.find(name) {
            Some(key) => executed.push((key, *times)),
            None => {
                let known: Vec<&str> = table.calls.iter().map(|call| call.name.as_str()).collect();
                let pointer = format!("/expect/executed/{}", position::step(name));
                problems.add(Problem::unknown(pointer, "call", name, "the calls are", &known));
            }
        }
    }
    problems.settle()?;
    Ok(executed)
}

/// Lowers one turn. `impossible` is set to the reason if the dialect lacks a point that the turn names, or
/// has already sent everything when that point is reached.
fn turn(
    table: &mut CallTable<'_>,
    index: usize,
    (said, live_prompts): (&Turn, &[usize]),
    impossible: &mut Option<String>,
) -> Result<PlannedTurn, Vec<Problem>> {
    let mut problems = Problems::default();
    let mut replies: Vec<PlannedReply> = said.replies.iter().map(|reply| table.reply(reply)).collect();
    let context = TurnContext { table, turn: index, replies: &replies, live_prompts };
    let mut actions = actions::resolve(context, &said.at, &mut problems);
    problems.settle()?;
    let mut problems = Problems::default();
    feasibility::too_soon(context, &actions, &mut problems);
    let mut order = settle::order(context, &said.settle, &actions, &mut problems);
    feasibility::check(context, &actions, &order, &mut problems);
    endings::check(context, &said.settle, &actions, &mut problems);
    sub_agents::check_turn(context, &said.settle, (&replies, &actions), &mut problems);
    match feasibility::lacking(context, &actions) {
        // The order of the points is undefined if one of them does not exist.
        Some(action) => {
            let words = &action.words;
            let dialect = table.dialect(index);
            impossible
                .get_or_insert(format!("{dialect} sends a call in one piece, so there is no `{words}`"));
        }
        None => problems.settle()?,
    }
    if let Some((action, why)) = feasibility::behind_the_end(context, &actions) {
        let (words, dialect) = (&action.words, table.dialect(index));
        impossible
            .get_or_insert(format!("{dialect} ends its stream with the stop reason, so `{words}` {why}"));
    }
    for (reply, planned) in replies.iter_mut().enumerate() {
        ask_again(table, reply, planned, &actions, &mut order);
    }
    let context = TurnContext { table, turn: index, replies: &replies, live_prompts };
    actions.extend(endings::finish(context, &actions));
    let (user, process) = (said.user.clone(), said.process);
    let dialect = table.other_dialect(index);
    Ok(PlannedTurn { process, dialect, settle: order, actions, ..PlannedTurn::new(user, replies) })
}

/// Updates the list of turns whose user messages are in the history, after another turn.
fn stand(live_prompts: &mut Vec<usize>, index: usize, turn: &PlannedTurn) {
    let changes = |between: bool| {
        let at = turn.actions.iter().filter(move |action| action.is_between_turns() == between);
        at.filter_map(|action| action.what.change())
    };
    for change in changes(true) {
        match change {
            Change::Trim { .. } | Change::Summarise { .. } => live_prompts.clear(),
            Change::Rewind { prompts } => {
                live_prompts.truncate(live_prompts.len().saturating_sub(prompts as usize))
            }
            Change::Aside { .. } | Change::Thinking { .. } | Change::Provider { .. } => {}
        }
    }
    if changes(false).next().is_some() {
        live_prompts.clear();
    }
    live_prompts.push(index);
}

/// Adds the attempt that a client gets when it asks again after the last attempt of the scenario has failed.
fn ask_again(
    table: &mut CallTable<'_>,
    reply: usize,
    planned: &mut PlannedReply,
    actions: &[PlannedAction],
    order: &mut Vec<CallKey>,
) {
    let next = planned.attempts.len();
    let fails = |action: &PlannedAction| match action.at {
        PlannedPoint::Stream { reply: failed, attempt, .. } => {
            (failed, attempt + 1) == (reply, next) && action.what.ends_attempt()
        }
        _ => false,
    };
    let Some(last) = planned.attempts.last().filter(|_| actions.iter().any(fails)) else { return };
    let again = table.again(last, next);
    for (original, clone) in last.calls().zip(again.calls()) {
        let place = order.iter().position(|key| *key == original).map_or(order.len(), |place| place + 1);
        order.insert(place, clone);
    }
    planned.attempts.push(again);
}

/// The reason why a scenario that names a profile cannot be run, if the profile belongs to another dialect.
fn other_profile(scenario: &Scenario, dialect: Dialect) -> Result<Option<String>, Vec<Problem>> {
    let Some(name) = &scenario.profile else { return Ok(None) };
    match Profile::named(name) {
        Some(profile) => {
            Ok((profile.dialect != dialect).then(|| format!("the scenario is written for {name}")))
        }
        None => {
            let known: Vec<&str> = Profile::all().map(|profile| profile.name).collect();
            Err(vec![Problem::unknown("/profile", "profile", name, "the profiles are", &known)])
        }
    }
}

/// The reason why a scenario with thinking cannot be run, if the dialect never exposes thinking.
fn hidden_thinking(scenario: &Scenario, dialect: Dialect) -> Option<String> {
    let mut actions = scenario.turns.iter().flat_map(|turn| &turn.at).map(|at| &at.action);
    let is_switched = actions.any(|action| matches!(action, Action::Thinking(_)));
    let is_hidden = (scenario.thinks() || is_switched) && !wire::of(dialect).shows_thinking();
    is_hidden.then(|| format!("our {dialect} provider does not show the model's thinking"))
}

/// The capabilities that the scenario lists, and those that its actions need.
fn needs(scenario: &Scenario, dialect: Dialect, turns: &[PlannedTurn]) -> Vec<Need> {
    let mut needs = scenario.needs.clone();
    needs.extend(malformations::needs(scenario, dialect));
    if scenario.tools.values().any(|tool| tool.asks) {
        needs.push(Need::Approvals);
    }
    if scenario.thinks() {
        needs.push(Need::Thinking);
    }
    if scenario.searches() {
        needs.push(Need::ServerTools);
    }
    if turns.iter().any(|turn| turn.process != 1) {
        needs.push(Need::SharedSession);
    }
    needs.extend(given::needs(scenario));
    needs.extend(endings::needs(scenario));
    let points = scenario.turns.iter().flat_map(|turn| &turn.at).filter_map(|at| at.point());
    needs.extend(points.filter_map(|point| point.spec().needs));
    for action in turns.iter().flat_map(|turn| &turn.actions) {
        let in_stream = match action.at {
            PlannedPoint::Stream { mark, side, .. } => (mark, side) != (Mark::Headers, Side::Before),
            _ => false,
        };
        needs.extend(action.what.spec().needs);
        if action.what.changes_history() && action.at != PlannedPoint::Prompt {
            needs.push(Need::ChangeInFlight);
        }
        if in_stream {
            needs.push(Need::Streaming);
        }
        if in_stream && matches!(action.what, Action::Settle(_)) {
            needs.push(Need::EagerTools);
        }
    }
    needs.sort_unstable();
    needs.dedup();
    needs
}
/// A key that is equal for control plans with the same content, whatever their scenarios. It ignores minted
/// ids.
pub fn control_key(control: &Plan) -> String {
    let mut plain = control.clone();
    for call in &mut plain.calls {
        let crate::plan::PlannedCall { id, marker, args, deltas, outcome, .. } = call;
        id.clear();
        if let Some(args) = args.as_object_mut() {
            args.shift_remove(crate::plan::MARKER);
        }
        deltas.iter_mut().for_each(String::clear);
        *outcome = crate::plan::ToolOutcome::Return(outcome.text().replace(marker.as_str(), ""));
        marker.clear();
    }
    plain.searches.iter_mut().for_each(|search| search.id.clear());
    serde_json::to_string(&plain).unwrap_or_default()
}
