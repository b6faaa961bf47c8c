//! Compares the list "Adding a dialect" in `ARCHITECTURE.md` with the dialect that the feature `toy-dialect`
//! adds, and checks that no code outside that list tells dialects apart.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeSet;
use std::path::Path;

use brickbat_rules::dialect::Dialect;

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

#[test]
fn the_profiles_of_speed_name_every_dialect() {
    let script =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/bench/profile")).unwrap();
    let subjects = script.lines().find(|line| line.starts_with("SUBJECTS = ")).unwrap();
    for dialect in Dialect::ALL.iter().map(|dialect| dialect.name()).filter(|name| *name != "toy") {
        assert!(subjects.contains(&format!("\"{dialect}\"")), "{dialect}: {subjects}");
    }
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

/// Other files that write down the name of a dialect, or give its variant a shorter name, and why.
const NAMES_ONE: [(&str, &str); 15] = [
    ("harness/rules/src/hosts.rs", "recognizes a dialect by a host"),
    ("harness/rules/src/detect.rs", "recognizes a dialect by a body"),
    (
        "harness/rules/src/histories/generate/fault.rs",
        "lists the dialects that refuse a fault; a test asks for a new one",
    ),
    ("harness/rules/src/models.rs", "the table of single models, with the dialect in which each was asked"),
    ("harness/sessions/src/stores/gemini_cli.rs", "the product's word for the role of the model"),
    (
        "harness/sessions/src/stores/pydantic_ai/messages.rs",
        "the product names one provider for both of OpenAI's APIs",
    ),
    ("harness/sessions/src/stores/forms/openhands_events.rs", "the dialect of a model, as LiteLLM names it"),
    (
        "harness/sessions/src/stores/forms/laravel_ai.rs",
        "the dialects of the providers that Laravel's SDK names",
    ),
    ("harness/sessions/src/stores/forms/llm.rs", "the dialect of a model, as plugins of llm name it"),
    ("harness/sessions/src/stores/forms/provider.rs", "the dialects of the providers that stores name"),
    (
        "harness/rules/src/recordings/pasted/recipient.rs",
        "the dialects of the packages and classes that a text names",
    ),
    ("harness/filter-suite/src/planted/between.rs", "the name of a planted converter"),
    ("harness/drive/src/driver/exported.rs", "the manifest of an exported test needs some dialect"),
    ("harness/systems/templates/rust/adapter.rs", "an adapter of a user"),
    ("harness/bench/program.rs", "measures one request of each dialect"),
];

#[test]
fn only_the_listed_files_name_a_dialect() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names: Vec<String> = names().into_iter().map(|name| format!("\"{name}\"")).collect();
    let is_named = |line: &str| {
        let renames = line.contains("Dialect::{") || line.contains("Dialect::*");
        renames || names.iter().any(|name| line.contains(name.as_str()))
    };
    let is_naming = |(name, text): &(String, String)| {
        let code = text.split("\nmod tests {").next().unwrap_or_default();
        let mut lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        !name.contains("/dialects/") && !TELLS_APART.contains(&name.as_str()) && lines.any(is_named)
    };
    let naming = sources(root, &root.join("harness")).into_iter().filter(is_naming);
    let naming: BTreeSet<String> = naming.map(|(name, _)| name).collect();
    let listed: BTreeSet<String> = NAMES_ONE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(naming, listed, "ask the dialect instead, or list the file with its reason");
}

/// The names of the dialects of providers.
fn names() -> BTreeSet<&'static str> {
    Dialect::ALL.into_iter().map(Dialect::name).filter(|name| *name != "toy").collect()
}

/// The text of a file of the repository.
fn text(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The texts in quotation marks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

#[test]
fn the_type_of_the_npm_package_has_every_dialect() {
    let types = text("harness/packages/library/javascript/index.d.ts");
    let union = types.split("export type Dialect =").nth(1).unwrap().split(';').next().unwrap();
    assert_eq!(quoted(union), names());
}

/// The fixtures have an accessor for the address of each vendor. OpenAI has one for both of its dialects.
#[test]
fn the_fixtures_have_an_accessor_for_each_dialect() {
    let (javascript, python, rust) = (
        text("harness/packages/npm/test.js"),
        text("harness/packages/python/brickbat/provider.py"),
        text("harness/brickbat/fixture.rs"),
    );
    for dialect in Dialect::ALL.into_iter().filter(|dialect| names().contains(dialect.name())) {
        let name = if dialect.name() == "openai-responses" { "openai-chat" } else { dialect.name() };
        let variant = format!("{:?}", Dialect::from_name(name).unwrap());
        let is_in_javascript = javascript.contains(&format!("return this.baseUrls[\"{name}\"];"))
            || javascript.contains(&format!("return this.baseUrls.{name};"));
        assert!(is_in_javascript, "{name} in test.js");
        assert!(python.contains(&format!("return self.base_urls[\"{name}\"]")), "{name} in provider.py");
        assert!(rust.contains(&format!("self.base_url(Dialect::{variant})")), "{name} in fixture.rs");
    }
}

#[test]
fn the_scenarios_of_a_switch_go_to_every_dialect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/switch");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let list = text.lines().find_map(|line| line.strip_prefix("  to: [")?.strip_suffix(']'));
        let varied: BTreeSet<&str> = list.unwrap_or_default().split(", ").collect();
        assert_eq!(varied, names(), "{}", path.display());
    }
}
