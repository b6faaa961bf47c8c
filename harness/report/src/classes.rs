//! The failure classes: a catalogue of the ways in which agent sessions were seen to break.
//!
//! The catalogue is data, `corpora/classes.yaml`, and is compiled in. It records each observed failure, and
//! where it was seen. Which classes the suite covers and proves is computed ([`table`]).

mod read;
pub mod table;

use serde::{Deserialize, Serialize};

pub(crate) use read::is_thread;
pub use read::parse;

/// The class of scenarios without a fault. It is not a failure, so it is not in the catalogue.
pub const CONTROL: &str = "control";

/// One class of failures.
///
/// # The file
///
/// ```yaml
/// schema: 1
/// classes:
///   - id: abort-batch                     # never changes; scenarios name it in `class`
///     family: A                           # the kind of damage
///     cover: card                         # what a scenario needs to cover it
///     summary: The user stops the turn.   # one sentence
///     evidence: [twentyhq/twenty#21276]   # one to three public threads
///     missing: There is no stop.          # optional; why no scenario covers it yet
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// The id that scenarios use.
    pub id: String,
    pub family: Family,
    /// The features that a scenario needs to cover it.
    pub cover: Cover,
    /// The failure, in a sentence.
    pub summary: String,
    /// Public threads, as `owner/repository#number`.
    pub evidence: Vec<String>,
    /// The reason why no scenario covers it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Classes with similar damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Family {
    /// Calls that are left without results.
    A,
    /// Users in the loop, and tools on their side.
    B,
    /// Results without calls: compaction, trimming, rewriting.
    C,
    /// Twice or not at all: duplicates and ids.
    D,
    /// Order, grouping and adjacency.
    E,
    /// Content that is rejected although calls and results match.
    F,
    /// The thinking of the model.
    G,
    /// Turns that do not end, run at once, or outlive their process.
    H,
    /// Translation between stores, protocols and providers.
    I,
}

/// The features that a scenario needs beyond a parallel batch, a stop at a point, and events in another
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cover {
    /// No other feature.
    Card,
    /// Tools with their own behaviour, and faults other than a stop.
    Exec,
    /// A user who acts while a turn runs.
    User,
    /// A history that is trimmed, summarised or edited.
    Transform,
    /// A store, and processes that end and restart.
    Persist,
    /// Values that are unusual in themselves.
    Data,
    /// More than one agent in a thread.
    Multi,
    /// More than one provider, or a feature of only one provider.
    Dialect,
}

impl Cover {
    /// The word for it in the catalogue.
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
