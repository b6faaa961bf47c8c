//! `brickbat schema`.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::config;
use super::error::Outcome;
use super::output::print_plain;
use brickbat_drive::driver;
use brickbat_report::{baseline, report};
use brickbat_rules::lint;
use brickbat_scenario::parse;

/// Print the JSON Schema of a file format or of the adapter protocol, for editors and for programs in other languages.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Schema {
    /// The format that the schema describes.
    #[arg(value_name = "FORMAT")]
    format: SchemaOf,
}

const EXAMPLES: &str = "Examples:
  brickbat schema scenario > scenario.schema.json     for an editor; the first line of a scenario names the file
  brickbat schema config > brickbat.schema.json       for an editor; `#:schema ./brickbat.schema.json` in brickbat.toml
  brickbat schema protocol                            for an adapter in another language";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SchemaOf {
    /// Scenario files.
    Scenario,
    /// Given-history files, stored alongside scenarios.
    History,
    /// JSON reports.
    Report,
    /// Files of rule vectors.
    Vectors,
    /// The configuration, `brickbat.toml`.
    Config,
    /// The manifest of a system, `system.yaml`.
    Manifest,
    /// Baselines: known findings.
    Baseline,
    /// The messages between adapters and Brickbat beyond ACP.
    Protocol,
}

impl Schema {
    pub(super) fn execute(&self) -> Outcome {
        let schema: Value = match self.format {
            SchemaOf::Scenario => parse::schema(),
            SchemaOf::History => parse::history_schema(),
            SchemaOf::Report => report::schema(),
            SchemaOf::Vectors => lint::schema(),
            SchemaOf::Config => config::schema(),
            SchemaOf::Manifest => driver::manifest::schema(),
            SchemaOf::Baseline => baseline::schema(),
            SchemaOf::Protocol => driver::protocol::schema(),
        };
        print_plain(&format!("{schema:#}\n"));
        Ok(0)
    }
}
