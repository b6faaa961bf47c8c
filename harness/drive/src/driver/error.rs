//! Why a system could not be driven.

use std::fmt;
use std::time::Duration;

/// An error of the adapter, of its installation or of the machine: never a verdict on the SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverError {
    /// A program that the system needs is not there, or too old.
    Missing {
        /// The program, such as `node`.
        program: String,
        /// What was found, and what to do.
        advice: String,
    },
    /// The adapter could not be installed.
    Install {
        /// The folder or the command that failed.
        what: String,
        /// The end of what the command said, or the error.
        text: String,
    },
    /// The adapter's process could not be started.
    Spawn {
        /// The program.
        program: String,
        /// The system's error.
        text: String,
    },
    /// The harness itself failed.
    Harness {
        /// What failed.
        what: String,
        /// How.
        text: String,
    },
    /// The adapter's process ended, or closed its standard output.
    Exited {
        /// How it ended.
        status: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// The adapter did not answer in time.
    Silent {
        /// What it was asked.
        method: String,
        /// How long it was waited for.
        waited: Duration,
        /// The end of its standard error.
        stderr: String,
    },
    /// There is something on the adapter's standard output that is no message of the protocol.
    Babble {
        /// What is wrong with it.
        why: String,
        /// The beginning of what it said.
        said: String,
    },
    /// The adapter said something in the protocol that makes no sense.
    Nonsense {
        /// What is wrong with it.
        why: String,
        /// The beginning of what it said.
        said: String,
    },
    /// The adapter answered a request with an error.
    Refused {
        /// What it was asked.
        method: String,
        /// The error's code.
        code: i32,
        /// The error's text.
        text: String,
    },
    /// More happened in one session than is kept.
    Flooded {
        /// How many events are kept.
        limit: usize,
    },
    /// One of these, from an adapter that had written something to its standard error.
    Told {
        /// Which.
        error: Box<DriverError>,
        /// The end of its standard error.
        stderr: String,
    },
    /// The harness asked for a turn while another was running.
    Busy,
}

impl DriverError {
    /// The adapter's answer is an error.
    pub(super) fn refused(method: &str, error: agent_client_protocol::Error) -> DriverError {
        let data = error.data.map(|data| format!(": {data}")).unwrap_or_default();
        let text = quote(format!("{}{data}", error.message).as_bytes());
        DriverError::Refused { method: method.to_owned(), code: error.code.into(), text }
    }

    /// The same with what the adapter had written to its standard error, where that is not told already.
    pub(super) fn with_stderr(self, stderr: String) -> DriverError {
        match self {
            DriverError::Babble { .. }
            | DriverError::Nonsense { .. }
            | DriverError::Refused { .. }
            | DriverError::Flooded { .. }
                if !stderr.is_empty() =>
            {
                DriverError::Told { error: Box::new(self), stderr }
            }
            other => other,
        }
    }

    /// What went wrong, without what the adapter said besides.
    pub fn plain(&self) -> &DriverError {
        match self {
            DriverError::Told { error, .. } => error.plain(),
            other => other,
        }
    }

    /// Whether the adapter is well and has answered with an error.
    pub fn is_refusal(&self) -> bool {
        matches!(self.plain(), DriverError::Refused { .. })
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriverError::Missing { program, advice } => write!(f, "{program} is missing: {advice}"),
            DriverError::Install { what, text } => write!(f, "{what} failed: {text}"),
            DriverError::Spawn { program, text } => write!(f, "cannot start {program}: {text}"),
            DriverError::Harness { what, text } => write!(f, "{what}: {text}"),
            DriverError::Exited { status, stderr } => {
                write!(f, "the adapter ended ({status}){}", Stderr(stderr))
            }
            DriverError::Silent { method, waited, stderr } => {
                let seconds = waited.as_secs_f32();
                write!(f, "the adapter did not answer {method} within {seconds} s{}", Stderr(stderr))
            }
            DriverError::Babble { why, said } | DriverError::Nonsense { why, said } => {
                write!(f, "the adapter spoke nonsense: {why}, in `{said}`")
            }
            DriverError::Refused { method, code, text } => {
                write!(f, "the adapter refused {method}: {text} (code {code})")
            }
            DriverError::Flooded { limit } => {
                write!(f, "the adapter sent more than {limit} events that nobody could take")
            }
            DriverError::Told { error, stderr } => write!(f, "{error}{}", Stderr(stderr)),
            DriverError::Busy => f.write_str("a turn of this session is still running"),
        }
    }
}

impl std::error::Error for DriverError {}

/// The end of the adapter's standard error, where there is any.
struct Stderr<'a>(&'a str);

impl fmt::Display for Stderr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.trim() {
            "" => f.write_str(", and wrote nothing to its standard error"),
            text => write!(f, "; the end of its standard error: {text}"),
        }
    }
}

/// Characters of a bad line that an error quotes: enough to recognise it, short enough for a terminal.
const MAX_QUOTE_CHARS: usize = 200;

/// The beginning of what was said, fit for one line of an error.
pub(super) fn quote(bytes: &[u8]) -> String {
    // One character takes at most 4 bytes; more need not be decoded.
    let head = &bytes[..bytes.len().min(4 * MAX_QUOTE_CHARS)];
    let text = String::from_utf8_lossy(head);
    let mut quoted: String =
        text.chars().take(MAX_QUOTE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > MAX_QUOTE_CHARS || bytes.len() > head.len() {
        quoted.push('…');
    }
    quoted
}
