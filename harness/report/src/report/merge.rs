//! Joins the shard reports from one run into the report for the complete run.

use brickbat_scenario::plan::CONTROL;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{
    Account, BaselineComparison, Case, Circumstances, EarlyEnd, EntryFindings, Report, Shard, StalePlans,
    Stopped,
};
use brickbat_scenario::verdict::Verdict;

/// The reason why reports are not the shards of one run. Each variant names the files concerned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    #[error("no reports to merge")]
    Nothing,
    /// A report of a complete run among others.
    #[error(
        "{0} is the report of a complete run, not of a shard\nhint: `brickbat run --shard 1/4` writes reports of shards"
    )]
    Whole(String),
    /// Two reports differ in a value that all shards in a run share. Contains both files and the
    /// value.
    #[error(
        "{one} and {other} differ in {what}: {a} and {b}\nhint: run each shard with the same command",
        one = .0[0], other = .0[1], what = .1, a = .2[0], b = .2[1]
    )]
    Differ([String; 2], &'static str, [String; 2]),
    /// Shards without a report.
    #[error("shard {} is missing", .0.join(" is missing, shard "))]
    Missing(Vec<String>),
    /// A case is in the report of a shard that its plan does not belong to.
    #[error("{0} contains {1}, which belongs to another shard")]
    Stray(String, String),
    /// Two reports judge a case differently: the case, both files, and both verdicts.
    #[error("{case} is {a} in {one} but {b} in {other}", case = .0, a = .2[0], one = .1[0], b = .2[1], other = .1[1])]
    Disagree(String, [String; 2], [String; 2]),
}

/// A report with its file name.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardReport {
    pub file: String,
    pub report: Report,
}

/// Joins the reports from all shards of a run. A single report for a complete run stays unchanged.
///
/// # Errors
///
/// The reports are not the shards of one run, or some are missing.
pub fn merge(parts: Vec<ShardReport>) -> Result<Report, MergeError> {
    let mut parts = parts;
    if let [ShardReport { report: Report { shard: None, .. }, .. }] = parts.as_slice() {
        return parts.pop().map(|part| part.report).ok_or(MergeError::Nothing);
    }
    let Some(first) = parts.first() else { return Err(MergeError::Nothing) };
    let mut shards: Vec<Shard> = Vec::with_capacity(parts.len());
    for part in &parts {
        shards.push(part.report.shard.ok_or_else(|| MergeError::Whole(part.file.clone()))?);
        alike(first, part)?;
    }
    let of = first.report.shard.map_or(0, |shard| shard.of);
    let is_given = |index: &u32| shards.iter().any(|shard| shard.index == *index);
    let missing = (1..=of).filter(|index| !is_given(index)).map(|index| format!("{index}/{of}"));
    let missing: Vec<String> = missing.collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing(missing));
    }
    same_systems(&parts)?;
    let (seed, profiles) = (first.report.seed, first.report.profiles.clone());
    let (requirements, selection) = (first.report.requirements.clone(), first.report.selection.clone());
    let wall_ms = parts.iter().filter_map(|part| Some(part.report.timing.as_ref()?.wall_ms)).max();
    let (accounts, baselines, stopped) = (accounts(&parts), baselines(&parts), stopped(&parts));
    let report = Report { accounts, baselines, ..Report::new(seed, profiles, cases(parts)?) };
    Ok(report.of_run(Circumstances { requirements, selection, shard: None, stopped, wall_ms }))
}

/// Checks that two shards can belong to one run.
fn alike(one: &ShardReport, other: &ShardReport) -> Result<(), MergeError> {
    let differ = |what, of_one: String, of_other: String| {
        if of_one == of_other {
            return Ok(());
        }
        Err(MergeError::Differ([one.file.clone(), other.file.clone()], what, [of_one, of_other]))
    };
    let (a, b) = (&one.report, &other.report);
    let of = |report: &Report| report.shard.map_or_else(String::new, |shard| shard.of.to_string());
    let named = |words: Vec<&str>| if words.is_empty() { "none".to_owned() } else { words.join(" ") };
    let files = |report: &Report| named(report.baselines.iter().map(|held| held.file.as_str()).collect());
    let selection = |report: &Report| named(report.selection.iter().map(String::as_str).collect());
    differ("the number of shards", of(a), of(b))?;
    differ("the version of brickbat", a.brickbat.clone(), b.brickbat.clone())?;
    differ("the seed", a.seed.to_string(), b.seed.to_string())?;
    let set = |report: &Report| report.requirements.clone().unwrap_or_else(|| "none".to_owned());
    differ("the requirement set", set(a), set(b))?;
    differ("the selection of plans", selection(a), selection(b))?;
    differ("the profiles", a.profiles.join(" "), b.profiles.join(" "))?;
    differ("the baselines", files(a), files(b))
}

/// A shard may have no plans; all others have the same systems.
fn same_systems(parts: &[ShardReport]) -> Result<(), MergeError> {
    let systems = |part: &ShardReport| {
        let mut systems: Vec<&str> = part.report.cases.iter().map(|case| case.system.as_str()).collect();
        systems.dedup();
        systems.join(" ")
    };
    let mut filled = parts.iter().filter(|part| !part.report.cases.is_empty());
    let Some(first) = filled.next() else { return Ok(()) };
    let of_first = systems(first);
    match filled.find(|part| systems(part) != of_first) {
        None => Ok(()),
        Some(other) => {
            let files = [first.file.clone(), other.file.clone()];
            Err(MergeError::Differ(files, "the systems", [of_first, systems(other)]))
        }
    }
}

