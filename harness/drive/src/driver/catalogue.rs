//! The built-in systems of a program, and the resolution of system names.

use std::fmt;

use super::duties::{Duties, TABLE};
use super::manifest::{FileSource, Manifest, Mode};
use brickbat_scenario::parse::{Diagnostic, MAX_GUESSED};

/// The file that describes a system.
pub const SHEET: &str = "system.yaml";

/// The file with a system's known findings.
pub const BASELINE: &str = "baseline.yaml";

/// A system's files that show how an application uses it: the templates for exported tests.
pub const TEMPLATES: [&str; 2] = ["export.mjs", "export.py"];

/// A system's file with the headings for issues in its project.
pub const ISSUE: &str = "export.md";

/// A system's files: names below its folder, and their texts.
pub type Files = &'static [(&'static str, &'static str)];

/// The systems that come with a program.
#[derive(Debug, Clone)]
pub struct Catalogue {
    manifests: Vec<Manifest>,
}

impl Catalogue {
    /// The systems in those folders, with the duties of a table. Systems with the same name are grouped, with
    /// their versions in the order of the manifest.
    pub fn of(folders: &[Files], duties: &str) -> Result<Catalogue, Diagnostic> {
        let read = |files: &Files| {
            let sheet = files.iter().find(|(name, _)| *name == SHEET).map_or("", |(_, text)| *text);
            Manifest::parse(SHEET, sheet, &FileSource::BuiltIn(files))
        };
        let manifests: Vec<Vec<Manifest>> = folders.iter().map(read).collect::<Result<_, _>>()?;
        let mut manifests = manifests.concat();
        let duties = Duties::parse(TABLE, duties, &manifests)?;
        manifests.iter_mut().for_each(|manifest| duties.apply(manifest));
        Ok(Catalogue { manifests })
    }

    pub fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }

    /// The system and the mode that a name refers to; see [`resolve`].
    pub fn resolve(&self, name: &str) -> Result<(Manifest, Mode), ResolveError> {
        resolve(&self.manifests, name)
    }
}

/// A name that matches no system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveError {
    /// The unknown part: `system`, `version` or `mode`.
    what: &'static str,
    wanted: String,
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
    /// True if no system has this name or a similar one.
    pub fn is_of_nobody(&self) -> bool {
        self.what == "system" && self.nearest().is_none()
    }

    fn nearest(&self) -> Option<&String> {
        let distance = |known: &&String| strsim::damerau_levenshtein(known, &self.wanted);
        // Up to a third of the letters may be wrong. With more wrong letters it is another word.
        let guessed = self.known.iter().filter(|_| self.wanted.len() <= MAX_GUESSED);
        guessed.min_by_key(distance).filter(|known| 3 * distance(known) <= known.len())
    }
}

/// The system and the mode that a name refers to: `ai-sdk`, `ai-sdk@6`, `ai-sdk/ui-messages`,
/// `ai-sdk@6.0.326/ui-messages`. A name without a version selects the first version, and a name without a
/// mode the first mode.
pub fn resolve(among: &[Manifest], name: &str) -> Result<(Manifest, Mode), ResolveError> {
    let (system, mode) = split(name, '/');
    let (system, version) = split(system, '@');
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

fn split(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// True if a version as users write it, such as `6` or `6.0`, matches the version of a manifest.
fn is_version(manifest: &Manifest, wanted: &str) -> bool {
    let rest = manifest.version.as_deref().and_then(|version| version.strip_prefix(wanted));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
pub(crate) fn ai_sdk() -> Catalogue {
    let files: Files = &[(SHEET, include_str!("../../../systems/ai-sdk/system.yaml"))];
    Catalogue::of(&[files], "{}").expect("it is read by a test of the command line, too")
}
