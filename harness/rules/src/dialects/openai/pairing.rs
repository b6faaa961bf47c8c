//! Every call has a tool message directly after it, and every tool message has a call.

use super::switches::TwinCalls;
use super::{ChatMessage, ChatRole};
use crate::{Ids, Occurrence, Rule, Violations};

#[derive(Debug)]
pub(super) struct ChatPairing<'a> {
    twin_calls: TwinCalls,
    is_open: bool,
    batch: CallBatch<'a>,
}

/// An assistant message with calls, and the tool messages directly after it.
#[derive(Debug, Default)]
struct CallBatch<'a> {
    /// The index of the assistant message.
    n: usize,
    ids: Ids<'a>,
    /// The calls with each id.
    calls: Vec<Calls>,
    n_answers: usize,
}

/// The calls with one id. There should be only one.
#[derive(Debug)]
struct Calls {
    /// The index of the first one.
    first: usize,
    /// The first message that answered.
    answer: Option<usize>,
    /// The number of answers still missing.
    n_open: usize,
}

impl<'a> ChatPairing<'a> {
    pub(super) fn new(twin_calls: TwinCalls) -> ChatPairing<'a> {
        ChatPairing { twin_calls, is_open: false, batch: CallBatch::default() }
    }

    pub(super) fn message(&mut self, said: ChatMessage<'_, 'a>, out: &mut Violations) {
        if said.role == Some(ChatRole::Tool) {
            if self.is_open {
                self.batch.answer(said, out)
            } else {
                refuse_orphan(said, out)
            }
            return;
        }
        self.finish(out);
        if said.calls().next().is_some() {
            self.is_open = true;
            self.batch.ask(said, self.twin_calls, out);
        }
    }

    pub(super) fn finish(&mut self, out: &mut Violations) {
        if std::mem::take(&mut self.is_open) {
            self.batch.check_all_answered(out);
        }
    }
}

fn refuse_orphan(said: ChatMessage<'_, '_>, out: &mut Violations) {
    out.add(&TOOL_MESSAGE_ORPHAN, || {
        let (n, id) = (said.n, said.tool_call_id.and_then(|id| id.as_str()).unwrap_or_default());
        Occurrence::at(format!("/messages/{n}")).param(format!("messages.[{n}].role")).with("id", id)
    });
}

impl<'a> CallBatch<'a> {
    fn ask(&mut self, said: ChatMessage<'_, 'a>, twin_calls: TwinCalls, out: &mut Violations) {
        let n = said.n;
        (self.n, self.n_answers) = (n, 0);
        self.ids.clear();
        self.calls.clear();
        for (k, call) in said.calls().enumerate() {
            let Some(id) = call.get("id").and_then(|id| id.as_str()) else { continue };
            match self.ids.insert(id) {
                Ok(_) => self.calls.push(Calls { first: k, answer: None, n_open: 1 }),
                Err(known) if twin_calls == TwinCalls::AnAnswerEach => self.calls[known].n_open += 1,
                Err(known) => out.add(&TOOL_CALL_ID_DUPLICATE, || {
                    Occurrence::at(format!("/messages/{n}/tool_calls/{k}/id"))
                        .param(format!("messages.[{n}].tool_calls"))
                        .with("id", self.ids.get(known))
                        .with("n", n)
                }),
            }
        }
    }

    fn answer(&mut self, said: ChatMessage<'_, 'a>, out: &mut Violations) {
        self.n_answers += 1;
        let n = said.n;
        let Some(id) = said.tool_call_id.and_then(|id| id.as_str()) else { return };
        let param = || format!("messages.[{n}].tool_call_id");
        let violation =
            || Occurrence::at(format!("/messages/{n}/tool_call_id")).param(param()).with("id", &id);
        match self.ids.find(&id).map(|place| &mut self.calls[place]) {
            None => out.add(&TOOL_MESSAGE_UNKNOWN_ID, violation),
            Some(Calls { n_open: 0, answer, .. }) => {
                let first = answer.unwrap_or(n);
                out.add(&TOOL_MESSAGE_DUPLICATE, || violation().with("first", first).with("n", n));
            }
            Some(calls) => {
                calls.n_open -= 1;
                calls.answer.get_or_insert(n);
            }
        }
    }

