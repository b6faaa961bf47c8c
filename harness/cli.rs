//! The command line: arguments in, text and an exit code out.
//!
//! Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.

mod canaries;
mod check;
mod explain;
mod guardian;
mod interrupt;
mod mcp;
mod own;
mod progress;
mod run;
mod systems;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit code for bad input; clap uses it for bad usage as well.
const BAD_INPUT: u8 = 2;

#[derive(Parser)]
#[command(name = "brickbat", version, max_term_width = 110, after_help = EXAMPLES)]
/// Throws aborts, faults and reorderings at an agent SDK and proves that the thread survives.
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  brickbat run                                            the whole suite on the reference agent
  brickbat run --system ai-sdk@6/ui-messages abort/       the abort scenarios on the Vercel AI SDK 6
  brickbat run my.yaml --dialect openai-chat --list       the plans that a scenario file yields
  brickbat run --command 'node adapter.mjs' abort/        the same on an adapter of your own
  brickbat check request.json                             would a strict provider take this request?
  brickbat explain tool-result-missing                    what a rule means and how to mend the history

Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.";

#[derive(Subcommand)]
enum Command {
    /// Run scenarios on systems and judge what they do.
    Run(Box<run::Run>),
    /// Prove that the checkers bite: run the planted bugs and print who catches them.
    Canaries(canaries::Canaries),
    /// Say what a strict provider would say to a request body or a list of messages.
    Check(check::Check),
    /// Explain a rule.
    Explain(explain::Explain),
    /// List the systems that scenarios can run on.
    Systems(systems::Systems),
    /// Offer the tools of a running plan as an MCP server on standard input and output.
    #[command(hide = true)]
    Mcp(mcp::Mcp),
    #[command(hide = true)]
    Guardian(guardian::Guardian),
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let code = match Arguments::parse().command {
        Command::Run(run) => run.execute(),
        Command::Canaries(canaries) => canaries.execute(),
        Command::Check(check) => check.execute(),
        Command::Explain(explain) => explain.execute(),
        Command::Systems(systems) => systems.execute(),
        Command::Mcp(mcp) => mcp.execute(),
        Command::Guardian(guardian) => guardian.execute(),
    };
    ExitCode::from(code)
}

/// Prints an error and gives the exit code for bad input.
fn bad_input(error: impl std::fmt::Display) -> u8 {
    anstream::eprintln!("{error}");
    BAD_INPUT
}

/// Runs something asynchronous to its end, or says why it cannot.
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, u8> {
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => Ok(runtime.block_on(future)),
        Err(error) => {
            anstream::eprintln!("error: cannot start the runtime: {error}");
            Err(3)
        }
    }
}
