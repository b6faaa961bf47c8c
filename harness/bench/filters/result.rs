//! The file of results.

use serde::Serialize;

/// All of one run.
#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub sets: Vec<Set>,
}

/// What came of some histories, in CPU time of one thread.
#[derive(Serialize)]
pub struct Set {
    pub name: &'static str,
    pub histories: usize,
    /// Of a body, on average.
    pub bytes: usize,
    /// The first is the floor.
    pub rows: Vec<Row>,
    /// What judging one of them is made of.
    pub stages: Vec<Stage>,
}

/// One thing that is done with each history.
#[derive(Serialize)]
pub struct Row {
    pub what: &'static str,
    pub histories_per_second: u32,
    pub micros: f64,
    /// Median of the rounds.
    pub of_floor: f64,
}

/// A part of judging a history.
#[derive(Serialize)]
pub struct Stage {
    pub what: &'static str,
    pub micros: f64,
    /// Of the whole, in percent.
    pub share: f64,
}

/// Two digits after the point say enough.
pub fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
