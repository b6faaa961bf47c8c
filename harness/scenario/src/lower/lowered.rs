//! Builds the plan of a scenario. Building cannot fail: an action that names something unknown is left out
//! and noted, and the checks report it ([`super::checks`]).

use crate::action::Action;
use crate::plan::{
    CallKey, Change, Mark, Plan, PlanId, PlannedAction, PlannedPoint, PlannedReply, PlannedTurn, Side,
};
use crate::scenario::{Need, Scenario, Times, Turn};
use crate::wire;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;

use super::call_table::CallTable;
use super::ids::IdSource;
use super::points::{BuiltTurn, TurnContext};
use super::problem::{Problem, Problems};
use super::{
    actions, compactions, endings, feasibility, follow_up, given, malformations, providers, searches, settle,
    tools,
};

/// A scenario and its plan, which is built but not checked.
#[derive(Debug)]
pub(super) struct Lowered<'a> {
    pub scenario: &'a Scenario,
    pub table: CallTable<'a>,
    /// The turns of the plan: those of the scenario, and those that the harness adds.
    pub turns: Vec<PlannedTurn>,
    ids: IdSource<'a>,
    notes: Vec<TurnNotes>,
}

/// The facts about a turn of the scenario that its checks need, and that are not in the plan.
#[derive(Debug)]
struct TurnNotes {
    /// The order in which the calls of the scenario settle.
    order: Vec<CallKey>,
    /// An action that names something unknown.
    unresolved: Option<Problem>,
    /// A contradiction in the order in which calls settle.
    unordered: Option<Problem>,
    /// False if the dialect lacks a point that the turn names.
    has_all_points: bool,
    /// The reason why the turn cannot be run in its dialect.
    impossible: Option<String>,
}

impl<'a> Lowered<'a> {
    /// Builds the plan of a scenario that has passed the checks before building.
    pub fn of(scenario: &'a Scenario, ids: IdSource<'a>) -> Lowered<'a> {
        let mut table = CallTable::of(scenario, ids);
        let (mut turns, mut notes) = (Vec::new(), Vec::new());
        let mut live_prompts = Vec::new();
        for (index, said) in scenario.turns.iter().enumerate() {
            let (planned, noted) = turn(&mut table, index, said, &live_prompts);
            stand(&mut live_prompts, index, &planned);
            turns.push(planned);
            notes.push(noted);
        }
        follow_up::append(&mut turns, &table.calls);
        Lowered { scenario, table, turns, ids, notes }
    }

    /// The turns of the scenario, without those that the harness adds.
    pub fn written(&self) -> &[PlannedTurn] {
        &self.turns[..self.notes.len()]
    }

    /// The turns of the scenario, as their checks see them.
    pub fn built(&self) -> impl Iterator<Item = BuiltTurn<'_>> {
        let turns = self.scenario.turns.iter().zip(&self.turns).zip(&self.notes).enumerate();
        turns.map(|(turn, ((said, planned), noted))| BuiltTurn {
            context: TurnContext { table: &self.table, turn, replies: &planned.replies },
            settle: &said.settle,
            actions: &planned.actions,
            order: &noted.order,
            unresolved: noted.unresolved.as_ref(),
            unordered: noted.unordered.as_ref(),
            has_all_points: noted.has_all_points,
        })
    }

    /// The plan.
    pub fn plan(mut self, id: PlanId) -> Plan {
        let scenario = self.scenario;
        let (tools, missing) = tools::planned(scenario);
        let (impossible, mut needs) = (self.impossible(), needs(scenario, self.ids.dialect, self.written()));
        needs.extend(tools::needs(tools.iter().chain(&missing)));
        needs.sort_unstable();
        needs.dedup();
        let times = |(name, times): (&String, &Times)| Some((self.table.find(name)?, *times));
        let executed = scenario.expect.executed.iter().filter_map(times).collect();
        let given = given::lower(scenario, &mut self.table);
        let mut plan = Plan {
            model: scenario.model.clone(),
            needs,
            classes: scenario.class.clone(),
            premise: scenario.premise(),
            profile: scenario.profile.clone(),
            impossible,
            tools,
            missing,
            step_limit: scenario.limits.steps,
            window: scenario.limits.window,
            sub_agents: self.table.sub_agents(),
            calls: self.table.calls,
            searches: self.table.searches.searches,
            given,
            turns: self.turns,
            executed,
            ..Plan::new(id, self.ids.seed)
        };
        given::sign(scenario, &mut plan);
        plan
    }

    /// The reason why the plan cannot be run in its dialect, if there is one.
    fn impossible(&self) -> Option<String> {
        let (scenario, dialect) = (self.scenario, self.ids.dialect);
        other_profile(scenario, dialect)
            .or_else(|| hidden_thinking(scenario, dialect))
            .or_else(|| searches::impossible(scenario, dialect))
            .or_else(|| malformations::impossible(scenario, dialect))
            .or_else(|| given::impossible(scenario, dialect))
            .or_else(|| providers::impossible(scenario, dialect))
            .or_else(|| compactions::impossible(scenario))
            .or_else(|| self.notes.iter().find_map(|noted| noted.impossible.clone()))
    }
}

