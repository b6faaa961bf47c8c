//! `brickbat site`: a static site of stored results.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::embedded::catalogue;
use super::error::{CliError, Outcome, UnknownName};
use super::merge::read_report;
use super::output::print_plain;
use super::regular;
use brickbat_drive::driver::BASELINE;
use brickbat_drive::whole_file;
use brickbat_report::baseline::{Baseline, is_date};
use brickbat_report::report::Report;
use brickbat_report::site::{self, MARK, MARK_TEXT, MAX_BYTES, SiteFile, Stored};
use brickbat_scenario::parse::MAX_TEXT;

/// Store the results of runs by date, and make a static site of all stored results.
///
/// The site lists the level of each system and version under the dated requirements, the checks that keep it from the next
/// level, each cause with its public report, and the changes between two dates or versions. It has `results.json`, badges
/// for shields.io and an Atom feed.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Site {
    /// The directory of stored results: one file for each system and date.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Add the JSON report of a run to FOLDER, with the reasons and public reports from the baselines of built-in systems.
    /// May be repeated.
    #[arg(long = "add", value_name = "REPORT", requires = "date")]
    reports: Vec<PathBuf>,
    /// The day on which the reports of --add were written (YYYY-MM-DD).
    #[arg(long, value_name = "DATE", value_parser = day, requires = "reports")]
    date: Option<String>,
    /// The commit of Brickbat that wrote the reports of --add.
    #[arg(long, value_name = "HASH", value_parser = commit, requires = "reports")]
    commit: Option<String>,
    /// Write the site to this directory: a new one, or one with an earlier site.
    #[arg(long, value_name = "DIR", required_unless_present = "reports")]
    out: Option<PathBuf>,
    /// The address at which the site will be published, for badges and the feed.
    #[arg(long, value_name = "URL", value_parser = address, requires = "out")]
    address: Option<String>,
}

const EXAMPLES: &str = "Examples:
  brickbat site docs/data/results --out target/site       then open target/site/index.html
  brickbat run --system ai-sdk@7/ui-messages --report ai-sdk.json
  brickbat site results --add ai-sdk.json --date 2026-12-01 --out site

Exit codes: 0 the site is written, 2 bad input.";

/// The maximum number of stored results: a thousand systems with some dates each.
const MAX_RESULTS: usize = 10_000;

impl Site {
    pub(super) fn execute(&self) -> Outcome {
        if let Some(out) = &self.out {
            check_place(out)?;
        }
        let mut results = match self.reports.is_empty() || self.folder.exists() {
            true => read_all(&self.folder)?,
            false => Vec::new(),
        };
        let date = self.date.as_deref().unwrap_or_default();
        let added = added(&self.reports, date, self.commit.as_deref())?;
        for (report, result) in &added {
            let path = self.folder.join(result.file_name());
            if results.iter().any(|known| known.file_name() == result.file_name()) {
                return Err(CliError::input(format!(
                    "{}: {} already has the result of {} on {date}\nhint: a system has one result for each day",
                    report.display(),
                    path.display(),
                    result.system
                )));
            }
            check_slug(&results, result, report)?;
            results.push(result.clone());
        }
        for (_, result) in &added {
            write(&self.folder.join(result.file_name()), &result.to_json())?;
            print_plain(&format!("{}\n", self.folder.join(result.file_name()).display()));
        }
        if let Some(out) = &self.out {
            let files = site::build(&results, self.address.as_deref());
            files.iter().try_for_each(|SiteFile { path, text }| write(&out.join(path), text))?;
            let mut systems: Vec<&str> = results.iter().map(|result| result.system.as_str()).collect();
            systems.sort_unstable();
            systems.dedup();
            let index = out.join("index.html");
            print_plain(&format!("{}: {} systems, {} files\n", index.display(), systems.len(), files.len()));
        }
        Ok(0)
    }
}

/// An error if a site would be mixed with other files.
fn check_place(out: &Path) -> Result<(), CliError> {
    let mut entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(CliError::cannot_write(out.display(), error)),
    };
    let mut start = vec![0; MARK_TEXT.len()];
    let marked = regular::open(&out.join(MARK)).and_then(|mut file| file.read_exact(&mut start));
    if entries.next().is_none() || (marked.is_ok() && start == MARK_TEXT.as_bytes()) {
        return Ok(());
    }
    Err(CliError::input(format!("{} contains other files\nhint: name a new directory", out.display())))
}

