//! `check` and `repair` of a pasted body, for a page that runs them in the browser.
//!
//! A question is a JSON object, and so is its [`answer`]. [`Question`] is the reference of both formats. What a request is
//! judged by, and how it is mended, is that of `brickbat check` and `brickbat check --fix`; this crate only puts their answers
//! into the form that a page draws.
//!
//! It is pure, and judges nothing itself.

mod catalogue;
mod edit;
mod mend;
mod question;
mod verdict;

pub use question::Question;

use serde_json::{Value, json};

/// Bytes of a text that is looked at. Sessions of agents have a few megabytes; larger files are for the command line.
pub const MAX_TEXT: usize = 8 << 20;

/// The answer to a question, both as JSON. Any bytes have an answer; what is no question gets an object with `error`.
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
        Question::Repair(asked) => mend::mend(asked),
    }
}

#[cfg(test)]
mod tests;
