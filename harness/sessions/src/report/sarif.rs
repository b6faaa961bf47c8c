//! Sessions as SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/>).

use std::collections::BTreeMap;

use brickbat_rules::Rule;
use serde_json::{Value, json};

use super::{Examined, Unread};
use crate::{Place, Refusal, Verdict};

/// The id for a product that gives up on its own. No provider has a rule for this.
const GIVES_UP: &str = "product-gives-up";

/// The id for a branch that is cut off from earlier messages. No provider has a rule for this.
const CUT: &str = "branch-cut";

/// The id for a record that cannot be read. No provider has a rule for this.
const UNREADABLE: &str = "record-unreadable";

/// A report to which sessions are added. Each refusal is located at its place in the store.
#[derive(Debug, Default)]
pub struct Sarif {
    rules: BTreeMap<&'static str, Option<&'static Rule>>,
    results: Vec<Value>,
}

impl Sarif {
    /// Adds the refusals and troubles of a session.
    pub fn add(&mut self, one: &Examined) {
        for refusal in &one.judgement.refusals {
            self.rules.insert(refusal.rule.map_or(GIVES_UP, |rule| rule.id), refusal.rule);
            self.results.push(result(one, refusal));
        }
        for refusal in &one.judgement.by_later_models {
            let Some(rule) = refusal.rule else { continue };
            self.rules.insert(rule.id, Some(rule));
            self.results.push(finding(one, rule.id, "warning", rule.summary, refusal.place.as_ref()));
        }
        if let Some(cut) = one.session.cut.as_ref().filter(|_| one.judgement.verdict == Verdict::Cut) {
            self.rules.insert(CUT, None);
            let words = "the branch is cut off, so everything before this line is not sent";
            self.results.push(finding(one, CUT, "warning", words, Some(&cut.place)));
        }
        for trouble in one.session.troubles.iter().filter(|trouble| trouble.loses.is_some()) {
            self.rules.insert(UNREADABLE, None);
            self.results.push(finding(one, UNREADABLE, "warning", &trouble.words, Some(&trouble.place)));
        }
    }

    /// The finished report.
    pub fn report(self, unread: &[Unread]) -> Value {
        let notes: Vec<Value> = unread.iter().map(notification).collect();
        let driver = json!({
            "name": "brickbat",
            "version": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"),
            "rules": self.rules.iter().map(|(id, rule)| described(id, *rule)).collect::<Vec<_>>(),
        });
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": driver },
                "results": self.results,
                "invocations": [{
                    "executionSuccessful": notes.is_empty(),
                    "toolExecutionNotifications": notes,
                }],
            }],
        })
    }
}

fn described(id: &str, rule: Option<&'static Rule>) -> Value {
    let (short, full) = match rule {
        Some(rule) => (rule.summary, rule.why),
        None if id == CUT => (
            "The parent of a line is not in the file.",
            "The product does not send anything before that line.",
        ),
        None if id == UNREADABLE => (
            "A record of the store cannot be read, or is there by mistake.",
            "The product skips it, or cannot load the session.",
        ),
        None => ("The product gives up before it sends a request.", "The next turn of the session fails."),
    };
    json!({ "id": id, "shortDescription": { "text": short }, "fullDescription": { "text": full } })
}

fn result(examined: &Examined, refusal: &Refusal) -> Value {
    // The provider's message contains ids, so the text of the rule is used.
    let words = refusal.rule.map_or("the product gives up before it sends a request", |rule| rule.summary);
    let id = refusal.rule.map_or(GIVES_UP, |rule| rule.id);
    finding(examined, id, "error", words, refusal.place.as_ref())
}

fn finding(examined: &Examined, id: &str, level: &str, words: &str, at: Option<&Place>) -> Value {
    let mut place = json!({ "artifactLocation": { "uri": uri(&examined.file) } });
    if let Some(at) = at.filter(|at| at.file == 0 && at.end > at.start) {
        place["region"] = json!({ "byteOffset": at.start, "byteLength": at.end - at.start });
        if let Some(line) = at.line {
            place["region"]["startLine"] = json!(line);
        }
    }
    let logical = at.map(|place| super::at(place, &examined.companions)).unwrap_or_default();
    json!({
        "ruleId": id,
        "level": level,
        "message": { "text": format!("{}: {words}", examined.session.product) },
        "locations": [{
            "physicalLocation": place,
            "logicalLocations": [{ "fullyQualifiedName": logical, "kind": "value" }],
        }],
    })
}

fn notification(unread: &Unread) -> Value {
    json!({
        "level": "error",
        "message": { "text": unread.error.to_string() },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(&unread.file) } } }],
    })
}

/// A path as a relative reference. Characters that RFC 3986 does not allow are escaped.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte);
        match is_plain {
            true => uri.push(char::from(byte)),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
