//! Base64 decoding, for recorded bodies that were not treated as text and for the events that Bedrock
//! wraps.

/// The value of a base64 digit, in either alphabet. `None` if it is not one.
pub fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// Decodes `text` and skips white space. Returns `None` if it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0u32, 0u32);
    let mut is_padded = false;
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        if byte == b'=' {
            is_padded = true;
            continue;
        }
        let six = digit(byte).filter(|_| !is_padded)?;
        bits = (bits << 6) | u32::from(six);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
            bits &= (1 << n_bits) - 1;
        }
    }
    (n_bits < 6).then_some(bytes)
}
