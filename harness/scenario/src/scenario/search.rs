//! Searches that the provider runs itself, within its reply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A search of the web that the provider runs itself. The model goes on when it is over, so the call and what it found
/// stand in one reply, and the client has nothing to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The name by which the rest of the scenario speaks of this search.
    #[serde(rename = "as")]
    pub name: String,
    /// What is searched for.
    pub query: String,
    /// The title of the page that is found. Left out where the search is not over at this place: a `found` says then what
    /// came of it, later in this reply, or at the start of the next one if this one ends with `stop: pause` or with calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finds: Option<String>,
}

/// What a search found that was not over when it was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The search.
    pub search: String,
    /// The title of the page that is found.
    pub finds: String,
}
