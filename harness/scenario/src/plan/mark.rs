//! Positions in the stream of a reply.

use serde::{Deserialize, Serialize};

use super::{CallKey, SearchKey};

/// A position inside a reply's stream that a frame completes. One frame may complete several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Mark {
    Headers,
    /// Fragment K of the model's thinking, from 1, counted over the complete reply.
    Think(u32),
    /// Fragment K of the text, from 1, counted over the complete reply.
    Text(u32),
    Start(CallKey),
    /// Delta K of a call's arguments, from 1.
    Delta(CallKey, u32),
    End(CallKey),
    /// A search is called, and no part of its result has been sent.
    Search(SearchKey),
    /// The result of a search is complete.
    Found(SearchKey),
    Calls,
    Stop,
    Reply,
}

impl Mark {
    /// True if the model's content and the stop reason precede it, so that a reply that breaks there lacks nothing of
    /// the model's.
    pub fn is_behind_stop(self) -> bool {
        match self {
            Mark::Stop | Mark::Reply => true,
            Mark::Headers
            | Mark::Think(_)
            | Mark::Text(_)
            | Mark::Start(_)
            | Mark::Delta(..)
            | Mark::End(_)
            | Mark::Search(_)
            | Mark::Found(_)
            | Mark::Calls => false,
        }
    }
}
