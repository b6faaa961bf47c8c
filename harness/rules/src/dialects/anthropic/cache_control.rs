//! Prompt cache markers: how many, on which blocks, and the order of their lifetimes.
//!
//! "Note that blocks are processed in the following order: `tools`, `system`, `messages`"
//! (<https://github.com/cnighswonger/claude-code-cache-fix/issues/44>). The messages may come first in a
//! body, so checks of the order wait for the end.

use super::block::{BlockKind, BlockPosition, ContentBlock, Field};
use crate::json::Json;
use crate::{Occurrence, Rule, Violations};

#[derive(Debug, Default)]
pub(super) struct CacheControl {
    n_marks: usize,
    /// True after a five-minute marker.
    is_short: bool,
    /// The first one-hour marker, if no shorter one came before it.
    first_long: Option<Spot>,
}

#[derive(Debug, Clone, Copy)]
struct Spot {
    place: BlockPosition,
    /// The index within the content of a result.
    inner: Option<usize>,
}

const MAX_MARKS: usize = 4;

impl CacheControl {
    /// Checks the next block, and the blocks within a result.
    pub(super) fn block(&mut self, block: &ContentBlock, out: &mut Violations) {
        if let Some(mark) = block.get(Field::CacheControl) {
            self.mark(mark, Spot { place: block.place, inner: None }, out);
        }
        if block.kind != BlockKind::ToolResult {
            return;
        }
        for (k, inner) in block.get(Field::Content).map(Json::items).unwrap_or_default().enumerate() {
            if let Some(mark) = inner.get(FIELD) {
                self.mark(mark, Spot { place: block.place, inner: Some(k) }, out);
            }
        }
    }

    /// Checks the fields around the conversation, which precede it in the cache. Call it after the last
    /// message.
    pub(super) fn finish(&self, body: Json, out: &mut Violations) {
        let mut n_marks = self.n_marks;
        let mut is_short = false;
        for list in ["tools", "system"] {
            for (k, item) in body.field(list).items().enumerate() {
                let Some(mark) = item.get(FIELD).filter(|mark| !mark.is_null()) else { continue };
                n_marks += 1;
                if !is_long(mark) {
                    is_short = true;
                } else if is_short {
                    refuse_order(out, format!("/{list}/{k}"), format!("{list}.{k}"));
                }
                if item.field("type").is("text") && item.field("text").is_empty_str() {
                    let pointer = format!("/{list}/{k}/{FIELD}");
                    out.add(&CACHE_CONTROL_ON_EMPTY_TEXT, || {
                        Occurrence::at(pointer).with("path", format!("{list}.{k}"))
                    });
                }
            }
        }
        if let Some(spot) = self.first_long.filter(|_| is_short) {
            refuse_order(out, spot.pointer(), spot.path());
        }
        if n_marks > MAX_MARKS {
            out.add(&CACHE_CONTROL_TOO_MANY, || Occurrence::at("").with("count", n_marks));
        }
    }

    fn mark(&mut self, mark: Json, spot: Spot, out: &mut Violations) {
        if mark.is_null() {
            return;
        }
        self.n_marks += 1;
        if !is_long(mark) {
            self.is_short = true;
        } else if self.is_short {
            refuse_order(out, spot.pointer(), spot.path());
        } else {
            self.first_long.get_or_insert(spot);
        }
    }
}

const FIELD: &str = "cache_control";

/// Returns whether a marker lasts an hour. The default is five minutes.
fn is_long(mark: Json) -> bool {
    mark.field("ttl").is("1h")
}

fn refuse_order(out: &mut Violations, pointer: String, path: String) {
    out.add(&CACHE_CONTROL_ORDER, || Occurrence::at(format!("{pointer}/{FIELD}")).with("path", path));
}

impl Spot {
    fn pointer(self) -> String {
        let pointer = self.place.pointer();
        self.inner.map_or(pointer.clone(), |k| format!("{pointer}/content/{k}"))
    }

    fn path(self) -> String {
        let path = self.place.path();
        self.inner.map_or(path.clone(), |k| format!("{path}.tool_result.content.{k}"))
    }
}

pub(crate) static CACHE_CONTROL_TOO_MANY: Rule = Rule {
    summary: "At most four blocks have a cache breakpoint.",
    why: "Breakpoints from earlier requests were kept in the history, or a proxy added its own. \
         Count them across tools, system prompt and messages, and drop the oldest.",
    sentences: &["A maximum of 4 blocks with cache_control may be provided. Found {count}."],
    sources: &[
        "https://github.com/tghamm/Anthropic.SDK/issues/50",
        "https://github.com/Wei-Shaw/sub2api/issues/176",
        "https://github.com/griffinmartin/opencode-claude-auth/issues/121",
    ],
    ..Rule::measured("anthropic-messages/cache-control-too-many", "ANT-CC-1", 15, "2024-09")
};

pub(crate) static CACHE_CONTROL_ORDER: Rule = Rule {
    summary: "Cache breakpoints of one hour come before those of five minutes.",
    why: "A block cached for one hour comes after a block cached for five minutes. Tools come \
         first, then the system prompt, then the messages: use one lifetime for all of them, or the \
         longer one for the earlier blocks.",
    sentences: &[
        "{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    ],
    sources: &[
        "https://github.com/cnighswonger/claude-code-cache-fix/issues/44",
        "https://github.com/headroomlabs-ai/headroom/issues/2939",
        "https://github.com/vellum-ai/vellum-assistant/pull/22191",
    ],
    ..Rule::measured("anthropic-messages/cache-control-order", "ANT-CC-3", 15, "2026-03")
};

pub(crate) static CACHE_CONTROL_ON_EMPTY_TEXT: Rule = Rule {
    summary: "No empty text has a cache breakpoint.",
    why: "The breakpoint was set on the last block without checking it, and that block is an empty \
         text. Drop empty texts first, then set the breakpoint.",
    sentences: &["{path}: cache_control cannot be set for empty text blocks"],
    sources: &[
        "https://github.com/NousResearch/hermes-agent/pull/1216",
        "https://github.com/anthropics/claude-code/issues/55302",
        "https://github.com/stakpak/agent/pull/511",
    ],
    ..Rule::measured("anthropic-messages/cache-control-on-empty-text", "ANT-CC-2", 1, "2026-03")
};
