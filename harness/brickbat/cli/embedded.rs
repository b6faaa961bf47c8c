//! The data built into the program: systems and filters, the catalogue of failure classes, event sequences and
//! rule vectors.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use include_dir::{Dir, DirEntry, include_dir};

use brickbat_drive::driver::catalogue::Files;
use brickbat_drive::driver::{Catalogue, FilterCatalogue};
use brickbat_engine::events::Sequence;
use brickbat_filter_suite::Bug;
use brickbat_rules::Dialect;
use brickbat_rules::explain::Counts;
use brickbat_rules::lint::VectorFile;

/// The files of each built-in system, as listed by `harness/brickbat/build.rs`.
const SYSTEMS: &[Files] = include!(concat!(env!("OUT_DIR"), "/systems.rs"));

/// The tasks that the documentation of each system leaves to the application.
const DUTIES: &str = include_str!("../../systems/duties.yaml");

/// The files of each built-in filter.
const FILTERS: &[Files] = include!(concat!(env!("OUT_DIR"), "/filters.rs"));

/// The catalogue of failure classes, as a file and its text.
pub const CLASSES: (&str, &str) = ("corpora/classes.yaml", include_str!("../../../corpora/classes.yaml"));

/// Event sequences from an SDK's own stream.
static EVENTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/corpora/events");

static VECTORS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/corpora/histories");

/// The known filter bugs.
static BUGS_OF_FILTERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/corpora/filters");

/// The known filter bugs, each with its file's path below the folder, in order.
pub fn bugs_of_filters() -> Vec<(String, Bug)> {
    let folders = BUGS_OF_FILTERS.entries().iter().filter_map(DirEntry::as_dir);
    let read = |file: &include_dir::File<'_>| {
        let place = file.path().to_string_lossy().into_owned();
        let known = Bug::read(file.contents_utf8().unwrap_or_default());
        // A test reads every embedded bug.
        let known = known.unwrap_or_else(|error| panic!("{place}: {error}"));
        (place, known)
    };
    let mut known: Vec<_> = folders.flat_map(Dir::files).map(read).collect();
    known.sort_by(|(one, _), (other, _)| one.cmp(other));
    known
}

/// The built-in sequences, by name.
pub fn sequences() -> Vec<(String, Sequence)> {
    let read = |file: &include_dir::File<'_>| {
        let name = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = file.contents_utf8().unwrap_or_default();
        (name, Sequence::parse("built-in", text).expect("a test reads every embedded sequence"))
    };
    let mut sequences: Vec<(String, Sequence)> = EVENTS.files().map(read).collect();
    sequences.sort_by(|one, other| one.0.cmp(&other.0));
    sequences
}

/// The built-in rule vectors, by the id of their rule. A test checks that all of them can be read.
pub fn vectors() -> BTreeMap<String, VectorFile> {
    let folders = VECTORS.entries().iter().filter_map(DirEntry::as_dir);
    let texts = folders.flat_map(Dir::files).filter_map(include_dir::File::contents_utf8);
    let files = texts.filter_map(|text| VectorFile::read(text).ok());
    files.filter_map(|file| Some((file.rule.clone()?, file))).collect()
}

/// The built-in vectors for a dialect, by file name.
pub fn vectors_by_file(dialect: Dialect) -> BTreeMap<String, VectorFile> {
    let folder = VECTORS.get_dir(dialect.name()).into_iter().flat_map(Dir::files);
    let read = |file: &include_dir::File<'_>| {
        let name = file.path().file_stem()?.to_string_lossy().into_owned();
        Some((name, VectorFile::read(file.contents_utf8()?).ok()?))
    };
    folder.filter_map(read).collect()
}

/// The counts from recordings for each rule. A test checks that they can be read.
pub fn counts() -> Counts {
    Counts::read(include_str!("../../../corpora/recordings.json")).unwrap_or_default()
}

/// The built-in systems.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| Catalogue::of(SYSTEMS, DUTIES).expect("a test reads every embedded manifest"))
}

