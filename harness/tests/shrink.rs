//! Shrinking, on planted bugs in the simulation.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::path::Path;

use crate::simulated::causes;
use brickbat_engine::flaws::Canary;
use brickbat_engine::triage::Signature;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::parse;
use brickbat_scenario::scenario::{Action, Scenario};
use brickbat_scenario::yaml;
use brickbat_search::shrink::{Accused, Setting, Shrinker, shrink, singles, size};
use serde_json::Value;

const BUDGET: usize = 400;

const CHAT: Setting<'static> =
    Setting { id: "found", dialect: Dialect::OpenaiChat, seed: 0, accused: Accused::System };

const MESSAGES: Setting<'static> =
    Setting { id: "found", dialect: Dialect::AnthropicMessages, seed: 0, accused: Accused::System };

/// A long conversation with much before and after, and a gap for the turns of another scenario.
const AROUND: &str = include_str!("scenarios/long-conversation.yaml");

fn read(text: &str) -> Vec<Scenario> {
    let variants = parse::parse("x.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    variants.into_iter().map(|variant| variant.scenario).collect()
}

/// Every variant of every built-in scenario that begins from an empty store.
fn built_in() -> Vec<Scenario> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let folders = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    let all = files.iter().flat_map(|path| read(&std::fs::read_to_string(path).unwrap()));
    all.filter(|scenario| scenario.given.is_none()).collect()
}

/// A scenario in the middle of a long conversation.
fn in_long_conversation(inner: &Scenario) -> Scenario {
    let mut long = read(AROUND).remove(0);
    let mut inner = inner.clone();
    let before = long.turns.len() / 2;
    for turn in &mut inner.turns {
        for at in &mut turn.at {
            if let Action::Rewind(number) = &mut at.action {
                *number += before as u32;
            }
        }
    }
    long.turns.splice(before..before, inner.turns);
    long.tools.extend(inner.tools);
    long.expect.executed.extend(inner.expect.executed);
    (long.limits, long.needs, long.profile) = (inner.limits, inner.needs, inner.profile);
    long.class = inner.class;
    long
}

/// True if a scenario belongs to the class of a planted bug.
fn is_of(scenario: &Scenario, canary: Canary) -> bool {
    canary.class().is_none_or(|class| scenario.class.iter().any(|own| own == class))
}

/// The finding, in a scenario, of the checker that is meant for a planted bug.
fn meant(scenario: &Scenario, setting: &Setting<'_>, canary: Canary) -> Option<Signature> {
    let mut found = causes(scenario, setting, Some(canary)).into_iter();
    found.find(|signature| signature.check == canary.caught_by())
}

/// For each planted bug, a long scenario that shows it, with its cause.
fn found() -> Vec<FoundOne> {
    let long: Vec<Scenario> = built_in().iter().map(in_long_conversation).collect();
    let mut found = Vec::new();
    // Every other one, which is enough for a median and takes half as long.
    for canary in Canary::all().step_by(2) {
        let settings = [CHAT, MESSAGES].into_iter();
        let mut shown =
            settings.filter(|setting| canary.senseless_in(setting.dialect).is_none()).flat_map(|setting| {
                let of_class = long.iter().filter(|scenario| is_of(scenario, canary));
                of_class
                    .filter(move |scenario| setting.is_valid(scenario))
                    .find_map(move |scenario| Some((setting, scenario, meant(scenario, &setting, canary)?)))
            });
        if let Some((setting, scenario, signature)) = shown.next() {
            found.push((canary, setting, scenario.clone(), signature));
        }
    }
    found
}

