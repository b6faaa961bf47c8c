//! Checks that a stage of `.ci/stages` runs every system.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeSet;
use std::path::Path;

/// The systems that are neither in `ROTATION` nor in `SLOW`, each with the function of `.ci/stages` that runs it.
const WITH_A_STAGE: [(&str, &str); 14] = [
    ("ai-sdk", "ai_sdk"),
    ("anthropic-sdk", "server_tools"),
    ("apex", "twenty_and_apex"),
    ("claude-code", "compaction"),
    ("google-genai", "google_genai"),
    ("langgraph", "compaction"),
    ("langgraph-python", "handoffs"),
    ("openai-agents", "handoffs"),
    ("openai-agents-python", "handoffs"),
    ("opencode", "opencode"),
    ("pydantic-ai", "pydantic_ai"),
    ("tanstack-ai", "tanstack_ai"),
    ("tunacode", "tunacode"),
    ("twenty", "twenty_and_apex"),
];

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The text between two marks.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    Some(text.split_once(begin)?.1.split_once(end)?.0)
}

/// A list of `.ci/stages`.
fn list<'s>(stages: &'s str, name: &str) -> &'s str {
    between(stages, &format!("\n{name}=("), "\n)").unwrap()
}

/// True if the text names the system: alone, or with a mode, a version or a dialect.
fn names(text: &str, system: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || "'\"(){}".contains(c));
    words.any(|word| word.split(['/', '@', ':']).next() == Some(system))
}

#[test]
fn every_system_is_in_a_list_of_systems_or_has_a_stage_of_its_own() {
    let stages = read(".ci/stages");
    let called = read(".ci/run") + &read(".ci/nightly");
    let is_called = |function: &str| called.split_whitespace().any(|word| word == function);
    assert!(is_called("rotation") && is_called("slow_systems"));
    let lists = ["ROTATION", "SLOW"].map(|name| list(&stages, name));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut own: BTreeSet<&str> = WITH_A_STAGE.map(|(system, _)| system).into();
    for entry in std::fs::read_dir(root.join("harness/systems")).unwrap() {
        let system = entry.unwrap();
        let name = system.file_name().into_string().unwrap();
        if !system.path().is_dir() || name == "templates" {
            continue;
        }
        let n_lists = lists.iter().filter(|list| names(list, &name)).count();
        let has_stage = own.remove(name.as_str());
        assert_eq!(n_lists + usize::from(has_stage), 1, "add {name} to `SLOW` in .ci/stages");
    }
    assert!(own.is_empty(), "no systems: {own:?}");
    for (system, function) in WITH_A_STAGE {
        let body = between(&stages, &format!("\n{function}() {{\n"), "\n}\n").unwrap();
        let has_list = |name: &str| body.contains(&format!("${{{name}["));
        let in_list = has_list("COMPACTORS") && names(list(&stages, "COMPACTORS"), system);
        assert!(names(body, system) || in_list, "{function} does not run {system}");
        assert!(is_called(function), "neither .ci/run nor .ci/nightly calls {function}");
    }
}
