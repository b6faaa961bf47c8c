//! Searches that the provider runs itself.

use serde::{Deserialize, Serialize};

/// One search that the provider runs itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSearch {
    /// The scenario's name for it, such as `s`.
    pub name: String,
    /// The id on the wire.
    pub id: String,
    /// The query.
    pub query: String,
    /// The query as the arguments of the search: a JSON object as text, cut into deltas.
    pub deltas: Vec<String>,
    /// The title of the page that is found; `None` if the turn ends before.
    pub finds: Option<String>,
}

/// A search of a plan, as an index into [`Plan::searches`](super::Plan::searches).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SearchKey(pub u32);

/// A block of a reply that belongs to a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerBlock {
    /// The search call.
    Search(SearchKey),
    /// The result of the search.
    Found(SearchKey),
}

impl ServerBlock {
    /// The search that the block belongs to.
    pub fn key(self) -> SearchKey {
        match self {
            ServerBlock::Search(key) | ServerBlock::Found(key) => key,
        }
    }
}