/// A planted bug, the setting and the scenario that show it, and the cause.
type FoundOne = (Canary, Setting<'static>, Scenario, Signature);

#[test]
fn a_scenario_of_forty_elements_is_shrunk_in_under_sixty_runs() {
    let mut runs = Vec::new();
    for (at, (canary, setting, scenario, signature)) in found().into_iter().enumerate() {
        assert!(size(&scenario) >= 40, "{}: {} elements", canary.name(), size(&scenario));
        let shows = |candidate: &Scenario| causes(candidate, &setting, Some(canary)).contains(&signature);
        let shrunk = shrink(&scenario, setting, BUDGET, shows);
        let smallest = shrunk.smallest();
        assert!(shrunk.is_minimal() && shows(smallest), "{}", yaml::text(smallest));
        // This takes as long as all the rest, and a third of them is enough.
        if at % 3 == 0 {
            assert_minimal(smallest, &setting, shows);
        }
        let (before, after) = (size(&scenario), size(smallest));
        println!("{}: {before} elements to {after} in {} runs", canary.name(), shrunk.n_runs());
        runs.push(shrunk.n_runs());
    }
    runs.sort_unstable();
    println!("runs: {runs:?}");
    assert!(runs.len() > 30, "{} canaries", runs.len());
    assert!(runs[runs.len() / 2] < 60, "{runs:?}");
}

/// Checks that the cause disappears without any single element: of our own elements, and of the parts of the
/// text.
#[track_caller]
fn assert_minimal(smallest: &Scenario, setting: &Setting<'_>, shows: impl Fn(&Scenario) -> bool) {
    for (edit, less) in singles(smallest) {
        let goes = less != *smallest && setting.is_valid(&less) && shows(&less);
        assert!(!goes, "{edit:?} can go from\n{}", yaml::text(smallest));
    }
    let whole = serde_json::to_value(smallest).unwrap();
    for pointer in parts(&whole) {
        let mut less = whole.clone();
        remove(&mut less, &pointer);
        let Ok(less) = serde_json::from_value::<Scenario>(less) else { continue };
        let goes = less != *smallest && setting.is_valid(&less) && shows(&less);
        assert!(!goes, "{pointer} can go from\n{}", yaml::text(smallest));
    }
}

/// Every item of a list and every key of a map that describes what happens.
fn parts(whole: &Value) -> Vec<String> {
    let mut todo: Vec<(String, &Value)> = ["turns", "tools", "expect", "limits"]
        .iter()
        .filter_map(|key| Some((format!("/{key}"), whole.get(key)?)))
        .collect();
    let mut parts = Vec::new();
    while let Some((pointer, value)) = todo.pop() {
        let inner: Vec<(String, &Value)> = match value {
            Value::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect()
            }
            Value::Object(keys) => keys.iter().map(|(key, value)| (key.clone(), value)).collect(),
            _ => Vec::new(),
        };
        for (step, value) in inner {
            // Fewer deltas than the default do not make a scenario smaller.
            if step != "deltas" {
                parts.push(format!("{pointer}/{step}"));
            }
            todo.push((format!("{pointer}/{step}"), value));
        }
    }
    parts
}

fn remove(whole: &mut Value, pointer: &str) {
    let (parent, step) = pointer.rsplit_once('/').unwrap();
    match whole.pointer_mut(parent).unwrap() {
        Value::Array(items) => drop(items.remove(step.parse().unwrap())),
        Value::Object(keys) => drop(keys.shift_remove(step)),
        other => panic!("{other} has no parts"),
    }
}

fn one(name: &str) -> FoundOne {
    let canary = Canary::from_name(name).unwrap();
    let of_class = built_in().into_iter().filter(|scenario| is_of(scenario, canary));
    let mut long =
        of_class.map(|scenario| in_long_conversation(&scenario)).filter(|long| CHAT.is_valid(long));
    long.find_map(|scenario| {
        let signature = meant(&scenario, &CHAT, canary)?;
        Some((canary, CHAT, scenario, signature))
    })
    .unwrap()
}

