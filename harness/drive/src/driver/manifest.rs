//! The manifest `system.yaml`: it describes a system, and how its adapter is installed and started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::capability::{CAPABILITIES, Capabilities};
use super::error::InvalidValue;
use super::file_source;
use super::plain::{self, NamePattern, Plain};
use super::waits::{Waits, WaitsSheet};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::duty::{Application, Duty, Left, Repairs, Statement};
use brickbat_scenario::parse::{self, Diagnostic};

pub use super::file_source::{FileSource, MAX_FILE};

/// One SDK at one version, and how its adapter is installed and started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The name that users write, such as `ai-sdk`.
    pub name: String,
    /// The package name of the SDK. `None` if the adapter may report any name.
    pub sdk: Option<String>,
    /// Its exact version. `None` if the adapter may report any version.
    pub version: Option<String>,
    /// Packages that are released together with the SDK, the newest first.
    pub siblings: Vec<Siblings>,
    /// The working tree under test, as an absolute path. `None` if a released version is tested.
    pub project: Option<PathBuf>,
    pub description: String,
    /// The provider, if the SDK is its own client. `None` if the SDK is made for several providers.
    pub vendor: Option<String>,
    /// The dialects that the adapter can configure the SDK for.
    pub dialects: Vec<Dialect>,
    /// How histories are stored and restored. The first mode is the one that an application would choose by
    /// default.
    pub modes: Vec<Mode>,
    pub requires: Requires,
    pub install: Install,
    /// The program and its arguments, run in the adapter's folder.
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// The settings to drive an agent that speaks ACP itself and needs no adapter; none for an
    /// adapter.
    pub acp: Option<Plain>,
    /// The names under which the SDK offers the adapter's tools to the model, if it renames them.
    pub tools: Option<NamePattern>,
    /// The names of the adapter's files.
    pub files: Vec<String>,
    /// The kit that it imports. `None` if it implements the protocol itself.
    pub kit: Option<Kit>,
    /// The folder, below the manifest's, with the files of only this version, such as its lockfile.
    pub folder: Option<String>,
    /// The probes of `verify-adapter` that this version is known to fail, each with the reason.
    pub limits: BTreeMap<String, String>,
    /// The keys of its capabilities, with which `verify-adapter` compares its claims. `None` if they are not
    /// listed.
    pub capabilities: Option<Vec<String>>,
    /// The size of an installation in MB, if it was measured.
    pub megabytes: Option<u32>,
    pub waits: Waits,
    pub place: FileSource,
    /// The version of the SDK that the user wants instead of the lockfile's.
    pub pinned: Option<String>,
}

/// The code that implements the protocol for an adapter, or for the driver of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kit {
    Adapter,
    Filter,
}

/// The protocol version that the kits implement.
const KIT: u32 = 1;

/// The reason why a manifest of the user is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{0}")]
    Invalid(#[from] Diagnostic),
}

/// `system.yaml`: an SDK, in one or more versions, and how its adapter is installed and started.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Manifest")]
struct Sheet {
    /// The name that users write, such as `my-agent`.
    name: String,
    /// The package name of the SDK, as the adapter reports it; `any` for any name.
    sdk: String,
    /// Packages that are released together with the SDK, for `--sdk-version`. Only pip installs them. The newest first.
    #[serde(default)]
    siblings: Vec<Siblings>,
    /// One sentence about the system.
    description: String,
    /// The provider, if the SDK is its own client, such as `anthropic`.
    vendor: Option<String>,
    /// The released versions under test, the newest first.
    #[serde(default)]
    versions: Vec<Release>,
    /// The working tree under test, relative to the manifest's folder. Any version is accepted.
    project: Option<String>,
    /// The dialects that the adapter can configure the SDK for.
    dialects: Vec<Dialect>,
    /// The ways in which histories are stored. The first is the default.
    modes: Vec<Mode>,
    /// The programs that have to be installed.
    #[serde(default)]
    requires: Requires,
    /// How the adapter's dependencies are installed.
    #[serde(default)]
    install: Install,
    /// The names of the adapter's files.
    #[serde(default)]
    files: Vec<String>,
    /// The version of the adapter kit that it imports.
    kit: Option<u32>,
    /// The program and its arguments, run in the adapter's folder.
    command: Vec<String>,
    /// Environment variables of the adapter.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The settings of an agent that speaks ACP itself and needs no adapter.
    acp: Option<Plain>,
    /// The names under which the SDK offers the adapter's tools to the model, if it renames them.
    tools: Option<NamePattern>,
    /// The capabilities that `verify-adapter` expects the adapter to claim.
    capabilities: Option<Vec<String>>,
    /// Longer waits, if the system needs them.
    #[serde(default)]
    waits: WaitsSheet,
}

