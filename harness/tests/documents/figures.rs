//! The table of benchmark results, from the file that `harness/bench/run` has written.

use serde::Deserialize;

use super::blocks::table;
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
    let Figures { schema, machine, figures } = serde_json::from_str(&read("docs/data/figures.json")).unwrap();
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
        let value = super::number(figure.value);
        writeln!(text, "| {} | {value} {} | {} |", figure.what, figure.unit, floors.join("; ")).unwrap();
    }
    text + "\n"
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Runtime {
    runtime: String,
    start_us: f64,
    accepted_us: f64,
    refused_us: f64,
    module_bytes: f64,
    spawn_wall_us: f64,
}

/// The times of the rules as a library: a row for each runtime.
pub fn library() -> String {
    let runtimes = read("docs/data/library.jsonl");
    let runtimes = runtimes.lines().map(|line| serde_json::from_str::<Runtime>(line).unwrap());
    let head =
        ["runtime", "accepted history", "refused history", "first call", "start of the program", "module"];
    let rows = runtimes.map(|of| {
        vec![
            of.runtime,
            format!("{:.0} µs", of.accepted_us),
            format!("{:.0} µs", of.refused_us),
            format!("{:.0} ms", of.start_us / 1000.0),
            format!("{:.0} ms", of.spawn_wall_us / 1000.0),
            format!("{:.1} MB", of.module_bytes / 1e6),
        ]
    });
    format!("\n{}\n\n", table(&head, rows).trim_end())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Profiles {
    schema: u32,
    profiles: Vec<Profile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    subject: String,
    shares: BTreeMap<String, f64>,
}

/// The time that plans and rules take: a row for each kind of code, a column for each profile.
pub fn profile() -> String {
    let Profiles { schema, profiles } = serde_json::from_str(&read("docs/data/profile.json")).unwrap();
    assert_eq!(schema, 1);
    let names: BTreeSet<&String> = profiles.iter().flat_map(|profile| profile.shares.keys()).collect();
    let share = |profile: &Profile, name: &String| profile.shares.get(name).copied().unwrap_or_default();
    let mut names: Vec<&String> = names.into_iter().collect();
    names.sort_by(|one, other| share(&profiles[0], other).total_cmp(&share(&profiles[0], one)));
    let subjects: Vec<&str> = profiles.iter().map(|profile| profile.subject.as_str()).collect();
    let mut text =
        format!("\n| % of the time | {} |\n|---|{}\n", subjects.join(" | "), "---|".repeat(subjects.len()));
    for name in names {
        let cells: Vec<String> =
            profiles.iter().map(|profile| format!("{:.1}", share(profile, name))).collect();
        writeln!(text, "| {name} | {} |", cells.join(" | ")).unwrap();
    }
    text + "\n"
}