    fn check_all_answered(&self, out: &mut Violations) {
        let calls = || self.ids.iter().zip(&self.calls);
        let missing = || calls().filter(|(_, calls)| calls.n_open > 0);
        let Some((_, Calls { first, .. })) = missing().next() else { return };
        // The provider names the message in place of the missing answer. At the end, that is the index
        // after the last message.
        let place = self.n + 1 + self.n_answers;
        out.add(&TOOL_MESSAGE_MISSING, || {
            let ids: Vec<&str> = missing().map(|(id, _)| id).collect();
            Occurrence::at(format!("/messages/{}/tool_calls/{}", self.n, first))
                .param(format!("messages.[{place}].role"))
                .with("ids", ids.join(", "))
                .with("place", place)
        });
    }
}

pub(crate) static TOOL_MESSAGE_ORPHAN: Rule = Rule {
    summary: "Tool messages follow an assistant message with calls.",
    why: "The assistant message with the call is missing, or another message comes between, often \
         because trimming cut between the two. Keep both or drop both, and keep them together.",
    sentences: &[
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
         'tool_calls'.",
    ],
    sources: &[
        "https://github.com/sdcb/chats/pull/132",
        "https://github.com/run-llama/llama_index/issues/10493",
        "https://github.com/openai/openai-go/issues/43",
    ],
    ..Rule::measured("openai-chat/tool-message-orphan", "OAI-TM-1", 2, "2024-02")
};

pub(crate) static TOOL_MESSAGE_UNKNOWN_ID: Rule = Rule {
    summary: "A tool message answers a call of the assistant message before.",
    why: "The tool message names a call that the assistant message before it did not make. Correct the id, \
         or drop the message.",
    sentences: &[
        "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message.",
    ],
    sources: &["https://github.com/dapr/dapr-agents/issues/145"],
    ..Rule::observed("openai-chat/tool-message-unknown-id", "OAI-TM-2", 2, "2024-02")
};

pub(crate) static TOOL_MESSAGE_MISSING: Rule = Rule {
    summary: "Every call is answered by a tool message directly after.",
    why: "The turn ended before all tools of a batch had answered, and the calls without answer were \
         stored. Add a tool message that says what happened for each of them directly after, move one that \
         comes later there, or drop those calls.",
    sentences: &[
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
         'tool_call_id'. The following tool_call_ids did not have response messages: {ids}",
    ],
    sources: &["https://github.com/BerriAI/litellm/issues/10083", "https://github.com/sdcb/chats/pull/132"],
    ..Rule::measured("openai-chat/tool-message-missing", "OAI-TC-1", 2, "2024-02")
};

pub(crate) static TOOL_MESSAGE_DUPLICATE: Rule = Rule {
    summary: "A call has one tool message.",
    why: "Two tool messages answer the same call, often a real one and one that was made up when the turn \
         was stopped. Keep the real one; some endpoints refuse the second.",
    sentences: &[
        "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{first}] and \
         messages[{n}].",
    ],
    sources: &[
        "https://github.com/agno-agi/agno/issues/5116",
        "https://github.com/fatwang2/search2ai/issues/30",
    ],
    ..Rule::observed("openai-chat/tool-message-duplicate", "OAI-TM-3", 2, "2025-09")
};

pub(crate) static TOOL_CALL_ID_DUPLICATE: Rule = Rule {
    summary: "The calls of one message have different ids.",
    why: "Two calls of one message have the same id, so one result would answer both. Give one of \
         them another id; some endpoints refuse the message.",
    sentences: &["Duplicate value for 'tool_call_id' of {id} in message[{n}]"],
    sources: &["https://github.com/openclaw/openclaw/pull/47136"],
    ..Rule::inferred("openai-chat/tool-call-id-duplicate", "OAI-TC-3", 2, "2026-01")
};