/// Packages that go with a version of the SDK and the versions after it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Siblings {
    /// The first version of the SDK.
    pub since: String,
    /// The packages with their versions, as pip takes them: `name==1.0.0`.
    pub packages: Vec<String>,
}

impl Siblings {
    /// The packages for a version of the SDK. Empty if none are known.
    pub fn of<'s>(all: &'s [Siblings], version: &str) -> &'s [String] {
        let numbers =
            |version: &str| -> Vec<u64> { version.split('.').map_while(|part| part.parse().ok()).collect() };
        let known = all.iter().find(|siblings| numbers(&siblings.since) <= numbers(version));
        known.map_or(&[], |siblings| &siblings.packages)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Release {
    /// The exact version.
    version: String,
    /// The folder, below the manifest's, with the files of only this version.
    folder: Option<String>,
    /// The programs that this version needs, if they differ.
    requires: Option<Requires>,
    /// The modes that this version has; all if it lists none.
    modes: Option<Vec<String>>,
    /// The probes of `verify-adapter` that this version is known to fail, each with the reason.
    #[serde(default)]
    limits: BTreeMap<String, String>,
    /// The capabilities of this version, if they differ.
    capabilities: Option<Vec<String>>,
    /// The size of an installation in MB.
    megabytes: Option<u32>,
}

/// One way in which applications use an SDK.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    pub name: String,
    pub description: String,
    /// How it reacts to the user's stop.
    #[serde(default)]
    pub stop: StopKind,
    /// The duties of an application that the adapter has; the SDK does the rest. A built-in system has those of
    /// the table of duties.
    #[serde(default)]
    pub application: Vec<Duty>,
    /// The statements of the documentation about these duties, from the table.
    #[serde(skip)]
    pub documented: BTreeMap<Duty, Statement>,
    /// The repairs that the adapter makes in the application's place, from the table.
    #[serde(skip)]
    pub adapter_repairs: BTreeMap<String, Statement>,
    /// True if the SDK claims to repair a thread that was already broken, although the application stores it.
    #[serde(default)]
    pub repairs: bool,
    /// The keys of capabilities that the adapter claims and that this mode does not have.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// The dialects of the system that this mode supports; all if it lists none.
    #[serde(default)]
    pub dialects: Vec<Dialect>,
}

/// How a system reacts to the user's stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopKind {
    /// It stops waiting immediately, wherever it waits.
    #[default]
    Preemptive,
    /// It checks for the stop between two steps, and ends then.
    Cooperative,
    /// The application drops the run, which ends it.
    Dropped,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requires {
    /// The oldest version of Node.js, written `>=20`.
    pub node: Option<AtLeast>,
    /// The oldest version of Python, written `>=3.10`.
    pub python: Option<AtLeast>,
}

/// The oldest version of a program that is accepted: major and minor (0 if only the major version matters).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct AtLeast(pub u32, pub u32);

impl TryFrom<String> for AtLeast {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<AtLeast, InvalidValue> {
        text.strip_prefix(">=").and_then(AtLeast::of).ok_or(InvalidValue::LeastVersion(text))
    }
}

