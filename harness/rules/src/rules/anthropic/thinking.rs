//! Where thinking blocks must and must not stand, and whether they are what the provider wrote.
//!
//! Whether thinking is enabled may stand behind the messages, so what depends on it waits for the end. Signatures are
//! known only to a provider that remembers what it issued; without a memory only an empty one is known to be wrong.
//!
//! A signature seals the block alone: its neighbours, the system prompt and earlier messages may change
//! (measured on five models, <https://github.com/headroomlabs-ai/headroom/pull/3135>). Claude 5.1 and later look at what
//! stood before the block as well. The latest message of the assistant goes back to where the user spoke last, because
//! the provider takes a loop of calls and results for one message.

use hashbrown::HashSet;

use serde_json::Value;

use super::super::Memory;
use super::super::memory::{Bound, Thoughts};
use super::super::profile::ModelVersion;
use super::super::violation::{Breach, Breaches, MAX_VIOLATIONS};
use super::block::{Block, Field, Kind, Place, Role};
use super::prefix::{self, Messages};
use super::table::*;
use super::turns::{Seen, Turn};
use crate::json::Json;

/// The facts about thinking.
pub(super) struct Thinking<'a> {
    memory: &'a Memory,
    /// The first blocks of replies that think later, as many as are reported.
    misplaced: Vec<(Seen, &'static str)>,
    /// The thinking with which replies end, as much as is reported.
    final_thoughts: Vec<Place>,
    tool_loop: Option<ToolLoop>,
    /// What has been said so far, if the provider remembers any thinking.
    messages: Messages,
    /// Its hash before the open turn.
    before_turn: u64,
    /// What came back of the provider's thinking in the open turn, and before that in the latest message.
    open: Vec<Returned>,
    latest: Vec<Returned>,
    /// The numbers of all that came back.
    seen: HashSet<usize>,
    /// The number of the one that came back last.
    previous: Option<usize>,
    bound: Vec<BoundBlock>,
}

/// A block of thinking that came back, and what it is bound to.
#[derive(Debug, Clone, Copy)]
struct BoundBlock {
    place: Place,
    bound: Bound,
    /// The hash of the messages before it.
    messages: u64,
    /// Whether the thinking between it and the one before was left out or moved.
    is_out_of_line: bool,
}

/// A block of thinking that the provider gave out and that came back.
#[derive(Debug, Clone, Copy)]
struct Returned {
    place: Place,
    reply: usize,
    ordinal: usize,
    /// Whether it holds another text than it did.
    is_altered: bool,
    /// Whether it stands where it did not: twice, before an earlier one, or next to one of another reply.
    is_moved: bool,
}

/// Adds the thinking of a reply to what was given out.
pub(super) fn remember(thoughts: &mut Thoughts, request: Json, reply: &Value) {
    let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
    let blocks = reply["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let given_out = blocks.iter().filter_map(|block| match block["type"].as_str() {
        Some("thinking") => Some((text(&block["signature"]), text(&block["thinking"]))),
        Some("redacted_thinking") => Some((text(&block["data"]), String::new())),
        _ => None,
    });
    let given_out: Vec<(String, String)> = given_out.collect();
    if !given_out.is_empty() {
        let bound = prefix::bound_of(request);
        let before = last_thought(thoughts, request);
        thoughts.add(bound, before, given_out.iter().map(|(key, text)| (key.as_str(), text.as_str())));
    }
}

/// The number of the last block of thinking in a request that was given out.
fn last_thought(thoughts: &Thoughts, request: Json) -> Option<usize> {
    let blocks = request.field("messages").items().flat_map(|message| message.field("content").items());
    let number = |block: Json| {
        let key = match block.field("type").as_str()?.as_ref() {
            "thinking" => block.field("signature"),
            "redacted_thinking" => block.field("data"),
            _ => return None,
        };
        thoughts.find(&key.as_str()?).map(|(number, _)| number)
    };
    blocks.filter_map(number).last()
}

/// Claude Fable 5.1 was the first (<https://platform.claude.com/docs/build-with-claude/preserved-thinking>).
const FIRST_BOUND: ModelVersion = ModelVersion { major: 5, minor: 1 };

