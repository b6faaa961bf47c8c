//! Marks for the prompt cache: how many, on what, and in which order of their lifetimes.
//!
//! "Note that blocks are processed in the following order: `tools`, `system`, `messages`"
//! (<https://github.com/cnighswonger/claude-code-cache-fix/issues/44>). In a body the messages may come first, so what
//! their order depends on waits for the end.

use super::super::violation::{Breach, Breaches};
use super::block::{Block, Field, Kind, Place};
use super::table::*;
use crate::json::Json;

/// The marks of the messages so far.
#[derive(Debug, Default)]
pub(super) struct CacheControl {
    n_marks: usize,
    /// Whether a mark of five minutes has come.
    is_short: bool,
    /// The first mark of an hour, if no shorter one came before it.
    first_long: Option<Spot>,
}

/// The block that has a mark.
#[derive(Debug, Clone, Copy)]
struct Spot {
    place: Place,
    /// The index inside the content of a result.
    inner: Option<usize>,
}

/// So many marks are allowed.
const MAX_MARKS: usize = 4;

impl CacheControl {
    /// Takes the next block, and what is inside of a result.
    pub(super) fn block(&mut self, block: &Block, out: &mut Breaches) {
        if let Some(mark) = block.get(Field::CacheControl) {
            self.mark(mark, Spot { place: block.place, inner: None }, out);
        }
        if block.kind != Kind::ToolResult {
            return;
        }
        for (k, inner) in block.get(Field::Content).map(Json::items).unwrap_or_default().enumerate() {
            if let Some(mark) = inner.get(FIELD) {
                self.mark(mark, Spot { place: block.place, inner: Some(k) }, out);
            }
        }
    }

    /// The conversation is over. What stands around it comes before it in the cache.
    pub(super) fn finish(&self, body: Json, out: &mut Breaches) {
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
                        Breach::at(pointer).with("path", format!("{list}.{k}"))
                    });
                }
            }
        }
        if let Some(spot) = self.first_long.filter(|_| is_short) {
            refuse_order(out, spot.pointer(), spot.path());
        }
        if n_marks > MAX_MARKS {
            out.add(&CACHE_CONTROL_TOO_MANY, || Breach::at("").with("count", n_marks));
        }
    }

    fn mark(&mut self, mark: Json, spot: Spot, out: &mut Breaches) {
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

/// Without a lifetime a mark lives five minutes.
fn is_long(mark: Json) -> bool {
    mark.field("ttl").is("1h")
}

fn refuse_order(out: &mut Breaches, pointer: String, path: String) {
    out.add(&CACHE_CONTROL_ORDER, || Breach::at(format!("{pointer}/{FIELD}")).with("path", path));
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
