//! The errors of driving a system.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use brickbat_engine::provider::Misaddressed;

/// The source of an error. It is shared, because every session of an adapter reports why the adapter is gone.
pub type ErrorSource = Arc<dyn Error + Send + Sync>;

/// An error in the adapter, in its installation or on the machine. It is never a verdict on the
/// SDK.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DriverError {
    #[error("{program} is missing: {advice}")]
    ProgramMissing { program: String, advice: String },
    #[error("{program} is too old: found {found}, need {needed}; install {advice}")]
    ProgramTooOld { program: String, found: String, needed: String, advice: String },
    /// The manifest does not fit this machine; `what` describes the problem and the fix.
    #[error("{what}")]
    Misfit { what: String },
    /// The adapter could not be installed; `what` is the folder or the command.
    #[error("{what} failed: {source}")]
    Install { what: String, source: ErrorSource },
    #[error("cannot start {program}: {source}")]
    Spawn { program: String, source: ErrorSource },
    /// The harness or the machine failed.
    #[error("{what}: {source}")]
    Harness { what: String, source: ErrorSource },
    /// The adapter's process exited, or closed its standard output.
    #[error("the adapter ended ({status}){}", tail(.stderr))]
    AdapterExited { status: String, stderr: String },
    #[error("the adapter did not answer {method} within {} s{}", .waited.as_secs_f32(), tail(.stderr))]
    AnswerTimedOut { method: String, waited: Duration, stderr: String },
    /// A line of the adapter's standard output is not a message of the protocol.
    #[error("the adapter wrote an invalid message to standard output: {source}, in `{excerpt}`")]
    InvalidMessage { source: ErrorSource, excerpt: String },
    /// A valid message that is not allowed there, or that contradicts earlier messages.
    #[error("the adapter broke the protocol: {source}, in `{excerpt}`")]
    ProtocolViolation { source: ErrorSource, excerpt: String },
    #[error("the adapter refused {method}: {text} (code {code})")]
    RequestRefused { method: String, code: i32, text: String },
    /// A session had more events than the harness keeps.
    #[error("the adapter sent more than {limit} events before any was read")]
    EventOverflow { limit: usize },
    /// The system sends requests to an address at which the plan has no provider.
    #[error("{0}")]
    Misaddressed(Misaddressed),
    /// An adapter did not start, and its output names files that were installed for it, which may be damaged.
    #[error(
        "{source}; if an installed file is damaged, remove {folders} in the cache folder ($BRICKBAT_CACHE, else \
         ~/.cache/brickbat) to install it again"
    )]
    InstalledPackage { source: Box<DriverError>, folders: String },
    /// Another error, with the end of the adapter's standard error.
    #[error("{source}{}", tail(.stderr))]
    WithStderr { source: Box<DriverError>, stderr: String },
    /// The harness prompted a session while a turn was running.
    #[error("a turn of this session is still running")]
    TurnRunning,
}

/// A value in a manifest that its type does not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidValue {
    #[error("expected a minimum version such as `>=20` or `>=3.10`, got `{0}`")]
    LeastVersion(String),
    #[error("expected a pattern with one `{{tool}}`, such as `{{server}}_{{tool}}`, got `{0}`")]
    NamePattern(String),
    #[error("expected a path inside the working folder, got `{}`", .0.display())]
    RelativePath(PathBuf),
}

/// Sources cannot be compared, but the messages of two errors can.
impl PartialEq for DriverError {
    fn eq(&self, other: &DriverError) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for DriverError {}

impl From<Misaddressed> for DriverError {
    fn from(lost: Misaddressed) -> DriverError {
        DriverError::Misaddressed(lost)
    }
}

/// The location of an adapter and its dependencies in the cache folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledIn {
    /// Its folders, as a path in the cache folder that ends in `*`.
    pub pattern: String,
    /// The subfolder that the installation created.
    pub made: &'static str,
}

