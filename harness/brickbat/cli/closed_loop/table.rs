//! Closed-loop sessions, and the table of their results.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{Read, Seek, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cli::error::CliError;
use crate::cli::mending::{Outcome, Treated};
use brickbat_drive::runner::Job;
use brickbat_report::report::Case;
use brickbat_scenario::verdict::{Prevented, Verdict};
use brickbat_sessions::{self as sessions, Fault, Spot};

/// An executed plan, and how its store was handled.
#[derive(Debug, Clone)]
pub(super) struct Played {
    pub(super) case: Case,
    pub(super) treated: Vec<Treated>,
}

impl Played {
    pub(super) fn is_of(&self, job: &Job) -> bool {
        self.case.plan == job.plan.id.to_string()
    }

    /// True if a store was read and the fault was put into it.
    pub(super) fn was_planted(&self) -> bool {
        !self.treated.is_empty() && !self.treated.iter().any(|one| matches!(one.outcome, Outcome::Not(_)))
    }
}

/// The outcome of loading a session in the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fate {
    /// Every later turn works.
    GoesOn,
    /// A later turn failed, and a turn after it worked.
    TurnFailed,
    /// No later turn works.
    Bricked,
    /// It was not judged.
    Unjudged,
}

/// One session, driven with its store as it was and with its store repaired.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionRow {
    /// The system, with version and mode.
    pub(super) system: String,
    /// The plan.
    plan: String,
    /// The planted fault. `None` if the product itself broke the session, or left it intact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    planted: Option<String>,
    /// The call at which it was planted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spot: Option<String>,
    /// The detected product and store format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    /// True if the session written by the product was judged valid, before anything was planted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sound: Option<bool>,
    /// True if a reply has a parallel batch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    batch: bool,
    /// True if the history was compacted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    compacted: bool,
    /// True if the history has forks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forked: bool,
    /// The outcome with the store as it is.
    without: Fate,
    /// The provider's rule, or the product's error, if the session is bricked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The rules that the next request breaks.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    diagnosis: BTreeSet<String>,
    /// The repairs made.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    repair: BTreeSet<String>,
    /// The reason why the store was not repaired, or not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
    /// The outcome with the repaired store.
    with: Fate,
    /// The day of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    day: Option<String>,
}

impl SessionRow {
    /// The rows for plans that ran twice. Control plans load nothing; plans without a load are left out.
    pub(super) fn pair(
        plant: Option<(Fault, Spot)>,
        left: Vec<Played>,
        mended: Vec<Played>,
        day: &str,
    ) -> Vec<SessionRow> {
        let mended: BTreeMap<String, Played> =
            mended.into_iter().map(|played| (played.case.plan.clone(), played)).collect();
        left.iter()
            .filter_map(|left| SessionRow::of(plant, left, mended.get(&left.case.plan)?, day))
            .collect()
    }

    fn of(plant: Option<(Fault, Spot)>, left: &Played, mended: &Played, day: &str) -> Option<SessionRow> {
        // A plan that never reached its kill has loaded nothing.
        let (one, seen) = (mended.treated.last()?, left.treated.last()?);
        if !is_alike(one, seen) {
            return Some(SessionRow::unlike(plant, left, day));
        }
        let (without, error) = fate(&left.case);
        let refused = |one: &Treated| one.diagnosis.as_ref().map(|own| own.rules.clone()).unwrap_or_default();
        let sound = one.found.map(|found| is_sound(found.verdict));
        let words = |reason: &sessions::Reason| reason.words().to_owned();
        let (repair, why_not) = match &one.outcome {
            Outcome::Left => (BTreeSet::new(), None),
            Outcome::Mended(reasons) => (reasons.iter().map(words).collect(), None),
            Outcome::Beyond(why) | Outcome::Not(why) => (BTreeSet::new(), Some(why.clone())),
        };
        Some(SessionRow {
            system: left.case.system.clone(),
            plan: left.case.plan.clone(),
            planted: plant.map(|(fault, _)| fault.id().to_owned()),
            spot: plant.map(|(_, spot)| spot.id().to_owned()),
            store: one.store.as_ref().map(|(product, form)| format!("{product}, {form}")),
            sound,
            batch: one.found.is_some_and(|found| found.has_batch),
            compacted: one.found.is_some_and(|found| found.n_compactions > 0),
            forked: one.found.is_some_and(|found| found.n_forks > 0),
            without,
            error,
            diagnosis: refused(seen),
            repair,
            why_not,
            with: fate(&mended.case).0,
            day: Some(day.to_owned()),
        })
    }

