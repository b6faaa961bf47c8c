//! The results file.

use std::collections::BTreeMap;

use serde::Serialize;

/// The results of one run.
#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub rows: Vec<Row>,
}

/// The results of one server.
#[derive(Serialize)]
pub struct Row {
    pub name: String,
    pub version: String,
    pub speed: Speed,
    pub memory: Memory,
    /// By dialect.
    pub histories: BTreeMap<String, Histories>,
    /// One entry for each way to request a cut.
    pub cuts: Vec<Cuts>,
}

/// The rate of replies over keep-alive connections that send requests at the same time.
#[derive(Serialize)]
pub struct Speed {
    /// Median of the rounds.
    pub requests_per_second: u32,
    /// CPU time of the server's process per request, over all rounds.
    pub cpu_micros: u32,
    /// This server's rate divided by that of `brickbat serve` in the same round; median of the rounds.
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

/// Results for the histories of one dialect.
#[derive(Serialize, Default)]
pub struct Histories {
    /// Invalid histories rejected with a status of 400 to 499.
    pub illegal_refused: usize,
    pub illegal: usize,
    /// Valid histories that were rejected or got no reply.
    pub legal_refused: usize,
    pub legal: usize,
}

/// Results of the cuts, or the reason why the server has none.
#[derive(Serialize, Default)]
pub struct Cuts {
    /// Replies that a broken connection ended exactly after the chosen event.
    pub exact: usize,
    /// Replies that ended after the chosen event as if the body were complete.
    pub exact_but_whole: usize,
    /// Replies that a broken connection ended one event too early.
    pub one_early: usize,
    /// Replies without even a head.
    pub nothing: usize,
    /// Replies that ended elsewhere.
    pub elsewhere: usize,
    pub asked: usize,
    /// How the cut is requested, or why it is not supported.
    pub by: &'static str,
}
