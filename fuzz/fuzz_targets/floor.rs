//! What `agent` is measured against: the JSON of an input is read four times, and nothing else is done.
#![no_main]

use serde_json::Value;

/// A scenario is read once, and what is sent and stored in its plan is read again and again.
const N_TIMES: usize = 4;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for _ in 0..N_TIMES {
        std::hint::black_box(serde_json::from_slice::<Value>(bytes).ok());
    }
});

brickbat::mutate_scenarios!();
