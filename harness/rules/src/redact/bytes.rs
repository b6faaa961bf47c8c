//! The bytes that words and keys consist of.

/// The mark for a text that was cut for display.
pub(super) const CUT: &[u8] = "…".as_bytes();

/// Returns the number of matching bytes at the start.
pub(super) fn run(bytes: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is_part(*byte)).unwrap_or(bytes.len())
}

/// Returns whether a word begins here and none continues. The letter of an escape does not belong to a
/// word.
pub(super) fn starts_a_word(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| bytes[at]) else { return true };
    let is_escape = before == b'\\' && b"nrtbfu".contains(&bytes[at]);
    (!is_token(before) && !is_escape) || is_after_escape(bytes, at)
}

/// Returns whether the bytes before a position are an escape and not part of a word, such as `\n` in a
/// JSON string or `%20` in a URL.
pub(super) fn is_after_escape(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|at| bytes.get(at)).copied();
    let is_hex = |n: usize| before(n).is_some_and(|byte| byte.is_ascii_hexdigit());
    let letter = before(1).is_some_and(|byte| b"nrtbf".contains(&byte)) && before(2) == Some(b'\\');
    let percent = is_hex(1) && is_hex(2) && before(3) == Some(b'%');
    let unicode = (1..=4).all(is_hex) && before(5) == Some(b'u') && before(6) == Some(b'\\');
    letter || percent || unicode
}

pub(super) fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

pub(super) fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

pub(super) fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte)
}
