//! The current turn and its progress.

use super::Conductor;
use brickbat_scenario::plan::PlannedPoint;
use brickbat_scenario::trace::{Confidence, LetGo, RequestKind};

#[derive(Debug)]
pub(super) struct TurnState {
    pub(super) idx: usize,
    pub(super) stage: TurnStage,
    /// True if the user or the harness has stopped it or broken it off; stays true after its end.
    pub(super) stopped: bool,
    /// True if the harness has stopped it because it would not have ended.
    pub(super) is_broken_off: bool,
    /// The last thing that the harness let continue although the turn was stopped.
    pub(super) let_go: Option<LetGo>,
    /// Quiet periods since the last event.
    pub(super) n_quiet: u32,
    /// The largest number of quiet periods before a request.
    pub(super) longest_wait: u32,
    pub(super) n_requests: u32,
    /// True if a request came after the last reply of the script.
    pub(super) is_off_script: bool,
    /// How certain it is that the system has received the results of its tools.
    pub(super) results: Confidence,
    /// Indices of actions that end the turn when the result in flight has arrived, each with the confidence
    /// of its point.
    pub(super) put_off: Vec<(usize, Confidence)>,
    /// The indices of actions that settle a call before it starts, each with its point's confidence.
    pub(super) awaiting: Vec<(usize, Confidence)>,
}

/// The stage of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnStage {
    /// The turn runs; `n_prompts` of the user's prompts have not had their turn yet.
    Running {
        n_prompts: u32,
    },
    Over,
    /// The process is being killed in the middle of its work. Whatever it still does is ignored.
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
            let_go: None,
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

    /// Adds a prompt that is given to a running turn and begins a new turn.
    pub(super) fn prompted(&mut self) {
        if let TurnStage::Running { n_prompts } = self {
            *n_prompts += 1;
        }
    }

    /// Removes a prompt with a finished turn, or without one.
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
            // The user spoke while this turn ran. The turn of that prompt begins now, and is not stopped.
            self.turn.stopped = false;
            self.turn.let_go = None;
        }
    }

    /// Handles a rejected prompt: it was given to the running turn and gets no separate turn. Earlier
    /// questions to the user are then answered.
    pub(super) fn prompt_refused(&mut self) {
        self.turn.stage.prompt_done();
        self.questions.reopen();
    }

    /// Proves that the turn ended after the planned step, if it did.
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
