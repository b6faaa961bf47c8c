//! `brickbat schema`.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::print_plain;
use crate::{driver, lint, parse, report};

/// Prints the JSON Schema of a format, for editors and for programs in other languages.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Schema {
    /// The format.
    #[arg(value_name = "FORMAT")]
    format: Format,
}

const EXAMPLES: &str = "Examples:
  brickbat schema scenario > scenario.schema.json     for the editor, as the first line of a scenario names it
  brickbat schema protocol                            for an adapter in another language";

/// What has a schema.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Scenario files.
    Scenario,
    /// Reports in JSON.
    Report,
    /// Files of rule vectors.
    Vectors,
    /// What adapters and Brickbat say to each other beyond ACP.
    Protocol,
}

impl Schema {
    pub(super) fn execute(&self) -> u8 {
        let schema: Value = match self.format {
            Format::Scenario => parse::schema(),
            Format::Report => report::schema(),
            Format::Vectors => lint::schema(),
            Format::Protocol => driver::protocol::schema(),
        };
        print_plain(&format!("{schema:#}\n"));
        0
    }
}
