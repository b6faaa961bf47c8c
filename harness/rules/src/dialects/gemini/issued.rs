//! Thought signatures that the Gemini provider issued.

use hashbrown::HashSet;

#[derive(Debug, Clone, Default)]
pub struct Issued {
    signatures: HashSet<String>,
    n_bytes: usize,
    overflowed: bool,
}

/// Maximum number of bytes of signatures to keep. A real signature takes a few kB, and a plan issues a
/// few dozen.
const MAX_BYTES: usize = 4 << 20;

/// Placeholder signatures for calls that another model made
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>), as text and in the base64 form that
/// clients produce.
const STAND_INS: [&str; 4] = [
    "skip_thought_signature_validator",
    "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I",
    "context_engineering_is_the_way_to_go",
    "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv",
];

impl Issued {
    pub(crate) fn add(&mut self, signature: &str) {
        self.n_bytes += signature.len();
        if self.n_bytes > MAX_BYTES {
            self.overflowed = true;
        } else {
            self.signatures.insert(canonical(signature));
        }
    }

    /// Returns whether a signature was issued, or is a placeholder.
    pub(crate) fn takes(&self, signature: &str) -> bool {
        let signature = canonical(signature);
        STAND_INS.iter().any(|known| canonical(known) == signature) || self.signatures.contains(&signature)
    }

    /// Returns whether more was issued than is kept.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }
}

/// Converts a base64 text to one spelling. Clients that decode signatures may write them in the other
/// alphabet or without padding.
fn canonical(signature: &str) -> String {
    let spelled = |letter| match letter {
        '-' => '+',
        '_' => '/',
        letter => letter,
    };
    signature.trim_end_matches('=').chars().map(spelled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_of_base64_does_not_matter() {
        let mut issued = Issued::default();
        issued.add("ab+/cd==");
        assert!(issued.takes("ab-_cd") && issued.takes("ab+/cd=="));
        assert!(!issued.takes("ab+/ce==") && !issued.takes(""));
        assert!(issued.takes("skip_thought_signature_validator"));
        assert!(issued.takes("skip/thought/signature/validator"));
        assert!(issued.takes("Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv"));
    }
}
