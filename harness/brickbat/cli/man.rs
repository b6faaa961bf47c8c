//! `brickbat man`.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;

use super::error::{CliError, Outcome};
use super::output::print_plain;
use brickbat_scenario::parse::did_you_mean;

/// Print the man page of a command, or write the pages of all commands to a directory.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Man {
    /// The command; by default the page of `brickbat` itself.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Write the page of each command to this directory.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  brickbat man run | man -l -
  brickbat man --out ~/.local/share/man/man1";

impl Man {
    pub(super) fn execute(&self) -> Outcome {
        let mut all = super::CommandLine::command();
        all.build();
        let commands: Vec<&Command> =
            all.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help").collect();
        match (&self.out, &self.command) {
            (Some(folder), _) => {
                std::fs::create_dir_all(folder)
                    .map_err(|error| CliError::cannot_write(folder.display(), error))?;
                commands.into_iter().chain([&all]).try_for_each(|command| write(command, folder))?;
            }
            (None, None) => print_plain(&page(&all)?),
            (None, Some(name)) => {
                let names: Vec<&str> = commands.iter().map(|command| command.get_name()).collect();
                let hint =
                    || did_you_mean(name, &names).map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                let command = commands.iter().find(|command| command.get_name() == name);
                let command =
                    command.ok_or_else(|| CliError::input(format!("unknown command `{name}`{}", hint())))?;
                print_plain(&page(command)?);
            }
        }
        Ok(0)
    }
}

/// The name of a command's page: `brickbat`, or `brickbat-run`.
fn title(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

fn page(command: &Command) -> Result<String, CliError> {
    let mut text = Vec::new();
    let page = command.clone().version(env!("CARGO_PKG_VERSION"));
    Page::new(page).render(&mut text).map_err(CliError::start)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn write(command: &Command, folder: &Path) -> Result<(), CliError> {
    let path = folder.join(format!("{}.1", title(command)));
    std::fs::write(&path, page(command)?).map_err(|error| CliError::cannot_write(path.display(), error))
}
