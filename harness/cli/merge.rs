//! `brickbat merge`: the reports of shards into one.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::run::{all_writable, harm, paint, report_path, write_reports};
use super::{bad_input, print};
use brickbat_report::report::Report;
use brickbat_report::report::merge::{Part, merge};
use brickbat_report::report::read::{MAX_BYTES, ReadError};
use brickbat_report::report::text;
use brickbat_scenario::verdict::Severity;

/// Joins the JSON reports that `brickbat run --shard I/N --report FILE` has written, one for each shard.
///
/// What it prints, and its exit code, are those of the whole run: the report differs from that of a run without shards
/// only in its `timing`, which is that of the shard that took longest.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Merge {
    /// The JSON report of each shard.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The mildest harm that makes the run red: a name from a report, `bricked`, or `any`.
    #[arg(long, value_name = "GRADE", default_value = "any", value_parser = harm)]
    fail_on: Severity,
    /// Write the joined report: JSON if the name ends in `.json`, JUnit if it ends in `.xml`. May be repeated.
    #[arg(long = "report", value_name = "FILE", value_parser = report_path)]
    reports: Vec<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  brickbat run --shard 1/2 --report 1.json; brickbat run --shard 2/2 --report 2.json
  brickbat merge 1.json 2.json --report all.json --report all.xml

Exit codes: as of `brickbat run`; 2 also where the files are not the shards of one run, or not all of them.";

impl Merge {
    pub(super) fn execute(&self) -> u8 {
        let parts: Result<Vec<Part>, u8> = self.files.iter().map(|path| part(path)).collect();
        let report = match parts.map(merge) {
            Ok(Ok(report)) => report,
            Ok(Err(error)) => return bad_input(format!("error: {error}")),
            Err(code) => return code,
        };
        if let Err(code) = all_writable(&self.reports) {
            return code;
        }
        print(&text::render(&report, self.fail_on, paint));
        match write_reports(&self.reports, &report, self.fail_on) {
            Ok(()) => report.exit_code(self.fail_on),
            Err(code) => code,
        }
    }
}

fn part(path: &Path) -> Result<Part, u8> {
    Ok(Part { file: path.display().to_string(), report: read_report(path)? })
}

/// Reads the JSON report of a run.
pub(super) fn read_report(path: &Path) -> Result<Report, u8> {
    let file = path.display().to_string();
    let unreadable = |why: String| bad_input(format!("error: cannot read {file}: {why}"));
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|opened| opened.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() > MAX_BYTES {
        return Err(unreadable(ReadError::TooLarge.to_string()));
    }
    let text = String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
    Report::from_json(&text).map_err(|error| unreadable(error.to_string()))
}
