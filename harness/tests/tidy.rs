//! Holds the house to its plan: layers, purity, sizes, words, the top level, the data.
//!
//! Each check is a function from a file to complaints, and is shown a file that it must complain about.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

mod source;

use std::path::Path;

use source::{Source, below, read_all, words};

/// The modules, lowest layer first. A module uses its own layer only along [`EDGES`], and never a higher one.
const LAYERS: [&[&str]; 5] = [
    &["dialect", "history", "plan", "scenario", "trace", "vectors", "verdict"],
    &["json", "lint", "lower", "parse", "redact", "rules", "wire"],
    &[
        "agent",
        "audit",
        "baseline",
        "cause",
        "check",
        "classes",
        "conductor",
        "explore",
        "generate",
        "hunt",
        "life_cycle",
        "matrix",
        "oracle",
        "pages",
        "parting",
        "provider",
        "record",
        "recordings",
        "report",
        "shrink",
        "simulate",
        "target",
    ],
    &["driver", "folder", "server", "strict"],
    &["cli", "main", "runner"],
];

/// Layers that do no I/O: no clock, net, process, files, environment, async, global state or hidden randomness.
const N_PURE_LAYERS: usize = 3;

/// Who may use whom in the same layer. It has no cycle; a new edge is a decision, and is drawn in `ARCHITECTURE.md`.
const EDGES: &[(&str, &str)] = &[
    ("baseline", "check"),
    ("cause", "report"),
    ("check", "conductor"),
    ("check", "provider"),
    ("check", "simulate"),
    ("cli", "runner"),
    ("conductor", "provider"),
    ("explore", "cause"),
    ("explore", "report"),
    ("hunt", "cause"),
    ("hunt", "generate"),
    ("hunt", "report"),
    ("lint", "json"),
    ("lower", "parse"),
    ("lower", "rules"),
    ("lower", "wire"),
    ("main", "cli"),
    ("matrix", "report"),
    ("pages", "audit"),
    ("oracle", "agent"),
    ("oracle", "audit"),
    ("oracle", "check"),
    ("oracle", "explore"),
    ("oracle", "generate"),
    ("oracle", "life_cycle"),
    ("oracle", "simulate"),
    ("parting", "cause"),
    ("parting", "report"),
    ("plan", "dialect"),
    ("plan", "scenario"),
    ("record", "conductor"),
    ("record", "provider"),
    ("report", "baseline"),
    ("report", "conductor"),
    ("report", "provider"),
    ("report", "record"),
    ("rules", "json"),
    ("scenario", "dialect"),
    ("scenario", "verdict"),
    ("shrink", "agent"),
    ("shrink", "check"),
    ("shrink", "simulate"),
    ("simulate", "agent"),
    ("simulate", "conductor"),
    ("simulate", "provider"),
    ("target", "agent"),
    ("target", "explore"),
    ("target", "generate"),
    ("target", "oracle"),
    ("trace", "plan"),
    ("trace", "scenario"),
    ("wire", "json"),
];

/// Lines that a file may have. Aim for 300; what is longer than this has more than one job.
const MAX_LINES: usize = 600;

/// The only places that wait for time, with the reason.
const SLEEPS: [(&str, &str); 5] = [
    ("harness/driver/in_process.rs", "a client that is asked to come back later waits for as long"),
    ("harness/driver/install.rs", "a file lock that another process holds gives no notice"),
    ("harness/driver/rest.rs", "nothing tells that the processes of someone else have come to rest"),
    ("harness/tests/kills.rs", "a run is killed at a moment in time, whatever it does just then"),
    ("harness/server/accept.rs", "an accept that failed for want of file descriptors is tried again later"),
];

/// Pure modules that keep hashed collections, whose order is random: they ask only what is in them.
const HASHED: [&str; 1] = ["rules"];

/// Words that say nothing about what a type is.
const EMPTY_WORDS: [&str; 6] = ["Manager", "Handler", "Processor", "Helper", "Util", "Engine"];

