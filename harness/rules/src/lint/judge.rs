//! Leads one machine through a stream and writes down what it finds.

use super::event::{End, Event, Mark, Piece, excerpt};
use super::fault::{Breach, Fault, Place};
use super::machine::{Machine, Standing, Warnings};
use super::rule::{Severity, StreamRule};
use super::{Ended, Grammar, Report, anthropic, bedrock, gemini, mistral, openai, responses};

/// The judgement of one stream so far.
#[derive(Debug)]
pub(super) struct Judge {
    grammar: Grammar,
    machine: Box<dyn Machine + Send + Sync>,
    faults: Vec<Fault>,
    n_events: usize,
    ended: Option<Ended>,
    /// The place of an event at the end of the bytes without what should end it.
    unended: Option<(Place, String)>,
}

impl Judge {
    pub(super) fn new(grammar: Grammar) -> Judge {
        let machine: Box<dyn Machine + Send + Sync> = match grammar {
            Grammar::AnthropicMessages => Box::new(anthropic::Messages::new()),
            Grammar::OpenaiChat => Box::new(openai::Chat::new(&openai::CHAT)),
            Grammar::OpenaiResponses => Box::new(responses::Responses::new()),
            Grammar::Gemini => Box::new(gemini::Gemini::new()),
            Grammar::BedrockConverse => Box::new(bedrock::Converse::new()),
            Grammar::Mistral => Box::new(openai::Chat::new(&mistral::CHAT)),
        };
        Judge { grammar, machine, faults: Vec::new(), n_events: 0, ended: None, unended: None }
    }

    /// Whether an illegal event has ended the judgement.
    pub(super) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    /// Judges what a reader has found.
    pub(super) fn take(&mut self, mark: Mark, piece: Piece<'_>) {
        if self.is_over() {
            return;
        }
        let place = Place { event: self.n_events, offset: mark.offset, line: mark.line };
        match piece {
            Piece::Event(event) => self.event(place, &event),
            Piece::Unended(event) => self.unended_event(place, &event),
            Piece::Stray(text) => self.stray(place, text),
            Piece::Unreadable(reason, bytes) => {
                let breach = Breach { rule: self.machine.common().unreadable, message: reason.to_owned() };
                self.illegal(place, breach, excerpt(bytes));
            }
        }
    }

    /// Judges the end of the bytes. `end` is nothing after an illegal event.
    pub(super) fn finish(mut self, end: Option<End>, n_bytes: usize) -> Report {
        let standing = self.machine.standing();
        if let Some(end) = end
            && !self.is_over()
        {
            let place = Place { event: self.n_events, offset: end.mark.offset, line: end.mark.line };
            self.ended = Some(match &standing {
                Standing::Underway { missing } => {
                    let inside = if end.inside { " inside an event" } else { "" };
                    let message = format!("the bytes end{inside}: {missing} is missing");
                    self.note(self.machine.common().truncated, place, message, String::new());
                    Ended::Truncated
                }
                Standing::Complete => Ended::Complete,
                Standing::Failed(_) => Ended::ErrorEvent,
            });
            if !matches!(standing, Standing::Underway { .. }) {
                self.note_end(place);
            }
        }
        let Judge { grammar, faults, n_events, ended, .. } = self;
        let provider_error = match standing {
            Standing::Failed(words) => Some(words),
            _ => None,
        };
        Report { grammar, ended: ended.unwrap_or(Ended::Illegal), faults, provider_error, n_events, n_bytes }
    }

    fn event(&mut self, place: Place, event: &Event<'_>) {
        let mut warnings = Warnings::default();
        let verdict = self.machine.step(event, &mut warnings);
        self.n_events += 1;
        for (rule, message) in warnings.0 {
            self.note(rule, place, message, excerpt(event.data));
        }
        if let Err(breach) = verdict {
            self.illegal(place, breach, excerpt(event.data));
        }
    }

    /// The bytes may have been cut after the last event or inside it. It counts if it can be read.
    fn unended_event(&mut self, place: Place, event: &Event<'_>) {
        self.unended = Some((place, excerpt(event.data)));
        let n_faults = self.faults.len();
        self.event(place, event);
        let unreadable = self.machine.common().unreadable;
        if self.faults.last().is_some_and(|fault| fault.rule == unreadable) {
            self.faults.truncate(n_faults);
            self.ended = None;
            self.n_events -= 1;
        }
    }

    fn stray(&mut self, place: Place, text: &[u8]) {
        match self.machine.stray(text) {
            Ok(true) => self.n_events += 1,
            Ok(false) => {
                if let Some(rule) = self.machine.common().stray {
                    let message = "a line that is neither a field of an event nor a comment; readers skip it";
                    self.note(rule, place, message.to_owned(), excerpt(text));
                }
            }
            Err(breach) => self.illegal(place, breach, excerpt(text)),
        }
    }

    fn note_end(&mut self, place: Place) {
        let mut warnings = Warnings::default();
        self.machine.end(&mut warnings);
        for (rule, message) in warnings.0 {
            self.note(rule, place, message, String::new());
        }
        if let (Some((place, event)), Some(rule)) = (self.unended.take(), self.machine.common().unended) {
            let message = "no blank line follows the last event; readers drop it".to_owned();
            self.note(rule, place, message, event);
        }
    }

    fn illegal(&mut self, place: Place, breach: Breach, excerpt: String) {
        self.note(breach.rule, place, breach.message, excerpt);
        self.ended = Some(Ended::Illegal);
    }

    /// Writes a fault down. A warning counts at the first place of its rule, so the list stays short.
    fn note(&mut self, rule: &'static StreamRule, place: Place, message: String, excerpt: String) {
        let is_known = || self.faults.iter().any(|fault| fault.rule == rule);
        if rule.severity == Severity::Error || !is_known() {
            self.faults.push(Fault { place, rule, message, excerpt });
        }
    }
}