    /// The row for a plan in which the product stored different things in the two runs, so that they cannot
    /// be compared.
    fn unlike(plant: Option<(Fault, Spot)>, left: &Played, day: &str) -> SessionRow {
        SessionRow {
            system: left.case.system.clone(),
            plan: left.case.plan.clone(),
            planted: plant.map(|(fault, _)| fault.id().to_owned()),
            spot: plant.map(|(_, spot)| spot.id().to_owned()),
            store: None,
            sound: None,
            batch: false,
            compacted: false,
            forked: false,
            without: Fate::Unjudged,
            error: None,
            diagnosis: BTreeSet::new(),
            repair: BTreeSet::new(),
            why_not: Some(UNLIKE.to_owned()),
            with: Fate::Unjudged,
            day: Some(day.to_owned()),
        }
    }

    /// True if the product stored different things in the two runs.
    pub(super) fn is_unlike(&self) -> bool {
        self.why_not.as_deref() == Some(UNLIKE)
    }

    pub(super) fn is_of(&self, job: &Job) -> bool {
        self.plan == job.plan.id.to_string()
    }

    /// The name of the system without version and mode.
    fn product(&self) -> &str {
        self.system.split('@').next().unwrap_or_default()
    }

    /// The fault: the planted one, or the scenario in which the product broke the session.
    fn fault(&self) -> String {
        match &self.planted {
            Some(fault) => format!("{PLANTED}{fault}"),
            None => {
                let scenario = self.plan.split(['#', '@']).next().unwrap_or_default();
                scenario.trim_start_matches("corpora/closed-loop/").to_owned()
            }
        }
    }

    /// The position: the call, or the scenario's variant.
    fn point(&self) -> &str {
        let variant = || self.plan.split('@').next()?.split_once('#').map(|(_, variant)| variant);
        self.spot.as_deref().or_else(variant).unwrap_or_default()
    }

    /// A session's key: two runs of one session share a row.
    fn key(&self) -> (&str, &str, Option<&str>, Option<&str>) {
        (&self.system, &self.plan, self.planted.as_deref(), self.spot.as_deref())
    }

    fn is_bricked(&self) -> bool {
        self.without == Fate::Bricked
    }

    /// True if the product does not continue without trouble.
    fn is_hurt(&self) -> bool {
        matches!(self.without, Fate::Bricked | Fate::TurnFailed)
    }

    fn is_back(&self) -> bool {
        self.is_hurt() && !self.repair.is_empty() && self.with == Fate::GoesOn
    }

    /// True if the product itself wrote this session and continues with it.
    fn is_healthy(&self) -> bool {
        self.planted.is_none() && self.without == Fate::GoesOn && self.store.is_some()
    }

    /// A line in the list of sessions that were not recovered or were misjudged.
    fn exception(&self) -> String {
        let words = |words: &BTreeSet<String>| match words.is_empty() {
            true => "nothing".to_owned(),
            false => words.iter().cloned().collect::<Vec<_>>().join("; "),
        };
        let fate = |fate: Fate| match fate {
            Fate::GoesOn => "continues",
            Fate::TurnFailed => "fails one turn",
            Fate::Bricked => "is bricked",
            Fate::Unjudged => "is not judged",
        };
        let error = self.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
        let why = self.why_not.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let planted = self.planted.iter().chain(&self.spot).map(|word| format!(", {word}"));
        format!(
            "- {}, {}{}: {}{error}; diagnosed: {}; repaired: {}{why}; then it {}\n",
            self.system,
            self.plan,
            planted.collect::<String>(),
            fate(self.without),
            words(&self.diagnosis),
            words(&self.repair),
            fate(self.with),
        )
    }

    /// True if the diagnosis is wrong: a healthy session is called broken, or a bricked one healthy.
    fn is_false(&self) -> bool {
        match self.without {
            Fate::GoesOn => !self.diagnosis.is_empty(),
            Fate::Bricked | Fate::TurnFailed => self.diagnosis.is_empty() && self.store.is_some(),
            Fate::Unjudged => false,
        }
    }
}

/// True if the product stored the same in two runs, as far as the verdict reveals.
fn is_alike(one: &Treated, other: &Treated) -> bool {
    let verdict = |treated: &Treated| treated.found.map(|found| found.verdict);
    verdict(one) == verdict(other)
}

