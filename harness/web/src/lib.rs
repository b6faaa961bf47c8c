//! `check` and `repair` for a pasted body, for a page that runs them in the browser.
//!
//! A question is a JSON object, and so is its [`answer`]. [`Question`] is the reference for both formats.
//! The rules and the repair are the same as in `brickbat check` and `brickbat check --fix`. This crate only
//! converts their results to the form that the page displays. It is pure, and contains no rules.

mod catalogue;
mod edit;
mod question;
mod repair;
mod verdict;

pub use question::{Asked, OptionError, Question};
pub use repair::{Repaired, repaired};
pub use verdict::{Inside, Judged, Unjudged, checked, judged};

use serde_json::{Value, json};

/// Maximum size of a text in bytes. Sessions of agents have a few megabytes; use the command line for
/// larger files.
pub const MAX_TEXT: usize = 8 << 20;

/// Returns the answer to a question, both as JSON. The question can be any bytes; if it is invalid, the
/// answer is an object with `error`.
pub fn answer(question: &[u8]) -> Vec<u8> {
    let answer = match serde_json::from_slice(question) {
        Ok(question) => answer_of(&question),
        Err(error) => json!({ "error": format!("not a question: {error}") }),
    };
    answer.to_string().into_bytes()
}

fn answer_of(question: &Question) -> Value {
    match question {
        Question::Catalogue {} => catalogue::catalogue(),
        Question::Check(asked) => verdict::verdict(asked),
        Question::Repair(asked) => repair::repair(asked),
    }
}

#[cfg(test)]
mod tests;
