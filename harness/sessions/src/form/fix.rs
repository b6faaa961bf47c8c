//! The repair of a request body: the edits of its form, and those that put calls and results together.

use brickbat_rules::{Profile, Rule};
use serde_json::Value;

use super::{FormEdit, form, no_edit, violations};
use crate::{Files, Mended, Repair, RepairError, RepairOptions, repair};

/// A body that the provider accepts after edits.
#[derive(Debug, Clone)]
pub struct FixedBody {
    /// The body.
    pub body: Vec<u8>,
    /// The edits of its form.
    pub form: Vec<FormEdit>,
    /// The edits that put calls and results together. They were made after the others.
    pub repair: Option<Box<Mended>>,
}

/// A body that no known edit makes acceptable.
#[derive(Debug, Clone)]
pub struct Unfixed {
    /// The first rule that stays broken. None if the repair gives another reason.
    pub rule: Option<&'static Rule>,
    /// The reason.
    pub why: String,
    /// True if the body would be accepted after ending the conversation earlier.
    pub can_truncate: bool,
}

/// Makes the edits after which the provider accepts a body or a list of messages. `None` if it does so already.
///
/// # Errors
///
/// The body could not be read, or a repair was unsound and was not kept.
pub fn fix_body(
    body: &[u8],
    options: &RepairOptions,
    profile: &'static Profile,
) -> Result<Option<Result<FixedBody, Unfixed>>, RepairError> {
    let options = RepairOptions { profile: Some(profile), body: Some(profile.dialect), ..options.clone() };
    let model = options.model.as_deref();
    let first = match repair(&Files::one("request.json", body), 0, &options)? {
        Repair::Healthy(_) if violations(body, profile, model).is_empty() => return Ok(None),
        Repair::Mended(mended) => {
            return Ok(Some(Ok(FixedBody {
                body: mended.files.main().to_vec(),
                form: Vec::new(),
                repair: Some(mended),
            })));
        }
        Repair::Healthy(_) => None,
        Repair::Beyond(beyond) => Some(beyond),
    };
    let unfixed = |body: &[u8]| {
        let left = violations(body, profile, model);
        let rule = left.first().map(|violation| violation.rule);
        let because =
            |rule: &'static Rule| format!("no edit is known for {}, because {}", rule.id, no_edit(rule));
        let why = rule.map(because).or_else(|| Some(first.as_ref()?.why.clone())).unwrap_or_default();
        Unfixed { rule, why, can_truncate: first.as_ref().is_some_and(|beyond| beyond.can_truncate) }
    };
    let Some(formed) = form(body, profile, model) else { return Ok(Some(Err(unfixed(body)))) };
    if !formed.edits.iter().any(|edit| edit.loses) && !keeps_texts(body, &formed.body) {
        return Ok(Some(Err(unfixed(body))));
    }
    let (after, repair) = match repair(&Files::one("request.json", &*formed.body), 0, &options)? {
        Repair::Mended(mended) => (mended.files.main().to_vec(), Some(mended)),
        Repair::Healthy(_) => (formed.body, None),
        Repair::Beyond(_) => return Ok(Some(Err(unfixed(&formed.body)))),
    };
    match violations(&after, profile, model).is_empty() {
        true => Ok(Some(Ok(FixedBody { body: after, form: formed.edits, repair }))),
        false => Ok(Some(Err(unfixed(&after)))),
    }
}

/// Returns whether each text of a body is in another one. White space at its ends does not count.
pub(super) fn keeps_texts(before: &[u8], after: &[u8]) -> bool {
    let read = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap_or(Value::Null);
    let (mut had, mut has) = (Vec::new(), Vec::new());
    texts(&read(before), &mut had);
    texts(&read(after), &mut has);
    // Arguments may change from a value to a text, and back.
    all_strings(&read(after), &mut has);
    let all = has.join("\u{0}");
    had.iter().all(|text| all.contains(text.trim()))
}

/// All strings in a value, also in the JSON that its strings contain.
fn all_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|value| all_strings(value, found)),
        Value::Array(items) => items.iter().for_each(|item| all_strings(item, found)),
        Value::String(text) => {
            found.push(text.clone());
            if text.starts_with(['{', '['])
                && let Ok(inner) = serde_json::from_str::<Value>(text)
            {
                all_strings(&inner, found);
            }
        }
        _ => {}
    }
}

/// The texts in a value: what people and models wrote, and what tools returned.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if matches!(name.as_str(), "text" | "content" | "output") => {
                        found.push(text.clone());
                    }
                    _ => texts(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| match item {
            Value::String(text) => found.push(text.clone()),
            item => texts(item, found),
        }),
        _ => {}
    }
}
