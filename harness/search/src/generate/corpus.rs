//! How scenarios are encoded in a fuzzer's corpus: as JSON, which survives format changes.

use super::from_bytes;
use brickbat_scenario::scenario::Scenario;

/// Encodes a scenario as bytes of a corpus.
pub fn encode(scenario: &Scenario) -> Vec<u8> {
    serde_json::to_vec(scenario).unwrap_or_default()
}

/// The scenario for a fuzzer's bytes: JSON is parsed, and any other bytes act as choices.
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
    fn an_encoded_scenario_is_decoded_unchanged() {
        for seed in 0..200 {
            let scenario = generate::scenario(seed);
            assert_eq!(decode(&encode(&scenario)), scenario);
        }
    }

    #[test]
    fn any_bytes_give_a_scenario() {
        assert_eq!(decode(b"{\"turns\": 1}"), from_bytes(b"{\"turns\": 1}"));
        assert_eq!(decode(b"").turns.len(), 1);
    }
}
