//! Checks that a body that `check --fix` has fixed is accepted, whatever the body was.
#![no_main]

use brickbat_rules::{Dialect, Profile};
use brickbat_sessions::{RepairOptions, fix_body};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let options = RepairOptions { tail: true, ..RepairOptions::default() };
    for dialect in Dialect::ALL {
        let profile = Profile::newest(dialect);
        if let Ok(Some(Ok(fixed))) = fix_body(bytes, &options, profile) {
            let again = fix_body(&fixed.body, &options, profile);
            assert!(matches!(again, Ok(None)), "{}", dialect.name());
        }
    }
});
