//! The rule vectors in `corpora/histories`: every file is checked, and every rule has a history that keeps it
//! and one that breaks it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Document;
use brickbat_rules::lint::{Expectation, Vector, VectorFile};
use brickbat_rules::{self as rules, Memory, Profile, Rule, Severity, Violation};
use serde_json::Value;

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
    let mut outcomes = BTreeMap::<String, BTreeSet<Expectation>>::new();
    for (_, _, file) in files() {
        if let Some(rule) = file.rule {
            outcomes.entry(rule).or_default().extend(file.vectors.iter().map(|vector| vector.result));
        }
    }
    for rule in Rule::all() {
        let outcomes = outcomes.get(rule.id).unwrap_or_else(|| panic!("no vectors for {}", rule.id));
        let is_enforced =
            Profile::all().any(|p| p.dialect == rule.dialect() && p.severity(rule) == Some(Severity::Error));
        let broken = if is_enforced { Expectation::Invalid } else { Expectation::Acceptable };
        assert!(outcomes.contains(&Expectation::Valid), "no valid vector for {}", rule.id);
        assert!(outcomes.contains(&broken), "no vector breaks {}", rule.id);
    }
}

/// A profile differs from its dialect's default only in behaviour that was observed, so each difference has a
/// vector.
#[test]
fn each_addition_and_wording_of_a_profile_has_a_vector() {
    let mut broken = BTreeSet::<(String, &str)>::new();
    let mut told = BTreeSet::<(String, &str)>::new();
    for (_, _, file) in files() {
        let Some(rule) = &file.rule else { continue };
        for vector in &file.vectors {
            let Some(profile) = vector.profile.as_deref().and_then(Profile::named) else { continue };
            if vector.result != Expectation::Valid {
                broken.insert((rule.clone(), profile.name));
            }
            if vector.error.is_some() {
                told.insert((rule.clone(), profile.name));
            }
        }
    }
    let is_shown = |shown: &BTreeSet<(String, &str)>, rule: &Rule, profile: &Profile| {
        // An older date has its own vectors only if it differs from the newer one.
        let same_name = |(id, name): &(String, &str)| {
            id == rule.id && Profile::named(name).is_some_and(|other| other.undated() == profile.undated())
        };
        shown.iter().any(same_name)
    };
    for profile in Profile::all() {
        for rule in profile.added {
            assert!(is_shown(&broken, rule, profile), "no vector breaks {} under {}", rule.id, profile.name);
        }
        for (rule, _) in
            profile.wording.iter().filter(|(rule, _)| profile.severity(rule) == Some(Severity::Error))
        {
            assert!(is_shown(&told, rule, profile), "no vector tells {} as {} does", rule.id, profile.name);
        }
    }
    for rule in Rule::all().filter(|rule| rule.is_optional) {
        let adds = |profile: &&Profile| profile.severity(rule) == Some(Severity::Error);
        let is_refused = |profile: &Profile| broken.contains(&(rule.id.to_owned(), profile.name));
        let n_profiles = Profile::all().filter(adds).count();
        assert!(
            n_profiles == 0 || Profile::all().filter(adds).any(is_refused),
            "{} is never refused",
            rule.id
        );
    }
}

/// Models of every kind that a rule was seen to distinguish.
const MODELS: [&str; 27] = [
    "claude-3-haiku-20240307",
    "claude-haiku-4-5",
    "claude-opus-4-8",
    "claude-sonnet-5",
    "claude-fable-5-1",
    "us.anthropic.claude-haiku-4-5",
    "us.anthropic.claude-sonnet-4-6",
    "us.amazon.nova-pro-v1:0",
    "meta.llama3-1-70b-instruct-v1:0",
    "gemini-2.0-flash",
    "gemini-2.5-pro",
    "gemini-3-pro-preview",
    "gemini-3.6-flash",
    "gpt-5",
    "Qwen/Qwen3.5-4B",
    "deepseek-reasoner",
    "deepseek-chat",
    "kimi-k2.5",
    "gemma-3-27b-it",
    "qwen3-coder-plus",
    "codestral-latest",
    "gpt-4o-mini",
    "gpt-5-mini",
    "claude-sonnet-4-6",
    "us.amazon.nova-micro-v1:0",
    "anthropic.claude-3-haiku-20240307-v1:0",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
];

/// `explain` and `check` list which rules depend on the model, from a table that this test verifies.
#[test]
fn the_rules_that_depend_on_the_model_are_marked() {
    let mut found = BTreeSet::new();
    for (_, dialect, file) in files() {
        // The name of a model also changes the size of a body.
        for vector in file.vectors.iter().filter(|vector| vector.padded.is_none()) {
            let named = vector.profile.as_deref().and_then(Profile::named);
            let profile = named.unwrap_or_else(|| Profile::newest(dialect));
            let Some(Value::Object(request)) =
                vector.bytes().and_then(|bytes| serde_json::from_slice(&bytes).ok())
            else {
                continue;
            };
            let memory = vector
                .exchanges()
                .map_or_else(Memory::default, |earlier| Memory::of_exchanges(dialect, earlier));
            let violated = |model: &&str| -> BTreeSet<_> {
                let mut request = request.clone();
                request.remove("modelId");
                request.insert("model".to_owned(), Value::from(*model));
                let body = Value::Object(request).to_string();
                let document = Document::parse(body.as_bytes());
                let violations =
                    rules::validate_asking(profile, &memory, Some(model), body.as_bytes(), &document);
                violations.iter().map(|it| (it.rule.id, it.severity == Severity::Error)).collect()
            };
            let all: Vec<BTreeSet<_>> = MODELS.iter().map(violated).collect();
            let union: BTreeSet<_> = all.iter().flatten().copied().collect();
            found
                .extend(union.iter().filter(|it| !all.iter().all(|set| set.contains(it))).map(|(id, _)| *id));
        }
    }
    let listed: BTreeSet<&str> =
        Rule::all().filter(|rule| rule.models().is_some()).map(|rule| rule.id).collect();
    assert_eq!(found, listed, "`harness/rules/src/scope.rs` lists the rules that depend on the model");
}

