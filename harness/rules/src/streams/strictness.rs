//! By whose strictness a stream is judged.
//!
//! Whoever speaks a dialect streams by its grammar, but relatives of the provider that it is named after break some
//! of its rules, and readers survive that. Which rules those are is said of a profile, where the host has one, and of
//! all relatives together, where nothing is known of the host.

use super::rule::StreamRule;
use crate::{Dialect, Profile};

/// By whose strictness a stream is judged.
#[derive(Debug, Clone, Copy)]
pub enum StreamStrictness {
    /// Nobody said where the stream comes from. It is judged as the provider that the dialect is named after streams,
    /// unless it says itself that somebody else made it, by its model or its ids.
    AsItSays(Dialect),
    /// That of a profile.
    Profile(&'static Profile),
    /// The stream comes from somebody of whom nothing is known: only what no relative was seen to send is illegal.
    AnyRelative(Dialect),
}

impl StreamStrictness {
    /// That of whoever answers at a host, see [`crate::profile_for`]. An empty host is one that is not known.
    pub fn at_host(dialect: Dialect, host: &str, model: &str) -> StreamStrictness {
        match crate::profile_for(dialect, host, model) {
            Some(profile) => StreamStrictness::Profile(profile),
            None if host.is_empty() => StreamStrictness::AsItSays(dialect),
            None => StreamStrictness::AnyRelative(dialect),
        }
    }

    /// The dialect by whose grammar the stream is judged.
    pub fn dialect(self) -> Dialect {
        match self {
            StreamStrictness::Profile(profile) => profile.dialect,
            StreamStrictness::AsItSays(dialect) | StreamStrictness::AnyRelative(dialect) => dialect,
        }
    }

    /// The profile that judges; nothing where no profile is known. `is_foreign` is whether the stream says that
    /// somebody else than the dialect's namesake made it.
    pub(crate) fn profile(self, is_foreign: bool) -> Option<&'static Profile> {
        match self {
            StreamStrictness::Profile(profile) => Some(profile),
            StreamStrictness::AsItSays(dialect) => (!is_foreign).then(|| Profile::newest(dialect)),
            StreamStrictness::AnyRelative(_) => None,
        }
    }

    /// The rules whose violation is a warning.
    pub(crate) fn tolerated(self, is_foreign: bool) -> &'static [&'static StreamRule] {
        match self.profile(is_foreign) {
            Some(profile) => profile.tolerated_in_streams,
            None => self.dialect().definition().tolerated_of_relatives,
        }
    }
}
