//! The table of the classes: the scenarios that cover each, its proof, and where it was seen.

mod write;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Class, Cover};
use brickbat_scenario::verdict::Severity;

use write::some;
pub use write::{json, markdown, text};

/// The facts from which the table is computed.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The classes that each scenario covers, by the scenario's id.
    pub said: BTreeMap<String, BTreeSet<String>>,
    /// Every planted bug that belongs to a class.
    pub kills: Vec<Kills>,
    /// The known findings of each system.
    pub shown: BTreeMap<String, BTreeSet<KnownFinding>>,
    /// The classes that known findings name, by system or filter.
    pub named: BTreeMap<String, BTreeSet<String>>,
}

/// A known finding in a system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownFinding {
    /// The id of the scenario that demonstrates it.
    pub scenario: String,
    pub check: String,
    pub severity: Severity,
}

/// A planted bug, and the scenarios that kill it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kills {
    pub canary: &'static str,
    /// The class that it belongs to.
    pub class: &'static str,
    /// The check that must catch it, and the severity that it must report.
    pub check: &'static str,
    pub severity: Severity,
    /// The scenarios with a plan that fails this check.
    pub scenarios: BTreeSet<String>,
}

/// How well the suite covers a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A planted bug of the class is killed only by scenarios of the class.
    Proven,
    /// Scenarios cover it, but no planted bug proves that they work.
    Said,
    Missing,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Proven => "proven",
            Status::Said => "said",
            Status::Missing => "missing",
        }
    }
}

/// One class in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassRow {
    /// The class as listed in the catalogue.
    pub class: Class,
    /// How well the suite covers it.
    pub status: Status,
    pub scenarios: Vec<String>,
    pub canaries: Vec<CanaryCell>,
    /// Systems that have this failure. Either the entry of a known finding names the class, or a scenario of
    /// the class has a known finding with the check and the severity of the class's planted bugs.
    pub systems: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A planted bug of a class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CanaryCell {
    pub name: String,
    /// The scenarios of the class that kill it.
    pub killed_by: Vec<String>,
    /// Scenarios outside the class that kill it as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub killed_outside: Vec<String>,
    pub proves: bool,
    /// True if only one scenario of the suite kills it.
    pub alone: bool,
}

/// The table, in the order of the catalogue.
pub fn rows(classes: &[Class], facts: &Facts) -> Vec<ClassRow> {
    classes.iter().map(|class| row(class, facts)).collect()
}

fn row(class: &Class, facts: &Facts) -> ClassRow {
    let is_of = |scenario: &str| facts.said.get(scenario).is_some_and(|said| said.contains(&class.id));
    let scenarios: Vec<String> = facts.said.keys().filter(|id| is_of(id)).cloned().collect();
    let of_class = facts.kills.iter().filter(|kills| kills.class == class.id);
    let canaries: Vec<CanaryCell> = of_class
        .map(|kills| {
            let (inside, outside): (Vec<String>, Vec<String>) =
                kills.scenarios.iter().cloned().partition(|scenario| is_of(scenario));
            CanaryCell {
                name: kills.canary.to_owned(),
                proves: !inside.is_empty() && outside.is_empty(),
                alone: inside.len() == 1 && outside.is_empty(),
                killed_by: inside,
                killed_outside: outside,
            }
        })
        .collect();
    let is_meant = |known: &KnownFinding| {
        let kills = facts.kills.iter().filter(|kills| kills.class == class.id);
        scenarios.contains(&known.scenario) && kills.into_iter().any(|kills| is_alike(kills, known))
    };
    let shows = |(_, known): &(&String, &BTreeSet<KnownFinding>)| known.iter().any(is_meant);
    let shown = facts.shown.iter().filter(shows).map(|(system, _)| system);
    let named =
        facts.named.iter().filter(|(_, classes)| classes.contains(&class.id)).map(|(system, _)| system);
    let systems: BTreeSet<&String> = shown.chain(named).collect();
    let systems = systems.into_iter().cloned().collect();
    let status = match (scenarios.is_empty(), canaries.iter().any(|canary| canary.proves)) {
        (true, _) => Status::Missing,
        (false, true) => Status::Proven,
        (false, false) => Status::Said,
    };
    let reason = (status != Status::Proven).then(|| reason(class, status, &canaries));
    ClassRow { class: class.clone(), status, scenarios, canaries, systems, reason }
}

/// True if a known finding matches a planted bug. Both kinds of bricked threads count as alike, because the
/// system rather than the class decides whether the provider or the SDK rejects one.
fn is_alike(kills: &Kills, known: &KnownFinding) -> bool {
    let both_brick = kills.severity.is_brick() && known.severity.is_brick();
    kills.check == known.check && (both_brick || kills.severity == known.severity)
}

fn reason(class: &Class, status: Status, canaries: &[CanaryCell]) -> String {
    if let (Status::Missing, Some(missing)) = (status, &class.missing) {
        return missing.clone();
    }
    if status == Status::Missing && canaries.is_empty() {
        return UNSAID.to_owned();
    }
    if canaries.is_empty() {
        return "No planted bug belongs to it.".to_owned();
    }
    let of_canary = |canary: &CanaryCell| match canary.killed_outside.as_slice() {
        [] => format!("No scenario of the class kills {}.", canary.name),
        outside => {
            format!("Scenarios outside the class also kill {}: {}.", canary.name, some(outside))
        }
    };
    canaries.iter().map(of_canary).collect::<Vec<String>>().join(" ")
}

