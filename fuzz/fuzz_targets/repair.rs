//! Any conversation is repaired as promised: a sound one stays byte for byte, twice is once, and nothing is lost.
#![no_main]

use brickbat_rules::Profile;
use brickbat_rules::histories::generate::Outline;
use brickbat_sessions::oracle;

libfuzzer_sys::fuzz_target!(|outline: Outline| {
    let history = outline.history();
    let body = history.request().body.to_string();
    let profile = Profile::newest(history.dialect);
    assert_eq!(oracle::wrong_with_body(body.as_bytes(), history.dialect, profile), None, "{body}");
});
