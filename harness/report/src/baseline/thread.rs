//! The public report that an entry names, and how it ended.

use serde::{Deserialize, Serialize};

use super::{Entry, NOT_REPORTED};

/// The state of a public report on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadState {
    /// How it ended, if it has ended.
    pub ending: ThreadEnding,
    /// The day on which it was read, or on which it ended: `YYYY-MM-DD`.
    pub date: String,
}

/// How a public report ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadEnding {
    /// It has not ended.
    Open,
    /// It is fixed in this version.
    Fixed(String),
    /// The maintainers do not want to change it.
    Declined,
}

impl ThreadState {
    /// Reads `open 2026-11-28`, `fixed in 7.0.1 2026-11-28` or `declined 2026-07-23`.
    pub fn parse(text: &str) -> Option<ThreadState> {
        let (words, date) = text.trim().rsplit_once(' ')?;
        let ending = match words.trim() {
            "open" => ThreadEnding::Open,
            "declined" => ThreadEnding::Declined,
            words => {
                let version = words.strip_prefix("fixed in ")?.trim();
                let is_one = !version.is_empty() && !version.contains(' ');
                is_one.then(|| ThreadEnding::Fixed(version.to_owned()))?
            }
        };
        is_date(date).then(|| ThreadState { ending, date: date.to_owned() })
    }

    /// The state as text, as in a file.
    pub fn words(&self) -> String {
        let ThreadState { ending, date } = self;
        match ending {
            ThreadEnding::Open => format!("open {date}"),
            ThreadEnding::Fixed(version) => format!("fixed in {version} {date}"),
            ThreadEnding::Declined => format!("declined {date}"),
        }
    }
}

/// True for a day as `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |at: usize| {
        parts.get(at)?.bytes().all(|byte| byte.is_ascii_digit()).then(|| parts[at].parse().ok())?
    };
    parts.iter().map(|part| part.len()).eq([4, 2, 2])
        && number(0).is_some_and(|year: u16| year > 0)
        && number(1).is_some_and(|month| (1..=12).contains(&month))
        && number(2).is_some_and(|day| (1..=31).contains(&day))
}

impl Entry {
    /// The address of the public report, if there is one.
    pub fn link(&self) -> Option<&str> {
        let (link, _) = self.reported.split_once(',').unwrap_or((self.reported.as_str(), ""));
        (link != NOT_REPORTED).then_some(link)
    }

    /// The state of the public report, if the entry names one.
    pub fn state(&self) -> Option<ThreadState> {
        ThreadState::parse(self.reported.split_once(',')?.1)
    }

    /// True if the maintainers have declined to change it: the finding is decided upstream.
    pub fn is_declined(&self) -> bool {
        self.state().is_some_and(|state| state.ending == ThreadEnding::Declined)
    }

    /// True if `reported` has a state that cannot be read.
    pub(super) fn has_unknown_state(&self) -> bool {
        self.reported.contains(',') && self.state().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_is_written() {
        for text in ["open 2026-11-28", "fixed in 7.0.1 2026-11-28", "declined 2026-07-23"] {
            assert_eq!(ThreadState::parse(text).unwrap().words(), text);
        }
        for text in [
            "open",
            "closed 2026-11-28",
            "fixed in 2026-11-28",
            "fixed 7 2026-11-28",
            "open 28.11.2026",
            "open 2026-13-01",
            "open 2026-11-32",
        ] {
            assert_eq!(ThreadState::parse(text), None, "{text}");
        }
    }
}
