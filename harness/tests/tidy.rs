//! Checks what neither the compiler nor a lint can see: sizes, names, the top level, the data.
//!
//! Layers are crates, and the `clippy.toml` above each crate limits what it may use.
//! Each check is a function from a file to complaints, and is tested on a file that it must complain about.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Lines that a file may have. Aim for 300; a longer file has more than one job.
const MAX_LINES: usize = 600;

/// Words that say nothing about what a type or a file is.
const EMPTY_WORDS: [&str; 6] = ["Manager", "Handler", "Processor", "Helper", "Util", "Engine"];

/// The folders with code that judges: it knows no system, and no planted bug.
const JUDGES: [&str; 7] = [
    "harness/rules/src",
    "harness/engine/src/checks.rs",
    "harness/engine/src/checks/",
    "harness/engine/src/conductor",
    "harness/engine/src/provider",
    "harness/scenario/src/dialects",
    "harness/scenario/src/wire",
];

/// Everything that is allowed at the top of the repository.
const TOP: [&str; 26] = [
    ".ci",
    ".git",
    ".clusterfuzzlite",
    ".dockerignore",
    ".github",
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "action.yml",
    "clippy.toml",
    "corpora",
    "dist",
    "docs",
    "fuzz",
    "harness",
    "rustfmt.toml",
    "scenarios",
    "target",
];

type Complaints = Vec<String>;

#[test]
fn files_are_short() {
    hold(size, &[("harness/drive/src/server.rs", &"\n".repeat(MAX_LINES + 1))]);
}

#[test]
fn no_test_is_switched_off() {
    hold(
        switched_off,
        &[
            ("harness/tests/suite.rs", "#[test]\n#[ignore]\nfn f() {}"),
            ("harness/tests/suite.rs", "#[test]\n#[should_panic(expected = \"x\")]\nfn f() {}"),
        ],
    );
}

#[test]
fn names_of_types_and_files_are_specific() {
    hold(
        names,
        &[
            ("harness/drive/src/server.rs", "pub struct GateManager;"),
            ("harness/drive/src/server.rs", "enum Handler {}"),
            ("harness/drive/src/util.rs", ""),
        ],
    );
}

#[test]
fn judges_know_no_system() {
    hold(
        impartiality,
        &[
            ("harness/rules/src/dialects/openai.rs", "const NAME: &str = \"ai-sdk\";"),
            ("harness/rules/src/dialects/openai.rs", "const NAME: &str = \"opencode\"; // https://a.org"),
            ("harness/engine/src/checks/memory.rs", "use crate::flaws::Canary;"),
            ("harness/engine/src/provider.rs", "fn canary() {}"),
        ],
    );
}

/// Twenty stores look at each file. A store that parses it again in `owns` makes a large file slow for
/// all of them, so only [`Look`](brickbat_sessions::stores::Look) parses.
#[test]
fn a_store_recognises_a_file_without_parsing_it() {
    let store = "harness/sessions/src/stores/goose.rs";
    let parses =
        "fn owns(&self, look: &Look<'_>) -> bool {\n        Document::parse(look.main()).is_ok()\n    }";
    let is_own = "fn owns(&self, look: &Look<'_>) -> bool {\n        look.is_object(is_own)\n    }\n";
    let after_a_block =
        parses.replace("        Doc", "        if look.main().is_empty() {\n        }\n        Doc");
    let in_the_second = format!("{is_own}{parses}");
    hold(
        parsing,
        &[
            (store, parses),
            (store, &parses.replace("Document::parse", "whole")),
            (store, &after_a_block),
            (store, &in_the_second),
        ],
    );
    assert_eq!(parsing(store, is_own), Complaints::new());
}

/// A file that is not in the registry is not compiled, and so nothing would miss it.
#[test]
fn each_planted_bug_has_a_file_of_its_name_that_says_what_is_wrong() {
    let flaws = root().join("harness/engine/src/flaws");
    let names: Vec<String> =
        brickbat_engine::flaws::Canary::all().map(|canary| canary.name().replace('-', "_")).collect();
    for file in files(&flaws, &["rs"]) {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let is_flaw = std::fs::read_to_string(&file).unwrap().starts_with("//! BUG: ");
        assert_eq!(is_flaw, names.contains(&stem), "{stem}");
    }
    assert!(names.iter().all(|name| flaws.join(format!("{name}.rs")).is_file()));
}

