//! The failure classes: the ways in which agent sessions were seen to break, as a catalogue.
//!
//! The catalogue is data, `corpora/classes.yaml`, and is compiled in. It says what was seen, and where; which classes
//! the suite covers and proves is worked out ([`table`]).

mod read;
pub mod table;

use serde::{Deserialize, Serialize};

pub(crate) use read::is_thread;
pub use read::parse;

/// The class of scenarios in which nothing goes wrong: no failure, so it is not in the catalogue.
pub const CONTROL: &str = "control";

/// One class of failures.
///
/// # The file
///
/// ```yaml
/// schema: 1
/// classes:
///   - id: abort-batch                     # stable for ever; scenarios name it in `class`
///     family: A                           # what is wrong with the history, or else
///     cover: card                         # what a scenario needs to cover it
///     summary: The user stops the turn.   # in a sentence
///     evidence: [twentyhq/twenty#21276]   # one to three public threads
///     missing: There is no stop.          # optional; why no scenario covers it yet, in a sentence
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// The name that scenarios use.
    pub id: String,
    pub family: Family,
    /// What a scenario needs to cover it.
    pub cover: Cover,
    /// What happens, in a sentence.
    pub summary: String,
    /// Public threads, as `owner/repository#number`.
    pub evidence: Vec<String>,
    /// Why no scenario covers it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Classes whose damage is alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Family {
    /// Calls that are left without results.
    A,
    /// People in the loop, and tools on their side.
    B,
    /// Results without calls: compaction, trimming, rewriting.
    C,
    /// Twice or not at all: duplicates and ids.
    D,
    /// Order, grouping and adjacency.
    E,
    /// Content that is refused although calls and results match.
    F,
    /// What the model thought.
    G,
    /// Turns that do not end, run at once, or outlive their process.
    H,
    /// Translation between stores, protocols and providers.
    I,
}

/// What a scenario needs beyond a parallel batch, a stop at a point, and events in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cover {
    /// Nothing more.
    Card,
    /// Tools that behave in their own way, and faults that are no stop.
    Exec,
    /// A user who does something while a turn runs.
    User,
    /// A history that is trimmed, summarised or edited.
    Transform,
    /// A store, and processes that come and go.
    Persist,
    /// Values that are odd in themselves.
    Data,
    /// More than one agent in a thread.
    Multi,
    /// More than one provider, or what only one of them has.
    Dialect,
}

impl Cover {
    /// The word that the catalogue uses.
    pub fn name(self) -> &'static str {
        match self {
            Cover::Card => "card",
            Cover::Exec => "exec",
            Cover::User => "user",
            Cover::Transform => "transform",
            Cover::Persist => "persist",
            Cover::Data => "data",
            Cover::Multi => "multi",
            Cover::Dialect => "dialect",
        }
    }
}
