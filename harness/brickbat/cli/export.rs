//! `brickbat export`.

use std::path::{Path, PathBuf};
use std::process::Output;

use clap::{Args, ValueEnum};

use super::embedded::catalogue;
use super::error::{CliError, Outcome};
use super::interrupt::until_interrupted;
use super::launch::{block_on, own_program};
use super::options::own_manifest;
use super::output::{print, tell};
use super::secrets::redactor;
use super::show::WantedCase;
use brickbat_drive::driver::catalogue::ISSUE;
use brickbat_drive::driver::exported::{ExportedTest, run_test};
use brickbat_drive::driver::install::cache_folder;
use brickbat_drive::driver::manifest::Install;
use brickbat_drive::driver::{BASELINE, Manifest, Mode, resolve};
use brickbat_drive::folder;
use brickbat_drive::whole_file;
use brickbat_report::baseline::Baseline;
use brickbat_report::export::{self, Framework, Package, Target, export};
use brickbat_report::record::Record;

/// Turn a finding into a test and the text of an issue, for the project that has the bug.
///
/// The test is one file that does not use Brickbat: a stub of the provider replays the recorded replies, and the test
/// fails with the version in which the finding was seen. Alongside it are `issue.md` and a file that pins the packages
/// that it needs. A finding that a test in one process cannot express, such as a killed process, is rejected.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Export {
    /// The short id of a case, its directory, a plan's id, or a part of an id that matches only one case of
    /// the run.
    #[arg(value_name = "FINDING")]
    case: String,
    /// The --out directory of the run that contains the case; by default the most recent run that contains it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only cases from systems whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// The manifest of your own system, if the case belongs to one; by default the manifest in the project that
    /// contains the working directory.
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// The test framework; by default the one for the language in which the system is used.
    #[arg(long = "as", value_name = "FRAMEWORK")]
    framework: Option<As>,
    /// The check whose finding is exported, such as `results-kept`; by default the first that a test can express.
    #[arg(long, value_name = "CHECK")]
    check: Option<String>,
    /// Write the test for another version of the system, such as one with the fix.
    #[arg(long, value_name = "VERSION")]
    on: Option<String>,
    /// The directory for the files; by default one in the working directory that is named after the case.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Install the test's packages into the cache folder and run the test: it must fail, or pass with --on.
    #[arg(long)]
    run: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat export 3f2a91
  brickbat export 3f2a91 --as node-test --to upstream
  brickbat export 3f2a91 --run
  brickbat export 3f2a91 --on 7 --run --to on-7
  brickbat export 'abort/mid-batch#k=1@anthropic-messages' --out last --check results-kept

Exit codes:
  0  the files are written and, with --run, the test failed (or passed, with --on)
  1  with --run, the test did the opposite
  2  the input is wrong, or no test can express the finding
  3  the test could not be installed or run";

/// A test framework, by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    /// Vitest, for JavaScript and TypeScript.
    Vitest,
    /// The Node.js test runner.
    NodeTest,
    /// pytest, for Python.
    Pytest,
}

impl As {
    fn framework(self) -> Framework {
        match self {
            As::Vitest => Framework::Vitest,
            As::NodeTest => Framework::NodeTest,
            As::Pytest => Framework::Pytest,
        }
    }

    fn name(self) -> &'static str {
        match self {
            As::Vitest => "vitest",
            As::NodeTest => "node-test",
            As::Pytest => "pytest",
        }
    }
}

impl Export {
    pub(super) fn execute(&self) -> Outcome {
        let wanted =
            WantedCase { case: &self.case, out: self.out.as_deref(), system: self.system.as_deref() };
        let record = folder::read_case(&wanted.folder()?)?;
        let (seen_on, mode) = self.system_of(&record)?;
        let manifest = match &self.on {
            Some(version) => self.named(&format!("{}@{version}/{}", seen_on.name, mode.name))?.0,
            None => seen_on,
        };
        let (framework, template) = self.template(&manifest)?;
        let (baseline, issue) = (baseline(&manifest)?, manifest.text(ISSUE));
        let target = Target {
            system: &manifest.name,
            sdk: manifest.sdk.as_deref().unwrap_or(&manifest.name),
            version: manifest.version.as_deref().unwrap_or_default(),
            mode: &mode.name,
            template: &template,
            issue: issue.as_deref(),
            packages: &packages(&manifest),
            baseline: baseline.as_ref(),
        };
        let made = export(&record, &target, framework.framework(), self.check.as_deref())?;
        let to = self.to.clone().unwrap_or_else(|| default_folder(&target, &record));
        write(&made, &to)?;
        print(&format!("{}\n", made.title));
        made.files.iter().for_each(|file| print(&format!("  {}\n", to.join(&file.name).display())));
        if self.run { self.run(&made, &to, &target, framework) } else { Ok(0) }
    }

    /// The system on which the case ran.
    fn system_of(&self, record: &Record) -> Result<(Manifest, Mode), CliError> {
        self.named(&record.case.system)
    }

    fn named(&self, name: &str) -> Result<(Manifest, Mode), CliError> {
        let found = match &self.manifest {
            Some(path) => resolve(&Manifest::read(path)?, name),
            None => match (catalogue().resolve(name), own_manifest(name)) {
                (Err(_), Some(path)) => resolve(&Manifest::read(&path)?, name),
                (found, _) => found,
            },
        };
        found.map_err(|error| {
            CliError::input(format!(
                "{error}\nhint: for your own system, pass --manifest FILE; the reference agent and its \
                 canaries cannot be exported"
            ))
        })
    }

