//! `brickbat verify-adapter` for agents that need no adapter: the pair of manifest and agent passes, and a
//! bad pair for each probe is caught by it.
//!
//! The agent is the reference agent behind a shell script that speaks plain ACP for it. The provider's
//! address is in a file of the working folder, the tools are in the list for the tool server, and ends are
//! reported as ACP reports them.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use serde_json::Value;
use tempfile::TempDir;

use crate::probes::{examine_each, with};
use crate::program::{BRICKBAT, brickbat};

/// Makes a message of plain ACP one that the reference agent understands.
const INWARD: &str = r#"
    while IFS= read -r line; do
        case $line in *'"session/new"'* | *'"session/load"'*)
            cwd=${line#*'"cwd":"'}; cwd=${cwd%%'"'*}; state=${cwd%/work}
            read -r base dialect < "$cwd/agent.conf"
            IFS= read -r tools < "$state/tools.json"
            about="\"protocol\":1,\"baseUrl\":\"$base\",\"dialect\":\"$dialect\",\"mode\":\"thread\""
            meta="\"_meta\":{\"brickbat\":{$about,\"stateDir\":\"$state\",\"tools\":$tools}}"
            line="${line%%'"params":{'*}\"params\":{$meta,${line#*'"params":{'}" ;;
        esac
        printf '%s\n' "$line"
    done"#;

/// Adds the agent's name, and reports errors and stops, as ACP does.
const OUTWARD: [&str; 3] = [
    concat!(
        r#"s/"protocolVersion":1/"agentInfo":{"name":"plain","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""},&/"#
    ),
    r#"s/"result":{.*{"kind":"raised","class":"\([^"]*\)","text":\(.*\)}}}}}$/"error":{"code":-32603,"message":\2,"data":{"name":"\1"}}}/"#,
    r#"s/"stopReason":"[a-z_]*"\(.*{"kind":"cancelled"}\)/"stopReason":"cancelled"\1/"#,
];

/// A pair of manifest and agent. The default is correct.
#[derive(Default)]
struct Pair {
    /// A filter of the messages as the reference agent gets them.
    input: &'static str,
    /// The same for outgoing lines, before they become plain ACP.
    output: &'static str,
    /// Replacements in the manifest.
    manifest: &'static [(&'static str, &'static str)],
    /// Runs after the agent has ended.
    epilogue: &'static str,
}

const SHEET: &str = r#"
name: plain
sdk: plain-sdk
description: The reference agent, as one that speaks plain ACP.
versions: [{ version: VERSION }]
dialects: [anthropic-messages, openai-chat]
modes: [{ name: acp, description: The only one. }]
command: [sh, agent.sh]
acp:
  capabilities: { cancel: true, streaming: true, eagerTools: false, load: true }
  tools: "{tool}"
  config:
    - { path: agent.conf, content: "${baseUrl} ${dialect}\n" }
"#;

impl Pair {
    /// The results of the probes.
    fn examine(&self) -> (Option<i32>, Value) {
        let folder = TempDir::new().unwrap();
        let Pair { input, output, epilogue, .. } = self;
        let [about, errors, stops] = OUTWARD;
        let script = format!(
            "{INWARD} | sed -u '{input}' | '{BRICKBAT}' agent \
             | sed -u -e '{output}' -e '{about}' -e '{errors}' -e '{stops}'\n{epilogue}\n"
        );
        std::fs::write(folder.path().join("agent.sh"), script).unwrap();
        let mut sheet = SHEET.replace("VERSION", env!("CARGO_PKG_VERSION"));
        for (from, to) in self.manifest {
            assert!(sheet.contains(from), "{from}");
            sheet = sheet.replace(from, to);
        }
        std::fs::write(folder.path().join("system.yaml"), sheet).unwrap();
        let args = ["verify-adapter", "--manifest", "system.yaml", "--format", "json"];
        let said = brickbat(folder.path(), &args, &[]);
        let found = serde_json::from_str(&said.out);
        (said.code, found.unwrap_or_else(|error| panic!("{error}: {said:?}")))
    }

    /// Expects that only these probes catch it, and that the first has these words.
    #[track_caller]
    fn caught(&self, probes: &[&str], words: &str) {
        let (code, found) = self.examine();
        let failed = with(&found, "failed", "seen");
        let names: Vec<&str> = failed.iter().map(|(probe, _)| *probe).collect();
        assert_eq!(names, probes, "{found:#}");
        assert!(failed[0].1.contains(words), "{found:#}");
        assert_eq!(code, Some(1), "{found:#}");
        // No hint mentions what only an adapter knows.
        let of_adapters = |hint: &str| hint.contains("_meta") || hint.contains("gateUrl");
        assert!(!with(&found, "failed", "hint").iter().any(|(_, hint)| of_adapters(hint)), "{found:#}");
    }

    /// Expects that it passes, and that a probe warns with these words.
    #[track_caller]
    fn passes_with(&self, probe: &str, words: &str) {
        let (code, found) = self.examine();
        assert_eq!((code, with(&found, "failed", "seen")), (Some(0), vec![]), "{found:#}");
        assert!(warnings(&found, probe).contains(words), "{found:#}");
    }
}

fn warnings(found: &Value, probe: &str) -> String {
    let mut probes = found["probes"].as_array().unwrap().iter();
    probes.find(|examined| examined["probe"] == probe).unwrap()["warnings"].to_string()
}

#[test]
fn each_pair_gets_the_expected_result() {
    examine_each(&PAIRS);
}

const PAIRS: [(&str, fn()); 17] = [
    ("a right pair", a_right_pair_passes),
    ("what is not claimed", what_is_not_claimed_is_skipped),
    ("another version", || {
        let manifest = &[(concat!("version: ", env!("CARGO_PKG_VERSION")), "version: 9.9.9")];
        let words = "the agent reports plain-sdk";
        Pair { manifest, ..Pair::default() }.caught(&["introduces-itself"], words);
    }),
    ("no word of its version", || {
        let output = r#"s/"protocolVersion":1/"protocolVersion": 1/"#;
        let words = "no `agentInfo`, so the version is taken from the manifest";
        Pair { output, ..Pair::default() }.passes_with("introduces-itself", words);
    }),
    ("words on standard output", || {
        let output = r#"/"stopReason"/i tokens used: 5"#;
        let words = "`tokens used: 5` (in the probe holds-a-conversation)";
        Pair { output, ..Pair::default() }.caught(&["silent-on-stdout"], words);
    }),
    ("tools under other names", tools_under_other_names_are_caught),
    ("ids of its own", || {
        let output = r#"s/"toolCallId":"[a-z]*_/"toolCallId":"own-/"#;
        let words = "calls are shown under the agent's own ids, such as `own-";
        Pair { output, ..Pair::default() }.passes_with("keeps-native-ids", words);
    }),
    ("a stop that does not reach the tools", || {
        let input = r#"s/"deaf":false/"deaf":true/g"#;
        let words = "after session/cancel, the tool still waits at its gate although it is not deaf";
        Pair { input, ..Pair::default() }.caught(&["passes-the-stop-on"], words);
    }),
    ("a stop that reaches a deaf tool", || {
        let input = r#"s/"deaf":true/"deaf":false/g"#;
        Pair { input, ..Pair::default() }
            .caught(&["passes-the-stop-on"], "a tool that is `deaf` was given up");
    }),
    ("an error that is reported as an end", || {
        let output = r#"s/{"kind":"raised".*$/{"kind":"returned"}}}}}/"#;
        let words = "the provider refused the request with status 400, and the outcome is returned";
        Pair { output, ..Pair::default() }.caught(&["tells-the-outcome"], words);
    }),
    ("a stop that is reported as an end", || {
        let output = r#"s/{"kind":"cancelled"}/{"kind":"returned"}/; s/"stopReason":"cancelled"/"stopReason":"end_turn"/"#;
        let words = "the turn was stopped, and its outcome is returned";
        Pair { output, ..Pair::default() }.caught(&["tells-the-outcome"], words);
    }),
    ("one conversation for all sessions", || {
        let input = r#"s/"text":"[^"]*I am user 2/"text":"I am user 1. I am user 2/"#;
        let words = "a request of one session contains `I am user 1.` of the other";
        Pair { input, ..Pair::default() }.caught(&["isolates-sessions"], words);
    }),
    ("a load that forgets", || {
        let input = r#"s/"method":"session\/load"/"method":"session\/new"/"#;
        let words = "the next request does not contain the user's message";
        Pair { input, ..Pair::default() }.caught(&["reloads-sessions"], words);
    }),
    ("an order to summarise", an_order_to_summarise_is_given),
    ("an order that is none", || {
        let manifest = &[("  tools:", "  summarise: Be brief.\n  tools:")];
        let words = "after `summarise 1`, the next request still contains the complete previous turn";
        Pair { manifest, ..Pair::default() }.caught(&["changes-the-history"], words);
    }),
    ("modes and dialects that are none", modes_and_dialects_that_are_none_are_caught),
    ("an agent that outlives its input", || {
        let words = "it is still running 5 s after its standard input ended";
        Pair { epilogue: "exec sleep 600", ..Pair::default() }.caught(&["ends-with-its-input"], words);
    }),
];

/// The reference agent has no commands: a prompt with one becomes the harness's message for it.
fn an_order_to_summarise_is_given() {
    let pair = Pair {
        input: r##"/"\/compact"/ { s#"session/prompt"#"_brickbat/action"#; s#"prompt":\[[^]]*\]#"action":{"change":{"kind":"summarise","keep":0}}# }"##,
        output: r#"s/"result":{}/"result":{"stopReason":"end_turn"}/"#,
        manifest: &[("  tools:", "  summarise: /compact\n  tools:")],
        ..Pair::default()
    };
    let (code, found) = pair.examine();
    assert_eq!((code, with(&found, "failed", "seen")), (Some(0), vec![]), "{found:#}");
    let skipped = with(&found, "skipped", "reason");
    let names: Vec<&str> = skipped.iter().map(|(probe, _)| *probe).collect();
    assert_eq!(names, ["answers-extensions", "keeps-its-claims"], "{found:#}");
}

fn a_right_pair_passes() {
    let (code, found) = Pair::default().examine();
    assert_eq!((code, with(&found, "failed", "seen")), (Some(0), vec![]), "{found:#}");
    let skipped = with(&found, "skipped", "reason");
    let names: Vec<&str> = skipped.iter().map(|(probe, _)| *probe).collect();
    assert_eq!(names, ["answers-extensions", "changes-the-history", "keeps-its-claims"], "{found:#}");
    assert!(skipped[0].1.starts_with("plain ACP has no extension methods"), "{found:#}");
    assert_eq!(found["probes"].as_array().unwrap().len(), 16);
    let about = format!("plain-sdk {} with acp", env!("CARGO_PKG_VERSION"));
    assert_eq!(found["about"], about.as_str());
    // The report says what was not tried, and how little was tried.
    for (probe, words) in [
        ("isolates-sessions", "took turns"),
        ("reloads-sessions", "has no `stateDir`"),
        ("honours-the-mode", "refusals were not tested"),
        ("survives-many-plans", "16 plans, one after the other"),
    ] {
        assert!(warnings(&found, probe).contains(words), "{found:#}");
    }
    for probe in ["introduces-itself", "keeps-native-ids", "tells-the-outcome"] {
        assert_eq!(warnings(&found, probe), "[]", "{found:#}");
    }
}

fn what_is_not_claimed_is_skipped() {
    let claims = [("cancel: true", "cancel: false"), ("load: true", "load: false")];
    let manifest: &[_] = &[claims[0], claims[1], ("  tools:", "  maxSessions: 3\n  tools:")];
    let (code, found) = Pair { manifest: manifest.to_vec().leak(), ..Pair::default() }.examine();
    let skipped = with(&found, "skipped", "reason");
    let names: Vec<&str> = skipped.iter().map(|(probe, _)| *probe).collect();
    let unclaimed = [
        "passes-the-stop-on",
        "reloads-sessions",
        "answers-extensions",
        "changes-the-history",
        "keeps-its-claims",
    ];
    assert_eq!(names, unclaimed, "{found:#}");
    assert_eq!((code, with(&found, "failed", "seen")), (Some(0), vec![]), "{found:#}");
    assert!(warnings(&found, "survives-many-plans").contains("3 plans"), "{found:#}");
}

fn tools_under_other_names_are_caught() {
    let manifest = &[(r#""{tool}""#, r#""{server}_{tool}""#)];
    let (code, found) = Pair { manifest, ..Pair::default() }.examine();
    let failed = with(&found, "failed", "seen");
    assert_eq!((code, failed[0].0), (Some(1), "holds-a-conversation"), "{found:#}");
    assert!(with(&found, "failed", "hint")[0].1.contains("in `tools`"), "{found:#}");
}

fn modes_and_dialects_that_are_none_are_caught() {
    let two = &[("The only one. }", "One. }, { name: other, description: Another. }")];
    let words = "the modes acp, other are listed, but nothing tells the agent which one to use";
    Pair { manifest: two, ..Pair::default() }.caught(&["honours-the-mode"], words);
    // A word that only one dialect has.
    let hole = &[
        ("${dialect}", "${name}"),
        ("  config:", "  words: { anthropic-messages: { name: anthropic-messages } }\n  config:"),
    ];
    let (code, found) = Pair { manifest: hole, ..Pair::default() }.examine();
    let failed = with(&found, "failed", "seen");
    assert!(
        failed.iter().any(|(probe, seen)| *probe == "honours-the-mode"
            && seen.contains("no `name` under `words` for the dialect openai-chat")),
        "{found:#}"
    );
    assert_eq!(code, Some(1), "{found:#}");
}
