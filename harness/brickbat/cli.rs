//! The command line: arguments in, text and an exit code out.
//!
//! Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.

mod acp;
mod agent;
mod baseline;
mod canaries;
mod check;
mod chosen;
mod classes;
pub mod closed_loop;
mod completions;
mod config;
mod diff;
pub mod embedded;
mod error;
mod events;
mod explain;
mod explore;
mod export;
mod failure;
mod filters;
mod fuzz;
mod groups;
mod import;
mod init;
mod interrupt;
mod keep;
mod kills;
mod launch;
pub mod library;
mod lint;
mod man;
mod matrix;
mod mcp;
mod mending;
mod merge;
mod options;
mod output;
mod progress;
mod promote;
mod provider;
mod proxy;
mod recorded;
mod recordings;
mod regular;
mod repair;
mod replay;
mod reports;
mod requests;
mod requirements;
mod rule;
mod run;
mod runs;
mod schema;
mod secrets;
mod serve;
mod served;
mod session;
mod show;
mod shrink;
mod site;
mod stored;
mod stream;
mod supervisor;
mod systems;
mod terminal;
mod unread;
mod variable;
mod verify;
mod work;
mod wrap;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::BAD_INPUT;
use output::{print_plain, tell};

#[derive(Parser)]
#[command(name = "brickbat", version, max_term_width = 110, after_help = EXAMPLES)]
#[command(help_template = groups::TEMPLATE, before_help = groups::text())]
/// Inject aborts, faults and reorderings into the turns of an agent SDK, and prove that the thread survives.
struct CommandLine {
    /// When to use colours.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    color: clap::ColorChoice,
    /// Print keys, credentials, e-mail addresses, machine names and home paths as they are. Files that Brickbat writes
    /// stay without them.
    #[arg(long, global = true)]
    show_secrets: bool,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  brickbat init --lang python                          write an adapter for your own agent
  brickbat run --manifest brickbat/system.yaml abort/  do its threads survive stopped turns?
  brickbat run --system ai-sdk@6/ui-messages abort/    the same on the Vercel AI SDK 6
  brickbat show 3f2a91                                 what happened in one case of the last run
  brickbat check request.json                          would the provider accept this request?
  brickbat explain 'No tool output found for …'        what an error means

Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.";

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Run>),
    Acp(acp::Acp),
    Show(show::Show),
    Agent(agent::Agent),
    Canaries(canaries::Canaries),
    Classes(classes::Classes),
    ClosedLoop(closed_loop::ClosedLoop),
    Completions(completions::Completions),
    Check(check::Check),
    Diff(diff::Diff),
    Events(events::Events),
    Explain(explain::Explain),
    Export(export::Export),
    Filters(filters::Filters),
    Fuzz(fuzz::Fuzz),
    Init(init::Init),
    Lint(lint::Lint),
    Man(man::Man),
    Matrix(matrix::Matrix),
    Merge(merge::Merge),
    Recordings(recordings::Recordings),
    Session(session::Session),
    Repair(repair::RepairSession),
    Import(import::Import),
    Keep(keep::Keep),
    Promote(promote::Promote),
    Proxy(Box<proxy::Proxy>),
    Replay(replay::Replay),
    Shrink(shrink::Shrink),
    Site(site::Site),
    Schema(schema::Schema),
    Serve(serve::Serve),
    Systems(systems::Systems),
    Mcp(mcp::Mcp),
    VerifyAdapter(verify::VerifyAdapter),
    Wrap(Box<wrap::Wrap>),
    Supervisor(supervisor::Supervisor),
}

/// Every command with its options, formatted as a page of the book.
pub fn options_page() -> String {
    use clap::CommandFactory;
    let mut command = CommandLine::command();
    command.build();
    let mut shared = std::collections::BTreeMap::new();
    let commands: Vec<&clap::Command> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .collect();
    for argument in commands.iter().flat_map(|command| command.get_arguments()) {
        let n: &mut usize = shared.entry(groups::signature(argument)).or_default();
        *n += 1;
    }
    let is_shared = |argument: &clap::Arg| {
        shared.get(&groups::signature(argument)).is_some_and(|n| *n >= 3) && !argument.is_positional()
    };
    let mut page = String::from("## Options that several commands share\n\n");
    let mut said = std::collections::BTreeSet::new();
    let all = commands.iter().flat_map(|command| command.get_arguments());
    let shared_ones = all.filter(|argument| is_shared(argument) && said.insert(groups::signature(argument)));
    page.push_str(&groups::table(shared_ones));
    for command in commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        page.push_str(&format!("\n## {}\n\n{about}\n\n", command.get_name()));
        page.push_str(&groups::table(command.get_arguments().filter(|argument| !is_shared(argument))));
    }
    page
}

