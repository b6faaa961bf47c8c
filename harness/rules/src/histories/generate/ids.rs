//! Ids and signatures in each provider's format.

use super::choices::{Choices, Seeded};
use crate::Dialect;
use crate::histories::{ALPHANUMERICS, IdForm};

/// Generates the ids of one conversation. The same salt generates the same ids.
pub(super) struct IdSource {
    form: IdForm,
    choices: Seeded,
}

const HEXADECIMALS: &[u8] = b"0123456789abcdef";

/// The item id formats seen in real data.
const ITEM_CHARS: usize = 48;

/// Real signatures have hundreds of bytes or more. No code depends on the length.
const SIGNATURE_CHARS: usize = 44;

impl IdSource {
    pub(super) fn new(dialect: Dialect, salt: u64) -> IdSource {
        IdSource { form: dialect.codec().call_id, choices: Seeded::new(salt) }
    }

    /// The id of a call.
    pub(super) fn call(&mut self) -> String {
        let IdForm { prefix, alphabet, n_letters } = self.form;
        self.token(prefix, alphabet, n_letters)
    }

    /// The id of an OpenAI Responses item, with a prefix for its type.
    pub(super) fn item(&mut self, prefix: &str) -> String {
        self.token(prefix, HEXADECIMALS, ITEM_CHARS)
    }

    /// A signature or encrypted content, as base64.
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
