//! A first session with an agent, to learn how it is driven.

use std::path::Path;
use std::time::Duration;

use super::Sheet;
use crate::cli::embedded::catalogue;
use crate::cli::error::CliError;
use crate::cli::output::tell;
use brickbat_drive::driver::mcp::SERVER;
use brickbat_drive::driver::{
    DriverError, Introduction, Launch, Manifest, Met, PlainAgent, Scratch, Session, SessionEvent,
    SessionSpec, ToolSpec, install,
};
use brickbat_drive::server::Admission;
use brickbat_drive::strict_server::StrictServer;
use brickbat_engine::improvise::Manner;
use brickbat_engine::standalone::{Behaviour, Log};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::PlannedTool;
use brickbat_scenario::trace::{Consent, TurnOutcome};

/// The facts that an agent has shown of itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Acquaintance {
    /// Its name, its version, and whether it loads sessions, as it states them.
    pub(super) stated: Introduction,
    /// The dialect in which it asked for replies.
    pub(super) dialect: Option<Dialect>,
    /// The pattern of the names under which it offers the tools of an MCP server.
    pub(super) tools: Option<String>,
    /// True if it asks for replies as streams.
    pub(super) streams: bool,
    /// The login method that it needed.
    pub(super) login: Option<String>,
}

/// The tool that the first session offers.
const TOOL: &str = "lookup";

/// The user's message in it.
const PROMPT: &str = "Look up the order with the tool `lookup`.";

impl Acquaintance {
    /// The version, as a manifest takes it.
    pub(super) fn version_word(&self) -> String {
        let is_good = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let version: String = self.stated.version.chars().filter(|c| is_good(*c)).collect();
        if version.is_empty() { "unknown".to_owned() } else { version }
    }

    /// The facts, in a line.
    pub(super) fn words(&self) -> String {
        if let Some(known) = built_in(&self.stated) {
            let Introduction { name, version, .. } = &self.stated;
            let tried = known.version.as_deref().unwrap_or("any version");
            let settings = format!("its settings are those of the built-in system `{}`", known.name);
            let of = if tried == version { String::new() } else { format!(", which were made for {tried}") };
            return format!("brickbat: {name} {version}: {settings}{of}");
        }
        let Introduction { name, version, loads } = &self.stated;
        let name = if name.is_empty() { "the agent" } else { name };
        let dialect = self.dialect.map_or("no dialect", Dialect::name);
        let tools = self.tools.as_deref().unwrap_or("{tool}");
        let loads = if *loads { "it loads sessions" } else { "it loads no sessions" };
        let name = format!("{name} {version}");
        format!("brickbat: {}: it speaks {dialect}, offers tools as {tools}, and {loads}", name.trim())
    }

    /// Completes what the agent states with what its requests show.
    fn with(self, log: &Log) -> Acquaintance {
        let asked = log.dialects.iter().filter(|(_, requests)| requests.requests > 0);
        let most = asked.max_by_key(|(dialect, requests)| (requests.requests, std::cmp::Reverse(**dialect)));
        let tools = log.tools.keys().find_map(|name| pattern(name));
        Acquaintance { dialect: most.map(|(dialect, _)| *dialect), tools, streams: log.streamed > 0, ..self }
    }
}

/// The pattern of a name under which the tool was offered. `None` if it is the name of another tool.
fn pattern(name: &str) -> Option<String> {
    let before = name.strip_suffix(TOOL)?;
    Some(format!("{}{{tool}}", before.replace(SERVER, "{server}")))
}

/// The built-in system that is this agent, if Brickbat has settings for it.
pub(super) fn built_in(stated: &Introduction) -> Option<&'static Manifest> {
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let is_it = |manifest: &&Manifest| {
        let names = [Some(manifest.name.as_str()), manifest.sdk.as_deref()];
        manifest.acp.is_some() && names.into_iter().flatten().any(|name| last(name) == last(&stated.name))
    };
    catalogue().manifests().iter().find(is_it)
}