/// Builds one turn.
fn turn(
    table: &mut CallTable<'_>,
    index: usize,
    said: &Turn,
    live_prompts: &[usize],
) -> (PlannedTurn, TurnNotes) {
    let mut replies: Vec<PlannedReply> = said.replies.iter().map(|reply| table.reply(reply)).collect();
    let context = TurnContext { table, turn: index, replies: &replies };
    let (mut unresolved, mut unordered) = (Problems::default(), Problems::default());
    let mut actions = actions::resolve(context, live_prompts, &said.at, &mut unresolved);
    let order = settle::order(context, &said.settle, &actions, &mut unordered);
    let lacking = feasibility::lacking(context, &actions);
    let has_all_points = lacking.is_none();
    let impossible = lacking.or_else(|| feasibility::behind_the_end(context, &actions));
    actions.extend(endings::finish(context, &actions));
    let mut settle = order.clone();
    for (reply, planned) in replies.iter_mut().enumerate() {
        ask_again(table, reply, planned, &actions, &mut settle);
    }
    let (process, dialect) = (said.process, table.other_dialect(index));
    let planned =
        PlannedTurn { process, dialect, settle, actions, ..PlannedTurn::new(said.user.clone(), replies) };
    let (unresolved, unordered) = (unresolved.first(), unordered.first());
    (planned, TurnNotes { order, unresolved, unordered, has_all_points, impossible })
}

/// Updates the list of turns that have their user messages in the history, after another turn.
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
            Change::Aside { .. }
            | Change::Thinking { .. }
            | Change::Provider { .. }
            | Change::Tools { .. } => {}
        }
    }
    if changes(false).any(|change| change.shortening().is_some()) {
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
fn other_profile(scenario: &Scenario, dialect: Dialect) -> Option<String> {
    let name = scenario.profile.as_ref()?;
    let profile = Profile::named(name)?;
    (profile.dialect != dialect).then(|| format!("the scenario is written for {name}"))
}

/// The reason why a scenario with thinking cannot be run, if the dialect never exposes thinking.
fn hidden_thinking(scenario: &Scenario, dialect: Dialect) -> Option<String> {
    let mut actions = scenario.turns.iter().flat_map(|turn| &turn.at).map(|at| &at.action);
    let is_switched = actions.any(|action| matches!(action, Action::Thinking(_)));
    let is_hidden = (scenario.thinks() || is_switched) && !wire::of(dialect).shows_thinking();
    is_hidden.then(|| format!("our {dialect} provider does not show the model's thinking"))
}

/// The capabilities that the scenario lists, and those that everything except its tools needs.
fn needs(scenario: &Scenario, dialect: Dialect, turns: &[PlannedTurn]) -> Vec<Need> {
    let mut needs = scenario.needs.clone();
    needs.extend(malformations::needs(scenario, dialect));
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
            PlannedPoint::Compaction(_, side) => side == Side::After,
            _ => false,
        };
        needs.extend(action.what.spec().needs);
        if action.what.changes_history() && action.at != PlannedPoint::Prompt {
            needs.push(match action.what {
                Action::Tools(_) => Need::ToolChangesInTurn,
                _ => Need::ChangeInFlight,
            });
        }
        if in_stream {
            needs.push(Need::Streaming);
        }
        if in_stream && matches!(action.what, Action::Settle(_)) {
            needs.push(Need::EagerTools);
        }
    }
    needs
}
