//! A picture by its size. Its content is none: it is made anew, blank.

mod blank;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A picture of which only the size matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// How it is encoded.
    pub format: PictureFormat,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// The least number of bytes of the file; a blank picture takes fewer, and is filled up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u32,
}

fn is_zero(bytes: &u32) -> bool {
    *bytes == 0
}

crate::named! {
    /// The encoding of a picture.
    pub enum PictureFormat {
        /// PNG.
        Png = "png",
        /// JPEG.
        Jpeg = "jpeg",
    }
}

impl PictureFormat {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            PictureFormat::Png => "image/png",
            PictureFormat::Jpeg => "image/jpeg",
        }
    }
}

impl Picture {
    /// The largest file. The greatest limit of a provider that is known is 20 MB for one picture; what is made here goes
    /// into a plan, which is held in memory.
    pub const MAX_BYTES: u32 = 8 << 20;

    /// The longest side: twice the greatest limit of a provider that is known, 8000 pixels at Anthropic
    /// (<https://platform.claude.com/docs/en/build-with-claude/vision>).
    pub const MAX_SIDE: u32 = 16_384;

    /// What is wrong with it.
    pub fn complaint(&self) -> Option<String> {
        let is_side = |side: u32| (1..=Picture::MAX_SIDE).contains(&side);
        if !is_side(self.width) || !is_side(self.height) {
            return Some(format!("a picture has 1 to {} pixels on each side", Picture::MAX_SIDE));
        }
        let is_large = self.bytes > Picture::MAX_BYTES;
        is_large.then(|| format!("a picture has at most {} bytes", Picture::MAX_BYTES))
    }

    /// The file of a blank picture of that size.
    pub fn file(&self) -> Vec<u8> {
        match self.format {
            PictureFormat::Png => blank::png(self.width, self.height, self.bytes as usize),
            PictureFormat::Jpeg => blank::jpeg(self.width, self.height, self.bytes as usize),
        }
    }

    /// The same in base64.
    pub fn base64(&self) -> String {
        blank::base64(&self.file())
    }
}
