//! Agents that speak ACP themselves and do not know the harness.
//!
//! Such an agent needs no adapter. Its manifest contains what an adapter would report: the agent's
//! capabilities, the names under which it offers an MCP server's tools to the model, and the files that
//! point it to the provider. Each session gets its own working folder with those files, and the tools of the
//! plan as an MCP server ([`super::mcp`]).

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use agent_client_protocol::v1::schema::{
    Implementation, LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest, PromptResponse,
    StopReason,
};
use serde::Deserialize;
use serde_json::json;

use super::capability::Capabilities;
use super::error::{DriverError, InvalidValue, quote};
use super::manifest::Manifest;
use super::mcp::SERVER;
use super::process::Launch;
use super::protocol::{About, PROTOCOL, SessionSpec};
use super::{give, rest, scratch};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{Change, GivenMessage};
use brickbat_scenario::trace::TurnOutcome;

/// The key `acp` of a manifest: how to drive an agent that speaks ACP itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plain {
    pub capabilities: Claims,
    /// The names under which it offers the tools of an MCP server, such as `{server}_{tool}`.
    pub tools: NamePattern,
    /// The program that puts a given history into the store, and its arguments; empty if there is none.
    #[serde(default)]
    pub give: Vec<String>,
    /// The prompt that makes the agent summarise the history, such as `/compact`. `None` if there is none.
    pub summarise: Option<String>,
    /// The method with which the harness logs in, by its id in the agent's answer to `initialize`. `None` if no
    /// login is needed.
    pub authenticate: Option<String>,
    /// The number of sessions that one process serves before it is replaced. Agents keep what they have
    /// opened.
    #[serde(default = "max_sessions")]
    pub max_sessions: usize,
    /// Template variables with a different value for each dialect, such as a package name.
    #[serde(default)]
    pub words: BTreeMap<Dialect, BTreeMap<String, String>>,
    /// The files that each session finds in its working folder.
    #[serde(default)]
    pub config: Vec<ConfigFile>,
}

/// Few enough for an agent that keeps some 40 MB for each session, many enough that its start does not
/// matter.
const fn max_sessions() -> usize {
    16
}

/// The capabilities that the harness cannot detect, so the manifest must list them. `load` means loading by a
/// new process after the old one was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claims {
    pub cancel: bool,
    pub streaming: bool,
    pub eager_tools: bool,
    #[serde(default)]
    pub load: bool,
    #[serde(default)]
    pub shared_session: bool,
    /// True if it accepts another prompt while a turn runs, whether it queues it, refuses it, or stops the
    /// turn.
    #[serde(default)]
    pub second_prompt: bool,
    /// True if a process that is started with the settings of another provider can continue a session.
    #[serde(default)]
    pub provider_switch: bool,
    /// True if it compacts its history automatically when the provider reports 190,000 tokens for a
    /// request.
    #[serde(default)]
    pub auto_compaction: bool,
}

/// The pattern of the names that an agent gives to tools from an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct NamePattern(String);

impl TryFrom<String> for NamePattern {
    type Error = InvalidValue;

    fn try_from(pattern: String) -> Result<NamePattern, InvalidValue> {
        match pattern.matches("{tool}").count() {
            1 => Ok(NamePattern(pattern)),
            _ => Err(InvalidValue::NamePattern(pattern)),
        }
    }
}

impl NamePattern {
    /// The name under which the model is offered a tool.
    pub fn name(&self, tool: &str) -> String {
        self.0.replace("{server}", SERVER).replace("{tool}", tool)
    }
}

/// A file in the working folder of each session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// Its path below the working folder.
    pub path: RelativePath,
    /// Its text; `${baseUrl}`, `${apiKey}`, `${dialect}`, `${folder}` and the variables of the dialect are filled in.
    pub content: String,
}

/// A relative path that stays inside its folder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "PathBuf")]
#[schemars(with = "String")]
pub struct RelativePath(PathBuf);

impl TryFrom<PathBuf> for RelativePath {
    type Error = InvalidValue;

    fn try_from(path: PathBuf) -> Result<RelativePath, InvalidValue> {
        let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
        if stays && path.file_name().is_some() {
            Ok(RelativePath(path))
        } else {
            Err(InvalidValue::RelativePath(path))
        }
    }
}

/// An agent that is driven according to its manifest.
#[derive(Debug, Clone)]
pub struct PlainAgent {
    pub plain: Plain,
    /// The SDK's name, for its `about`.
    pub sdk: String,
    /// The installed version, unless the agent reports another.
    pub version: String,
    pub modes: Vec<String>,
    /// The dialect for a process that has no session yet.
    pub dialect: Dialect,
    /// The program that serves the tools: brickbat itself.
    pub relay: PathBuf,
}

/// The address for a session's requests, the model that they should name, and the folders of the session.
#[derive(Debug, Clone)]
struct Address<'a> {
    base_url: &'a str,
    dialect: Dialect,
    model: Option<&'a str>,
    /// The working folder of the session.
    folder: PathBuf,
    /// The home of the process, where it is known.
    home: Option<PathBuf>,
}

