//! Ids and signatures of the form that each provider gives them.

use super::choices::{Choices, Seeded};
use crate::Dialect;

/// Makes the ids of one conversation. The same salt makes the same ids.
pub(super) struct IdSource {
    dialect: Dialect,
    choices: Seeded,
}

const ALPHANUMERICS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LOWER_CASE: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const HEXADECIMALS: &[u8] = b"0123456789abcdef";

/// The forms that were seen: `toolu_01…`, `call_…`, `tooluse_…`, nine letters and digits.
const CALL_CHARS: usize = 24;
const ANTHROPIC_CHARS: usize = 22;
const MISTRAL_CHARS: usize = 9;
const GEMINI_CHARS: usize = 8;
const ITEM_CHARS: usize = 48;

/// Real signatures have hundreds of bytes and more; nothing depends on how many.
const SIGNATURE_CHARS: usize = 44;

impl IdSource {
    pub(super) fn new(dialect: Dialect, salt: u64) -> IdSource {
        IdSource { dialect, choices: Seeded::new(salt) }
    }

    /// The id of a call.
    pub(super) fn call(&mut self) -> String {
        let (prefix, alphabet, n_chars) = match self.dialect {
            Dialect::AnthropicMessages => ("toolu_01", ALPHANUMERICS, ANTHROPIC_CHARS),
            Dialect::BedrockConverse => ("tooluse_", ALPHANUMERICS, ANTHROPIC_CHARS),
            Dialect::Gemini => ("", LOWER_CASE, GEMINI_CHARS),
            Dialect::Mistral => ("", ALPHANUMERICS, MISTRAL_CHARS),
            _ => ("call_", ALPHANUMERICS, CALL_CHARS),
        };
        self.token(prefix, alphabet, n_chars)
    }

    /// The id of an item of OpenAI Responses, whose prefix says what it is.
    pub(super) fn item(&mut self, prefix: &str) -> String {
        self.token(prefix, HEXADECIMALS, ITEM_CHARS)
    }

    /// What a provider signs or encrypts, as base64.
    pub(super) fn signature(&mut self) -> String {
        self.token("Eq", ALPHANUMERICS, SIGNATURE_CHARS)
    }

    fn token(&mut self, prefix: &str, alphabet: &[u8], n_chars: usize) -> String {
        let mut token = String::with_capacity(prefix.len() + n_chars);
        token.push_str(prefix);
        token.extend((0..n_chars).map(|_| char::from(alphabet[self.choices.below(alphabet.len())])));
        token
    }
}
