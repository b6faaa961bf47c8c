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
mod error;
mod events;
mod explain;
mod explore;
mod failure;
mod fuzz;
mod init;
mod interrupt;
mod kills;
mod launch;
pub mod library;
mod lint;
mod matrix;
mod mcp;
mod merge;
mod options;
mod output;
mod progress;
mod promote;
mod recordings;
mod replay;
mod reports;
mod requests;
mod rule;
mod run;
mod schema;
mod secrets;
mod show;
mod shrink;
mod stream;
mod supervisor;
mod systems;
mod verify;
mod work;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::BAD_INPUT;
use output::{print_plain, tell};

#[derive(Parser)]
#[command(name = "brickbat", version, max_term_width = 110, after_help = EXAMPLES)]
/// Put aborts, faults and reorderings into the turns of an agent SDK, and prove that the thread survives.
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  brickbat run                                            the whole suite on the reference agent
  brickbat run --system ai-sdk@6/ui-messages abort/       the abort scenarios on the Vercel AI SDK 6
  brickbat run my.yaml --dialect openai-chat --list       the plans of a scenario file
  brickbat run --command 'node adapter.mjs' abort/        the same on your own adapter
  brickbat run abort/ --out last                          keep a record of each case
  brickbat show mid-batch#k=1@openai-chat --out last      what happened in one case
  brickbat fuzz --system ai-sdk@6 --time 2m --out found   generate scenarios and minimise the failures
  brickbat shrink my.yaml --system ai-sdk@6 --out s.yaml  the smallest scenario with the same failure
  brickbat replay s.yaml                                  does it still fail?
  brickbat check request.json traffic.jsonl               would a strict provider accept these requests?
  brickbat run --shard 1/4 --report 1.json                a quarter of the suite, for one machine of four
  brickbat merge 1.json 2.json 3.json 4.json              one report from all four
  brickbat diff ai-sdk@6/ui-messages ai-sdk@7             how two systems differ
  brickbat events --system ai-sdk@6                       the SDK's own stream events, out of order
  brickbat classes                                        which failure classes the suite covers
  brickbat recordings cassettes/*.yaml                    do the rules agree with recorded answers?
  brickbat explain tool-result-missing                    what a rule means, and how to repair a history
  brickbat init --lang python                             an adapter to start from
  brickbat verify-adapter --command 'node adapter.mjs'    does an adapter follow the protocol?

Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.";

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Run>),
    Show(show::Show),
    Agent(agent::Agent),
    Canaries(canaries::Canaries),
    Classes(classes::Classes),
    Check(check::Check),
    Diff(diff::Diff),
    Events(events::Events),
    Explain(explain::Explain),
    Fuzz(fuzz::Fuzz),
    Init(init::Init),
    Lint(lint::Lint),
    Matrix(matrix::Matrix),
    Merge(merge::Merge),
    Recordings(recordings::Recordings),
    Promote(promote::Promote),
    Replay(replay::Replay),
    Shrink(shrink::Shrink),
    Schema(schema::Schema),
    Systems(systems::Systems),
    Mcp(mcp::Mcp),
    VerifyAdapter(verify::VerifyAdapter),
    Supervisor(supervisor::Supervisor),
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let code = match CommandLine::try_parse() {
        Ok(arguments) => arguments.command.execute().unwrap_or_else(|error| error.report()),
        Err(error) => usage(&error),
    };
    ExitCode::from(output::exit_code(code))
}

impl Command {
    fn execute(&self) -> error::Outcome {
        match self {
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
            Command::VerifyAdapter(verify) => verify.execute(),
            Command::Supervisor(supervisor) => supervisor.execute(),
        }
    }
}

/// Prints the help that was asked for, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> u8 {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        tell(text.trim_end());
    } else {
        print_plain(&text);
    }
    u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT)
}
