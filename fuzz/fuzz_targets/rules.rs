//! Checks that every profile gives a bounded answer to any bytes, and that every violation fits in the provider's error
//! envelope. The dialect is detected, or otherwise chosen by the input's length.
#![no_main]

use brickbat_rules::dialect::Dialect;
use brickbat_rules::{self as rules, MAX_VIOLATIONS, Profile, Severity};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let chosen = Dialect::ALL[bytes.len() % Dialect::ALL.len()];
    let dialect = rules::detect(bytes).unwrap_or(chosen);
    for profile in Profile::all().filter(|profile| profile.dialect == dialect) {
        let violations = rules::validate(profile, bytes);
        assert!(violations.len() <= 2 * MAX_VIOLATIONS);
        for violation in &violations {
            assert_eq!(violation.rule.dialect(), dialect);
            assert!(violation.envelope("req_1").is_object());
        }
        let refused = violations.iter().any(|violation| violation.severity == Severity::Error);
        assert_eq!(refused, rules::refusal(&violations).is_some());
    }
});
