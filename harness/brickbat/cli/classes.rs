//! `brickbat classes`: the table of the failure classes.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, ValueEnum};

use super::embedded::{CLASSES, bugs_of_filters, catalogue};
use super::error::{CliError, Outcome};
use super::filters;
use super::kills::kills;
use super::library::{self, Selection};
use super::output::{print_plain, tell};
use brickbat_drive::driver::BASELINE;
use brickbat_drive::runner::Job;
use brickbat_engine::checks::CHECKS;
use brickbat_engine::flaws::Canary;
use brickbat_filter_suite::planted;
use brickbat_report::baseline::Baseline;
use brickbat_report::classes;
use brickbat_report::classes::table::{self, Facts, Kills, KnownFinding, Summary};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::verdict::Severity;

/// For each known failure class, show which scenarios cover it, which planted bug proves that, and which systems have
/// it.
///
/// A class is *proven* if its check catches a planted bug of the class, and only in scenarios of the class: without
/// them, the suite would miss the bug. `alone` means that a single scenario proves the class.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Classes {
    /// The table format.
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    /// Exit with code 1 if fewer than N classes are proven.
    #[arg(long, value_name = "N")]
    require: Option<usize>,
    /// Exit with code 1 if a class has a planted bug and is still not proven.
    #[arg(long)]
    strict: bool,
    /// Show only this class. May be repeated.
    #[arg(long, value_name = "CLASS")]
    only: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  brickbat classes
  brickbat classes --only abort-batch
  brickbat classes --format markdown > classes.md
  brickbat classes --require 55

Exit codes: 0 as required, 1 fewer classes are proven than --require or --strict demands, 2 usage or bad input.";

#[derive(Clone, Copy, ValueEnum)]
enum TableFormat {
    Text,
    Markdown,
    Json,
}

/// Exit code if less is proven than is required.
const UNPROVEN: u8 = 1;

impl Classes {
    pub(super) fn execute(&self) -> Outcome {
        let mut classes = classes::parse(CLASSES.1, CLASSES.0)?;
        if let Some(unknown) = self.only.iter().find(|id| !classes.iter().any(|class| class.id == **id)) {
            let known: Vec<&str> = classes.iter().map(|class| class.id.as_str()).collect();
            let hint = brickbat_scenario::parse::did_you_mean(unknown, &known);
            let hint = hint.unwrap_or_else(|| "`brickbat classes` lists them".to_owned());
            return Err(CliError::input(format!("there is no class `{unknown}`\nhint: {hint}")));
        }
        classes.retain(|class| self.only.is_empty() || self.only.contains(&class.id));
        let facts = facts(|class| self.only.is_empty() || self.only.iter().any(|id| id == class))?;
        let rows = table::rows(&classes, &facts);
        print_plain(&match self.format {
            TableFormat::Text => table::text(&rows),
            TableFormat::Markdown => table::markdown(&rows),
            TableFormat::Json => table::json(&rows),
        });
        Ok(self.judge(&rows))
    }

    /// The exit code. Prints the reason if it is not 0.
    fn judge(&self, rows: &[table::ClassRow]) -> u8 {
        let mut code = 0;
        let proven = Summary::of(rows).proven;
        if let Some(wanted) = self.require.filter(|wanted| proven < *wanted) {
            tell(format!("{proven} classes are proven, but {wanted} are required"));
            code = UNPROVEN;
        }
        for row in table::unproven(rows).filter(|_| self.strict) {
            let reason = row.reason.as_deref().unwrap_or_default();
            tell(format!("{} has a planted bug but is not proven: {reason}", row.class.id));
            code = UNPROVEN;
        }
        code
    }
}

/// The results for the requested classes.
fn facts(is_wanted: impl Fn(&str) -> bool) -> Result<Facts, CliError> {
    let mut said = library::said()?;
    let selection = Selection { sources: &[], dialects: &Dialect::ALL, filter: None, seed: 0 };
    let jobs = library::load(&selection)?;
    let of_class = |canary: &Canary| canary.class().is_some_and(&is_wanted);
    let canaries: Vec<Canary> = Canary::all().filter(of_class).collect();
    let kills = kills(&jobs, &canaries);
    let kills = kills.into_iter().filter_map(|(canary, scenarios)| {
        let check = canary.caught_by();
        let severity = CHECKS.iter().find(|known| known.id == check)?.severity;
        Some(Kills { canary: canary.name(), class: canary.class()?, check, severity, scenarios })
    });
    let mut kills: Vec<Kills> = kills.collect();
    between(is_wanted, &mut said, &mut kills)?;
    let baselines = baselines()?;
    Ok(Facts { said, kills, shown: shown(&baselines, &jobs), named: named(&baselines) })
}

/// The classes with bugs between client and provider. The histories given to filters cover them, and a
/// filter with a planted bug proves them.
fn between(
    is_wanted: impl Fn(&str) -> bool,
    said: &mut BTreeMap<String, BTreeSet<String>>,
    kills: &mut Vec<Kills>,
) -> Result<(), CliError> {
    for bug in planted::planted() {
        let Some(class) = bug.class.filter(|class| is_wanted(class)) else { continue };
        let histories = format!("filters/{}", bug.own.name);
        said.insert(histories.clone(), BTreeSet::from([class.to_owned()]));
        let is_caught = filters::proof::caught(bug)? == BTreeSet::from([bug.check]);
        kills.push(Kills {
            canary: bug.own.name,
            class,
            check: bug.check,
            severity: Severity::BrickedByProvider,
            scenarios: is_caught.then_some(histories).into_iter().collect(),
        });
    }
    Ok(())
}

/// The baselines of the built-in systems.
fn baselines() -> Result<BTreeMap<String, Baseline>, CliError> {
    let mut baselines = BTreeMap::new();
    for manifest in catalogue().manifests() {
        let Some(text) = manifest.text(BASELINE).filter(|_| !baselines.contains_key(&manifest.name)) else {
            continue;
        };
        let baseline = Baseline::parse(&text, &format!("{}/{BASELINE}", manifest.name))?;
        baselines.insert(manifest.name.clone(), baseline);
    }
    Ok(baselines)
}

/// The known findings of each system, in the plans that its entries note or list.
fn shown(baselines: &BTreeMap<String, Baseline>, jobs: &[Job]) -> BTreeMap<String, BTreeSet<KnownFinding>> {
    let of_system = |baseline: &Baseline| {
        let known = baseline.entries.iter().flat_map(|entry| {
            let seen = jobs.iter().filter(|job| entry.has_seen(&job.plan.id.to_string()));
            seen.map(|job| KnownFinding {
                scenario: job.plan.id.scenario.clone(),
                check: entry.check.clone(),
                severity: entry.severity,
            })
        });
        known.collect()
    };
    baselines.iter().map(|(system, baseline)| (system.clone(), of_system(baseline))).collect()
}

/// The classes named in each system's entries, and each filter's known bugs.
fn named(baselines: &BTreeMap<String, Baseline>) -> BTreeMap<String, BTreeSet<String>> {
    let of_system = |(system, baseline): (&String, &Baseline)| {
        let classes = baseline.entries.iter().flat_map(|entry| entry.classes.iter().cloned());
        (system.clone(), classes.collect())
    };
    let mut named: BTreeMap<String, BTreeSet<String>> = baselines.iter().map(of_system).collect();
    for (_, bug) in bugs_of_filters() {
        named.entry(format!("{} (filter)", bug.filter)).or_default().extend(bug.classes);
    }
    named
}
