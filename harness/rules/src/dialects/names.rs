//! Names and ids of the plainest form, which every dialect accepts.

/// Returns whether a text is not empty and has only ASCII letters, digits, `_` and `-`.
pub(crate) fn is_plain_name(text: &str) -> bool {
    // Check every byte without stopping early, so that the compiler can use vector instructions. Ids are
    // short.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() | (byte == b'_') | (byte == b'-');
    !text.is_empty() && text.bytes().fold(true, |all, byte| all & is_plain(byte))
}