/// The reason for a class without scenarios if the catalogue gives none.
const UNSAID: &str = "No scenario covers it, and the catalogue gives no reason.";

/// The number of proven classes, in total and by cover tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub proven: usize,
    /// All classes.
    pub of: usize,
    /// The same by cover tag.
    pub by_cover: BTreeMap<Cover, Count>,
}

/// A number of classes, out of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    pub proven: usize,
    /// All classes.
    pub of: usize,
}

impl Summary {
    pub fn of(rows: &[ClassRow]) -> Summary {
        let mut by_cover: BTreeMap<Cover, Count> = BTreeMap::new();
        for row in rows {
            let count = by_cover.entry(row.class.cover).or_default();
            count.of += 1;
            count.proven += usize::from(row.status == Status::Proven);
        }
        let proven = by_cover.values().map(|count| count.proven).sum();
        Summary { proven, of: rows.len(), by_cover }
    }

    pub fn line(&self) -> String {
        let tag =
            |(cover, count): (&Cover, &Count)| format!("{} {}/{}", cover.name(), count.proven, count.of);
        let tags: Vec<String> = self.by_cover.iter().map(tag).collect();
        format!("{} of {} classes proven ({})", self.proven, self.of, tags.join(", "))
    }
}

/// The classes that have a planted bug but are not proven: the bug claims more than it shows.
pub fn unproven(rows: &[ClassRow]) -> impl Iterator<Item = &ClassRow> {
    rows.iter().filter(|row| row.status != Status::Proven && !row.canaries.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::Family;

    fn class(id: &str, missing: Option<&str>) -> Class {
        Class {
            id: id.to_owned(),
            family: Family::A,
            cover: Cover::Card,
            summary: "The user stops the turn.".to_owned(),
            evidence: vec!["a/b#1".to_owned()],
            missing: missing.map(str::to_owned),
        }
    }

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn facts(killers: &[&str]) -> Facts {
        let said = [("x/one", set(&["a"])), ("x/two", set(&["a", "b"])), ("x/other", set(&["b"]))];
        Facts {
            said: said.into_iter().map(|(id, classes)| (id.to_owned(), classes)).collect(),
            kills: vec![Kills {
                canary: "bug",
                class: "a",
                check: "thread-survives",
                severity: Severity::BrickedByClient,
                scenarios: set(killers),
            }],
            shown: BTreeMap::from([
                ("sdk".to_owned(), known("x/two", "thread-survives", Severity::BrickedByProvider)),
                ("agent".to_owned(), known("x/other", "thread-survives", Severity::BrickedByProvider)),
                ("other-check".to_owned(), known("x/two", "parts-settled", Severity::StuckPart)),
                ("milder".to_owned(), known("x/two", "thread-survives", Severity::Hang)),
            ]),
            named: BTreeMap::new(),
        }
    }

    fn known(scenario: &str, check: &str, severity: Severity) -> BTreeSet<KnownFinding> {
        BTreeSet::from([KnownFinding { scenario: scenario.to_owned(), check: check.to_owned(), severity }])
    }

    fn row_of(killers: &[&str]) -> ClassRow {
        row(&class("a", None), &facts(killers))
    }

    #[test]
    fn a_finding_counts_for_the_class_that_its_entry_names() {
        let mut facts = facts(&["x/one"]);
        facts.named.insert("named".to_owned(), BTreeSet::from(["a".to_owned()]));
        assert!(row(&class("a", None), &facts).systems.contains(&"named".to_owned()));
        assert!(!row(&class("b", None), &facts).systems.contains(&"named".to_owned()));
    }

    #[test]
    fn a_class_is_proven_by_a_bug_that_only_its_scenarios_kill() {
        let one = row_of(&["x/one"]);
        assert_eq!((one.status, one.canaries[0].alone, one.reason), (Status::Proven, true, None));
        assert_eq!(one.systems, ["sdk"]);
        let both = row_of(&["x/one", "x/two"]);
        assert_eq!((both.status, both.canaries[0].alone), (Status::Proven, false));
    }

    #[test]
    fn a_bug_that_other_scenarios_or_none_kill_proves_nothing() {
        let broad = row_of(&["x/one", "x/other"]);
        assert_eq!(broad.status, Status::Said);
        assert_eq!(broad.reason.unwrap(), "Scenarios outside the class also kill bug: x/other.");
        let survivor = row_of(&[]);
        assert_eq!(survivor.status, Status::Said);
        assert_eq!(survivor.reason.unwrap(), "No scenario of the class kills bug.");
        assert_eq!(unproven(&[row_of(&[]), row_of(&["x/one"])]).count(), 1);
    }

    #[test]
    fn a_class_without_scenarios_is_missing_with_its_reason() {
        let missing = row(&class("c", Some("There is no such thing.")), &facts(&[]));
        assert_eq!(
            (missing.status, missing.reason.unwrap().as_str()),
            (Status::Missing, "There is no such thing.")
        );
        assert_eq!(row(&class("c", None), &facts(&[])).reason.unwrap(), UNSAID);
        assert_eq!(row(&class("b", None), &facts(&[])).reason.unwrap(), "No planted bug belongs to it.");
    }

    #[test]
    fn the_summary_counts_by_what_a_class_needs() {
        let rows = [row_of(&["x/one"]), row_of(&[])];
        assert_eq!(Summary::of(&rows).line(), "1 of 2 classes proven (card 1/2)");
    }
}
