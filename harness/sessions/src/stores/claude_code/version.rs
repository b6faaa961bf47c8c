//! Claude Code versions and their changes.
//!
//! Source: the release notes, <https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md>.

use std::fmt;

use crate::Session;

/// A version such as 2.1.274; all zeros if it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Version([u32; 3]);

/// "Fixed API errors when resuming sessions that were interrupted during tool execution".
const RESUMES_OPEN_CALLS: Version = Version([2, 1, 21]);
/// "Fixed resume after the previous process died while a tool was running: the last prompt is no longer rewritten, and
/// the interrupted tool call is kept and marked interrupted".
const MARKS_OPEN_CALLS: Version = Version([2, 1, 265]);
/// The first version that stored thinking without its text
/// (<https://github.com/anthropics/claude-code/issues/63277>).
const LOSES_THINKING: Version = Version([2, 1, 143]);
/// The last version that did so.
const LOST_THINKING: Version = Version([2, 1, 156]);
/// The first version known to always leave out calls without a result and results without a call on resume.
/// Measured with faults planted into the stores of 2.1.87, 2.1.150, 2.1.250, 2.1.318 and 2.1.332. Earlier
/// versions from 2.1.39 on did so in most of the tested stores, and threads up to 2.1.81 report stores in
/// which they did not.
const MENDS_PAIRS: Version = Version([2, 1, 87]);

/// The first version known to send only the first copy of a call or a result. Measured in the same way, and
/// in 2.1.76 as well. 2.1.69 sends both copies, and no version between the two was tested.
const LEAVES_OUT_COPIES: Version = Version([2, 1, 76]);

/// "Fixed `--resume` failing on large sessions when a transcript line was corrupted by an unclean shutdown — the corrupt
/// line is now skipped". Earlier versions show an empty conversation or stop at the line
/// (<https://github.com/anthropics/claude-code/issues/53821>, <https://github.com/anthropics/claude-code/issues/50347>,
/// <https://github.com/anthropics/claude-code/issues/49876>).
const SKIPS_TORN_LINES: Version = Version([2, 1, 121]);

/// The versions for which people report that an empty text beside a pasted image is sent
/// (<https://github.com/anthropics/claude-code/issues/50375>, <https://github.com/anthropics/claude-code/issues/54314>,
/// <https://github.com/anthropics/claude-code/issues/61123>).
const SENDS_EMPTY_CAPTIONS: std::ops::RangeInclusive<Version> = Version([2, 1, 90])..=Version([2, 1, 146]);

impl Version {
    /// Parses a version. `None` if the text is not one.
    pub(super) fn parse(word: &str) -> Option<Version> {
        let number = word.split(['-', '+']).next()?;
        let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
        let version = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(Version(version))
    }

    /// Describes what happens to trailing calls when the session is resumed.
    pub(super) fn open_tail(self) -> &'static str {
        match self {
            _ if self >= MARKS_OPEN_CALLS => "it keeps the call and marks it as interrupted when it resumes",
            _ if self >= RESUMES_OPEN_CALLS => "it resumes past the call without an error",
            _ => "it may still run the call; versions from 2.1.21 on resume past it without an error",
        }
    }

    /// Returns whether this version stored thinking without its text.
    pub(super) fn loses_thinking(self) -> bool {
        (LOSES_THINKING..=LOST_THINKING).contains(&self)
    }

    /// Returns whether this version leaves out calls without a result and results without a call.
    pub(super) fn mends_pairs(self) -> bool {
        self >= MENDS_PAIRS
    }

    /// Returns whether this version stops at a line that it cannot read.
    pub(super) fn stops_at_torn_lines(self) -> bool {
        self != Version::default() && self < SKIPS_TORN_LINES
    }

    /// Returns whether this version sends the empty text that it stores beside a pasted image.
    pub(super) fn sends_empty_captions(self) -> bool {
        SENDS_EMPTY_CAPTIONS.contains(&self)
    }

    /// Returns whether this version continues from the first of two trailing lines with the same calls or
    /// results and the same time. 2.1.39 and 2.1.69 resume at the line with the latest timestamp, and at the
    /// first of several. 2.1.76 does so, too, but it leaves out copies anywhere, as do later versions.
    pub(super) fn resumes_at_first_copy(self) -> bool {
        !self.leaves_out_copies()
    }

    /// Returns whether this version never sends a call or a result twice.
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
