//! Calls and the tools that they call.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Source;
use brickbat_scenario::scenario::{Call, CallId, Scenario, Tool};

/// Gives each call of a scenario a name of its own.
#[derive(Debug, Default)]
pub(super) struct Names {
    given: Vec<String>,
    /// Calls about which the user is asked, and which the user knows by their ids.
    asked: Vec<String>,
}

impl Names {
    /// Those that a scenario has given already.
    pub fn of(scenario: &Scenario) -> Names {
        let asks = |call: &&Call| scenario.tools.get(&call.tool).is_some_and(|tool| tool.asks);
        let asked = scenario.calls().filter(asks).map(|call| call.name.clone()).collect();
        Names { given: scenario.calls().map(|call| call.name.clone()).collect(), asked }
    }

    /// A name that no call has: `a`, …, `z`, `a1`, ….
    pub fn next(&mut self) -> String {
        let mut n = self.given.len();
        loop {
            let letter = char::from(b'a' + (n % 26) as u8);
            let name = if n < 26 { letter.to_string() } else { format!("{letter}{}", n / 26) };
            if !self.given.contains(&name) {
                self.given.push(name.clone());
                return name;
            }
            n += 1;
        }
    }

    /// The call made last, if another may have its id.
    fn last_known(&self) -> Option<&String> {
        self.given.last().filter(|name| !self.asked.contains(name))
    }

    fn keep_to_itself(&mut self, name: &str) {
        self.asked.push(name.to_owned());
    }
}

/// What calls of a reply may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Calls that settle by themselves.
    Settling,
    /// Their turn is going to be ended, so they may hang as well.
    Stopped,
}

/// A tool of the palette: its name, how often it is called, and how it ends.
struct Kind {
    name: &'static str,
    weight: usize,
    returns: Option<&'static str>,
    fails: Option<&'static str>,
    throws: Option<&'static str>,
    denies: Option<&'static str>,
    deaf: bool,
    asks: bool,
    hangs: bool,
    ends: bool,
    called: Option<&'static str>,
}

const PLAIN: Kind = Kind {
    name: "lookup",
    weight: 16,
    returns: Some("found {key}"),
    fails: None,
    throws: None,
    denies: None,
    deaf: false,
    asks: false,
    hangs: false,
    ends: false,
    called: None,
};

const PALETTE: [Kind; 15] = [
    PLAIN,
    Kind { name: "check", weight: 4, fails: Some("no order {key}"), returns: None, ..PLAIN },
    Kind { name: "crash", weight: 2, throws: Some("out of reach"), returns: None, ..PLAIN },
    Kind { name: "crash_silently", weight: 1, throws: Some(""), returns: None, ..PLAIN },
    Kind { name: "say_nothing", weight: 1, returns: Some(""), ..PLAIN },
    Kind { name: "book", weight: 3, deaf: true, ..PLAIN },
    Kind { name: "pay", weight: 4, asks: true, ..PLAIN },
    Kind { name: "erase", weight: 2, asks: true, denies: Some("not today"), returns: None, ..PLAIN },
    Kind { name: "publish", weight: 1, denies: Some("not allowed"), returns: None, ..PLAIN },
    Kind { name: "book_and_fail", weight: 1, deaf: true, fails: Some("no seat"), returns: None, ..PLAIN },
    Kind { name: "ship", weight: 1, deaf: true, asks: true, ..PLAIN },
    Kind { name: "wait", weight: 2, hangs: true, ..PLAIN },
    Kind { name: "wait_deaf", weight: 2, hangs: true, deaf: true, ..PLAIN },
    Kind { name: "submit", weight: 1, ends: true, ..PLAIN },
    Kind { name: "unknown", weight: 2, returns: None, called: Some(""), ..PLAIN },
];

/// What the model writes for the name of a tool that there is not.
const BAD_NAMES: [&str; 3] = ["look up!", "functions.lookup<|channel|>json", ""];

