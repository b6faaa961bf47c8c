//! Checks that `brickbat check` gives a bounded answer to any bytes.
#![no_main]

use brickbat_search::oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assert_eq!(oracle::check(bytes), None);
});
