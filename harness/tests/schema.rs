//! Compares the committed schemas, which editors and readers of reports use, with the types.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::path::Path;

use brickbat_scenario::verdict::{Severity, Verdict};
use serde_json::Value;

#[test]
fn the_committed_schema_of_scenarios_is_current() {
    is_current("scenarios/scenario.schema.json", &brickbat_scenario::parse::schema());
}

#[test]
fn the_committed_schema_of_given_histories_is_current() {
    is_current("scenarios/given-history.schema.json", &brickbat_scenario::parse::history_schema());
}

#[test]
fn the_committed_schema_of_reports_is_current() {
    is_current("harness/report/report.schema.json", &brickbat_report::report::schema());
}

#[test]
fn the_committed_schema_of_vectors_is_current() {
    is_current("corpora/histories/vector.schema.json", &brickbat_rules::lint::schema());
}

#[cfg(feature = "cli")]
#[test]
fn the_committed_schema_of_the_adapter_protocol_is_current() {
    is_current("harness/systems/protocol.schema.json", &brickbat_drive::driver::protocol::schema());
}

#[cfg(feature = "cli")]
#[test]
fn the_committed_schemas_of_manifests_and_baselines_are_current() {
    is_current("harness/systems/system.schema.json", &brickbat_drive::driver::manifest::schema());
    is_current("harness/systems/baseline.schema.json", &brickbat_report::baseline::schema());
}

/// Every key of the built-in manifests and baselines is in the schema, so an editor does not mark it.
#[cfg(feature = "cli")]
#[test]
fn the_schemas_know_every_key_of_the_built_in_manifests_and_baselines() {
    use brickbat_drive::driver::manifest;
    let schemas =
        [("system.yaml", manifest::schema()), ("baseline.yaml", brickbat_report::baseline::schema())];
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/systems");
    let mut n_files = 0;
    for entry in std::fs::read_dir(systems).unwrap() {
        for (name, schema) in &schemas {
            let file = entry.as_ref().unwrap().path().join(name);
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let value: Value = serde_saphyr::from_str(&text).unwrap();
            let properties = schema["properties"].as_object().unwrap();
            let unknown: Vec<&String> =
                value.as_object().unwrap().keys().filter(|key| !properties.contains_key(*key)).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", file.display());
            let required = schema["required"].as_array().unwrap();
            let missing: Vec<&Value> =
                required.iter().filter(|key| value.get(key.as_str().unwrap()).is_none()).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", file.display());
            n_files += 1;
        }
    }
    assert!(n_files > 40, "{n_files}");
}

#[cfg(feature = "cli")]
#[test]
fn the_examples_of_the_adapter_protocol_are_read() {
    use brickbat_drive::driver::protocol::{About, OutcomeMessage, SessionSpec};
    use brickbat_engine::events::{Consumed, Event};
    use serde::de::DeserializeOwned;

    fn reads<T: DeserializeOwned>(text: &str) -> bool {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>().peekable();
        values.peek().is_some() && values.all(|value| value.is_ok())
    }
    let page = include_str!("../systems/README.md");
    let examples: Vec<&str> =
        page.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [about, session, events, told, outcome] = examples[..] else { panic!("{examples:#?}") };
    let fed: Value = serde_json::from_str(events).unwrap();
    let answer: Value = serde_json::from_str(told).unwrap();
    assert!(
        reads::<Vec<Event>>(&fed["events"].to_string()) && reads::<Consumed>(&answer["told"].to_string())
    );
    assert!(!reads::<Consumed>(&fed.to_string()));
    assert!(reads::<About>(about) && reads::<SessionSpec>(session) && reads::<OutcomeMessage>(outcome));
    assert!(!reads::<About>(session) && !reads::<SessionSpec>(about) && !reads::<OutcomeMessage>(about));
}

fn is_current(path: &str, schema: &Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut current = serde_json::to_string_pretty(schema).unwrap();
    current.push('\n');
    if std::env::var_os("BRICKBAT_UPDATE").is_some() {
        std::fs::write(&file, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == current,
        "{path} is out of date; run `BRICKBAT_UPDATE=1 cargo test --test pure schema::`"
    );
}

#[test]
fn the_words_of_reports_are_those_of_the_schema() {
    let schema = brickbat_report::report::schema();
    let words = |name: &str| -> Vec<String> {
        let variants = schema["$defs"][name]["oneOf"].as_array().unwrap();
        variants.iter().map(|variant| variant["const"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(words("Verdict"), Verdict::ALL.map(Verdict::name));
    assert_eq!(words("Harm"), Severity::ALL.map(Severity::name));
}
