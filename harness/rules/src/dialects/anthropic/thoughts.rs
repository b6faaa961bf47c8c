//! What the provider of Anthropic thought, block by block, and in which conversation.

use hashbrown::HashMap;

/// Blocks of thinking that were given out, in that order.
#[derive(Debug, Clone, Default)]
pub struct Thoughts {
    thoughts: Vec<Thought>,
    /// Where each is, by its signature, or by its data where it is redacted.
    places: HashMap<String, usize>,
    n_replies: usize,
    n_bytes: usize,
    overflowed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thought {
    /// The number of the reply that holds it.
    pub(crate) reply: usize,
    /// Its number among the thoughts of that reply.
    pub(crate) ordinal: usize,
    /// What was thought; empty where it is redacted.
    pub(crate) text: String,
    pub(crate) bound: Option<Bound>,
    /// The number of the thought before it, in the request or in the reply.
    pub(crate) before: Option<usize>,
}

/// All that stood before a reply, as hashes of each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub(crate) system: u64,
    pub(crate) tools: u64,
    /// The messages, without thinking.
    pub(crate) messages: u64,
}

/// Bytes of thinking and signatures that are kept. A real reply has up to some hundred kB; a plan has a few kB.
const MAX_BYTES: usize = 16 << 20;

impl Thoughts {
    pub(crate) fn is_empty(&self) -> bool {
        self.thoughts.is_empty()
    }

    /// Whether more was given out than is kept.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Adds the thoughts of a reply: the key of each and its text. `before` is the last thought of the request.
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

    /// The thought that was signed so, or whose data this is, with its number.
    pub(crate) fn find(&self, key: &str) -> Option<(usize, &Thought)> {
        let place = *self.places.get(key)?;
        Some((place, &self.thoughts[place]))
    }
}
