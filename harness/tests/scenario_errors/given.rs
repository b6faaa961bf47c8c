//! Mistakes in a given history, which is a file of its own next to the scenario.

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower::plans_with;

use super::{GOOD, mistake, snapshot};

/// The valid scenario with a given history, and that history.
fn given(name: &str, history: &str) -> String {
    let text = GOOD.replacen("tools:\n", &format!("given: {{ history: {name} }}\ntools:\n"), 1);
    let files = |asked: &str| match asked {
        "old.json" => Ok(history.to_owned()),
        _ => Err(std::io::Error::other("there is no such file")),
    };
    match plans_with("x", "folder/broken.yaml", &text, &[Dialect::OpenaiChat], 7, &files) {
        Err(diagnostic) => diagnostic.to_string(),
        Ok(plans) => format!("{} plans", plans.len()),
    }
}

#[test]
fn given_histories() {
    const OLD: &str = r#"{
  "schema": 1,
  "comment": "An old session.",
  "source": "twentyhq/twenty#21276",
  "messages": [
    { "user": "Look up the order." },
    { "assistant": [{ "call": { "as": "z", "tool": "lookup", "args": { "key": "z" } } }] },
    { "results": [{ "of": "z", "returns": "found {key}" }] }
  ]
}"#;
    let with = |from: &str, to: &str| {
        assert!(OLD.contains(from), "{from}");
        given("old.json", &OLD.replacen(from, to, 1))
    };
    assert_eq!(given("old.json", OLD), "4 plans");
    let alone = GOOD.replacen("tools:\n", "given: { history: old.json }\ntools:\n", 1);
    snapshot(
        "given_histories",
        &[
            ("outside of the folder", given("../old.json", OLD)),
            ("another ending", given("old.yaml", OLD)),
            ("no such file", given("new.json", OLD)),
            ("no files at all", mistake(&alone)),
            ("no source", with("twentyhq/twenty#21276", "somewhere")),
            ("a tool that the scenario lacks", with("\"lookup\"", "\"look\"")),
            ("a call that the scenario has, too", given("old.json", &OLD.replace("\"z\"", "\"a\""))),
            ("a result of nothing", with("\"of\": \"z\"", "\"of\": \"y\"")),
            ("a result that says nothing", with(", \"returns\": \"found {key}\"", "")),
            ("an unknown key", with("\"user\"", "\"usr\"")),
            ("a thought without its form", with("{ \"call\"", "{ \"think\": \"Hm.\" }, { \"call\"")),
            (
                "an unknown state of a signature",
                with(
                    "{ \"call\"",
                    "{ \"think\": { \"text\": \"Hm.\", \"signature\": \"torn\" } }, { \"call\"",
                ),
            ),
            ("arguments twice", with("\"args\": {", "\"raw\": \"{\", \"args\": {")),
            ("an id of a later call", with("\"tool\"", "\"id\": { \"same\": \"y\" }, \"tool\"")),
            ("no id at all", with("\"tool\"", "\"id\": \"missing\", \"tool\"")),
            (
                "a picture without a size",
                with(
                    "{ \"user\": \"Look up the order.\" }",
                    "{ \"picture\": { \"format\": \"png\", \"width\": 0, \"height\": 9 } }",
                ),
            ),
            (
                "a picture that is too large",
                with(
                    "{ \"user\": \"Look up the order.\" }",
                    "{ \"picture\": { \"format\": \"png\", \"width\": 9, \"height\": 9, \"bytes\": 99000000 } }",
                ),
            ),
            ("a result that does both", with("\"returns\"", "\"fails\": \"no\", \"returns\"")),
            ("a blank summary", with("{ \"user\": \"Look up the order.\" }", "{ \"compacted\": \" \" }")),
            (
                "a lost call that nothing speaks of",
                with("\"messages\"", "\"lost\": [{ \"as\": \"x\", \"tool\": \"lookup\" }], \"messages\""),
            ),
            (
                "a lost call that is there",
                with("\"messages\"", "\"lost\": [{ \"as\": \"z\", \"tool\": \"lookup\" }], \"messages\""),
            ),
        ],
    );
}
