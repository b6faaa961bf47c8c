//! Compares recordings of real providers with the rules.
//!
//! A recording is a request with the status of the provider's reply. If the provider accepts a request
//! that our rules reject, a rule is wrong, or another profile is needed. If it rejects a request that our
//! rules accept, a rule may be missing.

mod compare;
pub(crate) mod left_out;
mod pasted;
mod promote;
mod read;
mod table;

use std::borrow::Cow;

use crate::address::unescaped;
use crate::{Address, Api, Dialect, base64};

pub use compare::{Agreement, CompareOptions, Comparison, compare};
pub use left_out::LeftOut;
pub use pasted::{Pasted, Searched, Unread, Unreadable, pasted, searched};
pub use promote::Promoted;
pub use read::{RecordingError, is_recording, read, row};
pub use table::Table;

/// A recorded request with the provider's reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The line of the file on which it begins, from 1.
    pub line: u64,
    /// The host with its port. Empty if not recorded.
    pub host: String,
    /// The path of the URL without the query. Empty if not recorded.
    pub path: String,
    /// The dialect's name in the recording.
    pub dialect: Option<String>,
    /// The model's name in the recording, the body or the path.
    pub model: Option<String>,
    /// The version of the provider's API, from the header `anthropic-version`.
    pub version: Option<String>,
    /// The request body. Empty if there is none.
    pub request: Vec<u8>,
    /// The status of the reply.
    pub status: u16,
    /// The provider's error message if it rejected the request. Otherwise empty.
    pub error: String,
    /// True if Brickbat replied in place of the provider, so that the status is not the provider's.
    pub is_ours: bool,
    /// The model's reply, as Brickbat's proxy records it. `None` if not recorded.
    pub reply: Option<serde_json::Value>,
    /// The parts of the request that its text leaves out. Nothing is, in a recording.
    pub left_out: LeftOut,
}

/// The dialect of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    /// A supported dialect.
    Dialect(Dialect),
    /// An unsupported dialect.
    Unknown(String),
    /// The request asks for no reply, for example an upload, an embedding or a list of models.
    NoReply,
    /// Neither the address nor the body identifies it.
    Unclear,
}

impl Exchange {
    /// Creates an exchange with a known URL.
    fn at(url: &str) -> Exchange {
        let Address { host, path } = Address::of(url);
        Exchange { host, path, ..Exchange::default() }
    }

    /// Returns the address of the request.
    pub fn address(&self) -> Address {
        Address { host: self.host.clone(), path: self.path.clone() }
    }

    /// Returns the dialect: by the path, then by the recorded name, then by the body.
    pub fn spoken(&self) -> Spoken {
        if self.request.is_empty() {
            return Spoken::NoReply;
        }
        let address = self.address();
        match (address.api(), self.dialect.as_deref()) {
            (Some(Api::Spoken(dialect)), _) => Spoken::Dialect(dialect),
            (Some(Api::Unspoken(name)), _) => Spoken::Unknown(name.to_owned()),
            (None, Some(name)) => {
                Dialect::from_name(name).map_or_else(|| Spoken::Unknown(name.to_owned()), Spoken::Dialect)
            }
            // A different path does not lead to a reply, whatever the form of the body.
            (None, None) if !address.passes_on() => Spoken::NoReply,
            (None, None) => match (crate::detect(&self.request), crate::unspoken(&self.request)) {
                (Some(dialect), _) => Spoken::Dialect(dialect),
                (None, Some(name)) => Spoken::Unknown(name.to_owned()),
                (None, None) => Spoken::Unclear,
            },
        }
    }

    /// Returns the model as recorded, or from the path with URL escapes decoded.
    pub fn model(&self) -> Option<Cow<'_, str>> {
        let of_path = || self.address().model().map(|model| Cow::Owned(model.into_owned()));
        self.model.as_deref().map(unescaped).or_else(of_path)
    }
}

#[cfg(test)]
mod tests;
