//! Wire ids and markers: identical for the same plan on every machine.
//!
//! The generator is written out here because the ids are in stored reports and regressions: a dependency that
//! improved its generator would change them all.

use crate::random::{Digest, Random};
use crate::wire::{self, IdForm};
use brickbat_rules::dialect::Dialect;

/// Mints the ids of one plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdSource<'a> {
    pub seed: u64,
    pub scenario: &'a str,
    pub dialect: Dialect,
}

impl IdSource<'_> {
    /// The source of ids for another provider's calls.
    pub fn with(self, dialect: Dialect) -> Self {
        IdSource { dialect, ..self }
    }

    /// The wire id of a call, in its provider's format.
    pub fn wire_id(&self, call: u32, attempt: usize) -> String {
        let mut digest = self.digest();
        digest.bytes(self.dialect.name().as_bytes());
        digest.bytes(&call.to_le_bytes());
        digest.bytes(&(attempt as u64).to_le_bytes());
        wire::mint(self.dialect.codec().call_id, &mut Random::new(digest.value()))
    }

    /// The wire id of a search that the provider runs itself.
    pub fn search_id(&self, search: u32) -> String {
        let mut digest = self.digest();
        digest.bytes(b"search");
        digest.bytes(&search.to_le_bytes());
        wire::mint(SEARCH_ID, &mut Random::new(digest.value()))
    }

    /// The marker of a call. It contains none of `taken`, and none of them contains it.
    pub fn marker<'t>(&self, name: &str, call: u32, taken: impl Iterator<Item = &'t str> + Clone) -> String {
        let mut digest = self.digest();
        digest.bytes(b"marker");
        digest.bytes(&call.to_le_bytes());
        let mut random = Random::new(digest.value());
        let mut n_tries = 0;
        loop {
            // A call may have the same name as another call's marker; then no marker with its name will do.
            let name = if n_tries < MAX_NAMED_TRIES { name } else { "call" };
            n_tries += 1;
            let marker = format!("{name}-{}", random.letters(MARKER_LETTERS, LOWERCASE));
            if !taken.clone().any(|other| other.contains(&marker) || marker.contains(other)) {
                return marker;
            }
        }
    }

    fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        digest.bytes(&self.seed.to_le_bytes());
        digest.bytes(self.scenario.as_bytes());
        digest
    }
}

/// The format of Anthropic's ids for its own searches. No other supported provider runs searches.
const SEARCH_ID: IdForm = IdForm { prefix: "srvtoolu_01", n_letters: 22, alphabet: wire::ALPHANUMERICS };

const LOWERCASE: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The number of tries to find a marker that begins with its call's name; one is almost always enough.
const MAX_NAMED_TRIES: u32 = 16;

/// The number of letters in a marker after the name of its call: two billion markers, for at most 256 calls.
const MARKER_LETTERS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_their_provider_and_never_change() {
        let ids = |dialect| IdSource { seed: 7, scenario: "abort/mid-batch", dialect };
        let anthropic = ids(Dialect::AnthropicMessages).wire_id(0, 0);
        let openai = ids(Dialect::OpenaiChat).wire_id(0, 0);
        assert_eq!((anthropic.len(), openai.len()), (30, 29));
        assert_ne!(anthropic, ids(Dialect::AnthropicMessages).wire_id(0, 1));
        assert_ne!(anthropic, ids(Dialect::AnthropicMessages).wire_id(1, 0));
        assert_eq!(anthropic, "toolu_01qw2AduG6n3QhGe3JfHWpdM");
        assert_eq!(openai, "call_pYmc2Qlg2wiP4Ce3tzxU6eND");
    }

    #[test]
    fn a_marker_avoids_those_that_are_taken() {
        let ids = IdSource { seed: 7, scenario: "x", dialect: Dialect::OpenaiChat };
        let first = ids.marker("a", 0, [].into_iter());
        let second = ids.marker("a", 0, [first.as_str()].into_iter());
        assert_ne!(first, second);
        assert_eq!(first.len(), "a-7f3k9q".len());
    }

    #[test]
    fn a_call_named_like_a_marker_gets_a_marker_with_another_name() {
        let ids = IdSource { seed: 7, scenario: "x", dialect: Dialect::OpenaiChat };
        let first = ids.marker("a", 0, [].into_iter());
        let second = ids.marker(&first, 1, [first.as_str()].into_iter());
        assert!(!second.contains(&first), "{second}");
    }
}
