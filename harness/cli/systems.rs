//! `brickbat systems`.

use clap::Args;

use crate::driver::systems;

/// Lists the systems that scenarios can run on, with their versions and modes.
#[derive(Args)]
pub(super) struct Systems {}

impl Systems {
    pub(super) fn execute(&self) -> u8 {
        anstream::println!("reference\n  the agent that is right, over real sockets");
        anstream::println!("reference/acp\n  the same in a process of its own, behind `brickbat agent`");
        anstream::println!("reference/blocking\n  the same, asking for replies in one piece");
        anstream::println!("reference/simulated\n  the same in process, without sockets");
        for manifest in systems() {
            for mode in &manifest.modes {
                anstream::println!(
                    "{}\n  {} {}",
                    manifest.full_name(&mode.name),
                    manifest.description,
                    mode.description
                );
            }
            let dialects: Vec<&str> = manifest.dialects.iter().map(|dialect| dialect.name()).collect();
            anstream::println!("  speaks {}", dialects.join(", "));
        }
        0
    }
}
