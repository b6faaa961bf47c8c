//! What words and keys are made of.

/// The mark of a text that was cut for display.
pub(super) const CUT: &[u8] = "…".as_bytes();

/// Bytes from the start that are such.
pub(super) fn run(bytes: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is_part(*byte)).unwrap_or(bytes.len())
}

/// Whether a word begins there, and none goes on. The letter of an escape is no part of a word.
pub(super) fn starts_a_word(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| bytes[at]) else { return true };
    let is_escape = before == b'\\' && b"nrtbfu".contains(&bytes[at]);
    (!is_token(before) && !is_escape) || is_after_escape(bytes, at)
}

/// Whether what stands before a place is not a part of a word but an escape, as `\n` is in a JSON string and `%20` in
/// an address.
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
