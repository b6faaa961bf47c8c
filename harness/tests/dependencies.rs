//! The dependencies of the package: every one builds with our oldest compiler and has a permissive licence, and
//! no core crate needs an extension.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// The crates that the main job needs. Any other crate of ours is an extension, or the command line.
const CORE: [&str; 5] =
    ["brickbat-rules", "brickbat-scenario", "brickbat-engine", "brickbat-drive", "brickbat-report"];

/// Licences that require only a notice.
const PERMISSIVE: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

#[test]
fn every_dependency_of_the_pure_build_supports_our_oldest_compiler() {
    assert_eq!(too_new(&metadata(&["--no-default-features"])), Vec::<String>::new());
}

#[test]
fn every_dependency_of_the_full_build_supports_our_oldest_compiler() {
    assert_eq!(too_new(&metadata(&["--all-features"])), Vec::<String>::new());
}

#[test]
fn every_licence_is_permissive() {
    let metadata = metadata(&["--all-features"]);
    let packages = reached(&metadata, &["normal", "build", "dev"]);
    let wrong =
        packages.iter().filter(|package| !is_permissive(package["license"].as_str().unwrap_or_default()));
    let wrong: Vec<String> =
        wrong.map(|package| format!("{}: {}", name(package), package["license"])).collect();
    assert!(packages.len() > 50, "the metadata is not understood");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn licence_expressions_are_evaluated() {
    let good = [
        "MIT",
        "MIT/Apache-2.0",
        "Apache-2.0 / MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "MIT OR GPL-3.0-only",
        "Apache-2.0 WITH LLVM-exception OR MIT",
    ];
    for expression in good {
        assert!(is_permissive(expression), "{expression}");
    }
    let bad = [
        "",
        "MPL-2.0",
        "MIT AND GPL-3.0-only",
        "(MIT OR Apache-2.0) AND LGPL-2.1-or-later",
        "MIT OR",
        "(MIT",
        "MIT MIT",
    ];
    for expression in bad {
        assert!(!is_permissive(expression), "{expression}");
    }
}

#[test]
fn a_dependency_that_needs_a_newer_compiler_is_reported() {
    let mut metadata = metadata(&["--no-default-features"]);
    let packages = metadata["packages"].as_array_mut().unwrap();
    packages.iter_mut().find(|package| package["name"] == "serde_json").unwrap()["rust_version"] =
        "1.999".into();
    assert_eq!(too_new(&metadata).len(), 1);
}

/// The core has no extension in it unless a feature asks for one, so that a change in the core never requires
/// reading an extension.
#[test]
fn core_crates_depend_on_no_extension() {
    let mut metadata = metadata(&["--all-features"]);
    assert_eq!(beyond_the_core(&metadata), Vec::<String>::new());
    let packages = metadata["packages"].as_array_mut().unwrap();
    let dependency = packages
        .iter_mut()
        .find(|package| package["name"] == "brickbat-drive")
        .and_then(|package| package["dependencies"].as_array_mut())
        .and_then(|all| all.iter_mut().find(|dependency| dependency["name"] == "brickbat-filter-suite"));
    dependency.unwrap()["optional"] = false.into();
    assert_eq!(beyond_the_core(&metadata), ["brickbat-drive needs brickbat-filter-suite"]);
}

/// The crates of ours that core crates need without being in the core.
fn beyond_the_core(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().unwrap();
    let core: Vec<&Value> =
        packages.iter().filter(|package| CORE.iter().any(|name| package["name"] == *name)).collect();
    assert_eq!(core.len(), CORE.len(), "the metadata is not understood");
    let beyond = core.into_iter().flat_map(|package| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let needed = dependencies.filter(|on| on["kind"] != "dev" && on["optional"] == false);
        let names = needed.filter_map(|on| on["name"].as_str());
        let ours = names.filter(|name| name.starts_with("brickbat") && !CORE.contains(name));
        ours.map(|name| format!("{} needs {name}", package["name"].as_str().unwrap()))
    });
    beyond.collect()
}

/// The metadata of the workspace with some features. This needs no network: the lock file is kept, and
/// everything for this platform has been fetched to build this test.
fn metadata(features: &[&str]) -> Value {
    let host = Command::new("rustc").arg("-vV").output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host])
        .args(features)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Dependencies that declare a newer compiler than ours. Like cargo, this accepts one that declares none.
fn too_new(metadata: &Value) -> Vec<String> {
    let ours = packages(metadata)[metadata["resolve"]["root"].as_str().unwrap()];
    let ours = version(ours["rust_version"].as_str().unwrap());
    let reached = reached(metadata, &["normal", "build"]);
    assert!(reached.len() > 20, "the metadata is not understood");
    let newer = reached.iter().filter_map(|package| {
        let theirs = package["rust_version"].as_str()?;
        (version(theirs) > ours).then(|| format!("{} needs {theirs}", name(package)))
    });
    newer.collect()
}

fn version(text: &str) -> Vec<u32> {
    let mut parts: Vec<u32> = text.split('.').map(|part| part.parse().unwrap()).collect();
    parts.resize(3, 0);
    parts
}

fn name(package: &Value) -> String {
    format!("{} {}", package["name"].as_str().unwrap(), package["version"].as_str().unwrap())
}

fn packages(metadata: &Value) -> BTreeMap<&str, &Value> {
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().map(|package| (package["id"].as_str().unwrap(), package)).collect()
}

/// The packages that ours is built from, including itself, starting with its dependencies of some kinds.
fn reached<'a>(metadata: &'a Value, kinds: &[&str]) -> Vec<&'a Value> {
    let root = metadata["resolve"]["root"].as_str().unwrap();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let nodes: BTreeMap<&str, &Value> =
        nodes.iter().map(|node| (node["id"].as_str().unwrap(), node)).collect();
    let mut seen = BTreeSet::new();
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        let wanted = |kind: &Value| {
            let kind = kind["kind"].as_str().unwrap_or("normal");
            if id == root { kinds.contains(&kind) } else { kind != "dev" }
        };
        let dependencies = nodes[id]["deps"].as_array().unwrap().iter();
        let dependencies = dependencies.filter(|on| on["dep_kinds"].as_array().unwrap().iter().any(wanted));
        todo.extend(dependencies.map(|on| on["pkg"].as_str().unwrap()));
    }
    let packages = packages(metadata);
    seen.into_iter().map(|id| packages[id]).collect()
}

/// True if an SPDX expression can be satisfied with permissive licences only. The old `/` means `OR`.
fn is_permissive(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let spaced = spaced.replace(" WITH ", "+WITH+");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest) == Some(true) && rest.is_empty()
}

fn any_of(rest: &mut &[&str]) -> Option<bool> {
    let mut met = all_of(rest)?;
    while let Some(("OR", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        *rest = after;
        met |= all_of(rest)?;
    }
    Some(met)
}

fn all_of(rest: &mut &[&str]) -> Option<bool> {
    let mut met = one(rest)?;
    while let Some(("AND", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        *rest = after;
        met &= one(rest)?;
    }
    Some(met)
}

fn one(rest: &mut &[&str]) -> Option<bool> {
    let (word, after) = rest.split_first()?;
    *rest = after;
    match *word {
        "(" => {
            let met = any_of(rest)?;
            let (close, after) = rest.split_first()?;
            *rest = after;
            (*close == ")").then_some(met)
        }
        ")" | "OR" | "AND" => None,
        licence => Some(PERMISSIVE.contains(&licence.replace("+WITH+", " WITH ").as_str())),
    }
}
