//! `brickbat merge`: joins shard reports into one.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, Outcome};
use super::options::FailOnOptions;
use super::output::{paint, print};
use super::regular;
use super::reports::ReportOptions;
use super::terminal::{room, width};
use brickbat_report::report::Report;
use brickbat_report::report::brief::{self, Page};
use brickbat_report::report::merge::{ShardReport, merge};
use brickbat_report::report::read::{MAX_BYTES, ReadError};
use brickbat_report::report::text;

/// Merge the JSON reports from all shards of a run into one complete report.
///
/// The output and the exit code are those of the complete run. The report differs from the report of a run without
/// shards only in `timing`, which is the timing of the slowest shard.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Merge {
    /// The JSON report from each shard.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    threshold: FailOnOptions,
    #[command(flatten)]
    report: ReportOptions,
    /// Print every plan that did not pass, and the faults, checks and level of each system, before the closing block.
    #[arg(long)]
    verbose: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat run --shard 1/2 --report 1.json; brickbat run --shard 2/2 --report 2.json
  brickbat merge 1.json 2.json --report all.json --report all.xml

Exit codes: those of `brickbat run`; also 2 if the files are not exactly the shards of one run.";

impl Merge {
    pub(super) fn execute(&self) -> Outcome {
        let part =
            |path: &PathBuf| Ok(ShardReport { file: path.display().to_string(), report: read_report(path)? });
        let report = merge(self.files.iter().map(part).collect::<Result<_, CliError>>()?)?;
        self.report.check_writable()?;
        let fail_on = self.threshold.fail_on;
        if self.verbose {
            print(&format!("{}\n", text::render(&report, fail_on, paint)));
        }
        print(&brief::render(
            &report,
            &Page { width: width(), room: room(), fail_on, kept: &|_| None, paint: &paint },
        ));
        self.report.write(&report, fail_on, &[]);
        Ok(report.exit_code(self.threshold.fail_on))
    }
}

/// Reads the JSON report of a run.
pub(super) fn read_report(path: &Path) -> Result<Report, CliError> {
    let file = path.display();
    let mut bytes = Vec::new();
    regular::open(path)
        .and_then(|opened| opened.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| CliError::cannot_read(&file, error))?;
    if bytes.len() > MAX_BYTES {
        return Err(CliError::cannot_read(&file, ReadError::TooLarge));
    }
    let text = String::from_utf8(bytes).map_err(|error| CliError::cannot_read(&file, error))?;
    Report::from_json(&text).map_err(|error| CliError::cannot_read(&file, error))
}
