//! Half a character: a lone surrogate, which JSON can express but a Rust string cannot contain.

/// The character that represents it in our texts.
pub const HALF_CHARACTER: char = '\u{fffd}';

/// How a gate writes it: the first half of an emoji.
const ESCAPE: &str = "\\ud83d";

/// Replaces each [`HALF_CHARACTER`] in a JSON text by half a character.
pub(crate) fn halved(json: &str) -> String {
    json.replace(HALF_CHARACTER, ESCAPE)
}

/// Replaces each escape that is a lone surrogate in a JSON text by [`HALF_CHARACTER`].
pub fn whole(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        whole.push_str(&rest[..at]);
        let escape = &rest[at..];
        // In a pair of backslashes, the second is a literal character.
        let length = match (half(escape), half(escape.get(6..).unwrap_or_default())) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                whole.push(HALF_CHARACTER);
                rest = &escape[6..];
                continue;
            }
            (None, _) => 2.min(escape.len()),
        };
        let end = (length..=escape.len()).find(|end| escape.is_char_boundary(*end)).unwrap_or(escape.len());
        whole.push_str(&escape[..end]);
        rest = &escape[end..];
    }
    whole.push_str(rest);
    whole
}

enum Half {
    High,
    Low,
}

/// The unpaired surrogate with which a text begins, as an escape.
fn half(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}
