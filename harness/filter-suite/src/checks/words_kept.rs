//! Checks that all texts of the user, the model and the tools are still there.

use std::cell::OnceCell;

use super::{Check, Evidence, Finding, quoted};
use crate::words::said_in;
use crate::{Loss, Part, State};

pub(super) const CHECK: Check = Check {
    id: "words-kept",
    summary: "user messages, replies, calls, results, images and signatures are still there, or their loss is declared",
    applies: |evidence| evidence.has_body(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = spoken(evidence);
    found.extend(worked(evidence));
    found.extend(seen(evidence));
    found
}

fn lost(cause: &str, what: &str, words: &str) -> Finding {
    CHECK.finding(cause, format!("{what} is gone: {}", quoted(words)))
}

/// Checks the texts of the user and the model, and the instructions.
fn spoken(evidence: &Evidence<'_>) -> Vec<Finding> {
    if evidence.declares(Loss::ChangesText) {
        return Vec::new();
    }
    let (user, replies) = (evidence.after.user(), evidence.after.replies());
    let system = evidence.after.system.join("\n");
    let mut found = Vec::new();
    if evidence.may_drop() {
        return found;
    }
    let parts = &evidence.before.parts;
    let missing_user = parts.iter().find_map(|part| match part {
        Part::User(text) if !said_in(&user, text) => Some(text),
        _ => None,
    });
    found.extend(missing_user.map(|text| lost("user", "what the user said", text)));
    let missing_reply = parts.iter().find_map(|part| match part {
        Part::Reply(text) if !said_in(&replies, text) => Some(text),
        _ => None,
    });
    found.extend(missing_reply.map(|text| lost("reply", "what the model said", text)));
    // Some dialects can have instructions only in the user's text.
    let is_there = |text: &&String| said_in(&system, text) || said_in(&user, text);
    let missing_system = evidence.before.system.iter().find(|text| !is_there(text));
    found.extend(missing_system.map(|text| lost("instructions", "an instruction", text)));
    found
}

/// Checks calls and their results.
fn worked(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let (before, after) = (evidence.before.answers(), evidence.after.answers());
    let calls = evidence.before.calls();
    let may_go = evidence.may_drop() || evidence.declares(Loss::DropsCalls);
    // A repair may remove a copy of a call.
    let is_copy = |n: usize| {
        evidence.input.state != State::Valid && calls.iter().filter(|call| call.id == calls[n].id).count() > 1
    };
    // Without offered tools, a converter may write a call as text of the model.
    let replies = evidence.after.replies();
    // Another check reports a result at the wrong call.
    let texts: Vec<&str> = after.iter().flatten().map(|result| result.text.as_str()).collect();
    let elsewhere = evidence.after.user();
    let is_there = |text: &str| texts.iter().any(|has| said_in(has, text)) || said_in(&elsewhere, text);
    let is_retold = |n: usize| said_in(&replies, &calls[n].name) && said_in(&replies, &calls[n].arguments);
    for (n, place) in evidence.calls.iter().enumerate() {
        match place {
            None if !may_go && !is_copy(n) && !is_retold(n) => {
                found.push(lost("call", "a call", &calls[n].name))
            }
            Some(place) if !evidence.declares(Loss::ClearsResults) => {
                // Another check reports a call without its result.
                let is_answered = !after[*place].is_empty();
                let gone = before[n].iter().find(|had| !is_there(&had.text)).filter(|_| is_answered);
                found.extend(gone.map(|had| lost("result", "a result", &had.text)));
            }
            _ => {}
        }
    }
    found.dedup_by(|one, other| one.cause == other.cause);
    found
}

/// Checks images and signatures.
fn seen(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(body) = evidence.said.body().filter(|_| !evidence.may_drop()) else { return Vec::new() };
    let text = OnceCell::new();
    let text = || text.get_or_init(|| body.to_string());
    let has_signatures = !evidence.route.is_foreign()
        && !evidence.declares(Loss::DropsThinking)
        && evidence.input.state == State::Valid;
    let mut found = Vec::new();
    for part in &evidence.before.parts {
        match part {
            Part::Picture(data) if !evidence.declares(Loss::DropsPictures) && !shows(text(), data) => {
                found.push(lost("picture", "a picture", data));
            }
            Part::Thought { signature: Some(signature), .. }
            | Part::Call(crate::CallFact { signature: Some(signature), .. })
                if has_signatures && !text().contains(signature.as_str()) =>
            {
                found.push(lost("signature", "a signature", signature));
            }
            _ => {}
        }
    }
    found.dedup_by(|one, other| one.cause == other.cause);
    found
}

/// Returns whether an image is in a body, in either alphabet of base64 (RFC 4648, sections 4 and 5). Broken data may have
/// characters that JSON escapes.
fn shows(body: &str, data: &str) -> bool {
    let escaped = serde_json::Value::from(data).to_string();
    let data = escaped.trim_matches('"');
    body.contains(data) || body.contains(data.replace('+', "-").replace('/', "_").trim_end_matches('='))
}

#[cfg(test)]
mod tests {
    use super::shows;

    #[test]
    fn an_image_is_found_in_both_alphabets() {
        assert!(shows("x a+/b== y", "a+/b=="));
        assert!(shows("x a-_b y", "a+/b=="));
        assert!(!shows("x a-_c y", "a+/b=="));
        assert!(shows(r#"{"data":"a\nb"}"#, "a\nb"));
    }
}