#[test]
fn the_top_level_has_only_planned_entries() {
    let entries = std::fs::read_dir(root()).unwrap();
    let found: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(unplanned(&found), Complaints::new());
    assert!(!unplanned(&["notes".to_owned()]).is_empty());
}

/// Lowering checks the other requirements of a scenario.
#[test]
fn each_scenario_file_has_a_name_in_kebab_case_and_leads_an_editor_to_the_schema() {
    // Other files that a scenario names are read with it, and are JSON.
    let files = files(&root().join("scenarios"), &["yaml", "yml"]);
    let complaints: Complaints =
        files.iter().flat_map(|path| scenario(path, &std::fs::read_to_string(path).unwrap())).collect();
    assert_eq!(complaints, Complaints::new());
    assert!(!files.is_empty());
    // Only a user's own scenarios need no class, comment and public thread.
    for key in ["\nclass: [", "\ncomment: "] {
        let without = files.iter().filter(|path| !std::fs::read_to_string(path).unwrap().contains(key));
        assert_eq!(without.collect::<Vec<_>>(), Vec::<&PathBuf>::new(), "{key}");
    }
    let good = "# yaml-language-server: $schema=../scenario.schema.json\n";
    assert!(scenario(&root().join("scenarios/abort/x.yaml"), good).is_empty());
    for (path, text) in
        [("x.yml", good), ("X_Y.yaml", good), ("x.yaml", ""), ("x.yaml", &good.replace("../", ""))]
    {
        assert_eq!(scenario(&root().join("scenarios/abort").join(path), text).len(), 1, "{path}: {text}");
    }
}

/// pip must install for a system exactly what was reviewed when it was locked. npm and cargo lock with
/// checksums anyway.
#[test]
fn each_package_that_pip_installs_for_a_system_has_a_hash() {
    let folders = ["harness/systems", "harness/filters-under-test"].map(|folder| root().join(folder));
    let locks: Vec<PathBuf> = folders.iter().flat_map(|folder| files(folder, &["txt"])).collect();
    let locks: Vec<&PathBuf> = locks.iter().filter(|path| path.ends_with("requirements.txt")).collect();
    assert!(locks.len() > 10, "{locks:?}");
    for path in locks {
        let name = path.display().to_string();
        assert_eq!(unhashed(&name, &std::fs::read_to_string(path).unwrap()), Complaints::new());
    }
    let hashed = "# Made with uv\na==1 \\\n    --hash=sha256:00\nb==2 ; python_version < '3.12' \\\n    --hash=sha256:01\n";
    assert!(unhashed("x", hashed).is_empty());
    assert_eq!(unhashed("x", &hashed.replacen("    --hash=sha256:00\n", "", 1)).len(), 1);
    assert_eq!(unhashed("x", "a==1\nb>=2\n").len(), 2);
}

