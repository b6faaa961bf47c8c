//! Generates a baseline from a run: one entry for each cause, with the known reasons, in one fixed format.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::cover::patterns;
use super::pattern::Parts;
use super::read::SCHEMA;
use super::{Baseline, Entry, Format, NOT_REPORTED, PlanFindings, UNEXPLAINED};
use brickbat_scenario::verdict::{Finding, Severity};

/// Everything that exists, so that a name covers nothing that was never tested.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Every system, even those that did not run.
    pub systems: &'a BTreeSet<String>,
    /// Every plan, even those that did not run.
    pub plans: &'a BTreeSet<String>,
}

/// The properties that findings of one entry share: the cause, and the known facts about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CauseKey {
    severity: Severity,
    check: String,
    rule: Option<String>,
    reason: String,
    reported: String,
    classes: Vec<String>,
}

/// The occurrences of a cause in a system: the kinds of actions, each with the first plan.
type Sightings<'a> = BTreeMap<&'a str, &'a str>;

/// The baseline for a run. Findings that an entry lists stay in it, with its reason and link; the others
/// get new entries without an explanation. Plans that did not run, or were not judged, stay unchanged.
///
/// If the file is in the previous format, plans that ran get entries that name causes, with the reasons of
/// the entries that listed them.
pub fn rewrite(old: &Baseline, format: Format, shown: &[PlanFindings<'_>], known: Known<'_>) -> Baseline {
    let systems: Vec<&str> =
        known.systems.iter().map(String::as_str).filter(|system| old.is_of(system)).collect();
    let judged: Vec<&PlanFindings<'_>> =
        shown.iter().filter(|shown| shown.is_judged && old.is_of(shown.system)).collect();
    let mut entries: Vec<Entry> = Vec::new();
    for entry in &old.entries {
        entries.extend(match (entry.flaky, entry.cases.is_empty()) {
            (true, _) => vec![entry.clone()],
            (false, true) => renoted(old, entry, &judged).into_iter().collect(),
            (false, false) => recased(old, format, entry, &judged, &systems, known),
        });
    }
    let kept = Baseline { entries, ..old.clone() };
    let unheld = unheld(&kept, old, &judged);
    let mut entries = kept.entries;
    for (key, of_cause) in unheld {
        let mut alike: BTreeMap<Vec<&str>, Vec<(&str, Sightings<'_>)>> = BTreeMap::new();
        for (system, sightings) in of_cause {
            alike.entry(sightings.keys().copied().collect()).or_default().push((system, sightings));
        }
        for (actions, group) in alike {
            let names: Vec<&str> = group.iter().map(|(system, _)| *system).collect();
            let notes: BTreeSet<String> = group
                .iter()
                .flat_map(|(system, sightings)| {
                    sightings.values().map(move |plan| format!("{system} {plan}"))
                })
                .collect();
            entries.push(Entry {
                check: key.check.clone(),
                severity: key.severity,
                rule: key.rule.clone(),
                actions: actions.into_iter().map(str::to_owned).collect(),
                systems: named(&old.system, &names, &systems),
                cases: Vec::new(),
                reason: key.reason.clone(),
                reported: key.reported.clone(),
                classes: key.classes.clone(),
                flaky: false,
                shown: notes.into_iter().collect(),
            });
        }
    }
    entries.sort_by_cached_key(order);
    Baseline { file: old.file.clone(), system: old.system.clone(), entries }
}

/// The entry with its notes updated by this run. `None` if its cause no longer occurs in any plan that it
/// covers.
fn renoted(old: &Baseline, entry: &Entry, judged: &[&PlanFindings<'_>]) -> Option<Entry> {
    let covered: Vec<&&PlanFindings<'_>> = judged.iter().filter(|shown| old.covers(entry, shown)).collect();
    let is_over = |note: &&String| {
        let of_note = |shown: &&&PlanFindings<'_>| {
            note.split_once(' ') == Some((shown.system, shown.plan)) && !entry.is_shown_by(shown)
        };
        covered.iter().any(of_note)
    };
    let mut notes: Vec<String> = entry.shown.iter().filter(|note| !is_over(note)).cloned().collect();
    for shown in covered.iter().filter(|shown| entry.is_shown_by(shown)) {
        let is_of_system =
            |note: &String| note.split_once(' ').is_some_and(|(system, _)| system == shown.system);
        if !notes.iter().any(is_of_system) {
            notes.push(format!("{} {}", shown.system, shown.plan));
        }
    }
    let is_gone = notes.is_empty() && !covered.is_empty();
    (!is_gone).then(|| Entry { shown: notes, ..entry.clone() })
}

/// A restricted entry without the plans in which it no longer occurs. In the previous format: without the
/// scenarios that ran.
fn recased(
    old: &Baseline,
    format: Format,
    entry: &Entry,
    judged: &[&PlanFindings<'_>],
    systems: &[&str],
    known: Known<'_>,
) -> Vec<Entry> {
    let plans: BTreeSet<&str> =
        known.plans.iter().map(String::as_str).chain(judged.iter().map(|shown| shown.plan)).collect();
    let is_known = |pattern: &&String| plans.iter().any(|plan| super::covers_plan(pattern, plan));
    // Patterns that match no known plan belong to the user's own scenarios, which did not run.
    let (of_known, unknown): (Vec<&String>, Vec<&String>) = entry.cases.iter().partition(is_known);
    let covered: BTreeSet<&str> = plans
        .iter()
        .copied()
        .filter(|plan| of_known.iter().any(|pattern| super::covers_plan(pattern, plan)))
        .collect();
    let scenario = |plan: &str| plan.split(['#', '@']).next().map(str::to_owned);
    let stays = |system: &str, plan: &str| match format {
        Format::Causes => {
            let run = judged.iter().find(|shown| shown.system == system && shown.plan == plan);
            run.is_none_or(|shown| entry.is_shown_by(shown))
        }
        // The plans of a scenario that ran represent the rest of it.
        Format::Plans => {
            !judged.iter().any(|shown| shown.system == system && scenario(shown.plan) == scenario(plan))
        }
    };
    let mut alike: BTreeMap<BTreeSet<&str>, Vec<&str>> = BTreeMap::new();
    for system in systems.iter().filter(|system| old.is_of(system) && entry.covers_system(system)) {
        let left: BTreeSet<&str> = covered.iter().copied().filter(|plan| stays(system, plan)).collect();
        alike.entry(left).or_default().push(system);
    }
    let is_whole = alike.len() == 1 && alike.contains_key(&covered);
    if is_whole || alike.is_empty() {
        return vec![entry.clone()];
    }
    let of_group = |(left, group): (BTreeSet<&str>, Vec<&str>)| {
        let mut cases = patterns(&left, &plans);
        cases.extend(unknown.iter().map(|pattern| (*pattern).clone()));
        cases.sort();
        let notes = entry.shown.iter().filter(|note| {
            note.split_once(' ').is_some_and(|(system, plan)| group.contains(&system) && left.contains(plan))
        });
        let systems = named(&old.system, &group, systems);
        Entry { shown: notes.cloned().collect(), cases, systems, ..entry.clone() }
    };
    alike.into_iter().map(of_group).filter(|entry| !entry.cases.is_empty()).collect()
}

/// The findings that no kept entry lists, by cause and system.
fn unheld<'a>(
    kept: &Baseline,
    old: &Baseline,
    judged: &[&'a PlanFindings<'a>],
) -> BTreeMap<CauseKey, BTreeMap<&'a str, Sightings<'a>>> {
    let mut causes: BTreeMap<CauseKey, BTreeMap<&str, Sightings<'_>>> = BTreeMap::new();
    for shown in judged {
        for finding in shown.findings.iter().filter(|finding| kept.entry_of(shown, finding).is_none()) {
            let known = old.entry_of(shown, finding).and_then(|index| old.entries.get(index));
            let sightings = causes.entry(key(finding, known)).or_default().entry(shown.system).or_default();
            for action in &shown.actions {
                sightings.entry(action).or_insert(shown.plan);
            }
        }
    }
    causes
}

fn key(finding: &Finding, known: Option<&Entry>) -> CauseKey {
    CauseKey {
        severity: finding.severity,
        check: finding.check.to_owned(),
        rule: finding.rule.map(str::to_owned),
        reason: known.map_or(UNEXPLAINED, |entry| &entry.reason).to_owned(),
        reported: known.map_or(NOT_REPORTED, |entry| &entry.reported).to_owned(),
        classes: known.map(|entry| entry.classes.clone()).unwrap_or_default(),
    }
}

/// The `system` of a new baseline for the systems in a run: their common name, without version and mode.
pub fn common_system(systems: &[&str]) -> Option<String> {
    let names: BTreeSet<&str> = systems.iter().map(|system| Parts::of(system).name).collect();
    match (names.first(), names.len()) {
        (Some(name), 1) => Some((*name).to_owned()),
        _ => None,
    }
}

/// The `systems` field for a group of systems: empty if the group contains all systems, otherwise the
/// shortest names that refer to exactly these.
fn named(of: &str, group: &[&str], all: &[&str]) -> Vec<String> {
    let is_in = |system: &&str| group.contains(system);
    if all.iter().all(is_in) {
        return Vec::new();
    }
    let means_group = |name: &str| {
        let mut meant = all.iter().filter(|system| super::pattern::is_of(name, system)).peekable();
        meant.peek().is_some() && meant.all(is_in)
    };
    let shortest = |system: &&str| {
        let Parts { name, version, mode } = Parts::of(system);
        let (Some(version), Some(mode)) = (version, mode) else { return (*system).to_owned() };
        let mut pins = vec![format!("{name}/{mode}")];
        let ends = version.match_indices('.').map(|(at, _)| at).chain([version.len()]);
        pins.extend(ends.map(|end| format!("{name}@{}/{mode}", &version[..end])));
        // A file that pins its version has no shorter names than that.
        pins.into_iter()
            .filter(|pin| !of.contains('@') || pin.contains('@'))
            .find(|pin| means_group(pin))
            .unwrap_or_else(|| (*system).to_owned())
    };
    let names: BTreeSet<String> = group.iter().map(shortest).collect();
    names.into_iter().collect()
}

/// The sort key of entries: the worst first.
fn order(entry: &Entry) -> (Severity, String, Vec<Vec<String>>) {
    let Entry { check, rule, systems, actions, reason, cases, .. } = entry.clone();
    (entry.severity, check, vec![rule.into_iter().collect(), systems, actions, vec![reason], cases])
}

impl Baseline {
    pub fn empty(file_name: &str, system: &str) -> Baseline {
        Baseline { file: file_name.to_owned(), system: system.to_owned(), entries: Vec::new() }
    }

    /// The file, in its only written form.
    pub fn to_yaml(&self) -> String {
        let mut text = HEAD.to_owned();
        let _ = writeln!(text, "schema: {SCHEMA}\nsystem: {}", scalar(&self.system));
        if self.entries.is_empty() {
            text.push_str("entries: []\n");
            return text;
        }
        text.push_str("entries:\n");
        self.entries.iter().for_each(|entry| written(&mut text, entry));
        text
    }
}

fn written(text: &mut String, entry: &Entry) {
    let list = |values: &[String]| values.iter().map(|value| scalar(value)).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "  - check: {}\n    severity: {}", scalar(&entry.check), entry.severity.name());
    if let Some(rule) = &entry.rule {
        let _ = writeln!(text, "    rule: {}", scalar(rule));
    }
    if !entry.actions.is_empty() {
        let _ = writeln!(text, "    actions: [{}]", list(&entry.actions));
    }
    if !entry.systems.is_empty() {
        let _ = writeln!(text, "    systems: [{}]", list(&entry.systems));
    }
    text.push_str("    reason: >-\n");
    folded(text, &entry.reason);
    let _ = writeln!(text, "    reported: {}", scalar(&entry.reported));
    if !entry.classes.is_empty() {
        let _ = writeln!(text, "    classes: [{}]", list(&entry.classes));
    }
    if entry.flaky {
        text.push_str("    flaky: true\n");
    }
    for (key, values) in [("cases", &entry.cases), ("shown", &entry.shown)] {
        if !values.is_empty() {
            let _ = writeln!(text, "    {key}:");
        }
        for value in values {
            let _ = writeln!(text, "      - {}", scalar(value));
        }
    }
}

/// The first line of every baseline that is written.
const HEAD: &str =
    "# Known findings, for `brickbat run --baseline`. `--write-baseline` keeps the reasons and links.\n";

/// The line width of a reason.
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

/// A string as YAML: plain if it is a name, otherwise in quotes.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-@#= ".contains(c);
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphabetic());
    // After a space, `#` begins a comment.
    let starts_plain = starts_plain && !text.contains(" #") && !text.ends_with(' ');
    if starts_plain && text.chars().all(is_plain) && !matches!(text, "true" | "false" | "null") {
        text.to_owned()
    } else if text.chars().any(char::is_control) {
        // Every JSON string is a YAML string.
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: &str = "sdk@1.2.0/mode";
    const OTHER: &str = "sdk@1.2.0/other";
    const NEXT: &str = "sdk@2.0.0/mode";

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn stuck() -> Vec<Finding> {
        vec![Finding::new("parts-settled", Severity::StuckPart, "")]
    }

    fn shown<'a>(system: &'a str, plan: &'a str, findings: &'a [Finding]) -> PlanFindings<'a> {
        PlanFindings { system, plan, actions: vec!["abort"], is_judged: true, findings }
    }

    const ALL: [&str; 4] = ["a/b#k=1@x", "a/b#k=1@y", "a/b#k=2@x", "a/b#k=2@y"];

    fn write_from(format: Format, old: &Baseline, shown: &[PlanFindings<'_>]) -> Baseline {
        let (systems, plans) = (set(&[SYSTEM, OTHER, NEXT, "else@1/mode"]), set(&ALL));
        rewrite(old, format, shown, Known { systems: &systems, plans: &plans })
    }

    fn write(old: &Baseline, shown: &[PlanFindings<'_>]) -> Baseline {
        write_from(Format::Causes, old, shown)
    }

    #[test]
    fn a_written_baseline_is_read_back_and_lists_what_was_shown() {
        let stuck = stuck();
        let run = [
            shown(SYSTEM, ALL[0], &stuck),
            shown(SYSTEM, ALL[2], &stuck),
            shown(SYSTEM, ALL[1], &[]),
            shown(OTHER, ALL[0], &stuck),
            PlanFindings { actions: vec!["reset"], ..shown(NEXT, ALL[3], &stuck) },
            shown("else@1/mode", ALL[0], &stuck),
        ];
        let written = write(&Baseline::empty("b.yaml", "sdk"), &run);
        let text = written.to_yaml();
        assert_eq!(Baseline::parse(&text, "b.yaml"), Ok(written.clone()));
        insta::assert_snapshot!(text, @r"
        # Known findings, for `brickbat run --baseline`. `--write-baseline` keeps the reasons and links.
        schema: 2
        system: sdk
        entries:
          - check: parts-settled
            severity: stuck-part
            actions: [abort]
            systems: [sdk/other, sdk@1/mode]
            reason: >-
              Not yet explained.
            reported: not reported
            shown:
              - sdk@1.2.0/mode a/b#k=1@x
              - sdk@1.2.0/other a/b#k=1@x
          - check: parts-settled
            severity: stuck-part
            actions: [reset]
            systems: [sdk@2/mode]
            reason: >-
              Not yet explained.
            reported: not reported
            shown:
              - sdk@2.0.0/mode a/b#k=2@y
        ");
        for shown in &run[..5] {
            assert!(shown.findings.iter().all(|f| written.entry_of(shown, f).is_some()));
        }
        assert!(written.entry_of(&run[5], &stuck[0]).is_none(), "another system");
        let reset = PlanFindings { actions: vec!["reset"], ..shown(SYSTEM, ALL[0], &stuck) };
        assert!(written.entry_of(&reset, &stuck[0]).is_none(), "another kind of action");
        assert_eq!(written.stale(&run), []);
        assert_eq!(write(&written, &run), written, "writing again changes it");
    }

    fn explained(more: &str) -> Baseline {
        let text = format!(
            "schema: 2\nsystem: sdk\nentries:\n  - check: parts-settled\n    severity: stuck-part\n    actions: [abort]\n    \
             reason: It is so.\n    reported: a/b#1\n{more}"
        );
        Baseline::parse(&text, "b.yaml").unwrap()
    }

    const NOTED: &str = "    shown: ['sdk@1.2.0/mode a/b#k=1@x']\n";

    #[test]
    fn an_entry_is_stale_if_its_example_is_gone() {
        let stuck = stuck();
        let old = explained(NOTED);
        let gone = [shown(SYSTEM, ALL[0], &[])];
        assert_eq!(old.stale(&gone).len(), 1);
        assert_eq!(write(&old, &gone).entries, []);
        assert_eq!(old.stale(&[shown(SYSTEM, ALL[1], &[])]), [], "another plan says nothing");
        assert_eq!(old.stale(&[shown(NEXT, ALL[0], &[])]), [], "another version is no error");
        let unjudged = PlanFindings { is_judged: false, ..shown(SYSTEM, ALL[0], &[]) };
        assert_eq!(old.stale(std::slice::from_ref(&unjudged)), []);
        assert_eq!(write(&old, &[unjudged]), old);
        let elsewhere = [shown(SYSTEM, ALL[0], &[]), shown(SYSTEM, ALL[1], &stuck)];
        let written = write(&old, &elsewhere);
        assert_eq!(written.entries[0].shown, ["sdk@1.2.0/mode a/b#k=1@y"]);
        assert_eq!(
            (written.entries[0].reason.as_str(), written.entries[0].link()),
            ("It is so.", Some("a/b#1"))
        );
    }

    #[test]
    fn a_finding_that_follows_from_another_cause_is_not_gone() {
        let mut worse = Finding::new("thread-survives", Severity::BrickedByClient, "");
        worse.also = stuck();
        assert_eq!(explained(NOTED).stale(&[shown(SYSTEM, ALL[0], &[worse])]), []);
    }

    #[test]
    fn a_flaky_entry_is_neither_stale_nor_dropped() {
        let flaky = explained(&format!("    flaky: true\n{NOTED}"));
        let run = [shown(SYSTEM, ALL[0], &[])];
        assert_eq!(flaky.stale(&run), []);
        assert_eq!(write(&flaky, &run), flaky);
    }

    #[test]
    fn an_entry_may_be_restricted_to_plans() {
        let stuck = stuck();
        let old = explained("    cases: ['a/b#*@x', 'own/*']\n");
        assert!(old.entry_of(&shown(SYSTEM, ALL[0], &stuck), &stuck[0]).is_some());
        assert!(old.entry_of(&shown(SYSTEM, ALL[1], &stuck), &stuck[0]).is_none());
        assert_eq!(old.stale(&[shown(SYSTEM, ALL[2], &[])]).len(), 1);
        assert_eq!(write(&old, &[shown(SYSTEM, ALL[0], &stuck)]), old);
        // One of the two is gone on one of the systems.
        let written = write(&old, &[shown(SYSTEM, ALL[0], &[])]);
        let cases: Vec<&[String]> = written.entries.iter().map(|entry| entry.cases.as_slice()).collect();
        assert_eq!(cases.len(), 2, "{written:#?}");
        assert!(written.entries.iter().all(|entry| entry.reason == "It is so." && entry.link().is_some()));
        assert!(
            written
                .entries
                .iter()
                .any(|entry| entry.systems == ["sdk@1/mode"] && entry.cases == ["a/b#k=2@x", "own/*"])
        );
    }

    #[test]
    fn another_severity_rule_or_check_is_new() {
        let stuck = stuck();
        let old = explained("");
        let run = shown(SYSTEM, ALL[0], &[]);
        assert_eq!(old.entry_of(&run, &stuck[0]), Some(0));
        assert_eq!(old.entry_of(&run, &Finding { severity: Severity::Hang, ..stuck[0].clone() }), None);
        assert_eq!(old.entry_of(&run, &Finding { check: "turn-ends", ..stuck[0].clone() }), None);
        let ruled = explained("    rule: openai-chat/tool-message-missing\n");
        assert_eq!(ruled.entry_of(&run, &stuck[0]), None);
    }

    #[test]
    fn a_file_in_the_previous_format_is_rewritten_with_its_reasons() {
        let stuck = stuck();
        let text = "schema: 1\nsystem: 'sdk@*/*'\nentries:\n  - check: parts-settled\n    harm: stuck-part\n    \
            reason: It is so.\n    link: a/b#1\n    systems: [sdk@1.2.0/mode, sdk@2.0.0/mode]\n    plans: ['a/b#*']\n";
        let (old, format) = Baseline::parse_any(text, "b.yaml").unwrap();
        let run = [shown(SYSTEM, ALL[0], &stuck), shown(SYSTEM, ALL[1], &[])];
        let written = write_from(format, &old, &run);
        assert!(
            written.entries.iter().all(|entry| entry.reason == "It is so." && entry.link() == Some("a/b#1"))
        );
        let found = |systems: &[&str], cases: &[&str]| {
            written.entries.iter().any(|entry| entry.systems == systems && entry.cases == cases)
        };
        assert!(found(&["sdk@1/mode"], &[]), "{written:#?}");
        assert!(found(&["sdk@2/mode"], &["a/b#*"]), "{written:#?}");
    }

    #[test]
    fn one_file_covers_one_system() {
        assert_eq!(common_system(&[SYSTEM, OTHER, NEXT]).as_deref(), Some("sdk"));
        assert_eq!(common_system(&["canary/x/acp"]).as_deref(), Some("canary/x/acp"));
        assert_eq!(common_system(&[SYSTEM, "else@1/mode"]), None);
    }

    #[test]
    fn strings_are_quoted_if_yaml_requires_it() {
        for (text, expected) in [
            ("abort/mid-batch#k=1@openai-chat", "abort/mid-batch#k=1@openai-chat"),
            ("not reported", "not reported"),
            ("a #b", "'a #b'"),
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
