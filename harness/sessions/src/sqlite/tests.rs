//! Tests with databases that SQLite wrote, and with damaged ones.

use std::path::Path;

use rusqlite::Connection;

use super::*;

/// A database with a log that has no checkpoint yet. The file contains two rows. Only the log contains the
/// change to one row, and a third row.
fn with_log(page_size: u32) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "page_size", page_size).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    connection.execute_batch("CREATE TABLE note (id TEXT PRIMARY KEY, data TEXT);").unwrap();
    connection.execute("INSERT INTO note VALUES ('a', 'first')", []).unwrap();
    connection.execute("INSERT INTO note VALUES ('b', 'second')", []).unwrap();
    connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
    connection.execute("UPDATE note SET data = 'changed' WHERE id = 'a'", []).unwrap();
    connection.execute("INSERT INTO note VALUES ('c', ?1)", ["long ".repeat(4000)]).unwrap();
    files_of(&path)
}

fn files_of(path: &Path) -> Files {
    let mut files = Files::one("a.db", bytes_at(path));
    files.files.push(File { name: "a.db-wal".to_owned(), bytes: bytes_at(&path.with_extension("db-wal")) });
    files
}

#[expect(clippy::disallowed_methods, reason = "only SQLite itself writes a log, and it writes it to a file")]
fn bytes_at(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// A database without a log, made by these statements.
fn made_by(statements: &str) -> Files {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(statements).unwrap();
    Files::one("a.db", connection.serialize(MAIN_DB).unwrap().to_vec())
}

fn notes(files: &Files) -> Vec<String> {
    let found = Database::open(files).unwrap().rows("note", &["data"]);
    assert_eq!(found.stopped, None);
    found.rows.iter().map(|row| row.cells[0].text().chars().take(8).collect()).collect()
}

#[test]
fn the_newest_rows_come_from_the_log() {
    for page_size in [512, 4096, 65_536] {
        let files = with_log(page_size);
        assert!(!files.files[1].bytes.is_empty());
        assert_eq!(notes(&files), ["changed", "second", "long lon"], "pages of {page_size}");
        let alone = Files::one("a.db", files.main());
        assert_eq!(notes(&alone), ["first", "second"], "pages of {page_size}");
    }
}

#[test]
fn a_log_counts_up_to_its_last_complete_transaction() {
    let mut files = with_log(4096);
    // The change of the first row is the first transaction, and has one frame.
    files.files[1].bytes.truncate(32 + 2 * (24 + 4096));
    assert_eq!(notes(&files), ["changed", "second"]);
    files.files[1].bytes.truncate(32 + 24 + 4096 - 1);
    assert_eq!(notes(&files), ["first", "second"]);
}

#[test]
fn a_damaged_frame_ends_the_log() {
    let mut files = with_log(4096);
    let at = 32 + (24 + 4096) + 24 + 100;
    files.files[1].bytes[at] ^= 1;
    assert_eq!(notes(&files), ["changed", "second"]);
    files.files[1].bytes[20] ^= 1;
    assert_eq!(notes(&files), ["first", "second"]);
}

#[test]
fn the_log_of_a_database_with_other_pages_changes_nothing() {
    let mut files = with_log(4096);
    files.files[1] = with_log(512).files[1].clone();
    assert_eq!(notes(&files), ["first", "second"]);
}

/// A log with one frame. The frame contains the first page and ends a transaction after which the database
/// has `n_pages` pages.
fn log_of(n_pages: u32, salt_of_frame: [u32; 2], page: &[u8]) -> Vec<u8> {
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let mut wal = bytes(&[0x377f_0683, 3_007_000, 512, 0, 1, 2]);
    let sums = log::checksum((0, 0), &wal, true);
    wal.extend(bytes(&[sums.0, sums.1]));
    let head = bytes(&[1, n_pages]);
    let sums = log::checksum(log::checksum(sums, &head, true), page, true);
    wal.extend(head);
    wal.extend(bytes(&[salt_of_frame[0], salt_of_frame[1], sums.0, sums.1]));
    wal.extend(page);
    wal
}

#[test]
fn a_frame_with_absurd_pages_or_another_salt_changes_nothing() {
    let files = made_by("PRAGMA page_size = 512; CREATE TABLE note (data);");
    let page = [7; 512];
    for wal in [log_of(u32::MAX, [1, 2], &page), log_of(5, [1, 2], &page), log_of(2, [1, 3], &page)] {
        let mut database = files.main().to_vec();
        log::merge(&mut database, &wal);
        assert!(database == files.main());
    }
    let mut database = files.main().to_vec();
    log::merge(&mut database, &log_of(2, [1, 2], &page));
    assert_eq!(database[..512], page);
    assert_eq!(database[512..], files.main()[512..]);
    // A transaction can end with fewer pages than before.
    let mut database = files.main().to_vec();
    log::merge(&mut database, &log_of(1, [1, 2], &page));
    assert_eq!(database, page);
}

#[test]
fn an_edit_is_in_the_bytes_and_the_log_is_removed() {
    let files = with_log(4096);
    let database = Database::open(&files).unwrap();
    let long = "x".repeat(50_000);
    database.connection().execute("UPDATE note SET data = ?1 WHERE id = 'b'", [&long]).unwrap();
    database.connection().execute("INSERT INTO note VALUES ('d', 'fourth')", []).unwrap();
    let files = database.into_files(&files).unwrap();
    assert_eq!(files.files.len(), 1);
    assert_eq!(notes(&files), ["changed", "xxxxxxxx", "long lon", "fourth"]);
    // The file still declares that it uses a log, as its product left it.
    assert_eq!(files.main()[18..20], [2, 2]);
}

#[test]
fn a_database_without_edits_keeps_its_bytes() {
    let files = made_by("CREATE TABLE note (data); INSERT INTO note VALUES ('a');");
    assert!(Database::open(&files).unwrap().into_bytes().unwrap() == files.main());
}

#[test]
fn nothing_that_the_schema_defines_is_run() {
    let files = made_by(
        "CREATE TABLE note (data); CREATE TABLE trace (data);
         CREATE TABLE child (note REFERENCES note(rowid) ON DELETE CASCADE);
         CREATE TABLE computed (a, data AS (a || 'x'));
         INSERT INTO note VALUES ('a');
         CREATE TRIGGER spy AFTER UPDATE ON note BEGIN INSERT INTO trace VALUES ('ran'); END;
         CREATE VIEW looks AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS data FROM n;
         CREATE VIRTUAL TABLE words USING fts5(data);",
    );
    let database = Database::open(&files).unwrap();
    let tables = database.tables().unwrap();
    assert!(tables.iter().any(|name| name == "note"));
    assert!(!tables.iter().any(|name| name == "looks" || name == "words"), "{tables:?}");
    database.connection().execute("UPDATE note SET data = 'b'", []).unwrap();
    assert_eq!(database.rows("trace", &["data"]).rows, []);
    assert!(database.rows("looks", &["data"]).stopped.is_some());
    assert!(!database.has("computed", &["data"]));
    assert!(database.has("computed", &["a"]));
}

#[test]
fn an_endless_query_is_stopped() {
    let database = Database::open(&made_by("CREATE TABLE note (data);")).unwrap();
    let query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let error = database.connection().query_row(query, [], |row| row.get::<_, i64>(0)).unwrap_err();
    assert!(SqliteError::from(error).to_string().ends_with("interrupted"));
}

#[test]
fn names_with_quotes_are_only_names() {
    let files = made_by("CREATE TABLE \"a\"\"b\" (\"c\"\"d\"); INSERT INTO \"a\"\"b\" VALUES ('x');");
    let database = Database::open(&files).unwrap();
    let found = database.rows("a\"b", &["c\"d"]);
    assert_eq!(found.rows[0].cells[0].text(), "x");
    assert!(database.rows("a\"; DROP TABLE a; --", &["c"]).stopped.is_some());
}

#[test]
fn a_file_that_is_not_a_database_is_rejected() {
    let real = made_by("CREATE TABLE note (data);");
    assert!(Database::open(&Files::default()).is_err());
    assert!(Database::open(&Files::one("a.db", "{}")).is_err());
    assert!(Database::open(&Files::one("a.db", MAGIC)).is_err());
    for len in [99, 100, 101, 511, 1000, 4095] {
        let cut = Files::one("a.db", &real.main()[..len]);
        if let Ok(database) = Database::open(&cut) {
            database.rows("note", &["data"]);
        }
    }
}

#[test]
fn absurd_counts_in_a_header_are_harmless() {
    let real = made_by("CREATE TABLE note (data); INSERT INTO note VALUES ('a');");
    // The size in pages, the list of free pages, the largest root page, and the reserved bytes of a page.
    for (at, len) in [(28, 4), (32, 4), (36, 4), (52, 4), (20, 1), (16, 2)] {
        for value in [0xff, 0x7f, 0] {
            let mut bytes = real.main().to_vec();
            bytes[at..at + len].fill(value);
            read_all(&Files::one("a.db", bytes));
        }
    }
}

#[test]
fn random_damage_is_harmless() {
    let files = with_log(512);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..3000 {
        let mut hurt = files.clone();
        // Headers and the first pages locate everything else, so every second change hits them.
        let file = round % 3 % 2;
        for _ in 0..1 + next(8) {
            let bytes = &mut hurt.files[file].bytes;
            let at = if round % 2 == 0 { next(bytes.len().min(1024)) } else { next(bytes.len()) };
            bytes[at] = next(256) as u8;
        }
        if next(4) == 0 {
            let len = hurt.files[0].bytes.len();
            hurt.files[0].bytes.truncate(next(len));
        }
        read_all(&hurt);
    }
}

#[test]
fn reading_stops_when_rows_exceed_the_file() {
    let row = format!("INSERT INTO note VALUES ('{}');", "x".repeat(100_000));
    let database = Database::open(&made_by(&format!("CREATE TABLE note (data); {row}"))).unwrap();
    assert_eq!(database.rows("note", &["data"]).stopped, None);
    // Pages that are used twice yield the same bytes twice, just like selecting a column twice.
    let found = database.rows("note", &["data", "data"]);
    assert_eq!(found.rows, []);
    assert_eq!(found.stopped, Some(SqliteError::Rows));
}

/// Reads everything and writes it again, which must end without a panic.
fn read_all(files: &Files) {
    let Ok(database) = Database::open(files) else { return };
    for table in database.tables().unwrap_or_default() {
        database.columns(&table);
        let found = database.rows(&table, &["data"]);
        let n_bytes: usize = found.rows.iter().map(|row| row.cells[0].bytes().len()).sum();
        assert!(n_bytes <= files.files.iter().map(|file| file.bytes.len()).sum());
    }
    let changed = database.connection().execute("UPDATE note SET data = 'x'", []);
    if changed.is_ok() {
        database.into_bytes().ok();
    }
}

#[test]
fn a_cell_that_is_too_long_is_rejected_with_its_table_name() {
    let table = "CREATE TABLE note (id TEXT PRIMARY KEY, data TEXT); INSERT INTO note VALUES";
    let mib = |n: usize| format!("{table} ('a', zeroblob({n} << 20)), ('b', zeroblob({n} << 20));");
    assert!(refusal(&made_by(&mib(34))).is_none());
    for n in [65, 70] {
        let words = "a cell of the table note has more than 64 MiB, the most that is read";
        assert_eq!(refusal(&made_by(&mib(n))).unwrap().to_string(), words);
    }
}
