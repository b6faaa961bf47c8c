//! The systems that Brickbat knows: `harness/systems/<name>/system.yaml` and the files beside it.

use std::fmt;

use serde::Deserialize;

use super::plain::Plain;
use crate::dialect::Dialect;

/// `system.yaml`: one SDK at an exact version, and how its adapter is started.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The name that users write, such as `ai-sdk`.
    pub name: String,
    /// The SDK, as its package is called.
    pub sdk: String,
    /// Its exact version.
    pub version: String,
    /// One sentence about it.
    pub description: String,
    /// The dialects that the adapter can make it speak.
    pub dialects: Vec<Dialect>,
    /// How histories are stored and restored: the first is the one that an application would take unadvised.
    pub modes: Vec<Mode>,
    /// What must be on the machine.
    pub requires: Requires,
    /// How the adapter's dependencies are fetched.
    pub install: Install,
    /// The program and its arguments, run in the adapter's folder.
    pub command: Vec<String>,
    /// How it is driven, if it is an agent that speaks ACP itself and needs no adapter.
    #[serde(default)]
    pub acp: Option<Plain>,
    /// The adapter's files, by name.
    #[serde(skip)]
    pub files: &'static [(&'static str, &'static str)],
}

/// One way in which applications use an SDK.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Its name, such as `ui-messages`.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// What must be on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requires {
    /// The oldest version of Node, written `>=18`.
    pub node: AtLeast,
}

/// The least major version of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct AtLeast(pub u32);

impl TryFrom<String> for AtLeast {
    type Error = String;

    fn try_from(text: String) -> Result<AtLeast, String> {
        let major = text.strip_prefix(">=").and_then(|major| major.parse().ok());
        major
            .map(AtLeast)
            .ok_or_else(|| format!("expected a least major version such as `>=18`, got `{text}`"))
    }
}

/// How the adapter's dependencies are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// With `npm ci`, from the lockfile.
    pub npm: bool,
}

impl Manifest {
    /// The full name of one mode: `ai-sdk@6.0.326/ui-messages`.
    pub fn full_name(&self, mode: &Mode) -> String {
        format!("{}@{}/{}", self.name, self.version, mode.name)
    }

    /// Whether a version as users write it, such as `6` or `6.0`, means this one.
    fn is_version(&self, wanted: &str) -> bool {
        let rest = self.version.strip_prefix(wanted);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// The built-in systems, as they are embedded: explicitly, so that an installed `node_modules` never is.
const BUILT_IN: [(&str, &[(&str, &str)]); 3] = [
    (
        include_str!("../systems/ai-sdk/system.yaml"),
        &[
            ("adapter.mjs", include_str!("../systems/ai-sdk/adapter.mjs")),
            ("package.json", include_str!("../systems/ai-sdk/package.json")),
            ("package-lock.json", include_str!("../systems/ai-sdk/package-lock.json")),
        ],
    ),
    (include_str!("../systems/opencode/new.yaml"), &[]),
    (include_str!("../systems/opencode/old.yaml"), &[]),
];

/// The built-in systems, in the order of their names and versions.
pub fn systems() -> Vec<Manifest> {
    let read = |(yaml, files): (&str, &'static [(&'static str, &'static str)])| {
        let manifest: Manifest = serde_saphyr::from_str(yaml).expect("a test reads every embedded manifest");
        Manifest { files, ..manifest }
    };
    BUILT_IN.into_iter().map(read).collect()
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
    fn nearest(&self) -> Option<&String> {
        let distance = |known: &&String| strsim::damerau_levenshtein(known, &self.wanted);
        // A third of the letters may be wrong: more is another word.
        self.known.iter().min_by_key(distance).filter(|known| 3 * distance(known) <= known.len())
    }
}

/// The system and the mode that a name means: `ai-sdk`, `ai-sdk@6`, `ai-sdk/ui-messages`, `ai-sdk@6.0.326/ui-messages`.
/// Without a version the newest is taken, without a mode the first.
pub fn resolve(name: &str) -> Result<(Manifest, Mode), ResolveError> {
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

    let all = systems();
    let named: Vec<&Manifest> = all.iter().filter(|manifest| manifest.name == system).collect();
    if named.is_empty() {
        let mut known: Vec<String> = all.into_iter().map(|manifest| manifest.name).collect();
        known.dedup();
        return Err(unknown("system", system, known));
    }
    let meant = named.iter().filter(|manifest| version.is_none_or(|version| manifest.is_version(version)));
    let Some(manifest) = meant.max_by_key(|manifest| numbers(&manifest.version)) else {
        let known = named.iter().map(|manifest| manifest.version.clone()).collect();
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

/// The numbers of a version, by which the newest is found.
fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|number| number.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_manifest_is_whole() {
        for manifest in systems() {
            let name = &manifest.name;
            assert!(!manifest.modes.is_empty() && !manifest.dialects.is_empty(), "{name}");
            assert!(manifest.command.len() > 1, "{name}");
            let lock = manifest.files.iter().find(|(file, _)| *file == "package-lock.json");
            let (_, lock) = lock.expect("a lockfile");
            let lock: serde_json::Value = serde_json::from_str(lock).expect("JSON");
            let locked = &lock["packages"][format!("node_modules/{}", manifest.sdk)]["version"];
            assert_eq!(locked, manifest.version.as_str(), "{name} pins another version than it names");
        }
    }

    #[test]
    fn names_resolve_to_the_first_mode_and_the_newest_version() {
        let full = |name| resolve(name).map(|(manifest, mode)| manifest.full_name(&mode));
        let ui = Ok("ai-sdk@6.0.326/ui-messages".to_owned());
        for name in ["ai-sdk", "ai-sdk@6", "ai-sdk@6.0", "ai-sdk/ui-messages", "ai-sdk@6.0.326/ui-messages"] {
            assert_eq!(full(name), ui, "{name}");
        }
        assert_eq!(full("ai-sdk/ui-messages-clean"), Ok("ai-sdk@6.0.326/ui-messages-clean".to_owned()));
    }

    #[test]
    fn unknown_names_are_answered_with_what_was_meant() {
        for (name, text) in [
            ("ai-skd", "unknown system `ai-skd`; did you mean `ai-sdk`?"),
            ("nothing-like-it", "unknown system `nothing-like-it`; there is ai-sdk"),
            ("ai-sdk@6.1", "unknown version `6.1`; there is 6.0.326"),
            ("ai-sdk/ui-message", "unknown mode `ui-message`; did you mean `ui-messages`?"),
        ] {
            assert_eq!(resolve(name).expect_err(name).to_string(), text);
        }
    }

    #[test]
    fn a_least_version_is_a_major_version() {
        assert_eq!(AtLeast::try_from(">=18".to_owned()), Ok(AtLeast(18)));
        assert!(AtLeast::try_from("^18".to_owned()).is_err());
    }
}