impl<'a> Address<'a> {
    fn of(spec: &'a SessionSpec) -> Address<'a> {
        Address {
            base_url: &spec.base_url,
            dialect: spec.dialect,
            model: spec.model.as_deref(),
            folder: work_folder(spec),
            home: None,
        }
    }
}

/// The working folder of a session.
fn work_folder(spec: &SessionSpec) -> PathBuf {
    spec.state_dir.join("work")
}

/// The address for a process that only answers `initialize`: no server listens there.
const NOWHERE: &str = "http://127.0.0.1:9";

/// The beginning of a placeholder in a template.
const HOLE: &str = "${";

/// True if each session needs its own process, because its command or environment contains values of the
/// session.
pub(super) fn is_filled_in(command: &[String], env: &BTreeMap<String, String>) -> bool {
    command.iter().chain(env.values()).any(|text| text.contains(HOLE))
}

/// The API key for an agent that needs one; the provider accepts any.
const API_KEY: &str = "brickbat";

impl PlainAgent {
    /// The description of an agent that speaks ACP itself. `None` if the system has an adapter. `relay` is the program
    /// `brickbat`.
    pub fn of(manifest: &Manifest, relay: &Path) -> Option<PlainAgent> {
        let plain = manifest.acp.as_ref()?;
        Some(PlainAgent {
            plain: plain.clone(),
            sdk: manifest.sdk.clone().unwrap_or_default(),
            version: manifest.version.clone().unwrap_or_default(),
            modes: manifest.modes.iter().map(|mode| mode.name.clone()).collect(),
            dialect: manifest.dialects.first().copied().unwrap_or(Dialect::AnthropicMessages),
            relay: relay.to_owned(),
        })
    }

    pub(super) fn about(&self, info: Option<&Implementation>) -> About {
        let Claims {
            cancel,
            streaming,
            eager_tools,
            load,
            shared_session,
            second_prompt,
            provider_switch,
            auto_compaction,
        } = self.plain.capabilities;
        let capabilities = Capabilities::default()
            .with("cancel", cancel)
            .with("streaming", streaming)
            .with("eagerTools", eager_tools)
            .with("barrier", rest::can_be_told())
            .with("load", load)
            .with("givenHistory", !self.plain.give.is_empty() && load)
            .with("sharedSession", shared_session)
            .with("changes.summarise", self.plain.summarise.is_some())
            .with("changes.provider", provider_switch && load)
            .with("changes.automatic", auto_compaction)
            .with("secondPrompt", second_prompt);
        About {
            protocol: PROTOCOL,
            sdk: self.sdk.clone(),
            version: info.map_or(&self.version, |info| &info.version).clone(),
            modes: self.modes.clone(),
            consumers: Vec::new(),
            capabilities,
        }
    }

    /// The prompt that requests this change of the history. `None` if the agent has none.
    pub(super) fn words_for(&self, change: &Change) -> Option<&str> {
        match change {
            Change::Summarise { .. } => self.plain.summarise.as_deref(),
            Change::Trim { .. }
            | Change::Rewind { .. }
            | Change::Aside { .. }
            | Change::Thinking { .. }
            | Change::Provider { .. }
            | Change::Tools { .. } => None,
        }
    }

    /// Creates the folder of a session, and returns the request that opens it.
    pub(super) fn new_session(&self, spec: &SessionSpec) -> Result<NewSessionRequest, DriverError> {
        let (folder, server) = self.lay_out(spec)?;
        Ok(NewSessionRequest::new(folder).mcp_servers(vec![server]))
    }

    /// Puts a history into the store of the agent, and returns the id under which it can be loaded.
    pub async fn give(
        &self,
        launch: &Launch,
        spec: &SessionSpec,
        history: &[GivenMessage],
    ) -> Result<String, DriverError> {
        let (folder, _) = self.lay_out(spec)?;
        let input = json!({
            "dialect": spec.dialect,
            "folder": folder,
            "words": self.words(&Address::of(spec)),
            "history": history,
        });
        give::run(&self.launch(launch, Some(spec))?, &self.plain.give, &input).await
    }

    /// Like [`PlainAgent::new_session`], for a session that another process has opened in that folder.
    pub(super) fn load_session(
        &self,
        id: &str,
        spec: &SessionSpec,
    ) -> Result<LoadSessionRequest, DriverError> {
        let (folder, server) = self.lay_out(spec)?;
        Ok(LoadSessionRequest::new(id.to_owned(), folder).mcp_servers(vec![server]))
    }

