//! Reads the size of an image from the first bytes of its file.

use brickbat_rules::base64::decode_head;
use brickbat_scenario::scenario::{Picture, PictureFormat};

/// An image that no provider rejects. It takes the place of an image with an unknown size, or with a size that is not part of the fault.
pub(in super::super) const ANY: Picture =
    Picture { format: PictureFormat::Png, width: 64, height: 64, bytes: 0 };

/// The size of an image in base64; `None` for a format that a given history cannot express, or a size out of
/// bounds.
pub(super) fn measured(data: &str) -> Option<Picture> {
    let n_letters = data.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    let bytes = (n_letters as u64 * 3 / 4).min(u64::from(Picture::MAX_BYTES)) as u32;
    let head = decode_head(data, MAX_HEAD);
    let (format, width, height) = match head.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => {
            let side = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
            (PictureFormat::Png, side(16)?, side(20)?)
        }
        [0xff, 0xd8, rest @ ..] => {
            let (width, height) = jpeg_size(rest)?;
            (PictureFormat::Jpeg, width, height)
        }
        _ => return None,
    };
    let picture = Picture { format, width, height, bytes: class(bytes) };
    picture.complaint().is_none().then_some(picture)
}

/// Rounds the number of bytes down to a power of two: that is precise enough for a limit, and the exact
/// number may be private.
fn class(bytes: u32) -> u32 {
    match bytes {
        0..=SMALL => 0,
        bytes => 1 << bytes.ilog2(),
    }
}

/// A size in bytes that no known provider rejects.
const SMALL: u32 = 64 << 10;

/// The number of bytes read from the file. In a JPEG, previews and profiles may precede the size.
const MAX_HEAD: usize = 256 << 10;

/// The width and height in the first frame header.
fn jpeg_size(mut segments: &[u8]) -> Option<(u32, u32)> {
    loop {
        let [0xff, marker, high, low, rest @ ..] = segments else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low])).checked_sub(2)?;
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            let [_, h1, h2, w1, w2, ..] = rest else { return None };
            return Some((u16::from_be_bytes([*w1, *w2]).into(), u16::from_be_bytes([*h1, *h2]).into()));
        }
        segments = rest.get(length..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_picture_measures_as_its_original() {
        for format in PictureFormat::ALL {
            let picture = Picture { format, width: 8001, height: 12, bytes: 1 << 17 };
            assert_eq!(measured(&picture.base64()), Some(picture));
        }
        let small = Picture { format: PictureFormat::Png, width: 3, height: 2, bytes: 0 };
        assert_eq!(measured(&small.base64()), Some(small));
    }

    #[test]
    fn only_pictures_have_a_size() {
        for data in ["", "AAAA", "iVBORw0KGgo=", "/9j/", "not base64 at all", "R0lGODlh"] {
            assert_eq!(measured(data), None, "{data}");
        }
    }
}
