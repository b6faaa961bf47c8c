//! A system with an adapter, or an agent that needs none, ready to be started as often as it takes.

use std::path::Path;
use std::sync::Arc;

use super::Subject;
use crate::driver::{
    Adapter, DriverError, Launch, Manifest, NamePattern, PlainAgent, Progress, Scratch, SessionSpec, install,
};
use crate::server::{Server, ServerLimits};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{GivenMessage, Plan};

/// What it takes to start the processes of a subject, and the folder that they all share.
pub(in crate::runner) struct Prepared {
    launch: Launch,
    /// What is known of it, if it is an agent that speaks ACP itself.
    pub(in crate::runner) agent: Option<PlainAgent>,
    /// The names under which the model is offered the tools, if they are others than those of the scenario.
    names: Option<NamePattern>,
    /// Dropping it waits for the processes, so a holder of one drops that first.
    folder: Scratch,
}

impl Prepared {
    /// Installs what is missing. `supervisor` is the program `brickbat`, and `note` gets a line about what takes long.
    pub(in crate::runner) async fn new(
        subject: &Subject,
        supervisor: &Path,
        note: Progress<'_>,
    ) -> Result<Prepared, DriverError> {
        let cache = install::cache_folder()?;
        let launch = install::launch(&subject.manifest, &cache, supervisor, note).await?;
        let folder = Scratch::create(supervisor).await?;
        let launch = Launch { scratch: Some(folder.path().to_owned()), ..launch };
        let names = subject.manifest.tool_names().cloned();
        Ok(Prepared { launch, agent: plain_agent(&subject.manifest, supervisor), names, folder })
    }

    /// The plan as the model sees it: with the names under which a system offers the tools.
    pub(in crate::runner) fn offered(&self, plan: &Arc<Plan>) -> Arc<Plan> {
        match &self.names {
            Some(names) => Arc::new(plan.with_tool_names(|tool| names.name(tool))),
            None => Arc::clone(plan),
        }
    }

    pub(in crate::runner) async fn start(&self) -> Result<Adapter, DriverError> {
        let started = match &self.agent {
            Some(agent) => Adapter::start_plain(&self.launch, agent.clone()).await,
            None => Adapter::start(&self.launch).await,
        };
        started.map_err(|error| error.of_installed(self.launch.installed.as_ref()))
    }

    /// Opens a session in whose store that history stands.
    pub(in crate::runner) async fn give(
        &self,
        adapter: &Adapter,
        spec: &SessionSpec,
        history: &[GivenMessage],
    ) -> Result<String, DriverError> {
        match &self.agent {
            Some(agent) => agent.give(&self.launch, spec, history).await,
            None => adapter.give(spec, history).await,
        }
    }

    /// Whether a process that was asked for so many sessions has served its time.
    pub(in crate::runner) fn is_worn(&self, n_sessions: usize) -> bool {
        self.agent.as_ref().is_some_and(|agent| n_sessions >= agent.plain.max_sessions)
    }

    /// The server of one plan, where plans share `shared`.
    ///
    /// The runtime of an agent keeps connections for later requests, and some treat a used one otherwise. A plan must
    /// not depend on what the one before has left open, so each gets a server of its own.
    pub(in crate::runner) async fn server(&self, shared: &Server) -> Result<Server, DriverError> {
        match self.agent {
            Some(_) => server().await,
            None => Ok(shared.clone()),
        }
    }

    pub(in crate::runner) fn path(&self) -> &Path {
        self.folder.path()
    }
}

pub(in crate::runner) async fn server() -> Result<Server, DriverError> {
    Server::start(ServerLimits::STANDARD)
        .await
        .map_err(|error| DriverError::harness("cannot open the provider's socket", error))
}

/// What is known of an agent that speaks ACP itself; none where the system has an adapter.
fn plain_agent(manifest: &Manifest, relay: &Path) -> Option<PlainAgent> {
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
