//! Draws calls and their tools.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Source;
use brickbat_scenario::scenario::{Call, CallId, Scenario, Tool};

/// Gives each call of a scenario a unique name.
#[derive(Debug, Default)]
pub(super) struct Names {
    given: Vec<String>,
    /// The calls about which the user is asked, and which the user identifies by their ids.
    asked: Vec<String>,
}

impl Names {
    /// The names that a scenario already uses.
    pub fn of(scenario: &Scenario) -> Names {
        let asks = |call: &&Call| scenario.tools.get(&call.tool).is_some_and(|tool| tool.asks);
        let asked = scenario.calls().filter(asks).map(|call| call.name.clone()).collect();
        Names { given: scenario.calls().map(|call| call.name.clone()).collect(), asked }
    }

    /// The next unused name: `a`, …, `z`, `a1`, ….
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

    /// The last call, if another call may have its id.
    fn last_known(&self) -> Option<&String> {
        self.given.last().filter(|name| !self.asked.contains(name))
    }

    fn keep_to_itself(&mut self, name: &str) {
        self.asked.push(name.to_owned());
    }
}

/// The kind of calls that a reply may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Calls that settle on their own.
    Settling,
    /// Calls of a turn that will be ended, so they may also hang.
    Stopped,
}

/// A tool of the palette: its weight, its name, and its difference from the plain tool.
type Kind = (usize, &'static str, fn(&mut Tool));

/// The name of the plain tool.
pub(crate) const PLAIN_TOOL: &str = "lookup";

const PLAIN: Kind = (16, PLAIN_TOOL, |_| {});

const PALETTE: [Kind; 17] = [
    PLAIN,
    (4, "check", |tool| (tool.returns, tool.fails) = (None, text("no order {key}"))),
    (2, "crash", |tool| (tool.returns, tool.throws) = (None, text("out of reach"))),
    (1, "crash_silently", |tool| (tool.returns, tool.throws) = (None, text(""))),
    (1, "say_nothing", |tool| tool.returns = text("")),
    (3, "book", |tool| tool.deaf = true),
    (4, "pay", |tool| tool.asks = true),
    (2, "erase", |tool| (tool.returns, tool.denies, tool.asks) = (None, text("not today"), true)),
    (1, "publish", |tool| (tool.returns, tool.denies) = (None, text("not allowed"))),
    (1, "book_and_fail", |tool| (tool.returns, tool.fails, tool.deaf) = (None, text("no seat"), true)),
    (1, "ship", |tool| (tool.deaf, tool.asks) = (true, true)),
    (2, "wait", |tool| tool.hangs = true),
    (2, "wait_deaf", |tool| (tool.hangs, tool.deaf) = (true, true)),
    (1, "submit", |tool| tool.ends = true),
    (1, "pick", |tool| tool.client = true),
    (2, "transfer", |tool| (tool.returns, tool.hands_over) = (None, true)),
    (2, "unknown", |tool| (tool.returns, tool.missing) = (None, true)),
];

fn text(said: &str) -> Option<String> {
    Some(said.to_owned())
}

/// The name in the file for tools that the model calls by an invalid name.
const MISNAMED: &str = "misnamed";

/// Names that the model invents for tools that do not exist.
const BAD_NAMES: [&str; 3] = ["look up!", "functions.lookup<|channel|>json", ""];

/// Malformed texts of arguments.
pub(crate) const ODD_RAW: [&str; 9] = [
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

/// Ids that are not the provider's own.
pub(crate) const ODD_IDS: [&str; 4] = ["", "call_1", "functions.lookup:0", "tool use#1|fc_2"];

/// Every tool of the palette with its name in the file, including those with invalid names.
pub(crate) fn tools() -> impl Iterator<Item = (String, Tool)> {
    let plain = PALETTE.iter().map(|kind| (kind.1.to_owned(), of_kind(kind)));
    let missing = PALETTE.iter().map(of_kind).filter(|tool| tool.missing);
    let misnamed = missing.flat_map(|tool| BAD_NAMES.map(|name| Tool { called: text(name), ..tool.clone() }));
    plain.chain(misnamed.map(|tool| (MISNAMED.to_owned(), tool)))
}

fn of_kind((_, _, change): &Kind) -> Tool {
    let mut tool = Tool::returning("found {key}");
    change(&mut tool);
    tool
}

/// The tool of this kind, with its name in the file.
fn tool(kind: &Kind, source: &mut Source<'_>) -> (String, Tool) {
    let mut tool = of_kind(kind);
    if tool.missing && source.one_in(2) {
        tool.called = source.pick(&BAD_NAMES).and_then(|name| text(name));
    }
    let name = if tool.called.is_some() { MISNAMED } else { kind.1 };
    (name.to_owned(), tool)
}

/// Draws a new call, and adds its tool to the scenario's tools.
pub(super) fn draw(
    source: &mut Source<'_>,
    names: &mut Names,
    tools: &mut BTreeMap<String, Tool>,
    manner: Manner,
) -> Call {
    let fits = |kind: &&Kind| manner == Manner::Stopped || !of_kind(kind).hangs;
    let kinds: Vec<(usize, &Kind)> = PALETTE.iter().filter(fits).map(|kind| (kind.0, kind)).collect();
    let kind = source.weigh(&kinds).copied().unwrap_or(&PLAIN);
    let (tool_name, drawn) = tool(kind, source);
    let (asks, ends) = (drawn.asks, drawn.ends);
    // The first tool with a name stays, because it must not change for the earlier calls.
    tools.entry(tool_name.clone()).or_insert(drawn);
    let earlier = names.last_known().cloned();
    let name = names.next();
    if asks {
        names.keep_to_itself(&name);
    }
    let mut call =
        Call { args: BTreeMap::from([("key".to_owned(), key(source, &name))]), ..Call::new(name, tool_name) };
    if source.one_in(4) {
        call.deltas = *source.pick(&[1, 2, 5, 16]).unwrap_or(&1);
    }
    // Some dialects cannot express these defects; the scenario is then not played.
    if source.one_in(16) && !ends {
        call.raw = source.pick(&ODD_RAW).map(|raw| (*raw).to_owned());
        call.args.clear();
    } else if source.one_in(12) {
        call.args.insert("n".to_owned(), Value::from(source.below(3)));
    }
    if source.one_in(16) && !asks {
        call.id = Some(foreign_id(source, earlier));
    }
    call
}

/// The argument of a call: its own name, or a text that some agents find too long.
fn key(source: &mut Source<'_>, name: &str) -> Value {
    match source.below(12) {
        11 => Value::from(format!("{name}: {}", "a long list of orders, ".repeat(20))),
        10 => Value::from("Ünï\u{2028}\"\\\n"),
        _ => Value::from(name),
    }
}

/// An id that is not the call's own.
pub(super) fn foreign_id(source: &mut Source<'_>, earlier: Option<String>) -> CallId {
    match (source.below(3), earlier) {
        (0, Some(name)) => CallId::Same(name),
        (1, _) => CallId::Missing,
        _ => CallId::Text(source.pick(&ODD_IDS).map(|id| (*id).to_owned()).unwrap_or_default()),
    }
}

/// The name of a tool that only returns.
pub(super) fn plain(tools: &mut BTreeMap<String, Tool>) -> String {
    let (name, tool) = tool(&PLAIN, &mut Source::of_bytes(&[]));
    tools.entry(name.clone()).or_insert(tool);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The fields that no tool of the palette sets, and why.
    const NOT_DRAWN: [(&str, &str); 3] = [
        ("agent", "a sub-agent needs replies of its own"),
        ("bytes", "a long result only makes a plan slower"),
        ("called", "drawn beside the palette, for a missing tool"),
    ];

    /// Each field of a tool, and true if the tool sets it.
    fn fields(tool: Tool) -> [(&'static str, bool); 14] {
        // Every field is named here, so that a new one has to be drawn, or listed above.
        let Tool {
            returns,
            fails,
            throws,
            denies,
            deaf,
            asks,
            missing,
            called,
            hangs,
            ends,
            hands_over,
            bytes,
            agent,
            client,
        } = tool;
        [
            ("returns", returns.is_some()),
            ("fails", fails.is_some()),
            ("throws", throws.is_some()),
            ("denies", denies.is_some()),
            ("deaf", deaf),
            ("asks", asks),
            ("missing", missing),
            ("called", called.is_some()),
            ("hangs", hangs),
            ("ends", ends),
            ("hands_over", hands_over),
            ("bytes", bytes.is_some()),
            ("agent", agent),
            ("client", client),
        ]
    }

    #[test]
    fn each_field_of_a_tool_is_drawn_or_listed_with_a_reason() {
        let every: BTreeSet<&str> = fields(Tool::default()).into_iter().map(|(name, _)| name).collect();
        let drawn = PALETTE.iter().flat_map(|kind| fields(of_kind(kind)));
        let drawn: BTreeSet<&str> = drawn.filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
        let listed: BTreeSet<&str> = NOT_DRAWN.iter().map(|(name, _)| *name).collect();
        assert!(drawn.is_disjoint(&listed));
        assert_eq!(&drawn | &listed, every);
    }
}
