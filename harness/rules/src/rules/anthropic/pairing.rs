//! The second phase, second half: every call is answered once, directly after, and every answer has its call.
//!
//! Only client tools are paired. The provider runs server tools itself, and their results stand in the same turn.

use std::borrow::Cow;
use std::ops::Range;

use super::super::ids::{IdHashes, Ids};
use super::super::violation::{Breach, Breaches};
use super::block::{Block, Field, Kind, Place};
use super::table::*;

/// The calls of the last assistant turn, and how the user turn after it answers them.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    ids: Ids<'a>,
    /// For each id, how it is answered.
    answers: Vec<Answer>,
    calls: Vec<Call>,
    /// Where text follows calls, with the calls that it follows.
    interruptions: Vec<(Place, Range<usize>)>,
    /// The first call after the last such text.
    run_start: usize,
    /// The first message of the user turn.
    answering: Option<u32>,
    /// Whether something else than a result has come in the user turn.
    is_late: bool,
    /// Ids of results that have no call.
    strays: Ids<'a>,
    /// Every id of a call in the conversation.
    known: IdHashes,
}

#[derive(Debug)]
struct Call {
    place: Place,
    /// The place of its id.
    id: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Missing,
    InPlace,
    TooLate,
}

impl<'a> Pairing<'a> {
    /// Takes a block of an assistant turn.
    pub(super) fn call(&mut self, block: &Block<'_, 'a>, out: &mut Breaches) {
        match block.kind {
            Kind::ToolUse => {}
            // Thinking and server tools may follow a call: interleaved thinking and mixed replies put them there.
            Kind::Text(_) | Kind::Attachment if self.run_start < self.calls.len() => {
                self.interruptions.push((block.place, self.run_start..self.calls.len()));
                self.run_start = self.calls.len();
                return;
            }
            _ => return,
        }
        let Some(id) = block.str(Field::Id) else { return };
        let breach = || Breach::at(block.place.pointer()).with("path", block.place.path());
        let is_new = self.known.insert(&id);
        let id = match self.ids.insert(id) {
            Ok(id) => {
                self.answers.push(Answer::Missing);
                if !is_new {
                    // Known by its hash alone, so this is never more than a warning.
                    out.warn(&TOOL_USE_ID_REUSED, breach);
                }
                id
            }
            Err(id) => {
                out.add(&TOOL_USE_ID_DUPLICATE, breach);
                id
            }
        };
        self.calls.push(Call { place: block.place, id });
    }

    /// The user turn begins with message `n`.
    pub(super) fn answers_begin(&mut self, n: usize) {
        self.answering = Some(n as u32);
        self.is_late = false;
    }

    /// Takes a block of a user turn.
    pub(super) fn answer(&mut self, block: &Block<'_, 'a>, out: &mut Breaches) {
        if block.kind != Kind::ToolResult {
            self.is_late = true;
            return;
        }
        let Some(id) = block.str(Field::ToolUseId) else { return };
        let breach =
            |id: &str| Breach::at(block.place.pointer()).with("path", block.place.path()).with("id", id);
        match self.ids.find(&id).map(|place| &mut self.answers[place]) {
            None => {
                out.add(&TOOL_RESULT_ORPHAN, || breach(&id));
                if self.strays.insert(Cow::clone(&id)).is_err() {
                    out.add(&TOOL_RESULT_DUPLICATE, || breach(&id));
                }
            }
            Some(answer @ Answer::Missing) if self.is_late => *answer = Answer::TooLate,
            Some(answer @ Answer::Missing) => *answer = Answer::InPlace,
            Some(_) => out.add(&TOOL_RESULT_DUPLICATE, || breach(&id)),
        }
    }

    /// No answer can come any more: checks that every call is answered at the beginning of the next turn, and that
    /// nothing follows the calls.
    pub(super) fn close(&mut self, out: &mut Breaches) {
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

    fn check_answers(&self, out: &mut Breaches) {
        let missing = || self.calls.iter().filter(|call| self.answers[call.id] != Answer::InPlace);
        let Some(first) = missing().next() else { return };
        let rule = match missing().all(|call| self.answers[call.id] == Answer::TooLate) {
            true => &TOOL_RESULT_NOT_FIRST,
            false => &TOOL_RESULT_MISSING,
        };
        out.add(rule, || self.unanswered(first.place, missing()));
    }

    /// The words of the sentence that three rules share; older profiles count, and name the message of the answers.
    fn unanswered<'c>(&self, place: Place, calls: impl Iterator<Item = &'c Call>) -> Breach {
        let ids: Vec<&str> = calls.map(|call| self.ids.get(call.id)).collect();
        let answering = self.answering.unwrap_or(place.message + 1);
        let breach = Breach::at(place.pointer()).with("n", place.message).with("answering", answering);
        breach.with("count", ids.len()).with("ids", ids.join(", "))
    }
}
