//! Validates a request body with a profile.

use std::borrow::Cow;

use serde_json::Value;

use crate::checker::Checker;
use crate::json::{self, Document, Json, Part};
use crate::{Dialect, Memory, Occurrence, Profile, Violation, Violations};

/// Returns the field of a request body that contains the conversation, for example `messages`.
pub fn list_of(dialect: Dialect) -> &'static str {
    dialect.definition().list
}

/// Returns the violations in a request body, in the order in which the provider of this profile checks.
///
/// `body` can be any bytes. The list has at most [`MAX_VIOLATIONS`](crate::MAX_VIOLATIONS) errors and as
/// many warnings.
pub fn validate(profile: &'static Profile, body: &[u8]) -> Vec<Violation> {
    validate_remembering(profile, &Memory::default(), body)
}

/// Like [`validate`], for a provider that remembers its earlier replies.
pub fn validate_remembering(profile: &'static Profile, memory: &Memory, body: &[u8]) -> Vec<Violation> {
    Text { bytes: body, around: None }.judge(profile, memory, None)
}

/// Like [`validate_remembering`], for the parsed [`readable`](Profile::readable) body, and for the model if the path of the request names
/// it.
pub fn validate_asking(
    profile: &'static Profile,
    memory: &Memory,
    model: Option<&str>,
    body: &[u8],
    document: &Result<Document, serde_json::Error>,
) -> Vec<Violation> {
    match document {
        Ok(document) => {
            let mut validator = Validator::new(profile, memory, model);
            json::walk_document(document, profile.dialect.definition().list, |part| validator.take(part));
            validator.out.into_violations()
        }
        Err(error) => unreadable(profile, body, error),
    }
}

/// Like [`validate`], for a bare list of messages. Pointers start at a body with this list.
pub fn validate_list(profile: &'static Profile, list: &[u8]) -> Vec<Violation> {
    validate_list_to(profile, None, list)
}

/// Like [`validate`], for a request with a path that may name the model.
pub fn validate_to(profile: &'static Profile, model: Option<&str>, body: &[u8]) -> Vec<Violation> {
    Text { bytes: body, around: None }.judge(profile, &Memory::default(), model)
}

/// Like [`validate_list`], for a list of messages to a model.
pub fn validate_list_to(profile: &'static Profile, model: Option<&str>, list: &[u8]) -> Vec<Violation> {
    let around = naming(profile.dialect.definition().bare, model);
    let around = Document::parse(&around).unwrap_or_default();
    Text { bytes: list, around: Some(&around) }.judge(profile, &Memory::default(), model)
}

/// Returns the body with this model in it. Pointers into it are also valid for `body`.
pub fn naming<'a>(body: &'a [u8], model: Option<&str>) -> Cow<'a, [u8]> {
    let Some(model) = model else { return Cow::Borrowed(body) };
    let Ok(document) = Document::parse(body) else { return Cow::Borrowed(body) };
    let root = document.root();
    let name = Value::from(model).to_string();
    match root.get("model") {
        _ if !root.is_object() => Cow::Borrowed(body),
        Some(own) if own.is(model) => Cow::Borrowed(body),
        Some(own) => {
            let span = own.span();
            Cow::Owned([&body[..span.start], name.as_bytes(), &body[span.end..]].concat())
        }
        None => {
            let at = root.span().start + 1;
            let comma = if root.is_empty() { "" } else { "," };
            let field = format!("\"model\":{name}{comma}");
            Cow::Owned([&body[..at], field.as_bytes(), &body[at..]].concat())
        }
    }
}

/// Walks a bare list of messages as if it were in the body `around`.
pub(crate) fn walk_bare<'a>(
    list: &'a [u8],
    around: &Document<'a>,
    mut each: impl FnMut(Part<'_, 'a>),
) -> Result<(), serde_json::Error> {
    json::walk_list(list, |part| match part {
        Part::Rest(rest) if rest.is_null() => each(Part::Rest(around.root())),
        part => each(part),
    })
}

/// Like [`validate`], for a body that is already a value.
pub fn validate_value(profile: &'static Profile, body: &Value) -> Vec<Violation> {
    validate(profile, body.to_string().as_bytes())
}

