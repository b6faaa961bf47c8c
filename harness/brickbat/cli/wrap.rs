//! `brickbat wrap`: runs a program against a strict provider.

mod judged;
mod lost;
mod run;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::error::{CliError, Outcome};
use super::launch::{block_on, own_program};
use super::options::duration;
use super::output::{print_aside, tell};
use super::provider::ProviderChoice;
use super::regular;
use super::reports::write_beside_verdict;
use super::served;
use super::variable;
use brickbat_drive::strict_server::StrictServer;
use brickbat_drive::strict_server::variables::{WITHOUT, for_url};
use brickbat_engine::standalone::{ProgramEnd, ProgramStop, ReplyPoint};
use judged::Judged;
use run::{Ended, Run, Starter};

/// Run a program against a strict provider, and report each refused request.
///
/// The program finds the provider through the environment variables from which SDKs and agents read the base URL and
/// the key. In the command and in --env, {url} is replaced by the address. The program's output goes to the terminal as
/// usual.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Wrap {
    #[command(flatten)]
    provider: ProviderChoice,
    /// A variable for the program, such as `MY_BASE_URL={url}/v1`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable::parse)]
    env: Vec<(String, String)>,
    /// Interrupt the program, as Ctrl-C does, at a point in an improvised reply, such as `after end a` or `after text 1
    /// of reply 2`, or while its tools run: `after reply + 500ms`.
    #[arg(long, value_name = "POINT")]
    stop_at: Option<ReplyPoint>,
    /// Kill the program at such a point.
    #[arg(long, value_name = "POINT", conflicts_with = "stop_at")]
    kill_at: Option<ReplyPoint>,
    /// The command line that continues the thread after the program has ended; {turn} stands for the user's next
    /// message.
    #[arg(long, value_name = "COMMAND")]
    resume: Option<String>,
    /// User messages for the resumed runs, one per line; by default, one run with the message `Go on.`.
    #[arg(long, value_name = "FILE", requires = "resume")]
    turns: Option<PathBuf>,
    /// How long each run of the program may take.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    timeout: Duration,
    /// Write a report as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The program and its arguments, after `--`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  brickbat wrap -- python my_agent.py
  brickbat wrap --faults -- node agent.mjs                     a fault in every third reply
  brickbat wrap --host api.deepseek.com -- aider --message 'Look around.'
  brickbat wrap --stop-at 'after calls' --resume 'claude -c -p {turn}' -- claude -p 'Look around.'
  brickbat wrap --stop-at 'after reply + 500ms' --resume 'claude -c -p {turn}' -- claude -p 'Look around.'
  brickbat wrap --kill-at 'after end a' --resume 'codex exec resume --last {turn}' -- codex exec 'Look around.'
  brickbat wrap --env 'MY_BASE_URL={url}/v1' -- ./my-program

The program's tools really run, with made-up arguments: run it where they can do no harm. The
improvised model prefers read-only tools.

Exit codes:
  0  every request was accepted
  1  a request was refused, or a resumed thread lacks what an earlier run had
  2  the program cannot be started
  3  undecided: no request arrived, none offered a tool, the program failed, it ended with open
     calls, it did not end, or no run continued a thread";

/// The user's message if no other is given.
const GO_ON: &str = "Go on.";

/// The user's message in the run that shows whether --resume continues a thread.
const CONTROL: &str = "What have we done so far?";

/// The maximum number of turns in a file.
const MAX_TURNS: usize = 1000;

/// The maximum size of the file with these turns, in bytes: about a page per turn.
const MAX_TURNS_BYTES: u64 = 4 << 20;