impl DriverError {
    pub(crate) fn harness(
        what: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> DriverError {
        DriverError::Harness { what: what.into(), source: source.into().into() }
    }

    pub(super) fn install(
        what: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> DriverError {
        DriverError::Install { what: what.into(), source: source.into().into() }
    }

    pub(crate) fn violation(
        source: impl Into<Box<dyn Error + Send + Sync>>,
        message: impl ToString,
    ) -> DriverError {
        let excerpt = quote(message.to_string().as_bytes());
        DriverError::ProtocolViolation { source: source.into().into(), excerpt }
    }

    pub(super) fn refused(method: &str, error: agent_client_protocol::Error) -> DriverError {
        let data = error.data.map(|data| format!(": {data}")).unwrap_or_default();
        let text = quote(format!("{}{data}", error.message).as_bytes());
        DriverError::RequestRefused { method: method.to_owned(), code: error.code.into(), text }
    }

    /// Adds the adapter's standard error, unless the error already has it.
    pub(super) fn with_stderr(self, stderr: String) -> DriverError {
        match self {
            DriverError::InvalidMessage { .. }
            | DriverError::ProtocolViolation { .. }
            | DriverError::RequestRefused { .. }
            | DriverError::EventOverflow { .. }
                if !stderr.is_empty() =>
            {
                DriverError::WithStderr { source: Box::new(self), stderr }
            }
            other => other,
        }
    }

    /// Adds how to install the adapter again if it did not start and the error names an installed file.
    pub(crate) fn of_installed(self, installed: Option<&InstalledIn>) -> DriverError {
        match installed {
            Some(InstalledIn { pattern, made }) if self.to_string().contains(made) => {
                DriverError::InstalledPackage { source: Box::new(self), folders: pattern.clone() }
            }
            _ => self,
        }
    }

    /// The innermost error, without added context.
    pub fn plain(&self) -> &DriverError {
        match self {
            DriverError::WithStderr { source, .. } | DriverError::InstalledPackage { source, .. } => {
                source.plain()
            }
            other => other,
        }
    }

    /// The message on one line, and the adapter's standard error if the error includes it.
    pub fn parts(&self) -> (String, &str) {
        match self {
            DriverError::AdapterExited { status, stderr } => {
                (format!("the adapter ended ({status}){}", wrote(stderr)), stderr.trim())
            }
            DriverError::AnswerTimedOut { method, waited, stderr } => {
                let waited = waited.as_secs_f32();
                let what = format!("the adapter did not answer {method} within {waited} s");
                (format!("{what}{}", wrote(stderr)), stderr.trim())
            }
            DriverError::WithStderr { source, stderr } => (source.parts().0, stderr.trim()),
            other => (other.to_string(), ""),
        }
    }

    /// True if the adapter itself is healthy, so that its process can be used further.
    pub fn is_of_a_healthy_process(&self) -> bool {
        self.is_refusal() || matches!(self.plain(), DriverError::Misaddressed(_))
    }

    /// True if the adapter answered with an error.
    pub fn is_refusal(&self) -> bool {
        matches!(self.plain(), DriverError::RequestRefused { .. })
    }
}

/// The end of the adapter's standard error, as the last part of an error message.
fn tail(stderr: &str) -> String {
    match stderr.trim() {
        "" => ", and wrote nothing to its standard error".to_owned(),
        text => format!("; the end of its standard error: {text}"),
    }
}

/// The text before the adapter's standard error, which follows on separate lines.
fn wrote(stderr: &str) -> &'static str {
    if stderr.trim().is_empty() { ", and wrote nothing to its standard error" } else { "; it wrote:" }
}

/// Characters of a bad line that an error quotes: enough to recognise it, short enough for a terminal.
const MAX_QUOTE_CHARS: usize = 200;

/// The beginning of a message, on one line.
pub(super) fn quote(bytes: &[u8]) -> String {
    // One character takes at most 4 bytes, so more bytes need not be decoded.
    let head = &bytes[..bytes.len().min(4 * MAX_QUOTE_CHARS)];
    let text = String::from_utf8_lossy(head);
    let mut quoted: String =
        text.chars().take(MAX_QUOTE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > MAX_QUOTE_CHARS || bytes.len() > head.len() {
        quoted.push('…');
    }
    quoted
}
