//! What is said of sessions: text for people, JSON for programs, SARIF for code scanning.
//!
//! Nothing of a session's content is in it: kinds, counts, places and rules only. Ids stand in JSON and SARIF as hashes,
//! by which equal ones are known within one report.

mod json;
mod repaired;
mod sarif;
mod shown;
mod text;

use crate::{Files, Judgement, Place, ReadError, Session, Verdict};

pub use json::{json, json_session};
pub use repaired::{repair_json, repaired};
pub use sarif::Sarif;
pub use shown::address;
pub use text::{Survey, detail, line};

/// A session with its verdict, and the file that holds it.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The file as the user named it.
    pub file: String,
    /// The names of the files that belong to it, in their order.
    pub companions: Vec<String>,
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

impl Files {
    /// The names of the files that belong to the first.
    pub fn companions(&self) -> Vec<String> {
        self.files.iter().skip(1).map(|file| file.name.clone()).collect()
    }
}

/// A place in words, with the name of the file where that is not the session's own.
fn at(place: &Place, companions: &[String]) -> String {
    match companion(place, companions) {
        Some(name) => format!("{name}: {place}"),
        None => place.to_string(),
    }
}

fn companion<'c>(place: &Place, companions: &'c [String]) -> Option<&'c String> {
    companions.get(place.file.checked_sub(1)?)
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