/// Runs a check over the complete repository, and shows that it can fail.
fn hold(check: fn(&str, &str) -> Complaints, must_complain: &[(&str, &str)]) {
    let sources = ["harness", "fuzz"].into_iter().flat_map(|folder| files(&root().join(folder), &["rs"]));
    let complaints: Complaints = sources
        .flat_map(|path| {
            let below = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            check(&below, &std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    for (path, text) in must_complain {
        assert!(!check(path, text).is_empty(), "nothing is said about {path}: {text}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder with one of those extensions, except those that are built or installed there.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if !matches!(name.as_str(), "target" | "node_modules") => {
                found.extend(files(&path, endings))
            }
            false if path.extension().is_some_and(|own| endings.iter().any(|ending| own == *ending)) => {
                found.push(path);
            }
            _ => {}
        }
    }
    found.sort();
    found
}

/// The lines of a file without comments, and without its unit tests, which are at its end.
fn shipped(text: &str) -> impl Iterator<Item = &str> {
    let own = text.split("#[cfg(test)]").next().unwrap_or_default();
    own.lines().map(|line| line.split("//").next().unwrap_or_default())
}

fn size(path: &str, text: &str) -> Complaints {
    let n_lines = text.lines().count();
    (n_lines > MAX_LINES).then(|| format!("{path}: {n_lines} lines")).into_iter().collect()
}

fn switched_off(path: &str, text: &str) -> Complaints {
    let is_off = |line: &&str| ["#[ignore", "#[should_panic"].iter().any(|off| line.trim().starts_with(off));
    text.lines().filter(is_off).map(|line| format!("{path}: {line}")).collect()
}

/// The lines of a store's `owns` that parse the file.
fn parsing(path: &str, text: &str) -> Complaints {
    if !path.starts_with("harness/sessions/src/stores/") {
        return Complaints::new();
    }
    let parses = |line: &&str| {
        [" whole(", "parse(", "from_slice(", "from_str("].iter().any(|call| format!(" {line}").contains(call))
    };
    let code = shipped(text).collect::<Vec<_>>().join("\n");
    let bodies = code.split("fn owns(").skip(1);
    let lines = bodies.flat_map(|body| body.lines().take_while(|line| line.trim_end() != "    }"));
    lines.filter(parses).map(|line| format!("{path}: `owns` parses the file: {}", line.trim())).collect()
}

fn names(path: &str, text: &str) -> Complaints {
    if path.starts_with("harness/tests/") {
        return Complaints::new();
    }
    let mut complaints = Complaints::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for line in shipped(text) {
        let words: Vec<&str> = line.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let is_type = matches!(pair[0], "struct" | "enum" | "trait" | "type" | "union");
            if is_type && EMPTY_WORDS.iter().any(|empty| pair[1].contains(empty)) {
                complaints.push(format!("{path}: the name `{}` says nothing", pair[1]));
            }
        }
    }
    let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    let is_empty =
        |part: &str| EMPTY_WORDS.iter().any(|word| part.trim_end_matches('s') == word.to_lowercase());
    if stem.split('_').any(is_empty) {
        complaints.push(format!("{path}: the file's name says nothing"));
    }
    complaints
}

/// The files that explain the errors of SDKs and titles of issues. They judge nothing.
const OF_SDKS: [&str; 2] = ["harness/rules/src/explain/clients.rs", "harness/rules/src/explain/kinds.rs"];

fn impartiality(path: &str, text: &str) -> Complaints {
    let is_judge = JUDGES.iter().any(|judge| path.starts_with(judge)) && !OF_SDKS.contains(&path);
    if !is_judge || path.ends_with("/tests.rs") {
        return Complaints::new();
    }
    let systems = std::fs::read_dir(root().join("harness/systems")).unwrap().map(|entry| entry.unwrap());
    // The templates of `init` are in the same folder.
    let systems = systems.filter(|entry| entry.path().join("system.yaml").is_file());
    let names = systems.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let code = shipped(text).collect::<Vec<_>>().join("\n").to_lowercase();
    // Names are compared with whole words, because one of them is `pi`.
    let mut words =
        code.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect::<BTreeSet<_>>();
    words.extend(code.contains("canary").then_some("canary"));
    let known = names.chain(["canary".to_owned()]).filter(|name| words.contains(name.as_str()));
    known.map(|name| format!("{path}: knows `{name}`")).collect()
}

/// The packages of a `requirements.txt` without a hash.
fn unhashed(path: &str, text: &str) -> Complaints {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let is_hash = |line: &str| line.trim_start().starts_with("--hash=");
    let packages = lines.iter().enumerate().filter(|(_, line)| !is_hash(line) && !line.trim().is_empty());
    let bare = packages.filter(|(at, _)| !lines.get(at + 1).is_some_and(|next| is_hash(next)));
    bare.map(|(_, line)| format!("{path}: {line} has no hash")).collect()
}

fn unplanned(entries: &[String]) -> Complaints {
    let unplanned = entries.iter().filter(|entry| !TOP.contains(&entry.as_str()));
    unplanned.map(|entry| format!("{entry}: not planned at the top level")).collect()
}

fn scenario(path: &Path, text: &str) -> Complaints {
    let mut missing = Vec::new();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_kebab = stem.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if path.extension().is_none_or(|ending| ending != "yaml") || !is_kebab {
        missing.push("a name in kebab-case that ends in .yaml");
    }
    let first = text.lines().next().unwrap_or_default();
    let schema = first.strip_prefix("# yaml-language-server: $schema=");
    if !schema.is_some_and(|schema| path.parent().is_some_and(|folder| folder.join(schema).is_file())) {
        missing.push("the line that leads an editor to the schema");
    }
    missing.into_iter().map(|what| format!("{}: {what} is missing", path.display())).collect()
}
