//! The size and the type of an image, read from the header of its file.

use crate::base64;

/// Number of bytes that show the type of an image.
const MAGIC: usize = 12;

const MAGICS: [(&[u8], &str); 3] =
    [(b"\xff\xd8\xff", "image/jpeg"), (b"\x89PNG", "image/png"), (b"GIF8", "image/gif")];

/// The data is too short to show its type, or is not base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unseen;

/// Returns the media type of a base64 image, by the beginning of its file. `None` for other files than JPEG,
/// PNG, GIF and WebP.
///
/// # Errors
///
/// Fails if the data is too short.
pub fn media_type_of(data: &str) -> Result<Option<&'static str>, Unseen> {
    let head = base64::decode_head(data, MAGIC);
    if head.len() < MAGIC {
        return Err(Unseen);
    }
    if head.starts_with(b"RIFF") && head.ends_with(b"WEBP") {
        return Ok(Some("image/webp"));
    }
    let begins = |(magic, _): &&(&[u8], &str)| head.starts_with(magic);
    Ok(MAGICS.iter().find(begins).map(|(_, media_type)| *media_type))
}

/// Number of base64 characters to search for the size, which comes before the pixels. A multiple of 4.
const HEAD: usize = 256 << 10;

/// Returns the longer side of a base64 image in pixels, or `None` if the header does not contain it.
pub fn longest_side(data: &str) -> Option<usize> {
    let head = base64::decode(data.get(..HEAD).unwrap_or(data))?;
    let size = imagesize::blob_size(&head).ok()?;
    Some(size.width.max(size.height))
}
