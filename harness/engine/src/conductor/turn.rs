//! The turn that is being conducted, and how far it has come.

use super::Conductor;
use brickbat_scenario::plan::PlannedPoint;
use brickbat_scenario::trace::{Confidence, RequestKind};

#[derive(Debug)]
pub(super) struct TurnState {
    pub(super) idx: usize,
    pub(super) stage: TurnStage,
    /// Whether the user, or the harness, has stopped it or broken it off; that stays so when it is over.
    pub(super) stopped: bool,
    /// Whether it was the harness that has stopped it, since it would not have ended.
    pub(super) is_broken_off: bool,
    /// Whether provider and tools go on although it was stopped.
    pub(super) is_let_go: bool,
    /// Quiet spells since anything happened.
    pub(super) n_quiet: u32,
    /// The most quiet spells before a request.
    pub(super) longest_wait: u32,
    pub(super) n_requests: u32,
    /// Whether a request came for which the script had no reply left.
    pub(super) is_off_script: bool,
    /// How sure it is that the system has the results that it was given.
    pub(super) results: Confidence,
    /// Actions that end the turn when the result under way has arrived, as indices, with the grade of their place.
    pub(super) put_off: Vec<(usize, Confidence)>,
    /// Actions that settle a call which has not started yet, with the grade of their place.
    pub(super) awaiting: Vec<(usize, Confidence)>,
}

/// How far a turn has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnStage {
    /// So many of the user's prompts have not had their turn.
    Running {
        n_prompts: u32,
    },
    Over,
    /// The process is being killed in the middle of its work. What it still does is not conducted.
    Dying,
    /// The process is dead, or idle and about to die.
    Dead,
    /// A new process is being started.
    Resuming,
}

impl TurnState {
    pub(super) fn begun(idx: usize) -> TurnState {
        let stage = TurnStage::Running { n_prompts: 1 };
        TurnState {
            idx,
            stage,
            stopped: false,
            is_broken_off: false,
            is_let_go: false,
            n_quiet: 0,
            longest_wait: 0,
            n_requests: 0,
            is_off_script: false,
            results: Confidence::Observed,
            put_off: Vec::new(),
            awaiting: Vec::new(),
        }
    }
}

impl TurnStage {
    pub(super) fn is_over(self) -> bool {
        matches!(self, TurnStage::Over | TurnStage::Dead | TurnStage::Resuming)
    }

    pub(super) fn is_killed(self) -> bool {
        matches!(self, TurnStage::Dying | TurnStage::Dead | TurnStage::Resuming)
    }

    /// A prompt that is given to a running turn begins a turn of its own.
    pub(super) fn prompted(&mut self) {
        if let TurnStage::Running { n_prompts } = self {
            *n_prompts += 1;
        }
    }

    /// One of the prompts has had its turn, or gets none.
    fn prompt_done(&mut self) {
        match self {
            TurnStage::Running { n_prompts: n @ 2.. } => *n -= 1,
            TurnStage::Running { .. } => *self = TurnStage::Over,
            TurnStage::Over | TurnStage::Dying | TurnStage::Dead | TurnStage::Resuming => {}
        }
    }

    pub(super) fn died(&mut self) {
        match self {
            TurnStage::Running { .. } => *self = TurnStage::Over,
            TurnStage::Dying => *self = TurnStage::Dead,
            TurnStage::Over | TurnStage::Dead | TurnStage::Resuming => {}
        }
    }

    pub(super) fn resumed(&mut self) {
        if matches!(self, TurnStage::Dead | TurnStage::Resuming) {
            *self = TurnStage::Over;
        }
    }
}

impl Conductor {
    pub(super) fn turn_over(&mut self) {
        self.turn.stage.prompt_done();
        if self.turn.stage.is_over() {
            self.note_finish();
        } else {
            // The user spoke while this turn ran. The turn of that prompt begins now, and has not been stopped.
            self.turn.stopped = false;
        }
    }

    /// The prompt that was given to the running turn gets no turn of its own. What the user was asked before is
    /// answered then.
    pub(super) fn prompt_refused(&mut self) {
        self.turn.stage.prompt_done();
        self.questions.reopen();
    }

    /// Proves that the turn ended after the step after which it was to end, if it did.
    fn note_finish(&mut self) {
        let turn = self.turn.idx;
        let served = self.kinds.values().filter_map(|kind| match kind {
            RequestKind::Scripted { turn: of, reply, .. } if *of == turn => Some(*reply as u32 + 1),
            _ => None,
        });
        let here = PlannedPoint::Step(served.max().unwrap_or_default());
        let is_clean = !self.turn.stopped && !self.turn.is_off_script;
        let ended = self.actions.iter_mut().filter(|action| action.turn == turn && action.at == here);
        ended.filter(|_| is_clean).for_each(|action| action.prove(Confidence::Observed));
    }
}
