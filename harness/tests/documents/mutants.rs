//! The table of mutants of SDKs, from the file that `harness/nightly/mutants/run.py` has written, and the
//! questions that no check asked, from the verdicts on the survivors.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_engine::checks::CHECKS;
use serde::Deserialize;

use super::blocks::table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    schema: u32,
    suites: Vec<Suite>,
    mutants: Vec<Mutant>,
}

/// The plans and the changed code of one SDK.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    sdk: String,
    version: String,
    mode: String,
    dialect: String,
    seed: u64,
    sites: usize,
    plans: usize,
    causes: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    sdk: String,
    version: String,
    file: String,
    line: usize,
    column: usize,
    kind: String,
    before: String,
    after: String,
    result: Result,
    #[serde(default)]
    check: Option<String>,
    #[serde(default)]
    plan: Option<String>,
    #[serde(default)]
    cause: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    plans: Option<usize>,
    #[serde(default)]
    ran: Option<usize>,
    #[serde(default)]
    seen_in: Option<usize>,
    #[serde(default)]
    seen: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Result {
    Killed,
    Masked,
    Survived,
    NotJudged,
    Stillborn,
    NotReached,
}

/// The verdicts of a person on the survivors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    questions: Vec<Question>,
    survivors: Vec<Survivor>,
}

/// A question that no check asked when the mutants ran.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    id: String,
    asks: String,
    evidence: String,
    careful: String,
    /// The check that asks it since.
    asked_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Survivor {
    /// `SDK FILE:LINE:COLUMN KIND`.
    mutant: String,
    /// The text after the change, where two mutants have the same place and kind.
    #[serde(default)]
    after: Option<String>,
    verdict: Verdict,
    why: String,
    /// The question that would kill it.
    #[serde(default)]
    question: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Equivalent,
    OutOfScope,
    Question,
}

impl Mutant {
    fn name(&self) -> String {
        format!("{} {}:{}:{} {}", self.sdk, self.file, self.line, self.column, self.kind)
    }

    fn verdict(&self, read: &Read) -> Verdict {
        let is_own = |one: &&Survivor| {
            one.mutant == self.name() && one.after.as_ref().is_none_or(|after| *after == self.after)
        };
        let own: Vec<&Survivor> = read.survivors.iter().filter(is_own).collect();
        let [one] = own[..] else { panic!("{}, {}: {} verdicts", self.name(), self.after, own.len()) };
        one.verdict
    }
}

fn report() -> Report {
    serde_json::from_str(&super::read("docs/data/mutants.json")).unwrap()
}

fn verdicts() -> Read {
    serde_saphyr::from_str(&super::read("harness/nightly/mutants/survivors.yaml")).unwrap()
}

const HEAD: [&str; 10] = [
    "SDK",
    "killed",
    "masked",
    "survived: equivalent",
    "survived: out of scope",
    "survived: a question",
    "not judged",
    "stillborn",
    "killed, of the killed, the masked and the questions",
    "killed, of all but the equivalent and the stillborn",
];

/// The results of each SDK, or of each kind, with the verdicts on the survivors.
fn results(by: fn(&Mutant) -> &String, first: &str) -> String {
    let (report, read) = (report(), verdicts());
    let names: BTreeSet<&String> = report.mutants.iter().map(by).collect();
    let rows = names.into_iter().map(Some).chain([None]).map(|name| {
        let own: Vec<&Mutant> =
            report.mutants.iter().filter(|one| name.is_none_or(|name| by(one) == name)).collect();
        let with = |result| own.iter().filter(move |one| one.result == result);
        let survived = |verdict| with(Result::Survived).filter(|one| one.verdict(&read) == verdict).count();
        let killed = with(Result::Killed).count();
        let matter = killed + with(Result::Masked).count() + survived(Verdict::Question);
        let others = survived(Verdict::OutOfScope) + with(Result::NotJudged).count();
        let share =
            |of: usize| (killed * 100).checked_div(of).map_or("–".to_owned(), |share| format!("{share} %"));
        let counts = [
            killed,
            with(Result::Masked).count(),
            survived(Verdict::Equivalent),
            survived(Verdict::OutOfScope),
            survived(Verdict::Question),
            with(Result::NotJudged).count(),
            with(Result::Stillborn).count(),
        ];
        let name = name.map_or("all".to_owned(), |name| format!("`{name}`"));
        [name]
            .into_iter()
            .chain(counts.map(|count| count.to_string()))
            .chain([share(matter), share(matter + others)])
            .collect()
    });
    let head: Vec<&str> = [first].into_iter().chain(HEAD.into_iter().skip(1)).collect();
    table(&head, rows)
}

