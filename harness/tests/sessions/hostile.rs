//! Hostile files for every reader: each gets an answer without a panic, with work that is bounded by its
//! size.

use brickbat_sessions::{Files, Verdict, judge, oracle, read};
use serde_json::json;

use super::entry::{Case, all};

/// Places at which each store is cut off or corrupted.
const N_PLACES: usize = 12;

/// Levels of nesting: deeper than any reader goes.
const N_LEVELS: usize = 200_000;

/// Bytes of a line that takes a debug build a second in each reader; the program is tested with a gigabyte.
const LONG_LINE: usize = 4 << 20;

const N_FORKS: usize = 100_000;

/// One session of each product, and of each form that it stores.
fn one_of_each() -> Vec<Case> {
    let mut seen = std::collections::BTreeSet::new();
    let form = |case: &Case| (case.product.clone(), case.entry.store.rsplit('.').next().unwrap().to_owned());
    all().into_iter().filter(|case| seen.insert(form(case))).collect()
}

#[track_caller]
fn check(case: &Case, what: &str, bytes: Vec<u8>) {
    let files = Files::one(case.entry.name.as_ref().unwrap_or(&case.entry.store), bytes);
    let wrong = oracle::wrong_with_files(&files);
    assert_eq!(wrong, None, "{}: {what}", case.id);
}

#[test]
fn a_store_that_is_cut_off_anywhere_gets_an_answer_and_a_valid_repair() {
    for case in one_of_each() {
        let whole = case.files().main().to_vec();
        for n in 0..N_PLACES {
            check(&case, "cut off", whole[..whole.len() * n / N_PLACES].to_vec());
        }
        check(&case, "without its last byte", whole[..whole.len() - 1].to_vec());
    }
}

#[test]
fn bytes_that_are_not_text_get_an_answer() {
    for case in one_of_each() {
        let whole = case.files().main().to_vec();
        for n in 0..N_PLACES {
            let at = whole.len() * n / N_PLACES;
            for spoilt in [&b"\0\0\0\0"[..], b"\xff\xfe", b"\xed\xa0\x80", b"\\ud83d", b"\n", b"\""] {
                let mut bytes = whole.clone();
                bytes.splice(at..at, spoilt.iter().copied());
                check(&case, &format!("{spoilt:?} at {at}"), bytes);
            }
        }
        for spoilt in [b"\0".repeat(4096), b"\xff".repeat(64), Vec::new()] {
            check(&case, "nothing but", spoilt.clone());
            check(&case, "in front", [spoilt.as_slice(), &whole].concat());
            check(&case, "behind", [whole.as_slice(), &spoilt].concat());
        }
    }
}

#[test]
fn endless_nesting_gets_an_answer() {
    let deep = "[".repeat(N_LEVELS);
    let closed = format!("{deep}{}", "]".repeat(N_LEVELS));
    let object = format!("{}1{}", "{\"a\":".repeat(N_LEVELS), "}".repeat(N_LEVELS));
    for case in one_of_each() {
        check(&case, "nested", deep.clone().into_bytes());
        check(&case, "nested and closed", closed.clone().into_bytes());
        let text = String::from_utf8_lossy(case.files().main()).into_owned();
        if text.starts_with("SQLite") {
            continue;
        }
        // Replaces the first text, so that the store is still recognised by everything else.
        for inside in [&closed, &object] {
            let marks = ["\":\"", "\": \""];
            let found = marks.iter().filter_map(|mark| Some((text.rfind(mark)?, mark.len())));
            let Some((at, n)) = found.max() else { panic!("{}: no text", case.id) };
            let end = at + n + text[at + n..].find('"').unwrap();
            let nested = format!("{}{inside}{}", &text[..at + n - 1], &text[end + 1..]);
            check(&case, "nested inside", nested.into_bytes());
        }
    }
}

#[test]
fn a_very_long_line_is_read() {
    for case in one_of_each() {
        let text = String::from_utf8_lossy(case.files().main()).into_owned();
        if text.starts_with("SQLite") {
            continue;
        }
        let at = text
            .find("I look.")
            .or_else(|| text.find("it."))
            .or_else(|| text.find("both."))
            .or_else(|| text.find("List."));
        let Some(at) = at else { continue };
        let long = format!("{}{}{}", &text[..at], "x".repeat(LONG_LINE), &text[at..]);
        let name = case.entry.name.as_ref().unwrap_or(&case.entry.store);
        let sessions = read(&Files::one(name, long)).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        let verdict = judge(&sessions[0], case.profile()).verdict;
        assert_ne!(verdict, Verdict::Unreadable, "{}", case.id);
    }
}

