//! Reports on sessions: human-readable text, machine-readable JSON, SARIF for code scanning.
//!
//! Reports contain kinds, counts, places and rules, but no content of the session. JSON and SARIF contain ids
//! as hashes, which are equal for equal ids within one report.

mod json;
mod repaired;
mod sarif;
mod shown;
mod text;

use crate::{Files, Judgement, Near, Place, ReadError, Session};

pub use json::{json, json_session};
pub use repaired::{fixed_body, repair_json, repaired};
pub use sarif::Sarif;
pub use shown::address;
pub use text::{Survey, detail, line};

/// A session with its file and its verdict.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The file as the user named it.
    pub file: String,
    /// The names of the companion files, in order.
    pub companions: Vec<String>,
    /// The index of the session in the file, from 0.
    pub n: usize,
    /// The session.
    pub session: Session,
    /// The verdict on the session.
    pub judgement: Judgement,
}

/// A file that was not read.
#[derive(Debug)]
pub struct Unread {
    /// The file as the user named it.
    pub file: String,
    /// The reason.
    pub error: ReadError,
    /// The products with stores like the file, if no known product wrote it.
    pub near: Vec<Near>,
    /// The next step, if no known product wrote the file; otherwise empty.
    pub next: String,
}

impl Unread {
    /// The products that the file resembles, and the next step, as lines after the reason; empty if there are none.
    pub fn hint(&self) -> String {
        format!("{}{}", hint(&self.near), self.next)
    }
}

/// The products that a file resembles, as a line after the reason for which it was not read.
pub fn hint(near: &[Near]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let names: Vec<String> = near.iter().map(Near::to_string).collect();
    format!("\n  It resembles: {}.", names.join("; "))
}

impl Files {
    /// The names of the companion files, which are all files but the first.
    pub fn companions(&self) -> Vec<String> {
        self.files.iter().skip(1).map(|file| file.name.clone()).collect()
    }
}

/// A place as text, with the file name if it is in a companion.
fn at(place: &Place, companions: &[String]) -> String {
    match companion(place, companions) {
        Some(name) => format!("{name}: {place}"),
        None => place.to_string(),
    }
}

fn companion<'c>(place: &Place, companions: &'c [String]) -> Option<&'c String> {
    companions.get(place.file.checked_sub(1)?)
}

/// A pseudonym for an id: the first eight digits of its salted SHA-256.
///
/// Each report has its own salt, so that an id cannot be confirmed by hashing a guess.
pub fn hashed(id: &str, salt: &str) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(format!("{salt}\u{0}{id}"));
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}
