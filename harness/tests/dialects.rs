//! Compares the list "Adding a dialect" in `ARCHITECTURE.md` with the dialect that the feature `toy-dialect`
//! adds, and checks that no code outside that list tells dialects apart.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn adding_a_dialect_touches_the_listed_files_and_no_others() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with("Adding a dialect\n")).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    let is_touched = |(name, text): &(String, String)| {
        name.contains("/dialects/toy") || text.contains("feature = \"toy-dialect\"")
    };
    let touched = sources(root, &root.join("harness")).into_iter().filter(is_touched);
    let touched: BTreeSet<String> = touched.map(|(name, _)| name).collect();
    assert_eq!(listed, touched);
}

/// The code that tells dialects apart, beside the folders of the dialects: lists of every dialect, and the
/// recognition of one in a stream.
const TELLS_APART: [&str; 4] = [
    "harness/rules/src/dialects.rs",
    "harness/rules/src/streams/detect.rs",
    "harness/scenario/src/dialects.rs",
    "harness/sessions/src/clients.rs",
];

#[test]
fn no_other_code_tells_dialects_apart() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for (name, text) in sources(root, &root.join("harness")) {
        if name.contains("/dialects/") || TELLS_APART.contains(&name.as_str()) {
            continue;
        }
        found.extend(telling_apart(&text).map(|line| format!("{name}: {line}")));
    }
    assert!(found.is_empty(), "ask the dialect instead, as in `Codec`, `Wire` and `Clients`: {found:#?}");
}

/// The lines that tell dialects apart, except those of unit tests at the end of the file.
fn telling_apart(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("\nmod tests {").next().unwrap_or_default();
    code.lines().map(str::trim).filter(|line| tells_apart(line))
}

/// True if a line compares with one dialect, or matches one.
fn tells_apart(line: &str) -> bool {
    let is_named = |text: &str| {
        let is_variant = |rest: &str| rest.chars().nth(1).is_some_and(|second| second.is_ascii_lowercase());
        text.split("Dialect::").skip(1).any(is_variant)
    };
    let compares = ["== Dialect::", "!= Dialect::", "== Some(Dialect::", "!= Some(Dialect::"];
    // A list of every dialect names none.
    let line = &line.replace("Dialect::ALL", "");
    compares.iter().any(|words| line.contains(words))
        || (line.contains("matches!(") && is_named(line))
        || (line.starts_with("| Dialect::") && is_named(line))
        || line.split_once("=>").is_some_and(|(pattern, _)| is_named(pattern))
}

#[test]
fn comparisons_and_patterns_tell_dialects_apart() {
    for line in [
        "if dialect == Dialect::Gemini {",
        "session.dialect != Some(Dialect::Mistral)",
        "matches!(dialect, Dialect::Gemini)",
        "Some(Dialect::OpenaiChat) if is_responses => 1,",
        "| Dialect::Mistral",
    ] {
        assert!(tells_apart(line), "{line}");
    }
    for line in
        ["\"google\" => Dialect::Gemini,", "for dialect in Dialect::ALL {", "Dialect::from_name(name)"]
    {
        assert!(!tells_apart(line), "{line}");
    }
}

/// The Rust files below a folder, without folders of tests, by name.
fn sources(root: &Path, folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.ends_with("tests") {
            found.extend(sources(root, &path));
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

#[test]
fn only_the_unit_tests_of_a_file_may_tell_dialects_apart() {
    let line = "if dialect == Dialect::Gemini {";
    let in_a_folder = format!("#[cfg(test)]\nmod tests;\n\n{line}\n");
    let in_the_file = format!("#[cfg(test)]\nmod tests {{\n    {line}\n}}\n");
    assert_eq!(telling_apart(&in_a_folder).collect::<Vec<_>>(), [line]);
    assert_eq!(telling_apart(&in_the_file).count(), 0);
}