/// Starts the agent, and learns how it is driven: from its name, if Brickbat has settings for it, otherwise from its
/// requests after one prompt.
pub(super) async fn acquaint(
    sheet: &Sheet,
    supervisor: &Path,
    patience: Duration,
) -> Result<Acquaintance, CliError> {
    let manifest = sheet.manifest().map_err(|error| CliError::input(error.to_string()))?;
    let started = StrictServer::start(
        Behaviour::improvised(Manner { seed: 0, n_rounds: 1 }),
        0,
        Admission::default(),
        Duration::ZERO,
    )
    .await;
    let mut server =
        started.map_err(|error| CliError::start(format!("the provider does not start: {error}")))?;
    let cannot = |error: &DriverError| cannot_start(&sheet.command, error);
    let cache = install::cache_folder().map_err(|error| cannot(&error))?;
    let launch = install::launch(&manifest, &cache, supervisor, &|words| tell(words)).await;
    let launch = launch.map_err(|error| cannot(&error))?;
    let folder = Scratch::create(supervisor).await.map_err(|error| cannot(&error))?;
    let launch = Launch { scratch: Some(folder.path().to_owned()), ..launch };
    let agent = PlainAgent::of(&manifest, supervisor)
        .ok_or_else(|| CliError::input("the manifest describes no agent"))?;
    let dialect = agent.dialect;
    let gate = format!("{}/gate", server.base_url());
    let spec = SessionSpec {
        tools: vec![ToolSpec::new(&PlannedTool::new(TOOL, Vec::new()), gate)],
        ..SessionSpec::plain(server.base_url().to_owned(), dialect, folder.path().join("session"))
    };
    let stated = Introduction::hear(&launch, &agent, &spec).await.map_err(|error| cannot(&error))?;
    let known = Acquaintance { stated, ..Acquaintance::default() };
    if built_in(&known.stated).is_some() {
        return Ok(known);
    }
    let Met { login, mut session } =
        Met::first(&launch, agent, &spec).await.map_err(|error| cannot(&error))?;
    session.prompt(PROMPT).await.map_err(|error| cannot(&error))?;
    let ended = tokio::time::timeout(patience, turn(&mut session, &mut server)).await;
    server.caught_up().await;
    let log = server.log();
    let known = Acquaintance { login, ..known }.with(&log);
    if known.tools.is_none() {
        return Err(CliError::start(why_not(&known, &log, ended.ok(), &session)));
    }
    Ok(known)
}

/// Follows a turn to its end. The user allows every tool.
async fn turn(session: &mut Session, server: &mut StrictServer) -> Option<TurnOutcome> {
    loop {
        let event = tokio::select! {
            event = session.next() => event?,
            // Notices of the server must not fill its queue.
            _ = server.next() => continue,
        };
        match event {
            SessionEvent::Asked { question, .. } => session.answer(question, Consent::Given),
            SessionEvent::Ended(outcome) => return Some(outcome),
            SessionEvent::PromptRefused | SessionEvent::Lost(_) => return None,
            SessionEvent::Shown { .. } | SessionEvent::Repaired(_) => {}
        }
    }
}

/// The reason why the agent cannot be driven, and the way out.
fn why_not(known: &Acquaintance, log: &Log, ended: Option<Option<TurnOutcome>>, session: &Session) -> String {
    let ended = match ended {
        None => "its turn did not end in time (--patience)".to_owned(),
        Some(None) => "it ended".to_owned(),
        Some(Some(TurnOutcome::Raised { text, .. })) => format!("its turn failed: {text}"),
        Some(Some(_)) => "its turn ended".to_owned(),
    };
    let stderr = session.stderr_since(0);
    let said: String = stderr
        .lines()
        .rev()
        .take(5)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .fold(String::new(), |text, line| text + "\n  | " + line);
    if known.dialect.is_none() {
        let paths: Vec<&str> = log.unspoken.keys().map(String::as_str).collect();
        let asked = if paths.is_empty() {
            "it sent no request to the provider".to_owned()
        } else {
            format!("it asked for {}, and no provider has such a path", paths.join(", "))
        };
        return format!(
            "the agent cannot be driven: {asked}; {ended}{said}\nhint: point it to the provider with --env \
             'NAME=${{baseUrl}}/v1' or --config PATH=FILE; --login METHOD logs in"
        );
    }
    let names: Vec<&str> = log.tools.keys().map(String::as_str).take(10).collect();
    let offered = if names.is_empty() { "no tools".to_owned() } else { names.join(", ") };
    format!(
        "the agent cannot be driven: its requests do not offer the tool `{TOOL}` of the MCP server that `session/new` \
         named, but {offered}; {ended}{said}"
    )
}

fn cannot_start(command: &[String], error: &DriverError) -> CliError {
    let (what, stderr) = error.parts();
    let lines: String = stderr.lines().map(|line| format!("\n  | {line}")).collect();
    CliError::input(format!("cannot start {}: {what}{lines}", command.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_for_another_version_are_called_that() {
        let stated = |version: &str| Introduction {
            name: "qwen-code".to_owned(),
            version: version.to_owned(),
            loads: true,
        };
        let known = built_in(&stated("")).unwrap();
        let tried = known.version.as_deref().unwrap();
        let words =
            |version: &str| Acquaintance { stated: stated(version), ..Acquaintance::default() }.words();
        assert!(words("0.1.0").ends_with(&format!("which were made for {tried}")), "{}", words("0.1.0"));
        assert!(words(tried).ends_with("the built-in system `qwen-code`"), "{}", words(tried));
    }

    #[test]
    fn the_pattern_follows_from_the_name_of_one_tool() {
        let of = |name| pattern(name);
        assert_eq!(of("mcp__brickbat__lookup").as_deref(), Some("mcp__{server}__{tool}"));
        assert_eq!(of("brickbat-lookup").as_deref(), Some("{server}-{tool}"));
        assert_eq!(of("lookup").as_deref(), Some("{tool}"));
        assert_eq!(of("bash"), None);
    }
}
