//! Searches that the provider itself runs within its reply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A web search that the provider runs itself. The model continues when the search ends, so the call and its
/// result are in one reply, and the client has nothing to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The name that the rest of the scenario uses for this search.
    #[serde(rename = "as")]
    pub name: String,
    /// The query.
    pub query: String,
    /// The title of the page that is found. Leave it out if the search has not ended here: a `found` block
    /// then gives the result, later in this reply, or at the start of the next one if this one ends with
    /// `stop: pause` or with calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finds: Option<String>,
}

/// The result of a search that was not complete when it was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The name of the search.
    pub search: String,
    /// The title of the page that is found.
    pub finds: String,
}
