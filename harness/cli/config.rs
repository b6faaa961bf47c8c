//! `brickbat.toml`, or `[tool.brickbat]` of `pyproject.toml`: options that need not be typed.
//!
//! The file of the working directory or of the nearest folder above it, up to the top of the repository, is taken. Each key
//! stands for an option; an option that is typed wins over its key.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::CliError;
use super::regular;

/// The names of the file, the first that is there.
const FILES: [&str; 2] = ["brickbat.toml", "pyproject.toml"];

/// Bytes of a configuration that are read.
const MAX_BYTES: u64 = 1 << 20;

/// What can be configured.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    /// Systems, as `--system` takes them.
    #[serde(default)]
    systems: Vec<String>,
    /// A manifest of one's own, relative to the file.
    manifest: Option<PathBuf>,
    /// The command of an adapter of one's own.
    command: Option<String>,
    #[serde(default)]
    dialects: Vec<String>,
    /// Scenarios, or beginnings of ids such as `abort/`.
    #[serde(default)]
    scenarios: Vec<String>,
    /// Parts of ids that are left out.
    #[serde(default)]
    exclude: Vec<String>,
    /// A baseline, relative to the file; `true` for those next to the manifests.
    baseline: Option<BaselineKey>,
    /// Files that reports are written to, relative to the file.
    #[serde(default)]
    reports: Vec<PathBuf>,
    fail_on: Option<String>,
    jobs: Option<u16>,
    patience: Option<f64>,
    timeout: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum BaselineKey {
    Own(bool),
    File(PathBuf),
}

/// Commands that run systems and take those keys; `run` takes all.
const COMMANDS: [&str; 4] = ["run", "fuzz", "shrink", "events"];

/// The arguments of the program, with those that a configuration adds.
///
/// # Errors
///
/// When the file cannot be read or says something that is not known.
pub(super) fn arguments(given: Vec<OsString>) -> Result<Vec<OsString>, CliError> {
    let command = given.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let asks = |word: &str| given.iter().any(|argument| argument == word);
    if !COMMANDS.contains(&command) || asks("--help") || asks("-h") || asks("--rerun-failed") {
        return Ok(given);
    }
    let Ok(folder) = std::env::current_dir() else { return Ok(given) };
    let Some((file, config)) = find(&folder)? else { return Ok(given) };
    let place = file.parent().unwrap_or(Path::new("."));
    Ok(config.added_to(given.clone(), command == "run", place.strip_prefix(&folder).unwrap_or(place)))
}

/// The configuration of a folder or of the nearest one above it.
fn find(folder: &Path) -> Result<Option<(PathBuf, Config)>, CliError> {
    for folder in folder.ancestors() {
        for name in FILES {
            let path = folder.join(name);
            if !path.is_file() {
                continue;
            }
            if let Some(config) = read(&path, name)? {
                return Ok(Some((path, config)));
            }
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    Ok(None)
}

fn read(path: &Path, name: &str) -> Result<Option<Config>, CliError> {
    let shown = name;
    let text = regular::text(path, MAX_BYTES).map_err(|error| CliError::cannot_read(shown, error))?;
    let wrong = |error: toml::de::Error| {
        let keys = "systems, manifest, command, dialects, scenarios, exclude, baseline, reports, fail-on, jobs, patience, timeout";
        CliError::input(format!("{shown}: {}\nhint: the keys are {keys}", error.to_string().trim_end()))
    };
    if name == "brickbat.toml" {
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
    // What stands elsewhere in that file is the business of others.
    if !text.contains("tool.brickbat") {
        return Ok(None);
    }
    let project: Project = toml::from_str(&text).map_err(wrong)?;
    Ok(project.tool.and_then(|tools| tools.brickbat))
}

impl Config {
    /// The arguments with an option for each key whose option is not among them. Paths are relative to `place`.
    fn added_to(&self, given: Vec<OsString>, is_run: bool, place: &Path) -> Vec<OsString> {
        let mut arguments = given;
        let typed: Vec<String> =
            arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let is_typed = |option: &str| {
            let with_value = format!("{option}=");
            typed.iter().any(|word| word == option || word.starts_with(&with_value))
        };
        let mut add = |option: &str, value: Option<String>| {
            if is_typed(option) {
                return;
            }
            match value {
                Some(value) => arguments.push(format!("{option}={value}").into()),
                None => arguments.push(option.into()),
            }
        };
        let path = |path: &Path| place.join(path).to_string_lossy().into_owned();
        let names_system = ["--system", "--manifest", "--command"].iter().any(|option| is_typed(option));
        if !names_system {
            self.systems.iter().for_each(|system| add("--system", Some(system.clone())));
            self.manifest.iter().for_each(|manifest| add("--manifest", Some(path(manifest))));
            self.command.iter().for_each(|command| add("--command", Some(command.clone())));
        }
        self.dialects.iter().for_each(|dialect| add("--dialect", Some(dialect.clone())));
        self.patience.iter().for_each(|factor| add("--patience", Some(factor.to_string())));
        self.jobs.iter().for_each(|jobs| add("--jobs", Some(jobs.to_string())));
        if !is_run {
            return arguments;
        }
        self.exclude.iter().for_each(|text| add("--exclude", Some(text.clone())));
        self.fail_on.iter().for_each(|severity| add("--fail-on", Some(severity.clone())));
        self.timeout.iter().for_each(|time| add("--timeout", Some(time.clone())));
        match &self.baseline {
            Some(BaselineKey::Own(true)) => add("--baseline", None),
            Some(BaselineKey::File(file)) => add("--baseline", Some(path(file))),
            Some(BaselineKey::Own(false)) | None => {}
        }
        self.reports.iter().for_each(|file| add("--report", Some(path(file))));
        if !names_scenario(&typed) {
            arguments.extend(self.scenarios.iter().map(OsString::from));
        }
        arguments
    }
}

/// Whether a word is neither an option nor the value of one.
fn names_scenario(typed: &[String]) -> bool {
    let takes_none =
        ["--verbose", "--quiet", "--list", "--no-out", "--no-confirm", "--fail-fast", "--baseline"];
    let mut words = typed.iter().skip(2).peekable();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return true;
        }
        if !word.contains('=') && !takes_none.contains(&word.as_str()) {
            words.next();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(config: &str, given: &str) -> String {
        let config: Config = toml::from_str(config).unwrap();
        let given = given.split(' ').map(OsString::from).collect();
        let all = config.added_to(given, true, Path::new("up"));
        all.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn keys_are_options_and_what_is_typed_wins() {
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
    fn an_unknown_key_is_an_error() {
        assert!(toml::from_str::<Config>("sistems = []").is_err());
    }
}
