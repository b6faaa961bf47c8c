//! Every call has its output and every output its call, wherever they stand.

use std::borrow::Cow;

use super::super::ids::Ids;
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{Tool, at};

/// Calls and outputs of a whole conversation.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    ids: Ids<'a>,
    calls: Vec<Calls>,
    /// Outputs before which no call stood.
    orphans: Vec<Orphan<'a>>,
    /// The ids of those.
    early: Ids<'a>,
    n_messages: usize,
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In an earlier response.
    Before,
    /// In the request.
    Item(usize),
}

/// The calls of one id: a model may use an id again.
#[derive(Debug)]
struct Calls {
    place: Place,
    /// Nothing if no output is demanded.
    tool: Option<Tool>,
    /// Calls without an output.
    n_open: usize,
    /// Whether an output has come since the first of them. Two calls of one id with one output are let pass.
    is_answered: bool,
    /// Messages that stood before the call.
    n_messages: usize,
}

#[derive(Debug)]
struct Orphan<'a> {
    n: usize,
    id: Cow<'a, str>,
    tool: Tool,
}

impl<'a> Pairing<'a> {
    /// Takes a call. No output is demanded without a tool.
    pub(super) fn call(&mut self, place: Place, id: Cow<'a, str>, tool: Option<Tool>) {
        let is_answered = self.early.find(&id).is_some();
        let fresh = Calls { place, tool, n_open: 1, is_answered, n_messages: self.n_messages };
        match self.ids.insert(id) {
            Ok(_) => self.calls.push(fresh),
            Err(known) => match &mut self.calls[known] {
                calls if calls.n_open == 0 => *calls = fresh,
                calls => calls.n_open += 1,
            },
        }
    }

    /// Takes an output of the request.
    pub(super) fn output(&mut self, n: usize, id: Cow<'a, str>, tool: Tool, out: &mut Breaches) {
        let breach =
            || Breach::at(format!("{}/call_id", at(n))).param("input".to_owned()).with("call_id", &id);
        match self.ids.find(&id).map(|known| &mut self.calls[known]) {
            None => {
                let _ = self.early.insert(id.clone());
                self.orphans.push(Orphan { n, id, tool });
            }
            Some(calls) if calls.n_open == 0 => out.add(&TOOL_OUTPUT_DUPLICATE, breach),
            Some(calls) => {
                calls.n_open -= 1;
                calls.is_answered = true;
                if self.n_messages > calls.n_messages && calls.tool.is_some() {
                    out.add(&TOOL_OUTPUTS_INTERRUPTED, || of_call(calls.place).with("call_id", &id));
                }
            }
        }
    }

    /// Takes an output of an earlier request, which was judged then.
    pub(super) fn output_before(&mut self, id: &str) {
        if let Some(known) = self.ids.find(id) {
            let calls = &mut self.calls[known];
            calls.n_open = calls.n_open.saturating_sub(1);
            calls.is_answered = true;
        }
    }

    /// Takes a message.
    pub(super) fn message(&mut self) {
        self.n_messages += 1;
    }

    /// No call and no output can come any more. `knows_all` says whether every call is known.
    pub(super) fn finish(self, knows_all: bool, out: &mut Breaches) {
        let open =
            self.ids.iter().zip(&self.calls).filter(|(_, calls)| calls.n_open > 0 && !calls.is_answered);
        let open = open.filter_map(|(id, calls)| Some((calls.place, id, calls.tool?)));
        let mut open: Vec<(Place, &str, Tool)> = open.collect();
        open.sort_by_key(|(place, ..)| place.order());
        let mut orphans = self.orphans.iter().filter(|_| knows_all).peekable();
        for (place, id, tool) in open {
            while let Some(orphan) = orphans.next_if(|orphan| orphan.n < place.order()) {
                self.refuse_orphan(orphan, out);
            }
            out.add(&TOOL_OUTPUT_MISSING, || of_call(place).form(tool.form()).with("call_id", id));
        }
        orphans.for_each(|orphan| self.refuse_orphan(orphan, out));
    }

    fn refuse_orphan(&self, orphan: &Orphan<'_>, out: &mut Breaches) {
        let breach = || {
            let breach = Breach::at(format!("{}/call_id", at(orphan.n))).form(orphan.tool.form());
            breach.param("input".to_owned()).with("call_id", &orphan.id)
        };
        // That a call must stand before its output is assumed; nobody has tried it.
        match self.ids.find(&orphan.id) {
            Some(_) => out.warn(&TOOL_OUTPUT_ORPHAN, breach),
            None => out.add(&TOOL_OUTPUT_ORPHAN, breach),
        }
    }
}

impl Place {
    fn order(self) -> usize {
        match self {
            Place::Before => 0,
            Place::Item(n) => n,
        }
    }
}

fn of_call(place: Place) -> Breach {
    let pointer = match place {
        Place::Before => "/previous_response_id".to_owned(),
        Place::Item(n) => at(n),
    };
    Breach::at(pointer).param("input".to_owned())
}
