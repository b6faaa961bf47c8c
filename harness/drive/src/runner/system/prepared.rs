//! A system with an adapter, or an agent that needs none, ready to be started any number of times.

use std::path::Path;
use std::sync::Arc;

use super::Subject;
use crate::driver::{
    Adapter, DriverError, Launch, NamePattern, PlainAgent, Progress, Scratch, SessionSpec, install,
};
use crate::server::{Server, ServerLimits};
use brickbat_scenario::plan::{GivenMessage, Plan};

/// The command that starts a system's processes, and the folder that they all share.
pub(in crate::runner) struct Prepared {
    launch: Launch,
    /// The description of the agent, if it speaks ACP itself.
    pub(in crate::runner) agent: Option<PlainAgent>,
    /// The names under which the tools are offered to the model, if they differ from the scenario's
    /// names.
    names: Option<NamePattern>,
    /// Dropping it waits for the processes, so they have to be dropped first.
    folder: Scratch,
}

impl Prepared {
    /// Installs all missing packages. `supervisor` is the program `brickbat`; `note` gets a line about
    /// long preparations.
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
        Ok(Prepared { launch, agent: PlainAgent::of(&subject.manifest, supervisor), names, folder })
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

    /// Opens a session with that history in its store.
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

    /// True if a process that was asked for this many sessions is due for replacement.
    pub(in crate::runner) fn is_worn(&self, n_sessions: usize) -> bool {
        self.agent.as_ref().is_some_and(|agent| n_sessions >= agent.plain.max_sessions)
    }

    /// The server of one plan, for systems whose plans share `shared`.
    ///
    /// The runtime of an agent keeps connections for later requests, and some treat a used one differently. A
    /// plan must not depend on connections that the previous one left open, so each plan of an agent gets its
    /// own server.
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
