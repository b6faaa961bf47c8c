//! The rules as a library for other languages: `check`, `repair`, `explain`, `session` and `histories` in one WebAssembly
//! module without imports.
//!
//! A caller writes a question into the module's memory and reads the answer there; `exports` has the two functions for that.
//! A question is a JSON object, the [`Question`], followed by the bytes that it is about. The answer is a JSON object.
//! The packages for npm and PyPI start the same module, which `harness/library/build` makes.
//! The crate is pure, and contains no rules: the answers are those of the command line.

#![allow(
    clippy::disallowed_macros,
    reason = "between two calls, the module keeps the bytes that the caller exchanges with it"
)]

mod explain;
mod exports;
mod history;
mod question;
mod session;
mod verdict;

pub use exports::{answer, take};
pub use history::Kind;
pub use question::{OfHistory, OfSession, Question, Terms};

use serde_json::{Value, json};

/// Returns the answer to a question about these bytes. Both can be any bytes; if the question is invalid, the answer is an
/// object with `error`.
pub fn ask(question: &[u8], bytes: &[u8]) -> Vec<u8> {
    let question = match serde_json::from_slice(question) {
        Ok(question) => question,
        Err(error) => return failed(&format!("not a question: {error}")),
    };
    let answer = match question {
        Question::Check(terms) => verdict::check(terms, bytes),
        Question::Repair(terms) => verdict::repair(terms, bytes),
        Question::Explain {} => explain::explain(bytes),
        Question::Session(of) => session::session(&of, bytes),
        Question::History(of) => history::history(&of, bytes),
    };
    answer.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &str) -> Vec<u8> {
    text_of(&json!({ "error": error }))
}

fn text_of(answer: &Value) -> Vec<u8> {
    answer.to_string().into_bytes()
}

#[cfg(test)]
mod tests;