impl Wrap {
    pub(super) fn execute(&self) -> Outcome {
        let (resume, turns) = (self.resume()?, self.turns()?);
        let behaviour = self.provider.behaviour(self.stops())?;
        let supervisor = own_program()?;
        block_on(async {
            print_aside();
            let admission = self.provider.admitted.admission();
            let started = StrictServer::start(behaviour, 0, admission, self.provider.stall).await;
            let mut server =
                started.map_err(|error| CliError::start(format!("the provider does not start: {error}")))?;
            let url = server.base_url().to_owned();
            let with_url = |text: &str| text.replace("{url}", &url);
            let mut variables = for_url(&url, |name| std::env::var(name).ok());
            variables.extend(self.env.iter().map(|(name, value)| (name.clone(), with_url(value))));
            let starter = Starter {
                supervisor: &supervisor,
                variables: &variables,
                without: WITHOUT,
                timeout: self.timeout,
            };
            let first = (self.command.clone(), self.command.clone());
            let resumed = |turn: &String| (command_of(&resume, turn), vec![turn.clone()]);
            let mut rest: VecDeque<_> = std::iter::once(first).chain(turns.iter().map(resumed)).collect();
            let mut runs = Vec::new();
            while let Some((command, said)) = rest.pop_front() {
                let command: Vec<String> = command.iter().map(|word| with_url(word)).collect();
                server.begin_run(said);
                let before = server.log();
                let ended = starter.run(&command, &mut server).await?;
                let after = server.log();
                tell(format!("brickbat: {}", ended.words(&before, &after)));
                let is_over = matches!(ended, Ended::TimedOut | Ended::Interrupted);
                runs.push(Run { ended, n_requests: after.n_requests() - before.n_requests() });
                if is_over {
                    break;
                }
                let is_control = runs.len() > turns.len() + 1;
                if rest.is_empty() && !is_control && server.runs().is_unclear() {
                    tell(
                        "brickbat: the thread has nothing of the runs before; one more run shows whether --resume continues one",
                    );
                    rest.push_back(resumed(&CONTROL.to_owned()));
                }
            }
            self.judge(&server, &runs)
        })?
    }

    /// Prints the summary and the verdict, and writes the report.
    fn judge(&self, server: &StrictServer, runs: &[Run]) -> Outcome {
        let log = server.log();
        tell(served::summary(&log).trim_end());
        let threads = server.runs();
        lost::notes(&threads, runs).iter().for_each(|note| tell(format!("note: {note}")));
        let judged = Judged::of(self, &log, runs, &threads);
        tell(format!("verdict: {}", judged.words));
        if let Some(path) = &self.report {
            let ends = runs.iter().map(|run| run.ended.status()).collect();
            let report = served::report(&log, &threads, judged.code, &judged.words, ends);
            write_beside_verdict(path, &report);
        }
        Ok(judged.code)
    }

    fn stops(&self) -> Vec<ProgramStop> {
        let stop = |at: &Option<ReplyPoint>, end| at.clone().map(|at| ProgramStop { at, end });
        let ends = [stop(&self.stop_at, ProgramEnd::Interrupt), stop(&self.kill_at, ProgramEnd::Kill)];
        ends.into_iter().flatten().collect()
    }

    /// The words of the command that resumes the program. There is none without --resume.
    fn resume(&self) -> Result<Vec<String>, CliError> {
        let Some(resume) = &self.resume else { return Ok(Vec::new()) };
        let words = shlex::split(resume).filter(|words| !words.is_empty());
        words.ok_or_else(|| CliError::input("--resume is not a valid command line"))
    }

    /// The user's messages in the resumed runs.
    fn turns(&self) -> Result<Vec<String>, CliError> {
        let path = match (&self.resume, &self.turns) {
            (None, _) => return Ok(Vec::new()),
            (Some(_), None) => return Ok(vec![GO_ON.to_owned()]),
            (Some(_), Some(path)) => path,
        };
        let text = regular::text(path, MAX_TURNS_BYTES)
            .map_err(|error| CliError::cannot_read(path.display(), error))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.take(MAX_TURNS).map(str::to_owned).collect())
    }
}

/// The command that resumes the program with a message.
fn command_of(resume: &[String], turn: &str) -> Vec<String> {
    resume.iter().map(|word| word.replace("{turn}", turn)).collect()
}
