//! A file of benchmark figures, and the comparison with an earlier file.
//!
//! Each benchmark takes `--figures FILE`, which replaces its own figures in FILE, and `--against FILE`,
//! which fails if a ratio is more than 1.6 times the one in FILE. Only ratios are compared. Both sides of
//! a ratio are measured in the same rounds, so a slow or busy machine changes neither.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How much worse a ratio may get, as a factor. This detects a halved speed, but not the noise of a
/// short run.
const TOLERANCE: f64 = 1.6;

/// One measurement.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The command that measures it.
    pub command: String,
    pub what: String,
    pub value: f64,
    /// The unit, such as `plans/s` or `µs`.
    pub unit: String,
    pub floors: Vec<Floor>,
}

/// A comparison measured on the same machine in the same rounds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    pub what: String,
    /// Our time divided by the floor's time; median of the rounds. Lower is better.
    pub ratio: f64,
}

/// The contents of the file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    pub schema: u32,
    /// Processor, cores, memory and system, as the machine reports them.
    pub machine: String,
    pub figures: Vec<Figure>,
}

/// The options of the command line, and the figures so far.
pub struct Wish {
    /// The command, without its file options.
    command: String,
    write: Option<PathBuf>,
    against: Option<PathBuf>,
    found: Vec<Figure>,
}

impl Wish {
    /// Reads the file options. `command` is the command without them.
    pub fn of_args(command: &str) -> Wish {
        let args: Vec<String> = std::env::args().collect();
        let value = |name: &str| {
            let at = args.iter().position(|arg| arg == name)?;
            Some(PathBuf::from(args.get(at + 1).unwrap_or_else(|| panic!("{name} needs a file"))))
        };
        let command = command.to_owned();
        Wish { command, write: value("--figures"), against: value("--against"), found: Vec::new() }
    }

    /// Adds a figure with its floors from the same rounds.
    pub fn take(&mut self, what: impl Into<String>, (value, unit): (f64, &str), floors: &[(&str, f64)]) {
        let floor = |(what, ratio): &(&str, f64)| Floor { what: (*what).to_owned(), ratio: rounded(*ratio) };
        self.found.push(Figure {
            command: self.command.clone(),
            what: what.into(),
            value: rounded(value),
            unit: unit.to_owned(),
            floors: floors.iter().map(floor).collect(),
        });
    }

    /// Writes and compares the figures as the command line asks. Returns false if a ratio has become much
    /// worse.
    #[must_use]
    pub fn close(self) -> bool {
        if let Some(path) = &self.write {
            let mut file = std::fs::read(path).map_or_else(|_| Figures::default(), |text| read(&text));
            file.schema = 1;
            file.machine = machine();
            file.figures.retain(|figure| figure.command != self.command);
            file.figures.extend(self.found.iter().cloned());
            file.figures.sort_by(|one, other| one.command.cmp(&other.command));
            std::fs::write(path, serde_json::to_string_pretty(&file).unwrap() + "\n").unwrap();
        }
        let Some(path) = &self.against else { return true };
        let earlier = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let worse = self.worse_than(&read(&earlier));
        worse.iter().for_each(|line| eprintln!("{line}"));
        if worse.is_empty() {
            println!("no ratio is {TOLERANCE} times as bad as in {}", path.display());
        }
        worse.is_empty()
    }

    /// Returns a line for each ratio that is much worse than before. A measurement that exists on only one
    /// side is reported too.
    fn worse_than(&self, earlier: &Figures) -> Vec<String> {
        let now = ratios(&self.found, &self.command);
        let then = ratios(&earlier.figures, &self.command);
        let mut lines = Vec::new();
        for ((what, floor), then) in &then {
            match now.get(&(*what, *floor)) {
                None => lines.push(format!("{what}: not measured any more")),
                Some(now) if *now > then * TOLERANCE => {
                    lines.push(format!("{what}: {now} × the time of `{floor}`, and was {then} ×"));
                }
                Some(_) => {}
            }
        }
        let new = now.keys().filter(|key| !then.contains_key(*key));
        lines.extend(new.map(|(what, _)| format!("{what}: not in the file")));
        lines
    }
}

/// Returns the ratios of a command, by measurement and floor.
fn ratios<'a>(figures: &'a [Figure], command: &str) -> BTreeMap<(&'a str, &'a str), f64> {
    let own = figures.iter().filter(|figure| figure.command == command);
    own.flat_map(|figure| {
        figure.floors.iter().map(|floor| ((figure.what.as_str(), floor.what.as_str()), floor.ratio))
    })
    .collect()
}

fn read(text: &[u8]) -> Figures {
    serde_json::from_slice(text).expect("a file that a bench has written")
}

/// Rounds to three digits, the precision of the measurements.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap()
}

/// Describes the machine, as in "AMD EPYC, 2 cores, 24 GiB, linux".
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor =
        field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kib = field(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let memory = kib.map_or_else(String::new, |kib| format!(", {:.0} GiB", kib / 1024.0 / 1024.0));
    format!("{processor}, {cores} cores{memory}, {}", std::env::consts::OS)
}
