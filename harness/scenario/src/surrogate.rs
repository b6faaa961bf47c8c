//! Half a character: a lone surrogate, which JSON can express but a Rust string cannot contain.

/// The character that represents it in our texts.
pub const HALF_CHARACTER: char = '\u{fffd}';

/// How a gate writes it: the first half of an emoji.
const ESCAPE: &str = "\\ud83d";

/// Replaces each [`HALF_CHARACTER`] in a JSON text by half a character.
pub(crate) fn halved(json: &str) -> String {
    json.replace(HALF_CHARACTER, ESCAPE)
}
