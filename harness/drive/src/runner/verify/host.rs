//! What the probes run on: the adapter's process, a provider, folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::hint::Examinee;
use super::probe::Probe;
use super::script::{BATCH, Conversation};
use super::stage::Stage;
use crate::driver::{About, Adapter, Capabilities, DriverError};
use crate::runner::system::{Origin, Prepared, Subject, server};
use crate::server::Server;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;

/// The adapter under examination, and what it needs.
pub(super) struct Host {
    pub(super) examinee: Examinee,
    about: About,
    server: Server,
    n_folders: AtomicU32,
    /// The process that most probes share. None when the last one was lost.
    shared: Option<Adapter>,
    /// Sessions that the shared process has been asked for.
    n_sessions: usize,
    /// The mode of the probes that need only one.
    pub(super) mode: String,
    /// The dialects that the system speaks.
    pub(super) dialects: Vec<Dialect>,
    warnings: Vec<String>,
    /// What the manifest knows that this version does not do.
    limits: BTreeMap<String, String>,
    /// Dropped after the adapter, and waits for it.
    prepared: Prepared,
}

impl Host {
    /// Starts the adapter, and holds what it says of itself against its manifest. The inner error is what is wrong.
    pub(super) async fn start(
        subject: &Subject,
        guardian: &Path,
        note: &(dyn Fn(&str) + Sync),
    ) -> Result<Result<Host, String>, DriverError> {
        let mut prepared = Prepared::new(subject, guardian, note).await?;
        if let Some(agent) = &mut prepared.agent {
            // What the agent does not say of itself must not look as if it did.
            agent.version.clear();
        }
        let adapter = prepared.start().await?;
        let mut about = adapter.about().clone();
        let warnings = take_as_read(&mut about, subject);
        let mode = match mode_of(&about, subject) {
            Ok(mode) => mode,
            Err(seen) => return Ok(Err(seen)),
        };
        let mut host = Host {
            examinee: Examinee::of(subject),
            about,
            server: server().await?,
            prepared,
            n_folders: AtomicU32::new(0),
            shared: Some(adapter),
            n_sessions: 0,
            mode,
            dialects: subject.manifest.dialects.clone(),
            warnings,
            limits: subject.manifest.limits.clone(),
        };
        if matches!(subject.origin, Origin::Command(_)) {
            host.find_dialects().await?;
        }
        Ok(Ok(host))
    }

