//! The options on the page.

use brickbat_rules::{DIALECT_SIGNS, Profile, hosts};
use serde_json::{Value, json};

/// Returns dialects with their distinguishing features, profiles, and hosts.
pub(crate) fn catalogue() -> Value {
    let dialects: Vec<Value> = DIALECT_SIGNS
        .iter()
        .map(|(dialect, signs)| json!({ "name": dialect.to_string(), "signs": signs }))
        .collect();
    let profiles: Vec<Value> = Profile::all()
        .map(|profile| json!({ "name": profile.name, "dialect": profile.dialect.to_string() }))
        .collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "max_text": crate::MAX_TEXT,
        "dialects": dialects,
        "profiles": profiles,
        "hosts": hosts().collect::<Vec<&str>>(),
    })
}
