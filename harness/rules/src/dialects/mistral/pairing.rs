//! Matching calls and results.
//!
//! The validator checks at the next assistant message and at the end. A user message between a call and
//! its result is left to the role order rules. The first message is skipped.

use super::switches::{FirstMessage, MistralSwitches, PairingMode};
use super::{MESSAGE_ORDER, MistralMessage, MistralRole};
use crate::dialects::mistral::VALIDATOR;
use crate::json::Json;
use crate::{Ids, Occurrence, Rule, Violations};

#[derive(Debug)]
pub(super) struct Batches<'a> {
    pairing: PairingMode,
    first_message: FirstMessage,
    /// True if results are not checked before the next assistant message.
    is_forgiven: bool,
    batch: MistralBatch<'a>,
}

/// The calls of the last assistant message, and the results since.
#[derive(Debug, Default)]
struct MistralBatch<'a> {
    /// The index of the assistant message.
    n: usize,
    n_calls: usize,
    n_results: usize,
    /// The first result without a call.
    surplus: Option<usize>,
    /// The distinct ids of the calls; `answered` tells which have a result. Used only if ids are compared.
    ids: Ids<'a>,
    answered: Vec<bool>,
}

impl<'a> Batches<'a> {
    pub(super) fn new(switches: &MistralSwitches) -> Batches<'a> {
        Batches {
            pairing: switches.pairing,
            first_message: switches.first_message,
            is_forgiven: false,
            batch: MistralBatch::default(),
        }
    }

    pub(super) fn message(&mut self, said: MistralMessage<'_, 'a>, out: &mut Violations) {
        if said.n == 0 {
            let begins_within = said.role == Some(MistralRole::Tool) || said.calls().next().is_some();
            self.is_forgiven = begins_within && self.first_message == FirstMessage::Forgiven;
            return;
        }
        match said.role {
            Some(MistralRole::Assistant) => {
                self.finish(out);
                self.is_forgiven = false;
                self.batch.ask(self.pairing, said, out);
            }
            Some(MistralRole::Tool) if !self.is_forgiven => self.batch.answer(self.pairing, said, out),
            _ => {}
        }
    }

    pub(super) fn finish(&self, out: &mut Violations) {
        let MistralBatch { n, n_calls, n_results, surplus, .. } = self.batch;
        if n_calls != n_results {
            let pointer = match surplus {
                Some(result) => format!("/messages/{result}"),
                None => format!("/messages/{n}/tool_calls"),
            };
            out.add(&CALL_AND_RESULT_COUNTS, || Occurrence::at(pointer).code(MESSAGE_ORDER));
        }
    }
}

impl<'a> MistralBatch<'a> {
    fn ask(&mut self, pairing: PairingMode, said: MistralMessage<'_, 'a>, out: &mut Violations) {
        let n = said.n;
        (self.n, self.n_calls, self.n_results, self.surplus) = (n, 0, 0, None);
        self.ids.clear();
        self.answered.clear();
        for (k, call) in said.calls().enumerate() {
            if pairing == PairingMode::ByCount {
                self.n_calls += 1;
                continue;
            }
            match self.ids.insert(call.called()) {
                Ok(_) => self.answered.push(false),
                Err(_) => out.add(&CALL_ID_DUPLICATE, || {
                    let pointer = match call.id {
                        Some(_) => format!("/messages/{n}/tool_calls/{k}/id"),
                        None => format!("/messages/{n}/tool_calls/{k}"),
                    };
                    Occurrence::at(pointer).code(MESSAGE_ORDER).with("id", call.called())
                }),
            }
            self.n_calls = self.ids.len();
        }
    }

    fn answer(&mut self, pairing: PairingMode, said: MistralMessage<'_, 'a>, out: &mut Violations) {
        let n = said.n;
        if pairing == PairingMode::ByCount {
            self.n_results += 1;
            if self.n_results > self.n_calls {
                self.surplus.get_or_insert(n);
            }
            return;
        }
        let id = said.tool_call_id.and_then(Json::as_str);
        let violation = || {
            let pointer = match said.tool_call_id {
                Some(_) => format!("/messages/{n}/tool_call_id"),
                None => format!("/messages/{n}"),
            };
            // The validator prints a missing id as Python's `None`.
            Occurrence::at(pointer).code(MESSAGE_ORDER).with("id", id.as_deref().unwrap_or("None"))
        };
        let place = id.as_deref().and_then(|id| self.ids.find(id));
        match place.map(|place| &mut self.answered[place]) {
            None => out.add(&RESULT_ID_UNKNOWN, violation),
            Some(true) => out.add(&RESULT_ID_DUPLICATE, violation),
            Some(answered) => {
                *answered = true;
                self.n_results += 1;
            }
        }
    }
}

pub(crate) static CALL_AND_RESULT_COUNTS: Rule = Rule {
    summary: "There are as many results as calls before the next reply.",
    why: "The turn ended before all tools of a batch had answered, or a result was stored twice or without its \
          call. Add a tool message that says what happened for each call without one, or drop what has no \
          counterpart.",
    sentences: &["Not the same number of function calls and responses"],
    sources: &[
        "https://github.com/mistralai/client-ts/issues/106",
        "https://github.com/partITech/php-mistral/issues/57",
        "https://github.com/NousResearch/hermes-agent/pull/11722",
        VALIDATOR,
    ],
    ..Rule::measured("mistral/call-and-result-counts", "MIS-CNT-1", 5, "2024-04")
};

pub(crate) static RESULT_ID_UNKNOWN: Rule = Rule {
    summary: "A result has the id of a call of the reply before it.",
    why: "The tool message names a call that the reply before it did not make. Correct the id, or drop the message.",
    sentences: &["Unexpected tool call id {id} in tool results"],
    sources: &["https://github.com/pydantic/pydantic-ai/issues/3733", VALIDATOR],
    ..Rule::measured("mistral/result-id-unknown", "MIS-V11-1", 5, "2025-12")
};

pub(crate) static RESULT_ID_DUPLICATE: Rule = Rule {
    summary: "A call has one result.",
    why: "Two tool messages answer the same call, often a real one and one that was made up when the turn was \
          stopped. Keep the real one.",
    sentences: &["Duplicate tool call id {id} in tool results"],
    sources: &[VALIDATOR],
    ..Rule::measured("mistral/result-id-duplicate", "MIS-V11-2", 5, "2025-12")
};

pub(crate) static CALL_ID_DUPLICATE: Rule = Rule {
    summary: "The calls of one reply have different ids.",
    why: "Two calls of one reply have the same id, so that one result would answer both. Give one of them another \
          id.",
    sentences: &["Duplicate tool call id {id} in assistant message"],
    sources: &[VALIDATOR],
    ..Rule::measured("mistral/call-id-duplicate", "MIS-V11-3", 5, "2025-12")
};
