//! Events inside one item of a response: its parts, and the texts that arrive in deltas.

use std::collections::BTreeMap;

use super::stream::{
    AFTER_DONE, DONE_DIFFERS, ITEM_CHANGED, ITEM_TYPE, PART_NOT_OPEN, PART_REPEATED, PART_STILL_OPEN,
};
use crate::json::Json;
use crate::streams::{BrokenRule, Digest, Room, Verdict, Warnings, illegal, quoted, text};

#[derive(Debug)]
pub(super) struct StreamedItem {
    id: Option<Digest>,
    kind: Option<Digest>,
    /// The parts, by list and index. The value is true while a part is open.
    parts: BTreeMap<(PartList, u64), bool>,
    /// Texts, by the prefix of their events' types and by the index of their part.
    texts: BTreeMap<(&'static str, u64), Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PartList {
    Content,
    Summary,
}

impl PartList {
    fn index_field(self) -> &'static str {
        match self {
            PartList::Content => "content_index",
            PartList::Summary => "summary_index",
        }
    }
}

/// A text that arrives in deltas.
#[derive(Debug)]
struct Text {
    said: Digest,
    n_deltas: usize,
    is_done: bool,
}

/// Events with the same prefix of the type.
#[derive(Debug)]
pub(super) struct Family {
    /// The prefix, which is followed by `.delta`, `.done` or another word.
    prefix: &'static str,
    /// The types of the items that can have these events.
    items: &'static [&'static str],
    what: What,
}

#[derive(Debug)]
enum What {
    /// `.added` and `.done` of a part.
    Part(PartList),
    /// `.delta` and `.done` of a text.
    Text {
        /// The field of `.done` with the complete text.
        whole: &'static str,
        part: PartOfText,
    },
    /// The progress of one provider tool.
    Progress,
}

/// The part of its item that a text belongs to.
#[derive(Debug, Clone, Copy)]
enum PartOfText {
    None,
    /// A part that is added first.
    Added(PartList),
    /// A part that some servers add and others do not.
    Perhaps(PartList),
}

const fn family(prefix: &'static str, items: &'static [&'static str], what: What) -> Family {
    Family { prefix, items, what }
}

const fn text_in(
    part: PartOfText,
    prefix: &'static str,
    items: &'static [&'static str],
    whole: &'static str,
) -> Family {
    Family { prefix, items, what: What::Text { whole, part } }
}

const CONTENT: PartOfText = PartOfText::Added(PartList::Content);
const SUMMARY: PartOfText = PartOfText::Added(PartList::Summary);
const PERHAPS: PartOfText = PartOfText::Perhaps(PartList::Content);
const NO_PART: PartOfText = PartOfText::None;

static FAMILIES: [Family; 17] = [
    family("response.content_part", &["message", "reasoning"], What::Part(PartList::Content)),
    family("response.reasoning_summary_part", &["reasoning"], What::Part(PartList::Summary)),
    text_in(CONTENT, "response.output_text", &["message"], "text"),
    text_in(CONTENT, "response.refusal", &["message"], "refusal"),
    text_in(SUMMARY, "response.reasoning_summary_text", &["reasoning"], "text"),
    text_in(PERHAPS, "response.reasoning_text", &["reasoning"], "text"),
    text_in(NO_PART, "response.function_call_arguments", &["function_call"], "arguments"),
    text_in(NO_PART, "response.custom_tool_call_input", &["custom_tool_call"], "input"),
    text_in(NO_PART, "response.mcp_call_arguments", &["mcp_call"], "arguments"),
    text_in(NO_PART, "response.code_interpreter_call_code", &["code_interpreter_call"], "code"),
    family("response.output_text.annotation", &["message"], What::Progress),
    family("response.web_search_call", &["web_search_call"], What::Progress),
    family("response.file_search_call", &["file_search_call"], What::Progress),
    family("response.code_interpreter_call", &["code_interpreter_call"], What::Progress),
    family("response.image_generation_call", &["image_generation_call"], What::Progress),
    family("response.mcp_call", &["mcp_call"], What::Progress),
    family("response.mcp_list_tools", &["mcp_list_tools"], What::Progress),
];

/// Returns the family of an event type, if it occurs inside an item.
pub(super) fn family_of(kind: &str) -> Option<&'static Family> {
    let (prefix, _) = kind.rsplit_once('.')?;
    FAMILIES.iter().find(|family| family.prefix == prefix)
}

impl StreamedItem {
    pub(super) fn new(json: Json) -> StreamedItem {
        let digest = |field: &str| text(json.field(field)).map(|text| Digest::of(&text));
        StreamedItem {
            id: digest("id"),
            kind: digest("type"),
            parts: BTreeMap::new(),
            texts: BTreeMap::new(),
        }
    }

