//! Turns and calls: every call has its result in the next message, and user and assistant alternate.

use hashbrown::HashSet;

use super::{ConverseBlock, ConverseKind, ConverseMessage, ConverseRole, Model, Served};
use crate::json::Json;
use crate::{Ability, Ids, MAX_VIOLATIONS, Occurrence, Rule, Violations};

/// The facts that the next message is checked against.
#[derive(Debug, Default)]
pub(super) struct ConversePairing<'a> {
    role: Option<ConverseRole>,
    /// The calls of the previous message, and their block indexes.
    calls: Ids<'a>,
    places: Vec<usize>,
    /// Calls of the model's own tools in the previous message.
    server_calls: Ids<'a>,
    /// The results of the current message.
    results: Ids<'a>,
    /// The first block with a call or a result.
    first_tool_block: Option<(usize, usize)>,
    /// Messages with the same role as the previous one, up to the maximum that is reported.
    repeating: Vec<usize>,
}

impl<'a> ConversePairing<'a> {
    pub(super) fn message(&mut self, message: ConverseMessage<'_, '_, 'a>, out: &mut Violations) {
        let (n, role) = (message.n, message.role);
        if role.is_some() && self.role == role && self.repeating.len() < MAX_VIOLATIONS {
            self.repeating.push(n);
        }
        self.take_results(message, out);
        self.check_results(n, out);
        self.role = role;
        self.take_calls(message, out);
    }

    /// Runs the checks that need the fields around the messages.
    ///
    /// The last message may end with calls: no rejection is known before the request reaches the model.
    pub(super) fn finish(&self, served: Served<'_>, model: Model, body: Json, out: &mut Violations) {
        let may_repeat = served.has(Ability::SuccessiveRoles) == Some(true);
        for n in self.repeating.iter().filter(|_| !may_repeat) {
            let violation = || Occurrence::at(format!("/messages/{n}"));
            match model {
                Model::Claude(_) | Model::Meta => out.add(&ROLES_NOT_ALTERNATING, violation),
                // Amazon's own models accept it, and nothing is known about the others.
                Model::Amazon | Model::Other | Model::Unknown => out.warn(&ROLES_NOT_ALTERNATING, violation),
            }
        }
        if let Some((n, b)) = self.first_tool_block
            && !body.field("toolConfig").is_object()
        {
            out.add(&TOOL_CONFIG_MISSING, || Occurrence::at(format!("/messages/{n}/content/{b}")));
        }
    }

    /// Records the results in a message, each id once. Repeated results are reported.
    fn take_results(&mut self, message: ConverseMessage<'_, '_, 'a>, out: &mut Violations) {
        self.results.clear();
        let (n, mut twice) = (message.n, Twice::default());
        for (b, block) in
            message.blocks.iter().enumerate().filter(|(_, block)| block.kind == ConverseKind::ToolResult)
        {
            let id = message.id(block).filter(|_| message.role == Some(ConverseRole::User));
            if id.as_ref().is_some_and(|id| self.is_of_server(block, id)) {
                continue;
            }
            self.first_tool_block.get_or_insert((n, b));
            let Some(id) = id else { continue };
            if let Err(known) = self.results.insert(id) {
                twice.take(b, known);
            }
        }
        if let Some((b, ids)) = twice.found(&self.results) {
            out.add(&TOOL_RESULT_DUPLICATE, || {
                Occurrence::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
            });
        }
    }

    /// Returns whether a result in a user message belongs to one of the model's own tools. The provider's
    /// response to that is unknown.
    fn is_of_server(&self, block: &ConverseBlock, id: &str) -> bool {
        self.server_calls.find(id).is_some() || (block.is_typed && self.calls.find(id).is_none())
    }

    fn check_results(&self, n: usize, out: &mut Violations) {
        let results = &self.results;
        if results.len() > self.calls.len() {
            out.add(&TOOL_RESULTS_EXCEED, || Occurrence::at(format!("/messages/{n}/content")).with("n", n));
        }
        let missing = || self.calls.iter().zip(&self.places).filter(|(id, _)| results.find(id).is_none());
        let Some((_, b)) = missing().next() else { return };
        out.add(&TOOL_RESULT_MISSING, || {
            let ids: Vec<&str> = missing().map(|(id, _)| id).collect();
            let violation = Occurrence::at(format!("/messages/{}/content/{b}", n.saturating_sub(1)));
            violation.with("n", n).with("ids", ids.join(", "))
        });
    }

    fn take_calls(&mut self, message: ConverseMessage<'_, '_, 'a>, out: &mut Violations) {
        self.calls.clear();
        self.places.clear();
        self.server_calls.clear();
        let (n, mut twice) = (message.n, Twice::default());
        for (b, block) in message.blocks.iter().enumerate() {
            match block.kind {
                ConverseKind::ToolUse => {}
                ConverseKind::ServerUse => {
                    // A repeated id is already known.
                    if let Some(id) = message.id(block) {
                        _ = self.server_calls.insert(id);
                    }
                    continue;
                }
                _ => continue,
            }
            self.first_tool_block.get_or_insert((n, b));
            let Some(id) = message.id(block).filter(|_| message.role == Some(ConverseRole::Assistant)) else {
                continue;
            };
            match self.calls.insert(id) {
                Ok(_) => self.places.push(b),
                Err(known) => twice.take(b, known),
            }
        }
        if let Some((b, ids)) = twice.found(&self.calls) {
            out.add(&TOOL_USE_ID_DUPLICATE, || {
                Occurrence::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
            });
        }
    }
}

