//! What Claude refuses after Converse has let a conversation pass.
//!
//! Which model is asked may be known only at the end, so what is found is kept until then.

use super::super::Memory;
use super::super::profile::ModelVersion;
use super::super::violation::{Breach, Breaches};
use super::super::waiting::Waiting;
use super::super::{Rule, is_plain_name};
use super::table::*;
use super::{Block, Role, blocks};
use crate::json::Json;

/// Opus and Sonnet 4.6 were the first to refuse a prefill; every 4.5 still takes one.
const FIRST_WITHOUT_PREFILL: ModelVersion = ModelVersion { major: 4, minor: 6 };

/// A conversation as Claude sees it.
#[derive(Debug)]
pub(super) struct Claude<'a> {
    memory: &'a Memory,
    /// What is wrong if the model is Claude, by the id of the rule.
    found: Waiting<&'static str, (&'static Rule, Breach)>,
    /// The message before, if it is the assistant's.
    reply: Option<Reply>,
    tool_loop: ToolLoop,
}

/// An assistant message.
#[derive(Debug)]
struct Reply {
    n: usize,
    /// Its calls, with their places.
    calls: Vec<(usize, String)>,
    begins: Beginning,
    /// The place of its last block, if that is a text that ends with white space.
    ragged_end: Option<usize>,
    /// Whether it ends with a tool of the model, or with something that is not known: then it may be continued.
    is_paused: bool,
}

/// How a reply begins.
#[derive(Debug, Clone, Copy)]
enum Beginning {
    Thinking,
    /// With a block that refusals were seen to name.
    Named(&'static str),
    Other,
}

/// The run of calls and results at the end of the history.
#[derive(Debug, Default)]
struct ToolLoop {
    has_thinking: bool,
    /// Its last reply that begins with something else.
    unthinking: Option<(usize, &'static str)>,
}

impl<'a> Claude<'a> {
    pub(super) fn new(memory: &'a Memory) -> Claude<'a> {
        Claude { memory, found: Waiting::new(), reply: None, tool_loop: ToolLoop::default() }
    }

    /// Takes the next message.
    pub(super) fn message(&mut self, n: usize, role: Option<Role>, message: Json) {
        self.check_ids(n, message);
        let reply = self.reply.take();
        match role {
            Some(Role::User) => {
                self.tool_loop.go_on(reply.as_ref(), message);
                if let Some(reply) = reply {
                    self.check_results_first(&reply, message);
                }
            }
            Some(Role::Assistant) => {
                self.check_signatures(n, message);
                self.check_nothing_follows(n, message);
                self.reply = Some(Reply::of(n, message));
            }
            None => {}
        }
    }

    /// Says what Claude of this version has against the conversation.
    pub(super) fn finish(&mut self, body: Json, version: Option<ModelVersion>, out: &mut Breaches) {
        for (_, (rule, breach)) in self.found.take() {
            out.add(rule, || breach);
        }
        if let Some(reply) = &self.reply {
            return reply.check_as_last(version, out);
        }
        let thinking = body.field("additionalModelRequestFields").field("thinking");
        if thinking.field("type").is("enabled")
            && let ToolLoop { has_thinking: false, unthinking: Some((n, found)) } = self.tool_loop
        {
            out.add(&MODEL_THINKING_MISSING, || {
                let breach = Breach::at(format!("/messages/{n}/content/0")).with("n", n).with("b", 0);
                breach.with("found", found)
            });
        }
    }

    fn note(&mut self, rule: &'static Rule, breach: impl FnOnce() -> Breach) {
        self.found.push(rule.id, || (rule, breach()));
    }

    fn check_ids(&mut self, n: usize, message: Json) {
        for (b, block) in blocks(message).enumerate() {
            let (kind, tag, field, block) = match block {
                Block::ToolUse(call) => ("toolUse", "tool_use", "id", call),
                Block::ToolResult(result) => ("toolResult", "tool_result", "tool_use_id", result),
                _ => continue,
            };
            let Some(id) = block.field("toolUseId").as_str() else { continue };
            // An empty id does not reach the model.
            if !id.is_empty() && !is_plain_name(&id) {
                self.note(&MODEL_TOOL_ID_PATTERN, || {
                    Breach::at(format!("/messages/{n}/content/{b}/{kind}/toolUseId"))
                        .with("path", format!("messages.{n}.content.{b}.{tag}.{field}"))
                });
            }
        }
    }

    /// What the model thought is signed; a provider that remembers what it gave out takes nothing else.
    fn check_signatures(&mut self, n: usize, message: Json) {
        for (b, block) in blocks(message).enumerate() {
            let Block::Reasoning(reasoning) = block else { continue };
            let thought = reasoning.field("reasoningText");
            if !thought.is_object() {
                continue;
            }
            let signature = thought.field("signature").as_str().filter(|signature| !signature.is_empty());
            let is_foreign = |signature: &str| {
                let known = self.memory.thoughts.find(signature);
                let is_it = known.is_some_and(|(_, known)| thought.field("text").is(&known.text));
                self.memory.is_whole() && !is_it
            };
            let form = match signature {
                None => 1,
                Some(signature) if is_foreign(&signature) => 0,
                Some(_) => continue,
            };
            self.note(&MODEL_SIGNATURE_INVALID, || {
                let breach = Breach::at(format!("/messages/{n}/content/{b}/reasoningContent/reasoningText"));
                breach.form(form).with("n", n).with("b", b)
            });
        }
    }

    /// Text may not follow a call. Thinking and the tools of the model may.
    fn check_nothing_follows(&mut self, n: usize, message: Json) {
        let mut run: Vec<String> = Vec::new();
        for (b, block) in blocks(message).enumerate() {
            match block {
                Block::ToolUse(call) => run.extend(id_of(call)),
                Block::Text(_) if !run.is_empty() => {
                    let ids = std::mem::take(&mut run).join(", ");
                    self.note(&MODEL_TEXT_AFTER_TOOL_USE, || {
                        Breach::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
                    });
                }
                _ => {}
            }
        }
    }

    /// Results that come after other content are not seen. Those that are missing are Converse's business.
    fn check_results_first(&mut self, reply: &Reply, message: Json) {
        let mut is_leading = true;
        let mut late = Vec::new();
        for block in blocks(message) {
            match block {
                Block::ToolResult(result) if !is_leading => late.extend(id_of(result)),
                Block::ToolResult(_) | Block::CachePoint => {}
                _ => is_leading = false,
            }
        }
        late.sort_unstable();
        let is_late = |id: &String| late.binary_search(id).is_ok();
        let late: Vec<_> = reply.calls.iter().filter(|(_, id)| is_late(id)).collect();
        let Some((b, _)) = late.first() else { return };
        let ids: Vec<&str> = late.iter().map(|(_, id)| id.as_str()).collect();
        self.note(&MODEL_TOOL_RESULT_NOT_FIRST, || unanswered(reply.n, *b, &ids));
    }
}

impl Reply {
    fn of(n: usize, message: Json) -> Reply {
        let mut reply =
            Reply { n, calls: Vec::new(), begins: Beginning::Other, ragged_end: None, is_paused: false };
        for (b, block) in blocks(message).enumerate() {
            let beginning = match block {
                Block::Text(_) => Beginning::Named("text"),
                Block::ToolUse(_) => Beginning::Named("tool_use"),
                Block::Reasoning(_) => Beginning::Thinking,
                _ => Beginning::Other,
            };
            if b == 0 {
                reply.begins = beginning;
            }
            reply.ragged_end = None;
            reply.is_paused = matches!(block, Block::Server | Block::Other);
            match block {
                Block::ToolUse(call) => reply.calls.extend(id_of(call).map(|id| (b, id))),
                Block::Text(text)
                    if text.as_str().is_some_and(|text| text.ends_with(char::is_whitespace)) =>
                {
                    reply.ragged_end = Some(b);
                }
                _ => {}
            }
        }
        reply
    }