/// A file of lines for each store that is a tree: its first lines, and a line with this id, parent and
/// number.
type Tree = (&'static str, fn(usize, Option<usize>) -> String);

const TREES: [Tree; 4] = [
    ("claude.jsonl", |id, parent| {
        json!({
            "parentUuid": parent.map(|id| format!("u{id}")), "uuid": format!("u{id}"), "sessionId": "s1", "type": "user",
            "version": "2.1.39", "timestamp": "2026-02-03T09:00:00.000Z", "message": { "role": "user", "content": "hi" },
        })
        .to_string()
    }),
    ("pi.jsonl", |id, parent| {
        match id {
        0 => json!({ "type": "session", "version": 3, "id": "s1", "timestamp": "t", "cwd": "/w" }).to_string(),
        _ => json!({
            "type": "message", "id": format!("u{id}"), "parentId": parent.filter(|id| *id > 0).map(|id| format!("u{id}")),
            "timestamp": "t", "message": { "role": "user", "content": "hi", "timestamp": 1 },
        })
        .to_string(),
    }
    }),
    ("qwen.jsonl", |id, parent| {
        json!({
            "parentUuid": parent.map(|id| format!("u{id}")), "uuid": format!("u{id}"), "sessionId": "s1", "type": "user",
            "cwd": "/w", "version": "0.15.10", "timestamp": "t",
            "message": { "role": "user", "parts": [{ "text": "hi" }] },
        })
        .to_string()
    }),
    ("events.jsonl", |id, parent| {
        let (kind, data) = match id {
            0 => (
                "session.start",
                json!({ "sessionId": "s1", "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.60" }),
            ),
            _ => ("user.message", json!({ "content": "hi" })),
        };
        json!({
            "type": kind, "data": data, "id": format!("e{id}"), "timestamp": "t", "parentId": parent.map(|id| format!("e{id}")),
        })
        .to_string()
    }),
];

fn tree(tree: &Tree, n: usize, parent: impl Fn(usize) -> Option<usize>) -> Files {
    let lines: String = (0..n).map(|id| (tree.1)(id, parent(id)) + "\n").collect();
    Files::one(tree.0, lines)
}

#[test]
fn a_hundred_thousand_forks_cost_no_more_than_one_chain() {
    for own in &TREES {
        let forks = tree(own, N_FORKS, |id| id.checked_sub(1).map(|_| 0));
        let session = read(&forks).unwrap().remove(0);
        assert!(session.n_records >= N_FORKS, "{}", own.0);
        judge(&session, None);
        let chain = tree(own, N_FORKS, |id| id.checked_sub(1));
        let session = read(&chain).unwrap().remove(0);
        assert!(session.messages.len() >= N_FORKS - 1, "{}", own.0);
    }
}

#[test]
fn parents_in_a_circle_end() {
    for own in &TREES {
        for length in [1, 2, 50] {
            // The lines after the first refer to each other in a cycle.
            let files = tree(own, length + 1, |id| match id {
                0 => None,
                1 => Some(length),
                id => Some(id - 1),
            });
            assert_eq!(oracle::wrong_with_files(&files), None, "{}: {length}", own.0);
        }
        // The parent of each line is missing: as many cuts as lines.
        let cut = tree(own, 3_000, |id| id.checked_sub(1).map(|id| id + 1_000_000));
        assert_eq!(oracle::wrong_with_files(&cut), None, "{}", own.0);
    }
}

#[test]
fn a_damaged_database_gets_an_answer() {
    let databases = one_of_each().into_iter().filter(|case| case.entry.store.ends_with(".sql"));
    for case in databases {
        let whole = case.files().main().to_vec();
        assert!(whole.starts_with(b"SQLite format 3\0"));
        let with = |at: usize, spoilt: &[u8]| {
            let mut bytes = whole.clone();
            bytes[at..at + spoilt.len()].copy_from_slice(spoilt);
            bytes
        };
        // The size of a page: 0, 3, one byte too many, 64 KiB, and one larger than the file.
        for size in [[0, 0], [0, 3], [0x10, 1], [0, 1], [0x80, 0]] {
            check(&case, &format!("pages of {size:?}"), with(16, &size));
        }
        check(&case, "the count of its pages", with(28, &[0xff; 4]));
        check(&case, "the list of free pages", with(32, &[0xff; 8]));
        check(&case, "another encoding", with(56, &[0, 0, 0, 2]));
        check(&case, "the head alone", whole[..100].to_vec());
        check(&case, "the magic alone", whole[..16].to_vec());
        for n in 1..N_PLACES {
            let at = whole.len() * n / N_PLACES;
            check(&case, &format!("spoilt at {at}"), with(at, &[0xff; 8]));
        }
        let head = [&whole[..100], b"not a page at all".repeat(4_000).as_slice()].concat();
        check(&case, "pages of something else", head);
    }
}
