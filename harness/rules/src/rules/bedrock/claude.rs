//! What Claude refuses after Converse has let a conversation pass.
//!
//! Which model is asked may be known only at the end, so what is found is kept until then.

use std::borrow::Cow;

use super::super::Memory;
use super::super::profile::ModelVersion;
use super::super::violation::{Breach, Breaches};
use super::super::waiting::Waiting;
use super::super::{Rule, is_plain_name};
use super::table::*;
use super::{Kind, Message, Role};
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
    /// The calls of the last reply, with their places.
    calls: Vec<(usize, Cow<'a, str>)>,
    tool_loop: ToolLoop,
}

/// An assistant message.
#[derive(Debug, Clone, Copy)]
struct Reply {
    n: usize,
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
        let tool_loop = ToolLoop::default();
        Claude { memory, found: Waiting::new(), reply: None, calls: Vec::new(), tool_loop }
    }

    /// Takes the next message.
    pub(super) fn message(&mut self, message: Message<'_, '_, 'a>) {
        self.check_ids(message);
        let reply = self.reply.take();
        match message.role {
            Some(Role::User) => {
                self.tool_loop.go_on(reply, message);
                if let Some(reply) = reply {
                    self.check_results_first(reply.n, message);
                }
            }
            Some(Role::Assistant) => {
                self.check_signatures(message);
                self.take_calls(message);
                self.reply = Some(Reply::of(message));
            }
            None => {}
        }
    }

    /// Says what Claude of this version has against the conversation.
    pub(super) fn finish(&mut self, body: Json, version: Option<ModelVersion>, out: &mut Breaches) {
        for (_, (rule, breach)) in self.found.take() {
            out.add(rule, || breach);
        }
        if let Some(reply) = self.reply {
            return self.check_last(reply, version, out);
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

    fn check_ids(&mut self, message: Message<'_, '_, 'a>) {
        let n = message.n;
        for (b, block) in message.blocks.iter().enumerate() {
            let (kind, tag, field) = match block.kind {
                Kind::ToolUse => ("toolUse", "tool_use", "id"),
                Kind::ToolResult => ("toolResult", "tool_result", "tool_use_id"),
                _ => continue,
            };
            let Some(id) = message.id(block) else { continue };
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
    fn check_signatures(&mut self, message: Message<'_, '_, 'a>) {
        let n = message.n;
        for (b, block) in message.blocks.iter().enumerate().filter(|(_, block)| block.kind == Kind::Reasoning)
        {
            let thought = message.value(block).and_then(|reasoning| reasoning.get("reasoningText"));
            let Some(thought) = thought.filter(|thought| thought.is_object()) else { continue };
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

    /// Notes the calls of a reply. Text may not follow a call; thinking and the tools of the model may.
    fn take_calls(&mut self, message: Message<'_, '_, 'a>) {
        let n = message.n;
        self.calls.clear();
        let mut run_start = 0;
        for (b, block) in message.blocks.iter().enumerate() {
            match block.kind {
                Kind::ToolUse => self.calls.extend(message.id(block).map(|id| (b, id))),
                Kind::Text if run_start < self.calls.len() => {
                    let ids = joined(&self.calls[run_start..]);
                    run_start = self.calls.len();
                    self.note(&MODEL_TEXT_AFTER_TOOL_USE, || {
                        Breach::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
                    });
                }
                _ => {}
            }
        }
    }

    /// Results that come after other content are not seen. Those that are missing are Converse's business.
    fn check_results_first(&mut self, reply: usize, message: Message<'_, '_, 'a>) {
        let mut is_leading = true;
        let mut late = Vec::new();
        for block in message.blocks {
            match block.kind {
                Kind::ToolResult if !is_leading => late.extend(message.id(block)),
                Kind::ToolResult | Kind::CachePoint => {}
                _ => is_leading = false,
            }
        }
        if late.is_empty() {
            return;
        }
        late.sort_unstable();
        let is_late = |(_, id): &&(usize, Cow<'a, str>)| late.binary_search(id).is_ok();
        let late: Vec<(usize, Cow<str>)> = self.calls.iter().filter(is_late).cloned().collect();
        if !late.is_empty() {
            self.note(&MODEL_TOOL_RESULT_NOT_FIRST, || unanswered(reply, &late));
        }
    }

    /// Checks that the model can go on from the last reply.
    fn check_last(&self, reply: Reply, version: Option<ModelVersion>, out: &mut Breaches) {
        let n = reply.n;
        if !self.calls.is_empty() {
            out.add(&MODEL_TOOL_RESULT_MISSING, || unanswered(n, &self.calls));
        }
        match version {
            None => {}
            // A reply that paused in a tool of the model is sent back as it is, to be continued.
            Some(_) if reply.is_paused => {}
            Some(version) if version >= FIRST_WITHOUT_PREFILL => {
                out.add(&MODEL_PREFILL, || Breach::at(format!("/messages/{n}")));
            }
            Some(_) => {
                if let Some(b) = reply.ragged_end {
                    out.add(&MODEL_TRAILING_SPACE, || Breach::at(format!("/messages/{n}/content/{b}/text")));
                }
            }
        }
    }
}

impl Reply {
    fn of(message: Message<'_, '_, '_>) -> Reply {
        let begins = match message.blocks.first().map(|block| block.kind) {
            Some(Kind::Text) => Beginning::Named("text"),
            Some(Kind::ToolUse) => Beginning::Named("tool_use"),
            Some(Kind::Reasoning) => Beginning::Thinking,
            _ => Beginning::Other,
        };
        let last = message.blocks.last();
        let text = last.filter(|last| last.kind == Kind::Text).and_then(|last| message.value(last));
        Reply {
            n: message.n,
            begins,
            ragged_end: text.filter(|text| text.ends_blank()).map(|_| message.blocks.len() - 1),
            is_paused: last.is_some_and(|last| matches!(last.kind, Kind::Server | Kind::Other)),
        }
    }
}

impl ToolLoop {
    /// A tool loop goes on with a user message that answers the calls of the reply before. One thinking reply in it
    /// is enough: without interleaving the model thinks once.
    fn go_on(&mut self, reply: Option<Reply>, message: Message<'_, '_, '_>) {
        let answers = message.blocks.first().is_some_and(|first| first.kind == Kind::ToolResult);
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
fn unanswered(n: usize, calls: &[(usize, Cow<str>)]) -> Breach {
    let b = calls.first().map_or(0, |(b, _)| *b);
    Breach::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", joined(calls))
}

fn joined(calls: &[(usize, Cow<str>)]) -> String {
    calls.iter().map(|(_, id)| id.as_ref()).collect::<Vec<&str>>().join(", ")
}
