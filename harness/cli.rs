//! The command line: arguments in, text and an exit code out.
//!
//! Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.

mod agent;
mod baseline;
mod canaries;
mod check;
mod classes;
mod diff;
pub mod embedded;
mod events;
mod examples;
mod explain;
mod explore;
mod fuzz;
mod init;
mod interrupt;
mod kills;
pub mod library;
mod lint;
mod matrix;
mod mcp;
mod merge;
mod output;
mod own;
mod progress;
mod promote;
mod recordings;
mod replay;
mod requests;
mod rule;
mod run;
mod schema;
mod secrets;
mod show;
mod shows;
mod shrink;
mod stream;
mod streams;
mod supervisor;
mod systems;
mod verify;
mod work;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use output::{print, print_plain, tell};

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
  brickbat run abort/ --out last                          keep everything that happened
  brickbat show mid-batch#k=1@openai-chat --out last      what happened in one plan
  brickbat fuzz --system ai-sdk@6 --time 2m --out found   what nobody wrote down, each cause as a small scenario
  brickbat shrink my.yaml --system ai-sdk@6 --out s.yaml  the smallest scenario that fails in the same way
  brickbat replay s.yaml                                  does it still?
  brickbat check request.json traffic.jsonl               would a strict provider take these?
  brickbat run --shard 1/4 --report 1.json                a quarter of the suite, for one machine of four
  brickbat merge 1.json 2.json 3.json 4.json              what all four have found
  brickbat diff ai-sdk@6/ui-messages ai-sdk@7             where two systems part
  brickbat events --system ai-sdk@6                       events of the SDK's own stream, out of order
  brickbat classes                                        which kinds of failure the suite proves
  brickbat recordings cassettes/*.yaml                    do the rules say what the provider said?
  brickbat explain tool-result-missing                    what a rule means, how to mend a history
  brickbat init --lang python                             an adapter to start from
  brickbat verify-adapter --command 'node adapter.mjs'    whether an adapter is right

Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.";

#[derive(Subcommand)]
enum Command {
    /// Run scenarios on systems and judge what they do.
    Run(Box<run::Run>),
    /// Tell what happened in one case of a run that was kept.
    Show(show::Show),
    /// Serve the reference agent, or a planted bug, over ACP on standard input and output.
    ///
    /// It is an adapter like any other: `brickbat run --command 'brickbat agent'` runs on it. It ends when its input
    /// ends.
    Agent(agent::Agent),
    /// Prove that the checkers bite: run the planted bugs and print who catches them.
    ///
    /// Each is run in process, over HTTP and over ACP, and must be caught by the checker that is meant for it, on each
    /// dialect on which it can show; the reference agent must be accused of nothing. Exit code 4 means that it is
    /// otherwise.
    Canaries(canaries::Canaries),
    /// Tell which of the known failure classes the suite proves, says, or cannot say yet.
    ///
    /// A class is proven when a planted bug of its kind is killed by scenarios of the class and by no others.
    Classes(classes::Classes),
    /// Say what a strict provider would say to a request body or a list of messages.
    Check(check::Check),
    /// Run the same plans on two systems, and tell where they part.
    Diff(diff::Diff),
    /// Feed events out of order to what consumes an SDK's own stream, and judge what it stores.
    Events(events::Events),
    /// Explain a rule, or list all of them.
    Explain(explain::Explain),
    /// Run scenarios that nobody wrote on a system, and make each cause of what fails small.
    Fuzz(fuzz::Fuzz),
    /// Write an adapter to start from, for an SDK of your own.
    Init(init::Init),
    /// Hold files of rule vectors to their format, and write them in its one form.
    Lint(lint::Lint),
    /// Show what each system makes of each family of scenarios, from JSON reports of runs.
    Matrix(matrix::MatrixOf),
    /// Join the JSON reports of all shards of a run into the report of the whole run.
    Merge(merge::Merge),
    /// Compare what providers answered in recorded traffic with what the rules say.
    Recordings(recordings::Recordings),
    /// File a small failing scenario as a regression, under the name of its cause.
    Promote(promote::Promote),
    /// Judge the one cause that a scenario was found to show: FIXED, STILL FAILS, FLAKY or ERROR.
    Replay(replay::Replay),
    /// Make a failing scenario small, as long as it fails for the same cause.
    Shrink(shrink::Shrink),
    /// Print the JSON Schema of scenarios, of reports, of rule vectors or of the adapter protocol.
    Schema(schema::Schema),
    /// List the systems that scenarios can run on.
    Systems(systems::Systems),
    /// Offer the tools of a running plan as an MCP server on standard input and output.
    #[command(hide = true)]
    Mcp(mcp::Mcp),
    /// Check that an adapter does what the protocol asks of it.
    ///
    /// It judges the adapter and not the SDK behind it. Exit codes: 0 the adapter is right, 1 a probe failed, 2 bad
    /// input, 3 a probe could not judge.
    VerifyAdapter(verify::VerifyAdapter),
    #[command(hide = true)]
    Supervisor(supervisor::Supervisor),
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(output::exit_code(usage(&error))),
    };
    let code = match arguments.command {
        Command::Run(run) => run.execute(),
        Command::Show(show) => show.execute(),
        Command::Agent(agent) => agent.execute(),
        Command::Canaries(canaries) => canaries.execute(),
        Command::Classes(classes) => classes.execute(),
        Command::Check(check) => check.execute(),
        Command::Diff(diff) => diff.execute(),
        Command::Events(events) => events.execute(),
        Command::Explain(explain) => explain.execute(),
        Command::Fuzz(fuzz) => fuzz.execute(),
        Command::Init(init) => init.execute(),
        Command::Lint(lint) => lint.execute(),
        Command::Matrix(matrix) => matrix.execute(),
        Command::Merge(merge) => merge.execute(),
        Command::Recordings(recordings) => recordings.execute(),
        Command::Promote(promote) => promote.execute(),
        Command::Replay(replay) => replay.execute(),
        Command::Shrink(shrink) => shrink.execute(),
        Command::Schema(schema) => schema.execute(),
        Command::Systems(systems) => systems.execute(),
        Command::Mcp(mcp) => mcp.execute(),
        Command::Supervisor(supervisor) => supervisor.execute(),
        Command::VerifyAdapter(verify) => verify.execute(),
    };
    ExitCode::from(output::exit_code(code))
}

/// Prints the help that was asked for, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> u8 {
    let text = error.render().ansi().to_string();
    match error.use_stderr() {
        true => tell(text.trim_end()),
        false => print_plain(&text),
    }
    u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT)
}

/// Prints an error and gives the exit code for bad input.
fn bad_input(error: impl std::fmt::Display) -> u8 {
    tell(error);
    BAD_INPUT
}

/// The program `brickbat` itself, which also guards processes, or says why it is not known.
fn own_program() -> Result<std::path::PathBuf, u8> {
    std::env::current_exe().map_err(|error| {
        tell(format!("error: cannot find brickbat's own program: {error}"));
        3
    })
}

/// Runs something asynchronous to its end, or says why it cannot.
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, u8> {
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => Ok(runtime.block_on(future)),
        Err(error) => {
            tell(format!("error: cannot start the runtime: {error}"));
            Err(3)
        }
    }
}