/// Everything that may stand at the top of the repository.
const TOP: [&str; 21] = [
    ".ci",
    ".git",
    ".clusterfuzzlite",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "corpora",
    "fuzz",
    "harness",
    "rustfmt.toml",
    "scenarios",
    "target",
];

/// Scenario files of the built-in suite, at the least.
const MIN_SCENARIOS: usize = 20;

type Complaints = Vec<String>;

#[test]
fn modules_use_only_what_stands_below_them() {
    hold(
        layers,
        &[
            ("harness/wire/sse.rs", "use crate::provider::Answer;"),
            ("harness/trace.rs", "use crate::{\n    plan::Mark,\n    rules,\n};"),
            ("harness/report.rs", "fn f() { crate::check::judge() }"),
            ("harness/engine.rs", ""),
        ],
    );
}

#[test]
fn each_edge_inside_a_layer_is_in_use() {
    let sources = read_all(root(), &["harness"]);
    let exists = |module: &str| sources.iter().any(|source| source.module() == Some(module));
    for (from, to) in EDGES {
        let uses = |source: &Source| source.module() == Some(from) && used(source).contains(to);
        let stale = exists(from) && exists(to) && !sources.iter().any(uses);
        assert!(!stale, "{from} does not use {to} any more; take the edge out");
    }
}

#[test]
fn the_edges_inside_a_layer_make_no_cycle() {
    let mut left = EDGES.to_vec();
    while let Some(leaf) = left.iter().position(|(_, to)| !left.iter().any(|(from, _)| from == to)) {
        left.remove(leaf);
    }
    assert!(left.is_empty(), "a cycle among {left:?}");
}

#[test]
fn pure_layers_touch_nothing_outside() {
    hold(
        purity,
        &[
            ("harness/wire.rs", "use std::fs;"),
            ("harness/rules/detect.rs", "use std::{collections::BTreeMap, time::Duration};"),
            ("harness/check.rs", "fn f() { std::thread::spawn(f); }"),
            ("harness/simulate.rs", "async fn f() {}"),
            ("harness/report/junit.rs", "use tokio::net;"),
            ("harness/agent.rs", "static mut N: u32 = 0;"),
            ("harness/lower.rs", "fn f() { println!(\"x\") }"),
            ("harness/plan.rs", "use std::collections::HashMap;"),
        ],
    );
}

#[test]
fn judges_know_no_system() {
    hold(
        impartiality,
        &[
            ("harness/rules/openai.rs", "const NAME: &str = \"ai-sdk\";"),
            (
                "harness/rules/openai.rs",
                "const NAMES: [&str; 2] = [\"https://a.org/opencode\", \"opencode\"];",
            ),
            ("harness/check/memory.rs", "use crate::agent::canary::Canary;"),
            ("harness/provider.rs", "fn canary() {}"),
        ],
    );
}

#[test]
fn files_are_short() {
    let long = "\n".repeat(MAX_LINES + 1);
    hold(size, &[("harness/wire.rs", &long)]);
}

#[test]
fn nothing_is_left_unsaid_or_unfinished() {
    hold(
        habits,
        &[
            ("harness/server.rs", "fn f() { x.unwrap() }"),
            ("harness/server/gate.rs", "fn f() { tokio::time::sleep(SECOND).await }"),
            ("harness/tests/suite.rs", "fn f() { std::thread::sleep(SECOND) }"),
            ("harness/tests/suite.rs", "#[test]\n#[ignore]\nfn f() {}"),
            ("harness/cli.rs", "fn f() { todo!() }"),
            ("harness/cli.rs", "fn f() { unimplemented!() }"),
            ("harness/cli.rs", "fn f() { dbg!(1); }"),
        ],
    );
}

#[test]
fn each_place_that_sleeps_still_does() {
    let sources = read_all(root(), &["harness"]);
    for (path, reason) in SLEEPS {
        let source = sources.iter().find(|source| source.path == path);
        assert!(source.is_some_and(sleeps), "{path} does not sleep any more ({reason}); take it out");
    }
}

