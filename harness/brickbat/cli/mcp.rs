//! `brickbat mcp`: started by an agent under test, not by users.

use std::path::PathBuf;

use clap::Args;

use super::error::{CliError, Outcome};
use brickbat_drive::driver::mcp;

/// Offer the tools of a running plan as an MCP server on standard input and output.
#[derive(Args)]
#[command(hide = true)]
pub(super) struct Mcp {
    /// The tool list that the harness wrote for the session.
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
}

impl Mcp {
    pub(super) fn execute(&self) -> Outcome {
        let tools = mcp::read_tools(&self.tools)?;
        // One thread is enough for a relay.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(CliError::start)?;
        let served = runtime.block_on(mcp::serve(tools));
        // A read of standard input may never return; the process does not wait for it.
        runtime.shutdown_background();
        served.map_err(CliError::start)?;
        Ok(0)
    }
}