/// Whether a model looks at what stands before a block of thinking. "Claude Mythos 5.1 records the same signature but
/// doesn't run it" (<https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html>).
fn is_binding(model: &str) -> bool {
    !model.contains("mythos") && ModelVersion::of_claude(model).is_some_and(|version| version >= FIRST_BOUND)
}

/// The run of calls and results at the end of the history. Only its beginning needs thinking, since without
/// interleaving the model thinks once; so one thinking turn in the loop is enough.
struct ToolLoop {
    /// Whether a reply of it starts with thinking.
    thinks: bool,
    /// The first block of its last reply.
    last_reply: Option<Seen>,
}

impl<'a> Thinking<'a> {
    pub(super) fn new(memory: &'a Memory) -> Thinking<'a> {
        Thinking {
            memory,
            misplaced: Vec::new(),
            final_thoughts: Vec::new(),
            tool_loop: None,
            messages: Messages::default(),
            before_turn: 0,
            open: Vec::new(),
            latest: Vec::new(),
            seen: HashSet::new(),
            previous: None,
            bound: Vec::new(),
        }
    }

    /// A message begins.
    pub(super) fn begin(&mut self, role: Role) {
        if !self.memory.thoughts.is_empty() {
            if self.messages.speaker() != Some(role) {
                self.before_turn = self.messages.hash();
            }
            self.messages.begin(role);
        }
    }

    /// Takes a block of anybody.
    pub(super) fn block(&mut self, block: &Block<'_, 'a>) {
        if !self.memory.thoughts.is_empty() {
            self.messages.block(block);
        }
    }

    /// Takes a thinking block of the assistant, and the block before it in the same turn.
    pub(super) fn thought(&mut self, block: &Block<'_, 'a>, before: Option<Seen>, out: &mut Breaches) {
        let key = match block.kind {
            Kind::Thinking => block.get(Field::Signature),
            _ => block.json.get("data"),
        };
        if block.kind == Kind::Thinking && key.is_some_and(Json::is_empty_str) {
            return refuse_signature(block.place, out);
        }
        let Some(key) = key.and_then(Json::as_str).filter(|_| self.memory.is_whole()) else { return };
        let Some((number, thought)) = self.memory.thoughts.find(&key) else {
            // Nobody has shown what is said about redacted thinking of another provider.
            if block.kind == Kind::Thinking {
                refuse_signature(block.place, out);
            }
            return;
        };
        let is_altered = block.kind == Kind::Thinking
            && block.str(Field::Thinking).is_some_and(|text| text != thought.text.as_str());
        let last = self.open.last().map(|last| (last.reply, last.ordinal));
        let own = (thought.reply, thought.ordinal);
        let is_next = last == own.1.checked_sub(1).map(|ordinal| (own.0, ordinal));
        let is_joined = before.is_some_and(|before| before.kind.is_thought()) && !is_next;
        let is_copy = !self.seen.insert(number);
        self.open.push(Returned {
            place: block.place,
            reply: own.0,
            ordinal: own.1,
            is_altered,
            is_moved: is_copy || is_joined || last.is_some_and(|last| own < last),
        });
        // "It also fails if a thinking block between others was left out or moved"
        // (<https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks>): what is left out
        // before the first is not between others.
        let previous = self.previous.replace(number);
        let is_out_of_line = previous.is_some() && previous != thought.before;
        if let Some(bound) = thought.bound {
            let messages = self.before_turn;
            self.bound.push(BoundBlock { place: block.place, bound, messages, is_out_of_line });
        }
    }

    /// A reply is over; `before` is the turn before it.
    pub(super) fn reply(&mut self, turn: &Turn, before: Option<&Turn>, out: &mut Breaches) {
        let goes_on = before.is_some_and(|before| before.role == Role::User && !before.says_more);
        if !goes_on {
            // Of replies of the past only the signatures are looked at.
            for past in self.latest.drain(..).filter(|past| past.is_altered) {
                refuse_signature(past.place, out);
            }
        }
        self.latest.append(&mut self.open);
        if let Some(Seen { place, kind: Kind::Thinking }) = turn.last_block()
            && self.final_thoughts.len() < MAX_VIOLATIONS
        {
            self.final_thoughts.push(place);
        }
        let Some(first) = turn.first_block().filter(|first| !first.kind.is_thought()) else { return };
        if let (Some(_), Some(found)) = (turn.thought, first.kind.name())
            && self.misplaced.len() < MAX_VIOLATIONS
        {
            self.misplaced.push((first, found));
        }
    }

    /// The user has spoken after the turn before: with results the loop goes on, with anything else it is over.
    pub(super) fn user_spoke(&mut self, turn: &Turn, before: Option<&Turn>) {
        let answers = turn.first_block().is_some_and(|first| first.kind == Kind::ToolResult);
        let Some(reply) = before.filter(|before| answers && before.role == Role::Assistant) else {
            return self.loop_ends();
        };
        let first = reply.first_block();
        let tool_loop = self.tool_loop.get_or_insert(ToolLoop { thinks: false, last_reply: None });
        tool_loop.thinks |= first.is_none_or(|first| first.kind.is_thought());
        tool_loop.last_reply = first;
    }

    /// Something else than a call or a result has come.
    pub(super) fn loop_ends(&mut self) {
        self.tool_loop = None;
    }

    /// The conversation is over.
    pub(super) fn finish(&self, last: &Turn, body: Json, out: &mut Breaches) {
        self.check_unchanged(body, out);
        let thinking = body.field("thinking").field("type");
        if thinking.is("enabled") {
            self.check_tool_loop(last, out);
            for (seen, found) in &self.misplaced {
                out.add(&THINKING_NOT_FIRST, || {
                    let breach = Breach::at(seen.place.pointer()).with("path", seen.place.path());
                    breach.with("found", found)
                });
            }
            let choice = body.field("tool_choice").field("type");
            if choice.is("any") || choice.is("tool") {
                out.add(&THINKING_WITH_FORCED_TOOL, || Breach::at("/tool_choice"));
            }
        } else if thinking.is("disabled")
            && last.role == Role::Assistant
            && let Some(place) = last.thought
        {
            out.add(&THINKING_WHEN_DISABLED, || Breach::at(place.pointer()).with("path", place.path()));
        }
        if thinking.is_str() && !thinking.is("disabled") {
            for place in &self.final_thoughts {
                let n = place.message;
                out.add(&THINKING_LAST, || Breach::at(place.pointer()).with("path", format!("messages.{n}")));
            }
        }
        // Without the field, or adaptive, the model decides.
    }

    /// What the provider gave out comes back as it was.
    fn check_unchanged(&self, body: Json, out: &mut Breaches) {
        for changed in self.latest.iter().filter(|returned| returned.is_altered || returned.is_moved) {
            out.add(&THINKING_MODIFIED, || {
                Breach::at(changed.place.pointer()).with("path", changed.place.path())
            });
        }
        let model = body.field("model").as_str();
        let drops = body.field("thinking").field("block_binding").field("prefix_mismatch_behavior");
        if self.bound.is_empty() || drops.is("drop_block") || !model.is_some_and(|model| is_binding(&model)) {
            return;
        }
        let (system, tools) = prefix::around(body);
        for BoundBlock { place, bound, messages, is_out_of_line } in &self.bound {
            let form = match () {
                () if bound.system != system => 0,
                () if bound.tools != tools || bound.messages != *messages => 1,
                () if *is_out_of_line => 2,
                () => continue,
            };
            out.add(&THINKING_BOUND_ELSEWHERE, || {
                Breach::at(place.pointer()).form(form).with("path", place.path())
            });
        }
    }

    fn check_tool_loop(&self, last: &Turn, out: &mut Breaches) {
        let unthinking = self.tool_loop.as_ref().filter(|it| !it.thinks && last.role == Role::User);
        let Some(first) = unthinking.and_then(|it| it.last_reply) else { return };
        let Some(found) = first.kind.name() else { return };
        out.add(&THINKING_MISSING, || {
            Breach::at(first.place.pointer()).with("path", first.place.path()).with("found", found)
        });
    }
}

fn refuse_signature(place: Place, out: &mut Breaches) {
    out.add(&SIGNATURE_INVALID, || {
        Breach::at(format!("{}/signature", place.pointer())).with("path", place.path())
    });
}
