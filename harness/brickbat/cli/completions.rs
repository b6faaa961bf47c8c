//! `brickbat completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::error::Outcome;
use super::output::print_plain;

/// Print a completion script for a shell.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const EXAMPLES: &str = "Examples:
  brickbat completions bash > ~/.local/share/bash-completion/completions/brickbat
  brickbat completions zsh > ~/.zfunc/_brickbat
  brickbat completions fish > ~/.config/fish/completions/brickbat.fish";

impl Completions {
    pub(super) fn execute(&self) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::CommandLine::command(), "brickbat", &mut script);
        print_plain(&String::from_utf8_lossy(&script));
        Ok(0)
    }
}
