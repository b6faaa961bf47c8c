//! Versions of Claude Code, and what changed with them.
//!
//! Source: the release notes, <https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md>.

use std::fmt;

use crate::Session;

/// A version such as 2.1.274; all zeros if none is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Version([u32; 3]);

/// "Fixed API errors when resuming sessions that were interrupted during tool execution".
const RESUMES_OPEN_CALLS: Version = Version([2, 1, 21]);
/// "Fixed resume after the previous process died while a tool was running: the last prompt is no longer rewritten, and
/// the interrupted tool call is kept and marked interrupted".
const MARKS_OPEN_CALLS: Version = Version([2, 1, 265]);
/// The first that stored thinking without its text (<https://github.com/anthropics/claude-code/issues/63277>).
const LOSES_THINKING: Version = Version([2, 1, 143]);
/// The last that did.
const LOST_THINKING: Version = Version([2, 1, 156]);
/// Mends the history after a refusal that names an unexpected `tool_use_id`
/// (<https://github.com/delexw/claude-code-trace/issues/322>).
const MENDS_UNEXPECTED_RESULTS: Version = Version([2, 1, 274]);

/// Goes on with calls without a result and results without a call, measured with faults planted into its store. It is the
/// first that was tried; an older one may do so as well.
const MENDS_PAIRS: Version = Version([2, 1, 318]);

impl Version {
    /// The version that a word says, if it is one.
    pub(super) fn parse(word: &str) -> Option<Version> {
        let number = word.split(['-', '+']).next()?;
        let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
        let version = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(Version(version))
    }

    /// What becomes of calls at the very end when the session is resumed.
    pub(super) fn open_tail(self) -> &'static str {
        match self {
            _ if self >= MARKS_OPEN_CALLS => "it keeps the call and marks it as interrupted when it resumes",
            _ if self >= RESUMES_OPEN_CALLS => "it resumes past the call without an error",
            _ => "it may still run the call; versions from 2.1.21 on resume past it without an error",
        }
    }

    /// Whether it stored thinking without its text.
    pub(super) fn loses_thinking(self) -> bool {
        (LOSES_THINKING..=LOST_THINKING).contains(&self)
    }

    /// Whether it goes on with calls without a result and results without a call.
    pub(super) fn mends_pairs(self) -> bool {
        self >= MENDS_PAIRS
    }

    /// Whether it mends a history by itself after the provider has refused a result without a call.
    pub(super) fn mends_unexpected_results(self) -> bool {
        self >= MENDS_UNEXPECTED_RESULTS
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The version of a session.
pub(super) fn of(session: &Session) -> Version {
    session.version.as_deref().and_then(Version::parse).unwrap_or_default()
}
