//! `brickbat init` as its users see it: files in a folder, never over existing ones.
//!
//! CI installs and runs the generated adapters; this test has no network.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use brickbat_drive::driver::Manifest;
use tempfile::TempDir;

use crate::program::{Said, brickbat};

const LANGUAGES: [(&str, &[&str]); 3] = [
    ("typescript", &["README.md", "adapter.mjs", "package-lock.json", "package.json", "system.yaml"]),
    ("python", &["README.md", "adapter.py", "requirements.txt", "system.yaml"]),
    (
        "rust",
        &[
            "Cargo.lock",
            "Cargo.toml",
            "README.md",
            "adapter.rs",
            "brickbat-adapter/Cargo.toml",
            "brickbat-adapter/README.md",
            "brickbat-adapter/gate.rs",
            "brickbat-adapter/lib.rs",
            "brickbat-adapter/session.rs",
            "brickbat-adapter/wire.rs",
            "system.yaml",
        ],
    ),
];

/// The most lines of the generated adapter, including blank lines and comments.
const MAX_LINES: usize = 40;

fn init(folder: &Path, args: &[&str]) -> Said {
    brickbat(folder, &[&["init"], args].concat(), &[])
}

/// The files in a folder, by their paths from there.
fn names(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(names(&path).iter().map(|below| format!("{name}/{below}")));
        } else {
            found.insert(name);
        }
    }
    found
}

#[test]
fn exactly_the_files_of_the_language_are_written() {
    for (language, files) in LANGUAGES {
        let folder = TempDir::new().unwrap();
        let said = init(folder.path(), &["--lang", language, "my tests/agent"]);
        assert!(said.code == Some(0), "{said:?}");
        let written = folder.path().join("my tests/agent");
        assert_eq!(names(&written), files.iter().map(|name| (*name).to_owned()).collect(), "{language}");
        let out = &said.out;
        for words in files.iter().map(|name| format!("wrote my tests/agent/{name}\n")) {
            assert!(out.contains(&words), "{words}: {out}");
        }
        assert!(out.contains("brickbat verify-adapter --manifest 'my tests/agent/system.yaml'"), "{out}");

        let adapter = files.iter().find(|name| name.starts_with("adapter.")).unwrap();
        let lines = fs::read_to_string(written.join(adapter)).unwrap().lines().count();
        assert!((1..=MAX_LINES).contains(&lines), "{adapter} has {lines} lines");
        let manifests = Manifest::read(&written.join("system.yaml")).unwrap();
        let [manifest] = &manifests[..] else { panic!("{manifests:?}") };
        for file in &manifest.files {
            assert!(files.contains(&file.as_str()), "{language}: {file}");
        }
        let readme = fs::read_to_string(written.join("README.md")).unwrap();
        assert!(
            files.iter().filter(|name| **name != "README.md").all(|name| readme.contains(shown(name))),
            "{language}"
        );
    }
}

/// The name of a file in the README: its folder, or the file.
fn shown(name: &str) -> &str {
    name.split_inclusive('/').next().unwrap_or(name)
}

#[test]
fn without_a_folder_one_is_created() {
    let folder = TempDir::new().unwrap();
    assert!(init(folder.path(), &["--lang", "python"]).code == Some(0));
    assert!(folder.path().join("brickbat/adapter.py").is_file());
}

#[test]
fn existing_files_stop_init_before_it_writes() {
    for (language, files) in LANGUAGES {
        for name in files {
            let folder = TempDir::new().unwrap();
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "mine").unwrap();
            fs::write(folder.path().join("other.txt"), "mine").unwrap();
            let said = init(folder.path(), &["--lang", language, "."]);
            assert_eq!(said.code, Some(2), "{said:?}");
            assert!(said.err.contains(&format!("{name} already exists")), "{said:?}");
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "mine");
            assert_eq!(names(folder.path()).len(), 2, "{language}: {name}");
        }
    }
}

#[test]
fn other_files_of_the_user_stay() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("other.txt"), "mine").unwrap();
    assert!(init(folder.path(), &["--lang", "rust", "."]).code == Some(0));
    assert_eq!(names(folder.path()).len(), 12);
}

#[test]
fn an_unknown_language_gets_advice() {
    let folder = TempDir::new().unwrap();
    for (language, advice) in
        [("pyhton", "did you mean `python`?"), ("cobol", "there is `typescript`, `python`")]
    {
        let said = init(folder.path(), &["--lang", language]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(advice), "{said:?}");
        assert!(said.err.contains("protocol"), "{said:?}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn the_error_names_a_folder_that_cannot_be_created() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let said = init(folder.path(), &["--lang", "rust", "file/below"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("cannot write file/below"), "{said:?}");
}

#[test]
fn the_committed_schemas_are_printed() {
    for (format, path) in [
        ("scenario", "scenarios/scenario.schema.json"),
        ("report", "harness/report/report.schema.json"),
        ("protocol", "harness/systems/protocol.schema.json"),
    ] {
        let said = brickbat(Path::new("."), &["schema", format], &[]);
        let committed = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        assert!(said.code == Some(0) && said.out == committed, "{format}");
    }
}