/// The stored results of a directory, in the order of their names.
fn read_all(folder: &Path) -> Result<Vec<Stored>, CliError> {
    let cannot_read = |error| CliError::cannot_read(folder.display(), error);
    let entries = fs::read_dir(folder).map_err(cannot_read)?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>();
    let mut paths = paths.map_err(cannot_read)?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    if paths.len() > MAX_RESULTS {
        return Err(CliError::cannot_read(
            folder.display(),
            format!("it has more than {MAX_RESULTS} results"),
        ));
    }
    let mut results = Vec::new();
    for path in paths {
        let text = regular::text(&path, MAX_BYTES as u64);
        let text = text.map_err(|error| CliError::cannot_read(path.display(), error))?;
        let result = Stored::parse(&text).map_err(|error| CliError::cannot_read(path.display(), error))?;
        // Two results of one system and day would have the same name.
        let name = result.file_name();
        if path.file_name().is_none_or(|own| own != name.as_str()) {
            let hint =
                format!("it is the result of {} on {}, so its name is {name}", result.system, result.date);
            return Err(CliError::cannot_read(path.display(), hint));
        }
        check_slug(&results, &result, &path)?;
        results.push(result);
    }
    Ok(results)
}

/// An error if another system has the same file names.
fn check_slug(results: &[Stored], result: &Stored, file: &Path) -> Result<(), CliError> {
    let slug = site::slug(&result.system);
    let other =
        results.iter().find(|other| other.system != result.system && site::slug(&other.system) == slug);
    match other {
        Some(other) => Err(CliError::cannot_read(
            file.display(),
            format!("{} and {} would have the same page", result.system, other.system),
        )),
        None => Ok(()),
    }
}

/// The results in reports, each with its report.
fn added<'a>(
    reports: &'a [PathBuf],
    date: &str,
    commit: Option<&str>,
) -> Result<Vec<(&'a Path, Stored)>, CliError> {
    let mut added: BTreeMap<String, (&Path, Stored)> = BTreeMap::new();
    for path in reports {
        let report = read_report(path)?;
        if report.shard.is_some() {
            let why = "it is a part of a run\nhint: join the parts with `brickbat merge`";
            return Err(CliError::cannot_read(path.display(), why));
        }
        for result in Stored::all_of(&report, date, commit, &baselines(&report)?) {
            // A result that is written can be read again.
            let result = Stored::parse(&result.to_json());
            let result = result.map_err(|error| CliError::cannot_read(path.display(), error))?;
            if let Some((_, other)) = added.insert(result.file_name(), (path.as_path(), result)) {
                let why = format!("another report also covers {}", other.system);
                return Err(CliError::cannot_read(path.display(), why));
            }
        }
    }
    Ok(added.into_values().collect())
}

/// The baselines of the built-in systems in a report.
fn baselines(report: &Report) -> Result<Vec<Baseline>, CliError> {
    let mut baselines: Vec<Baseline> = Vec::new();
    for account in &report.accounts {
        let name = account.system.split('@').next().unwrap_or_default();
        let Some(manifest) = catalogue().manifests().iter().find(|manifest| manifest.name == name) else {
            continue;
        };
        let text = manifest.read_text(BASELINE, MAX_TEXT as u64);
        let Some(text) = text.map_err(|error| CliError::cannot_read(BASELINE, error))? else { continue };
        let baseline = Baseline::parse(&text, &format!("{name}/{BASELINE}"))?;
        if !baselines.contains(&baseline) {
            baselines.push(baseline);
        }
    }
    Ok(baselines)
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(parent).and_then(|()| whole_file::write(path, text.as_bytes()));
    written.map_err(|error| CliError::cannot_write(path.display(), error))
}

fn day(word: &str) -> Result<String, UnknownName> {
    match is_date(word) {
        true => Ok(word.to_owned()),
        false => Err(UnknownName("expected a day such as 2026-12-01".to_owned())),
    }
}

fn commit(word: &str) -> Result<String, UnknownName> {
    let is_hash = (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hash {
        true => Ok(word.to_owned()),
        false => Err(UnknownName("expected 7 to 40 hexadecimal digits".to_owned())),
    }
}

fn address(word: &str) -> Result<String, UnknownName> {
    let is_web = word.starts_with("https://") || word.starts_with("http://");
    match is_web && word.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'()<>?#".contains(&byte)) {
        true => Ok(word.trim_end_matches('/').to_owned()),
        false => Err(UnknownName("expected an address such as https://example.org/brickbat".to_owned())),
    }
}
