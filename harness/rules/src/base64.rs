//! Base64: images, recorded bodies that were not treated as text, and the events that Bedrock wraps.

use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD, STANDARD};

/// Accepts bits after the last byte, as other decoders do.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&ALPHABET, LENIENT_CONFIG);

const LENIENT_CONFIG: GeneralPurposeConfig = NO_PAD.with_decode_allow_trailing_bits(true);

/// Encodes bytes with padding (RFC 4648).
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes a text in either alphabet, with or without padding, and skips white space. Returns `None` if it is
/// not base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    });
    let mut digits: Vec<u8> = digits.collect();
    while digits.pop_if(|last| *last == b'=').is_some() {}
    LENIENT.decode(digits).ok()
}

/// Decodes the beginning of a text, at most `max_bytes` of it, up to the first character that is not base64.
pub fn decode_head(text: &str, max_bytes: usize) -> Vec<u8> {
    let digits = text.chars().filter(|letter| !letter.is_ascii_whitespace());
    let is_digit = |letter: &char| letter.is_ascii_alphanumeric() || "+/-_".contains(*letter);
    let mut head: String = digits.take_while(is_digit).take(max_bytes.div_ceil(3) * 4).collect();
    // One digit has less than a byte.
    if head.len() % 4 == 1 {
        head.pop();
    }
    let mut bytes = decode(&head).unwrap_or_default();
    bytes.truncate(max_bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_encoded_as_in_the_standard() {
        let of = |text: &str| encode(text.as_bytes());
        assert_eq!(
            [of(""), of("f"), of("fo"), of("foo"), of("foob")],
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }

    #[test]
    fn padding_alphabet_and_white_space_do_not_matter() {
        for text in ["-_8", "+/8", "+/8=", "+/8==", " +\n/8 =", "+/9"] {
            assert_eq!(decode(text).as_deref(), Some(&[0xfb, 0xff][..]), "{text}");
        }
        for wrong in ["a", "aGk=x", "{}", "aGk\u{e9}", "aGk\0"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_beginning_of_a_broken_text_is_decoded() {
        assert_eq!(decode_head("aG kh{aGkh", 9), b"hi!");
        assert_eq!(decode_head("aGkha", 9), b"hi!");
        assert_eq!(decode_head("aGkhaGkh", 4), b"hi!h");
        assert_eq!(decode_head("\u{e9}", 4), b"");
    }
}
