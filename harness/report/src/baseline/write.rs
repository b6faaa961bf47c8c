//! A baseline from a run: its findings, with the reasons that are already known, in one fixed form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::cover::{covers_plan, patterns};
use super::read::SCHEMA;
use super::{Baseline, Entry, PlanFindings, UNEXPLAINED};
use brickbat_scenario::verdict::Severity;

/// Everything that exists, so that a pattern covers nothing that was never looked at.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Every system, also those that did not run.
    pub systems: &'a BTreeSet<String>,
    /// Every plan, also those that did not run.
    pub plans: &'a BTreeSet<String>,
}

/// Plans by system.
type PlansByCause<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The baseline that a run has shown. Findings that an entry lists stay with it, and with its reason and link; the others
/// get entries without explanation. Plans that did not run, or were not judged, stay as they were.
pub fn rewrite(old: &Baseline, shown: &[PlanFindings<'_>], known: Known<'_>) -> Baseline {
    let systems: Vec<&str> =
        known.systems.iter().map(String::as_str).filter(|system| old.is_of(system)).collect();
    let plans: BTreeSet<&str> =
        known.plans.iter().map(String::as_str).chain(shown.iter().map(|shown| shown.plan)).collect();
    let mut kept: Vec<PlansByCause<'_>> = vec![PlansByCause::new(); old.entries.len()];
    for (entry, kept) in old.entries.iter().zip(&mut kept) {
        for system in &systems {
            let covered = plans.iter().filter(|plan| old.covers(entry, system, plan));
            let stays = |plan: &&&str| entry.flaky || !is_judged(shown, system, plan);
            kept.insert(system, covered.filter(stays).copied().collect());
        }
    }
    let mut unheld: BTreeMap<(Severity, &str), PlansByCause<'_>> = BTreeMap::new();
    for shown in shown.iter().filter(|shown| old.is_of(shown.system)) {
        for finding in shown.findings {
            let plans = match old.entry_of(shown.system, shown.plan, finding) {
                Some(index) => &mut kept[index],
                None => unheld.entry((finding.harm, finding.check)).or_default(),
            };
            plans.entry(shown.system).or_default().insert(shown.plan);
        }
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (entry, kept) in old.entries.iter().zip(&kept) {
        entries.extend(split(entry, kept, &plans, &systems));
    }
    for ((harm, check), found) in &unheld {
        let entry = Entry {
            check: (*check).to_owned(),
            harm: Some(*harm),
            systems: Vec::new(),
            reason: UNEXPLAINED.to_owned(),
            link: None,
            flaky: false,
            plans: Vec::new(),
        };
        entries.extend(split(&entry, found, &plans, &systems));
    }
    let mut entries = joined(entries, &systems);
    entries.sort_by_cached_key(order);
    Baseline { file: old.file.clone(), system: old.system.clone(), entries }
}

/// The `system` of a new baseline for the systems of a run: all modes of one version, or all versions of one system.
/// None if they have nothing in common.
pub fn common_system(systems: &[&str]) -> Option<String> {
    let parts = |system: &str| match system.split_once('/') {
        Some((version, _)) if version.contains('@') => (version.to_owned(), format!("{version}/*")),
        _ => (system.to_owned(), system.to_owned()),
    };
    let patterns: BTreeSet<String> = systems.iter().map(|system| parts(system).1).collect();
    let names: BTreeSet<String> = systems
        .iter()
        .map(|system| parts(system).0.split('@').next().unwrap_or_default().to_owned())
        .collect();
    match (patterns.first(), patterns.len(), names.first(), names.len()) {
        (Some(pattern), 1, ..) => Some(pattern.clone()),
        (_, _, Some(name), 1) if !name.contains('/') => Some(format!("{name}@*")),
        _ => None,
    }
}

fn is_judged(shown: &[PlanFindings<'_>], system: &str, plan: &str) -> bool {
    shown.iter().any(|shown| shown.is_judged && shown.system == system && shown.plan == plan)
}

/// Splits an entry: one for all systems that show the same plans.
fn split(entry: &Entry, found: &PlansByCause<'_>, all: &BTreeSet<&str>, systems: &[&str]) -> Vec<Entry> {
    let mut alike: BTreeMap<&BTreeSet<&str>, Vec<&str>> = BTreeMap::new();
    for (system, plans) in found.iter().filter(|(_, plans)| !plans.is_empty()) {
        alike.entry(plans).or_default().push(system);
    }
    // Patterns that match no known plan belong to scenarios of the user's own, which did not run.
    let unknown = entry.plans.iter().filter(|pattern| !all.iter().any(|plan| covers_plan(pattern, plan)));
    let unknown: Vec<String> = unknown.cloned().collect();
    if alike.is_empty() && !unknown.is_empty() {
        return vec![Entry { plans: unknown, ..entry.clone() }];
    }
    let of_group = |(plans, group): (&BTreeSet<&str>, Vec<&str>)| {
        let is_covered = |plan: &&&str| entry.plans.iter().any(|pattern| covers_plan(pattern, plan));
        let covered: BTreeSet<&str> = all.iter().filter(is_covered).copied().collect();
        let mut plans: Vec<String> = if covered == *plans {
            entry.plans.clone()
        } else {
            patterns(plans, all).into_iter().chain(unknown.iter().cloned()).collect()
        };
        plans.sort();
        Entry { plans, systems: narrowed(entry, &group, systems), ..entry.clone() }
    };
    alike.into_iter().map(of_group).collect()
}

/// Joins entries that differ only in their systems.
fn joined(entries: Vec<Entry>, systems: &[&str]) -> Vec<Entry> {
    let mut joined: Vec<Entry> = Vec::new();
    for entry in entries {
        let is_alike =
            |other: &&mut Entry| Entry { systems: entry.systems.clone(), ..(**other).clone() } == entry;
        let Some(other) = joined.iter_mut().find(is_alike) else {
            joined.push(entry);
            continue;
        };
        let both: Vec<&str> = systems
            .iter()
            .copied()
            .filter(|system| entry.covers_system(system) || other.covers_system(system))
            .collect();
        other.systems = narrowed(other, &both, systems);
    }
    joined
}

/// The `systems` of an entry that covers a group: unchanged if they mean the same, else nothing if the group is all
/// systems of the file, else their names.
fn narrowed(entry: &Entry, group: &[&str], systems: &[&str]) -> Vec<String> {
    let meant: Vec<&str> = systems.iter().copied().filter(|system| entry.covers_system(system)).collect();
    if meant == group {
        entry.systems.clone()
    } else if systems == group {
        Vec::new()
    } else {
        group.iter().map(|system| (*system).to_owned()).collect()
    }
}

/// The worst first.
fn order(entry: &Entry) -> (Option<Severity>, String, Vec<String>, String, Vec<String>) {
    (entry.harm, entry.check.clone(), entry.systems.clone(), entry.reason.clone(), entry.plans.clone())
}

impl Baseline {
    pub fn empty(file_name: &str, system: &str) -> Baseline {
        Baseline { file: file_name.to_owned(), system: system.to_owned(), entries: Vec::new() }
    }

    /// The file, in the one form in which it is written.
    pub fn to_yaml(&self) -> String {
        let mut text = HEAD.to_owned();
        let _ = writeln!(text, "schema: {SCHEMA}\nsystem: {}", scalar(&self.system));
        if self.entries.is_empty() {
            text.push_str("entries: []\n");
            return text;
        }
        text.push_str("entries:\n");
        for entry in &self.entries {
            let _ = writeln!(text, "  - check: {}", scalar(&entry.check));
            if let Some(harm) = entry.harm {
                let _ = writeln!(text, "    harm: {}", harm.name());
            }
            if !entry.systems.is_empty() {
                let systems: Vec<String> = entry.systems.iter().map(|system| scalar(system)).collect();
                let _ = writeln!(text, "    systems: [{}]", systems.join(", "));
            }
            text.push_str("    reason: >-\n");
            folded(&mut text, &entry.reason);
            if let Some(link) = &entry.link {
                let _ = writeln!(text, "    link: {}", scalar(link));
            }
            if entry.flaky {
                text.push_str("    flaky: true\n");
            }
            text.push_str("    plans:\n");
            for plan in &entry.plans {
                let _ = writeln!(text, "      - {}", scalar(plan));
            }
        }
        text
    }
}

/// The first line of every baseline that is written.
const HEAD: &str =
    "# Known findings, for `brickbat run --baseline`. `--write-baseline` keeps the reasons and links.\n";

/// Columns of a reason.
const WIDTH: usize = 110;

fn folded(text: &mut String, reason: &str) {
    const INDENT: &str = "      ";
    let mut line = INDENT.to_owned();
    for word in reason.split_whitespace() {
        if line.len() > INDENT.len() && line.len() + 1 + word.len() > WIDTH {
            text.push_str(line.trim_end());
            text.push('\n');
            line = INDENT.to_owned();
        }
        line.push_str(word);
        line.push(' ');
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// A string as YAML: plain where it is a name, else in quotes.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-@#=".contains(c);
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts_plain && text.chars().all(is_plain) && !matches!(text, "true" | "false" | "null") {
        text.to_owned()
    } else if text.chars().any(char::is_control) {
        // Every string of JSON is one of YAML.
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::verdict::Finding;

    const SYSTEM: &str = "sdk@1.2/mode";
    const OTHER: &str = "sdk@1.2/other";

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn stuck() -> Vec<Finding> {
        vec![Finding::new("parts-settled", Severity::StuckPart, "")]
    }

    fn shown<'a>(system: &'a str, plan: &'a str, findings: &'a [Finding]) -> PlanFindings<'a> {
        PlanFindings { system, plan, is_judged: true, findings }
    }

    const ALL: [&str; 4] = ["a/b#k=1@x", "a/b#k=1@y", "a/b#k=2@x", "a/b#k=2@y"];

    fn write(old: &Baseline, shown: &[PlanFindings<'_>]) -> Baseline {
        let (systems, plans) = (set(&[SYSTEM, OTHER, "else@1/mode"]), set(&ALL));
        rewrite(old, shown, Known { systems: &systems, plans: &plans })
    }

    #[test]
    fn what_is_written_is_read_again_and_holds_exactly_what_was_shown() {
        let stuck = stuck();
        let run = [
            shown(SYSTEM, ALL[0], &stuck),
            shown(SYSTEM, ALL[2], &stuck),
            shown(SYSTEM, ALL[1], &[]),
            shown(OTHER, ALL[0], &stuck),
            shown("else@1/mode", ALL[0], &stuck),
        ];
        let written = write(&Baseline::empty("b.yaml", "sdk@1.2*"), &run);
        let text = written.to_yaml();
        assert_eq!(Baseline::parse(&text, "b.yaml"), Ok(written.clone()));
        insta::assert_snapshot!(text, @r"
        # Known findings, for `brickbat run --baseline`. `--write-baseline` keeps the reasons and links.
        schema: 1
        system: 'sdk@1.2*'
        entries:
          - check: parts-settled
            harm: stuck-part
            systems: [sdk@1.2/mode]
            reason: >-
              Not yet explained.
            plans:
              - 'a/b#*@x'
          - check: parts-settled
            harm: stuck-part
            systems: [sdk@1.2/other]
            reason: >-
              Not yet explained.
            plans:
              - a/b#k=1@x
        ");
        for shown in &run[..4] {
            assert!(shown.findings.iter().all(|f| written.entry_of(shown.system, shown.plan, f).is_some()));
        }
        assert!(written.entry_of(SYSTEM, ALL[1], &stuck[0]).is_none());
        assert!(written.entry_of("else@1/mode", ALL[0], &stuck[0]).is_none());
        assert_eq!(written.stale(&run), []);
        assert_eq!(write(&written, &run), written, "writing again changes it");
    }

    #[test]
    fn entries_that_differ_in_their_systems_alone_become_one() {
        let stuck = stuck();
        let one = write(&Baseline::empty("b.yaml", "sdk@1.2*"), &[shown(SYSTEM, ALL[0], &stuck)]);
        assert_eq!(one.entries[0].systems, [SYSTEM]);
        let both = write(&one, &[shown(OTHER, ALL[0], &stuck)]);
        assert_eq!((both.entries.len(), both.entries[0].systems.len()), (1, 0));
    }

    fn explained(flaky: bool) -> Baseline {
        let flaky = if flaky { "\n    flaky: true" } else { "" };
        let text = format!(
            "schema: 1\nsystem: sdk@1.2*\nentries:\n  - check: parts-settled\n    reason: It is so.\n    link: a/b#1{flaky}\n    plans: ['a/b#*@x', 'own/*']\n"
        );
        Baseline::parse(&text, "b.yaml").unwrap()
    }

    #[test]
    fn reasons_are_kept_with_what_did_not_run() {
        let stuck = stuck();
        let old = explained(false);
        assert_eq!(write(&old, &[shown(SYSTEM, ALL[0], &stuck)]), old);
        // One of the two is gone on one of the two systems.
        let written = write(&old, &[shown(SYSTEM, ALL[0], &[])]);
        assert_eq!(written.entries.len(), 2);
        assert!(written.entries.iter().all(|entry| entry.reason == "It is so." && entry.link.is_some()));
        assert_eq!(written.entries[0].plans, ["a/b#k=2@x", "own/*"]);
        assert_eq!(
            (written.entries[0].systems.as_slice(), written.entries[1].systems.as_slice()),
            ([SYSTEM.to_owned()].as_slice(), [OTHER.to_owned()].as_slice())
        );
        assert_eq!(written.entries[1].plans, old.entries[0].plans);
    }

    #[test]
    fn what_comes_and_goes_is_neither_stale_nor_dropped() {
        let run = [shown(SYSTEM, ALL[0], &[]), shown(SYSTEM, ALL[2], &[])];
        assert_eq!(explained(false).stale(&run).len(), 2);
        let flaky = explained(true);
        assert_eq!(flaky.stale(&run), []);
        assert_eq!(write(&flaky, &run), flaky);
    }

    #[test]
    fn a_plan_that_was_not_judged_proves_nothing() {
        let unjudged = PlanFindings { is_judged: false, ..shown(SYSTEM, ALL[0], &[]) };
        let old = explained(false);
        assert_eq!(old.stale(&[unjudged]), []);
        assert_eq!(write(&old, &[unjudged]), old);
    }

    #[test]
    fn another_harm_of_the_same_check_is_new() {
        let mut finding = stuck().remove(0);
        let mut old = explained(false);
        old.entries[0].harm = Some(Severity::StuckPart);
        assert_eq!(old.entry_of(SYSTEM, ALL[0], &finding), Some(0));
        finding.harm = Severity::Hang;
        assert_eq!(old.entry_of(SYSTEM, ALL[0], &finding), None);
    }

    #[test]
    fn one_file_covers_one_system() {
        assert_eq!(common_system(&["sdk@1/a", "sdk@1/b"]).as_deref(), Some("sdk@1/*"));
        assert_eq!(common_system(&["sdk@1/a", "sdk@2/a"]).as_deref(), Some("sdk@*"));
        assert_eq!(common_system(&["canary/x/acp"]).as_deref(), Some("canary/x/acp"));
        assert_eq!(common_system(&["own"]).as_deref(), Some("own"));
        assert_eq!(common_system(&["sdk@1/a", "other@1/a"]), None);
        assert_eq!(common_system(&[]), None);
    }

    #[test]
    fn strings_are_quoted_where_yaml_asks_for_it() {
        for (text, expected) in [
            ("abort/mid-batch#k=1@openai-chat", "abort/mid-batch#k=1@openai-chat"),
            ("*x", "'*x'"),
            ("it's", "'it''s'"),
            ("true", "'true'"),
            ("1", "'1'"),
            ("a\tb", "\"a\\tb\""),
        ] {
            assert_eq!(scalar(text), expected);
        }
    }
}
