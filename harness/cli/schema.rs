//! `brickbat schema`.

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::{driver, parse, report, vectors};

/// Prints the JSON Schema of a format, for editors and for programs in other languages.
#[derive(Args)]
pub(super) struct Schema {
    /// The format.
    #[arg(value_name = "FORMAT")]
    format: Format,
}

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
            Format::Vectors => vectors::schema(),
            Format::Protocol => driver::protocol::schema(),
        };
        anstream::println!("{schema:#}");
        0
    }
}
