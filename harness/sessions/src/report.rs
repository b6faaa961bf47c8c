//! What is said of sessions: text for people, JSON for programs, SARIF for code scanning.
//!
//! Nothing of a session's content is in it: kinds, counts, places and rules only. Ids stand in JSON and SARIF as hashes,
//! by which equal ones are known within one report.

mod json;
mod sarif;
mod shown;
mod text;

use crate::{Judgement, ReadError, Session, Verdict};

pub use json::json;
pub use sarif::sarif;
pub use shown::address;
pub use text::{Survey, detail, line, repaired};

/// A session with its verdict, and the file that holds it.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The file as the user named it.
    pub file: String,
    /// The session's number in the file, from 0.
    pub n: usize,
    /// The session.
    pub session: Session,
    /// What is to be said of it.
    pub judgement: Judgement,
}

/// A file that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The file as the user named it.
    pub file: String,
    /// Why.
    pub error: ReadError,
}

/// The word for a verdict in reports.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "accepted",
        Verdict::OpenTail => "open-tail",
        Verdict::Excerpt => "excerpt",
        Verdict::Cut => "cut",
        Verdict::Refused => "bricked",
        Verdict::Unreadable => "unreadable",
        Verdict::Undecided => "undecided",
    }
}

/// A word that stands for an id without showing it: the first eight digits of its SHA-256, salted.
///
/// The salt is that of one report, so that nobody finds an id by hashing what he guesses.
pub fn hashed(id: &str, salt: &str) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(format!("{salt}\u{0}{id}"));
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}
