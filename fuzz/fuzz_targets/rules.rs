//! Any bytes get a bounded answer from every profile, and every violation can be said in the provider's envelope.
#![no_main]

use brickbat::rules::{self, MAX_VIOLATIONS, Profile, Severity};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for profile in Profile::all() {
        let violations = rules::validate(profile, bytes);
        assert!(violations.len() <= 2 * MAX_VIOLATIONS);
        for violation in &violations {
            assert_eq!(violation.rule.dialect(), profile.dialect);
            assert!(violation.envelope("req_1").is_object());
        }
        let refused = violations.iter().any(|violation| violation.severity == Severity::Error);
        assert_eq!(refused, rules::refusal(&violations).is_some());
    }
});
