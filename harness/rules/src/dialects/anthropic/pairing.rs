//! The second phase, second half: every call has exactly one result directly after it, and every result
//! has a call.
//!
//! Only client tools are paired. The provider runs server tools itself, and their results are in the same
//! turn.

use std::borrow::Cow;
use std::ops::Range;

use super::block::{BlockKind, BlockPosition, ContentBlock, Field};
use crate::{IdHashes, Ids, Occurrence, Rule, Violations};

/// The calls of the last assistant turn, and their results in the user turn after it.
#[derive(Debug, Default)]
pub(super) struct ToolPairing<'a> {
    ids: Ids<'a>,
    /// For each id, the state of its result.
    answers: Vec<Answer>,
    calls: Vec<OpenCall>,
    /// Each text after calls, with the range of calls before it.
    interruptions: Vec<(BlockPosition, Range<usize>)>,
    /// The first call after the last such text.
    run_start: usize,
    /// The first message of the user turn.
    answering: Option<u32>,
    /// True after a block other than a result in the user turn.
    is_late: bool,
    /// Ids of results without a call.
    strays: Ids<'a>,
    /// The ids of all calls in the conversation.
    known: IdHashes,
}

#[derive(Debug)]
struct OpenCall {
    place: BlockPosition,
    /// The index of its id.
    id: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Missing,
    InPlace,
    TooLate,
}

impl<'a> ToolPairing<'a> {
    pub(super) fn call(&mut self, block: &ContentBlock<'_, 'a>, out: &mut Violations) {
        match block.kind {
            BlockKind::ToolUse => {}
            // Thinking and server tools may follow a call; interleaved thinking and mixed replies put them
            // there.
            BlockKind::Text(_) | BlockKind::Attachment if self.run_start < self.calls.len() => {
                self.interruptions.push((block.place, self.run_start..self.calls.len()));
                self.run_start = self.calls.len();
                return;
            }
            _ => return,
        }
        let Some(id) = block.str(Field::Id) else { return };
        let violation = || Occurrence::at(block.place.pointer()).with("path", block.place.path());
        let is_new = self.known.insert(&id);
        let id = match self.ids.insert(id) {
            Ok(id) => {
                self.answers.push(Answer::Missing);
                if !is_new {
                    // Only the hash of the id is stored, so a collision is possible, and this stays a
                    // warning.
                    out.warn(&TOOL_USE_ID_REUSED, violation);
                }
                id
            }
            Err(id) => {
                out.add(&TOOL_USE_ID_DUPLICATE, violation);
                id
            }
        };
        self.calls.push(OpenCall { place: block.place, id });
    }

    /// Begins the user turn with message `n`.
    pub(super) fn answers_begin(&mut self, n: usize) {
        self.answering = Some(n as u32);
        self.is_late = false;
    }

    pub(super) fn answer(&mut self, block: &ContentBlock<'_, 'a>, out: &mut Violations) {
        if block.kind != BlockKind::ToolResult {
            self.is_late = true;
            return;
        }
        let Some(id) = block.str(Field::ToolUseId) else { return };
        let violation =
            |id: &str| Occurrence::at(block.place.pointer()).with("path", block.place.path()).with("id", id);
        match self.ids.find(&id).map(|place| &mut self.answers[place]) {
            None => {
                out.add(&TOOL_RESULT_ORPHAN, || violation(&id));
                if self.strays.insert(Cow::clone(&id)).is_err() {
                    out.add(&TOOL_RESULT_DUPLICATE, || violation(&id));
                }
            }
            Some(answer @ Answer::Missing) if self.is_late => *answer = Answer::TooLate,
            Some(answer @ Answer::Missing) => *answer = Answer::InPlace,
            Some(_) => out.add(&TOOL_RESULT_DUPLICATE, || violation(&id)),
        }
    }

    /// Ends the pair of turns: checks that every call has a result at the beginning of the user turn, and
    /// that no text follows the calls.
    pub(super) fn close(&mut self, out: &mut Violations) {
        if self.calls.is_empty() && self.strays.iter().next().is_none() {
            self.answering = None;
            return;
        }
        if !self.calls.is_empty() {
            self.check_answers(out);
            for (place, run) in &self.interruptions {
                out.add(&TEXT_AFTER_TOOL_USE, || self.unanswered(*place, self.calls[run.clone()].iter()));
            }
        }
        self.ids.clear();
        self.answers.clear();
        self.calls.clear();
        self.interruptions.clear();
        self.run_start = 0;
        self.answering = None;
        self.strays.clear();
    }

    fn check_answers(&self, out: &mut Violations) {
        let missing = || self.calls.iter().filter(|call| self.answers[call.id] != Answer::InPlace);
        let Some(first) = missing().next() else { return };
        let rule = if missing().all(|call| self.answers[call.id] == Answer::TooLate) {
            &TOOL_RESULT_NOT_FIRST
        } else {
            &TOOL_RESULT_MISSING
        };
        out.add(rule, || self.unanswered(first.place, missing()));
    }

