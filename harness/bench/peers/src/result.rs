//! The file of results.

use std::collections::BTreeMap;

use serde::Serialize;

/// All of one run.
#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub rows: Vec<Row>,
}

/// One server.
#[derive(Serialize)]
pub struct Row {
    pub name: String,
    pub version: String,
    pub speed: Speed,
    pub memory: Memory,
    /// By dialect.
    pub histories: BTreeMap<String, Histories>,
    /// One for each way to ask for them.
    pub cuts: Vec<Cuts>,
}

/// How fast requests are answered, over keep-alive connections that are asked at once.
#[derive(Serialize)]
pub struct Speed {
    /// Median of the rounds.
    pub requests_per_second: u32,
    /// Of the server's process, per request, over all rounds.
    pub cpu_micros: u32,
    /// Median, over the rounds, of this server's rate divided by that of `brickbat serve` in the same round.
    pub of_ours: f64,
    pub reply_bytes: usize,
    pub reply_events: usize,
}

/// Resident memory of the server's process.
#[derive(Serialize)]
pub struct Memory {
    pub n_requests: usize,
    pub before_kib: u64,
    pub after_kib: u64,
}

/// What became of histories of one dialect.
#[derive(Serialize, Default)]
pub struct Histories {
    /// Illegal ones: refused with a status of 400 to 499.
    pub illegal_refused: usize,
    pub illegal: usize,
    /// Legal ones: refused, or not answered.
    pub legal_refused: usize,
    pub legal: usize,
}

/// What became of cuts. A server that has none says why.
#[derive(Serialize, Default)]
pub struct Cuts {
    /// Replies that ended exactly after the event that was drawn, by a broken connection.
    pub exact: usize,
    /// Replies that ended there, with the end of a whole body.
    pub exact_but_whole: usize,
    /// Replies that ended, by a broken connection, one event earlier.
    pub one_early: usize,
    /// Replies of which not even the head came.
    pub nothing: usize,
    /// Replies that ended elsewhere.
    pub elsewhere: usize,
    pub asked: usize,
    /// By what the cut is asked for, or why there is none.
    pub by: &'static str,
}