#[test]
fn names_of_types_say_what_they_are() {
    hold(
        names,
        &[
            ("harness/server.rs", "pub struct GateManager;"),
            ("harness/server.rs", "enum Handler {}"),
            ("harness/driver/util.rs", ""),
        ],
    );
}

#[test]
fn the_top_level_holds_only_what_is_planned() {
    let entries = std::fs::read_dir(root()).unwrap();
    let found: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(strangers(&found), Complaints::new());
    assert!(!strangers(&["docs".to_owned()]).is_empty());
}

#[test]
fn each_scenario_file_says_what_it_is() {
    let mut n_files = 0;
    for folder in std::fs::read_dir(root().join("scenarios")).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            // What a scenario names is read with it.
            if path.extension().is_some_and(|ending| ending == "json") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(scenario(&path, &text), Complaints::new());
            n_files += 1;
        }
    }
    assert!(n_files >= MIN_SCENARIOS, "only {n_files} scenarios");
}

#[test]
fn a_scenario_file_that_does_not_say_what_it_is_is_told() {
    let path = root().join("scenarios/abort/x.yaml");
    let good =
        "# yaml-language-server: $schema=../scenario.schema.json\nschema: 1\ncomment: A.\nclass: [a]\n";
    assert_eq!(scenario(&path, good), Complaints::new());
    assert_eq!(scenario(&root().join("scenarios/abort/X_Y.yml"), good).len(), 1);
    for line in good.lines().filter(|line| !line.starts_with("schema")) {
        assert_eq!(scenario(&path, &good.replace(line, "")).len(), 1, "without `{line}`");
    }
    assert_eq!(scenario(&path, &good.replace("../", "")).len(), 1);
}

