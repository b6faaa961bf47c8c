//! `brickbat keep`, and the regressions of a project that `run` plays.

use std::fs;

use crate::program::{brickbat, folder_of};
use serde_json::Value;

const REFUSED: &str = r#"{"model":"claude-sonnet-5","max_tokens":9,"messages":[
  {"role":"user","content":"Look."},
  {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{}}]},
  {"role":"user","content":"Well?"}]}"#;
const SCENARIO: &str = "schema: 1\nturns:\n  - user: Look.\n    replies: [[{ text: Seen. }]]\n";

#[test]
fn a_request_is_kept_with_its_verdict_and_a_scenario_is_played() {
    let folder = folder_of(&[("body.json", REFUSED), ("mine.yaml", SCENARIO)]);
    let kept = brickbat(folder.path(), &["keep", "body.json"], &[]);
    assert_eq!(kept.code, Some(0), "{kept:#?}");
    assert!(kept.out.starts_with("request: refused by anthropic-messages@"), "{}", kept.out);
    let into = folder.path().join("brickbat/regressions");
    assert_eq!(fs::read_to_string(into.join("body.json")).unwrap(), REFUSED);
    let verdict = fs::read_to_string(into.join("body.json.kept.json")).unwrap();
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["rules"][0], "anthropic-messages/tool-result-missing");
    let again = brickbat(folder.path(), &["keep", "body.json"], &[]);
    assert_eq!(again.code, Some(2), "{again:#?}");
    assert!(again.err.contains("already exists"), "{}", again.err);

    let scenario = brickbat(folder.path(), &["keep", "mine.yaml"], &[]);
    assert_eq!(scenario.code, Some(0), "{scenario:#?}");
    let listed = brickbat(folder.path(), &["run", "--list", "--dialect", "gemini"], &[]);
    assert!(listed.out.contains("mine@gemini"), "{}", listed.out.lines().last().unwrap_or_default());
    assert!(listed.out.contains("abort/"), "the built-in scenarios are played too");
}

#[test]
fn files_that_cannot_be_kept_are_refused() {
    let lines = format!("{REFUSED}\n");
    let folder =
        folder_of(&[("bad.yaml", "schema: 1\nturns: 3\n"), ("other.json", "{}"), ("a.bin", &lines[..9])]);
    for name in ["bad.yaml", "other.json", "a.bin", "absent.json"] {
        let kept = brickbat(folder.path(), &["keep", name], &[]);
        assert_eq!(kept.code, Some(2), "{name}: {kept:#?}");
        assert!(!folder.path().join("brickbat").exists(), "{name}");
    }
}
