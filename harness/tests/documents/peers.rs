//! The table of other servers that stand in for a model, from the file that `harness/bench/peers/run` has written.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Peers {
    #[serde(rename = "schema")]
    _schema: u32,
    rows: Vec<Peer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Peer {
    name: String,
    version: String,
    speed: PeerSpeed,
    memory: Memory,
    histories: BTreeMap<String, Histories>,
    cuts: Vec<Cuts>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerSpeed {
    requests_per_second: u32,
    cpu_micros: u32,
    of_ours: f64,
    #[serde(rename = "reply_bytes")]
    _reply_bytes: usize,
    #[serde(rename = "reply_events")]
    _reply_events: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Memory {
    n_requests: usize,
    before_kib: u64,
    after_kib: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Histories {
    illegal_refused: usize,
    illegal: usize,
    legal_refused: usize,
    legal: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cuts {
    exact: usize,
    exact_but_whole: usize,
    one_early: usize,
    nothing: usize,
    elsewhere: usize,
    asked: usize,
    by: String,
}

impl Cuts {
    fn cell(&self) -> String {
        if self.asked == 0 {
            return self.by.clone();
        }
        let others = [
            (self.exact_but_whole, "exact, but as a whole body"),
            (self.one_early, "one event early"),
            (self.nothing, "without a head"),
            (self.elsewhere, "elsewhere"),
        ];
        let others = others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {n} {what}"));
        format!("{} of {}{} ({})", self.exact, self.asked, others.collect::<String>(), self.by)
    }
}

const PEERS: [&str; 8] = [
    "server",
    "CPU µs a request",
    "requests/s",
    "of ours",
    "memory before and after",
    "illegal histories refused",
    "legal histories refused",
    "cuts at the event asked for",
];

/// What `harness/bench/peers/run` has measured.
pub fn peers() -> String {
    let file: Peers = serde_json::from_str(&read("harness/bench/peers/result.json")).unwrap();
    let mut text = format!("\n| {} |\n|{}\n", PEERS.join(" | "), "---|".repeat(PEERS.len()));
    let n_requests = file.rows.iter().map(|row| row.memory.n_requests).max().unwrap_or_default();
    for row in &file.rows {
        let fewer = match row.memory.n_requests {
            n if n == n_requests => String::new(),
            n => format!(", {} requests", number(n as f64)),
        };
        let sum = |count: fn(&Histories) -> usize| row.histories.values().map(count).sum::<usize>();
        let (illegal, legal) = (sum(|own| own.illegal), sum(|own| own.legal));
        let mib = |kib: u64| format!("{:.1}", kib as f64 / 1024.0);
        let cuts: Vec<String> = row.cuts.iter().map(Cuts::cell).collect();
        let cells = [
            format!("{} {}", row.name, row.version),
            number(row.speed.cpu_micros.into()),
            number(row.speed.requests_per_second.into()),
            format!("{:.2}", row.speed.of_ours),
            format!("{} and {} MiB{fewer}", mib(row.memory.before_kib), mib(row.memory.after_kib)),
            format!("{} of {illegal}", sum(|own| own.illegal_refused)),
            format!("{} of {legal}", sum(|own| own.legal_refused)),
            cuts.join("; "),
        ];
        writeln!(text, "| {} |", cells.join(" | ")).unwrap();
    }
    let is_equal = file.rows.iter().all(|row| row.memory.n_requests == n_requests);
    let or_fewer = if is_equal { "" } else { ", or as many as its row says" };
    writeln!(
        text,
        "\nMemory: of the server's process, before and after {} requests{or_fewer}.",
        number(n_requests as f64)
    )
    .unwrap();
    text
}

/// With commas between thousands, and no more digits than the file has.
pub fn number(value: f64) -> String {
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or(grouped.clone(), |fraction| format!("{grouped}.{fraction}"))
}
