//! Every call is answered by a tool message directly after, and every tool message has its call.

use super::super::ids::Ids;
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{Role, calls};
use crate::json::Json;

/// The calls that wait for their answers.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    batch: Option<Batch<'a>>,
}

/// An assistant message with calls, and the run of tool messages directly after it.
#[derive(Debug)]
struct Batch<'a> {
    /// The index of the assistant message.
    n: usize,
    ids: Ids<'a>,
    /// For each id the index of its call and the message that answers it.
    calls: Vec<(usize, Option<usize>)>,
    n_answers: usize,
}

impl<'a> Pairing<'a> {
    /// Takes the next message.
    pub(super) fn message(
        &mut self,
        n: usize,
        role: Option<Role>,
        message: Json<'_, 'a>,
        out: &mut Breaches,
    ) {
        if role == Some(Role::Tool) {
            return match &mut self.batch {
                Some(batch) => batch.answer(n, message, out),
                None => out.add(&TOOL_MESSAGE_ORPHAN, || {
                    let id = message.field("tool_call_id").as_str().unwrap_or_default();
                    Breach::at(format!("/messages/{n}")).param(format!("messages.[{n}].role")).with("id", id)
                }),
            };
        }
        self.finish(out);
        if calls(role, message).next().is_some() {
            self.batch = Some(Batch::ask(n, role, message, out));
        }
    }

    /// No answer can come any more.
    pub(super) fn finish(&mut self, out: &mut Breaches) {
        if let Some(batch) = self.batch.take() {
            batch.check_all_answered(out);
        }
    }
}

impl<'a> Batch<'a> {
    fn ask(n: usize, role: Option<Role>, message: Json<'_, 'a>, out: &mut Breaches) -> Batch<'a> {
        let mut batch = Batch { n, ids: Ids::default(), calls: Vec::new(), n_answers: 0 };
        for (k, call) in calls(role, message).enumerate() {
            let Some(id) = call.field("id").as_str() else { continue };
            match batch.ids.insert(id) {
                Ok(_) => batch.calls.push((k, None)),
                Err(_) => out.add(&TOOL_CALL_ID_DUPLICATE, || {
                    Breach::at(format!("/messages/{n}/tool_calls/{k}/id"))
                        .param(format!("messages.[{n}].tool_calls"))
                        .with("id", call.field("id").as_str().unwrap_or_default())
                        .with("n", n)
                }),
            }
        }
        batch
    }

    fn answer(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Breaches) {
        self.n_answers += 1;
        let Some(id) = message.field("tool_call_id").as_str() else { return };
        let param = || format!("messages.[{n}].tool_call_id");
        let breach = || Breach::at(format!("/messages/{n}/tool_call_id")).param(param()).with("id", &id);
        match self.ids.find(&id).map(|place| &mut self.calls[place].1) {
            None => out.add(&TOOL_MESSAGE_UNKNOWN_ID, breach),
            Some(Some(first)) => {
                out.add(&TOOL_MESSAGE_DUPLICATE, || breach().with("first", *first).with("n", n));
            }
            Some(answer) => *answer = Some(n),
        }
    }

    fn check_all_answered(&self, out: &mut Breaches) {
        let calls = || self.ids.iter().zip(&self.calls);
        let missing = || calls().filter(|(_, (_, answer))| answer.is_none());
        let Some((_, (first, _))) = missing().next() else { return };
        // The provider names the message that stands where an answer should; at the end it is the one to come.
        let place = self.n + 1 + self.n_answers;
        out.add(&TOOL_MESSAGE_MISSING, || {
            let ids: Vec<&str> = missing().map(|(id, _)| id).collect();
            Breach::at(format!("/messages/{}/tool_calls/{}", self.n, first))
                .param(format!("messages.[{place}].role"))
                .with("ids", ids.join(", "))
                .with("place", place)
        });
    }
}
