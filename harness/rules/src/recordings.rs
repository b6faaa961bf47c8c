//! Recorded exchanges with real providers, compared with the rules.
//!
//! A recording is a request with the status that a provider answered. Where the provider accepted what our rules
//! refuse, a rule is wrong, or needs another profile; where it refused what our rules accept, a rule may be missing.

mod compare;
mod read;
mod table;

use std::borrow::Cow;

use crate::address::unescaped;
use crate::{Address, Api, Dialect, base64};

pub use compare::{Agreement, CompareOptions, Comparison, compare};
pub use read::{RecordingError, is_recording, read, row};
pub use table::Table;

/// A recorded request with what the provider answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The line of the file on which it begins, from 1.
    pub line: u64,
    /// The host, with its port; empty if it is not recorded.
    pub host: String,
    /// The path of the URL, without the query; empty if it is not recorded.
    pub path: String,
    /// The dialect as the recording names it.
    pub dialect: Option<String>,
    /// The model, as the recording, the body or the path names it.
    pub model: Option<String>,
    /// The request body; empty if there is none.
    pub request: Vec<u8>,
    /// The status of the answer.
    pub status: u16,
    /// The provider's sentence, if it refused; else empty.
    pub error: String,
    /// Whether Brickbat answered in the provider's place, so that the status is no word of a provider.
    pub is_ours: bool,
    /// What the model said, as a proxy of Brickbat records it; nothing where it is not recorded.
    pub reply: Option<serde_json::Value>,
}

/// In which dialect a request is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    /// In one of ours.
    Dialect(Dialect),
    /// In one that Brickbat does not speak.
    Unknown(String),
    /// It asks for no reply: an upload, an embedding, a list of models.
    NoReply,
    /// Neither the address nor the body says it.
    Unclear,
}

impl Exchange {
    /// An exchange of which the URL is known.
    fn at(url: &str) -> Exchange {
        let Address { host, path } = Address::of(url);
        Exchange { host, path, ..Exchange::default() }
    }

    /// Where the request went.
    pub fn address(&self) -> Address {
        Address { host: self.host.clone(), path: self.path.clone() }
    }

    /// The dialect: that of the path, else as it is named, else that of the body.
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
            // A path that says something else is no way to a reply, whatever the body looks like.
            (None, None) if !address.passes_on() => Spoken::NoReply,
            (None, None) => match (crate::detect(&self.request), crate::unspoken(&self.request)) {
                (Some(dialect), _) => Spoken::Dialect(dialect),
                (None, Some(name)) => Spoken::Unknown(name.to_owned()),
                (None, None) => Spoken::Unclear,
            },
        }
    }

    /// The model: as recorded, or as it stands in the path, without the escapes of a URL.
    pub fn model(&self) -> Option<Cow<'_, str>> {
        let of_path = || self.address().model().map(|model| Cow::Owned(model.into_owned()));
        self.model.as_deref().map(unescaped).or_else(of_path)
    }
}

#[cfg(test)]
mod tests;