    /// The framework, and the system template in its language.
    fn template(&self, manifest: &Manifest) -> Result<(As, String), CliError> {
        let all = self.framework.map_or_else(|| vec![As::Vitest, As::Pytest], |framework| vec![framework]);
        let found = all.iter().find_map(|one| Some((*one, manifest.text(one.framework().template())?)));
        found.ok_or_else(|| {
            let files: Vec<&str> = all.iter().map(|one| one.framework().template()).collect();
            CliError::input(format!(
                "the system `{}` has no template for a test{}: it has no {}\nhint: `brickbat systems` lists the systems; \
                 the documentation's page on exports describes templates",
                manifest.name,
                self.framework.map(|one| format!(" as {}", one.name())).unwrap_or_default(),
                files.join(" and no "),
            ))
        })
    }

    /// Runs the test, and reports whether the result is as expected.
    fn run(&self, made: &export::Export, to: &Path, target: &Target<'_>, framework: As) -> Outcome {
        let file = made.files[0].name.as_str();
        let (install, command): (Install, Vec<&str>) = match framework {
            As::Vitest => (Install::Npm, vec!["node_modules/.bin/vitest", "run", file]),
            As::NodeTest => (Install::Npm, vec!["node", "--test", file]),
            As::Pytest => {
                (Install::Pip, vec![".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", file])
            }
        };
        let folder = std::path::absolute(to).map_err(|error| CliError::cannot_read(to.display(), error))?;
        let (cache, supervisor) = (cache_folder().map_err(CliError::start)?, own_program()?);
        let test = ExportedTest {
            folder: &folder,
            file,
            install,
            sdk: target.sdk,
            version: target.version,
            command: &command,
        };
        let note = |words: &str| tell(words);
        let work = run_test(&test, &cache, &supervisor, &note);
        let output =
            block_on(until_interrupted(work))?.ok_or(CliError::Interrupted)?.map_err(CliError::start)?;
        let is_red = !output.status.success();
        let said = said(&output);
        if is_red && !ASSERTED.iter().any(|words| said.contains(words)) {
            let words = "the test failed before its assertion, so it proves nothing";
            return Err(CliError::start(format!("{words}: {said}")));
        }
        print(&format!("{}: {}\n", if is_red { "red" } else { "green" }, said));
        Ok(u8::from(is_red == self.on.is_some()))
    }
}

/// Text in the line with which a framework reports a failed assertion.
const ASSERTED: [&str; 2] = ["AssertionError", "E       assert "];

/// The number of characters shown from that line.
const MAX_SAID: usize = 300;

/// The framework's line with the reason for the failure, or otherwise its last line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_reason = |line: &&str| {
        ["RuntimeError: ", "Error: the turn "].iter().chain(&ASSERTED).any(|words| line.contains(words))
    };
    let last = || lines().next_back();
    let line = if output.status.success() { last() } else { lines().find(is_reason).or_else(last) };
    let line: String = line.unwrap_or("it printed nothing").chars().take(MAX_SAID).collect();
    redactor().text(&line).into_owned()
}

/// The adapter's packages, in the manifest's version.
fn packages(manifest: &Manifest) -> Vec<Package> {
    let file = |name: &str| {
        let path = manifest.folder.as_ref().map_or(name.to_owned(), |folder| format!("{folder}/{name}"));
        manifest.text(&path).unwrap_or_default()
    };
    match manifest.install {
        Install::Npm => Package::of_npm(&file("package.json")),
        Install::Pip => Package::of_pip(&file("requirements.txt")),
        Install::None | Install::Cargo => Vec::new(),
    }
}

fn baseline(manifest: &Manifest) -> Result<Option<Baseline>, CliError> {
    let Some(text) = manifest.text(BASELINE) else { return Ok(None) };
    Ok(Some(Baseline::parse(&text, &format!("{}/{BASELINE}", manifest.name))?))
}

fn default_folder(target: &Target<'_>, record: &Record) -> PathBuf {
    let plan = record.case.plan.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = [target.system, target.version].into_iter().chain(plan).collect();
    PathBuf::from(words.join("-"))
}

/// Writes the files into a folder. It writes none if one of them already exists with different content.
fn write(made: &export::Export, to: &Path) -> Result<(), CliError> {
    let files: Vec<(PathBuf, String)> = made
        .files
        .iter()
        .map(|file| (to.join(&file.name), redactor().text(&file.text).into_owned()))
        .collect();
    let is_other = |(path, text): &&(PathBuf, String)| {
        path.exists() && std::fs::read_to_string(path).map_or(true, |old| old != *text)
    };
    if let Some((path, _)) = files.iter().find(is_other) {
        return Err(CliError::input(format!(
            "{} already exists with different content\nhint: choose another directory with --to",
            path.display()
        )));
    }
    std::fs::create_dir_all(to).map_err(|error| CliError::cannot_write(to.display(), error))?;
    for (path, text) in &files {
        whole_file::write_private(path, text.as_bytes())
            .map_err(|error| CliError::cannot_write(path.display(), error))?;
    }
    Ok(())
}
