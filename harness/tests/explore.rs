//! `brickbat run --explore`: everything that can go wrong in one conversation, and the causes of the
//! failures.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs;
use std::path::Path;

use crate::program::{Said, brickbat};
use tempfile::TempDir;

const ONE_CALL: &str = "schema: 1
comment: One call is answered.
class: [control]
tools:
  lookup: { returns: \"found {key}\" }
turns:
  - user: Look up the order.
    replies:
      - - call: { as: a, tool: lookup, args: { key: a }, deltas: 1 }
      - - text: It is here.
";

fn explore(folder: &Path, what: &str, args: &[&str]) -> Said {
    fs::write(folder.join("one-call.yaml"), ONE_CALL).unwrap();
    let explore = ["run", "--explore", what, "--base", "one-call.yaml", "--dialect", "anthropic-messages"];
    brickbat(folder, &[&explore[..], args].concat(), &[])
}

#[test]
fn nothing_is_found_on_the_reference_agent() {
    let folder = TempDir::new().unwrap();
    let said = explore(folder.path(), "pairs", &["--system", "reference/simulated"]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("; 0 distinct failures"), "{said:#?}");
    assert!(!said.out.contains(" fail,") && !said.out.contains(" fail;"), "{said:#?}");
}

#[test]
fn a_planted_bug_is_reported_with_its_fewest_actions() {
    let folder = TempDir::new().unwrap();
    let canary = ["--system", "canary/dangling-on-abort", "--limit", "200"];
    let said = explore(folder.path(), "pairs", &[&canary[..], &["--out", "found"]].concat());
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(said.out.contains("bricked-by-provider thread-survives"), "{said:#?}");
    assert!(said.out.contains("rule anthropic-messages/"), "{said:#?}");
    let file = "found/bricked-by-provider-stop.yaml";
    let text = fs::read_to_string(folder.path().join(file)).unwrap();
    let actions: Vec<&str> = text.lines().filter(|line| line.contains(" do: ")).collect();
    assert_eq!(actions.len(), 1, "{text}");
    assert!(actions[0].ends_with("do: abort }"), "{text}");
    assert!(text.contains("comment: \"Found on canary/dangling-on-abort"), "{text}");
    // The scenario that was written reproduces the finding.
    let args = ["run", file, "--system", "canary/dangling-on-abort", "--dialect", "anthropic-messages"];
    let again = brickbat(folder.path(), &args, &[]);
    assert_eq!(again.code, Some(1), "{again:#?}");
    assert!(again.out.contains("bricked-by-provider"), "{again:#?}");
}

#[test]
fn a_limit_selects_single_actions_first_and_is_deterministic() {
    let folder = TempDir::new().unwrap();
    let few = ["--system", "canary/never-ends", "--limit", "12"];
    let said = explore(folder.path(), "pairs", &few);
    assert!(said.out.contains("12 single actions and 0 pairs in one-call.yaml"), "{said:#?}");
    assert_eq!(explore(folder.path(), "pairs", &few).out, said.out);
}

#[test]
fn a_conversation_that_cannot_be_explored_is_reported() {
    let folder = TempDir::new().unwrap();
    let bad = |args: &[&str], words: &str| {
        let said = brickbat(folder.path(), args, &[]);
        assert_eq!(said.code, Some(2), "{said:#?}");
        assert!(said.err.contains(words), "{words}: {said:#?}");
    };
    bad(
        &["run", "--explore", "pairs", "--base", "control/plain-bach"],
        "did you mean `control/plain-batch`?",
    );
    bad(&["run", "--explore", "pairs", "--base", "abort/mid-batch#k=9"], "`abort/mid-batch#k=9` is neither");
    bad(&["run", "--explore", "triples"], "[possible values: singles, pairs]");
    bad(&["run", "--limit", "3"], "--explore");
    bad(&["run", "abort/", "--explore", "pairs"], "cannot be used with");
    // An option without an effect on an exploration is refused, and not ignored.
    let without_effect: [&[&str]; 5] = [
        &["--exclude", "kill/"],
        &["--timeout", "5m"],
        &["--format", "github"],
        &["--verbose"],
        &["--quiet"],
    ];
    for option in without_effect {
        let words = format!("'{}", option[0]);
        bad(&[&["run", "--explore", "singles"], option].concat(), &words);
        bad(&[&["run", "--explore", "singles"], option].concat(), "cannot be used with");
    }
}