impl AtLeast {
    /// The first two numbers of a version, such as `3.11.7`.
    pub fn of(version: &str) -> Option<AtLeast> {
        let mut numbers = version.trim().split('.').map(str::parse);
        let major = numbers.next()?.ok()?;
        Some(AtLeast(major, numbers.next().transpose().ok()?.unwrap_or(0)))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Install {
    /// Nothing is installed, because everything that it needs is there.
    #[default]
    None,
    /// With npm, from `package.json` and `package-lock.json`, into `node_modules`.
    Npm,
    /// With pip, from `requirements.txt`, into the virtual environment `.venv`.
    Pip,
    /// The adapter is built with cargo, from `Cargo.toml` and `Cargo.lock`, into `target`.
    Cargo,
}

/// The JSON Schema of a manifest, for editors.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Sheet).to_value()
}

impl Manifest {
    /// Reads a manifest from a file of the user.
    pub fn read(path: &Path) -> Result<Vec<Manifest>, ManifestError> {
        let (text, folder) = read_sheet(path)?;
        Ok(Manifest::parse(&path.display().to_string(), &text, &FileSource::Folder(folder))?)
    }

    /// The manifests in a text: one for each version that it lists.
    pub fn parse(file_name: &str, text: &str, place: &FileSource) -> Result<Vec<Manifest>, Diagnostic> {
        let complaint = |sheet: &Sheet| sheet.complaint().map(|(at, what)| (at, what.to_owned()));
        let sheet: Sheet = parse::document(file_name, text, complaint)?;
        if sheet.project.is_some() {
            return Ok(vec![sheet.at(None, &Release::default(), place)]);
        }
        let at = |release: &Release| sheet.at(Some(&release.version), release, place);
        Ok(sheet.versions.iter().map(at).collect())
    }

    /// A system that is described only by its command, which runs in the working directory.
    pub fn of_command(command: Vec<String>, folder: PathBuf) -> Manifest {
        Manifest {
            name: "command".to_owned(),
            sdk: None,
            version: None,
            siblings: Vec::new(),
            project: None,
            description: String::new(),
            vendor: None,
            dialects: Dialect::ALL.to_vec(),
            modes: Vec::new(),
            requires: Requires::default(),
            install: Install::None,
            command,
            env: BTreeMap::new(),
            acp: None,
            tools: None,
            files: Vec::new(),
            kit: None,
            folder: None,
            limits: BTreeMap::new(),
            capabilities: None,
            megabytes: None,
            waits: Waits::STANDARD,
            place: FileSource::Folder(folder),
            pinned: None,
        }
    }

    /// The same manifest with an SDK version that differs from the lockfile's. If `version` is not exact,
    /// such as `latest`, the manifest leaves open which version that is.
    pub fn with_sdk_version(self, version: &str) -> Manifest {
        let is_exact = version.split('.').count() > 2 && version.starts_with(|c: char| c.is_ascii_digit());
        Manifest { version: is_exact.then(|| version.to_owned()), pinned: Some(version.to_owned()), ..self }
    }

    /// The same manifest with every wait multiplied by `factor`.
    pub fn with_patience(self, factor: f64) -> Manifest {
        Manifest { waits: self.waits.times(factor), ..self }
    }

    /// The text of one file, by its path. `None` if the file does not exist or cannot be read.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read_text(path, MAX_FILE).ok().flatten()
    }

    /// Like [`Manifest::text`], but for a file of at most `max_bytes`. `None` if there is no such file.
    pub fn read_text(&self, path: &str, max_bytes: u64) -> std::io::Result<Option<String>> {
        self.place.read_text(path, max_bytes)
    }

    /// The names under which the tools are offered to the model. `None` if they keep their scenario names.
    pub fn tool_names(&self) -> Option<&NamePattern> {
        self.tools.as_ref().or(self.acp.as_ref().map(|plain| &plain.tools))
    }

    /// How the system reacts to the user's stop in a mode.
    pub fn stop_of(&self, mode: &str) -> StopKind {
        self.modes.iter().find(|known| known.name == mode).map(|mode| mode.stop).unwrap_or_default()
    }

    /// The capabilities in a mode: those that the adapter claims, without those that the mode lacks.
    pub fn capabilities_of(&self, mode: &str, claimed: Capabilities) -> Capabilities {
        let known = self.modes.iter().find(|known| known.name == mode);
        known.into_iter().flat_map(|mode| &mode.lacks).fold(claimed, |able, key| able.with(key, false))
    }

    /// The dialects that a mode supports; all of the system's if the manifest does not know the mode.
    pub fn dialects_of(&self, mode: Option<&str>) -> Vec<Dialect> {
        let own = self.modes.iter().find(|known| Some(known.name.as_str()) == mode);
        own.map(|mode| &mode.dialects).filter(|own| !own.is_empty()).unwrap_or(&self.dialects).clone()
    }

