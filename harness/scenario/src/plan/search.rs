//! A search that the provider runs itself.

use serde::{Deserialize, Serialize};

/// One search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSearch {
    /// The scenario's name for it, such as `s`.
    pub name: String,
    /// Its id on the wire.
    pub id: String,
    /// What is searched for.
    pub query: String,
    /// The same as the arguments of the search, a JSON object as text, cut into deltas.
    pub deltas: Vec<String>,
    /// The title of the page that is found; nothing where the turn ends before.
    pub finds: Option<String>,
}

/// A search of a plan, as an index into its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SearchKey(pub u32);

/// A block of a search in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerBlock {
    /// It is called.
    Search(SearchKey),
    /// What it found.
    Found(SearchKey),
}

impl ServerBlock {
    /// The search.
    pub fn key(self) -> SearchKey {
        match self {
            ServerBlock::Search(key) | ServerBlock::Found(key) => key,
        }
    }
}
