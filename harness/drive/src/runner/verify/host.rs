//! The resources of the probes: the adapter's process, a provider, folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::probe::{Defect, Halt, Hint, Probe, ProbeOutcome, wrong};
use super::script::{BATCH, Conversation};
use super::session::ProbeSession;
use crate::driver::{About, Adapter, Capabilities, DriverError, Manifest, Progress};
use crate::runner::system::{Origin, Prepared, Subject, server};
use crate::server::Server;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;

/// The kind of system that is examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Examinee {
    /// An adapter, which speaks the protocol on top of ACP.
    Adapter,
    /// An agent that speaks plain ACP, together with the manifest that describes it.
    Agent,
}

impl Examinee {
    pub(super) fn of(subject: &Subject) -> Examinee {
        if subject.manifest.acp.is_some() { Examinee::Agent } else { Examinee::Adapter }
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            Examinee::Adapter => "the adapter",
            Examinee::Agent => "the agent",
        }
    }

    /// The advice for a probe's finding.
    pub(super) fn hint(self, probe: Probe, special: Option<Hint>) -> &'static str {
        let probe = match special {
            Some(Hint::Text(text)) => return text,
            Some(Hint::Of(other)) => other,
            None => probe,
        };
        match self {
            Examinee::Adapter => probe.adapter_hint(),
            Examinee::Agent => probe.agent_hint(),
        }
    }
}

/// The warning of a probe that would try a stop if the adapter supported it.
pub(super) const NO_STOP: &str = "stopping was not tested: `cancel` is not claimed";

/// The adapter under examination, and its resources.
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
    pub(super) dialects: Vec<Dialect>,
    pub(super) warnings: Vec<String>,
    manifest: Manifest,
    /// Probes that have failed.
    failed: Vec<Probe>,
    /// Dropped after the adapter, and waits for it.
    prepared: Prepared,
}

impl Host {
    /// Starts the adapter, and compares how it describes itself with its manifest.
    pub(super) async fn start(
        subject: &Subject,
        supervisor: &Path,
        note: Progress<'_>,
    ) -> Result<Host, Halt> {
        let mut prepared = Prepared::new(subject, supervisor, note).await?;
        if let Some(agent) = &mut prepared.agent {
            // A version that only the manifest gives must not look as if the agent had reported it.
            agent.version.clear();
        }
        let adapter = prepared.start().await?;
        let mut about = adapter.about().clone();
        let warnings = take_as_read(&mut about, subject);
        let mode = mode_of(&about, subject)?;
        let mut host = Host {
            examinee: Examinee::of(subject),
            about,
            server: server().await?,
            prepared,
            n_folders: AtomicU32::new(0),
            shared: Some(adapter),
            n_sessions: 0,
            dialects: subject.manifest.dialects_of(Some(&mode)),
            mode,
            warnings,
            manifest: subject.manifest.clone(),
            failed: Vec::new(),
        };
        if matches!(subject.origin, Origin::Command(_)) {
            host.find_dialects().await?;
        }
        Ok(host)
    }

    /// A command does not list the dialects of its system, so each is tried.
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

    pub(super) fn about(&self) -> String {
        let About { sdk, version, modes, .. } = &self.about;
        format!("{sdk} {version} with {}", modes.join(", "))
    }

    /// True if a probe is known to fail: the manifest lists it among the limits of this version, or it has
    /// failed.
    pub(super) fn is_limited(&self, probe: Probe) -> bool {
        self.manifest.limits.contains_key(probe.id()) || self.failed.contains(&probe)
    }

    pub(super) fn remember(&mut self, probe: Probe, outcome: &ProbeOutcome) {
        if matches!(outcome, ProbeOutcome::Failed { .. }) {
            self.failed.push(probe);
        }
    }

    /// The number of bytes that the shared process has written to its standard error so far.
    pub(super) fn stderr_len(&self) -> u64 {
        self.shared.as_ref().map_or(0, Adapter::stderr_len)
    }

    /// The text that it has written since then, or all its text if another process has replaced it.
    pub(super) fn stderr_since(&self, len: u64) -> String {
        let from = if len > self.stderr_len() { 0 } else { len };
        self.shared.as_ref().map(|adapter| adapter.stderr_since(from)).unwrap_or_default()
    }

    /// The adapter's capabilities in the current mode.
    pub(super) fn capabilities(&self) -> Capabilities {
        self.manifest.capabilities_of(&self.mode, self.about.capabilities)
    }

    pub(super) fn modes(&self) -> Vec<String> {
        self.about.modes.clone()
    }

    /// The dialects in which a mode is tried.
    pub(super) fn dialects_of(&self, mode: &str) -> Vec<Dialect> {
        let listed = self.manifest.dialects_of(Some(mode));
        self.dialects.iter().copied().filter(|dialect| listed.contains(dialect)).collect()
    }

