//! `brickbat.toml`, or `[tool.brickbat]` in `pyproject.toml`: options that need not be typed.
//!
//! The nearest file counts, in the working directory or above it, up to the top of the repository. Each key
//! sets an option; an option that is typed takes precedence. If neither names a system, the system of the
//! nearest `brickbat/system.yaml`, in the working directory or above it, is tested.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use schemars::JsonSchema;
use serde::Deserialize;

use super::CommandLine;
use super::error::CliError;
use super::regular;
use brickbat_drive::driver::catalogue::SHEET;
use brickbat_drive::runner::quoted;
use brickbat_scenario::parse::did_you_mean;

/// The folder with a project's manifest, as `brickbat init` writes it.
pub(super) const FOLDER: &str = "brickbat";

/// The name of a configuration file.
pub(super) const FILE: &str = "brickbat.toml";

/// The possible file names, in order of precedence.
const FILES: [&str; 2] = [FILE, "pyproject.toml"];

/// The largest configuration file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Options for Brickbat's commands, in `brickbat.toml` or in the table `tool.brickbat` of `pyproject.toml`. Paths are
/// relative to the file. An option that is typed takes precedence.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    /// Systems, as `--system` takes them.
    #[serde(default)]
    systems: Vec<String>,
    /// A manifest of the user's own system, relative to the file.
    manifest: Option<PathBuf>,
    /// The command that starts the user's own adapter.
    command: Option<String>,
    /// The dialects that the provider speaks; by default all that the system speaks.
    #[serde(default)]
    dialects: Vec<String>,
    /// Scenarios, or prefixes of ids, such as `abort/`.
    #[serde(default)]
    scenarios: Vec<String>,
    /// Plans whose ids contain one of these texts are left out.
    #[serde(default)]
    exclude: Vec<String>,
    /// A baseline, relative to the file; `true` for those next to the manifests.
    #[serde(default)]
    #[schemars(schema_with = "boolean_or_path")]
    baseline: Option<BaselineKey>,
    /// Files that reports are written to, relative to the file.
    #[serde(default)]
    reports: Vec<PathBuf>,
    /// The mildest severity that makes a run red, such as `bricked`.
    fail_on: Option<String>,
    /// The number of plans that run at the same time.
    jobs: Option<u16>,
    /// A factor for the time limits.
    patience: Option<f64>,
    /// The time after which a run stops, such as `10m`.
    timeout: Option<String>,
}

/// The JSON Schema of the configuration.
pub(super) fn schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}

/// The schema of [`BaselineKey`].
fn boolean_or_path(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["boolean", "string"] })
}

/// The value of `baseline`: `true`, `false` or a path.
#[derive(Debug, Deserialize)]
#[serde(try_from = "toml::Value")]
enum BaselineKey {
    Own(bool),
    File(PathBuf),
}

impl TryFrom<toml::Value> for BaselineKey {
    type Error = &'static str;

    fn try_from(value: toml::Value) -> Result<BaselineKey, &'static str> {
        match value {
            toml::Value::Boolean(own) => Ok(BaselineKey::Own(own)),
            toml::Value::String(path) => Ok(BaselineKey::File(path.into())),
            _ => Err("`baseline` is `true`, `false` or a path"),
        }
    }
}

/// Commands that run systems, and the keys that they accept in addition to those that name a system.
const COMMANDS: [(&str, &[Key]); 8] = [
    ("run", &[Key::Systems, Key::Dialects, Key::Jobs, Key::Run]),
    ("fuzz", &[Key::Systems, Key::Dialects, Key::Jobs]),
    ("closed-loop", &[Key::Systems, Key::Dialects, Key::Jobs]),
    ("events", &[Key::Systems]),
    ("import", &[Key::Systems]),
    ("verify-adapter", &[Key::Systems]),
    // Their scenario or case may name its system, which takes precedence.
    ("shrink", &[Key::Jobs]),
    ("replay", &[]),
];

/// Keys that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Systems,
    Dialects,
    Jobs,
    /// Keys that only `run` takes.
    Run,
}

/// The systems to test if no option names one.
#[derive(Debug, Clone, Default)]
pub(super) struct Chosen {
    pub(super) systems: Vec<String>,
    pub(super) manifest: Option<PathBuf>,
    pub(super) command: Option<String>,
}

/// The systems in the project around the working directory: those in its configuration, else that of its
/// manifest.
pub(super) fn chosen() -> Result<Chosen, CliError> {
    let Ok(folder) = std::env::current_dir() else { return Ok(Chosen::default()) };
    chosen_in(&folder, find(&folder)?.as_ref())
}