    /// Checks that the model can go on from this reply.
    fn check_as_last(&self, version: Option<ModelVersion>, out: &mut Breaches) {
        let n = self.n;
        if let Some((b, _)) = self.calls.first() {
            out.add(&MODEL_TOOL_RESULT_MISSING, || {
                unanswered(n, *b, &self.calls.iter().map(|(_, id)| id.as_str()).collect::<Vec<_>>())
            });
        }
        match version {
            None => {}
            // A reply that paused in a tool of the model is sent back as it is, to be continued.
            Some(_) if self.is_paused => {}
            Some(version) if version >= FIRST_WITHOUT_PREFILL => {
                out.add(&MODEL_PREFILL, || Breach::at(format!("/messages/{n}")));
            }
            Some(_) => {
                if let Some(b) = self.ragged_end {
                    out.add(&MODEL_TRAILING_SPACE, || Breach::at(format!("/messages/{n}/content/{b}/text")));
                }
            }
        }
    }
}

impl ToolLoop {
    /// A tool loop goes on with a user message that answers the calls of the reply before. One thinking reply in it
    /// is enough: without interleaving the model thinks once.
    fn go_on(&mut self, reply: Option<&Reply>, message: Json) {
        let answers = matches!(blocks(message).next(), Some(Block::ToolResult(_)));
        let Some(reply) = reply.filter(|_| answers) else {
            *self = ToolLoop::default();
            return;
        };
        match reply.begins {
            Beginning::Thinking => self.has_thinking = true,
            Beginning::Named(found) => self.unthinking = Some((reply.n, found)),
            Beginning::Other => self.unthinking = None,
        }
    }
}

/// The sentence that three rules share.
fn unanswered(n: usize, b: usize, ids: &[&str]) -> Breach {
    Breach::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids.join(", "))
}

fn id_of(block: Json) -> Option<String> {
    block.field("toolUseId").as_str().map(|id| id.into_owned())
}
