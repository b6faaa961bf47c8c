//! `--report`: the files that receive a report. The file extension selects the format.

use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, UnknownName};
use super::output::tell;
use brickbat_drive::whole_file;
use brickbat_report::record::Record;
use brickbat_report::report::Report;
use brickbat_report::report::format::{FORMATS, Format};
use brickbat_scenario::verdict::Severity;

#[derive(Args)]
pub(super) struct ReportOptions {
    #[arg(long = "report", value_name = "FILE", value_parser = report_file, help = help())]
    reports: Vec<ReportFile>,
}

#[derive(Clone)]
struct ReportFile {
    path: PathBuf,
    format: &'static Format,
}

impl ReportOptions {
    /// Makes sure that the files can be written, so that a long run does not end without its report. Existing reports
    /// stay unchanged.
    pub(super) fn check_writable(&self) -> Result<(), CliError> {
        self.reports.iter().try_for_each(|ReportFile { path, .. }| {
            whole_file::check_writable(path).map_err(|error| CliError::cannot_write(path.display(), error))
        })
    }

    /// True if a report shows what happened in the cases.
    pub(super) fn shows_records(&self) -> bool {
        self.reports.iter().any(|report| report.format.shows_records())
    }

    /// Writes the reports, and lists those that cannot be written. The others, and the findings of the run, stay
    /// valid. `records` are those of the cases that represent the causes, if they were kept.
    pub(super) fn write(&self, report: &Report, fail_on: Severity, records: &[Record]) {
        for ReportFile { path, format } in &self.reports {
            let text = format.render(report, fail_on, records);
            write_beside_verdict(path, &text);
        }
    }
}

/// Writes a file that a command produces in addition to its verdict. An error is printed; it changes neither the verdict nor
/// the exit code, and keeps no other file from being written.
pub(super) fn write_beside_verdict(path: &Path, text: &str) {
    if let Err(error) = whole_file::write(path, text.as_bytes()) {
        tell(format!("not written: {}: {error}", path.display()));
    }
}

fn report_file(word: &str) -> Result<ReportFile, UnknownName> {
    let path = PathBuf::from(word);
    let ending = path.extension().and_then(|ending| ending.to_str());
    match FORMATS.iter().find(|format| ending == Some(format.ending)) {
        Some(format) => Ok(ReportFile { path, format }),
        None => {
            let endings: Vec<String> = FORMATS.iter().map(|format| format!(".{}", format.ending)).collect();
            Err(UnknownName(format!("the name must end in {}", endings.join(" or "))))
        }
    }
}

fn help() -> String {
    let formats =
        FORMATS.iter().map(|format| format!("{} if the name ends in `.{}`", format.name, format.ending));
    format!("Write a report: {}. May be repeated", formats.collect::<Vec<_>>().join(", "))
}
