//! Escape sequences in strings.

use std::borrow::Cow;

/// Decodes a string with escapes. The scanner has already verified that they are well-formed.
pub(super) fn decoded(raw: &str) -> Cow<'_, str> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let (character, length) =
            character(&rest.as_bytes()[at..]).unwrap_or((char::REPLACEMENT_CHARACTER, 1));
        text.push(character);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Returns the positions of escapes for unpaired surrogates, such as `\ud83d` without its other half. Each
/// is six bytes long. Readers that store texts as UTF-8 do not accept a text with one as JSON.
pub fn halves(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += memchr::memchr(b'\\', bytes.get(at..)?)?;
            let start = at;
            match utf16_unit(&bytes[start..]) {
                None => at += 2,
                Some(0xd800..0xdc00) if matches!(utf16_unit(&bytes[start + 6..]), Some(0xdc00..0xe000)) => {
                    at += 12
                }
                Some(0xd800..0xe000) => {
                    at += 6;
                    return Some(start);
                }
                Some(_) => at += 6,
            }
        }
    })
}

/// Replaces the escape for each unpaired surrogate with the escape for U+FFFD. Both have the same
/// length, so all positions stay the same.
pub fn without_halves(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(bytes);
    for at in halves(bytes) {
        text.to_mut()[at..at + REPLACEMENT.len()].copy_from_slice(REPLACEMENT);
    }
    text
}

const REPLACEMENT: &[u8; 6] = b"\\ufffd";

/// Returns the number in the escape at the beginning of the bytes.
pub(crate) fn utf16_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |number: u16, digit| {
        let digit = char::from(*digit).to_digit(16).and_then(|digit| u16::try_from(digit).ok())?;
        Some(number << 4 | digit)
    })
}

/// Returns whether a string, with or without escapes, has only white space.
pub(super) fn is_blank(raw: &str) -> bool {
    let mut rest = raw;
    loop {
        rest = rest.trim_start();
        match rest.as_bytes().first() {
            None => return true,
            Some(b'\\') => match character(rest.as_bytes()) {
                Some((character, length)) if character.is_whitespace() => {
                    rest = rest.get(length..).unwrap_or_default();
                }
                _ => return false,
            },
            Some(_) => return false,
        }
    }
}

/// Returns whether a string, with or without escapes, ends with white space.
pub(super) fn ends_blank(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    // An escape is two or six bytes long. An unpaired surrogate is not white space.
    for length in [2, 6] {
        let Some(start) = bytes.len().checked_sub(length) else { break };
        // An escaped backslash does not begin another escape.
        let n_backslashes = bytes[..=start].iter().rev().take_while(|byte| **byte == b'\\').count();
        if n_backslashes % 2 == 1
            && let Some((character, own)) = character(&bytes[start..])
            && own == length
        {
            return character.is_whitespace();
        }
    }
    raw.ends_with(char::is_whitespace)
}

/// Returns the character of the escape at the beginning of the bytes, and the length of the escape. `None`
/// for an unknown escape and for an unpaired surrogate.
pub(super) fn character(bytes: &[u8]) -> Option<(char, usize)> {
    let simple = match bytes.get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(bytes),
        _ => return None,
    };
    Some((simple, 2))
}

fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = hex(bytes.get(2..6)?)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first).map(|character| (character, 6));
    }
    let second = match bytes.get(6..12)? {
        [b'\\', b'u', digits @ ..] => hex(digits)?,
        _ => return None,
    };
    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low).map(|character| (character, 12))
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}
