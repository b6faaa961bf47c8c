//! Rule vectors: histories with what a provider says to them, one file for each rule.
//!
//! The files in `corpora/histories/<dialect>/` are the examples and the proof of the rules, and other programs may use
//! them as well. The doc comments here are the reference of the format; the JSON Schema is made from them.

mod canonical;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A file of vectors, all about one rule. The file is named after the rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema), schemars(rename = "File"))]
#[serde(deny_unknown_fields)]
pub struct VectorFile {
    /// The version of this format.
    pub schema: u32,
    /// What the vectors show.
    pub comment: String,
    /// The id of the rule; none in a file of shapes that break no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where the rule was seen.
    pub source: String,
    /// The vectors, those that keep the rule first.
    pub vectors: Vec<Vector>,
}

/// One history and what the provider does with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Unique in its file, in kebab-case.
    pub name: String,
    /// The story behind the history.
    pub comment: String,
    /// What kind of history it is, in kebab-case: `before` and `after` are the examples on the page of the rule.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub flags: BTreeSet<String>,
    /// Where this history was seen, if not where the file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The profile that judges; the newest of the dialect if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// All that the provider said before this request, the earliest first. Without it nothing is known of what it said,
    /// and names of earlier replies pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Vec<EarlierExchange>>,
    /// The request body as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// The request body as text, where it is not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What the provider does.
    pub result: Expectation,
    /// The ids of the rules that are broken: errors of an invalid history, warnings of an acceptable one.
    pub violated: BTreeSet<String>,
    /// The sentence of the refusal, as the provider says it about this history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A request and the reply to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "json-schema", schemars(rename = "Exchange"))]
pub struct EarlierExchange {
    /// The request body.
    pub request: Value,
    /// What later requests may name of the reply, as the provider's whole body has it: its id and what it holds.
    pub reply: Value,
}

/// Why a text is no file of vectors.
#[derive(Debug)]
pub struct VectorFileError {
    /// The field, where one is wrong.
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
    /// The earlier requests with their replies; nothing if it is not known what was said before.
    pub fn exchanges(&self) -> Option<impl Iterator<Item = (&Value, &Value)>> {
        let earlier = self.earlier.as_ref()?;
        Some(earlier.iter().map(|exchange| (&exchange.request, &exchange.reply)))
    }
}

/// What a provider does with a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema), schemars(rename = "Outcome"))]
#[serde(rename_all = "lowercase")]
pub enum Expectation {
    /// Nothing is wrong.
    Valid,
    /// The provider accepts the history with a warning of ours.
    Acceptable,
    /// The provider refuses the history, first of all because of the rule of the file.
    Invalid,
}

/// The JSON Schema of a file.
#[cfg(feature = "json-schema")]
pub fn schema() -> Value {
    schemars::schema_for!(VectorFile).to_value()
}

impl VectorFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or not of this format.
    pub fn read(text: &str) -> Result<VectorFile, VectorFileError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let file = serde_path_to_error::deserialize(&mut json).map_err(|error| VectorFileError {
            path: error.path().iter().next().map(|_| error.path().to_string()),
            source: error.into_inner(),
        })?;
        json.end().map_err(|source| VectorFileError { path: None, source })?;
        Ok(file)
    }

    /// The file as it is written: fields in the order of the types, and each value on one line if it fits.
    pub fn to_text(&self) -> String {
        canonical::text(&serde_json::to_value(self).unwrap_or_default())
    }

    /// The vector that shows the rule broken on its page, and the one that shows it kept.
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
    /// The bytes of the request; nothing if the vector has none, or two.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match (&self.request, &self.body) {
            (Some(request), None) => Some(request.to_string().into_bytes()),
            (None, Some(body)) => Some(body.as_bytes().to_vec()),
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
    fn the_canonical_form_has_one_order_and_stays() {
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
