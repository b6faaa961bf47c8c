//! A dialect without a real provider; see the toy in `brickbat-scenario`. It requires JSON requests, and a
//! stop at the end of a stream.

use super::{Checker, Definition, Switches};
use crate::json::{Document, Json};
use crate::streams::{
    Common, Framing, Machine, Standing, StreamEvent, StreamRule, Verdict, Warnings, underway,
};
use crate::{Dialect, Envelope, Memory, Occurrence, Profile, Retention, Rule, Violations};

pub(super) static DEFINITION: Definition = Definition {
    name: "toy",
    rules: &[&BODY_NOT_JSON],
    profiles: &PROFILES,
    list: "messages",
    bare: br#"{"messages":[]}"#,
    refuse_unreadable: |_, _, out| out.add(&BODY_NOT_JSON, || Occurrence::at("")),
    keeps: |_| Retention::Nothing,
    remember: |_, _, _, _| {},
    stream_rules: &[&TRUNCATED, &UNREADABLE],
    tolerated_of_relatives: &[],
    framing: Framing::Lines,
    machine: || Box::new(ToyMachine(false)),
};

static BODY_NOT_JSON: Rule = Rule::measured("toy/body-not-json", "TOY-BODY-1", 0, "2026-11");

static PROFILES: [Profile; 1] =
    [Profile { name: "toy@2026-11", ..Profile::base(Dialect::Toy, "Toy", Envelope::Openai, &NoSwitches) }];

#[derive(Debug)]
struct NoSwitches;

impl Switches for NoSwitches {
    fn checker<'a>(&'static self, _: &'static Profile, _: &'a Memory) -> Box<dyn Checker<'a> + 'a> {
        Box::new(AnyConversation)
    }
}

struct AnyConversation;

impl<'a> Checker<'a> for AnyConversation {
    fn message(&mut self, _: usize, _: Json<'_, 'a>, _: &mut Violations) {}

    fn finish(&mut self, _: Json<'_, 'a>, _: Option<usize>, _: &mut Violations) {}
}

static TRUNCATED: StreamRule = rule("toy/stream/truncated", "the stream ends with its stop");
static UNREADABLE: StreamRule = rule("toy/stream/unreadable", "every event is JSON");

const fn rule(id: &'static str, summary: &'static str) -> StreamRule {
    StreamRule { id, severity: crate::Severity::Error, summary, source: "" }
}

/// True after the stop.
#[derive(Debug)]
struct ToyMachine(bool);

impl Machine for ToyMachine {
    fn common(&self) -> &'static Common {
        static COMMON: Common =
            Common { truncated: &TRUNCATED, unreadable: &UNREADABLE, unended: None, stray: None };
        &COMMON
    }

    fn step(&mut self, event: &StreamEvent<'_>, _: &mut Warnings) -> Verdict {
        let document = Document::parse(event.data).unwrap_or_default();
        self.0 |= document.root().field("stop").is_str();
        Ok(())
    }

    fn standing(&self) -> Standing {
        if self.0 { Standing::Complete } else { underway("a stop") }
    }
}
