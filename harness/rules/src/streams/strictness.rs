//! The strictness with which a stream is checked.
//!
//! All providers for a dialect follow its stream grammar. But compatible providers break some of the
//! original provider's rules, and readers can handle that. If the host has a profile, the profile lists
//! those rules. If the host is unknown, the rules that any compatible provider breaks apply.

use super::rule::StreamRule;
use crate::{Dialect, Profile};

/// The strictness with which a stream is checked.
#[derive(Debug, Clone, Copy)]
pub enum StreamStrictness {
    /// The source of the stream is unknown. The stream is checked like one from the dialect's own
    /// provider, unless its model or its ids show that it comes from another provider.
    AsItSays(Dialect),
    /// The strictness of a profile.
    Profile(&'static Profile),
    /// The stream comes from an unknown provider. Only streams that no compatible provider was seen to
    /// send are illegal.
    AnyRelative(Dialect),
}

impl StreamStrictness {
    /// Returns the strictness of a host; see [`crate::profile_for`]. An empty host is unknown.
    pub fn at_host(dialect: Dialect, host: &str, model: &str) -> StreamStrictness {
        match crate::profile_for(dialect, host, model) {
            Some(profile) => StreamStrictness::Profile(profile),
            None if host.is_empty() => StreamStrictness::AsItSays(dialect),
            None => StreamStrictness::AnyRelative(dialect),
        }
    }

    /// Returns the dialect of the grammar.
    pub fn dialect(self) -> Dialect {
        match self {
            StreamStrictness::Profile(profile) => profile.dialect,
            StreamStrictness::AsItSays(dialect) | StreamStrictness::AnyRelative(dialect) => dialect,
        }
    }

    /// Returns the profile, or `None` if it is unknown. `is_foreign` is true if the stream shows that it
    /// comes from a provider other than the dialect's own.
    pub(crate) fn profile(self, is_foreign: bool) -> Option<&'static Profile> {
        match self {
            StreamStrictness::Profile(profile) => Some(profile),
            StreamStrictness::AsItSays(dialect) => (!is_foreign).then(|| Profile::newest(dialect)),
            StreamStrictness::AnyRelative(_) => None,
        }
    }

    /// Returns whether the provider never follows a rule.
    pub(crate) fn gives_up(self, is_foreign: bool, rule: &StreamRule) -> bool {
        let given_up = self.profile(is_foreign).map(|profile| profile.given_up_in_streams);
        given_up.unwrap_or_default().iter().any(|known| known.id == rule.id)
    }

    /// Returns the rules that are only warnings.
    pub(crate) fn tolerated(self, is_foreign: bool) -> &'static [&'static StreamRule] {
        match self.profile(is_foreign) {
            Some(profile) => profile.tolerated_in_streams,
            None => self.dialect().definition().tolerated_of_relatives,
        }
    }
}
