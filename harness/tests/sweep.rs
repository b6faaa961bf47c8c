//! Generated scenarios, the same on every machine: the reference agent is accused of nothing, planted bugs
//! are found, and every scenario can be written down.

use std::collections::BTreeMap;

use brickbat_engine::flaws::Canary;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::Verdict;
use brickbat_scenario::yaml;
use brickbat_search::generate::{self, Generated, Source, cross, mutate};
use brickbat_search::oracle;
use proptest::prelude::*;

/// Scenarios of the sweep.
const N_SCENARIOS: u64 = 2_000;

/// The most scenarios on which a planted bug is tried. Some bugs show in only one of 600.
const N_FOR_ALL: u64 = 6_000;

/// Planted bugs that [`N_FOR_ALL`] scenarios do not find. They need several things at once, a broken store, a
/// thread that is broken from the start, a profile, or something that is not generated.
const DEEP: [&str; 24] = [
    "asked-kill-loses-siblings",
    "empty-arguments-kept",
    "empty-reply-kept",
    "foreign-id-kept",
    "heals-the-end-alone",
    "large-results-kept",
    "last-result-apart",
    "no-word-after-results",
    "overflow-cuts-pair",
    "picture-kept",
    "prompt-before-results",
    "provider-ids-kept",
    "provider-thoughts-kept",
    "reasoning-unsealed",
    "repair-adds-result",
    "result-surrogate-kept",
    "sub-agent-error-unheard",
    "sub-agent-in-batch",
    "sub-agent-takes-over",
    "summary-cuts-arguments",
    "thinking-forgotten",
    "thinking-unsigned",
    "trim-starts-with-call",
    "trim-starts-with-words",
];

#[test]
fn the_reference_agent_is_accused_of_nothing_in_any_generated_scenario() {
    let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..N_SCENARIOS {
        let scenario = generate::scenario(seed);
        let Some(plan) = oracle::plan(&scenario) else { continue };
        let judgement = oracle::judgement(&plan, None);
        let is_accused =
            !matches!(judgement.verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Unreachable);
        assert!(
            !is_accused,
            "seed {seed} on {}: {:?}\n{}",
            plan.dialect,
            judgement.findings,
            yaml::text(&scenario)
        );
        *verdicts.entry(judgement.verdict.name()).or_default() += 1;
    }
    let n_played: u64 = verdicts.values().sum();
    assert!(100 * n_played > 83 * N_SCENARIOS, "few can be played: {verdicts:?}");
    assert!(10 * verdicts[Verdict::Pass.name()] > 9 * n_played, "much is not proven: {verdicts:?}");
}

/// Scenarios in which fuzzing once accused the reference agent because a checker or the simulation was wrong.
#[test]
fn former_false_accusations_of_the_reference_agent_stay_fixed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/accusations");
    let mut n_played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let variants = brickbat_scenario::parse::parse(&path.to_string_lossy(), &text);
        let scenario = variants.unwrap_or_else(|error| panic!("{error}")).remove(0).scenario;
        for plan in Dialect::ALL.into_iter().filter_map(|dialect| oracle::plan_on(&scenario, dialect)) {
            assert_eq!(oracle::accusation(&plan), None, "{}", path.display());
            n_played += 1;
        }
    }
    assert!(n_played >= 40, "{n_played}");
}

#[test]
fn each_shallow_canary_is_found_in_a_generated_scenario() {
    let mut alive: Vec<Canary> = Canary::all().filter(|canary| !DEEP.contains(&canary.name())).collect();
    let n_shallow = alive.len();
    for seed in 0..N_FOR_ALL {
        if alive.is_empty() {
            break;
        }
        let Some(plan) = oracle::plan(&generate::scenario(seed)) else { continue };
        let caught = oracle::caught(&plan, &alive);
        alive.retain(|canary| !caught.contains(canary));
    }
    let alive: Vec<&str> = alive.iter().map(|canary| canary.name()).collect();
    assert_eq!(alive, [""; 0], "of {n_shallow}");
    assert!(n_shallow > 90);
}

#[test]
fn mutants_and_children_are_mostly_playable_and_seldom_equal_their_parent() {
    let (mut n_playable, mut n_changed) = (0, 0);
    let mut source = Source::seeded(1);
    let mut mother = generate::scenario(0);
    for seed in 1..=200 {
        let father = generate::scenario(seed);
        let child = match seed % 2 {
            0 => cross(&mother, &father, &mut source),
            _ => mutate::mutate(&mother, &mut source),
        };
        n_playable += u32::from(oracle::plan(&child).is_some());
        n_changed += u32::from(child != mother);
        mother = if oracle::plan(&child).is_some() { child } else { father };
    }
    assert!(n_playable > 150, "{n_playable}");
    assert!(n_changed > 180, "{n_changed}");
}

#[test]
fn a_generated_scenario_is_written_and_read_again() {
    let mut n_written = 0;
    for seed in 0..300 {
        let scenario = generate::scenario(seed);
        if oracle::plan(&scenario).is_some() {
            assert_eq!(oracle::round_trip(&scenario), None, "seed {seed}");
            n_written += 1;
        }
    }
    assert!(n_written > 250, "{n_written}");
}

/// The scenario of a fuzzer's bytes: shorter bytes, and smaller ones, make smaller scenarios.
fn of_bytes() -> impl Strategy<Value = Scenario> {
    prop::collection::vec(any::<u8>(), 0..512).prop_map(|bytes| generate::from_bytes(&bytes))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_scenario_of_any_bytes_has_an_answer(scenario in of_bytes(), seed in any::<u64>()) {
        let changed = mutate::mutate(&scenario, &mut Source::seeded(seed));
        for scenario in [scenario, changed] {
            prop_assert_eq!(&generate::decode(&generate::encode(&scenario)), &scenario);
            let plan = oracle::plan(&scenario);
            prop_assert!(plan.is_none_or(|plan| oracle::judgement(&plan, None).verdict != Verdict::HarnessError));
        }
    }

    #[test]
    fn bytes_are_what_arbitrary_makes_of_them(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        use arbitrary::{Arbitrary, Unstructured};
        let made = Generated::arbitrary(&mut Unstructured::new(&bytes)).map(|made| made.0);
        prop_assert_eq!(made.ok(), Some(generate::from_bytes(&bytes)));
    }
}
