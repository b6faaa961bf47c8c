//! The sides of a picture, read from the head of its file.

use crate::base64;

/// The base64 in which the sides are looked for; they stand before the pixels. A multiple of 4.
const HEAD: usize = 256 << 10;

/// The longer side of a picture in base64, in pixels; nothing where its head says none.
pub fn longest_side(data: &str) -> Option<usize> {
    let head = base64::decode(data.get(..HEAD).unwrap_or(data))?;
    let size = imagesize::blob_size(&head).ok()?;
    Some(size.width.max(size.height))
}
