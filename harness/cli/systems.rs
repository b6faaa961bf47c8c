//! `brickbat systems`.

use std::fmt::Write;

use clap::Args;

use super::print_plain;
use crate::driver::systems;

/// Lists the systems that scenarios can run on, with their versions and modes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Systems {}

const EXAMPLES: &str = "Examples:
  brickbat systems | grep ai-sdk
  brickbat run --system ai-sdk@6/ui-messages abort/";

/// Those that are in the program itself.
const OWN: &str = "reference
  the agent that is right, over real sockets
reference/acp
  the same in a process of its own, behind `brickbat agent`
reference/blocking
  the same, asking for replies in one piece
reference/simulated
  the same in process, without sockets
canary/NAME, canary/NAME/acp, canary/NAME/simulated
  the same with one planted bug, such as `canary/dangling-on-abort`; `brickbat canaries` names them
";

impl Systems {
    pub(super) fn execute(&self) -> u8 {
        let mut text = OWN.to_owned();
        for manifest in systems() {
            for mode in &manifest.modes {
                let name = manifest.full_name(&mode.name);
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{name}\n  {} {}", manifest.description, mode.description);
            }
            let dialects: Vec<&str> = manifest.dialects.iter().map(|dialect| dialect.name()).collect();
            let _ = writeln!(text, "  speaks {}", dialects.join(", "));
        }
        print_plain(&text);
        0
    }
}