/// Every case, without duplicates.
///
/// A control plan is in the report of its plan's shard. It is also in the report of another shard that
/// needs it, but only if it does not pass there; the one that did not pass is kept. Any other case is in
/// one shard, unless a shard was given twice.
fn cases(parts: Vec<ShardReport>) -> Result<Vec<Case>, MergeError> {
    let mut kept: BTreeMap<(String, String), (String, Case)> = BTreeMap::new();
    for ShardReport { file, report } in parts {
        for case in report.cases {
            let is_control = case.plan.ends_with(CONTROL);
            if !is_control && report.shard.is_some_and(|shard| !shard.holds(&case.plan)) {
                return Err(MergeError::Stray(file, format!("{} on {}", case.plan, case.system)));
            }
            match kept.entry((case.system.clone(), case.plan.clone())) {
                Entry::Vacant(place) => {
                    place.insert((file.clone(), case));
                }
                Entry::Occupied(mut place) if is_control => {
                    // One shard may have confirmed a finding that another has seen only once.
                    let known = &place.get().1;
                    if known.verdict == Verdict::Pass || (known.unconfirmed && is_confirmed_failure(&case)) {
                        place.insert((file.clone(), case));
                    }
                }
                Entry::Occupied(place) => {
                    let (known, first) = place.get();
                    if first.verdict != case.verdict || kinds(first) != kinds(&case) {
                        let name = format!("{} on {}", case.plan, case.system);
                        let files = [known.clone(), file];
                        return Err(MergeError::Disagree(name, files, [words(first), words(&case)]));
                    }
                }
            }
        }
    }
    Ok(kept.into_values().map(|(_, case)| case).collect())
}

fn is_confirmed_failure(case: &Case) -> bool {
    case.verdict == Verdict::Fail && !case.unconfirmed
}

/// The events that ended shards early, if any, and true if all shards were to confirm their findings.
fn stopped(parts: &[ShardReport]) -> Option<EarlyEnd> {
    let stopped: Vec<&Stopped> = parts.iter().filter_map(|part| part.report.stopped.as_ref()).collect();
    let mut whys: Vec<&str> = stopped.iter().map(|stopped| stopped.why.as_str()).collect();
    whys.sort_unstable();
    whys.dedup();
    let confirms = stopped.iter().all(|stopped| stopped.confirms);
    (!whys.is_empty()).then(|| EarlyEnd { why: whys.join("; "), confirms })
}

fn kinds(case: &Case) -> Vec<(brickbat_scenario::verdict::Severity, &'static str)> {
    case.findings.iter().map(|finding| (finding.severity, finding.check)).collect()
}

/// A verdict with the checks that fail.
fn words(case: &Case) -> String {
    let checks: Vec<&str> = case.findings.iter().map(|finding| finding.check).collect();
    let verdict = case.verdict.name();
    if checks.is_empty() { verdict.to_owned() } else { format!("{verdict} ({})", checks.join(", ")) }
}

/// The reports of the shards. A report that was given twice counts only once.
fn distinct(parts: &[ShardReport]) -> Vec<&Report> {
    let mut reports: Vec<&Report> = Vec::new();
    for ShardReport { report, .. } in parts {
        if !reports.iter().any(|known| known.shard == report.shard) {
            reports.push(report);
        }
    }
    reports
}

/// The accounts of the shards, added up for each system. A control plan that failed counts in each shard that
/// needed it.
fn accounts(parts: &[ShardReport]) -> Vec<Account> {
    let mut merged: Vec<Account> = Vec::new();
    for account in distinct(parts).into_iter().flat_map(|report| &report.accounts) {
        match merged.iter_mut().find(|known| known.system == account.system) {
            Some(known) => known.add(account),
            None => merged.push(account.clone()),
        }
    }
    merged.sort_by(|one, other| one.system.cmp(&other.system));
    merged
}

/// The results of the shards for each baseline, added up.
fn baselines(parts: &[ShardReport]) -> Vec<BaselineComparison> {
    let mut merged: Vec<BaselineComparison> = Vec::new();
    for report in distinct(parts) {
        for (at, held) in report.baselines.iter().enumerate() {
            match merged.get_mut(at) {
                Some(known) => add(known, held),
                None => merged.push(held.clone()),
            }
        }
    }
    merged
}

fn add(known: &mut BaselineComparison, held: &BaselineComparison) {
    for entry in &held.entries {
        match known.entries.iter_mut().find(|known| known.entry == entry.entry) {
            Some(EntryFindings { n_findings, n_cases, .. }) => {
                *n_findings += entry.n_findings;
                *n_cases += entry.n_cases;
            }
            None => known.entries.push(entry.clone()),
        }
    }
    known.entries.sort_by_key(|entry| entry.entry);
    for stale in &held.stale {
        let is_same = |known: &&mut StalePlans| (known.entry, &known.system) == (stale.entry, &stale.system);
        match known.stale.iter_mut().find(is_same) {
            Some(known) => {
                known.plans.extend(stale.plans.iter().cloned());
                known.plans.sort();
            }
            None => known.stale.push(stale.clone()),
        }
    }
    known.stale.sort_by(|a, b| (a.entry, &a.system).cmp(&(b.entry, &b.system)));
}