    /// The dialect of the probes that need only one.
    pub(super) fn dialect(&self) -> Dialect {
        self.dialects.first().copied().unwrap_or(Dialect::AnthropicMessages)
    }

    /// The number of consecutive sessions that one process must support. `None` if there is no limit.
    pub(super) fn max_sessions(&self) -> Option<usize> {
        self.prepared.agent.as_ref().map(|agent| agent.plain.max_sessions)
    }

    /// The process that most probes share, for `n_sessions` more sessions. It is a new one if the last was
    /// lost, or is due for replacement.
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

    /// A process that no other probe uses.
    pub(super) async fn fresh(&self) -> Result<Adapter, DriverError> {
        self.prepared.start().await
    }

    /// Forgets a process whose connection is closed; the next probe starts another.
    pub(super) fn forget_if_lost(&mut self) {
        self.shared.take_if(|adapter| adapter.is_over());
    }

    /// A conversation with the shared process, in the first dialect.
    pub(super) async fn open(&mut self, conversation: Conversation) -> Result<ProbeSession, DriverError> {
        self.open_on(conversation, self.dialect()).await
    }

    pub(super) async fn open_on(
        &mut self,
        conversation: Conversation,
        dialect: Dialect,
    ) -> Result<ProbeSession, DriverError> {
        let adapter = self.adapter(1).await?;
        self.open_in(&adapter, conversation.plan(dialect, 0)?, &self.mode).await
    }

    /// A session for a plan in a process.
    pub(super) async fn open_in(
        &self,
        adapter: &Adapter,
        plan: Arc<Plan>,
        mode: &str,
    ) -> Result<ProbeSession, DriverError> {
        let server = self.prepared.server(&self.server).await?;
        let plans = (Arc::clone(&plan), self.prepared.offered(&plan));
        ProbeSession::open(&server, adapter, plans, mode, self.folder()?).await
    }

    pub(super) fn folder(&self) -> Result<PathBuf, DriverError> {
        let n = self.n_folders.fetch_add(1, Ordering::Relaxed);
        let folder = self.prepared.path().join(format!("state-{n}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => Ok(folder),
            Err(error) => Err(DriverError::harness(format!("cannot create {}", folder.display()), error)),
        }
    }
}

/// Uses the manifest's version if an agent reports none, and warns about it.
fn take_as_read(about: &mut About, subject: &Subject) -> Vec<String> {
    let (Examinee::Agent, Some(version), true) =
        (Examinee::of(subject), &subject.manifest.version, about.version.is_empty())
    else {
        return Vec::new();
    };
    about.version.clone_from(version);
    vec!["its answer to initialize has no `agentInfo`, so the version is taken from the manifest".to_owned()]
}

/// The selected mode, or the error in the adapter's description of itself.
fn mode_of(about: &About, subject: &Subject) -> Result<String, Defect> {
    let (manifest, noun) = (&subject.manifest, Examinee::of(subject).noun());
    let differs = |wanted: &Option<String>, said: &str| wanted.as_ref().is_some_and(|wanted| wanted != said);
    if differs(&manifest.sdk, &about.sdk) || differs(&manifest.version, &about.version) {
        let (sdk, version) = (manifest.sdk.as_deref(), manifest.version.as_deref());
        return wrong(format!(
            "{noun} reports {} {}, but the manifest names {} {}",
            about.sdk,
            about.version,
            sdk.unwrap_or("any"),
            version.unwrap_or("any")
        ));
    }
    if about.sdk.is_empty() || about.version.is_empty() {
        return wrong("`sdk` or `version` is empty");
    }
    let wanted = manifest.modes.iter().map(|mode| &mode.name).chain(&subject.mode);
    if let Some(missing) = wanted.into_iter().find(|wanted| !about.modes.contains(wanted)) {
        let offered = about.modes.join(", ");
        return wrong(format!("the mode {missing} is required, but {noun} offers only {offered}"));
    }
    // Another version of the SDK may have other capabilities.
    if let (Some(listed), None) = (&manifest.capabilities, &manifest.pinned) {
        let (mut listed, mut has) = (listed.clone(), about.capabilities.keys());
        listed.sort();
        has.sort();
        if listed != has {
            let (has, listed) = (has.join(", "), listed.join(", "));
            let seen = format!("{noun} has the capabilities {has}, but the manifest lists {listed}");
            return wrong(seen);
        }
    }
    let mode = subject.mode.clone().or_else(|| about.modes.first().cloned());
    mode.ok_or_else(|| Defect::new(format!("{noun} does not offer a mode")))
}