fn chosen_in(folder: &Path, config: Option<&(PathBuf, Config)>) -> Result<Chosen, CliError> {
    let configured = config.map(|(file, config)| {
        let place = relative(folder, file.parent().unwrap_or(Path::new(".")));
        let manifest = config.manifest.as_ref().map(|path| place.join(path));
        Chosen { systems: config.systems.clone(), manifest, command: config.command.clone() }
    });
    match configured {
        Some(chosen) if chosen.is_any() => Ok(chosen),
        _ => Ok(Chosen { manifest: manifest_around(folder)?, ..Chosen::default() }),
    }
}

impl Chosen {
    fn is_any(&self) -> bool {
        !self.systems.is_empty() || self.manifest.is_some() || self.command.is_some()
    }
}

/// The manifest of the project that contains the working directory.
///
/// # Errors
///
/// If its name is misspelt: it would be ignored, and another system would be tested instead.
fn manifest_around(folder: &Path) -> Result<Option<PathBuf>, CliError> {
    for around in around(folder) {
        let place = around.join(FOLDER);
        let path = place.join(SHEET);
        if path.is_file() {
            return Ok(Some(relative(folder, &path).to_owned()));
        }
        let files = std::fs::read_dir(&place).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        let mut near: Vec<String> = names.filter(|name| did_you_mean(name, &[SHEET]).is_some()).collect();
        near.sort();
        if let Some(name) = near.first() {
            let other = relative(folder, &place).join(name).to_string_lossy().into_owned();
            return Err(CliError::input(format!(
                "no system is named, and {other} is not called {SHEET}\nhint: rename it, or pass it: --manifest {}",
                quoted(&other)
            )));
        }
    }
    Ok(None)
}

/// A folder and its parents, up to the top of the repository.
fn around(folder: &Path) -> impl Iterator<Item = &Path> {
    let mut is_over = false;
    folder.ancestors().take_while(move |at| {
        let goes_on = !is_over;
        is_over = at.join(".git").exists();
        goes_on
    })
}

/// A path, made relative to the working directory if it is below it.
fn relative<'a>(folder: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(folder).unwrap_or(path)
}

/// The program's arguments, with those that a configuration adds.
///
/// # Errors
///
/// If the file cannot be read or has an unknown key.
pub(super) fn arguments(given: Vec<OsString>) -> Result<Vec<OsString>, CliError> {
    let command = given.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let asks = |word: &str| given.iter().any(|argument| argument == word);
    let Some((_, keys)) = COMMANDS.iter().find(|(name, _)| *name == command) else { return Ok(given) };
    if asks("--help") || asks("-h") || asks("--rerun-failed") {
        return Ok(given);
    }
    let Ok(folder) = std::env::current_dir() else { return Ok(given) };
    let found = find(&folder)?;
    let is_named = |option: &str| {
        let with_value = format!("{option}=");
        let mut words = given.iter().map(|word| word.to_string_lossy());
        words.any(|word| word == option || word.starts_with(&with_value))
    };
    let is_open = keys.contains(&Key::Systems) && !SYSTEM_OPTIONS.into_iter().any(is_named);
    let chosen = if is_open { chosen_in(&folder, found.as_ref())? } else { Chosen::default() };
    let (file, config) = found.unwrap_or_default();
    let place = relative(&folder, file.parent().unwrap_or(Path::new("."))).to_owned();
    Ok(config.added_to(given, keys, &chosen, &place))
}

/// The options that name a system.
const SYSTEM_OPTIONS: [&str; 3] = ["--system", "--manifest", "--command"];

/// The file with the configuration in a folder or in the nearest folder above it.
pub(super) fn file_around(folder: &Path) -> Result<Option<PathBuf>, CliError> {
    Ok(find(folder)?.map(|(file, _)| file))
}

/// The configuration in a folder or in the nearest folder above it.
fn find(folder: &Path) -> Result<Option<(PathBuf, Config)>, CliError> {
    for folder in around(folder) {
        for name in FILES {
            let path = folder.join(name);
            if !path.is_file() {
                continue;
            }
            if let Some(config) = read(&path, name)? {
                return Ok(Some((path, config)));
            }
        }
    }
    Ok(None)
}

