//! The schema that editors use is the one of the types.

use std::path::Path;

#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/scenario.schema.json");
    let mut current = serde_json::to_string_pretty(&brickbat::parse::schema()).unwrap();
    current.push('\n');
    if std::env::var_os("BRICKBAT_UPDATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "scenarios/scenario.schema.json is out of date; run `BRICKBAT_UPDATE=1 cargo test --test schema`"
    );
}
