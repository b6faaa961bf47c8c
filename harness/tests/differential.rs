//! The random histories on which the rules of `mistral` are compared with Mistral's own validator.
//! `oracles.rs` makes the comparison; this test checks that the histories are varied enough for it.

mod histories;

use std::collections::BTreeSet;

use brickbat_rules::dialect::Dialect;
use brickbat_rules::{self as rules, Profile, Rule};
use histories::all;
use serde_json::Value;

/// A comparison shows nothing about a rule that no history breaks.
#[test]
fn the_histories_keep_and_break_every_rule_that_the_validator_knows() {
    let bodies: Vec<Value> = all(4000).collect();
    let mut broken = BTreeSet::new();
    for version in ["v3", "v7", "v11", "v13"] {
        let profile = Profile::named(&format!("mistral-{version}")).unwrap();
        let refusals = bodies.iter().map(|body| rules::validate_value(profile, body));
        let refused: Vec<_> = refusals.filter_map(|found| Some(rules::refusal(&found)?.rule.id)).collect();
        let share = refused.len() * 100 / bodies.len();
        assert!((30..70).contains(&share), "{version} refuses {share} %");
        broken.extend(refused);
    }
    let known = Rule::all().filter(|rule| rule.dialect() == Dialect::Mistral).map(|rule| rule.id);
    let missing: Vec<_> = known.filter(|id| !broken.contains(id) && !UNKNOWN_TO_IT.contains(id)).collect();
    assert!(missing.is_empty(), "no history is refused for {missing:?}");
}

/// Rules that only the API enforces, or that no history with the right types can break.
const UNKNOWN_TO_IT: [&str; 3] =
    ["mistral/body-not-json", "mistral/assistant-message-empty", "mistral/input-not-enabled"];
