//! The table of the healthy sessions that real products wrote under `harness/nightly/products/healthy.py`.

use serde::Deserialize;

use super::*;

/// A session, as the program writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    product: String,
    version: String,
    kind: String,
    #[serde(rename = "seed")]
    _seed: u32,
    store: String,
    verdicts: Vec<String>,
    exit: u8,
    repair_exit: u8,
    batches: usize,
    compactions: usize,
    forks: usize,
    off_branch: usize,
    changed: bool,
    refused: u64,
    /// The number of processes that resumed the session after the one that began it. Older rows do not have
    /// it; in those, too, each turn was a process.
    #[serde(default)]
    resumed: Option<u32>,
    day: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    sessions: Vec<Row>,
}

impl Row {
    /// True if the store shows what was done to the history.
    fn shows_it(&self) -> bool {
        match self.kind.as_str() {
            "compacted" => self.compactions > 0,
            "rewound" => self.forks > 0 || self.off_branch > 0,
            _ => true,
        }
    }

    fn is_accused(&self) -> bool {
        self.exit != 0
    }

    fn is_touched(&self) -> bool {
        self.changed || self.repair_exit != 0
    }
}

const HEAD: [&str; 11] = [
    "product",
    "version",
    "store",
    "what was done",
    "sessions",
    "with a parallel batch",
    "the store shows it",
    "verdicts",
    "called broken",
    "changed by a repair",
    "refused afterwards",
];

/// The table and its sums.
pub fn healthy() -> String {
    let report: Report = serde_json::from_str(&read("docs/data/healthy-sessions.json")).unwrap();
    let mut lines: BTreeMap<[&str; 4], Vec<&Row>> = BTreeMap::new();
    for row in &report.sessions {
        lines.entry([&row.product, &row.version, &row.store, &row.kind]).or_default().push(row);
    }
    let mut text = format!("\n| {} |\n|{}\n", HEAD.join(" | "), "---|".repeat(HEAD.len()));
    for (names, rows) in lines {
        let count = |is_meant: fn(&Row) -> bool| rows.iter().filter(|row| is_meant(row)).count().to_string();
        let verdicts: BTreeSet<&str> =
            rows.iter().flat_map(|row| &row.verdicts).map(String::as_str).collect();
        let cells = [
            names.join(" | "),
            rows.len().to_string(),
            count(|row| row.batches > 0),
            count(Row::shows_it),
            verdicts.into_iter().collect::<Vec<_>>().join("; "),
            count(Row::is_accused),
            count(Row::is_touched),
            count(|row| row.refused > 0),
        ];
        writeln!(text, "| {} |", cells.join(" | ")).unwrap();
    }
    let all = &report.sessions;
    let count = |is_meant: &dyn Fn(&Row) -> bool| all.iter().filter(|row| is_meant(row)).count();
    let days: BTreeSet<&str> = all.iter().map(|row| row.day.as_str()).collect();
    let of_kind = |kind: &'static str| count(&move |row: &Row| row.kind == kind);
    writeln!(
        text,
        "\n{} healthy sessions ({}), all taken up by another process for each turn ({}): {} with a parallel batch, \
         {} compacted, {} forked, {} rewound, {} only resumed; {} called broken, {} changed, {} refused afterwards.\n",
        all.len(),
        days.into_iter().collect::<Vec<_>>().join(", "),
        resumed(all),
        count(&|row| row.batches > 0),
        of_kind("compacted"),
        of_kind("forked"),
        of_kind("rewound"),
        of_kind("resumed"),
        count(&Row::is_accused),
        count(&Row::is_touched),
        count(&|row| row.refused > 0),
    )
    .unwrap();
    text
}

/// How often another process resumed the sessions, as far as that was counted.
fn resumed(rows: &[Row]) -> String {
    let counted: Vec<u32> = rows.iter().filter_map(|row| row.resumed).collect();
    let least = counted.iter().min().copied().unwrap_or_default();
    format!("counted in {}, each at least {least} times", counted.len())
}
