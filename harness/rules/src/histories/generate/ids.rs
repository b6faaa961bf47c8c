//! Ids and signatures of the form that each provider gives them.

use super::choices::{Choices, Seeded};
use crate::Dialect;
use crate::histories::{ALPHANUMERICS, IdForm};

/// Makes the ids of one conversation. The same salt makes the same ids.
pub(super) struct IdSource {
    form: IdForm,
    choices: Seeded,
}

const HEXADECIMALS: &[u8] = b"0123456789abcdef";

/// The ids of items that were seen.
const ITEM_CHARS: usize = 48;

/// Real signatures have hundreds of bytes and more; nothing depends on how many.
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
