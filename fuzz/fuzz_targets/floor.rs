//! The baseline for the speed of `agent`: only parses the JSON of an input, four times.
#![no_main]

use serde_json::Value;

/// The harness parses the scenario once, and the JSON sent and stored in its plan several times.
const N_TIMES: usize = 4;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for _ in 0..N_TIMES {
        std::hint::black_box(serde_json::from_slice::<Value>(bytes).ok());
    }
});

brickbat_search::mutate_scenarios!();
