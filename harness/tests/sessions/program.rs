//! The stored sessions of `corpora/sessions` on the command line, and files that are not stores at all.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;

use super::entry::{Case, all};
use super::planted::leaked;
use crate::program::{BRICKBAT, Said, brickbat, finish, folder_of};
use brickbat_sessions::Files;
use tempfile::TempDir;

fn said(folder: &TempDir, args: &[&str]) -> Said {
    brickbat(folder.path(), args, &[])
}

/// A folder with the store and its companions, and the name of the store.
fn placed(files: &Files) -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    for file in &files.files {
        let path = folder.path().join(&file.name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.bytes).unwrap();
    }
    (folder, files.name().to_owned())
}

#[test]
fn the_exit_codes_and_the_files_are_those_of_the_entries() {
    for case in all() {
        let files = case.files();
        let (folder, name) = placed(&files);
        let profile: Vec<&str> =
            case.entry.profile.as_deref().map(|profile| vec!["--profile", profile]).unwrap_or_default();
        let args = |rest: &[&'static str]| -> Vec<String> {
            let words = rest.iter().chain(&profile).map(|word| (*word).to_owned());
            words.chain([name.clone()]).collect()
        };
        let run = |args: &[String]| {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            said(&folder, &args)
        };
        let session = run(&args(&["session"]));
        assert_eq!(session.code, Some(case.entry.expect.exit.into()), "{}: {session:#?}", case.id);
        let repair = run(&args(&["repair", "--out", "copy"]));
        assert_eq!(repair.code, Some(case.entry.expect.repair_exit.into()), "{}: {repair:#?}", case.id);
        let has_copy = folder.path().join("copy").exists();
        assert_eq!(has_copy, case.entry.expect.then.is_some(), "{}: {repair:#?}", case.id);
        assert_eq!(fs::read(folder.path().join(&name)).unwrap(), files.main(), "{}", case.id);
    }
}

/// One session of each product.
fn one_of_each() -> Vec<Case> {
    let mut seen = std::collections::BTreeSet::new();
    all().into_iter().filter(|case| !case.is_healthy() && seen.insert(case.product.clone())).collect()
}

#[test]
fn no_secret_of_a_session_is_printed_or_written() {
    for case in one_of_each() {
        let (folder, name) = placed(&case.with_secrets());
        let commands: [&[&str]; 8] = [
            &["session", &name],
            &["session", "--list", &name],
            &["session", "--format", "json", &name],
            &["session", "--format", "sarif", &name],
            &["session", "."],
            &["repair", "--dry-run", "--tail", "--truncate", &name],
            &["import", "--explain", &name],
            &["import", "--out", "mine.yaml", &name],
        ];
        for args in commands {
            let said = said(&folder, args);
            for text in [&said.out, &said.err] {
                assert_eq!(leaked(text), None, "{}: {args:?}: {said:#?}", case.id);
            }
        }
        for written in ["mine.yaml", "mine.json"] {
            let text = fs::read_to_string(folder.path().join(written)).unwrap_or_default();
            assert_eq!(leaked(&text), None, "{}: {written}: {text}", case.id);
        }
    }
}

#[test]
fn a_session_of_a_person_is_named_by_its_number() {
    let case = all().into_iter().find(|case| case.id == "openai-agents/output-without-call").unwrap();
    let sql = String::from_utf8(case.text()).unwrap().replace("'chat'", "'anna@example.org'");
    let (folder, name) = placed(&case.files_of(sql.into_bytes()));
    let list = said(&folder, &["session", "--list", &name]);
    assert!(list.out.starts_with("chat.db#1  "), "{list:#?}");
    for id in ["1", "anna@example.org"] {
        assert_eq!(said(&folder, &["session", &format!("{name}#{id}")]).code, Some(1), "{id}");
        assert_eq!(said(&folder, &["repair", "--dry-run", &format!("{name}#{id}")]).code, Some(0), "{id}");
    }
    assert_eq!(said(&folder, &["session", &format!("{name}#2")]).code, Some(2));
}

#[test]
fn the_output_for_a_database_says_how_to_install_the_copy() {
    let case = all().into_iter().find(|case| case.id == "openai-agents/output-without-call").unwrap();
    let (folder, name) = placed(&case.files());
    let repair = said(&folder, &["repair", &name]);
    assert_eq!(repair.code, Some(0), "{repair:#?}");
    assert!(
        repair.out.contains(&format!("move {name} and its -wal and -shm files elsewhere")),
        "{repair:#?}"
    );
    let refused = said(&folder, &["repair", "--write", &name]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.err.contains("a database is never replaced"), "{refused:#?}");
}

#[test]
fn an_irregular_file_is_refused_and_skipped_in_folders() {
    let folder = folder_of(&[(
        "a.json",
        r#"{"model":"claude-sonnet-5","max_tokens":1024,"messages":[{"role":"user","content":"hi"}]}"#,
    )]);
    symlink("/dev/zero", folder.path().join("zero.jsonl")).unwrap();
    symlink("nothing.jsonl", folder.path().join("dangling.jsonl")).unwrap();
    symlink(".", folder.path().join("round")).unwrap();
    let fifo = folder.path().join("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for name in ["zero.jsonl", "pipe.jsonl"] {
        for command in ["session", "repair", "import"] {
            let said = said(&folder, &[command, name]);
            assert_eq!(said.code, Some(2), "{said:#?}");
            assert!(said.err.contains("not a regular file"), "{said:#?}");
        }
    }
    let survey = said(&folder, &["session", "."]);
    assert_eq!((survey.code, survey.out.lines().count()), (Some(0), 1), "{survey:#?}");
}

#[test]
fn a_line_of_a_gigabyte_is_refused_in_bounded_memory() {
    let folder = TempDir::new().unwrap();
    let file = File::create(folder.path().join("long.jsonl")).unwrap();
    // The file is one line of NUL bytes, and takes no space on the disk.
    file.set_len(1 << 30).unwrap();
    for command in ["session", "repair", "import"] {
        let mut limited = Command::new("sh");
        limited.args(["-c", r#"ulimit -v 1500000; exec "$0" "$@""#, BRICKBAT, command, "long.jsonl"]);
        limited.current_dir(folder.path());
        let said = finish(limited, b"");
        assert_eq!(said.code, Some(2), "{said:#?}");
        assert!(said.err.contains("more than 768 MiB"), "{said:#?}");
    }
}