fn is_sound(verdict: sessions::Verdict) -> bool {
    use sessions::Verdict::{Accepted, Excerpt, OpenTail};
    matches!(verdict, Accepted | OpenTail | Excerpt)
}

/// The outcome of the thread, and its cause. It does not matter who stores the thread, so the application's
/// findings count too.
fn fate(case: &Case) -> (Fate, Option<String>) {
    if !matches!(case.verdict, Verdict::Pass | Verdict::Fail) {
        return (Fate::Unjudged, Some(case.verdict.name().to_owned()));
    }
    let findings = case.findings.iter().chain(&case.application).flat_map(|finding| finding.with_also());
    let worst = findings.filter_map(|finding| {
        let fate = match finding.severity.prevents() {
            Prevented::Thread | Prevented::LaterTurns => Fate::Bricked,
            Prevented::OneTurn => Fate::TurnFailed,
            Prevented::Nothing => return None,
        };
        // The first word of the message is the class of the error; the rest may contain ids.
        let class = finding.message.split([':', ' ']).next().unwrap_or_default();
        Some((fate, finding.rule.unwrap_or(class).to_owned()))
    });
    match worst.max_by_key(|(fate, _)| *fate) {
        Some((fate, error)) => (fate, Some(error)),
        None => (Fate::GoesOn, None),
    }
}

/// The reason for leaving a plan out.
const UNLIKE: &str = "the product stored different things in the two runs";

/// All sessions, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) sessions: Vec<SessionRow>,
}

/// The columns of the table.
const HEAD: [&str; 12] = [
    "product",
    "versions and modes",
    "fault",
    "points",
    "sessions",
    "bricked by the product",
    "bricked by the planted fault",
    "brought back",
    "one turn fails",
    "no turn fails after a repair",
    "diagnosed as",
    "repaired by",
];

/// The prefix of a planted fault's name.
const PLANTED: &str = "planted: ";

/// The counts in one row of the table.
#[derive(Debug, Default)]
struct Line {
    points: BTreeSet<String>,
    systems: BTreeSet<String>,
    n: usize,
    n_bricked: usize,
    n_back: usize,
    n_hurt: usize,
    n_spared: usize,
    diagnosis: BTreeSet<String>,
    repair: BTreeSet<String>,
}

