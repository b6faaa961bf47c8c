//! Smaller outlines of the same kind: fewer turns, steps and calls, plainer blocks, the same fault.

use super::outline::{Called, Filing, Outline, Output, Reply, Shown, Step, Turn};
use super::plant;
use super::words::{Tool, Words};

impl Outline {
    /// The outlines that are one change smaller, with the largest change first. Each keeps the fault. Shrinking always
    /// ends, because every change removes or simplifies something.
    pub fn simpler(&self) -> Vec<Outline> {
        let mut changes = Changes { outline: self, found: Vec::new() };
        changes.fewer_turns();
        for turn in 0..self.turns.len() {
            changes.smaller_turn(turn);
        }
        changes.plainer();
        changes.found
    }

    /// The smallest outline that is reachable by changes that keep the property that the caller looks for.
    pub fn smallest(self, mut keeps: impl FnMut(&Outline) -> bool) -> Outline {
        let mut smallest = self;
        while let Some(smaller) = smallest.simpler().into_iter().find(|smaller| keeps(smaller)) {
            smallest = smaller;
        }
        smallest
    }

    /// Returns whether there is a position for the fault, if there is one.
    fn is_plantable(&self) -> bool {
        self.planted.is_none_or(|planted| !plant::places(&self.turns, planted.fault).is_empty())
    }
}

struct Changes<'o> {
    outline: &'o Outline,
    found: Vec<Outline>,
}

impl Changes<'_> {
    /// Accepts a change if it changes something and keeps the fault.
    fn offer(&mut self, change: impl FnOnce(&mut Outline)) {
        let mut changed = self.outline.clone();
        change(&mut changed);
        if changed != *self.outline && changed.is_plantable() {
            self.found.push(changed);
        }
    }

    fn offer_in_turn(&mut self, turn: usize, change: impl FnOnce(&mut Turn)) {
        self.offer(|outline| change(&mut outline.turns[turn]));
    }

    fn fewer_turns(&mut self) {
        let n = self.outline.turns.len();
        if n > 2 {
            self.offer(|outline| _ = outline.turns.drain(..n / 2));
            self.offer(|outline| outline.turns.truncate(n / 2));
        }
        for turn in (0..n).filter(|_| n > 1) {
            self.offer(|outline| _ = outline.turns.remove(turn));
        }
        self.offer(|outline| outline.instructions = None);
    }

    fn smaller_turn(&mut self, turn: usize) {
        let Turn { steps, reply, .. } = &self.outline.turns[turn];
        self.offer_in_turn(turn, |turn| turn.steps.clear());
        for step in 0..steps.len() {
            self.offer_in_turn(turn, |turn| _ = turn.steps.remove(step));
        }
        if reply.is_some() {
            self.offer_in_turn(turn, |turn| turn.reply = None);
        }
        self.offer_in_turn(turn, |turn| turn.shows = Shown::Nothing);
        for (step, planned) in steps.iter().enumerate() {
            self.smaller_step(turn, step, planned);
        }
        for (step, planned) in steps.iter().enumerate() {
            self.plainer_step(turn, step, planned);
        }
        self.offer_in_turn(turn, |turn| turn.prompt = Words::PLAIN);
        let plain = reply.map(|_| Reply { thinking: None, text: Words::PLAIN });
        self.offer_in_turn(turn, |turn| turn.reply = plain);
    }

    fn smaller_step(&mut self, turn: usize, step: usize, planned: &Step) {
        for call in (0..planned.calls.len()).filter(|_| planned.calls.len() > 1) {
            self.offer_in_turn(turn, |turn| _ = turn.steps[step].calls.remove(call));
        }
        self.offer_in_turn(turn, |turn| turn.steps[step].thinking = None);
        self.offer_in_turn(turn, |turn| turn.steps[step].before = None);
        self.offer_in_turn(turn, |turn| turn.steps[step].after = None);
        self.offer_in_turn(turn, |turn| turn.steps[step].filing = Filing::Together);
    }

    fn plainer_step(&mut self, turn: usize, step: usize, planned: &Step) {
        for call in 0..planned.calls.len() {
            let plain = Called { tool: Tool::PLAIN, output: Output::Text(Words::PLAIN) };
            self.offer_in_turn(turn, |turn| turn.steps[step].calls[call] = plain);
            self.offer_in_turn(turn, |turn| turn.steps[step].calls[call].tool = Tool::PLAIN);
            self.offer_in_turn(turn, |turn| turn.steps[step].calls[call].output = plain.output);
        }
        let plain = |words: &mut Option<Words>| *words = words.map(|_| Words::PLAIN);
        self.offer_in_turn(turn, |turn| plain(&mut turn.steps[step].thinking));
        self.offer_in_turn(turn, |turn| plain(&mut turn.steps[step].before));
        self.offer_in_turn(turn, |turn| plain(&mut turn.steps[step].after));
    }

    fn plainer(&mut self) {
        self.offer(|outline| outline.instructions = outline.instructions.map(|_| Words::PLAIN));
        self.offer(|outline| outline.salt = 0);
        self.offer(|outline| outline.model = 0);
        if let Some(at) = self.outline.planted.map(|planted| planted.at) {
            for smaller in [0, at / 2, at.saturating_sub(1)] {
                self.offer(|outline| {
                    if let Some(planted) = &mut outline.planted {
                        planted.at = smaller;
                    }
                });
            }
        }
    }
}