/// The built-in filters.
pub fn filters() -> &'static FilterCatalogue {
    static CATALOGUE: OnceLock<FilterCatalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| FilterCatalogue::of(FILTERS).expect("a test reads every embedded manifest"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_drive::driver::BASELINE;
    use brickbat_drive::driver::catalogue::{ISSUE, SHEET, TEMPLATES};
    use brickbat_drive::driver::manifest::{FileSource, Install, Manifest};
    use brickbat_drive::runner::Probe;
    use brickbat_report::baseline::Baseline;
    use brickbat_rules::{Profile, Rule};

    #[test]
    fn the_counts_of_recordings_name_known_rules_and_profiles() {
        let counts = counts();
        assert_eq!(counts.schema, Counts::SCHEMA);
        for collection in &counts.collections {
            let place = &collection.source;
            assert!(collection.taken.keys().all(|name| Profile::named(name).is_some()), "{place}");
            assert!(collection.rules.keys().all(|id| Rule::find(id).is_some()), "{place}");
        }
    }

    #[test]
    fn each_entry_of_a_baseline_names_classes_of_the_catalogue() {
        for manifest in catalogue().manifests() {
            let Some(text) = manifest.text(BASELINE) else { continue };
            let baseline = Baseline::parse(&text, &manifest.name).unwrap();
            let named = baseline.entries.iter().flat_map(|entry| &entry.classes);
            assert_eq!(named.into_iter().find(|class| !is_class(class)), None, "{}", manifest.name);
        }
    }

    fn is_class(id: &str) -> bool {
        let classes = brickbat_report::classes::parse(CLASSES.1, CLASSES.0).unwrap();
        classes.iter().any(|class| class.id == id)
    }

    #[test]
    fn the_known_bugs_of_filters_name_known_filters_and_modes() {
        for (place, known) in bugs_of_filters() {
            assert!(
                place.starts_with(&format!("{}/", known.filter)),
                "{place} is in the folder of another filter"
            );
            let manifests = filters().manifests();
            let manifest =
                manifests.iter().find(|one| one.name == known.filter && one.version == known.version);
            let manifest =
                manifest.unwrap_or_else(|| panic!("{place}: no {}@{}", known.filter, known.version));
            assert!(known.route(&manifest.modes).is_some(), "{place}: no such mode, or not these dialects");
            let of_none = known.classes.iter().find(|class| !is_class(class));
            assert_eq!(of_none, None, "{place}");
            if let brickbat_filter_suite::Shows::Refused(rule) = &known.shows {
                assert!(Rule::find(rule).is_some(), "{place}: no rule `{rule}`");
            }
        }
    }

    #[test]
    fn every_built_in_system_is_complete() {
        for manifest in catalogue().manifests() {
            let name = manifest.full_name("…");
            assert!(manifest.command.len() > 1, "{name}");
            assert!(
                manifest.capabilities.is_some() && manifest.megabytes.is_some(),
                "{name}: its capabilities and requirements"
            );
            assert!(manifest.files.iter().all(|file| manifest.text(file).is_some()), "{name}");
            let folder = manifest.folder.as_deref().unwrap_or_default();
            if manifest.install == Install::Npm {
                let lock = manifest.text(&format!("{folder}/package-lock.json")).expect("a lockfile");
                let lock: serde_json::Value = serde_json::from_str(&lock).expect("JSON");
                let package = format!("node_modules/{}", manifest.sdk.as_deref().expect("an SDK"));
                let locked = lock["packages"].as_object().expect("packages");
                // If the package only chooses between builds, the builds themselves are locked.
                let builds = locked.iter().filter(|(name, _)| !name.is_empty());
                let sdk: Vec<_> = match locked.get(&package) {
                    Some(sdk) => vec![sdk],
                    None => builds.map(|(_, build)| build).collect(),
                };
                let is_named =
                    |entry: &&serde_json::Value| entry["version"].as_str() == manifest.version.as_deref();
                assert!(
                    !sdk.is_empty() && sdk.iter().all(is_named),
                    "{name} pins another version than it names"
                );
            }
        }
    }

    #[test]
    fn the_duties_of_built_in_systems_are_only_in_their_table() {
        for files in SYSTEMS {
            let sheet = files.iter().find(|(name, _)| *name == SHEET).expect("a manifest").1;
            let manifests = Manifest::parse(SHEET, sheet, &FileSource::BuiltIn(files)).expect("a manifest");
            for mode in manifests.iter().flat_map(|manifest| &manifest.modes) {
                assert!(mode.application.is_empty() && !mode.repairs, "{sheet}: list it in duties.yaml");
            }
        }
    }

    #[test]
    fn the_repairs_of_adapters_are_those_of_the_table() {
        for files in SYSTEMS {
            let sheet = files.iter().find(|(name, _)| *name == SHEET).expect("a manifest").1;
            let own =
                Manifest::parse(SHEET, sheet, &FileSource::BuiltIn(files)).expect("a manifest").remove(0);
            let known = catalogue().manifests().iter().find(|manifest| manifest.name == own.name);
            let known = known
                .expect("it is in the catalogue")
                .modes
                .iter()
                .flat_map(|mode| mode.adapter_repairs.keys());
            let known: std::collections::BTreeSet<&str> = known.map(String::as_str).collect();
            let sources = files.iter().filter(|(name, _)| own.files.iter().any(|file| file == name));
            let calls = sources.flat_map(|(_, text)| text.split("repaired(").skip(1));
            let reported =
                calls.filter_map(|call| call.trim_start_matches(['\'', '"']).split(['\'', '"']).next());
            assert_eq!(reported.collect::<std::collections::BTreeSet<&str>>(), known, "{}", own.name);
        }
    }

    #[test]
    fn every_file_of_a_built_in_system_is_used() {
        for files in SYSTEMS {
            let sheet = files.iter().find(|(name, _)| *name == SHEET).expect("a manifest").1;
            let manifests = Manifest::parse(SHEET, sheet, &FileSource::BuiltIn(files)).expect("a manifest");
            for (name, _) in files.iter().filter(|(name, _)| *name != SHEET) {
                let is_used = manifests.iter().any(|manifest| {
                    let own =
                        manifest.folder.as_ref().is_some_and(|own| name.starts_with(&format!("{own}/")));
                    own || manifest.files.iter().any(|file| file == name)
                        || *name == BASELINE
                        || [ISSUE, TEMPLATES[0], TEMPLATES[1]].contains(name)
                });
                assert!(is_used, "{name} is embedded and never used");
            }
        }
    }

    #[test]
    fn names_resolve_to_the_first_mode_and_the_first_version() {
        let full = |name| catalogue().resolve(name).map(|(manifest, mode)| manifest.full_name(&mode.name));
        let first = Ok("ai-sdk@7.0.173/ui-messages".to_owned());
        for name in ["ai-sdk", "ai-sdk@7", "ai-sdk/ui-messages", "ai-sdk@7.0.173/ui-messages"] {
            assert_eq!(full(name), first, "{name}");
        }
        for name in ["ai-sdk@6", "ai-sdk@6.0", "ai-sdk@6.0.326"] {
            assert_eq!(full(name), Ok("ai-sdk@6.0.326/ui-messages".to_owned()), "{name}");
        }
        assert_eq!(full("ai-sdk@5/response-messages"), Ok("ai-sdk@5.0.277/response-messages".to_owned()));
    }

    #[test]
    fn unknown_names_are_answered_with_a_suggestion() {
        for (name, text) in [
            ("ai-skd", "unknown system `ai-skd`; did you mean `ai-sdk`?"),
            ("ai-sdk@6.1", "unknown version `6.1`; there is 7.0.173, 6.0.326, 5.0.277"),
            ("ai-sdk/ui-message", "unknown mode `ui-message`; did you mean `ui-messages`?"),
        ] {
            assert_eq!(catalogue().resolve(name).expect_err(name).to_string(), text);
        }
        let mut names: Vec<&str> =
            catalogue().manifests().iter().map(|manifest| manifest.name.as_str()).collect();
        names.dedup();
        assert!(names.contains(&"opencode"), "{names:?}");
        let error = catalogue().resolve("nothing-like-it").expect_err("no such system").to_string();
        assert_eq!(error, format!("unknown system `nothing-like-it`; there is {}", names.join(", ")));
    }

    #[test]
    fn the_limits_of_built_in_systems_name_probes() {
        let manifests = catalogue().manifests();
        let limits: Vec<&String> = manifests.iter().flat_map(|manifest| manifest.limits.keys()).collect();
        assert!(
            limits.iter().all(|name| Probe::ALL.iter().any(|probe| probe.id() == name.as_str())),
            "{limits:?}"
        );
    }
}