    /// Builds the occurrence for the error message that three rules share. Older profiles report the
    /// number of calls, and the message with the results.
    fn unanswered<'c>(&self, place: BlockPosition, calls: impl Iterator<Item = &'c OpenCall>) -> Occurrence {
        let ids: Vec<&str> = calls.map(|call| self.ids.get(call.id)).collect();
        let answering = self.answering.unwrap_or(place.message + 1);
        let violation = Occurrence::at(place.pointer()).with("n", place.message).with("answering", answering);
        violation.with("count", ids.len()).with("ids", ids.join(", "))
    }
}

pub(crate) static TOOL_USE_ID_DUPLICATE: Rule = Rule {
    summary: "The calls of one assistant turn have different ids.",
    why: "Two calls of one turn have the same id, often because a retry or a second writer stored the \
         reply twice. Drop the copy, or give one call and its result another id.",
    sentences: &["{path}: `tool_use` ids must be unique"],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/28515",
        "https://github.com/anthropics/claude-code/issues/21036",
        "https://github.com/BerriAI/litellm/issues/23510",
    ],
    ..Rule::measured("anthropic-messages/tool-use-id-duplicate", "ANT-TU-2", 8, "2026-01")
};

pub(crate) static TOOL_USE_ID_REUSED: Rule = Rule {
    summary: "Calls of different turns have different ids.",
    why: "A later turn uses the id of an earlier call again; several authors report a refusal, but models \
         that number their calls per turn work. Give every call of a thread its own id.",
    sentences: &["{path}: `tool_use` ids must be unique"],
    sources: &[
        "https://github.com/cortexkit/magic-context/issues/178",
        "https://github.com/sipeed/picoclaw/pull/2528",
    ],
    ..Rule::secondary("anthropic-messages/tool-use-id-reused", "ANT-TU-2b", 8, "2026-01")
};

pub(crate) static TOOL_RESULT_MISSING: Rule = Rule {
    summary: "Every call is answered in the next message.",
    why: "The turn ended before all tools of a batch had answered, and the calls without answer were \
         stored. Add a result that says what happened for each of them directly after, or drop those \
         calls.",
    sentences: &[UNANSWERED],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/3512",
        "https://github.com/anthropics/claude-code/issues/1686",
        "https://github.com/anthropics/claude-code/issues/12526",
    ],
    ..Rule::measured("anthropic-messages/tool-result-missing", "ANT-TU-1", 9, "2025-03")
};

pub(crate) static TEXT_AFTER_TOOL_USE: Rule = Rule {
    summary: "In an assistant turn, only calls follow the first call.",
    why: "Several steps were merged into one assistant message, so text comes between or after \
         calls. Split the message after each batch of calls, and put their results between.",
    sentences: &[UNANSWERED],
    sources: &[
        "https://github.com/anomalyco/opencode/pull/16751",
        "https://github.com/vercel/ai/pull/16312",
        "https://github.com/gotgenes/pi-anthropic-auth/issues/66",
    ],
    ..Rule::measured("anthropic-messages/text-after-tool-use", "ANT-TU-3", 9, "2026-03")
};

pub(crate) static TOOL_RESULT_NOT_FIRST: Rule = Rule {
    summary: "Results come before all other content of their message.",
    why: "Something else, such as text of the user, comes before a result in the message after the \
         calls. Move the results to the front.",
    sentences: &[UNANSWERED],
    sources: &[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "https://github.com/open-octo/octo-agent/pull/250",
    ],
    ..Rule::measured("anthropic-messages/tool-result-not-first", "ANT-TR-5", 9, "2026-01")
};

pub(crate) static TOOL_RESULT_DUPLICATE: Rule = Rule {
    summary: "A call has one result.",
    why: "Two results answer the same call, often a real one and one that was made up when the turn was \
         stopped. Keep the real one.",
    sentences: &[
        "{path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: \
         {id}",
    ],
    sources: &["https://github.com/sipeed/picoclaw/pull/1793"],
    ..Rule::observed("anthropic-messages/tool-result-duplicate", "ANT-TR-2", 10, "2025-01")
};

pub(crate) static TOOL_RESULT_ORPHAN: Rule = Rule {
    summary: "A result answers a call of the message before.",
    why: "The call of this result is missing, or further up, often because trimming or a compaction \
         cut between the two. Keep both or drop both.",
    sentences: &[
        "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block \
         must have a corresponding `tool_use` block in the previous message.",
    ],
    sources: &[
        "https://github.com/decocms/studio/issues/1803",
        "https://github.com/anthropics/claude-code/issues/13460",
        "https://github.com/anthropics/claude-code/issues/18947",
    ],
    looks_back: true,
    ..Rule::measured("anthropic-messages/tool-result-orphan", "ANT-TR-1", 11, "2025-11")
};

/// The error message that three rules share.
const UNANSWERED: &str = "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. \
         Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
