//! Checks that no finding is reported against the reference agent.
#![no_main]

use brickbat_scenario::yaml;
use brickbat_search::{generate, oracle};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let scenario = generate::decode(bytes);
    if let Some(plan) = oracle::plan(&scenario)
        && let Some(wrong) = oracle::accusation(&plan)
    {
        panic!("{wrong}\n{}", yaml::text(&scenario));
    }
});

brickbat_search::mutate_scenarios!();
