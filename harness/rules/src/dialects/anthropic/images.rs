//! Images in a conversation: their data, and their maximum size.
//!
//! Every request contains all images in the conversation, so one image that is too large bricks it. So
//! does the twenty-first image, if any of them exceeds the lower limit for many images. The limit of 5 MB
//! per image is not checked here. The size of an image given as a URL or a file id is unknown.

use super::block::{BlockKind, BlockPosition, ContentBlock, Field};
use crate::image::{Unseen, longest_side, media_type_of};
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
    pub(super) fn block(&mut self, block: &ContentBlock, out: &mut Violations) {
        match block.kind {
            BlockKind::Attachment => self.image(block.json, Spot { place: block.place, inner: None }, out),
            BlockKind::ToolResult => {
                for (k, inner) in block.get(Field::Content).map(Json::items).unwrap_or_default().enumerate() {
                    self.image(inner, Spot { place: block.place, inner: Some(k) }, out);
                }
            }
            _ => {}
        }
    }

    fn image(&mut self, block: Json, spot: Spot, out: &mut Violations) {
        if !block.field("type").is("image") {
            return;
        }
        self.n_images += 1;
        let source = block.field("source");
        if !source.field("type").is("base64") {
            return;
        }
        let Some(data) = source.field("data").as_str() else { return };
        check_data(&data, source, spot, out);
        if let Some(longest_side) = longest_side(&data).filter(|side| *side > MAX_SIDE_OF_MANY) {
            self.large.push(Large { spot, longest_side });
        }
    }

    /// Reports the images that are too large. Call it after the last message.
    pub(super) fn finish(&self, out: &mut Violations) {
        for Large { spot, longest_side } in &self.large {
            if self.n_images > MAX_FEW {
                out.add(&IMAGE_TOO_WIDE_AMONG_MANY, || spot.occurrence("data"));
            } else if *longest_side > MAX_SIDE {
                out.add(&IMAGE_TOO_WIDE, || spot.occurrence("data"));
            }
        }
    }
}

/// The types of images that the API accepts (<https://platform.claude.com/docs/en/build-with-claude/vision>).
const MEDIA_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

fn check_data(data: &str, source: Json, spot: Spot, out: &mut Violations) {
    let media_type = source.field("media_type").as_str();
    if media_type.as_ref().is_some_and(|media_type| !MEDIA_TYPES.contains(&media_type.as_ref())) {
        return out.add(&IMAGE_MEDIA_TYPE, || spot.occurrence("media_type"));
    }
    if data.is_empty() {
        return out.add(&IMAGE_EMPTY, || spot.occurrence("data"));
    }
    // Recorders cut long data, or replace it.
    let is_kept = !data.ends_with('…') && !data.ends_with("...") && !data.starts_with('<');
    if is_kept && !data.bytes().all(is_base64) {
        return out.add(&IMAGE_NOT_BASE64, || spot.occurrence("data"));
    }
    match (media_type_of(data), media_type) {
        (Err(Unseen), _) => {}
        (Ok(None), _) if is_kept => out.add(&IMAGE_UNREADABLE, || spot.occurrence("data")),
        (Ok(Some(own)), Some(named)) if own != named => out.add(&IMAGE_TYPE_DIFFERS, || {
            spot.occurrence("media_type").with("named", &named).with("own", own)
        }),
        (Ok(_), _) => {}
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/-_=".contains(&byte)
}

impl Spot {
    fn occurrence(self, field: &str) -> Occurrence {
        let (inner, path) = match self.inner {
            Some(k) => (format!("/content/{k}"), format!("{}.tool_result.content.{k}", self.place.path())),
            None => (String::new(), self.place.path()),
        };
        Occurrence::at(format!("{}{inner}/source/{field}", self.place.pointer())).with("path", path)
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

pub(crate) static IMAGE_EMPTY: Rule = Rule {
    summary: "An image has data.",
    why: "The upload or the screenshot failed, and an image without data was stored. It is sent with every request \
         of the conversation. Drop it, or replace it with a text.",
    sentences: &["{path}.image.source.base64: image cannot be empty"],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/12750",
        "https://github.com/anthropics/claude-code/issues/9007",
        "https://github.com/anthropics/claude-code/issues/8947",
    ],
    ..Rule::measured("anthropic-messages/image-empty", "ANT-IMG-4", 1, "2025-10")
};

pub(crate) static IMAGE_MEDIA_TYPE: Rule = Rule {
    summary: "An image is a JPEG, a PNG, a GIF or a WebP.",
    why: "A file of another type, such as a PDF, was sent as an image. Send it as a `document`, or convert it.",
    sentences: &[
        "{path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    ],
    sources: &["https://platform.claude.com/docs/en/build-with-claude/vision"],
    ..Rule::observed("anthropic-messages/image-media-type", "ANT-IMG-5", 1, "2025-03")
};

pub(crate) static IMAGE_TYPE_DIFFERS: Rule = Rule {
    summary: "The media type of an image is the type of its data.",
    why: "The type was taken from a file name or assumed, and the data is of another type. Write the type that the \
         data has.",
    sentences: &[
        "{path}.image.source.base64: The image was specified using the {named} media type, but the image appears to be a \
         {own} image",
    ],
    sources: &[
        "https://github.com/vybestack/llxprt-code/issues/2130",
        "https://github.com/BerriAI/litellm/issues/24900",
        "https://github.com/anthropics/claude-code/issues/35234",
    ],
    ..Rule::measured("anthropic-messages/image-type-differs", "ANT-IMG-8", 1, "2025-07")
};

pub(crate) static IMAGE_NOT_BASE64: Rule = Rule {
    summary: "The data of an image is base64.",
    why: "A placeholder, a URL or a message was stored in place of the image. Replace the block with a text.",
    sentences: &["{path}.image.source.base64: invalid base64 data"],
    sources: &["https://github.com/Yeachan-Heo/gajae-code/pull/2806"],
    ..Rule::observed("anthropic-messages/image-not-base64", "ANT-IMG-6", 1, "2026-07")
};

pub(crate) static IMAGE_UNREADABLE: Rule = Rule {
    summary: "The data of an image is an image.",
    why: "A tool stored something else as an image, such as an error page or a file of another format. Replace the \
         block with a text.",
    sentences: &[
        "Could not process image",
        "{path}.image.source.base64.data: Image format {media_type} not supported",
    ],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/42399",
        "https://github.com/anthropics/claude-code/issues/28485",
        "https://github.com/anthropics/claude-code/issues/56016",
        "https://github.com/anthropics/claude-code/issues/4083",
        "https://github.com/anthropics/claude-code/issues/1747",
    ],
    ..Rule::measured("anthropic-messages/image-unreadable", "ANT-IMG-7", 1, "2025-07")
};
