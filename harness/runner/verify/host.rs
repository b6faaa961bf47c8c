//! What the probes run on: the adapter's process, a provider, folders.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::script::{BATCH, Conversation};
use super::stage::Stage;
use crate::dialect::Dialect;
use crate::driver::{About, Adapter, Capabilities, DriverError, Launch, Scratch, install};
use crate::runner::system::{Origin, Subject};
use crate::server::{Limits, Server};

/// The adapter under examination, and what it needs.
pub(super) struct Host {
    launch: Launch,
    about: About,
    pub(super) server: Server,
    scratch: Scratch,
    n_folders: AtomicU32,
    /// The process that most probes share. None when the last one was lost.
    shared: Option<Adapter>,
    /// The mode of the probes that need only one.
    pub(super) mode: String,
    /// The dialects that the system speaks.
    pub(super) dialects: Vec<Dialect>,
    warnings: Vec<String>,
}

impl Host {
    /// Starts the adapter, and holds what it says of itself against its manifest. The inner error is what is wrong.
    pub(super) async fn start(
        subject: &Subject,
        guardian: &Path,
        note: &(dyn Fn(&str) + Sync),
    ) -> Result<Result<Host, String>, DriverError> {
        let cache = install::cache_folder()?;
        let launch = install::launch(&subject.manifest, &cache, guardian, note).await?;
        let scratch = Scratch::create(guardian).await?;
        let launch = Launch { scratch: Some(scratch.path().to_owned()), ..launch };
        let adapter = Adapter::start(&launch).await?;
        let about = adapter.about().clone();
        let mode = match mode_of(&about, subject) {
            Ok(mode) => mode,
            Err(seen) => return Ok(Err(seen)),
        };
        let failed = |what: &str, error: &std::io::Error| DriverError::Harness {
            what: format!("cannot open {what}"),
            text: error.to_string(),
        };
        let server =
            Server::start(Limits::STANDARD).await.map_err(|error| failed("the provider's socket", &error))?;
        let mut host = Host {
            launch,
            about,
            server,
            scratch,
            n_folders: AtomicU32::new(0),
            shared: Some(adapter),
            mode,
            dialects: subject.manifest.dialects.clone(),
            warnings: Vec::new(),
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

    /// The process that most probes share; a new one if the last was lost.
    pub(super) async fn adapter(&mut self) -> Result<Adapter, DriverError> {
        match &self.shared {
            Some(adapter) => Ok(adapter.clone()),
            None => {
                let adapter = self.fresh().await?;
                Ok(self.shared.insert(adapter).clone())
            }
        }
    }

    /// A process of its own.
    pub(super) async fn fresh(&self) -> Result<Adapter, DriverError> {
        Adapter::start(&self.launch).await
    }

    /// Gives up a process whose connection is over; the next probe starts another.
    pub(super) fn forget_if_lost(&mut self) {
        self.shared.take_if(|adapter| adapter.is_lost());
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
        let adapter = self.adapter().await?;
        Stage::open(self, &adapter, conversation.plan(dialect, 0)?, &self.mode).await
    }

    /// An empty folder.
    pub(super) fn folder(&self) -> Result<PathBuf, DriverError> {
        let n = self.n_folders.fetch_add(1, Ordering::Relaxed);
        let folder = self.scratch.path().join(format!("state-{n}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => Ok(folder),
            Err(error) => Err(DriverError::Harness {
                what: format!("cannot make {}", folder.display()),
                text: error.to_string(),
            }),
        }
    }
}

/// The mode that is meant, or what is wrong with what the adapter says of itself.
fn mode_of(about: &About, subject: &Subject) -> Result<String, String> {
    let manifest = &subject.manifest;
    let differs = |wanted: &Option<String>, said: &str| wanted.as_ref().is_some_and(|wanted| wanted != said);
    if differs(&manifest.sdk, &about.sdk) || differs(&manifest.version, &about.version) {
        let (sdk, version) = (manifest.sdk.as_deref(), manifest.version.as_deref());
        return Err(format!(
            "the adapter says {} {}, the manifest {} {}",
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
        return Err(format!("the mode {missing} is wanted, and the adapter offers {offered}"));
    }
    let mode = subject.mode.clone().or_else(|| about.modes.first().cloned());
    mode.ok_or_else(|| "the adapter offers no mode".to_owned())
}
