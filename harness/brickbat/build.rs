//! Lists the files of the built-in systems and filters for `harness/brickbat/cli/embedded.rs`, so that a new
//! system or filter needs only a new folder.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Files in the folder of a system or filter that are not part of it: leftovers of an installation, and pages
/// for readers.
const LEFT_OUT: [&str; 4] = ["node_modules", "target", "__pycache__", "README.md"];

/// The oldest major version of Node.js that the adapters run on; CONTRIBUTING.md states it too.
const OLDEST_NODE: u32 = 20;

fn main() -> io::Result<()> {
    find_node();
    find("has_python", &["python3"]);
    find("has_curl_and_jq", &["curl", "jq"]);
    embed("systems", "systems", "system.yaml")?;
    embed("filters", "filters-under-test", "filter.yaml")
}

/// Sets `has_node` if tests can start Node.js. Otherwise `cargo test` lists the tests that need it as ignored.
/// With `BRICKBAT_ALL_TESTS`, which the CI run sets, they run anyway and fail.
fn find_node() {
    println!("cargo:rustc-check-cfg=cfg(has_node)");
    println!("cargo:rerun-if-env-changed=BRICKBAT_ALL_TESTS");
    let output = Command::new("node").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let major = text.trim_start_matches('v').split('.').next().and_then(|part| part.parse::<u32>().ok());
    if major.is_some_and(|major| major >= OLDEST_NODE) || env::var_os("BRICKBAT_ALL_TESTS").is_some() {
        println!("cargo:rustc-cfg=has_node");
    } else {
        println!("cargo:rerun-if-env-changed=PATH");
    }
}

/// The same for a name and all these programs.
fn find(name: &str, programs: &[&str]) {
    println!("cargo:rustc-check-cfg=cfg({name})");
    let starts = |program: &&str| Command::new(program).arg("--version").output().is_ok();
    if programs.iter().all(starts) || env::var_os("BRICKBAT_ALL_TESTS").is_some() {
        println!("cargo:rustc-cfg={name}");
    } else {
        println!("cargo:rerun-if-env-changed=PATH");
    }
}

/// Writes the list of all files of one kind, which are in the folders below `place`. A folder counts if it
/// contains its manifest.
fn embed(kind: &str, place: &str, manifest: &str) -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folders = root.join("harness").join(place);
    println!("cargo:rerun-if-changed={}", folders.display());
    let mut list = String::from("&[\n");
    for folder in sorted(&folders)?.into_iter().filter(|folder| folder.join(manifest).is_file()) {
        list.push_str("    &[\n");
        let mut names = Vec::new();
        files(&folder, "", &mut names)?;
        for name in names {
            let path = folder.join(&name);
            writeln!(list, "        ({name:?}, include_str!({path:?})),").expect("a string takes all");
        }
        list.push_str("    ],\n");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join(format!("{kind}.rs")), list)
}

/// Appends the names of the files below a folder.
fn files(folder: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    for path in sorted(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            files(&path, &format!("{prefix}{name}/"), names)?;
        } else {
            names.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
