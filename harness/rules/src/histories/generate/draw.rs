//! Draws outlines from choices, and writes the conversation of an outline.

use arbitrary::{Arbitrary, Unstructured};

use super::History;
use super::choices::{Choices, Seeded};
use super::draft::Draft;
use super::fault::{Fault, Mending};
use super::outline::{Called, DIALECTS, Filing, Outline, Output, Planted, Reply, Shown, Step, Turn};
use super::plant;
use super::words::{Tool, Words};
use crate::Dialect;

const MAX_TURNS: usize = 4;
const MAX_STEPS: usize = 3;
const MAX_CALLS: usize = 4;

impl Outline {
    /// A valid conversation.
    pub fn valid(dialect: Dialect, choices: &mut impl Choices) -> Outline {
        let mut draw = Draw(choices);
        Outline {
            dialect,
            model: draw.0.below(dialect.codec().models.len()),
            salt: draw.0.number_below(1 << 32),
            instructions: draw.one_in(2).then(|| draw.words()),
            turns: (0..=draw.0.below(MAX_TURNS)).map(|_| draw.turn()).collect(),
            planted: None,
        }
    }

    /// A conversation with a repairable fault.
    pub fn mendable(dialect: Dialect, choices: &mut impl Choices) -> Outline {
        Outline::faulty(dialect, Mending::Possible, choices)
    }

    /// A conversation with a fault that cannot be repaired.
    pub fn broken(dialect: Dialect, choices: &mut impl Choices) -> Outline {
        Outline::faulty(dialect, Mending::Impossible, choices)
    }

    /// A conversation with this fault, even if the dialect does not reject it.
    pub fn with_fault(dialect: Dialect, fault: Fault, choices: &mut impl Choices) -> Outline {
        let mut outline = Outline::valid(dialect, choices);
        if plant::places(&outline.turns, fault).is_empty() {
            let mut draw = Draw(choices);
            outline.turns.push(draw.turn_with_place_for(fault));
            if fault.wants_later_turn() {
                outline.turns.push(draw.answered_turn());
            }
        }
        outline.planted =
            Some(Planted { fault, at: choices.below(plant::places(&outline.turns, fault).len()) });
        outline
    }

    fn faulty(dialect: Dialect, mending: Mending, choices: &mut impl Choices) -> Outline {
        let faults: Vec<Fault> = Fault::refused_by(dialect, mending).collect();
        match faults.get(choices.below(faults.len())) {
            Some(fault) => Outline::with_fault(dialect, *fault, choices),
            None => Outline::valid(dialect, choices),
        }
    }

    /// The conversation.
    pub fn history(&self) -> History {
        let mut draft = Draft::of(self);
        if let Some(planted) = self.planted {
            plant::plant(&mut draft, &self.turns, planted);
        }
        draft.into_history(self)
    }
}

impl Fault {
    /// Returns whether the fault needs a later turn.
    fn wants_later_turn(self) -> bool {
        let needing = [
            Fault::MissingInMiddle,
            Fault::ResultAfterPrompt,
            Fault::ResultAfterReply,
            Fault::HollowThinkingBefore,
        ];
        needing.contains(&self)
    }
}

impl<'a> Arbitrary<'a> for Outline {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Outline> {
        let dialect = DIALECTS[u.below(DIALECTS.len())];
        Ok(match u.below(3) {
            0 => Outline::valid(dialect, u),
            1 => Outline::mendable(dialect, u),
            _ => Outline::broken(dialect, u),
        })
    }
}

impl Outline {
    /// Returns conversation number `n` of an endless sequence that cycles through valid, repairable and
    /// unrepairable ones.
    pub fn numbered(dialect: Dialect, number: u64) -> Outline {
        let mut choices = Seeded::new(number);
        match number % 3 {
            0 => Outline::valid(dialect, &mut choices),
            1 => Outline::mendable(dialect, &mut choices),
            _ => Outline::broken(dialect, &mut choices),
        }
    }
}

/// Draws the parts of an outline. The first choice is always the plainest.
struct Draw<'c, C>(&'c mut C);

impl<C: Choices> Draw<'_, C> {
    fn one_in(&mut self, n: usize) -> bool {
        n > 0 && self.0.below(n) + 1 == n
    }

    /// Half of all texts are plain, so odd ones stand out.
    fn words(&mut self) -> Words {
        if self.one_in(2) { Words::new(self.0.below(Words::COUNT)) } else { Words::PLAIN }
    }

    fn maybe(&mut self, n: usize) -> Option<Words> {
        self.one_in(n).then(|| self.words())
    }

    fn turn(&mut self) -> Turn {
        let prompt = self.words();
        let shows = if self.one_in(6) { Shown::Picture } else { Shown::Nothing };
        let steps = (0..self.0.below(MAX_STEPS + 1)).map(|_| self.step()).collect();
        let reply = (!self.one_in(5)).then(|| self.reply());
        Turn { prompt, shows, steps, reply }
    }

    fn step(&mut self) -> Step {
        let n_calls = 1 + self.0.below(MAX_CALLS);
        self.step_of(n_calls)
    }

    fn step_of(&mut self, n_calls: usize) -> Step {
        Step {
            thinking: self.maybe(2),
            before: self.maybe(2),
            calls: (0..n_calls).map(|_| self.called()).collect(),
            after: self.maybe(12),
            filing: [Filing::Together, Filing::Apart, Filing::LastFirst][self.0.below(3)],
        }
    }

    fn called(&mut self) -> Called {
        let tool = Tool::new(self.0.below(Tool::COUNT));
        let output = match self.0.below(12) {
            0..6 => Output::Text(self.words()),
            6 => Output::Nothing,
            7 => Output::EmptyText,
            8 => Output::TwoTexts(self.words()),
            9 => Output::Picture(self.words()),
            10 => Output::Error(self.words()),
            _ => Output::SilentError,
        };
        Called { tool, output }
    }

    fn reply(&mut self) -> Reply {
        Reply { thinking: self.maybe(3), text: self.words() }
    }

    fn answered_turn(&mut self) -> Turn {
        Turn { prompt: self.words(), shows: Shown::Nothing, steps: Vec::new(), reply: Some(self.reply()) }
    }

    /// A last turn that allows the fault, or the last but one if the fault needs a later turn.
    fn turn_with_place_for(&mut self, fault: Fault) -> Turn {
        let is_stopped =
            matches!(fault, Fault::MissingAtTail | Fault::HollowThinking | Fault::ResultAfterPrompt);
        let n_calls = 2 + self.0.below(MAX_CALLS - 1);
        Turn {
            prompt: self.words(),
            shows: Shown::Nothing,
            steps: vec![self.step_of(n_calls)],
            reply: (!is_stopped).then(|| self.reply()),
        }
    }
}