fn read(path: &Path, name: &str) -> Result<Option<Config>, CliError> {
    let shown = name;
    let text = regular::text(path, MAX_BYTES).map_err(|error| CliError::cannot_read(shown, error))?;
    let wrong =
        |error: toml::de::Error| CliError::input(format!("{shown}: {}", error.to_string().trim_end()));
    if name == FILE {
        return toml::from_str(&text).map(Some).map_err(wrong);
    }
    #[derive(Deserialize)]
    struct Project {
        tool: Option<Tools>,
    }
    #[derive(Deserialize)]
    struct Tools {
        brickbat: Option<Config>,
    }
    // Other tables in that file are other tools' business.
    if !text.contains("tool.brickbat") {
        return Ok(None);
    }
    let project: Project = toml::from_str(&text).map_err(wrong)?;
    Ok(project.tool.and_then(|tools| tools.brickbat))
}

impl Config {
    /// The arguments, with an option for each key whose option is missing. Paths are relative to `place`.
    fn added_to(&self, given: Vec<OsString>, keys: &[Key], chosen: &Chosen, place: &Path) -> Vec<OsString> {
        // Every key is named here, so that the compiler reports one that sets no option.
        let Config {
            systems: _,
            manifest: _,
            command: _,
            dialects,
            scenarios,
            exclude,
            baseline,
            reports,
            fail_on,
            jobs,
            patience,
            timeout,
        } = self;
        let mut arguments = given;
        let typed: Vec<String> =
            arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let barred = barred(&typed);
        let mut add = |option: &str, value: Option<String>| {
            if is_typed(&typed, option) || barred.contains(option) {
                return;
            }
            match value {
                Some(value) => arguments.push(format!("{option}={value}").into()),
                None => arguments.push(option.into()),
            }
        };
        let path = |path: &Path| place.join(path).to_string_lossy().into_owned();
        chosen.systems.iter().for_each(|system| add("--system", Some(system.clone())));
        let manifest = chosen.manifest.iter().map(|path| path.to_string_lossy().into_owned());
        manifest.for_each(|manifest| add("--manifest", Some(manifest)));
        chosen.command.iter().for_each(|command| add("--command", Some(command.clone())));
        if keys.contains(&Key::Dialects) {
            dialects.iter().for_each(|dialect| add("--dialect", Some(dialect.clone())));
        }
        patience.iter().for_each(|factor| add("--patience", Some(factor.to_string())));
        if keys.contains(&Key::Jobs) {
            jobs.iter().for_each(|jobs| add("--jobs", Some(jobs.to_string())));
        }
        if !keys.contains(&Key::Run) {
            return arguments;
        }
        exclude.iter().for_each(|text| add("--exclude", Some(text.clone())));
        fail_on.iter().for_each(|severity| add("--fail-on", Some(severity.clone())));
        timeout.iter().for_each(|time| add("--timeout", Some(time.clone())));
        match baseline {
            Some(BaselineKey::Own(true)) => add("--baseline", None),
            Some(BaselineKey::File(file)) => add("--baseline", Some(path(file))),
            Some(BaselineKey::Own(false)) | None => {}
        }
        reports.iter().for_each(|file| add("--report", Some(path(file))));
        if !names_scenario(&typed) && !barred.contains(SCENARIOS) {
            arguments.extend(scenarios.iter().map(OsString::from));
        }
        arguments
    }
}

/// True if the option is among the words, with or without a value.
fn is_typed(typed: &[String], option: &str) -> bool {
    let with_value = format!("{option}=");
    typed.iter().any(|word| word == option || word.starts_with(&with_value))
}

/// The name of the scenarios on the command line.
const SCENARIOS: &str = "scenarios";

/// The options of the command that conflict with a typed one, such as `--baseline` with `--repair`. A key that
/// sets one of them does not apply. The scenarios have the name [`SCENARIOS`].
fn barred(typed: &[String]) -> BTreeSet<String> {
    let line = CommandLine::command();
    let Some(command) = typed.get(1).and_then(|name| line.find_subcommand(name)) else {
        return BTreeSet::new();
    };
    let word = |argument: &clap::Arg| match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => argument.get_id().to_string(),
    };
    let (given, others): (Vec<&clap::Arg>, Vec<&clap::Arg>) =
        command.get_arguments().partition(|argument| is_typed(typed, &word(argument)));
    let conflict = |one: &clap::Arg, other: &clap::Arg| {
        command.get_arg_conflicts_with(one).iter().any(|known| known.get_id() == other.get_id())
    };
    let is_barred = |other: &&clap::Arg| given.iter().any(|one| conflict(one, other) || conflict(other, one));
    others.into_iter().filter(is_barred).map(word).collect()
}

/// True if a word is neither an option nor an option's value.
fn names_scenario(typed: &[String]) -> bool {
    let takes_value = options_with_values();
    let mut words = typed.iter().skip(2).peekable();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return true;
        }
        if takes_value.contains(word) {
            words.next();
        }
    }
    false
}