    /// The duties of the application in a mode. `None` if the manifest does not know the mode.
    pub fn application(&self, mode: &str) -> Application {
        let known = self.modes.iter().find(|known| known.name == mode);
        known.map(Mode::application).unwrap_or_default()
    }

    /// The full name of one mode: `ai-sdk@6.0.326/ui-messages`.
    pub fn full_name(&self, mode: &str) -> String {
        match &self.version {
            Some(version) => format!("{}@{version}/{mode}", self.name),
            None => format!("{}/{mode}", self.name),
        }
    }
}

impl Sheet {
    /// An error that the types do not catch, and its location.
    fn complaint(&self) -> Option<(String, &'static str)> {
        const NAME: &str = "a name is made of letters, digits, `.`, `_` and `-`";
        const BELOW: &str = "this must be a path below the manifest's folder";
        const EMPTY: &str = "this needs at least one entry";
        const FILLED: &str = "`${…}` in `command` and `env` is filled in for an agent that has one session in each process: \
                              `acp` with `maxSessions: 1`; an adapter gets the address in `session/new`";
        const VERSIONS: &str =
            "give at least one version, or `project`, the working tree to test, but not both";
        if self.versions.is_empty() == self.project.is_none() {
            let at = if self.project.is_some() { "/project" } else { "/versions" };
            return Some((at.to_owned(), VERSIONS));
        }
        let empty = [
            ("modes", self.modes.is_empty()),
            ("dialects", self.dialects.is_empty()),
            ("command", self.command.is_empty()),
        ];
        if let Some((key, _)) = empty.iter().find(|(_, is_empty)| *is_empty) {
            return Some((format!("/{key}"), EMPTY));
        }
        if !is_name(&self.name) {
            return Some(("/name".to_owned(), NAME));
        }
        if let Some(at) = self.modes.iter().position(|mode| !is_name(&mode.name)) {
            return Some((format!("/modes/{at}/name"), NAME));
        }
        let complaint = |(at, mode): (usize, &Mode)| {
            let (key, what) = mode.complaint(&self.dialects)?;
            Some((format!("/modes/{at}/{key}"), what))
        };
        if let Some(found) = self.modes.iter().enumerate().find_map(complaint) {
            return Some(found);
        }
        if let Some(name) = self.env.keys().find(|name| is_the_run_s(name)) {
            return Some((format!("/env/{name}"), "the run sets this: it points into the run's own folder"));
        }
        if let Some(at) = self.files.iter().position(|path| !is_below(path)) {
            return Some((format!("/files/{at}"), BELOW));
        }
        if self.tools.is_some() && self.acp.is_some() {
            return Some((
                "/tools".to_owned(),
                "for an agent that speaks ACP itself, write this under `acp`",
            ));
        }
        if let Some(complaint) = complaint_about_kit(self.kit, self.install) {
            return Some(("/kit".to_owned(), complaint));
        }
        if plain::is_filled_in(&self.command, &self.env)
            && self.acp.as_ref().is_none_or(|acp| acp.max_sessions != 1)
        {
            return Some(("/command".to_owned(), FILLED));
        }
        let complaint = |(at, release): (usize, &Release)| {
            let (key, what) = release.complaint(&self.modes)?;
            Some((format!("/versions/{at}/{key}"), what))
        };
        self.versions.iter().enumerate().find_map(complaint)
    }

    fn at(&self, version: Option<&str>, release: &Release, place: &FileSource) -> Manifest {
        let offered = |mode: &&Mode| release.modes.as_ref().is_none_or(|names| names.contains(&mode.name));
        Manifest {
            name: self.name.clone(),
            sdk: Some(self.sdk.clone()),
            version: version.map(str::to_owned),
            siblings: self.siblings.clone(),
            project: self.project.as_ref().and_then(|project| place.path(project)),
            description: self.description.clone(),
            vendor: self.vendor.clone(),
            dialects: self.dialects.clone(),
            modes: self.modes.iter().filter(offered).cloned().collect(),
            requires: release.requires.unwrap_or(self.requires),
            install: self.install,
            command: self.command.clone(),
            env: self.env.clone(),
            acp: self.acp.clone(),
            tools: self.tools.clone(),
            files: self.files.clone(),
            kit: self.kit.map(|_| Kit::Adapter),
            folder: release.folder.clone(),
            limits: release.limits.clone(),
            capabilities: release.capabilities.clone().or_else(|| self.capabilities.clone()),
            megabytes: release.megabytes,
            waits: self.waits.into(),
            place: place.clone(),
            pinned: None,
        }
    }
}