    /// Nothing says which dialects the system behind a command speaks, so each is tried.
    async fn find_dialects(&mut self) -> Result<(), DriverError> {
        let mut refused = None;
        for dialect in std::mem::take(&mut self.dialects) {
            match self.open_on(BATCH, dialect).await {
                Ok(_) => self.dialects.push(dialect),
                Err(error) if error.is_refusal() => {
                    self.warnings.push(format!("does not speak {dialect}: {error}"));
                    refused = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        match (self.dialects.is_empty(), refused) {
            (true, Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// The SDK, its version and its modes.
    pub(super) fn about(&self) -> String {
        let About { sdk, version, modes, .. } = &self.about;
        format!("{sdk} {version} with {}", modes.join(", "))
    }

    /// What is worth knowing about the start.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// How what a probe finds is mended, where nothing more exact is known.
    pub(super) fn hint(&self, probe: Probe) -> &'static str {
        self.examinee.hint(probe)
    }

    /// Whether the manifest has a probe among the limits of this version.
    pub(super) fn is_limited(&self, probe: Probe) -> bool {
        self.limits.contains_key(probe.id())
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        self.about.capabilities
    }

    pub(super) fn modes(&self) -> Vec<String> {
        self.about.modes.clone()
    }

    /// The dialect of the probes that need only one.
    pub(super) fn dialect(&self) -> Dialect {
        self.dialects.first().copied().unwrap_or(Dialect::AnthropicMessages)
    }

    /// Sessions that one process is to bear, one after the other; none if there is no end to it.
    pub(super) fn max_sessions(&self) -> Option<usize> {
        self.prepared.agent.as_ref().map(|agent| agent.plain.max_sessions)
    }

    /// The process that most probes share, for so many sessions; a new one if the last was lost, or has served its
    /// time.
    pub(super) async fn adapter(&mut self, n_sessions: usize) -> Result<Adapter, DriverError> {
        if self.prepared.is_worn(self.n_sessions) {
            self.shared = None;
        }
        self.n_sessions += n_sessions;
        match &self.shared {
            Some(adapter) => Ok(adapter.clone()),
            None => {
                let adapter = self.fresh().await?;
                self.n_sessions = n_sessions;
                Ok(self.shared.insert(adapter).clone())
            }
        }
    }

    /// A process of its own.
    pub(super) async fn fresh(&self) -> Result<Adapter, DriverError> {
        self.prepared.start().await
    }

    /// Gives up a process whose connection is over; the next probe starts another.
    pub(super) fn forget_if_lost(&mut self) {
        self.shared.take_if(|adapter| adapter.is_over());
    }

    /// A conversation with the shared process, in the first dialect.
    pub(super) async fn open(&mut self, conversation: Conversation) -> Result<Stage, DriverError> {
        self.open_on(conversation, self.dialect()).await
    }

    /// The same in a dialect.
    pub(super) async fn open_on(
        &mut self,
        conversation: Conversation,
        dialect: Dialect,
    ) -> Result<Stage, DriverError> {
        let adapter = self.adapter(1).await?;
        Stage::open(self, &adapter, conversation.plan(dialect, 0)?, &self.mode).await
    }

    /// The server of a session.
    pub(super) async fn server(&self) -> Result<Server, DriverError> {
        self.prepared.server(&self.server).await
    }

    /// The plan as the model sees it: with the names under which it is offered the tools.
    pub(super) fn offered(&self, plan: &Arc<Plan>) -> Arc<Plan> {
        match &self.prepared.agent {
            Some(agent) => Arc::new(plan.with_tool_names(|tool| agent.plain.tools.name(tool))),
            None => Arc::clone(plan),
        }
    }

    /// An empty folder.
    pub(super) fn folder(&self) -> Result<PathBuf, DriverError> {
        let n = self.n_folders.fetch_add(1, Ordering::Relaxed);
        let folder = self.prepared.path().join(format!("state-{n}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => Ok(folder),
            Err(error) => Err(DriverError::harness(format!("cannot make {}", folder.display()), error)),
        }
    }
}

/// Takes the manifest's word for a version that an agent does not say, and warns that it does.
fn take_as_read(about: &mut About, subject: &Subject) -> Vec<String> {
    let (Examinee::Agent, Some(version), true) =
        (Examinee::of(subject), &subject.manifest.version, about.version.is_empty())
    else {
        return Vec::new();
    };
    about.version.clone_from(version);
    vec!["its answer to initialize has no `agentInfo`: the version is what the manifest says".to_owned()]
}

/// The mode that is meant, or what is wrong with what the adapter says of itself.
fn mode_of(about: &About, subject: &Subject) -> Result<String, String> {
    let manifest = &subject.manifest;
    let differs = |wanted: &Option<String>, said: &str| wanted.as_ref().is_some_and(|wanted| wanted != said);
    if differs(&manifest.sdk, &about.sdk) || differs(&manifest.version, &about.version) {
        let (sdk, version) = (manifest.sdk.as_deref(), manifest.version.as_deref());
        return Err(format!(
            "{} says {} {}, the manifest {} {}",
            Examinee::of(subject).noun(),
            about.sdk,
            about.version,
            sdk.unwrap_or("any"),
            version.unwrap_or("any")
        ));
    }
    if about.sdk.is_empty() || about.version.is_empty() {
        return Err("`sdk` or `version` is empty".to_owned());
    }
    let wanted = manifest.modes.iter().map(|mode| &mode.name).chain(&subject.mode);
    if let Some(missing) = wanted.into_iter().find(|wanted| !about.modes.contains(wanted)) {
        let offered = about.modes.join(", ");
        let noun = Examinee::of(subject).noun();
        return Err(format!("the mode {missing} is wanted, and {noun} offers {offered}"));
    }
    // Another version of the SDK may have others.
    if let (Some(told), None) = (&manifest.capabilities, &manifest.pinned) {
        let (mut told, mut has) = (told.clone(), about.capabilities.names());
        told.sort();
        has.sort();
        if told != has {
            let noun = Examinee::of(subject).noun();
            return Err(format!(
                "{noun} has the capabilities {}; the manifest tells {}",
                has.join(", "),
                told.join(", ")
            ));
        }
    }
    let mode = subject.mode.clone().or_else(|| about.modes.first().cloned());
    mode.ok_or_else(|| format!("{} offers no mode", Examinee::of(subject).noun()))
}
