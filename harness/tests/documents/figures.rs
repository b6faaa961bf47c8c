//! The table of what the benches have measured, from the file that `harness/bench/run` has written.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    schema: u32,
    machine: String,
    figures: Vec<Figure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    command: String,
    what: String,
    value: f64,
    unit: String,
    floors: Vec<Floor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Floor {
    what: String,
    ratio: f64,
}

/// A table for each bench, and the machine.
pub fn figures() -> String {
    let Figures { schema, machine, figures } =
        serde_json::from_str(&read("harness/bench/figures.json")).unwrap();
    assert_eq!(schema, 1);
    let mut text = format!("\nMeasured on: {machine}.\n");
    let mut command = None;
    for figure in &figures {
        if command.replace(&figure.command) != Some(&figure.command) {
            write!(text, "\n`{}`:\n\n", figure.command).unwrap();
            text += "| what | figure | time, compared with |\n|---|---|---|\n";
        }
        let floor = |Floor { what, ratio }: &Floor| format!("{ratio} × {what}");
        let floors: Vec<String> = figure.floors.iter().map(floor).collect();
        let value = super::peers::number(figure.value);
        writeln!(text, "| {} | {value} {} | {} |", figure.what, figure.unit, floors.join("; ")).unwrap();
    }
    text + "\n"
}
