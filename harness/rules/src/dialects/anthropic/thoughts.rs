//! Thinking that the Anthropic Messages provider issued, block by block, with its conversation.

use hashbrown::HashMap;

/// Thinking blocks in the order in which they were issued.
#[derive(Debug, Clone, Default)]
pub struct Thoughts {
    thoughts: Vec<Thought>,
    /// Each thought's index, by its signature, or by its data if it is redacted.
    places: HashMap<String, usize>,
    n_replies: usize,
    n_bytes: usize,
    overflowed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thought {
    /// The number of its reply.
    pub(crate) reply: usize,
    /// Its index among the thoughts of that reply.
    pub(crate) ordinal: usize,
    /// Its text. Empty if redacted.
    pub(crate) text: String,
    pub(crate) bound: Option<Bound>,
    /// The number of the thought before it, in the request or in the reply.
    pub(crate) before: Option<usize>,
}

/// The prefix of a reply, as a hash of each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub(crate) system: u64,
    pub(crate) tools: u64,
    /// The messages, without thinking.
    pub(crate) messages: u64,
}

/// Maximum number of bytes of thinking and signatures to keep. A real reply takes up to a few hundred
/// kB, a plan a few kB.
const MAX_BYTES: usize = 16 << 20;

impl Thoughts {
    pub(crate) fn is_empty(&self) -> bool {
        self.thoughts.is_empty()
    }

    /// Returns whether more was issued than is kept.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Adds the thoughts in a reply, each with its key and text. `before` is the last thought in the
    /// request.
    pub(crate) fn add<'r>(
        &mut self,
        bound: Option<Bound>,
        mut before: Option<usize>,
        thoughts: impl IntoIterator<Item = (&'r str, &'r str)>,
    ) {
        let reply = self.n_replies;
        self.n_replies += 1;
        for (ordinal, (key, text)) in thoughts.into_iter().enumerate() {
            self.n_bytes += key.len() + text.len();
            if self.n_bytes > MAX_BYTES {
                self.overflowed = true;
                return;
            }
            let number = self.thoughts.len();
            self.places.insert(key.to_owned(), number);
            self.thoughts.push(Thought { reply, ordinal, text: text.to_owned(), bound, before });
            before = Some(number);
        }
    }

    /// Returns the thought with this signature or data, and its number.
    pub(crate) fn find(&self, key: &str) -> Option<(usize, &Thought)> {
        let place = *self.places.get(key)?;
        Some((place, &self.thoughts[place]))
    }
}