/// A body, or a bare list of messages with the body around it.
struct Text<'a> {
    bytes: &'a [u8],
    around: Option<&'a Document<'a>>,
}

impl Text<'_> {
    /// Judges the text as it is, and only if it is not JSON as the provider [reads](Profile::readable) it: few
    /// texts have half of a surrogate pair, and the search for one takes as long as reading the text.
    fn judge(&self, profile: &'static Profile, memory: &Memory, model: Option<&str>) -> Vec<Violation> {
        let error = match self.read(profile, memory, model) {
            Ok(violations) => return violations,
            Err(error) => error,
        };
        match profile.readable(self.bytes) {
            Cow::Borrowed(bytes) => unreadable(profile, bytes, &error),
            Cow::Owned(bytes) => Text { bytes: &bytes, around: self.around }
                .read(profile, memory, model)
                .unwrap_or_else(|error| unreadable(profile, &bytes, &error)),
        }
    }

    fn read(
        &self,
        profile: &'static Profile,
        memory: &Memory,
        model: Option<&str>,
    ) -> Result<Vec<Violation>, serde_json::Error> {
        let mut validator = Validator::new(profile, memory, model);
        match self.around {
            None => json::walk(self.bytes, profile.dialect.definition().list, |part| validator.take(part))?,
            Some(around) => walk_bare(self.bytes, around, |part| validator.take(part))?,
        }
        Ok(validator.out.into_violations())
    }
}

pub(crate) fn unreadable(
    profile: &'static Profile,
    body: &[u8],
    error: &serde_json::Error,
) -> Vec<Violation> {
    let mut out = Violations::new(profile);
    (profile.dialect.definition().refuse_unreadable)(body, error, &mut out);
    out.into_violations()
}

/// Validates a request while it is read.
pub(crate) struct Validator<'a> {
    pub(crate) profile: &'static Profile,
    memory: &'a Memory,
    model: Option<&'a str>,
    checker: Box<dyn Checker<'a> + 'a>,
    n_messages: Option<usize>,
    pub(crate) out: Violations,
}

impl<'a> Validator<'a> {
    pub(crate) fn new(
        profile: &'static Profile,
        memory: &'a Memory,
        model: Option<&'a str>,
    ) -> Validator<'a> {
        let mut checker = profile.switches.checker(profile, memory);
        if let Some(model) = model {
            checker.model(model);
        }
        Validator { profile, memory, model, checker, n_messages: None, out: Violations::new(profile) }
    }

    pub(crate) fn take(&mut self, part: Part<'_, 'a>) {
        match part {
            Part::Begin => {
                if self.n_messages.is_some() {
                    *self = Validator::new(self.profile, self.memory, self.model);
                }
                self.n_messages = Some(0);
            }
            Part::Item(n, message) => {
                self.n_messages = Some(n + 1);
                self.checker.message(n, message, &mut self.out);
            }
            Part::Rest(body) => {
                // A later field of the same name that is not a list replaces the list.
                if self.n_messages.is_some() && !body.field(self.profile.dialect.definition().list).is_array()
                {
                    *self = Validator::new(self.profile, self.memory, self.model);
                }
                self.check_size(body);
                self.checker.finish(body, self.n_messages, &mut self.out);
            }
        }
    }
}

impl Validator<'_> {
    /// A bare list of messages is in a body of unknown size, and is not judged.
    fn check_size(&mut self, body: Json) {
        let size = body.span().len();
        if let Some(limit) = self.profile.max_body.filter(|limit| size > limit.bytes) {
            self.out.add(limit.rule, || Occurrence::at(""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_gets_the_given_model() {
        for (body, expected) in [
            (r#"{}"#, r#"{"model":"a\"b"}"#),
            (r#" { "x": 1 }"#, r#" {"model":"a\"b", "x": 1 }"#),
            (r#"{"model":"c","model": "d" , "x":1}"#, r#"{"model":"c","model": "a\"b" , "x":1}"#),
            (r#"[1]"#, r#"[1]"#),
            (r#"{"#, r#"{"#),
        ] {
            assert_eq!(String::from_utf8_lossy(&naming(body.as_bytes(), Some("a\"b"))), expected);
        }
        assert_eq!(&*naming(b"{}", None), b"{}");
    }
}
