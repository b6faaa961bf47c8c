//! Calls and results agree.
//!
//! The validator looks when the next assistant message comes, and at the end: a user message between a call and its
//! result is a matter of the order of roles. It passes over the first message.

use super::super::ids::Ids;
use super::super::profile::{FirstMessage, MistralSwitches, Pairing};
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{MESSAGE_ORDER, Role, Said};
use crate::json::Json;

/// The calls that wait for their results.
#[derive(Debug)]
pub(super) struct Batches<'a> {
    pairing: Pairing,
    first_message: FirstMessage,
    /// Whether nothing is asked of the results before the next assistant message.
    is_forgiven: bool,
    batch: Batch<'a>,
}

/// The calls of the last assistant message, and the results since.
#[derive(Debug, Default)]
struct Batch<'a> {
    /// The index of the assistant message.
    n: usize,
    n_calls: usize,
    n_results: usize,
    /// The first result for which there is no call left.
    surplus: Option<usize>,
    /// The different ids of the calls, and for each whether its result has come. Only kept where ids are compared.
    ids: Ids<'a>,
    answered: Vec<bool>,
}

impl<'a> Batches<'a> {
    pub(super) fn new(switches: &MistralSwitches) -> Batches<'a> {
        Batches {
            pairing: switches.pairing,
            first_message: switches.first_message,
            is_forgiven: false,
            batch: Batch::default(),
        }
    }

    /// Takes the next message.
    pub(super) fn message(&mut self, said: Said<'_, 'a>, out: &mut Breaches) {
        if said.n == 0 {
            let begins_within = said.role == Some(Role::Tool) || said.calls().next().is_some();
            self.is_forgiven = begins_within && self.first_message == FirstMessage::Forgiven;
            return;
        }
        match said.role {
            Some(Role::Assistant) => {
                self.finish(out);
                self.is_forgiven = false;
                self.batch.ask(self.pairing, said, out);
            }
            Some(Role::Tool) if !self.is_forgiven => self.batch.answer(self.pairing, said, out),
            _ => {}
        }
    }

    /// No result can come any more.
    pub(super) fn finish(&self, out: &mut Breaches) {
        let Batch { n, n_calls, n_results, surplus, .. } = self.batch;
        if n_calls != n_results {
            let pointer = match surplus {
                Some(result) => format!("/messages/{result}"),
                None => format!("/messages/{n}/tool_calls"),
            };
            out.add(&CALL_AND_RESULT_COUNTS, || Breach::at(pointer).code(MESSAGE_ORDER));
        }
    }
}

impl<'a> Batch<'a> {
    /// Begins anew.
    fn ask(&mut self, pairing: Pairing, said: Said<'_, 'a>, out: &mut Breaches) {
        let n = said.n;
        (self.n, self.n_calls, self.n_results, self.surplus) = (n, 0, 0, None);
        self.ids.clear();
        self.answered.clear();
        for (k, call) in said.calls().enumerate() {
            if pairing == Pairing::ByCount {
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
                    Breach::at(pointer).code(MESSAGE_ORDER).with("id", call.called())
                }),
            }
            self.n_calls = self.ids.len();
        }
    }

    fn answer(&mut self, pairing: Pairing, said: Said<'_, 'a>, out: &mut Breaches) {
        let n = said.n;
        if pairing == Pairing::ByCount {
            self.n_results += 1;
            if self.n_results > self.n_calls {
                self.surplus.get_or_insert(n);
            }
            return;
        }
        let id = said.tool_call_id.and_then(Json::as_str);
        let breach = || {
            let pointer = match said.tool_call_id {
                Some(_) => format!("/messages/{n}/tool_call_id"),
                None => format!("/messages/{n}"),
            };
            // The validator writes a missing id as its language does.
            Breach::at(pointer).code(MESSAGE_ORDER).with("id", id.as_deref().unwrap_or("None"))
        };
        let place = id.as_deref().and_then(|id| self.ids.find(id));
        match place.map(|place| &mut self.answered[place]) {
            None => out.add(&RESULT_ID_UNKNOWN, breach),
            Some(true) => out.add(&RESULT_ID_DUPLICATE, breach),
            Some(answered) => {
                *answered = true;
                self.n_results += 1;
            }
        }
    }
}
