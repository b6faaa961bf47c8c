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
/// Leaves out calls without a result and results without a call when it resumes, measured with faults planted into the
/// stores of 2.1.87, 2.1.150, 2.1.250, 2.1.318 and 2.1.332. Earlier ones, from 2.1.39 on, did so in most of the stores that
/// were tried, and threads up to 2.1.81 tell of ones in which they did not.
const MENDS_PAIRS: Version = Version([2, 1, 87]);

/// Sends the first copy of a call or a result alone, measured likewise, and in 2.1.76 as well; 2.1.69 sends both, and none
/// between the two was tried.
const LEAVES_OUT_COPIES: Version = Version([2, 1, 76]);

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

    /// Whether it leaves out calls without a result and results without a call.
    pub(super) fn mends_pairs(self) -> bool {
        self >= MENDS_PAIRS
    }

    /// Whether it goes on from the first of two lines at the end that have the same calls or results and the same time. 2.1.39
    /// and 2.1.69 resume at the line with the latest timestamp, and at the first of several. So does 2.1.76; but from there on
    /// copies are left out wherever they stand.
    pub(super) fn resumes_at_first_copy(self) -> bool {
        !self.leaves_out_copies()
    }

    /// Whether it sends no call and no result a second time.
    pub(super) fn leaves_out_copies(self) -> bool {
        self >= LEAVES_OUT_COPIES
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
