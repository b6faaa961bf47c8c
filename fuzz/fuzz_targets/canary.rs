//! Checks that the harness can judge an agent with any planted bug. If `BRICKBAT_CANARY` names a bug, only that bug is
//! planted, and a crash means that it was found.
#![no_main]

use std::sync::LazyLock;

use brickbat_engine::flaws::Canary;
use brickbat_scenario::verdict::Verdict;
use brickbat_scenario::yaml;
use brickbat_search::{generate, oracle};

static PLANTED: LazyLock<Option<Canary>> =
    LazyLock::new(|| Canary::from_name(&std::env::var("BRICKBAT_CANARY").ok()?));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let scenario = generate::decode(bytes);
    let Some(plan) = oracle::plan(&scenario) else { return };
    if let Some(canary) = *PLANTED {
        assert!(oracle::caught(&plan, &[canary]).is_empty(), "found:\n{}", yaml::text(&scenario));
        return;
    }
    let chosen = bytes.iter().fold(bytes.len(), |sum, byte| sum + usize::from(*byte));
    let canary = Canary::all().nth(chosen % Canary::all().count());
    let judgement = oracle::judgement(&plan, canary);
    assert_ne!(judgement.verdict, Verdict::HarnessError, "{:?}\n{}", judgement.reason, yaml::text(&scenario));
});

brickbat_search::mutate_scenarios!();
