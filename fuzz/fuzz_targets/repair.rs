//! Checks the promises of the repair for any conversation: a valid one stays the same byte for byte, a repairable one is
//! accepted afterwards, a second repair changes nothing, and no content is lost or invented.
#![no_main]

use brickbat_rules::histories::generate::Outline;
use brickbat_sessions::oracle;

libfuzzer_sys::fuzz_target!(|outline: Outline| {
    if let Err(wrong) = oracle::outcome_of(&outline.history()) {
        panic!("{wrong}");
    }
});
