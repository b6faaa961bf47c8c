//! `brickbat mcp`: started by an agent under test, not by people.

use std::path::PathBuf;

use clap::Args;

use super::{bad_input, tell};
use brickbat_drive::driver::mcp;

/// Offers the tools of a running plan as an MCP server on standard input and output.
#[derive(Args)]
pub(super) struct Mcp {
    /// The tools, as the harness wrote them down for the session.
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
}

impl Mcp {
    pub(super) fn execute(&self) -> u8 {
        let tools = match mcp::read_tools(&self.tools) {
            Ok(tools) => tools,
            Err(error) => return bad_input(format!("error: {error}")),
        };
        // One thread is enough for a relay, and a session costs the machine no more than it must.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let served = runtime.map_err(|error| error.to_string()).map(|runtime| {
            let served = runtime.block_on(mcp::serve(tools));
            // Standard input may be in the middle of a read that never comes back; nobody waits for it.
            runtime.shutdown_background();
            served
        });
        match served {
            Ok(Ok(())) => 0,
            Ok(Err(error)) => broken(&error.to_string()),
            Err(error) => broken(&error),
        }
    }
}

/// Exit code of a relay that could not do its work.
const COULD_NOT_SERVE: u8 = 3;

fn broken(text: &str) -> u8 {
    tell(format!("error: {text}"));
    COULD_NOT_SERVE
}
