//! Rule vectors: histories with the provider's reaction, one file per rule.
//!
//! The files in `corpora/histories/<dialect>/` are the examples and the evidence for the rules, and other
//! programs may use them. The doc comments here are the reference of the format; the JSON Schema is
//! generated from them.

mod canonical;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A file of vectors about one rule. The file is named after the rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema), schemars(rename = "File"))]
#[serde(deny_unknown_fields)]
pub struct VectorFile {
    /// The version of this format.
    pub schema: u32,
    /// A summary of the vectors.
    pub comment: String,
    /// The id of the rule. Absent in a file of histories that break no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The source of the rule.
    pub source: String,
    /// The vectors. Those that comply with the rule come first.
    pub vectors: Vec<Vector>,
}

/// A history and the provider's reaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// A name in kebab-case, unique in its file.
    pub name: String,
    /// The story behind the history.
    pub comment: String,
    /// The kinds of the history, in kebab-case. `before` and `after` mark the examples on the page of the
    /// rule.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub flags: BTreeSet<String>,
    /// The source of this history, if it differs from the file's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The profile that judges the history. The default is the newest profile of the dialect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// All earlier requests and replies, oldest first. Without this field, the earlier replies are
    /// unknown, and references to them pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Vec<EarlierExchange>>,
    /// The request body as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// Makes the request larger than a file of vectors should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padded: Option<Padding>,
    /// The request body as text, if it is not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The provider's reaction.
    pub result: Expectation,
    /// The ids of the broken rules: errors for an invalid history, warnings for an acceptable one.
    pub violated: BTreeSet<String>,
    /// The provider's error message for this history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A text in the request that is longer than in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Padding {
    /// The JSON pointer to the text in `request`. The letter `A` is appended to it.
    pub pointer: String,
    /// The size of the body in bytes, written without white space, at most 64 MiB.
    pub bytes: usize,
}

/// The largest body that a vector may have.
const MAX_PADDED: usize = 64 << 20;

impl Padding {
    /// Returns the request with the longer text, or `None` if the pointer or the size does not fit.
    fn of(&self, request: &Value) -> Option<Value> {
        let missing = self.bytes.checked_sub(request.to_string().len())?;
        let mut request = request.clone();
        let text = request.pointer_mut(&self.pointer)?;
        let longer = text.as_str().filter(|_| self.bytes <= MAX_PADDED)?.to_owned() + &"A".repeat(missing);
        *text = longer.into();
        Some(request)
    }
}

/// A request and the reply to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "json-schema", schemars(rename = "Exchange"))]
pub struct EarlierExchange {
    /// The request body.
    pub request: Value,
    /// The parts of the reply that later requests may refer to, in the form of an unstreamed body: its id
    /// and its content.
    pub reply: Value,
}

/// Why a text is not a file of vectors.
#[derive(Debug)]
pub struct VectorFileError {
    /// The field with the error, if there is one.
    path: Option<String>,
    source: serde_json::Error,
}

impl std::fmt::Display for VectorFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{path}: {}", self.source),
            None => self.source.fmt(f),
        }
    }
}

impl std::error::Error for VectorFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl Vector {
    /// Returns the earlier requests with their replies, or `None` if they are unknown.
    pub fn exchanges(&self) -> Option<impl Iterator<Item = (&Value, &Value)>> {
        let earlier = self.earlier.as_ref()?;
        Some(earlier.iter().map(|exchange| (&exchange.request, &exchange.reply)))
    }
}

/// The provider's reaction to a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema), schemars(rename = "Outcome"))]
#[serde(rename_all = "lowercase")]
pub enum Expectation {
    /// The provider accepts the history.
    Valid,
    /// The provider accepts the history, but a rule gives a warning.
    Acceptable,
    /// The provider rejects the history, and the rule of the file is the first reason.
    Invalid,
}

/// Returns the JSON Schema of a file.
#[cfg(feature = "json-schema")]
pub fn schema() -> Value {
    schemars::schema_for!(VectorFile).to_value()
}

impl VectorFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON or does not have this format.
    pub fn read(text: &str) -> Result<VectorFile, VectorFileError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let file = serde_path_to_error::deserialize(&mut json).map_err(|error| VectorFileError {
            path: error.path().iter().next().map(|_| error.path().to_string()),
            source: error.into_inner(),
        })?;
        json.end().map_err(|source| VectorFileError { path: None, source })?;
        Ok(file)
    }

    /// Returns the file as text: fields in the order of the types, and each value on one line if it fits.
    pub fn to_text(&self) -> String {
        canonical::text(&serde_json::to_value(self).unwrap_or_default())
    }

    /// Returns the vector that breaks the rule on its page, and the one that keeps it.
    pub fn example(&self) -> (Option<&Vector>, Option<&Vector>) {
        let flagged = |flag: &str| self.vectors.iter().find(|vector| vector.flags.contains(flag));
        let first = |outcome: Expectation| self.vectors.iter().find(|vector| vector.result == outcome);
        let before = flagged("before")
            .or_else(|| first(Expectation::Invalid))
            .or_else(|| first(Expectation::Acceptable));
        (before, flagged("after").or_else(|| first(Expectation::Valid)))
    }
}

impl Vector {
    /// Returns the bytes of the request. `None` if the vector has no request, or two, or cannot be
    /// [padded](Padding).
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match (&self.request, &self.body, &self.padded) {
            (Some(request), None, None) => Some(request.to_string().into_bytes()),
            (Some(request), None, Some(padded)) => Some(padded.of(request)?.to_string().into_bytes()),
            (None, Some(body), None) => Some(body.as_bytes().to_vec()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"rule":"a/b","schema":1,"source":"s","comment":"c","vectors":[{"comment":"v","violated":["b","a"],"name":"n",
        "request":{"z":1,"a":[]},"result":"invalid","flags":["before"]}]}"#;

    #[test]
    fn the_canonical_form_is_ordered_and_stable() {
        let file = VectorFile::read(FILE).unwrap();
        let text = file.to_text();
        assert_eq!(
            text,
            r#"{
  "schema": 1,
  "comment": "c",
  "rule": "a/b",
  "source": "s",
  "vectors": [
    {
      "name": "n",
      "comment": "v",
      "flags": ["before"],
      "request": { "z": 1, "a": [] },
      "result": "invalid",
      "violated": ["a", "b"]
    }
  ]
}
"#
        );
        assert_eq!(VectorFile::read(&text).unwrap().to_text(), text);
    }

    #[test]
    fn a_mistake_is_reported_with_its_place() {
        let error = VectorFile::read(&FILE.replace("\"invalid\"", "\"bad\"")).unwrap_err().to_string();
        assert!(error.starts_with("vectors[0].result: unknown variant `bad`"), "{error}");
        let error = VectorFile::read(&FILE.replace("flags", "flag")).unwrap_err().to_string();
        assert!(error.contains("unknown field `flag`"), "{error}");
        assert!(VectorFile::read(&format!("{FILE} 1")).unwrap_err().to_string().contains("trailing"));
    }
}
