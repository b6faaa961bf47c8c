//! The tables of what filters cost, from the files that `cargo bench -p brickbat-filter-suite` and
//! `cargo bench --bench filter-drivers` have written.

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DriversReport {
    schema: u32,
    drivers: Vec<Driver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Driver {
    filter: String,
    mode: String,
    language: String,
    histories: usize,
    bytes: usize,
    rows: Vec<DriverRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DriverRow {
    what: String,
    driver_micros: f64,
    our_micros: f64,
    histories_per_second: u32,
    of_floor: f64,
}

/// A row for each driver, and for what is done with it.
pub fn filter_drivers() -> String {
    let report: DriversReport = serde_json::from_str(&read("harness/bench/filters/drivers.json")).unwrap();
    assert_eq!(report.schema, 1);
    let mut text =
        "\n| driver | histories | what | its µs | of the floor | our µs | histories a second |\n".to_owned();
    text += "|---|---|---|---|---|---|---|\n";
    for Driver { filter, mode, language, histories, bytes, rows } in report.drivers {
        let mut about = format!("`{filter}/{mode}` ({language}) | {histories} of {bytes} bytes");
        for DriverRow { what, driver_micros, our_micros, histories_per_second, of_floor } in rows {
            let figures =
                format!("{driver_micros:.0} | {of_floor:.2} | {our_micros:.0} | {histories_per_second}");
            writeln!(text, "| {about} | {what} | {figures} |").unwrap();
            about = " | ".to_owned();
        }
    }
    text + "\n"
}
