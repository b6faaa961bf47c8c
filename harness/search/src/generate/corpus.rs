//! How scenarios are kept in the corpus of a fuzzer: as JSON, which outlives a change of the format.

use super::from_bytes;
use brickbat_scenario::scenario::Scenario;

/// A scenario as bytes of a corpus.
pub fn encode(scenario: &Scenario) -> Vec<u8> {
    serde_json::to_vec(scenario).unwrap_or_default()
}

/// The scenario of a fuzzer's bytes, whatever they are: JSON is read, everything else chooses.
pub fn decode(bytes: &[u8]) -> Scenario {
    let read = match bytes.first() {
        Some(b'{') => serde_json::from_slice(bytes).ok(),
        _ => None,
    };
    read.unwrap_or_else(|| from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn what_is_kept_is_read_again() {
        for seed in 0..200 {
            let scenario = generate::scenario(seed);
            assert_eq!(decode(&encode(&scenario)), scenario);
        }
    }

    #[test]
    fn bytes_that_are_no_scenario_are_one_all_the_same() {
        assert_eq!(decode(b"{\"turns\": 1}"), from_bytes(b"{\"turns\": 1}"));
        assert_eq!(decode(b"").turns.len(), 1);
    }
}