    pub(super) fn step(
        &mut self,
        index: u64,
        kind: &str,
        family: &'static Family,
        data: Json,
        room: &mut Room,
        warnings: &mut Warnings,
    ) -> Verdict {
        self.same_id(index, data.field("item_id"), warnings)?;
        let fits = |known: Digest| family.items.iter().any(|fitting| Digest::of(fitting) == known);
        if self.kind.is_some_and(|known| !fits(known)) {
            let message = format!("{} for item {index}, which is of another type", quoted(kind));
            return illegal(&ITEM_TYPE, message);
        }
        let word = kind.rsplit_once('.').map_or("", |(_, word)| word);
        match (&family.what, word) {
            (What::Part(list), "added") => self.part_added(index, *list, data, room),
            (What::Part(list), "done") => self.part_done(index, *list, data, warnings),
            (What::Text { whole, part }, "delta" | "done") => {
                let part = self.part_of(*part, kind, data, room)?;
                match word {
                    "delta" => self.text_delta((family.prefix, part), kind, data.field("delta"), room),
                    _ => self.text_done((family.prefix, part), kind, data.field(whole), warnings),
                }
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the item is the model's reasoning.
    pub(super) fn is_reasoning(&self) -> bool {
        self.kind == Some(Digest::of("reasoning"))
    }

    /// Returns whether the item lists the tools of an MCP server.
    pub(super) fn is_tool_list(&self) -> bool {
        self.kind == Some(Digest::of("mcp_list_tools"))
    }

    /// Checks the complete item when it is done.
    pub(super) fn done(self, index: u64, json: Json, warnings: &mut Warnings) -> Verdict {
        self.same_id(index, json.field("id"), warnings)?;
        if let (Some(known), Some(kind)) = (self.kind, text(json.field("type")))
            && known != Digest::of(&kind)
        {
            return illegal(
                &ITEM_CHANGED,
                format!("item {index} is now a {}, and was different before", quoted(&kind)),
            );
        }
        if let Some(((_, part), _)) = self.parts.iter().find(|(_, is_open)| **is_open) {
            return illegal(&PART_STILL_OPEN, format!("item {index} is done while its part {part} is open"));
        }
        match self.texts.get(&("response.function_call_arguments", 0)) {
            Some(arguments) => {
                arguments.holds("the arguments of the item", json.field("arguments"), warnings)
            }
            None => Ok(()),
        }
    }

    fn same_id(&self, index: u64, id: Json, warnings: &mut Warnings) -> Verdict {
        match (self.id, text(id)) {
            (Some(known), Some(id)) if known != Digest::of(&id) => warnings.refuse(
                &ITEM_CHANGED,
                format!("item {index} now has the id {}, and had another before", quoted(&id)),
            ),
            _ => Ok(()),
        }
    }

    /// Returns the index of a text part, which must be open.
    fn part_of(&self, part: PartOfText, kind: &str, data: Json, room: &Room) -> Result<u64, BrokenRule> {
        let index = |list: PartList| data.field(list.index_field()).as_u64().unwrap_or(0);
        match part {
            PartOfText::None => Ok(0),
            PartOfText::Perhaps(list) => Ok(index(list)),
            PartOfText::Added(list) => {
                let idx = index(list);
                let is_open = self.parts.get(&(list, idx)) == Some(&true);
                if is_open || room.is_full() {
                    return Ok(idx);
                }
                let message = format!("{kind} for part {idx}, which is not open");
                Err(BrokenRule { rule: &PART_NOT_OPEN, message })
            }
        }
    }

    fn part_added(&mut self, index: u64, list: PartList, data: Json, room: &mut Room) -> Verdict {
        let part = data.field(list.index_field()).as_u64().unwrap_or(0);
        if self.parts.contains_key(&(list, part)) {
            return illegal(&PART_REPEATED, format!("part {part} of item {index} is added a second time"));
        }
        if room.track() {
            self.parts.insert((list, part), true);
        }
        Ok(())
    }

    fn part_done(&mut self, index: u64, list: PartList, data: Json, warnings: &mut Warnings) -> Verdict {
        let part = data.field(list.index_field()).as_u64().unwrap_or(0);
        match self.parts.insert((list, part), false) {
            Some(true) => {}
            Some(false) => {
                return illegal(&PART_NOT_OPEN, format!("part {part} of item {index} is done a second time"));
            }
            None => {
                self.parts.remove(&(list, part));
                return Ok(());
            }
        }
        let text = match list {
            PartList::Content => self.texts.get(&("response.output_text", part)),
            PartList::Summary => self.texts.get(&("response.reasoning_summary_text", part)),
        };
        match text {
            Some(text) => text.holds("the text of the part", data.field("part").field("text"), warnings),
            None => Ok(()),
        }
    }

    fn text_delta(&mut self, key: (&'static str, u64), kind: &str, delta: Json, room: &mut Room) -> Verdict {
        if !self.texts.contains_key(&key) && !room.track() {
            return Ok(());
        }
        let fresh = || Text { said: Digest::EMPTY, n_deltas: 0, is_done: false };
        let text = self.texts.entry(key).or_insert_with(fresh);
        if text.is_done {
            return illegal(&AFTER_DONE, format!("{kind} after its text was done"));
        }
        if let Some(piece) = delta.as_str() {
            text.said.push(&piece);
            text.n_deltas += 1;
        }
        Ok(())
    }

    fn text_done(
        &mut self,
        key: (&'static str, u64),
        kind: &str,
        whole: Json,
        warnings: &mut Warnings,
    ) -> Verdict {
        match self.texts.get_mut(&key) {
            Some(text) => {
                text.is_done = true;
                text.holds(kind, whole, warnings)
            }
            None => Ok(()),
        }
    }
}

impl Text {
    /// Compares the complete text with the deltas. Without deltas, any text is allowed.
    fn holds(&self, what: &str, whole: Json, warnings: &mut Warnings) -> Verdict {
        match whole.as_str() {
            Some(whole) if self.n_deltas > 0 && Digest::of(&whole) != self.said => {
                let (n_whole, n_said) = (whole.len(), self.said.n_bytes);
                warnings.refuse(
                    &DONE_DIFFERS,
                    format!("{what} has {n_whole} bytes, which differ from the {n_said} bytes of the deltas"),
                )
            }
            _ => Ok(()),
        }
    }
}