/// Runs a check over the whole house, and shows that it can fail.
fn hold(check: fn(&Source) -> Complaints, must_complain: &[(&str, &str)]) {
    let complaints: Complaints = read_all(root(), &["harness", "fuzz"]).iter().flat_map(check).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    for (path, text) in must_complain {
        assert!(!check(&Source::new(path, text)).is_empty(), "nothing is said about {path}: {text}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The modules that a file uses. The program reaches them through the library's name.
fn used(source: &Source) -> Vec<&str> {
    let mut used = below(&source.shipped, "crate");
    used.extend(below(&source.shipped, "brickbat"));
    used
}

fn layers(source: &Source) -> Complaints {
    let Some(module) = source.module() else { return Complaints::new() };
    let Some(own) = layer_of(module) else {
        return vec![format!("{}: the module `{module}` stands in no layer", source.path)];
    };
    let forbidden = |to: &&str| match layer_of(to) {
        Some(layer) if layer == own => *to != module && !EDGES.contains(&(module, to)),
        Some(layer) => layer > own,
        None => false,
    };
    let complain = |to| format!("{}: `{module}` may not use `{to}`", source.path);
    used(source).into_iter().filter(forbidden).map(complain).collect()
}

fn purity(source: &Source) -> Complaints {
    const STD: [&str; 7] = ["env", "fs", "net", "os", "process", "thread", "time"];
    const ASYNC: [&str; 4] = ["async", "await", "futures", "tokio"];
    const CLOCKS: [&str; 2] = ["Instant", "SystemTime"];
    const RANDOM: [&str; 3] = ["RandomState", "getrandom", "rand"];
    const HASHES: [&str; 2] = ["HashMap", "HashSet"];
    const GLOBAL: [&str; 6] = ["LazyCell", "LazyLock", "Mutex", "OnceLock", "RwLock", "thread_local"];
    const OUTPUT: [&str; 5] = ["eprint", "eprintln", "print", "println", "stdout"];
    let layer = source.module().and_then(layer_of);
    if layer.is_none_or(|layer| layer >= N_PURE_LAYERS) {
        return Complaints::new();
    }
    let paths = below(&source.shipped, "std").into_iter().filter(|name| STD.contains(name));
    let hashed = source.module().is_some_and(|module| HASHED.contains(&module));
    let hashes = if hashed { &[] } else { HASHES.as_slice() };
    let lists: [&[&str]; 6] = [&ASYNC, &CLOCKS, &RANDOM, hashes, &GLOBAL, &OUTPUT];
    let words = words(&source.shipped).filter(|word| lists.iter().any(|list| list.contains(word)));
    let statics = source.shipped.contains("static mut").then_some("static mut");
    paths.chain(words).chain(statics).map(|what| format!("{}: `{what}` is not pure", source.path)).collect()
}

fn impartiality(source: &Source) -> Complaints {
    if !matches!(source.module(), Some("rules" | "check" | "provider" | "wire" | "conductor")) {
        return Complaints::new();
    }
    // The address of a public report names the project in which it was made; that is no knowledge of a system.
    let text = without_addresses(&source.shipped_code.to_lowercase());
    let systems = std::fs::read_dir(root().join("harness/systems")).unwrap();
    let systems = systems.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = systems.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.push("canary".to_owned());
    names.push("crate::driver".to_owned());
    let named = names.iter().filter(|name| text.contains(name.as_str()));
    named.map(|name| format!("{}: knows `{name}`", source.path)).collect()
}

fn without_addresses(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || "\">)".contains(c);
    let mut parts = text.split("https://");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.find(is_end).map_or("", |end| &part[end..]))
}

fn size(source: &Source) -> Complaints {
    let too_long = source.n_lines > MAX_LINES;
    too_long.then(|| format!("{}: {} lines", source.path, source.n_lines)).into_iter().collect()
}

fn habits(source: &Source) -> Complaints {
    let mut found = Vec::new();
    if source.shipped.contains(".unwrap()") {
        found.push("unwrap");
    }
    if sleeps(source) && !SLEEPS.iter().any(|(path, _)| *path == source.path) {
        found.push("sleep");
    }
    let unfinished = ["#[ignore", "#[should_panic", "todo!", "unimplemented!", "dbg!"];
    found.extend(unfinished.into_iter().filter(|what| source.bare.contains(what)));
    found.into_iter().map(|what| format!("{}: {what}", source.path)).collect()
}

fn sleeps(source: &Source) -> bool {
    words(&source.bare).any(|word| matches!(word, "sleep" | "sleep_until" | "sleep_ms"))
}

fn names(source: &Source) -> Complaints {
    let mut complaints = Complaints::new();
    let mut before = "";
    for word in words(&source.bare) {
        let is_type = matches!(before, "struct" | "enum" | "trait" | "type" | "union");
        if is_type && EMPTY_WORDS.iter().any(|empty| word.contains(empty)) {
            complaints.push(format!("{}: the name `{word}` says nothing", source.path));
        }
        before = word;
    }
    let stem = source.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    let empty = |part: &str| EMPTY_WORDS.iter().any(|word| part.trim_end_matches('s') == word.to_lowercase());
    if stem.split('_').any(empty) {
        complaints.push(format!("{}: the file's name says nothing", source.path));
    }
    complaints
}

fn strangers(entries: &[String]) -> Complaints {
    let strange = entries.iter().filter(|entry| !TOP.contains(&entry.as_str()));
    strange.map(|entry| format!("{entry}: not planned at the top level")).collect()
}

fn scenario(path: &Path, text: &str) -> Complaints {
    let mut missing = Vec::new();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let kebab = stem.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if path.extension().is_none_or(|ending| ending != "yaml") || !kebab {
        missing.push("a name in kebab-case that ends in .yaml");
    }
    let first = text.lines().next().unwrap_or_default();
    let schema = first.strip_prefix("# yaml-language-server: $schema=");
    if !schema.is_some_and(|schema| path.parent().is_some_and(|folder| folder.join(schema).is_file())) {
        missing.push("the line that leads an editor to the schema");
    }
    let says = |key: &str| text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.len() > 2));
    if !says("comment:") {
        missing.push("a comment");
    }
    if !says("class:") {
        missing.push("a class");
    }
    missing.into_iter().map(|what| format!("{}: {what} is missing", path.display())).collect()
}
