//! The checks of a scenario, in order. A check runs only if none before it has found a problem, so it may
//! rely on those before it.

use crate::scenario::Scenario;
use brickbat_rules::Profile;

use super::lowered::Lowered;
use super::points::BuiltTurn;
use super::problem::{Problem, Problems};
use super::{
    compactions, endings, feasibility, given, header, messages, position, processes, searches,
    sub_agent_turns, tool_changes, tools,
};

/// The checks of a scenario before its plan is built: its sizes and its names. Building relies on them.
const OF_SCENARIO: [fn(&Scenario, &mut Problems); 6] =
    [header::check, header::check_turns, tools::check, tool_changes::check, searches::check, given::check];

/// The checks of a plan that was built.
const OF_LOWERED: [fn(&Lowered<'_>, &mut Problems); 9] = [
    expected_calls,
    |built, problems| profile(built.scenario, problems),
    turns,
    |built, problems| endings::limit(built.scenario, built.written(), problems),
    |built, problems| messages::unique(built.written(), problems),
    |built, problems| messages::rewound(built.scenario, problems),
    |built, problems| processes::check(built.written(), problems),
    |built, problems| feasibility::outlived(&built.table, built.written(), problems),
    |built, problems| sub_agent_turns::check_words(built.scenario, &built.turns, problems),
];

/// The checks of each turn, which run turn by turn.
const OF_TURN: [fn(BuiltTurn<'_>, &mut Problems); 6] = [
    feasibility::too_soon,
    |turn, problems| turn.unordered.into_iter().for_each(|problem| problems.add(problem.clone())),
    feasibility::check,
    endings::check,
    compactions::check,
    sub_agent_turns::check_turn,
];

/// The first problem of a scenario before its plan is built.
pub(super) fn of_scenario(scenario: &Scenario) -> Option<Problem> {
    first(OF_SCENARIO.into_iter().map(|check| move |problems: &mut Problems| check(scenario, problems)))
}

/// The first problem of a plan that was built.
pub(super) fn of_lowered(built: &Lowered<'_>) -> Option<Problem> {
    first(OF_LOWERED.into_iter().map(|check| move |problems: &mut Problems| check(built, problems)))
}

fn first(mut checks: impl Iterator<Item = impl FnOnce(&mut Problems)>) -> Option<Problem> {
    checks.find_map(|check| {
        let mut problems = Problems::default();
        check(&mut problems);
        problems.first()
    })
}

fn turns(built: &Lowered<'_>, problems: &mut Problems) {
    built.built().find_map(of_turn).into_iter().for_each(|problem| problems.add(problem));
}

fn of_turn(turn: BuiltTurn<'_>) -> Option<Problem> {
    if turn.unresolved.is_some() || !turn.has_all_points {
        return turn.unresolved.cloned();
    }
    first(OF_TURN.into_iter().map(|check| move |problems: &mut Problems| check(turn, problems)))
}

/// Rejects expectations about unknown calls.
fn expected_calls(built: &Lowered<'_>, problems: &mut Problems) {
    for name in built.scenario.expect.executed.keys().filter(|name| built.table.find(name).is_none()) {
        let pointer = format!("/expect/executed/{}", position::step(name));
        let known = built.table.written_names();
        problems.add(Problem::unknown(pointer, "call", name, "the calls are", &known));
    }
}

/// Rejects an unknown profile.
fn profile(scenario: &Scenario, problems: &mut Problems) {
    if let Some(name) = scenario.profile.as_ref().filter(|name| Profile::named(name).is_none()) {
        let known: Vec<&str> = Profile::all().map(|profile| profile.name).collect();
        problems.add(Problem::unknown("/profile", "profile", name, "the profiles are", &known));
    }
}
