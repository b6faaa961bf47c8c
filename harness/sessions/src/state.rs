//! The states of calls, as products name them.

use crate::session::{ASKED, DECLINED};

/// How far a call had come, by the state that its store records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The model was still writing its arguments.
    Written,
    /// It was complete, and may have run.
    Begun,
    /// It waited for the user's approval, so it had not run.
    Asked,
    /// It was over: it has a result or an error, or the user declined it.
    Over,
}

impl Progress {
    /// The progress of a call in this state. `None` for a state that no known store has.
    pub fn of(state: &str) -> Option<Progress> {
        let (_, progress) = STATES.iter().find(|(known, _)| *known == state)?;
        Some(*progress)
    }
}

/// The states of all stores, which a test compares with the stored sessions.
const STATES: [(&str, Progress); 21] = [
    ("awaiting-input", Progress::Written),
    ("input-streaming", Progress::Written),
    ("partial-call", Progress::Written),
    ("streaming", Progress::Written),
    ("call", Progress::Begun),
    ("executing", Progress::Begun),
    ("in_progress", Progress::Begun),
    ("input-available", Progress::Begun),
    ("input-complete", Progress::Begun),
    ("pending", Progress::Begun),
    ("running", Progress::Begun),
    ("tool_search_call", Progress::Begun),
    (ASKED, Progress::Asked),
    ("approval-responded", Progress::Begun),
    (DECLINED, Progress::Over),
    ("complete", Progress::Over),
    ("completed", Progress::Over),
    ("error", Progress::Over),
    ("output-available", Progress::Over),
    ("output-error", Progress::Over),
    ("success", Progress::Over),
];
