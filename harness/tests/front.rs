//! The parts of a run that a person sees: its last screen, the commands that it suggests, its reports, and
//! the configuration file.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{assert_bad, brickbat, brickbat_in, folder_with};
use crate::program::{command, finish};

#[test]
fn explain_knows_every_word_of_reports_and_pasted_errors() {
    for (what, words) in [
        ("results-kept", "results-kept (check)"),
        ("bricked-by-client", "bricked-by-client (severity)"),
        ("vacuous", "vacuous (verdict)"),
        ("L2", "L2 (level)"),
        ("observed", "observed (receipt)"),
        ("turns", "turns (duty of an application)"),
        ("gateway", "gateway (premise)"),
        ("cooperative", "A value of the field `stop`. It checks for the stop between two steps"),
        ("stateDir", "stateDir (field of the adapter protocol)"),
        ("conductor", "conductor (word of the project)"),
        ("baseline", "baseline (word of reports)"),
        ("abort-batch", "abort-batch (class of failures)"),
        ("abort/mid-batch#k=1@gemini", "abort/mid-batch (scenario)"),
        ("AI_MissingToolResultsError", "ignoreIncompleteToolCalls"),
        (
            "UserError: Cannot provide a new user prompt when the message history contains unprocessed tool calls.",
            "pydantic-ai",
        ),
        ("Found AIMessages with tool_calls that do not have a corresponding ToolMessage.", "LangGraph"),
        (
            "400: Expected toolResult blocks at messages.2.content for the following Ids: tooluse_x",
            "bedrock-converse/",
        ),
        (
            "[Bug] resume fails: `tool_use` ids were found without `tool_result` blocks",
            "complete sentence is in this text. The nearest:",
        ),
        (
            "[Bug] resume fails: `tool_use` ids were found without `tool_result` blocks",
            "anthropic-messages/tool-result-missing",
        ),
        ("API Error: 400 prompt is too long: 203456 tokens > 200000 maximum", "not about the history"),
        ("AI_TypeValidationError: Type validation failed", "validateUIMessages"),
        (
            "tools.3.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
            "not about the history",
        ),
        (
            "Error from provider: Invalid 'input[206].id': string too long. Expected a string with maximum length 64",
            "item-id-too-long",
        ),
    ] {
        let said = brickbat(&["explain", what]);
        assert!(said.code == Some(0) && said.out.contains(words), "{what}: {said:#?}");
    }
    assert_bad(
        &brickbat(&["explain", "it does not work at all"]),
        &["no rule and no known SDK has this error"],
    );
    // A text without spaces is not the name of a rule if its script has none.
    assert_bad(&brickbat(&["explain", "程序无法正常工作"]), &["no rule and no known SDK has this error"]);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("error.log");
    fs::write(&file, "12:01 [ERROR] No tool output found for function call call_abc.").unwrap();
    let of_file = brickbat(&["explain", file.to_str().unwrap()]);
    assert!(of_file.out.contains("openai-responses/tool-output-missing"), "{of_file:#?}");
    let framed =
        brickbat(&["explain", "Provider returned error: prompt is too long: 210883 tokens > 199999 maximum"]);
    assert!(framed.out.contains("the conversation is too long for the model"), "{framed:#?}");
}

#[test]
fn a_report_for_browsers_shows_timelines_and_one_for_code_scanning_the_causes() {
    let folder = TempDir::new().unwrap();
    let run = ["run", "abort/mid-batch", "--system", "canary/dangling-on-abort/simulated"];
    let reports = ["--report", "r.html", "--report", "r.sarif"];
    let said = brickbat_in(&folder, &[&run[..], &reports].concat());
    assert_eq!(said.code, Some(1), "{said:#?}");
    let html = fs::read_to_string(folder.path().join("r.html")).unwrap();
    for part in [
        "<details class=\"cause\"",
        "class=\"step fault\"",
        "<mark>",
        "id=\"search\"",
        "prefers-color-scheme",
    ] {
        assert!(html.contains(part), "`{part}` is not in the report");
    }
    assert!(!html.contains("src=") && !html.contains("<link"), "it needs another file");
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("r.sarif")).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results[0]["ruleId"], "thread-survives", "{sarif}");
    let github = brickbat_in(&folder, &[&run[..], &["--format", "github"]].concat());
    let n_lines =
        github.out.lines().filter(|line| line.starts_with("::error title=bricked-by-provider")).count();
    assert_eq!((n_lines, github.out.lines().count()), (results.len(), results.len()), "{github:#?}");
}

