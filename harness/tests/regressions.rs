//! The regressions: the reference agent passes each, and the planted bug that it names fails it for the cause
//! that it names.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::simulated::causes;
use brickbat_engine::checks::CHECKS;
use brickbat_engine::flaws::Canary;
use brickbat_engine::triage::{Signature, file_name, kinds};
use brickbat_scenario::parse;
use brickbat_scenario::scenario::{Provenance, Scenario};
use brickbat_scenario::yaml;
use brickbat_search::shrink::{Accused, Setting, singles};

/// The minimum number of regressions.
const MIN_REGRESSIONS: usize = 3;

/// Every regression: its file, its text, and its parsed content.
fn all() -> Vec<(PathBuf, String, Scenario, Provenance)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/regressions");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let variants = parse::parse(&path.to_string_lossy(), &text);
        let mut variants = variants.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(variants.len(), 1, "{}", path.display());
        let scenario = variants.remove(0).scenario;
        let found = scenario.found.clone().unwrap_or_else(|| panic!("{}: no `found`", path.display()));
        (path, text, scenario, found)
    };
    files.into_iter().map(read).collect()
}

fn setting(found: &Provenance) -> Setting<'static> {
    Setting { id: "found", dialect: found.dialect, seed: found.seed, accused: Accused::System }
}

#[test]
fn the_reference_agent_passes_and_the_named_planted_bug_fails_for_the_named_cause() {
    let mut n_planted = 0;
    for (path, _, scenario, found) in all() {
        let setting = setting(&found);
        assert!(setting.is_valid(&scenario), "{}: the reference agent does not pass", path.display());
        assert_eq!(causes(&scenario, &setting, None), [], "{}", path.display());
        let Some(name) = &found.canary else { continue };
        let canary = Canary::from_name(name).unwrap_or_else(|| panic!("{}: {name}", path.display()));
        let shown = causes(&scenario, &setting, Some(canary));
        let cause = Signature::of_found(&found);
        assert!(shown.iter().any(|shown| cause.is_like(shown)), "{}: {shown:#?}", path.display());
        n_planted += 1;
    }
    assert!(n_planted >= MIN_REGRESSIONS, "only {n_planted} name a planted bug");
}

#[test]
fn no_single_element_of_a_regression_can_go() {
    for (path, _, scenario, found) in all() {
        let (setting, cause) = (setting(&found), Signature::of_found(&found));
        let Some(canary) = found.canary.as_deref().and_then(Canary::from_name) else { continue };
        for (edit, less) in singles(&scenario) {
            let shows = less != scenario
                && setting.is_valid(&less)
                && causes(&less, &setting, Some(canary)).iter().any(|shown| cause.is_like(shown));
            assert!(!shows, "{}: {edit:?} can go", path.display());
        }
    }
}

#[test]
fn each_regression_is_canonical_named_after_its_cause_and_unique() {
    let mut causes = BTreeMap::new();
    for (path, text, scenario, found) in all() {
        assert_eq!(yaml::text(&scenario), text, "{}", path.display());
        let cause = Signature::of_found(&found);
        assert!(CHECKS.iter().any(|check| check.id == cause.check), "{}", path.display());
        assert_eq!(path.file_name().unwrap().to_str().unwrap(), file_name(&cause, &scenario));
        let other = causes.insert((cause, kinds(&scenario)), path.clone());
        assert_eq!(other, None, "of one cause with {}", path.display());
    }
    assert!(causes.len() >= MIN_REGRESSIONS);
}