/// The prefixes of places in a body in sentences of providers.
const PLACES: [&str; 5] = ["messages[", "messages.", "input[", "contents[", "contents."];

/// A sentence that `check` printed leads to its own rule. A rule of another API is listed as well only if the
/// sentence names no place of the body, so that both APIs send the same words.
#[test]
fn the_sentence_for_a_vector_at_each_provider_explains_its_rule() {
    let wordings = rules::explain::Wordings::all();
    let mut said = BTreeMap::<String, BTreeSet<&'static str>>::new();
    for (_, dialect, file) in files() {
        for bytes in file.vectors.iter().filter_map(Vector::bytes) {
            for profile in Profile::all().filter(|profile| profile.dialect == dialect) {
                for violation in rules::validate(profile, &bytes) {
                    said.entry(violation.message).or_default().insert(violation.rule.id);
                }
            }
        }
    }
    assert!(said.len() > 500, "{}", said.len());
    let mut failures = Vec::new();
    for (message, rules) in &said {
        let found: Vec<&str> = wordings.in_text(message).iter().map(|rule| rule.id).collect();
        let dialects: BTreeSet<Dialect> =
            rules.iter().filter_map(|id| Rule::find(id)).map(|rule| rule.dialect()).collect();
        let is_foreign = |id: &&str| Rule::find(id).is_some_and(|rule| !dialects.contains(&rule.dialect()));
        let names_place = PLACES.iter().any(|place| message.contains(place));
        if names_place && found.iter().any(is_foreign) || !rules.iter().all(|rule| found.contains(rule)) {
            failures.push(format!("{message}\n    said by {rules:?}, explained by {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {}\n{}", failures.len(), said.len(), failures.join("\n"));
}

#[test]
fn every_profile_is_found_by_its_name_and_ends_with_its_date() {
    for profile in Profile::all() {
        assert_eq!(Profile::named(profile.name).map(|found| found.name), Some(profile.name));
        let (year, month) = profile.name.rsplit_once('@').and_then(|(_, date)| date.split_once('-')).unwrap();
        assert!(year.len() == 4 && year.parse::<u16>().is_ok(), "{}", profile.name);
        assert!(month.len() == 2 && (1..=12).contains(&month.parse::<u8>().unwrap()), "{}", profile.name);
        assert!(Profile::named(profile.undated()).unwrap().name >= profile.name, "{}", profile.name);
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

#[test]
fn every_file_is_in_the_canonical_form() {
    for (path, _, file) in files() {
        let text = fs::read_to_string(&path).expect("the file is text");
        assert!(text == file.to_text(), "{}: run `brickbat lint --fix corpora/histories`", path.display());
    }
}

fn check(dialect: Dialect, rule: Option<&str>, vector: &Vector) -> Result<(), String> {
    let profile = match &vector.profile {
        Some(name) => Profile::named(name).ok_or(format!("there is no profile {name}"))?,
        None => Profile::newest(dialect),
    };
    let bytes = vector.bytes().ok_or("a vector has either a request or a body")?;
    let memory =
        vector.exchanges().map_or_else(Memory::default, |earlier| Memory::of_exchanges(dialect, earlier));
    let violations = rules::validate_remembering(profile, &memory, &bytes);
    let ids = |severity: Severity| -> BTreeSet<_> {
        violations.iter().filter(|v| v.severity == severity).map(|v| v.rule.id.to_owned()).collect()
    };
    let none = BTreeSet::new();
    let (errors, warnings) = match vector.result {
        Expectation::Valid => (&none, &none),
        Expectation::Acceptable => (&none, &vector.violated),
        Expectation::Invalid => (&vector.violated, &none),
    };
    if ids(Severity::Error) != *errors || ids(Severity::Warning) != *warnings {
        return Err(format!("expected {:?}, got {}", vector.violated, told(&violations)));
    }
    let first = rules::refusal(&violations).map(|violation| violation.rule.id);
    if let Some(error) = &vector.error
        && rules::refusal(&violations).is_none_or(|violation| violation.message != *error)
    {
        return Err(format!("expected the sentence {error:?}, got {}", told(&violations)));
    }
    if vector.source.as_ref().is_some_and(String::is_empty) || !vector.flags.iter().all(|f| is_kebab_case(f))
    {
        return Err("an empty source, or a flag that is not in kebab-case".to_owned());
    }
    match (vector.result, rule) {
        (Expectation::Valid, _) if !vector.violated.is_empty() => {
            Err("a valid history violates nothing".to_owned())
        }
        (Expectation::Acceptable, Some(rule)) if !vector.violated.contains(rule) => {
            Err(format!("no warning of {rule}"))
        }
        (Expectation::Invalid, rule) if first != rule => Err(format!("the refusal is {}", told(&violations))),
        _ => Ok(()),
    }
}

/// The message for the violations of a vector.
fn told(violations: &[Violation]) -> String {
    let lines = violations
        .iter()
        .map(|v| format!("\n    {:?} {} at {}: {}", v.severity, v.rule.id, v.pointer, v.message));
    lines.collect()
}

/// Every file of vectors with its dialect, sorted by path.
fn files() -> Vec<(PathBuf, Dialect, VectorFile)> {
    let mut files = Vec::new();
    for dialect in Dialect::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/histories").join(dialect.name());
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("the folder can be listed").path();
            let text = fs::read_to_string(&path).expect("the file is text");
            let file = VectorFile::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
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
