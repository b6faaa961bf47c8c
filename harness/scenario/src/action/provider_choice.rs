//! The provider with which a thread continues.

use std::borrow::Cow;
use std::fmt;

use brickbat_rules::dialect::Dialect;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// A provider: the name of its dialect, or `first` for the provider with which the thread began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub enum ProviderChoice {
    /// The provider with which the thread began.
    First,
    /// The provider of a dialect.
    Of(Dialect),
}

/// The name of [`ProviderChoice::First`] in scenarios.
const FIRST: &str = "first";

impl ProviderChoice {
    /// The dialect of this provider in a thread that began with `first`.
    pub fn dialect(self, first: Dialect) -> Dialect {
        match self {
            ProviderChoice::First => first,
            ProviderChoice::Of(dialect) => dialect,
        }
    }

    fn name(self) -> &'static str {
        match self {
            ProviderChoice::First => FIRST,
            ProviderChoice::Of(dialect) => dialect.name(),
        }
    }

    fn names() -> Vec<&'static str> {
        std::iter::once(FIRST).chain(Dialect::ALL.into_iter().map(Dialect::name)).collect()
    }
}

impl fmt::Display for ProviderChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<ProviderChoice> for String {
    fn from(choice: ProviderChoice) -> String {
        choice.name().to_owned()
    }
}

impl<'de> Deserialize<'de> for ProviderChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ProviderChoice, D::Error> {
        let name = String::deserialize(deserializer)?;
        match Dialect::from_name(&name) {
            Some(dialect) => Ok(ProviderChoice::Of(dialect)),
            None if name == FIRST => Ok(ProviderChoice::First),
            None => Err(D::Error::custom(format_args!(
                "there is no provider `{name}`; the names are {}",
                ProviderChoice::names().join(", ")
            ))),
        }
    }
}

impl JsonSchema for ProviderChoice {
    fn schema_name() -> Cow<'static, str> {
        "ProviderChoice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A provider by the name of its dialect, or the `first`, with which the thread began.",
            "type": "string",
            "enum": ProviderChoice::names(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_written_as_it_is_read() {
        for name in ProviderChoice::names() {
            let choice: ProviderChoice = serde_json::from_value(name.into()).unwrap();
            assert_eq!(String::from(choice), name);
        }
        let refused = serde_json::from_str::<ProviderChoice>("\"openai\"").unwrap_err().to_string();
        assert!(refused.contains("`openai`") && refused.contains("openai-chat"), "{refused}");
    }
}