/// The table of SDKs.
pub fn mutants() -> String {
    results(|one| &one.sdk, HEAD[0])
}

/// The table of kinds.
pub fn mutants_by_kind() -> String {
    results(|one| &one.kind, "kind")
}

/// The table of questions, each with the number of survivors that it would kill.
pub fn mutant_questions() -> String {
    let read = verdicts();
    let row = |question: &Question| {
        let n = read.survivors.iter().filter(|one| one.question.as_ref() == Some(&question.id)).count();
        vec![
            format!("`{}`", question.id),
            question.asks.clone(),
            question.evidence.clone(),
            question.careful.clone(),
            question.asked_by.as_deref().map_or_else(String::new, |check| format!("`{check}`")),
            n.to_string(),
        ]
    };
    table(
        &["question", "asks", "evidence", "careful", "asked by", "survivors"],
        read.questions.iter().map(row),
    )
}

#[test]
fn every_survivor_among_the_mutants_has_one_verdict() {
    let (report, read) = (report(), verdicts());
    assert_eq!(report.schema, 1);
    let survivors: Vec<&Mutant> =
        report.mutants.iter().filter(|one| one.result == Result::Survived).collect();
    let found: Vec<Verdict> = survivors.iter().map(|one| one.verdict(&read)).collect();
    assert_eq!(found.len(), read.survivors.len(), "verdicts on mutants that did not survive");
    let ids: BTreeSet<&String> = read.questions.iter().map(|question| &question.id).collect();
    for one in &read.survivors {
        assert!(one.why.len() > 20, "{}: no reason", one.mutant);
        assert_eq!(one.verdict == Verdict::Question, one.question.is_some(), "{}", one.mutant);
        assert!(
            one.question.as_ref().is_none_or(|id| ids.contains(id)),
            "{}: {:?}",
            one.mutant,
            one.question
        );
    }
    for check in read.questions.iter().filter_map(|question| question.asked_by.as_deref()) {
        assert!(CHECKS.iter().any(|known| known.id == check), "there is no check {check}");
    }
    let asked: BTreeSet<&String> = read.survivors.iter().filter_map(|one| one.question.as_ref()).collect();
    assert_eq!(ids, asked, "questions that no survivor raises");
}

#[test]
fn every_mutant_has_the_evidence_of_its_result() {
    let report = report();
    let suites: BTreeMap<&String, &Suite> = report.suites.iter().map(|suite| (&suite.sdk, suite)).collect();
    for one in &report.mutants {
        let suite = suites[&one.sdk];
        assert_eq!(one.version, suite.version, "{}", one.name());
        assert!(one.before != one.after && suite.sites > 0, "{}", one.name());
        let is_decided = matches!(one.result, Result::Killed | Result::Masked);
        assert_eq!(is_decided, one.check.is_some() && one.plan.is_some(), "{}", one.name());
        assert!(one.cause.is_none() || one.result == Result::Killed, "{}", one.name());
        assert!(one.reason.is_none() || !is_decided, "{}", one.name());
        assert!(one.plans.is_none_or(|plans| plans <= suite.plans), "{}", one.name());
        assert!(one.ran.is_none_or(|ran| ran > 0 && Some(ran) <= one.plans), "{}", one.name());
        assert!(one.seen.len() <= one.seen_in.unwrap_or(0), "{}", one.name());
    }
    let words = report.suites.iter().map(|one| (&one.mode, &one.dialect, one.seed, one.causes));
    assert!(words.into_iter().all(|(mode, dialect, ..)| !mode.is_empty() && dialect.contains('-')));
}
