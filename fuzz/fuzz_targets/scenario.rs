//! What is written of a scenario that can be played is read again as it was.
#![no_main]

use brickbat::{generate, oracle};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let scenario = generate::decode(bytes);
    if oracle::plan(&scenario).is_some() {
        oracle::round_trip(&scenario).unwrap_or_else(|told| panic!("{told}"));
    }
});

brickbat::mutate_scenarios!();
