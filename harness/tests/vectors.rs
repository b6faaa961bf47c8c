//! The rule vectors in `corpora/histories`: every file is checked, and every rule has a history that keeps it and
//! one that breaks it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use brickbat::dialect::Dialect;
use brickbat::rules::{self, Profile, Rule, Severity, Violation};
use serde::Deserialize;
use serde_json::Value;

/// A file of vectors, all about one rule. The file is named after the rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The version of this format.
    schema: u32,
    /// What the vectors show.
    comment: String,
    /// The id of the rule; none in a file of shapes that break no rule.
    rule: Option<String>,
    /// Where the rule was seen.
    source: String,
    vectors: Vec<Vector>,
}

/// One history and what the provider does with it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    /// Unique in its file, in kebab-case.
    name: String,
    /// The story behind the history.
    comment: String,
    /// The profile that judges; the newest of the dialect if none is named.
    profile: Option<String>,
    /// The request body as JSON.
    request: Option<Value>,
    /// The request body as text, where it is not JSON.
    body: Option<String>,
    result: Outcome,
    /// The ids of the rules that are broken: errors of an invalid history, warnings of an acceptable one.
    violated: BTreeSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// Nothing is wrong.
    Valid,
    /// The provider accepts the history with a warning of ours.
    Acceptable,
    /// The provider refuses the history, first of all because of the rule of the file.
    Invalid,
}

#[test]
fn every_vector_is_judged_as_it_says() {
    let mut failures = Vec::new();
    for (path, dialect, file) in files() {
        let mut names = BTreeSet::new();
        for vector in &file.vectors {
            let mut fail =
                |what: String| failures.push(format!("{}: {}: {what}", path.display(), vector.name));
            if !names.insert(&vector.name) || !is_kebab_case(&vector.name) || vector.comment.is_empty() {
                fail("a vector needs a unique name in kebab-case and a comment".to_owned());
            }
            if let Err(what) = check(dialect, file.rule.as_deref(), vector) {
                fail(what);
            }
        }
    }
    assert!(failures.is_empty(), "{} vectors fail\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_rule_has_a_history_that_keeps_it_and_one_that_breaks_it() {
    let mut outcomes = BTreeMap::<String, BTreeSet<Outcome>>::new();
    for (_, _, file) in files() {
        if let Some(rule) = file.rule {
            outcomes.entry(rule).or_default().extend(file.vectors.iter().map(|vector| vector.result));
        }
    }
    for rule in Rule::all() {
        let outcomes = outcomes.get(rule.id).unwrap_or_else(|| panic!("no vectors for {}", rule.id));
        let is_enforced = Profile::all()
            .iter()
            .any(|p| p.dialect == rule.dialect() && p.severity(rule) == Some(Severity::Error));
        let broken = if is_enforced { Outcome::Invalid } else { Outcome::Acceptable };
        assert!(outcomes.contains(&Outcome::Valid), "no valid vector for {}", rule.id);
        assert!(outcomes.contains(&broken), "no vector breaks {}", rule.id);
    }
}

#[test]
fn every_file_is_named_after_its_rule_and_says_where_it_comes_from() {
    for (path, dialect, file) in files() {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let place = path.display();
        assert_eq!(file.schema, 1, "{place}");
        assert!(
            !file.comment.is_empty() && !file.source.is_empty(),
            "{place}: comment and source are needed"
        );
        match &file.rule {
            None => assert_eq!(stem, "accepted-shapes", "{place}: a file without a rule"),
            Some(rule) => {
                assert!(Rule::find(rule).is_some(), "{place}: there is no rule {rule}");
                assert_eq!(*rule, format!("{dialect}/{stem}"), "{place}");
            }
        }
    }
}

fn check(dialect: Dialect, rule: Option<&str>, vector: &Vector) -> Result<(), String> {
    let profile = match &vector.profile {
        Some(name) => Profile::named(name).ok_or(format!("there is no profile {name}"))?,
        None => Profile::newest(dialect),
    };
    let bytes = match (&vector.request, &vector.body) {
        (Some(request), None) => request.to_string().into_bytes(),
        (None, Some(body)) => body.as_bytes().to_vec(),
        _ => return Err("a vector has either a request or a body".to_owned()),
    };
    let violations = rules::validate(profile, &bytes);
    let ids = |severity: Severity| -> BTreeSet<_> {
        violations.iter().filter(|v| v.severity == severity).map(|v| v.rule.id.to_owned()).collect()
    };
    let none = BTreeSet::new();
    let (errors, warnings) = match vector.result {
        Outcome::Valid => (&none, &none),
        Outcome::Acceptable => (&none, &vector.violated),
        Outcome::Invalid => (&vector.violated, &none),
    };
    if ids(Severity::Error) != *errors || ids(Severity::Warning) != *warnings {
        return Err(format!("expected {:?}, got {}", vector.violated, told(&violations)));
    }
    let first = rules::refusal(&violations).map(|violation| violation.rule.id);
    match (vector.result, rule) {
        (Outcome::Valid, _) if !vector.violated.is_empty() => {
            Err("a valid history violates nothing".to_owned())
        }
        (Outcome::Acceptable, Some(rule)) if !vector.violated.contains(rule) => {
            Err(format!("no warning of {rule}"))
        }
        (Outcome::Invalid, rule) if first != rule => Err(format!("the refusal is {}", told(&violations))),
        _ => Ok(()),
    }
}

fn told(violations: &[Violation]) -> String {
    let lines = violations
        .iter()
        .map(|v| format!("\n    {:?} {} at {}: {}", v.severity, v.rule.id, v.pointer, v.message));
    lines.collect()
}

/// Every file of vectors with its dialect, sorted by path.
fn files() -> Vec<(PathBuf, Dialect, File)> {
    let mut files = Vec::new();
    for dialect in Dialect::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/histories").join(dialect.name());
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("the folder can be listed").path();
            let text = fs::read_to_string(&path).expect("the file is text");
            let file =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            files.push((path, dialect, file));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

fn is_kebab_case(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
