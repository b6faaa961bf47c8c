//! The systems that come with Brickbat, and the system that a name means.

use std::fmt;

use super::embedded::{BUILT_IN, Files};
use super::manifest::{Manifest, Mode, Place};

/// The file, among those of a system, that describes it.
const SHEET: &str = "system.yaml";

/// The file, among those of a system, that holds its known findings.
pub const BASELINE: &str = "baseline.yaml";

/// The built-in systems: those of one name together, the versions in the order of the manifest.
pub fn systems() -> Vec<Manifest> {
    let read = |files: Files| {
        let sheet = files.iter().find(|(name, _)| *name == SHEET).map_or("", |(_, text)| *text);
        Manifest::parse(SHEET, sheet, &Place::BuiltIn(files)).expect("a test reads every embedded manifest")
    };
    BUILT_IN.into_iter().flat_map(read).collect()
}

/// A name of a system that means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveError {
    /// What is unknown: `system`, `version` or `mode`.
    what: &'static str,
    /// The part that is unknown.
    wanted: String,
    /// What is known.
    known: Vec<String>,
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`", self.what, self.wanted)?;
        match self.nearest() {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => write!(f, "; there is {}", self.known.join(", ")),
        }
    }
}

impl std::error::Error for ResolveError {}

impl ResolveError {
    /// Whether no system is called so, or nearly so.
    pub fn is_of_nobody(&self) -> bool {
        self.what == "system" && self.nearest().is_none()
    }

    fn nearest(&self) -> Option<&String> {
        let distance = |known: &&String| strsim::damerau_levenshtein(known, &self.wanted);
        // A third of the letters may be wrong: more is another word.
        self.known.iter().min_by_key(distance).filter(|known| 3 * distance(known) <= known.len())
    }
}

/// The system and the mode, among those, that a name means: `ai-sdk`, `ai-sdk@6`, `ai-sdk/ui-messages`,
/// `ai-sdk@6.0.326/ui-messages`. Without a version the first is taken, without a mode the first.
pub fn resolve(among: &[Manifest], name: &str) -> Result<(Manifest, Mode), ResolveError> {
    let (system, mode) = match name.split_once('/') {
        Some((system, mode)) => (system, Some(mode)),
        None => (name, None),
    };
    let (system, version) = match system.split_once('@') {
        Some((system, version)) => (system, Some(version)),
        None => (system, None),
    };
    let unknown =
        |what, wanted: &str, known: Vec<String>| ResolveError { what, wanted: wanted.to_owned(), known };

    let named: Vec<&Manifest> = among.iter().filter(|manifest| manifest.name == system).collect();
    if named.is_empty() {
        let mut known: Vec<String> = among.iter().map(|manifest| manifest.name.clone()).collect();
        known.dedup();
        return Err(unknown("system", system, known));
    }
    let mut meant = named.iter().filter(|manifest| version.is_none_or(|wanted| is_version(manifest, wanted)));
    let Some(manifest) = meant.next() else {
        let known = named.iter().filter_map(|manifest| manifest.version.clone()).collect();
        return Err(unknown("version", version.unwrap_or_default(), known));
    };
    let found = manifest.modes.iter().find(|known| mode.is_none_or(|mode| known.name == mode));
    match found {
        Some(found) => Ok(((*manifest).clone(), found.clone())),
        None => {
            let known = manifest.modes.iter().map(|mode| mode.name.clone()).collect();
            Err(unknown("mode", mode.unwrap_or_default(), known))
        }
    }
}

/// Whether a version as users write it, such as `6` or `6.0`, means that of a manifest.
fn is_version(manifest: &Manifest, wanted: &str) -> bool {
    let rest = manifest.version.as_deref().and_then(|version| version.strip_prefix(wanted));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Install;
    use super::*;

    #[test]
    fn every_built_in_system_is_whole() {
        for manifest in systems() {
            let name = manifest.full_name("…");
            assert!(manifest.command.len() > 1, "{name}");
            assert!(
                manifest.capabilities.is_some() && manifest.megabytes.is_some(),
                "{name}: what it can do and takes"
            );
            assert!(manifest.files.iter().all(|file| manifest.text(file).is_some()), "{name}");
            let folder = manifest.folder.as_deref().unwrap_or_default();
            if manifest.install == Install::Npm {
                let lock = manifest.text(&format!("{folder}/package-lock.json")).expect("a lockfile");
                let lock: serde_json::Value = serde_json::from_str(&lock).expect("JSON");
                let package = format!("node_modules/{}", manifest.sdk.as_deref().expect("an SDK"));
                let locked = lock["packages"].as_object().expect("packages");
                // Where the package only chooses between builds, the builds themselves are locked.
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
    fn every_file_of_a_built_in_system_is_of_use() {
        for files in BUILT_IN {
            let sheet = files.iter().find(|(name, _)| *name == SHEET).expect("a manifest").1;
            let manifests = Manifest::parse(SHEET, sheet, &Place::BuiltIn(files)).expect("a manifest");
            for (name, _) in files.iter().filter(|(name, _)| *name != SHEET) {
                let is_used = manifests.iter().any(|manifest| {
                    let own =
                        manifest.folder.as_ref().is_some_and(|own| name.starts_with(&format!("{own}/")));
                    own || manifest.files.iter().any(|file| file == name) || *name == BASELINE
                });
                assert!(is_used, "{name} is embedded and never used");
            }
        }
    }

    #[test]
    fn names_resolve_to_the_first_mode_and_the_first_version() {
        let full = |name| resolve(&systems(), name).map(|(manifest, mode)| manifest.full_name(&mode.name));
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
    fn unknown_names_are_answered_with_what_was_meant() {
        for (name, text) in [
            ("ai-skd", "unknown system `ai-skd`; did you mean `ai-sdk`?"),
            (
                "nothing-like-it",
                "unknown system `nothing-like-it`; there is ai-sdk, twenty, apex, opencode, tunacode, pydantic-ai, tanstack-ai, \
                 openai-agents, openai-agents-python, langgraph, langgraph-python, anthropic-sdk, \
                 google-genai",
            ),
            ("ai-sdk@6.1", "unknown version `6.1`; there is 7.0.173, 6.0.326, 5.0.277"),
            ("ai-sdk/ui-message", "unknown mode `ui-message`; did you mean `ui-messages`?"),
        ] {
            assert_eq!(resolve(&systems(), name).expect_err(name).to_string(), text);
        }
    }
}
