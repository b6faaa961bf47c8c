//! How turns of calls and turns of responses follow each other.
//!
//! A *function call turn* is a content with calls, a *function response turn* one with responses. Contents of the model
//! with calls that follow each other count as one turn: `gemini-3-flash-preview` accepted a call, a call, and two
//! responses to both (<https://github.com/pydantic/pydantic-ai>, `test_cross_provider_capability_replay`). Contents of
//! responses do not: a batch whose responses stand in contents of their own is refused
//! (<https://github.com/cloudwego/eino-ext/issues/571>, <https://github.com/docker/docker-agent/pull/2959>).

use super::super::profile::{GeminiSwitches, ModelVersion};
use super::super::violation::{Breach, Breaches};
use super::fields::{Content, Part, Place, Role};
use super::table::*;

/// What has come so far, as far as it matters for what comes next.
#[derive(Debug, Default)]
pub(super) struct Turns {
    before: Before,
    /// The index of the last content, if the model said it and it does not end with a response.
    ends_with_model: Option<usize>,
}

/// What the content before was.
#[derive(Debug, Default)]
enum Before {
    /// There was none.
    #[default]
    Start,
    /// The user's words, or something that cannot be understood.
    User,
    /// Words of the model.
    Model,
    /// Calls.
    Calls(CallTurn),
    /// Responses.
    Responses,
}

/// A function call turn.
#[derive(Debug)]
struct CallTurn {
    n_calls: usize,
    first: FirstCall,
}

/// The part with the first call of a turn, and the field in which the call is.
#[derive(Debug, Clone, Copy)]
struct FirstCall {
    place: Place,
    field: &'static str,
}

/// The parts of one content, counted.
#[derive(Debug, Default)]
pub(super) struct Count {
    n_parts: usize,
    pub(super) n_calls: usize,
    pub(super) n_responses: usize,
    first_call: Option<FirstCall>,
    ends_with_response: bool,
}

impl Count {
    /// Takes the next part.
    pub(super) fn part(&mut self, part: &Part<'_, '_>) {
        self.n_parts += 1;
        self.ends_with_response = part.response.is_some();
        self.n_responses += usize::from(self.ends_with_response);
        if let Some((field, _)) = part.call {
            self.n_calls += 1;
            self.first_call.get_or_insert(FirstCall { place: part.place, field });
        }
    }
}

impl Turns {
    /// Takes the next content.
    pub(super) fn content(&mut self, content: Content<'_, '_>, count: &Count, out: &mut Breaches) {
        let (n, role) = (content.n, content.role);
        let Count { n_parts, n_calls, n_responses, first_call, ends_with_response } = *count;
        self.ends_with_model = (role == Some(Role::Model) && !ends_with_response).then_some(n);
        let before = std::mem::take(&mut self.before);
        if n_responses > 0 {
            respond(n, n_responses, &before, out);
            if n_parts > n_responses + n_calls {
                out.add(&RESPONSES_MIXED, || Breach::at(format!("/contents/{n}/parts")));
            }
        }
        self.before = match first_call {
            Some(first) if n_responses > 0 => Before::Calls(CallTurn { n_calls, first }),
            Some(first) => Before::Calls(ask(CallTurn { n_calls, first }, before, out)),
            None if n_responses > 0 => Before::Responses,
            None => {
                before.check_answered(out);
                if role == Some(Role::Model) { Before::Model } else { Before::User }
            }
        };
    }

    /// Nothing more comes.
    pub(super) fn finish(
        &mut self,
        switches: &GeminiSwitches,
        model: Option<(&str, ModelVersion)>,
        out: &mut Breaches,
    ) {
        self.before.check_answered(out);
        let takes_prefill = |(name, version)| {
            version < switches.first_without_prefill
                && !switches.also_without_prefill.iter().any(|own| str::contains(name, *own))
        };
        match self.ends_with_model {
            Some(n) if model.is_some_and(|model| !takes_prefill(model)) => {
                out.add(&ENDS_WITH_MODEL, || Breach::at(format!("/contents/{n}")));
            }
            _ => {}
        }
    }
}

impl FirstCall {
    fn breach(self) -> Breach {
        Breach::at(format!("{}/{}", self.place.pointer(), self.field))
    }
}

impl Before {
    /// What comes is no response, so calls that stand here stay without one.
    fn check_answered(&self, out: &mut Breaches) {
        if let Before::Calls(calls) = self {
            out.add(&RESPONSE_MISSING, || calls.first.breach());
        }
    }
}

/// A content with responses comes.
fn respond(n: usize, n_responses: usize, before: &Before, out: &mut Breaches) {
    match before {
        Before::Calls(calls) if calls.n_calls == n_responses => {}
        Before::Calls(_) => out.add(&RESPONSE_COUNT, || Breach::at(format!("/contents/{n}/parts"))),
        _ => out.add(&RESPONSE_NOT_AFTER_CALL, || Breach::at(format!("/contents/{n}"))),
    }
}

/// A content with calls comes. Gives the turn to which it belongs.
fn ask(calls: CallTurn, before: Before, out: &mut Breaches) -> CallTurn {
    match before {
        Before::Start => out.add(&CALL_NOT_AFTER_USER, || calls.first.breach()),
        // Google's own command line sends words and calls as contents of their own
        // (<https://github.com/google-gemini/gemini-cli/pull/685>); Continue met a refusal of contents of the model that
        // follow each other (<https://github.com/continuedev/continue/pull/11805>).
        Before::Model => out.warn(&CALL_NOT_AFTER_USER, || calls.first.breach()),
        Before::Calls(earlier) => return CallTurn { n_calls: earlier.n_calls + calls.n_calls, ..earlier },
        Before::User | Before::Responses => {}
    }
    calls
}
