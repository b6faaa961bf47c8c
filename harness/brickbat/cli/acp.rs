//! `brickbat acp`: tests an agent that speaks ACP, and needs only its start command.

mod acquaint;
mod sheet;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser};

use super::error::{CliError, Outcome};
use super::launch::{block_on, own_program};
use super::options::{dialect, duration};
use super::output::tell;
use super::regular;
use super::variable;
use super::{CommandLine, config};
use acquaint::{Acquaintance, acquaint};
use brickbat_drive::driver::install;
use brickbat_drive::runner::quoted;
use brickbat_report::report::Shard;
use brickbat_rules::dialect::Dialect;
use sheet::Sheet;

/// Test an agent that speaks ACP, without an adapter and without a manifest.
///
/// Brickbat starts the agent, opens a session, and sends one prompt to learn which dialect the agent speaks and under
/// which names it offers the tools of an MCP server. It writes this to a manifest, and runs the scenarios with it. The
/// agent finds the provider through the environment variables that SDKs and agents read; in the command, in --env and
/// in --config, ${baseUrl}, ${apiKey} and ${model} are filled in.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Acp {
    /// Scenario files, directories, or ids of built-in scenarios; by default `control/`, `abort/`, `fault/`, `kill/` and
    /// `approval/`.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// A variable for the agent, such as `MY_BASE_URL=${baseUrl}/v1`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable::parse)]
    env: Vec<(String, String)>,
    /// A file that each session finds in its working directory: its path there, and a file with its text. May be
    /// repeated.
    #[arg(long, value_name = "PATH=FILE", value_parser = variable::parse)]
    config: Vec<(String, String)>,
    /// The model that the agent should ask for; by default a current one of the dialect.
    #[arg(long, value_name = "NAME", value_parser = super::options::model)]
    model: Option<String>,
    /// The id of the login method; by default, if the agent asks for a login, the first one with an API key.
    #[arg(long, value_name = "METHOD")]
    login: Option<String>,
    /// How long the first prompt may take.
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    patience: Duration,
    /// A dialect that the provider speaks; by default all that the agent speaks. May be repeated.
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    dialects: Vec<Dialect>,
    /// Run only this part of the plans, such as `2/4` for the second of four.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    shard: Option<Shard>,
    /// Stop after this time, such as `10m`, and report everything judged until then.
    #[arg(long, value_name = "T", value_parser = duration)]
    timeout: Option<Duration>,
    /// Write the manifest to this file, and not to the cache. `brickbat run --manifest FILE` then runs the agent.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// The agent's command and its arguments, after `--`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  brickbat acp -- npx @agentclientprotocol/claude-agent-acp
  brickbat acp abort/mid-batch -- qwen --acp
  brickbat acp --shard 1/4 --timeout 10m -- qwen --acp
  brickbat acp --env 'MY_BASE_URL=${baseUrl}/v1' --keep brickbat/system.yaml -- ./my-agent acp
  brickbat acp --config .agent/settings.json=template.json -- my-agent

The agent works in a directory of its own, with a home directory of its own, so it finds no login of yours.

Exit codes:
  0  the agent passed every plan that was judged
  1  a plan failed
  2  an option is wrong, or the agent cannot be started
  3  undecided: the agent sent no request with the tools, or plans could not be judged";

/// The scenarios that are run if none is named.
const FAMILIES: [&str; 5] = ["control/", "abort/", "fault/", "kill/", "approval/"];

impl Acp {
    pub(super) fn execute(&self) -> Outcome {
        if let Some(path) = self.keep.as_ref().filter(|path| path.exists()) {
            return Err(CliError::input(format!("{} already exists", path.display())));
        }
        let sheet = self.sheet()?;
        let supervisor = own_program()?;
        let known = block_on(acquaint(&sheet, &supervisor, self.patience))??;
        let path = self.write(&sheet.knowing(&known))?;
        tell(known.words());
        tell(format!("brickbat: the manifest is {}", quoted(&path.to_string_lossy())));
        let scenarios = match self.scenarios.as_slice() {
            [] => FAMILIES.map(str::to_owned).to_vec(),
            named => named.to_vec(),
        };
        let words = ["brickbat", "run", "--manifest", &path.to_string_lossy()].map(str::to_owned);
        let words = words.into_iter().chain(self.options_of_run()).chain(scenarios);
        let arguments = config::arguments(words.map(Into::into).collect())?;
        let run =
            CommandLine::try_parse_from(arguments).map_err(|error| CliError::input(error.to_string()))?;
        run.command.execute()
    }

    /// The options that are those of `run`, as it reads them.
    fn options_of_run(&self) -> Vec<String> {
        let dialects = self.dialects.iter().map(|dialect| format!("--dialect={}", dialect.name()));
        let shard = self.shard.map(|shard| format!("--shard={shard}"));
        let timeout = self.timeout.map(|time| format!("--timeout={}s", time.as_secs()));
        dialects.chain(shard).chain(timeout).collect()
    }

    /// The manifest, as far as it follows from the options.
    fn sheet(&self) -> Result<Sheet, CliError> {
        let folder = std::env::current_dir()
            .map_err(|error| CliError::input(format!("there is no working directory: {error}")))?;
        let content = |(path, file): &(String, String)| {
            let text = regular::text(Path::new(file), MAX_CONFIG);
            text.map(|text| (path.clone(), text)).map_err(|error| CliError::cannot_read(file, error))
        };
        Ok(Sheet {
            folder,
            command: self.command.clone(),
            env: self.env.clone(),
            config: self.config.iter().map(content).collect::<Result<_, _>>()?,
            model: self.model.clone(),
            login: self.login.clone(),
            known: None,
        })
    }

    /// Writes the manifest where the user wants it, otherwise to the cache under a name that follows from its text.
    fn write(&self, sheet: &Sheet) -> Result<PathBuf, CliError> {
        let text = sheet.text();
        let path = match &self.keep {
            Some(path) => path.clone(),
            None => {
                let cache = install::cache_folder().map_err(|error| CliError::input(error.to_string()))?;
                cache.join("acp").join(sheet.id()).join("system.yaml")
            }
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let written =
            parent.map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| CliError::cannot_write(path.display(), error))?;
        Ok(path)
    }
}

/// The maximum size of a file given with --config, in bytes.
const MAX_CONFIG: u64 = 1 << 20;
