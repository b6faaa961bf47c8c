//! The size of an image, read from the header of its file.

use crate::base64;

/// Number of base64 characters to search for the size, which comes before the pixels. A multiple of 4.
const HEAD: usize = 256 << 10;

/// Returns the longer side of a base64 image in pixels, or `None` if the header does not contain it.
pub fn longest_side(data: &str) -> Option<usize> {
    let head = base64::decode(data.get(..HEAD).unwrap_or(data))?;
    let size = imagesize::blob_size(&head).ok()?;
    Some(size.width.max(size.height))
}
