//! Field names in OpenAI's error messages, and the errors that both of its APIs return for a wrong field.

use crate::json::{Json, JsonType};
use crate::{Occurrence, Rule, Violations};

/// A location in the body: its pointer, and its name in OpenAI's error messages.
pub(crate) struct Field {
    pub(crate) pointer: String,
    pub(crate) path: String,
}

impl Field {
    pub(crate) fn new(pointer: &str, path: &str) -> Field {
        Field { pointer: pointer.to_owned(), path: path.to_owned() }
    }

    pub(crate) fn child(&self, name: &str) -> Field {
        Field { pointer: format!("{}/{name}", self.pointer), path: format!("{}.{name}", self.path) }
    }

    pub(crate) fn item(&self, index: usize) -> Field {
        Field { pointer: format!("{}/{index}", self.pointer), path: format!("{}[{index}]", self.path) }
    }

    pub(crate) fn violation(self) -> Occurrence {
        let n = self.path.split(['[', ']']).nth(1).unwrap_or_default().to_owned();
        let name = self.path.rsplit('.').next().unwrap_or_default().to_owned();
        let found = Occurrence::at(self.pointer).param(self.path.clone()).with("path", self.path);
        found.with("n", n).with("field", name)
    }

    /// Returns a missing child. It is reported at its parent, so that the pointer resolves.
    pub(crate) fn lacking(&self, name: &str) -> Field {
        Field { pointer: self.pointer.clone(), path: format!("{}.{name}", self.path) }
    }
}

pub(crate) fn missing(out: &mut Violations, rule: &'static Rule, field: Field) {
    out.add(rule, || field.violation().code("missing_required_parameter"));
}

/// In the rules about types, this error message comes after the one about missing fields.
const WRONG_TYPE: usize = 1;

pub(crate) fn wrong_type(out: &mut Violations, rule: &'static Rule, field: Field, expected: &str, got: Json) {
    let got = type_with_article(got);
    out.add(rule, || {
        let violation = field.violation().form(WRONG_TYPE).code("invalid_type");
        violation.with("expected", expected).with("got", got)
    });
}

/// Returns the name of a JSON type with its article, as in OpenAI's error messages.
fn type_with_article(value: Json) -> &'static str {
    match value.kind() {
        JsonType::Null => "null",
        JsonType::Bool => "a boolean",
        JsonType::Number if value.raw().contains(['.', 'e', 'E']) => "a decimal",
        JsonType::Number => "an integer",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}
