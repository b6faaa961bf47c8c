//! `brickbat matrix`: what systems make of families of scenarios.

use std::path::PathBuf;

use clap::Args;

use super::merge::read_report;
use super::print_plain;
use brickbat_report::matrix::Matrix;
use brickbat_report::report::Report;

/// Shows what each system makes of each family of scenarios, and the level that it keeps, from JSON reports of runs.
///
/// A cell names the worst harm, with the plans that fail and all that were judged. `-` means that no plan of the family can
/// be played on the system; `open` counts plans that should have been judged and were not.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MatrixOf {
    /// JSON reports of runs, of one system or of several.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print a table of Markdown.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON, for other programs.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat run abort/ retry/ --system ai-sdk@6/ui-messages --system ai-sdk@7/ui-messages --report matrix.json
  brickbat matrix matrix.json
  brickbat matrix js.json python.json --markdown

Exit codes: 0 shown, 2 bad input.";

impl MatrixOf {
    pub(super) fn execute(&self) -> u8 {
        let reports: Result<Vec<Report>, u8> = self.files.iter().map(|path| read_report(path)).collect();
        let matrix = match reports {
            Ok(reports) => Matrix::of(&reports),
            Err(code) => return code,
        };
        let text = match (self.markdown, self.json) {
            (true, _) => matrix.markdown(),
            (_, true) => serde_json::to_string_pretty(&matrix).expect("a matrix is JSON") + "\n",
            _ => matrix.text(),
        };
        print_plain(&text);
        0
    }
}
