//! Half of a character: a lone half of a surrogate pair, which JSON can say and no string of ours can hold.

/// What stands for it in our texts.
pub const HALF_CHARACTER: char = '\u{fffd}';

/// How a gate says it: the first half of an emoji.
const ESCAPE: &str = "\\ud83d";

/// A text of JSON that says half of a character wherever [`HALF_CHARACTER`] stands in it.
pub(crate) fn halved(json: &str) -> String {
    json.replace(HALF_CHARACTER, ESCAPE)
}

/// A text of JSON with [`HALF_CHARACTER`] for each escape that is half of a surrogate pair.
pub fn whole(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        whole.push_str(&rest[..at]);
        let escape = &rest[at..];
        // Of two backslashes the second is a character.
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

/// Which half of a surrogate pair a text begins with, as an escape.
fn half(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}