/// The exit codes of every command, as its help lists them, formatted as a page of the book.
pub fn exit_codes_page() -> String {
    use clap::CommandFactory;
    let command = CommandLine::command();
    let mut page = String::from("| command | exit codes |\n|---|---|\n");
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let codes = groups::exit_codes(&help);
        let codes = codes.unwrap_or_else(|| "0 done, 2 usage or bad input".to_owned());
        page.push_str(&format!("| `{}` | {} |\n", command.get_name(), codes.replace('|', "\\|")));
    }
    page
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let given = baseline::joined(std::env::args_os().collect());
    let code = match given.and_then(config::arguments) {
        Ok(arguments) => match CommandLine::try_parse_from(arguments) {
            Ok(arguments) => arguments.execute(),
            Err(error) => usage(&error),
        },
        Err(error) => error.report(),
    };
    ExitCode::from(output::exit_code(code))
}

impl CommandLine {
    fn execute(&self) -> u8 {
        if self.show_secrets {
            output::show_secrets();
        }
        match self.color {
            clap::ColorChoice::Auto => {}
            clap::ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
            clap::ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        }
        self.command.execute().unwrap_or_else(|error| error.report())
    }
}

impl Command {
    fn execute(&self) -> error::Outcome {
        match self {
            Command::Run(run) => run.execute(),
            Command::Acp(acp) => acp.execute(),
            Command::Show(show) => show.execute(),
            Command::Agent(agent) => agent.execute(),
            Command::Canaries(canaries) => canaries.execute(),
            Command::Classes(classes) => classes.execute(),
            Command::ClosedLoop(closed_loop) => closed_loop.execute(),
            Command::Check(check) => check.execute(),
            Command::Completions(completions) => completions.execute(),
            Command::Diff(diff) => diff.execute(),
            Command::Events(events) => events.execute(),
            Command::Explain(explain) => explain.execute(),
            Command::Export(export) => export.execute(),
            Command::Filters(filters) => filters.execute(),
            Command::Fuzz(fuzz) => fuzz.execute(),
            Command::Init(init) => init.execute(),
            Command::Lint(lint) => lint.execute(),
            Command::Man(man) => man.execute(),
            Command::Matrix(matrix) => matrix.execute(),
            Command::Merge(merge) => merge.execute(),
            Command::Recordings(recordings) => recordings.execute(),
            Command::Session(session) => session.execute(),
            Command::Repair(repair) => repair.execute(),
            Command::Import(import) => import.execute(),
            Command::Keep(keep) => keep.execute(),
            Command::Promote(promote) => promote.execute(),
            Command::Proxy(proxy) => proxy.execute(),
            Command::Replay(replay) => replay.execute(),
            Command::Shrink(shrink) => shrink.execute(),
            Command::Site(site) => site.execute(),
            Command::Schema(schema) => schema.execute(),
            Command::Serve(serve) => serve.execute(),
            Command::Systems(systems) => systems.execute(),
            Command::Mcp(mcp) => mcp.execute(),
            Command::VerifyAdapter(verify) => verify.execute(),
            Command::Wrap(wrap) => wrap.execute(),
            Command::Supervisor(supervisor) => supervisor.execute(),
        }
    }
}

/// Prints the help that was asked for, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> u8 {
    // An argument may be a pasted text, and a key is recognised only without the colour codes around it.
    let plain = error.render().to_string();
    let clean = secrets::redactor().text(&plain).into_owned();
    let text = if clean == plain { error.render().ansi().to_string() } else { clean };
    if error.use_stderr() {
        tell(text.trim_end());
    } else {
        print_plain(&text);
    }
    u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT)
}
