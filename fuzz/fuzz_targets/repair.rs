//! Any conversation is repaired as promised: a sound one stays byte for byte, one that can be mended is accepted after it,
//! twice is once, and nothing is lost or made up.
#![no_main]

use brickbat_rules::histories::generate::Outline;
use brickbat_sessions::oracle;

libfuzzer_sys::fuzz_target!(|outline: Outline| {
    if let Err(wrong) = oracle::outcome_of(&outline.history()) {
        panic!("{wrong}");
    }
});