/// Repeated ids in a message, as indexes into all of its ids.
#[derive(Debug, Default)]
struct Twice {
    ids: Vec<usize>,
    first: Option<usize>,
}

impl Twice {
    /// Records a repetition in block `b`.
    fn take(&mut self, b: usize, id: usize) {
        self.first.get_or_insert(b);
        self.ids.push(id);
    }

    /// Returns the block of the first repetition, and the repeated ids in order, without duplicates.
    fn found(self, all: &Ids<'_>) -> Option<(usize, String)> {
        let first = self.first?;
        let mut named = HashSet::new();
        let ids: Vec<&str> =
            self.ids.into_iter().filter(|id| named.insert(*id)).map(|id| all.get(id)).collect();
        Some((first, ids.join(", ")))
    }
}

pub(crate) static TOOL_CONFIG_MISSING: Rule = Rule {
    summary: "A history with calls or results comes with a `toolConfig`.",
    why: "Tools were switched off for this request, but the history still has calls. Keep offering \
         the tools, or turn calls and results into text.",
    sentences: &["The toolConfig field must be defined when using toolUse and toolResult content blocks."],
    sources: &[
        "https://github.com/langgenius/dify/issues/17545",
        "https://github.com/onyx-dot-app/onyx/issues/7842",
        "https://github.com/vxcontrol/pentagi/issues/160",
    ],
    ..Rule::measured("bedrock-converse/tool-config-missing", "BDR-TOOLS-1", 4, "2024-06")
};

pub(crate) static TOOL_USE_ID_DUPLICATE: Rule = Rule {
    summary: "The calls of one message have different ids.",
    why: "Two calls of one message have the same id, often because a reply was merged with its \
         retry. Drop one of them, or give it another id.",
    sentences: &["The toolUse blocks at messages.{n}.content contain duplicate Ids: {ids}"],
    sources: &[
        "https://github.com/bvcyber/Cyber-AutoAgent-ng/issues/72",
        "https://github.com/BerriAI/litellm/pull/20049",
    ],
    ..Rule::observed("bedrock-converse/tool-use-id-duplicate", "BDR-TU-2", 5, "2026-01")
};

pub(crate) static TOOL_RESULT_DUPLICATE: Rule = Rule {
    summary: "A call has one result.",
    why: "Two results answer the same call, often a real one and one that was made up when the turn \
         was stopped. Keep the real one.",
    sentences: &["The toolResult blocks at messages.{n}.content contain duplicate Ids: {ids}"],
    sources: &[
        "https://github.com/BerriAI/litellm/issues/20047",
        "https://github.com/kirodotdev/Kiro/issues/9355",
    ],
    ..Rule::measured("bedrock-converse/tool-result-duplicate", "BDR-TR-3", 5, "2026-01")
};

pub(crate) static TOOL_RESULTS_EXCEED: Rule = Rule {
    summary: "A message has no more results than the message before has calls.",
    why: "The message with the calls is missing, or lost one of them, often because trimming or \
         pruning cut between calls and results. Keep both or drop both.",
    sentences: &["The number of toolResult blocks at messages.{n}.content exceeds the number of toolUse \
         blocks of previous turn."],
    sources: &[
        "https://github.com/strands-agents/harness-sdk/issues/1435",
        "https://github.com/Just-Curieous/Curie/issues/16",
        "https://github.com/pydantic/pydantic-ai/issues/2327",
    ],
    ..Rule::measured("bedrock-converse/tool-results-exceed", "BDR-TR-1", 6, "2025-03")
};

pub(crate) static TOOL_RESULT_MISSING: Rule = Rule {
    summary: "Every call is answered in the next message.",
    why: "The turn ended before all tools of a batch had answered, and the calls without answer were \
         stored. Add a result that says what happened for each of them to the next message, or drop \
         those calls.",
    sentences: &["Expected toolResult blocks at messages.{n}.content for the following Ids: {ids}"],
    sources: &[
        "https://github.com/camel-ai/camel/issues/3954",
        "https://github.com/zeroclaw-labs/zeroclaw/pull/1476",
        "https://github.com/NousResearch/hermes-agent/issues/108584",
        "https://github.com/anomalyco/opencode/pull/41780",
        "https://github.com/crewAIInc/crewAI/pull/4772",
    ],
    ..Rule::measured("bedrock-converse/tool-result-missing", "BDR-TU-1", 6, "2025-03")
};

/// If results are split over several messages, the error names the missing ones: "Expected toolResult
/// blocks at messages.2.content" was the message of Nova Micro in August 2026
/// (<https://github.com/anomalyco/opencode/pull/41780>), and of other models before. So this check comes
/// after the pairing.
pub(crate) static ROLES_NOT_ALTERNATING: Rule = Rule {
    summary: "For Claude and Llama, user and assistant messages alternate.",
    why: "Two messages of the same role follow each other: results and then a prompt, or a prompt \
         without a reply and then another. Bedrock does not merge them: put their blocks into one \
         message.",
    sentences: &[
        "A conversation must alternate between user and assistant roles. Make sure the conversation \
         alternates between user and assistant roles and try again.",
    ],
    sources: &[
        "https://github.com/langchain-ai/langchain-aws/issues/130",
        "https://github.com/microsoft/semantic-kernel/issues/10281",
        "https://github.com/cline/cline/issues/431",
        "https://github.com/langchain-ai/langchainjs/issues/6724",
        "https://github.com/strands-agents/harness-sdk/pull/1240",
    ],
    ..Rule::measured("bedrock-converse/roles-not-alternating", "BDR-ROLE-2", 7, "2024-08")
};
