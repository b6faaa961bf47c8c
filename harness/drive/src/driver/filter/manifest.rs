//! `filter.yaml`: the description of a filter, and how its driver is installed and started.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::super::catalogue::Files;
use super::super::manifest::{
    FileSource, Install, Kit, Manifest, ManifestError, Requires, complaint_about_kit, is_below, is_name,
    read_sheet,
};
use super::super::waits::WaitsSheet;
use brickbat_filter_suite::Mode;
use brickbat_scenario::parse::{self, Diagnostic};

/// The file of a filter that describes it.
pub const FILTER_SHEET: &str = "filter.yaml";

/// A filter at one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterManifest {
    /// The name that users write.
    pub name: String,
    /// Its exact package version.
    pub version: String,
    /// One sentence that describes what the filter does.
    pub description: String,
    /// The URL of its documentation.
    pub link: Option<String>,
    /// The ways in which it is used.
    pub modes: Vec<Mode>,
    /// How it is installed and started, in the format of a system manifest.
    pub system: Manifest,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sheet {
    name: String,
    sdk: String,
    description: String,
    link: Option<String>,
    versions: Vec<Release>,
    modes: Vec<Mode>,
    #[serde(default)]
    requires: Requires,
    #[serde(default)]
    install: Install,
    #[serde(default)]
    files: Vec<String>,
    kit: Option<u32>,
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    waits: WaitsSheet,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    version: String,
    folder: Option<String>,
    modes: Option<Vec<String>>,
    megabytes: Option<u32>,
}

impl FilterManifest {
    /// Reads a manifest from a file of the user.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a manifest.
    pub fn read(path: &Path) -> Result<Vec<FilterManifest>, ManifestError> {
        let (text, folder) = read_sheet(path)?;
        Ok(FilterManifest::parse(&path.display().to_string(), &text, &FileSource::Folder(folder))?)
    }

    /// The manifests in a text: one for each version that it lists.
    ///
    /// # Errors
    ///
    /// The error and its location in the text.
    pub fn parse(file_name: &str, text: &str, place: &FileSource) -> Result<Vec<FilterManifest>, Diagnostic> {
        let sheet: Sheet = parse::document(file_name, text, Sheet::complaint)?;
        Ok(sheet.versions.iter().map(|release| sheet.at(release, place)).collect())
    }

