//! `brickbat matrix`: reports in, a table out.

use std::path::Path;

use crate::program::{self, Said};

#[test]
fn a_run_on_two_systems_is_a_table_of_two_rows() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let systems = ["--system", "reference/simulated", "--system", "canary/dangling-on-abort/simulated"];
    let plans = ["run", "abort/mid-batch", "control/", "--dialect", "openai-chat", "--report"];
    let run = brickbat(&[&plans[..], &[report.to_str().unwrap()], &systems].concat());
    assert_eq!(run.code, Some(1), "{run:?}");

    let table = brickbat(&["matrix", report.to_str().unwrap()]);
    let table = said(&table);
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split("  ").filter(|cell| !cell.is_empty()).collect()).collect();
    let cell = |row: usize, column: usize| lines[row][column].trim();
    assert_eq!(lines[0], ["system", "level", "abort", "control"].map(str::trim), "{table}");
    assert_eq!((cell(1, 0), cell(1, 1)), ("canary/dangling-on-abort/simulated", "–"), "{table}");
    assert!(cell(1, 2).starts_with("bricked-by-provider ") && cell(1, 3).starts_with("pass "), "{table}");
    // Only a part of the requirements ran, so there is no level.
    assert!(cell(2, 1) == "–" && cell(2, 2).starts_with("pass "), "{table}");

    let markdown = brickbat(&["matrix", report.to_str().unwrap(), "--markdown"]);
    let markdown = said(&markdown);
    assert!(markdown.starts_with("| system | level | abort | control |\n|---|---|---|---|\n"), "{markdown}");
    let json: serde_json::Value =
        serde_json::from_str(said(&brickbat(&["matrix", report.to_str().unwrap(), "--json"]))).unwrap();
    assert_eq!(json["rows"][0]["cells"][0]["worst"], "bricked-by-provider");

    let missing = brickbat(&["matrix", "no-such-file.json"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
}

fn brickbat(args: &[&str]) -> Said {
    program::brickbat(Path::new("."), args, &[])
}

fn said(said: &Said) -> &str {
    assert_eq!(said.code, Some(0), "{said:#?}");
    &said.out
}
