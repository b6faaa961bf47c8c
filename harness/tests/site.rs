//! `brickbat site`: reports in, stored results and a site out.

use std::fs;
use std::path::Path;

use crate::program::{self, Said};

const SYSTEM: &str = "canary/dangling-on-abort/simulated";

/// Writes the report of a run on two systems.
fn report(folder: &Path) {
    let systems = ["--system", "reference/simulated", "--system", SYSTEM];
    let plans = ["run", "abort/mid-batch", "control/", "--dialect", "openai-chat", "--report", "report.json"];
    let run = brickbat(folder, &[&plans[..], &systems].concat());
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
fn a_report_is_stored_and_shown_and_the_next_day_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    report(folder);
    let add = ["site", "results", "--add", "report.json", "--commit", "1af3f38d", "--date"];
    let said = brickbat(folder, &[&add[..], &["2026-11-30"]].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    let stored = |date: &str| folder.join(format!("results/canary-dangling-on-abort-simulated.{date}.json"));
    let text = fs::read_to_string(stored("2026-11-30")).unwrap();
    assert!(text.contains("\"commit\": \"1af3f38d\"") && text.contains("thread-survives"), "{text}");
    assert!(!text.contains(folder.to_str().unwrap()), "no path of the machine: {text}");

    // A result of the same day is never replaced.
    let again = brickbat(folder, &[&add[..], &["2026-11-30"]].concat());
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.err.contains("already has the result of canary/dangling-on-abort/simulated"), "{again:?}");

    let next = brickbat(
        folder,
        &[&add[..], &["2026-12-01", "--out", "site", "--address", "https://example.org/b/"]].concat(),
    );
    assert_eq!(next.code, Some(0), "{next:?}");
    assert!(next.out.contains("site/index.html: 2 systems, "), "{next:?}");
    let page = |path: &str| fs::read_to_string(folder.join("site").join(path)).unwrap();
    assert!(page("changes.html").contains("0 causes new, 0 gone"), "{}", page("changes.html"));
    let badge: serde_json::Value =
        serde_json::from_str(&page("badges/canary-dangling-on-abort-simulated.json")).unwrap();
    assert_eq!((&badge["schemaVersion"], &badge["label"]), (&1.into(), &"Brickbat".into()));
    assert!(page("feed.xml").contains("xml:base=\"https://example.org/b/\""));
    // Written again, the same results give the same site.
    let before = page("results.json");
    let said = brickbat(folder, &["site", "results", "--out", "site", "--address", "https://example.org/b"]);
    assert_eq!((said.code, page("results.json")), (Some(0), before), "{said:?}");

    // A cause that is gone on the next day.
    let mut result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(stored("2026-12-01")).unwrap()).unwrap();
    result["date"] = "2026-12-02".into();
    let gone = result["causes"][0]["id"].as_str().unwrap().to_owned();
    result["causes"] = serde_json::json!([]);
    fs::write(stored("2026-12-02"), result.to_string()).unwrap();
    assert_eq!(brickbat(folder, &["site", "results", "--out", "site"]).code, Some(0));
    assert!(
        page("changes.html").contains(&format!("<h3>Gone</h3>\n<ul>\n<li><a href=\"causes/{gone}.html\">"))
    );
    assert!(page(&format!("causes/{gone}.html")).contains("The result of 2026-12-02 does not have it."));
}

#[test]
fn bad_input_is_named_and_foreign_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    report(folder);
    let refused = |arguments: &[&str], words: &str| {
        let said = brickbat(folder, arguments);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(words), "{words}: {said:?}");
    };
    fs::create_dir_all(folder.join("results")).unwrap();
    fs::create_dir_all(folder.join("own")).unwrap();
    fs::write(folder.join("own/index.html"), "mine").unwrap();
    refused(&["site", "results", "--out", "own"], "own contains other files");
    assert_eq!(fs::read_to_string(folder.join("own/index.html")).unwrap(), "mine");
    fs::write(folder.join("own/results.json"), "{}").unwrap();
    refused(&["site", "results", "--out", "own"], "own contains other files");

    refused(&["site", "results"], "--out");
    refused(&["site", "results", "--add", "report.json"], "--date");
    refused(&["site", "results", "--add", "report.json", "--date", "2026-02-40"], "expected a day such as");
    refused(&["site", "no-such-folder", "--out", "site"], "cannot read no-such-folder");
    refused(&["site", "results", "--add", "none.json", "--date", "2026-12-01"], "cannot read none.json");
    let twice = ["site", "results", "--add", "report.json", "--add", "report.json", "--date", "2026-12-01"];
    refused(&twice, "another report also covers");
    refused(&["site", "results", "--out", "site", "--address", "javascript:x"], "expected an address");

    let place = folder.join("results/a-1-m.2026-12-01.json");
    fs::write(&place, "{\"schema\": 9}").unwrap();
    refused(
        &["site", "results", "--out", "site"],
        "a-1-m.2026-12-01.json: the stored result has the format 9",
    );
    fs::write(&place, " ".repeat(2 << 20)).unwrap();
    refused(&["site", "results", "--out", "site"], "a-1-m.2026-12-01.json: it is too large");
    fs::remove_file(&place).unwrap();
    // Nothing is written before everything was read.
    assert!(!folder.join("site").exists());

    assert_eq!(
        brickbat(folder, &["site", "results", "--add", "report.json", "--date", "2026-12-01"]).code,
        Some(0)
    );
    let stored = folder.join("results/reference-simulated.2026-12-01.json");
    fs::rename(&stored, folder.join("results/copy.json")).unwrap();
    refused(&["site", "results", "--out", "site"], "so its name is reference-simulated.2026-12-01.json");
}

fn brickbat(folder: &Path, args: &[&str]) -> Said {
    program::brickbat(folder, args, &[])
}
