//! Images, which scenarios describe by their size. The files are generated, and blank.

mod blank;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A blank image of a given size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The file format.
    pub format: PictureFormat,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The minimum size of the file in bytes. A blank image is smaller, so it is padded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u32,
}

fn is_zero(bytes: &u32) -> bool {
    *bytes == 0
}

crate::named! {
    /// The file format of an image.
    pub enum PictureFormat {
        /// PNG.
        Png = "png",
        /// JPEG.
        Jpeg = "jpeg",
    }
}

impl PictureFormat {
    /// The media type, such as `image/png`.
    pub fn media_type(self) -> &'static str {
        match self {
            PictureFormat::Png => "image/png",
            PictureFormat::Jpeg => "image/jpeg",
        }
    }
}

impl Picture {
    /// The maximum size of a file. The highest known provider limit is 20 MB for one image. The image becomes
    /// part of a plan, which is held in memory.
    pub const MAX_BYTES: u32 = 8 << 20;

    /// The maximum length of a side: twice the highest known provider limit, which is Anthropic's 8000 pixels
    /// (<https://platform.claude.com/docs/en/build-with-claude/vision>).
    pub const MAX_SIDE: u32 = 16_384;

    /// The error message for a side or a file size that is out of bounds.
    pub fn complaint(&self) -> Option<String> {
        let is_side = |side: u32| (1..=Picture::MAX_SIDE).contains(&side);
        if !is_side(self.width) || !is_side(self.height) {
            return Some(format!("a picture has 1 to {} pixels on each side", Picture::MAX_SIDE));
        }
        let is_large = self.bytes > Picture::MAX_BYTES;
        is_large.then(|| format!("a picture has at most {} bytes", Picture::MAX_BYTES))
    }

    /// The file: a blank image of this size.
    pub fn file(&self) -> Vec<u8> {
        match self.format {
            PictureFormat::Png => blank::png(self.width, self.height, self.bytes as usize),
            PictureFormat::Jpeg => blank::jpeg(self.width, self.height, self.bytes as usize),
        }
    }

    /// The file in base64.
    pub fn base64(&self) -> String {
        brickbat_rules::base64::encode(&self.file())
    }
}