#[test]
fn the_number_of_jobs_changes_only_the_number_of_runs() {
    let (canary, setting, scenario, signature) = one("second-batch-dangles");
    let shows = |candidate: &Scenario| causes(candidate, &setting, Some(canary)).contains(&signature);
    let alone = shrink(&scenario, setting, BUDGET, shows);
    assert_eq!(alone.smallest(), shrink(&scenario, setting, BUDGET, shows).smallest());
    for at_once in [2, 8] {
        let mut seen = Vec::new();
        let mut shrinker = Shrinker::new(&scenario, setting, BUDGET);
        loop {
            let candidates = shrinker.candidates(at_once);
            if candidates.is_empty() {
                break;
            }
            assert!(candidates.len() <= at_once);
            assert!(
                candidates.iter().all(|candidate| setting.is_valid(candidate) && !seen.contains(candidate))
            );
            seen.extend(candidates.iter().cloned());
            shrinker.report(&candidates.iter().map(shows).collect::<Vec<bool>>());
        }
        assert!(shrinker.is_minimal());
        assert_eq!(yaml::text(shrinker.smallest()), yaml::text(alone.smallest()), "{at_once} at once");
        assert!(shrinker.n_runs() >= alone.n_runs() && shrinker.n_runs() == seen.len());
    }
}

#[test]
fn the_budget_is_kept_and_the_result_shows_the_cause() {
    let (canary, setting, scenario, signature) = one("second-batch-dangles");
    let shows = |candidate: &Scenario| causes(candidate, &setting, Some(canary)).contains(&signature);
    let mut sizes = Vec::new();
    for budget in [0, 1, 5, 20] {
        let mut n_runs = 0;
        let shrunk = shrink(&scenario, setting, budget, |candidate| {
            n_runs += 1;
            shows(candidate)
        });
        assert_eq!((n_runs, shrunk.n_runs(), shrunk.is_minimal()), (budget, budget, false));
        assert!(shows(shrunk.smallest()));
        sizes.push(size(shrunk.smallest()));
    }
    assert!(
        sizes[0] == size(&scenario) && sizes.is_sorted_by(|a, b| a >= b) && sizes[3] < sizes[0],
        "{sizes:?}"
    );
}

/// An agent that drops the user's message of a failed turn also drops its results, if there are some.
#[test]
fn another_failure_on_the_way_does_not_count_as_the_cause() {
    let canary = Canary::from_name("prompt-lost").unwrap();
    let long = built_in().into_iter().map(|scenario| in_long_conversation(&scenario));
    let loses_both = |scenario: &Scenario| {
        let found = causes(scenario, &CHAT, Some(canary));
        let of = |check: &str| found.iter().find(|signature| signature.check == check).cloned();
        of("user-message-kept").and_then(|_| of("results-kept"))
    };
    let (scenario, signature) = long
        .filter(|long| CHAT.is_valid(long))
        .find_map(|long| Some((long.clone(), loses_both(&long)?)))
        .unwrap();
    let mut n_others = 0;
    let shrunk = shrink(&scenario, CHAT, BUDGET, |candidate| {
        let found = causes(candidate, &CHAT, Some(canary));
        n_others += usize::from(!found.is_empty() && !found.contains(&signature));
        found.contains(&signature)
    });
    assert!(n_others > 0, "no candidate failed for another cause");
    let smallest = shrunk.smallest();
    assert!(causes(smallest, &CHAT, Some(canary)).contains(&signature), "{}", yaml::text(smallest));
    assert!(yaml::text(smallest).contains("call:"), "{}", yaml::text(smallest));
}

#[test]
fn a_scenario_that_the_reference_agent_fails_is_never_returned() {
    let scenario = read(include_str!("scenarios/unfair.yaml")).remove(0);
    assert!(!CHAT.is_valid(&scenario));
    let mut shrinker = Shrinker::new(&scenario, CHAT, BUDGET);
    while let [candidate] = shrinker.candidates(1).as_slice() {
        assert!(!candidate.expect.executed.contains_key("a"), "{}", yaml::text(candidate));
        shrinker.report(&[false]);
    }
    assert!(shrinker.n_runs() > 0);
}