/// The `run` options whose value is the next argument.
fn options_with_values() -> BTreeSet<String> {
    let command = CommandLine::command();
    let run = command.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments);
    let is_next_word =
        |argument: &&clap::Arg| argument.get_action().takes_values() && !argument.is_require_equals_set();
    let names = |argument: &clap::Arg| {
        let long = argument.get_long().map(|name| format!("--{name}"));
        long.into_iter().chain(argument.get_short().map(|name| format!("-{name}"))).collect::<Vec<_>>()
    };
    run.chain(command.get_arguments()).filter(is_next_word).flat_map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn added(config: &str, given: &str) -> String {
        let config: Config = toml::from_str(config).unwrap();
        let is_named = SYSTEM_OPTIONS.iter().any(|option| given.contains(option));
        let given = given.split(' ').map(OsString::from).collect();
        let (_, keys) = COMMANDS[0];
        let found = (PathBuf::from("/work/up/brickbat.toml"), config);
        let folder = Path::new("/work");
        let chosen = if is_named { Chosen::default() } else { chosen_in(folder, Some(&found)).unwrap() };
        let all = found.1.added_to(given, keys, &chosen, Path::new("up"));
        all.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn keys_are_options_and_typed_options_take_precedence() {
        let config = "manifest = 'a/system.yaml'\ndialects = ['gemini']\nscenarios = ['abort/']\nbaseline = true\n\
                      exclude = ['kill/', 'slow']\nfail-on = 'bricked'\nreports = ['r.html']\ntimeout = '5m'\n";
        assert_eq!(
            added(config, "brickbat run"),
            "brickbat run --manifest=up/a/system.yaml --dialect=gemini --exclude=kill/ --exclude=slow \
             --fail-on=bricked --timeout=5m --baseline --report=up/r.html abort/"
        );
        assert_eq!(
            added(
                "manifest = 'm'\ndialects = ['gemini']\nscenarios = ['abort/']",
                "brickbat run --system x --dialect mistral retry/"
            ),
            "brickbat run --system x --dialect mistral retry/"
        );
        assert_eq!(added("scenarios = ['abort/']", "brickbat run --jobs 2"), "brickbat run --jobs 2 abort/");
    }

    #[test]
    fn a_key_whose_option_conflicts_with_a_typed_one_does_not_apply() {
        let config = "systems = ['x']\ndialects = ['gemini']\nscenarios = ['abort/']\nbaseline = true\n\
                      exclude = ['slow']\nfail-on = 'bricked'\nreports = ['r.html']\ntimeout = '5m'\njobs = 2\n";
        for (typed, keys) in [
            ("--explore singles", "--jobs=2 --fail-on=bricked"),
            ("--explore=pairs", "--jobs=2 --fail-on=bricked"),
            ("--repair", "--jobs=2 --exclude=slow --fail-on=bricked --timeout=5m --report=up/r.html abort/"),
        ] {
            let given = format!("brickbat run {typed}");
            assert_eq!(added(config, &given), format!("{given} --system=x --dialect=gemini {keys}"));
            // Together they are a valid command line.
            let result = CommandLine::try_parse_from(added(config, &given).split(' '));
            assert!(result.is_ok(), "{given}: {}", result.err().unwrap());
        }
    }

    #[test]
    fn the_manifest_of_the_project_is_found_from_its_sub_folders_and_a_configured_system_takes_precedence() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in [".git", "brickbat", "src/deep"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        assert_eq!(manifest_around(root.path()).unwrap(), None);
        std::fs::write(at("brickbat/system.yml"), "").unwrap();
        let error = manifest_around(&at("src")).unwrap_err();
        let CliError::Input(cause) = error else { panic!("{error:?}") };
        assert!(cause.to_string().contains("is not called system.yaml\nhint: rename it"), "{cause}");
        std::fs::write(at("brickbat/system.yaml"), "").unwrap();
        let found = |folder: &str| manifest_around(&at(folder)).unwrap().unwrap();
        assert_eq!(found(""), Path::new("brickbat/system.yaml"));
        assert_eq!(found("src/deep"), at("brickbat/system.yaml"));
        assert_eq!(found("brickbat"), Path::new("system.yaml"));
        for (config, systems, manifest) in [
            ("systems = ['x']", vec!["x"], None),
            ("manifest = 'm.yaml'", vec![], Some("m.yaml")),
            ("dialects = ['gemini']", vec![], Some("brickbat/system.yaml")),
        ] {
            let config = (at("brickbat.toml"), toml::from_str(config).unwrap());
            let chosen = chosen_in(root.path(), Some(&config)).unwrap();
            assert_eq!(
                (chosen.systems, chosen.manifest),
                (systems.into_iter().map(str::to_owned).collect(), manifest.map(PathBuf::from))
            );
        }
    }

    #[test]
    fn an_unknown_key_is_an_error_that_lists_the_keys() {
        let error = toml::from_str::<Config>("sistems = []").unwrap_err().to_string();
        for key in ["`sistems`", "`systems`", "`fail-on`", "`timeout`"] {
            assert!(error.contains(key), "{error}");
        }
    }

    #[test]
    fn a_baseline_is_a_switch_or_a_path() {
        let error = toml::from_str::<Config>("baseline = 3").unwrap_err().to_string();
        assert!(error.contains("`baseline` is `true`, `false` or a path"), "{error}");
        assert!(!added("baseline = false", "brickbat run").contains("--baseline"));
        assert_eq!(added("baseline = 'b.yaml'", "brickbat run"), "brickbat run --baseline=up/b.yaml");
    }

    /// Every key, each with a value.
    const ALL_KEYS: &str = "systems = ['x']\nmanifest = 'm'\ncommand = 'c'\ndialects = ['gemini']\nscenarios = ['a/']\n\
        exclude = ['e']\nbaseline = true\nreports = ['r.xml']\nfail-on = 'any'\njobs = 2\npatience = 2.0\ntimeout = '5m'";

    /// The options of `run` that no key sets.
    const ONLY_TYPED: [&str; 25] = [
        "base",
        "explore",
        "fail-fast",
        "filter",
        "format",
        "from",
        "limit",
        "list",
        "mode",
        "model",
        "no-confirm",
        "no-out",
        "out",
        "premise",
        "profile",
        "quiet",
        "repair",
        "repeat",
        "requirements",
        "rerun-failed",
        "sdk-version",
        "seed",
        "shard",
        "verbose",
        "write-baseline",
    ];

    /// This test fails for a new option of `run` until a key sets it or it is listed.
    #[test]
    fn every_option_that_a_key_sets_exists_and_every_other_one_of_run_is_listed() {
        let config: Config = toml::from_str(ALL_KEYS).unwrap();
        let chosen = Chosen {
            systems: config.systems.clone(),
            manifest: config.manifest.clone(),
            command: config.command.clone(),
        };
        let program = CommandLine::command();
        for (name, keys) in COMMANDS {
            let command = program.find_subcommand(name).unwrap();
            let options: BTreeSet<String> = command
                .get_arguments()
                .filter_map(|argument| Some(argument.get_long()?.to_owned()))
                .collect();
            let names_systems = keys.contains(&Key::Systems);
            let chosen = if names_systems { chosen.clone() } else { Chosen::default() };
            let added = config.added_to(Vec::new(), keys, &chosen, Path::new(""));
            let option = |word: &OsString| {
                let word = word.to_string_lossy();
                Some(word.strip_prefix("--")?.split('=').next()?.to_owned())
            };
            let set: BTreeSet<String> = added.iter().filter_map(option).collect();
            assert!(set.is_subset(&options), "{name}: {set:?}");
            if name == "run" {
                let others: Vec<&str> = options.difference(&set).map(String::as_str).collect();
                assert_eq!(others, ONLY_TYPED);
            }
        }
    }

    /// A command that takes `--system` takes the configured systems. This test fails for a new one until it
    /// is listed.
    #[test]
    fn every_command_that_runs_systems_is_configured_or_listed_as_an_exception() {
        // They take the name of a system as a filter, or of one that is built in.
        let exceptions = ["export", "show"];
        let command = CommandLine::command();
        let takes_system = |command: &&clap::Command| {
            command.get_arguments().any(|argument| argument.get_long() == Some("system"))
        };
        let with: BTreeSet<&str> =
            command.get_subcommands().filter(takes_system).map(clap::Command::get_name).collect();
        let configured = COMMANDS.iter().map(|(name, _)| *name);
        let listed: BTreeSet<&str> = configured.chain(exceptions).collect();
        assert_eq!(with, listed);
    }

    #[test]
    fn the_value_of_an_option_is_no_scenario() {
        let options = options_with_values();
        for (option, is_in) in
            [("--system", true), ("--jobs", true), ("--verbose", false), ("--baseline", false)]
        {
            assert_eq!(options.contains(option), is_in, "{option}");
        }
    }
}
