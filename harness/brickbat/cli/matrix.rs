//! `brickbat matrix`: system results by scenario family.

use std::path::PathBuf;

use clap::Args;

use super::error::{CliError, Outcome};
use super::merge::read_report;
use super::output::print_plain;
use brickbat_report::report::Report;

/// Show the results of each system in each scenario family, from the JSON reports of runs.
///
/// Each cell contains the worst severity, the number of plans that failed, and the number of plans that were judged.
/// `-` means that the system cannot run any plan of the family; `open` counts plans that could not be judged. The table
/// also shows the level that each system reaches.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Matrix {
    /// JSON reports of runs on one or more systems.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print a Markdown table.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print machine-readable JSON.
    #[arg(long)]
    json: bool,
    /// Print the results of each system for each pair of dialects in the `switch/` scenarios, as JSON.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    switches: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat run abort/ retry/ --system ai-sdk@6/ui-messages --system ai-sdk@7/ui-messages --report matrix.json
  brickbat matrix matrix.json
  brickbat matrix js.json python.json --markdown
  brickbat matrix switches-of-js.json --switches

Exit codes: 0 the table is printed, 2 bad input.";

impl Matrix {
    pub(super) fn execute(&self) -> Outcome {
        let reports: Result<Vec<Report>, CliError> =
            self.files.iter().map(|path| read_report(path)).collect();
        let reports = reports?;
        if self.switches {
            let switches = brickbat_report::switches::Switches::of(&reports);
            print_plain(&(serde_json::to_string_pretty(&switches).expect("they are JSON") + "\n"));
            return Ok(0);
        }
        let matrix = brickbat_report::matrix::Matrix::of(&reports);
        print_plain(&if self.markdown {
            matrix.markdown()
        } else if self.json {
            serde_json::to_string_pretty(&matrix).expect("a matrix is JSON") + "\n"
        } else {
            matrix.text()
        });
        Ok(0)
    }
}
