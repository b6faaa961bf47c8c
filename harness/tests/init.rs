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
        assert!(out.contains("wrote brickbat.toml, which names the manifest\n"), "{out}");
        assert!(out.contains("  brickbat verify-adapter    "), "{out}");
        let config = fs::read_to_string(folder.path().join("brickbat.toml")).unwrap();
        assert!(config.ends_with("\nmanifest = \"my tests/agent/system.yaml\"\n"), "{config}");

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
    assert_eq!(names(folder.path()).len(), 13);
}

#[test]
fn the_configuration_that_is_written_names_the_system_and_one_that_exists_stays() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    fs::create_dir(root.join(".git")).unwrap();
    fs::create_dir(root.join("src")).unwrap();
    assert!(init(root, &["--lang", "python", "tests/agent"]).code == Some(0));
    // The adapter is not installed here, so the error shows which system was chosen, from each folder.
    let sheet = root.join("tests/agent/system.yaml");
    let text = fs::read_to_string(&sheet).unwrap();
    fs::write(&sheet, text.replace("python: \">=3.11\"", "python: \">=99\"")).unwrap();
    for at in [root.to_owned(), root.join("src"), root.join("tests/agent")] {
        let said = brickbat(&at, &["run", "control/plain-batch"], &[]);
        assert!(said.code == Some(2) && said.err.contains("cannot start my-agent@"), "{said:?}");
    }

    // A file of the user's is not changed, and the line that it needs is shown.
    fs::write(root.join("brickbat.toml"), "jobs = 1\n").unwrap();
    let said = init(&root.join("src"), &["--lang", "rust"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("brickbat run --manifest brickbat/system.yaml abort/"), "{said:?}");
    assert!(said.out.ends_with("brickbat.toml:\n  manifest = \"src/brickbat/system.yaml\"\n"), "{said:?}");
    assert_eq!(fs::read_to_string(root.join("brickbat.toml")).unwrap(), "jobs = 1\n");
    assert!(!root.join("src/brickbat.toml").exists());

    // An adapter outside the working directory has its configuration in its own folder.
    let elsewhere = TempDir::new().unwrap();
    let other = elsewhere.path().join("other");
    let said = init(root, &["--lang", "rust", "--no-project", other.to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let config = fs::read_to_string(other.join("brickbat.toml")).unwrap();
    assert!(config.contains("\nmanifest = \"system.yaml\"\n"), "{config}");
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
fn the_schema_of_the_configuration_has_each_key_and_no_other() {
    let said = brickbat(Path::new("."), &["schema", "config"], &[]);
    let schema: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    let keys: BTreeSet<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let documented =
        "baseline command dialects exclude fail-on jobs manifest patience reports scenarios systems timeout";
    assert_eq!(keys, documented.split(' ').collect());
    assert!(schema["properties"].as_object().unwrap().values().all(|key| key["description"].is_string()));
    // The schema has no word for a key that the program does not take, and the other way round.
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("brickbat.toml"), "unknown = 1\n").unwrap();
    let said = brickbat(folder.path(), &["run", "control/plain-batch"], &[]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(documented.split(' ').all(|key| said.err.contains(&format!("`{key}`"))), "{said:?}");
}

#[test]
fn the_committed_schemas_are_printed() {
    for (format, path) in [
        ("scenario", "scenarios/scenario.schema.json"),
        ("report", "harness/report/report.schema.json"),
        ("protocol", "harness/systems/protocol.schema.json"),
        ("manifest", "harness/systems/system.schema.json"),
        ("baseline", "harness/systems/baseline.schema.json"),
    ] {
        let said = brickbat(Path::new("."), &["schema", format], &[]);
        let committed = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        assert!(said.code == Some(0) && said.out == committed, "{format}");
    }
}
