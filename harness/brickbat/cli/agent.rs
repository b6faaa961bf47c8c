//! `brickbat agent`.

use clap::Args;
use tokio::io::{BufReader, stdin, stdout};

use super::error::{CliError, Outcome};
use super::options::canary;
use brickbat_drive::driver::serve::{Served, serve};
use brickbat_engine::agent::Delivery;
use brickbat_engine::flaws::Canary;

/// Serve the reference agent, or a planted bug, over ACP on standard input and output.
///
/// It is an adapter like any other, so `brickbat run --command 'brickbat agent'` tests it. It keeps as many sessions as
/// the client opens, and ends when its input ends.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Agent {
    /// Serve the reference agent with this planted bug.
    #[arg(long, value_name = "NAME", value_parser = canary)]
    canary: Option<Canary>,
    /// Request non-streamed replies.
    #[arg(long)]
    blocking: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat run --command 'brickbat agent' abort/mid-batch
  brickbat run --command 'brickbat agent --canary dangling-on-abort' abort/mid-batch";

impl Agent {
    pub(super) fn execute(&self) -> Outcome {
        let delivery = if self.blocking { Delivery::Whole } else { Delivery::Streamed };
        let served = Served { canary: self.canary, delivery };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::start)?;
        let over = runtime.block_on(serve(served, BufReader::new(stdin()), stdout()));
        // The thread that reads standard input cannot be stopped, so the process exits without it.
        runtime.shutdown_background();
        over.map_err(CliError::start)?;
        Ok(0)
    }
}