impl Mode {
    /// The part of a finding's evidence that belongs to the application in this mode.
    pub fn application(&self) -> Application {
        let repairs = if self.repairs { Repairs::Claimed } else { Repairs::Never };
        let left = |duty: &Duty| Left { duty: *duty, documented: self.documented.get(duty).cloned() };
        Application::documented(self.application.iter().map(left), repairs)
            .repairing(self.adapter_repairs.clone())
    }

    fn complaint(&self, of_system: &[Dialect]) -> Option<(String, &'static str)> {
        if let Some(at) = self.dialects.iter().position(|dialect| !of_system.contains(dialect)) {
            return Some((format!("dialects/{at}"), "this is not one of the system's dialects"));
        }
        const CAPABILITY: &str = "there is no capability of that name";
        let is_known = |key: &String| CAPABILITIES.iter().any(|known| known.key == key);
        if let Some(at) = self.lacks.iter().position(|key| !is_known(key)) {
            return Some((format!("lacks/{at}"), CAPABILITY));
        }
        const REPAIR: &str = "the code that stores the thread repairs it; if the SDK documents that it does, write `repairs: true` below the mode";
        if let Some(at) = self.application.iter().position(|duty| *duty == Duty::Repair) {
            return Some((format!("application/{at}"), REPAIR));
        }
        let is_twice = |at: &usize| self.application[..*at].contains(&self.application[*at]);
        if let Some(at) = (0..self.application.len()).find(is_twice) {
            return Some((format!("application/{at}"), "this is listed twice"));
        }
        let is_idle = self.repairs && !self.application.contains(&Duty::Store);
        is_idle.then(|| {
            (
                "repairs".to_owned(),
                "an SDK that stores the thread repairs it anyway; use this with `application: [store]`",
            )
        })
    }
}

impl Release {
    fn complaint(&self, modes: &[Mode]) -> Option<(&'static str, &'static str)> {
        let is_known = |name: &String| modes.iter().any(|mode| mode.name == *name);
        if !is_name(&self.version) {
            return Some(("version", "a version is made of letters, digits, `.`, `_` and `-`"));
        }
        if self.folder.as_ref().is_some_and(|folder| !is_below(folder)) {
            return Some(("folder", "this must be a path below the manifest's folder"));
        }
        let modes = self.modes.as_ref()?;
        let is_good = !modes.is_empty() && modes.iter().all(is_known);
        (!is_good).then_some(("modes", "list at least one mode, and only modes that `modes` above lists"))
    }
}

/// The reason why a manifest cannot use this version's kit, if there is one.
pub(super) fn complaint_about_kit(version: Option<u32>, install: Install) -> Option<&'static str> {
    if version? != KIT {
        return Some("this Brickbat has the kit of protocol 1; write `kit: 1`");
    }
    let is_there = matches!(install, Install::Npm | Install::Pip);
    (!is_there).then_some("a kit exists only with `install: npm` and with `install: pip`")
}

/// The text of a user's manifest, and its folder.
pub(super) fn read_sheet(path: &Path) -> Result<(String, PathBuf), ManifestError> {
    let failed = |source| ManifestError::Unreadable { path: path.to_owned(), source };
    let text = file_source::read(path, MAX_FILE).map_err(failed)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((text, std::path::absolute(folder).map_err(failed)?))
}

/// True for variables that keep a system inside the run's folder.
fn is_the_run_s(name: &str) -> bool {
    ["HOME", "TMPDIR"].contains(&name) || (name.starts_with("XDG_") && name.ends_with("_HOME"))
}

pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// True if a path stays below the folder that it starts from.
pub(super) fn is_below(path: &str) -> bool {
    use std::path::Component;
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests;