/// What the model writes for arguments.
const RAW: [&str; 9] = [
    r#"{"key": "a"}"#,
    r#"{"key": "a"#,
    "",
    "[]",
    "\"a\"",
    "null",
    "not json",
    r#"{"key": "\ud83d"}"#,
    r#"{"key": 1, "other": [{"deep": {}}]}"#,
];

/// Ids that are none of the provider's own.
const IDS: [&str; 4] = ["", "call_1", "functions.lookup:0", "tool use#1|fc_2"];

/// The tool of that kind, with the name under which it stands in the file.
fn tool(kind: &Kind, source: &mut Source<'_>) -> (String, Tool) {
    let said = |text: Option<&str>| text.map(str::to_owned);
    let missing = kind.called.is_some();
    let called = match missing && source.one_in(2) {
        true => source.pick(&BAD_NAMES).map(|name| (*name).to_owned()),
        false => None,
    };
    let name = if called.is_some() { "misnamed" } else { kind.name };
    let tool = Tool {
        returns: said(kind.returns),
        fails: said(kind.fails),
        throws: said(kind.throws),
        denies: said(kind.denies),
        deaf: kind.deaf,
        asks: kind.asks,
        missing,
        called,
        hangs: kind.hangs,
        ends: kind.ends,
    };
    (name.to_owned(), tool)
}

/// A new call. Its tool is added to those of the scenario.
pub(super) fn draw(
    source: &mut Source<'_>,
    names: &mut Names,
    tools: &mut BTreeMap<String, Tool>,
    manner: Manner,
) -> Call {
    let fits = |kind: &&Kind| manner == Manner::Stopped || !kind.hangs;
    let kinds: Vec<(usize, &Kind)> = PALETTE.iter().filter(fits).map(|kind| (kind.weight, kind)).collect();
    let kind = source.weigh(&kinds).copied().unwrap_or(&PLAIN);
    let (tool_name, drawn) = tool(kind, source);
    let asks = drawn.asks;
    // The first of a name stands: what is called so must not change for the calls before.
    tools.entry(tool_name.clone()).or_insert(drawn);
    let earlier = names.last_known().cloned();
    let name = names.next();
    if asks {
        names.keep_to_itself(&name);
    }
    let mut call = Call {
        args: BTreeMap::from([("key".to_owned(), key(source, &name))]),
        name,
        tool: tool_name,
        raw: None,
        id: None,
        deltas: 3,
    };
    if source.one_in(4) {
        call.deltas = *source.pick(&[1, 2, 5, 16]).unwrap_or(&1);
    }
    if source.one_in(12) && !kind.ends {
        call.raw = source.pick(&RAW).map(|raw| (*raw).to_owned());
        call.args.clear();
    } else if source.one_in(12) {
        call.args.insert("n".to_owned(), Value::from(source.below(3)));
    }
    if source.one_in(12) && !asks {
        call.id = Some(foreign_id(source, earlier));
    }
    call
}

/// What a call is about: its own name, or a text that some agents find too long.
fn key(source: &mut Source<'_>, name: &str) -> Value {
    match source.below(12) {
        11 => Value::from(format!("{name}: {}", "a long list of orders, ".repeat(20))),
        10 => Value::from("Ünï\u{2028}\"\\\n"),
        _ => Value::from(name),
    }
}

/// An id that is none of the call's own.
pub(super) fn foreign_id(source: &mut Source<'_>, earlier: Option<String>) -> CallId {
    match (source.below(3), earlier) {
        (0, Some(name)) => CallId::Same(name),
        (1, _) => CallId::Missing,
        _ => CallId::Text(source.pick(&IDS).map(|id| (*id).to_owned()).unwrap_or_default()),
    }
}

/// The name of a tool that simply returns.
pub(super) fn plain(tools: &mut BTreeMap<String, Tool>) -> String {
    let (name, tool) = tool(&PLAIN, &mut Source::of_bytes(&[]));
    tools.entry(name.clone()).or_insert(tool);
    name
}
