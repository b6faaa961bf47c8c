//! Checks that no finding is reported against the reference agent.
#![no_main]

use brickbat::yaml;
use brickbat::{generate, oracle};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let scenario = generate::decode(bytes);
    if let Some(plan) = oracle::plan(&scenario)
        && let Some(wrong) = oracle::accusation(&plan)
    {
        panic!("{wrong}\n{}", yaml::text(&scenario));
    }
});

brickbat::mutate_scenarios!();
