//! The plans of the built-in suite.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::path::Path;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::{Mark, Plan, PlannedPoint, Side};
use brickbat_scenario::wire;

/// The plans of each scenario file that its dialect can play, by the scenario's name.
pub fn built_in() -> Vec<(String, Vec<Plan>)> {
    let mut all = lowered();
    all.iter_mut().for_each(|(_, plans)| plans.retain(|plan| plan.impossible.is_none()));
    all
}

/// The plans of each scenario file, by the scenario's name.
pub fn lowered() -> Vec<(String, Vec<Plan>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let folders = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let is_scenario = |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending == "yaml");
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).filter(is_scenario).collect();
    files.sort();
    let plans = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(&root).unwrap().with_extension("").to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(path).unwrap();
        let folder = path.parent().unwrap();
        let file_of = |file: &str| std::fs::read_to_string(folder.join(file));
        let plans = lower::plans_with(&name, &name, &text, &Dialect::ALL, 0, &file_of);
        (name, plans.unwrap_or_else(|diagnostic| panic!("{diagnostic}")))
    };
    files.iter().map(plans).collect()
}

/// The points inside a turn of a plan (from 0): the marks of each attempt of each reply, then the starts,
/// then the results.
pub fn points(plan: &Plan, turn: usize) -> Vec<PlannedPoint> {
    let planned = &plan.turns[turn];
    let mut points = Vec::new();
    let mut started = Vec::new();
    for (reply, said) in planned.replies.iter().enumerate() {
        for (attempt, script) in said.attempts.iter().enumerate() {
            let at = |mark, side| PlannedPoint::Stream { reply, attempt, mark, side };
            points.push(at(Mark::Headers, Side::Before));
            let marks = wire::marks(plan.dialect, script, &plan.calls).into_iter();
            points.extend(marks.map(|mark| at(mark, Side::After)));
            started.extend(script.calls());
        }
    }
    let n_calls = planned.replies.iter().map(|reply| reply.n_calls()).sum();
    let asked = started.iter().copied().filter(|key| plan.calls[key.0 as usize].asks);
    points.extend(asked.map(PlannedPoint::Asked));
    points.extend(started.iter().copied().map(PlannedPoint::Started));
    points.extend((1..=n_calls).map(PlannedPoint::StartedCount));
    points.extend((0..=n_calls).filter(|_| n_calls > 0).map(PlannedPoint::SettledCount));
    points.extend(started.into_iter().map(|key| PlannedPoint::Settled(key, Side::Before)));
    points
}

/// The canary of that name.
pub fn canary(name: &str) -> brickbat_engine::flaws::Canary {
    brickbat_engine::flaws::Canary::from_name(name).unwrap()
}