#[test]
fn a_configuration_stands_for_options() {
    let folder = folder_with(
        "brickbat.toml",
        "systems = [\"canary/dangling-on-abort/simulated\"]\ndialects = [\"gemini\"]\nscenarios = [\"abort/mid-batch\"]\n\
         exclude = [\"k=0\"]\nreports = [\"r.json\"]\n",
    );
    let said = brickbat_in(&folder, &["run", "--list"]);
    assert_eq!(said.out.lines().count(), 3, "{said:#?}");
    let said = brickbat_in(&folder, &["run", "--quiet"]);
    assert!(said.code == Some(1) && said.out.starts_with("fail: ") && said.err.is_empty(), "{said:#?}");
    assert!(folder.path().join("r.json").exists());
    // The command line takes precedence.
    let said = brickbat_in(&folder, &["run", "--system", "reference/simulated", "control/plain-batch"]);
    assert!(said.code == Some(0) && said.out.contains("reference/simulated  2 plans"), "{said:#?}");
    fs::write(folder.path().join("brickbat.toml"), "dialects = []\nsistem = 1\n").unwrap();
    assert_bad(
        &brickbat_in(&folder, &["run"]),
        &["brickbat.toml", "line 2", "`sistem`", "`systems`, `manifest`"],
    );
}

/// The last line that a run suggests to type, without the name of the program.
fn proposed(out: &str, command: &str) -> Vec<String> {
    let line = out.lines().find_map(|line| line.split_once(&format!("brickbat {command} ")));
    let (_, rest) = line.unwrap_or_else(|| panic!("no {command} in {out}"));
    std::iter::once(command).chain(rest.split_whitespace().take(1)).map(str::to_owned).collect()
}

#[test]
fn a_run_ends_with_its_causes_and_its_next_commands_work() {
    let folder = TempDir::new().unwrap();
    let run = |args: &[&str]| {
        let mut command = command(folder.path(), args);
        command.env("BRICKBAT_CACHE", folder.path().join("cache")).env("COLUMNS", "80");
        finish(command, b"")
    };
    let ran = run(&["run", "abort/", "fault/", "--system", "canary/dangling-on-abort"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let at = ran.out.lines().position(|line| line.starts_with("fail: ")).unwrap();
    let block: Vec<&str> = ran.out.lines().skip(at).collect();
    assert!(block.iter().all(|line| line.chars().count() <= 130), "{block:#?}");
    let n_causes = block[0].split_whitespace().nth(1).unwrap().parse::<usize>().unwrap();
    // The same damage after another interruption has one line, below the first cause.
    let n_lines = block.iter().filter(|line| line.starts_with("        ")).count();
    assert_eq!(n_lines, n_causes, "each cause has its message: {block:#?}");
    // Each cause was printed once before, as it was found.
    assert_eq!(at, n_causes, "{}", ran.out);
    for (command, words) in [
        ("show", "FAULT the user stops the turn"),
        ("explain", "every later turn works (thread-survives, level L0)"),
        ("replay", "STILL FAILS: 3 of 3 runs show it"),
    ] {
        let args = proposed(&ran.out, command);
        let said = run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.out.contains(words), "{args:?}: {said:#?}");
    }
    let raw = run(&["show", &proposed(&ran.out, "show")[1], "--raw"]);
    assert!(
        raw.out.contains("── request 1: POST ") && raw.out.contains("── reply 2: status 400"),
        "{raw:#?}"
    );
    assert_bad(&run(&["show", "0000"]), &["no case of one of the last runs has the id `0000`"]);
    let silent = run(&["run", "abort/mid-batch", "--system", "canary/dangling-on-abort", "--no-out"]);
    assert!(!silent.out.contains("brickbat show"), "{silent:#?}");
}
