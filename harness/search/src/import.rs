//! A bricked session as a scenario: its structure, and nothing of what was said.
//!
//! What is kept is an allow-list: who spoke, in which order, which calls a reply had, which of them have results and
//! where those stand, and the kinds of the arguments. Words, names, ids and paths are made anew from numbers. Then
//! everything is taken out without which the provider still refuses for the same reason.

mod minimise;
mod shape;

use brickbat_rules::{Profile, Rule};
use brickbat_sessions::{Judgement, Session, Verdict};
use serde_json::{Value, json};
use thiserror::Error;

use shape::Shape;

/// A scenario that was made of a session.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The scenario, as YAML. Its `given` names the history's file as it was asked for.
    pub scenario: String,
    /// The history, as a file of its own.
    pub history: Value,
    /// Messages of the session.
    pub n_before: usize,
    /// Messages that are left.
    pub n_after: usize,
    /// Reductions that were tried.
    pub n_tried: usize,
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// A word for the structure: two sessions with one fault in one form share it.
    pub hash: String,
    /// What the session holds that a given history cannot say, and that the fault does without.
    pub left_out: Vec<&'static str>,
}

/// Why a session cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// The provider takes its next request.
    #[error("the session is not bricked, so there is no failure to keep")]
    Healthy,
    /// The fault is in something that a given history cannot say.
    #[error("the fault is in what a given history cannot say yet: {}", .0.join(", "))]
    CannotSay(Vec<&'static str>),
}

/// Makes a scenario of a bricked session; `file` is the name of the history's file, as `given` has it.
///
/// # Errors
///
/// The session is not bricked, or not by what a given history can say.
pub fn import(session: &Session, judgement: &Judgement, file: &str) -> Result<Imported, ImportError> {
    if judgement.verdict != Verdict::Refused {
        return Err(ImportError::Healthy);
    }
    let profile = judgement.profile;
    let (shape, left_out) = Shape::of(&session.messages);
    let cannot = || {
        ImportError::CannotSay(match left_out.is_empty() {
            true => vec!["how the product itself gives up"],
            false => left_out.clone(),
        })
    };
    let rule = shape.refusal(profile).ok_or_else(cannot)?;
    let own = judgement.refusals.first().and_then(|refusal| refusal.rule);
    if own.is_some_and(|own| own.id != rule.id) {
        return Err(cannot());
    }
    let n_before = session.messages.len();
    let (smallest, n_tried) =
        minimise::minimise(shape, |shape| shape.refusal(profile).is_some_and(|found| found.id == rule.id));
    let named = smallest.named();
    let hash = brickbat_sessions::report::hashed(&named.history().to_string(), rule.id);
    let comment = format!(
        "A stored session ({}) has a form that its provider refuses ({}). The user goes on, and the thread has to heal.",
        session.product, rule.id
    );
    Ok(Imported {
        scenario: scenario(&comment, profile, file, &named),
        history: json!({
            "schema": 1,
            "comment": format!("Made of a stored session ({}), without any of its words.", session.product),
            "messages": named.history(),
        }),
        n_before,
        n_after: named.n_messages(),
        n_tried,
        rule,
        hash,
        left_out,
    })
}

fn scenario(comment: &str, profile: &Profile, file: &str, shape: &Shape) -> String {
    let tools: String =
        shape.tools().iter().map(|tool| format!("  {tool}: {{ returns: \"result of {tool}\" }}\n")).collect();
    let tools = if tools.is_empty() { String::new() } else { format!("tools:\n{tools}") };
    let profile = match std::ptr::eq(profile, Profile::newest(profile.dialect)) {
        true => String::new(),
        false => format!("profile: {}\n", profile.name),
    };
    let comment = json!(comment);
    format!(
        "schema: 1\ncomment: {comment}\n{profile}given: {{ history: {file} }}\n{tools}turns:\n  - user: Go on.\n    replies: [[{{ text: It goes on. }}]]\n"
    )
}