    fn lay_out(&self, spec: &SessionSpec) -> Result<(PathBuf, McpServer), DriverError> {
        let folder = work_folder(spec);
        make_folder(&folder)?;
        for file in &self.plain.config {
            let path = folder.join(&file.path.0);
            path.parent().map_or(Ok(()), make_folder)?;
            write(&path, &self.fill(&file.content, &Address::of(spec))?)?;
        }
        let tools = spec.state_dir.join("tools.json");
        let list = serde_json::to_string(&spec.tools).unwrap_or_default();
        write(&tools, &list)?;
        let args = ["mcp".to_owned(), "--tools".to_owned(), tools.display().to_string()];
        let server = McpServerStdio::new(SERVER, self.relay.clone()).args(args.to_vec());
        Ok((folder, McpServer::Stdio(server)))
    }

    /// The values of the manifest's variables in a session. The harness can set the variable `model` itself.
    fn words<'a>(&'a self, address: &Address<'a>) -> BTreeMap<&'a str, &'a str> {
        let words = self.plain.words.get(&address.dialect).into_iter().flatten();
        let mut words: BTreeMap<&str, &str> =
            words.map(|(name, word)| (name.as_str(), word.as_str())).collect();
        if let Some(model) = address.model {
            words.insert("model", model);
        }
        words
    }

    /// The start command for a process that uses only this address. Without a spec, it is for a process
    /// that has no session.
    ///
    /// An agent that reads its provider's address from its environment or its arguments has only one
    /// address.
    pub(super) fn launch(&self, launch: &Launch, spec: Option<&SessionSpec>) -> Result<Launch, DriverError> {
        let nowhere = || Address {
            base_url: NOWHERE,
            dialect: self.dialect,
            model: None,
            folder: launch.folder.clone(),
            home: None,
        };
        let home = launch.scratch.as_deref().map(scratch::home);
        let address = Address { home, ..spec.map_or_else(nowhere, Address::of) };
        let fill = |text: &String| self.fill(text, &address);
        let filled = |(name, value): (&String, &String)| Ok((name.clone(), fill(value)?));
        Ok(Launch {
            args: launch.args.iter().map(fill).collect::<Result<_, _>>()?,
            env: launch.env.iter().map(filled).collect::<Result<_, DriverError>>()?,
            ..launch.clone()
        })
    }

    /// Fills in a template. An unknown variable is an error, because an incomplete config would fail
    /// somewhere else.
    fn fill(&self, template: &str, address: &Address<'_>) -> Result<String, DriverError> {
        let words = self.words(address);
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let word = |name: &str| match (name, &address.home) {
            ("baseUrl", _) => Some(address.base_url.to_owned()),
            ("apiKey", _) => Some(API_KEY.to_owned()),
            ("dialect", _) => Some(address.dialect.name().to_owned()),
            ("folder", _) => Some(path(&address.folder)),
            ("home", Some(home)) => Some(path(home)),
            (name, _) => words.get(name).map(|word| (*word).to_owned()),
        };
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once(HOLE) {
            let (name, left) = after.split_once('}').unwrap_or((after, ""));
            let word = word(name).ok_or_else(|| {
                let missing =
                    format!("its manifest has no `{name}` under `words` for the dialect {}", address.dialect);
                DriverError::install(format!("system {}", self.sdk), missing)
            })?;
            filled.push_str(before);
            filled.push_str(&word);
            rest = left;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

fn make_folder(path: &Path) -> Result<(), DriverError> {
    std::fs::create_dir_all(path).map_err(|error| failed(path, error))
}

fn write(path: &Path, text: &str) -> Result<(), DriverError> {
    std::fs::write(path, text).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: std::io::Error) -> DriverError {
    DriverError::harness(format!("cannot write {}", path.display()), error)
}

/// The end of a turn, as reported by ACP.
///
/// The agent's user sees an exception as an error response. A stop reason that reports a truncated turn is
/// treated as an error as well, because the user learns of it.
pub(super) fn outcome(result: Result<PromptResponse, agent_client_protocol::Error>) -> TurnOutcome {
    let raised =
        |class: &str, text: &str| TurnOutcome::Raised { class: class.to_owned(), text: text.to_owned() };
    match result {
        Ok(answer) => match answer.stop_reason {
            StopReason::EndTurn => TurnOutcome::Returned,
            StopReason::Cancelled => TurnOutcome::Cancelled,
            StopReason::Refusal => raised("refusal", "the agent reports that the model refused"),
            StopReason::MaxTokens => raised("max_tokens", "the agent reports that the reply was cut off"),
            StopReason::MaxTurnRequests => {
                raised("max_turn_requests", "the agent reports that the turn sent too many requests")
            }
            _ => raised("unknown", "the agent gives a stop reason that ACP does not know"),
        },
        Err(error) => {
            let data = error.data.as_ref();
            let name = data.and_then(|data| data.get("name").or_else(|| data.get("errorName"))?.as_str());
            let class = name.map_or_else(|| i32::from(error.code).to_string(), str::to_owned);
            let detail = data.map(|data| format!(": {data}")).unwrap_or_default();
            TurnOutcome::Raised { class, text: quote(format!("{}{detail}", error.message).as_bytes()) }
        }
    }
}
