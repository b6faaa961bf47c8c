//! Every call is answered by a tool message directly after, and every tool message has its call.

use super::super::ids::Ids;
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{Role, Said};

/// The calls that wait for their answers.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    /// Whether there are such calls.
    is_open: bool,
    batch: Batch<'a>,
}

/// An assistant message with calls, and the run of tool messages directly after it.
#[derive(Debug, Default)]
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
    pub(super) fn message(&mut self, said: Said<'_, 'a>, out: &mut Breaches) {
        if said.role == Some(Role::Tool) {
            match self.is_open {
                true => self.batch.answer(said, out),
                false => refuse_orphan(said, out),
            }
            return;
        }
        self.finish(out);
        if said.calls().next().is_some() {
            self.is_open = true;
            self.batch.ask(said, out);
        }
    }

    /// No answer can come any more.
    pub(super) fn finish(&mut self, out: &mut Breaches) {
        if std::mem::take(&mut self.is_open) {
            self.batch.check_all_answered(out);
        }
    }
}

fn refuse_orphan(said: Said<'_, '_>, out: &mut Breaches) {
    out.add(&TOOL_MESSAGE_ORPHAN, || {
        let (n, id) = (said.n, said.tool_call_id.and_then(|id| id.as_str()).unwrap_or_default());
        Breach::at(format!("/messages/{n}")).param(format!("messages.[{n}].role")).with("id", id)
    });
}

impl<'a> Batch<'a> {
    /// Begins anew.
    fn ask(&mut self, said: Said<'_, 'a>, out: &mut Breaches) {
        let n = said.n;
        (self.n, self.n_answers) = (n, 0);
        self.ids.clear();
        self.calls.clear();
        for (k, call) in said.calls().enumerate() {
            let Some(id) = call.get("id").and_then(|id| id.as_str()) else { continue };
            match self.ids.insert(id) {
                Ok(_) => self.calls.push((k, None)),
                Err(known) => out.add(&TOOL_CALL_ID_DUPLICATE, || {
                    Breach::at(format!("/messages/{n}/tool_calls/{k}/id"))
                        .param(format!("messages.[{n}].tool_calls"))
                        .with("id", self.ids.get(known))
                        .with("n", n)
                }),
            }
        }
    }

    fn answer(&mut self, said: Said<'_, 'a>, out: &mut Breaches) {
        self.n_answers += 1;
        let n = said.n;
        let Some(id) = said.tool_call_id.and_then(|id| id.as_str()) else { return };
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
