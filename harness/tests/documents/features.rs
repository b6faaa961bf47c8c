//! The page of the features that providers have added, from the table of the rules.

use brickbat_rules::{Feature, FeatureState, Rule};

use super::blocks::table;
use super::*;

/// A table for each provider.
pub fn features() -> String {
    let mut text = String::new();
    for of_provider in Feature::all().chunk_by(|one, next| one.provider == next.provider) {
        let rows = of_provider.iter().map(|feature| {
            let Feature { name, since, release, what, source, read, .. } = feature;
            let state = match feature.plays {
                [] => feature.state().name().to_owned(),
                plays => format!("{}, played by {}", feature.state().name(), paths(plays)),
            };
            let known =
                if feature.rules.is_empty() { state } else { format!("{state}: {}", paths(feature.rules)) };
            vec![
                format!("[{name}]({source})"),
                format!("{since}, {release}"),
                (*what).to_owned(),
                known,
                (*read).to_owned(),
            ]
        });
        let head =
            ["feature", "first release of the SDK", "effect on a history", "in Brickbat", "source read on"];
        writeln!(text, "\n## {}\n\n{}", of_provider[0].provider, table(&head, rows).trim_end()).unwrap();
    }
    text
}

fn paths(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[test]
fn each_feature_is_known_as_its_row_says() {
    let mut names = BTreeSet::new();
    for feature in Feature::all() {
        let Feature { name, provider, since, read, source, what, .. } = feature;
        assert!(names.insert((provider, name)), "{provider}: {name} twice");
        let is_day = |text: &str| text.len() == 10 && text.starts_with("20") && text.split('-').count() == 3;
        assert!(is_day(since) && is_day(read) && since < read, "{name}: {since}, {read}");
        assert!(source.starts_with("https://") && what.ends_with('.'), "{name}");
        for rule in feature.rules {
            assert_eq!(Rule::find(rule).map(Rule::dialect), feature.dialect, "{name}: {rule}");
        }
        for vector in feature.vectors {
            let dialect = feature.dialect.expect("a feature with vectors has a dialect").name();
            assert!(accepts(dialect, vector), "{name}: no valid vector {vector}");
        }
        for scenario in feature.plays {
            assert!(root().join("scenarios").join(scenario).is_file(), "{name}: {scenario}");
        }
        assert_eq!(feature.dialect.is_none(), feature.state() == FeatureState::NotYet, "{name}");
    }
}

#[test]
fn features_are_grouped_by_provider_and_the_newest_comes_first() {
    let providers: Vec<&str> = Feature::all()
        .chunk_by(|one, next| one.provider == next.provider)
        .map(|all| all[0].provider)
        .collect();
    assert_eq!(providers.iter().collect::<BTreeSet<_>>().len(), providers.len(), "{providers:?}");
    for all in Feature::all().chunk_by(|one, next| one.provider == next.provider) {
        assert!(all.is_sorted_by(|one, next| one.since >= next.since), "{}", all[0].provider);
    }
}

/// Returns whether the accepted bodies or streams of a dialect have a valid vector of this name.
fn accepts(dialect: &str, name: &str) -> bool {
    ["histories", "streams"].iter().any(|kind| {
        let path = root().join(format!("corpora/{kind}"));
        files(&path.join(dialect)).iter().any(|file| {
            let vectors: serde_json::Value =
                serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            let vectors = vectors["vectors"].as_array().cloned().unwrap_or_default();
            vectors.iter().any(|vector| vector["name"] == name && vector["result"] != "invalid")
        })
    })
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}
