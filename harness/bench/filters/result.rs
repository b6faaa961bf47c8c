//! The results file.

use serde::Serialize;

/// The results of one run.
#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub sets: Vec<Set>,
}

/// The figures for a set of histories, in CPU time of one thread.
#[derive(Serialize)]
pub struct Set {
    pub name: &'static str,
    pub histories: usize,
    /// Average size of a body.
    pub bytes: usize,
    /// The first row is the floor.
    pub rows: Vec<Row>,
    /// The stages of judging one history.
    pub stages: Vec<Stage>,
}

/// One way to process each history.
#[derive(Serialize)]
pub struct Row {
    pub what: &'static str,
    pub histories_per_second: u32,
    pub micros: f64,
    /// Median of the rounds.
    pub of_floor: f64,
}

/// One stage of judging a history.
#[derive(Serialize)]
pub struct Stage {
    pub what: &'static str,
    pub micros: f64,
    /// Share of the total, in percent.
    pub share: f64,
}

/// Rounds to two decimal places.
pub fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