impl Table {
    pub(super) fn read(path: &Path) -> Result<Table, CliError> {
        match std::fs::read(path) {
            Ok(bytes) => Table::parse(path, &bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Table::default()),
            Err(error) => Err(CliError::cannot_read(path.display(), error)),
        }
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Table, CliError> {
        match bytes {
            [] => Ok(Table::default()),
            bytes => serde_json::from_slice(bytes).map_err(|error| {
                CliError::input(format!(
                    "{}: not a report of `brickbat closed-loop`: {error}",
                    path.display()
                ))
            }),
        }
    }

    /// Adds sessions to a report. It is read again first, because another run may have added some. Other runs
    /// wait while one writes.
    pub(super) fn add_to(path: &Path, rows: Vec<SessionRow>) -> Result<(), CliError> {
        let cannot = |error: std::io::Error| CliError::cannot_write(path.display(), error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(cannot)?;
        file.lock().map_err(cannot)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(cannot)?;
        let mut table = Table::parse(path, &bytes)?;
        table.add(rows);
        let text = table.json().map_err(cannot)?;
        file.rewind().map_err(cannot)?;
        file.set_len(0).map_err(cannot)?;
        file.write_all(text.as_bytes()).map_err(cannot)
    }

    fn json(&self) -> std::io::Result<String> {
        let mut text = String::from("{\n  \"sessions\": [");
        for (n, row) in self.sessions.iter().enumerate() {
            let row = serde_json::to_string(row).map_err(std::io::Error::other)?;
            text.push_str(if n == 0 { "\n    " } else { ",\n    " });
            text.push_str(&row);
        }
        text.push_str("\n  ]\n}\n");
        Ok(text)
    }

    /// Adds sessions, and replaces those that already exist.
    pub(super) fn add(&mut self, rows: Vec<SessionRow>) {
        let fresh: BTreeSet<_> = rows.iter().map(SessionRow::key).collect();
        self.sessions.retain(|row| !fresh.contains(&row.key()));
        self.sessions.extend(rows);
        self.sessions.sort();
    }

    /// True if any session's store was read and its outcome is known.
    pub(super) fn is_judged(&self) -> bool {
        self.sessions.iter().any(|row| row.store.is_some() && row.without != Fate::Unjudged)
    }

    /// True if each bricked session that could be judged continues, and no healthy one was changed.
    pub(super) fn is_closed(&self) -> bool {
        self.exceptions().next().is_none()
    }

    /// Sessions that did not come back, or were misjudged.
    fn exceptions(&self) -> impl Iterator<Item = &SessionRow> {
        let is_one = |row: &&SessionRow| {
            row.is_false() || row.is_hurt() && !row.is_back() || row.is_healthy() && !row.repair.is_empty()
        };
        self.sessions.iter().filter(is_one)
    }

    /// The table as Markdown.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "| {} |\n|{}", HEAD.join(" | "), "---|".repeat(HEAD.len()));
        for ((product, fault), line) in &self.lines() {
            let (by_itself, by_plant) = match fault.starts_with(PLANTED) {
                true => (0, line.n_bricked),
                false => (line.n_bricked, 0),
            };
            let joined = |words: &BTreeSet<String>| words.iter().cloned().collect::<Vec<_>>().join("; ");
            let counts =
                [line.points.len(), line.n, by_itself, by_plant, line.n_back, line.n_hurt, line.n_spared];
            let counts = counts.map(|n| n.to_string());
            let (systems, counts) = (joined(&line.systems), counts.join(" | "));
            let (diagnosis, repair) = (joined(&line.diagnosis), joined(&line.repair));
            let _ = writeln!(text, "| {product} | {systems} | {fault} | {counts} | {diagnosis} | {repair} |");
        }
        text.push_str(&self.summary());
        self.exceptions().for_each(|row| text.push_str(&row.exception()));
        text
    }

    fn lines(&self) -> BTreeMap<(&str, String), Line> {
        let mut lines: BTreeMap<(&str, String), Line> = BTreeMap::new();
        for row in &self.sessions {
            let line = lines.entry((row.product(), row.fault())).or_default();
            line.points.insert(row.point().to_owned());
            line.systems.insert(row.system.split_once('@').map_or("", |(_, version)| version).to_owned());
            line.n += 1;
            line.n_bricked += usize::from(row.is_bricked());
            line.n_back += usize::from(row.is_bricked() && row.is_back());
            line.n_hurt += usize::from(row.is_hurt() && !row.is_bricked());
            line.n_spared += usize::from(row.is_back() && !row.is_bricked());
            if row.is_hurt() {
                line.diagnosis.extend(row.diagnosis.iter().cloned());
                line.repair.extend(row.repair.iter().cloned());
            }
        }
        lines
    }

    /// The totals.
    fn summary(&self) -> String {
        let rows = &self.sessions;
        let bricked: Vec<&SessionRow> = rows.iter().filter(|row| row.is_bricked()).collect();
        let n_back = bricked.iter().filter(|row| row.is_back()).count();
        let hurt = || rows.iter().filter(|row| row.is_hurt() && !row.is_bricked());
        let (n_hurt, n_spared) = (hurt().count(), hurt().filter(|row| row.is_back()).count());
        let n_planted = bricked.iter().filter(|row| row.planted.is_some()).count();
        let of: BTreeSet<&str> = bricked.iter().map(|row| row.product()).collect();
        let distinct: BTreeSet<(&str, String, &str)> =
            bricked.iter().map(|row| (row.product(), row.fault(), row.point())).collect();
        let healthy: Vec<&SessionRow> = rows.iter().filter(|row| row.is_healthy()).collect();
        let count = |is_meant: fn(&SessionRow) -> bool| healthy.iter().filter(|row| is_meant(row)).count();
        let n_unlike = rows.iter().filter(|row| row.is_unlike()).count();
        let unlike = match n_unlike {
            0 => String::new(),
            n => format!("{n} left out, since {UNLIKE}.\n"),
        };
        format!(
            "\n{} sessions bricked ({n_planted} by a planted fault), in {} products and {} combinations of product, fault and point; {n_back} brought back. \
            In {n_hurt} more, one turn fails; in {n_spared} of them, none fails after the repair.\n\
             {} healthy sessions of products, each loaded by another process: {} with a parallel batch, {} compacted, {} with forks; {} called broken, {} changed.\n{unlike}",
            bricked.len(),
            of.len(),
            distinct.len(),
            healthy.len(),
            count(|row| row.batch),
            count(|row| row.compacted),
            count(|row| row.forked),
            count(|row| !row.diagnosis.is_empty()),
            count(|row| !row.repair.is_empty()),
        )
    }
}
#[cfg(test)]
mod tests;
