//! The tables of what judging filters costs, from the file that `cargo bench -p brickbat-filter-suite` has written.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    schema: u32,
    sets: Vec<Set>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    name: String,
    histories: usize,
    bytes: usize,
    rows: Vec<Row>,
    stages: Vec<Stage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    what: String,
    histories_per_second: u32,
    micros: f64,
    of_floor: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stage {
    what: String,
    micros: f64,
    share: f64,
}

/// Shares below this are left out, in percent.
const WORTH_A_ROW: f64 = 1.0;

/// A table of rates and one of stages for each kind of history.
pub fn filter_speed() -> String {
    let report: Report = serde_json::from_str(&read("harness/bench/filters/result.json")).unwrap();
    assert_eq!(report.schema, 1);
    let mut text = String::new();
    for Set { name, histories, bytes, rows, stages } in report.sets {
        write!(text, "\n{histories} histories, {name}; {bytes} bytes each on average.\n\n").unwrap();
        text += "| what | histories a second | µs | of the floor |\n|---|---|---|---|\n";
        for Row { what, histories_per_second, micros, of_floor } in rows {
            writeln!(text, "| {what} | {histories_per_second} | {micros:.1} | {of_floor:.2} |").unwrap();
        }
        text += "\n| stage of judging `repair` | µs | share |\n|---|---|---|\n";
        for Stage { what, micros, share } in stages.iter().filter(|stage| stage.share >= WORTH_A_ROW) {
            writeln!(text, "| {what} | {micros:.1} | {share:.0} % |").unwrap();
        }
    }
    text + "\n"
}
