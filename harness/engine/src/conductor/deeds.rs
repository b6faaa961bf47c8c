//! What is done to a running turn besides stopping and killing it, and how it ended.

use super::{Command, Conductor};
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{BoundAction, PlannedPoint};
use brickbat_scenario::trace::{Aside, Grade, RequestKind};

/// What the harness does for an action that a system takes in at once.
pub(super) fn commands(what: &BoundAction) -> Vec<Command> {
    let say = |way, text: &String| vec![Command::Say { way, text: text.clone() }];
    match what {
        Action::Steer(text) => say(Aside::Steered, text),
        Action::Prompt(text) => say(Aside::Prompted, text),
        Action::Inject(text) => say(Aside::Injected, text),
        Action::Interrupt(cause) => vec![Command::Interrupt(*cause)],
        Action::StopAgain => vec![Command::Stop, Command::Stop],
        Action::Abort | Action::Stall => vec![Command::Stop],
        _ => Vec::new(),
    }
}

/// Turns that an action begins beside the one that runs.
pub(super) fn prompts(what: &BoundAction) -> u32 {
    u32::from(matches!(what, Action::Prompt(_)))
}

impl Conductor {
    /// One of the prompts has had its turn.
    pub(super) fn turn_over(&mut self) {
        self.n_running = self.n_running.saturating_sub(1);
        self.ended = self.n_running == 0;
        if self.ended {
            self.note_finish();
        }
    }

    /// The prompt beside the turn gets no turn of its own. What the user was asked before is answered then.
    pub(super) fn prompt_refused(&mut self) {
        self.n_running = self.n_running.saturating_sub(1);
        self.ended = self.n_running == 0;
        self.questions.reopen();
    }

    /// The turn is over: it is seen whether it ended after the step after which it was to end.
    fn note_finish(&mut self) {
        let turn = self.turn;
        let served = self.kinds.values().filter_map(|kind| match kind {
            RequestKind::Scripted { turn: of, reply, .. } if *of == turn => Some(*reply as u32 + 1),
            _ => None,
        });
        let here = PlannedPoint::Step(served.max().unwrap_or_default());
        let is_clean = !self.stopped && !self.surplus;
        let ended = self.actions.iter_mut().filter(|receipt| receipt.turn == turn && receipt.at == here);
        ended.filter(|_| is_clean).for_each(|receipt| receipt.prove(Grade::Observed));
    }
}
