//! The provider with which a thread continues.

use std::borrow::Cow;
use std::fmt;

use brickbat_rules::dialect::Dialect;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A provider: the name of its dialect, or `first` for the provider with which the thread began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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

impl TryFrom<String> for ProviderChoice {
    type Error = String;

    fn try_from(name: String) -> Result<ProviderChoice, String> {
        match Dialect::from_name(&name) {
            Some(dialect) => Ok(ProviderChoice::Of(dialect)),
            None if name == FIRST => Ok(ProviderChoice::First),
            None => Err(format!(
                "there is no provider `{name}`; the names are {}",
                ProviderChoice::names().join(", ")
            )),
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
            let choice = ProviderChoice::try_from(name.to_owned()).unwrap();
            assert_eq!(String::from(choice), name);
        }
        let refused = ProviderChoice::try_from("openai".to_owned()).unwrap_err();
        assert!(refused.contains("`openai`") && refused.contains("openai-chat"), "{refused}");
    }
}