    /// Its name with its version: `langchain-core@1.1.0`.
    pub fn full_name(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

impl Sheet {
    fn complaint(&self) -> Option<(String, String)> {
        let wrong = |at: &str, words: &str| Some((format!("/{at}"), words.to_owned()));
        const NAME: &str = "a name is made of letters, digits, `.`, `_` and `-`";
        if !is_name(&self.name) {
            return wrong("name", NAME);
        }
        let empty = [
            ("versions", self.versions.is_empty()),
            ("modes", self.modes.is_empty()),
            ("command", self.command.is_empty()),
        ];
        if let Some((key, _)) = empty.iter().find(|(_, is_empty)| *is_empty) {
            return wrong(key, "this needs at least one entry");
        }
        if let Some(at) = self.files.iter().position(|path| !is_below(path)) {
            return wrong(&format!("files/{at}"), "this must be a path below the manifest's folder");
        }
        if let Some(complaint) = complaint_about_kit(self.kit, self.install) {
            return wrong("kit", complaint);
        }
        for (at, mode) in self.modes.iter().enumerate() {
            if !is_name(&mode.name) {
                return wrong(&format!("modes/{at}/name"), NAME);
            }
            if let Some((key, words)) = mode.complaint() {
                return wrong(&format!("modes/{at}/{key}"), &words);
            }
            let leads_back = |back: &String| self.modes.iter().any(|other| other.name == *back);
            if mode.back.as_ref().is_some_and(|back| !leads_back(back)) {
                return wrong(&format!("modes/{at}/back"), "there is no mode of that name");
            }
        }
        for (at, release) in self.versions.iter().enumerate() {
            if !is_name(&release.version) {
                return wrong(&format!("versions/{at}/version"), NAME);
            }
            if release.folder.as_ref().is_some_and(|folder| folder != "." && !is_below(folder)) {
                return wrong(
                    &format!("versions/{at}/folder"),
                    "this must be a path below the manifest's folder",
                );
            }
            let is_known = |name: &String| self.modes.iter().any(|mode| mode.name == *name);
            if release.modes.as_ref().is_some_and(|modes| modes.is_empty() || !modes.iter().all(is_known)) {
                let words = "list at least one mode, and only modes that `modes` below lists";
                return wrong(&format!("versions/{at}/modes"), words);
            }
        }
        None
    }

    fn at(&self, release: &Release, place: &FileSource) -> FilterManifest {
        let offered = |mode: &&Mode| release.modes.as_ref().is_none_or(|names| names.contains(&mode.name));
        let system = Manifest {
            // The prefix avoids a clash with systems of the same name in the cache.
            name: format!("filter-{}", self.name),
            sdk: Some(self.sdk.clone()),
            version: Some(release.version.clone()),
            description: self.description.clone(),
            requires: self.requires,
            install: self.install,
            env: self.env.clone(),
            files: self.files.clone(),
            kit: self.kit.map(|_| Kit::Filter),
            // Files are looked for in the folder itself anyway.
            folder: release.folder.clone().filter(|folder| folder != "."),
            megabytes: release.megabytes,
            waits: self.waits.into(),
            place: place.clone(),
            ..Manifest::of_command(self.command.clone(), std::path::PathBuf::new())
        };
        FilterManifest {
            name: self.name.clone(),
            version: release.version.clone(),
            description: self.description.clone(),
            link: self.link.clone(),
            modes: self.modes.iter().filter(offered).cloned().collect(),
            system,
        }
    }
}

/// The filters that come with a program.
#[derive(Debug, Clone)]
pub struct FilterCatalogue {
    manifests: Vec<FilterManifest>,
}

impl FilterCatalogue {
    /// The filters of those folders.
    ///
    /// # Errors
    ///
    /// The error in a manifest and its location.
    pub fn of(folders: &[Files]) -> Result<FilterCatalogue, Diagnostic> {
        let read = |files: &Files| {
            let sheet = files.iter().find(|(name, _)| *name == FILTER_SHEET).map_or("", |(_, text)| *text);
            FilterManifest::parse(FILTER_SHEET, sheet, &FileSource::BuiltIn(files))
        };
        let manifests: Vec<Vec<FilterManifest>> = folders.iter().map(read).collect::<Result<_, _>>()?;
        Ok(FilterCatalogue { manifests: manifests.concat() })
    }

    /// All filters, grouped by name.
    pub fn manifests(&self) -> &[FilterManifest] {
        &self.manifests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "name: own\nsdk: own-sdk\ndescription: Mine.\nversions:\n  - { version: 1.2.0 }\n\
        install: npm\nfiles: [driver.mjs]\ncommand: [node, driver.mjs]\nmodes:\n  - name: mend\n    kind: repairer\n    \
        description: Mends.\n    from: [openai-chat]\n    mends: [orphan-result]\n    declares:\n      \
        drops-thinking: it says so\n";

    fn parse(text: &str) -> Result<Vec<FilterManifest>, Diagnostic> {
        let place = FileSource::Folder("/nowhere".into());
        FilterManifest::parse("filter.yaml", text, &place)
    }

    #[test]
    fn a_filter_is_installed_like_a_system() {
        let found = parse(SHEET).unwrap().remove(0);
        assert_eq!(found.full_name(), "own@1.2.0");
        assert_eq!((found.system.install, found.system.name.as_str()), (Install::Npm, "filter-own"));
        assert_eq!(found.modes[0].faults().len(), 1);
    }

    #[test]
    fn mistakes_are_shown_at_their_place() {
        for (from, to, text) in [
            ("name: own", "name: own/1", "a name is made of"),
            ("[driver.mjs]\n", "[../driver.mjs]\n", "a path below the manifest's folder"),
            ("[openai-chat]", "[]", "needs at least one dialect"),
            ("[orphan-result]", "[orphans]", "there is missing-at-tail"),
            ("kind: repairer", "kind: mender", "unknown word `mender`"),
            ("drops-thinking", "drops-thoughts", "drops-thoughts"),
            ("kind: repairer", "back: home\n    kind: repairer", "no mode of that name"),
            ("kind: repairer", "profile: openai\n    kind: repairer", "there is no profile `openai`"),
            ("1.2.0 }", "1.2.0, modes: [other] }", "at least one mode"),
            ("install: npm", "kit: 2\ninstall: npm", "write `kit: 1`"),
            ("install: npm", "kit: 1", "with `install: npm` and with `install: pip`"),
        ] {
            let error = parse(&SHEET.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(error.contains(text) && error.contains("filter.yaml"), "{error}");
        }
    }
}
