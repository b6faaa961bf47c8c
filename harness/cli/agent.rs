//! `brickbat agent`.

use clap::Args;
use tokio::io::{BufReader, stdin, stdout};

use super::canaries::canary;
use super::tell;
use brickbat_drive::driver::serve::{Served, serve};
use brickbat_engine::agent::Delivery;
use brickbat_engine::agent::canary::Canary;

/// Serves the reference agent over ACP: the protocol of adapters, for systems and for people who write one.
///
/// It reads the protocol from standard input and writes it to standard output, keeps as many sessions as it is asked
/// for, and ends when its input ends.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Agent {
    /// Plant this bug.
    #[arg(long, value_name = "NAME", value_parser = canary)]
    canary: Option<Canary>,
    /// Ask for replies in one piece, not as streams.
    #[arg(long)]
    blocking: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat run --command 'brickbat agent' abort/mid-batch
  brickbat run --command 'brickbat agent --canary dangling-on-abort' abort/mid-batch";

/// The harness broke the connection off, or spoke nonsense.
const NOT_SERVED: u8 = 3;

impl Agent {
    pub(super) fn execute(&self) -> u8 {
        let delivery = if self.blocking { Delivery::Whole } else { Delivery::Streamed };
        let served = Served { canary: self.canary, delivery };
        let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                tell(format!("error: cannot start the runtime: {error}"));
                return NOT_SERVED;
            }
        };
        let over = runtime.block_on(serve(served, BufReader::new(stdin()), stdout()));
        // Standard input is read by a thread that cannot be told to stop; the process does not wait for it.
        runtime.shutdown_background();
        match over {
            Ok(()) => 0,
            Err(error) => {
                tell(format!("error: {error}"));
                NOT_SERVED
            }
        }
    }
}
