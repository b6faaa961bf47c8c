//! Tools that the provider runs itself. Their results are in the same reply.
//!
//! If a reply calls a server tool and a client tool at once, it continues after the client's results. A
//! user turn with only results therefore does not end it
//! (<https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>). Calls and results are
//! matched by id only, because the names of new tools and of their result blocks do not always match. MCP
//! has its own ids, and no rejection because of MCP pairs was seen.

use std::borrow::Cow;

use super::block::{AnthropicRole, BlockKind, BlockPosition, ContentBlock, Field};
use super::role_turn::RoleTurn;
use crate::json::Json;
use crate::{IdHashes, Ids, Occurrence, Rule, Violations};

/// The server tools of the current reply.
#[derive(Debug, Default)]
pub(super) struct ServerTools<'a> {
    ids: Ids<'a>,
    calls: Vec<ServerCall<'a>>,
    n_open: usize,
    /// The ids of all server tool calls in the conversation.
    known: IdHashes,
    /// The ids of the advisor calls without a result before the user spoke again. The provider rejects the late
    /// result. For a search it rejects the call.
    parted: IdHashes,
}

#[derive(Debug)]
struct ServerCall<'a> {
    place: BlockPosition,
    name: Cow<'a, str>,
    is_open: bool,
}

/// The only tool seen in a rejection because it was no longer offered.
const WEB_SEARCH: &str = "web_search";

/// The provider rejects a late result of this tool, in place of its call.
const ADVISOR: &str = "advisor";

impl<'a> ServerTools<'a> {
    pub(super) fn block(&mut self, block: &ContentBlock<'_, 'a>, out: &mut Violations) {
        match block.kind {
            BlockKind::ServerUse => self.call(block),
            BlockKind::ServerResult => self.result(block, out),
            _ => {}
        }
    }

    /// Ends a reply. Calls are kept only if one is still open.
    pub(super) fn reply_ends(&mut self) {
        if self.n_open == 0 {
            self.clear();
        }
    }

    /// Takes a user turn. Anything besides results ends the reply.
    pub(super) fn user_spoke(&mut self, turn: &RoleTurn, out: &mut Violations) {
        if !turn.says_more || self.calls.is_empty() {
            return;
        }
        for (id, call) in self.ids.iter().zip(&self.calls).filter(|(_, call)| call.is_open) {
            if call.name == ADVISOR {
                self.parted.insert(id);
            }
        }
        for (id, call) in self.open() {
            out.add(&SERVER_TOOL_RESULT_MISSING, || {
                let violation = Occurrence::at(call.place.pointer()).with("n", call.place.message);
                violation.with("tool", &call.name).with("id", id)
            });
        }
        self.clear();
    }

    /// Checks that an unfinished web search is still offered. Call it after the last message.
    pub(super) fn check_offered(&self, last: &RoleTurn, body: Json, out: &mut Violations) {
        if self.n_open == 0 || !matches!(last.role, AnthropicRole::Assistant | AnthropicRole::User) {
            return;
        }
        let is_search = |tool: Json| tool.field("name").is(WEB_SEARCH);
        let Some((id, call)) = self.open().find(|(_, call)| call.name == WEB_SEARCH) else { return };
        if !body.field("tools").items().any(is_search) {
            out.add(&SERVER_TOOL_NOT_OFFERED, || {
                let violation = Occurrence::at(call.place.pointer()).with("n", call.place.message);
                violation.with("tool", &call.name).with("id", id)
            });
        }
    }

    fn call(&mut self, block: &ContentBlock<'_, 'a>) {
        let Some(id) = block.str(Field::Id) else { return };
        self.known.insert(&id);
        if self.ids.insert(id).is_ok() {
            let name = block.str(Field::Name).unwrap_or_default();
            self.calls.push(ServerCall { place: block.place, name, is_open: true });
            self.n_open += 1;
        }
    }

    fn result(&mut self, block: &ContentBlock<'_, 'a>, out: &mut Violations) {
        let Some(tag) = block.str(Field::Type).filter(|tag| tag != "mcp_tool_result") else {
            return;
        };
        let Some(id) = block.str(Field::ToolUseId) else { return };
        if let Some(call) = self.ids.find(&id).map(|place| &mut self.calls[place]) {
            self.n_open -= usize::from(call.is_open);
            call.is_open = false;
        } else if !self.known.contains(&id) || self.parted.contains(&id) {
            out.add(&SERVER_TOOL_RESULT_ORPHAN, || {
                let violation = Occurrence::at(block.place.pointer()).with("path", block.place.path());
                violation.with("type", tag).with("id", id)
            });
        }
    }

    fn open(&self) -> impl Iterator<Item = (&str, &ServerCall<'a>)> {
        self.ids.iter().zip(&self.calls).filter(|(_, call)| call.is_open)
    }

    fn clear(&mut self) {
        self.ids.clear();
        self.calls.clear();
        self.n_open = 0;
    }
}

pub(crate) static SERVER_TOOL_RESULT_MISSING: Rule = Rule {
    summary: "A server tool has its result in the same reply once the user has continued the conversation.",
    why: "The stream ended between the call of a server tool and its result, or the user wrote something before the tool had run. Drop the call, or send only the results of the other tools first.",
    sentences: &[
        "messages.{n}: `{tool}` tool use with id `{id}` was found without a corresponding `{tool}_tool_result` block",
    ],
    sources: &["https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons"],
    ..Rule::measured("anthropic-messages/server-tool-result-missing", "ANT-SRV-1", 12, "2025-10")
};

pub(crate) static SERVER_TOOL_RESULT_ORPHAN: Rule = Rule {
    summary: "The result of a server tool comes after its call.",
    why: "The call of this server tool is missing, often because a compaction cut between the two \
         blocks of one reply. Keep both or drop both.",
    sentences: &[
        "{path}: unexpected `tool_use_id` found in `{type}` blocks: {id}. Each `{type}` block must have a corresponding `server_tool_use` block before it.",
    ],
    sources: &["https://github.com/anthropics/claude-code/issues/80439"],
    ..Rule::measured("anthropic-messages/server-tool-result-orphan", "ANT-SRV-2", 11, "2026-07")
};

/// "… but no `web_search` tool was provided": only the end of the error message is public
/// (<https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>).
pub(crate) static SERVER_TOOL_NOT_OFFERED: Rule = Rule {
    summary: "A search that the provider still has to run is among the offered tools.",
    why: "A reply that paused in a search is sent back to be continued, but the request no longer \
         offers the search. Offer the same tools as before.",
    sentences: &["messages.{n}: … but no `{tool}` tool was provided"],
    sources: &["https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons"],
    ..Rule::inferred("anthropic-messages/server-tool-not-offered", "ANT-SRV-4", 12, "2026-01")
};
