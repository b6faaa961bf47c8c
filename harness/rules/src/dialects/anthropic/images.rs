//! The maximum size of images in a conversation.
//!
//! Every request contains all images in the conversation, so one image that is too large bricks it. So
//! does the twenty-first image, if any of them exceeds the lower limit for many images. The limit of 5 MB
//! per image is not checked here. The size of an image given as a URL or a file id is unknown.

use super::block::{BlockKind, BlockPosition, ContentBlock, Field};
use crate::image::longest_side;
use crate::json::Json;
use crate::{Occurrence, Rule, Violations};

/// The images with known sides that exceed the limit for requests with many images.
#[derive(Debug, Default)]
pub(super) struct Images {
    n_images: usize,
    large: Vec<Large>,
}

#[derive(Debug)]
struct Large {
    spot: Spot,
    longest_side: usize,
}

#[derive(Debug, Clone, Copy)]
struct Spot {
    place: BlockPosition,
    /// The index within the content of a result.
    inner: Option<usize>,
}

/// The longest side of an image in pixels; the next constant is the limit in a request with many images
/// (<https://platform.claude.com/docs/en/build-with-claude/vision>).
const MAX_SIDE: usize = 8000;
const MAX_SIDE_OF_MANY: usize = 2000;

/// Up to this number of images, the higher limit applies (same source).
const MAX_FEW: usize = 20;

impl Images {
    /// Records the images of the next block, and those within a result.
    pub(super) fn block(&mut self, block: &ContentBlock) {
        match block.kind {
            BlockKind::Attachment => self.image(block.json, Spot { place: block.place, inner: None }),
            BlockKind::ToolResult => {
                for (k, inner) in block.get(Field::Content).map(Json::items).unwrap_or_default().enumerate() {
                    self.image(inner, Spot { place: block.place, inner: Some(k) });
                }
            }
            _ => {}
        }
    }

    fn image(&mut self, block: Json, spot: Spot) {
        if !block.field("type").is("image") {
            return;
        }
        self.n_images += 1;
        let source = block.field("source");
        if !source.field("type").is("base64") {
            return;
        }
        let Some(data) = source.field("data").as_str() else { return };
        if let Some(longest_side) = longest_side(&data).filter(|side| *side > MAX_SIDE_OF_MANY) {
            self.large.push(Large { spot, longest_side });
        }
    }

    /// Reports the images that are too large. Call it after the last message.
    pub(super) fn finish(&self, out: &mut Violations) {
        for Large { spot, longest_side } in &self.large {
            if self.n_images > MAX_FEW {
                out.add(&IMAGE_TOO_WIDE_AMONG_MANY, || spot.occurrence());
            } else if *longest_side > MAX_SIDE {
                out.add(&IMAGE_TOO_WIDE, || spot.occurrence());
            }
        }
    }
}

impl Spot {
    fn occurrence(self) -> Occurrence {
        let (inner, path) = match self.inner {
            Some(k) => (format!("/content/{k}"), format!("{}.tool_result.content.{k}", self.place.path())),
            None => (String::new(), self.place.path()),
        };
        Occurrence::at(format!("{}{inner}/source/data", self.place.pointer())).with("path", path)
    }
}

pub(crate) static IMAGE_TOO_WIDE: Rule = Rule {
    summary: "An image has at most 8000 pixels on each side.",
    why: "An image is larger than the provider accepts, such as a full-page screenshot, and is sent \
         with every request of the conversation. Scale it down before it is stored; in a history \
         that already has it, replace it with a text.",
    sentences: &[
        "{path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    ],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/4778",
        "https://platform.claude.com/docs/en/build-with-claude/vision",
    ],
    ..Rule::observed("anthropic-messages/image-too-wide", "ANT-IMG-2", 1, "2025-08")
};

pub(crate) static IMAGE_TOO_WIDE_AMONG_MANY: Rule = Rule {
    summary: "In a request with more than 20 images, each has at most 2000 pixels on each side.",
    why: "Each image was accepted when it was sent, but now that there are more than 20, the large \
         ones are rejected. Scale images down to 2000 pixels before they are stored, or leave old \
         ones out.",
    sentences: &[
        "{path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image \
         requests: 2000 pixels",
    ],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/49537",
        "https://github.com/anthropics/claude-code/issues/14412",
        "https://github.com/langgenius/dify/issues/11177",
        "https://platform.claude.com/docs/en/build-with-claude/vision",
    ],
    ..Rule::observed("anthropic-messages/image-too-wide-among-many", "ANT-IMG-3", 1, "2024-11")
};
