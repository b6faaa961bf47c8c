//! Checks that a scenario written as YAML is read back unchanged.
#![no_main]

use brickbat_search::{generate, oracle};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let scenario = generate::decode(bytes);
    if oracle::plan(&scenario).is_some()
        && let Some(wrong) = oracle::round_trip(&scenario)
    {
        panic!("{wrong}");
    }
});

brickbat_search::mutate_scenarios!();
