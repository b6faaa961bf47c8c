//! The messages that the author of a scenario gets. Every message here has been reviewed: it names the
//! mistake in the terms of the file, points at the place, and says what to do if that is not obvious.

mod given;
mod sub_agents;

use brickbat_rules::colour::Colour;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower::plans;
use brickbat_scenario::parse::MAX_TEXT;

/// A valid scenario; the mistakes are made by changing one piece of it.
const GOOD: &str = r#"schema: 1
comment: The user stops the turn.
class: [abort-batch]
evidence: [twentyhq/twenty#21276]
vary: { k: [0, 1, 2, 3] }
tools:
  lookup: { returns: "found {key}" }
turns:
  - user: Look up the three orders.
    replies:
      - - text: Let me look these up.
        - call: { as: a, tool: lookup, args: { key: a } }
        - call: { as: b, tool: lookup, args: { key: b } }
        - call: { as: c, tool: lookup, args: { key: c } }
      - [{ text: Found. }]
    settle: [b, a, c]
    at:
      - { after: { settled: $k }, do: abort }
  - user: What happened?
    replies: [[{ text: Some of them were found. }]]
"#;

fn mistake(text: &str) -> String {
    match plans("x", "broken.yaml", text, &Dialect::ALL, 7) {
        Err(diagnostic) => diagnostic.to_string(),
        Ok(plans) => panic!("{} plans of a broken scenario:\n{text}", plans.len()),
    }
}

/// The valid scenario with one piece replaced.
fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    mistake(&GOOD.replacen(from, to, 1))
}

/// The valid scenario with other actions.
fn at(actions: &str) -> String {
    mistake(&plain(actions))
}

fn plain(actions: &str) -> String {
    GOOD.replace("{ after: { settled: $k }, do: abort }", actions).replace("vary: { k: [0, 1, 2, 3] }\n", "")
}

/// Mistakes of one kind in one snapshot, each under its name.
fn snapshot(name: &str, mistakes: &[(&str, String)]) {
    let shown: Vec<String> = mistakes.iter().map(|(what, shown)| format!("# {what}\n{shown}\n")).collect();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, shown.join("\n"));
    });
}

#[test]
fn the_good_scenario_is_good() {
    assert!(plans("x", "good.yaml", GOOD, &Dialect::ALL, 7).is_ok());
    assert!(plans("x", "good.yaml", &plain("{ after: calls, do: abort }"), &Dialect::ALL, 7).is_ok());
}

#[test]
fn yaml() {
    let laughs = "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
                  c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n\
                  e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n";
    snapshot(
        "yaml",
        &[
            ("empty file", mistake("")),
            ("not a map", mistake("just a text")),
            ("open bracket", with("[b, a, c]", "[b, a, c")),
            ("tab", with("  lookup:", "\tlookup:")),
            ("bad indentation", with("    settle: [b, a, c]", "   settle: [b, a, c]")),
            ("key twice", with("comment:", "schema: 2\ncomment:")),
            ("two documents", mistake(&format!("{GOOD}---\n{GOOD}"))),
            ("unknown alias", with("[b, a, c]", "*order")),
            ("merge key", with("schema: 1", "schema: 1\n<<: { a: 1 }")),
            ("tag", with("comment: The", "comment: !secret The")),
            ("billion laughs", mistake(laughs)),
            ("not a number", with("schema: 1", "schema: .nan")),
            ("behind other alphabets", with("What happened?", "\"🔑🔑\"\n    setle: [x]")),
            ("too deep", mistake(&format!("a: {}{}", "[".repeat(40), "]".repeat(40)))),
            ("too many values", mistake(&format!("a: [{}]", "1, ".repeat(30_000)))),
            ("too long", mistake(&"# a comment\n".repeat(MAX_TEXT / 8))),
        ],
    );
}

#[test]
fn keys_and_types() {
    snapshot(
        "keys_and_types",
        &[
            ("unknown key", with("    settle:", "    setle:")),
            ("unknown key far off", with("    settle:", "    zebra:")),
            ("unknown key of a call", with("args: { key: b }", "arguments: { key: b }")),
            ("unknown key of a long reply", with("- [{ text: Found. }]", "- { block: [{ text: Found. }] }")),
            ("blocks and attempts", with("- [{ text: Found. }]", "- { blocks: [], attempts: [] }")),
            ("missing key", with("schema: 1\n", "")),
            ("missing key of a turn", with("  - user: What happened?\n    replies", "  - replies")),
            ("unknown action", with("do: abort", "do: abrot")),
            ("unknown point", with("after: { settled: $k }", "afer: { settled: $k }")),
            ("unknown point word", at("{ after: stpo, do: abort }")),
            ("text for a number", at("{ after: { text: one }, do: abort }")),
            ("negative count", with("[0, 1, 2, 3]", "[-1]")),
            ("text for a list", with("class: [abort-batch]", "class: abort-batch")),
            ("list for a text", with("user: What happened?", "user: [What, happened]")),
            ("map for a reply", with("- [{ text: Found. }]", "- Found.")),
            (
                "two keys in a block",
                with("- text: Let me look these up.\n        - call", "- text: x\n          call"),
            ),
            ("number for a class", with("class: [abort-batch]", "class: [1]")),
            ("unknown times", mistake(&format!("{GOOD}expect: {{ executed: {{ a: twice }} }}\n"))),
        ],
    );
}

#[test]
fn variants() {
    let axis = |values: &str| with("{ k: [0, 1, 2, 3] }", values);
    let many = (0..70).map(|k| k.to_string()).collect::<Vec<_>>().join(", ");
    snapshot(
        "variants",
        &[
            ("unknown placeholder", with("$k", "$kk")),
            ("no vary", with("vary: { k: [0, 1, 2, 3] }\n", "")),
            ("unused name", axis("{ k: [0], n: [1] }")),
            ("no values", axis("{ k: [] }")),
            ("one value", axis("{ k: 1 }")),
            ("a list", axis("[1, 2]")),
            ("bad name", axis("{ K: [1] }")),
            ("too many values", axis(&format!("{{ k: [{many}] }}"))),
            (
                "too many variants",
                axis("{ k: [1,2,3,4,5,6,7,8,9], a: [1,2,3,4,5,6,7,8], b: [1,2,3,4,5,6,7,8] }"),
            ),
            ("same name twice", axis("{ k: [a b, a-b] }")),
            ("placeholder in a value", axis("{ k: [0, $j], j: [1] }")),
            ("placeholder as a key", with("{ settled: $k }", "{ $k: 1 }")),
            ("wrong in one variant", axis("{ k: [0, 4] }")),
            ("wrong type in one variant", axis("{ k: [0, [1]] }")),
        ],
    );
}

#[test]
fn header_and_bounds() {
    let turn = "  - user: Again.\n    replies: [[{ text: Yes. }]]\n";
    snapshot(
        "header_and_bounds",
        &[
            ("schema 2", with("schema: 1", "schema: 2")),
            ("empty comment", with("The user stops the turn.", "' '")),
            ("class in words", with("[abort-batch]", "[Abort batch]")),
            ("evidence", with("twentyhq/twenty#21276", "twenty 21276")),
            ("a model alone", with("schema: 1", "schema: 1\nmodel: us.amazon.nova-pro-v1:0")),
            ("no turns", mistake("schema: 1\ncomment: x\nclass: [x]\nturns: []\n")),
            ("too many turns", mistake(&format!("{GOOD}{}", turn.repeat(20)))),
            ("silent user", with("What happened?", "''")),
            ("no replies", with("[[{ text: Some of them were found. }]]", "[]")),
            ("empty reply", with("[[{ text: Some of them were found. }]]", "[[]]")),
            ("too many deltas", with("args: { key: b }", "args: { key: b }, deltas: 17")),
            ("no deltas", with("args: { key: b }", "args: { key: b }, deltas: 0")),
            ("long text", with("text: Found.", &format!("text: {}", "x".repeat(3000) + &" x".repeat(9000)))),
            (
                "interleaved alone",
                with("- [{ text: Found. }]", "- { blocks: [{ text: Found. }], interleave: true }"),
            ),
        ],
    );
}

#[test]
fn tools_and_calls() {
    let tool = |tool: &str| with(r#"{ returns: "found {key}" }"#, tool);
    snapshot(
        "tools_and_calls",
        &[
            ("unknown tool", with("as: b, tool: lookup", "as: b, tool: lokup")),
            ("two ends", tool("{ returns: x, throws: y }")),
            ("no end", tool("{ deaf: true }")),
            ("tool name", with("  lookup:", "  look up:")),
            ("missing argument", tool(r#"{ returns: "found {order}" }"#)),
            ("reserved argument", with("{ key: b }", "{ key: b, ref: x }")),
            ("list argument", with("{ key: b }", "{ key: [b] }")),
            ("argument of another type", with("{ key: b }", "{ key: 1 }")),
            ("call named twice", with("as: b", "as: a")),
            ("call name", with("as: b", "as: 1b")),
            ("executed", mistake(&format!("{GOOD}expect: {{ executed: {{ d: once }} }}\n"))),
        ],
    );
}

#[test]
fn malformed_replies() {
    let call = |keys: &str| with("{ as: b, tool: lookup, args: { key: b } }", keys);
    let tool = |tool: &str| {
        let tools = format!("  search: {tool}\n  lookup:");
        mistake(&GOOD.replacen("  lookup:", &tools, 1).replacen(
            "as: b, tool: lookup",
            "as: b, tool: search",
            1,
        ))
    };
    let reply = |keys: &str| {
        let short = "      - - text: Let me look these up.\n        - call: { as: a, tool: lookup, args: { key: a } }\n";
        let long = format!(
            "      - {keys}\n        blocks:\n        - text: Let me look these up.\n        - call: {{ as: a, tool: lookup, args: {{ key: a }} }}\n"
        );
        with(short, &long)
    };
    snapshot(
        "slips",
        &[
            ("raw and args", call(r#"{ as: b, tool: lookup, args: { key: b }, raw: "{}" }"#)),
            ("id of no earlier call", call("{ as: b, tool: lookup, args: { key: b }, id: { same: c } }")),
            ("missing tool that ends", tool("{ missing: true, returns: x }")),
            ("missing tool that asks", tool("{ missing: true, asks: true }")),
            ("called but not missing", tool(r#"{ returns: x, called: "ls -la" }"#)),
            ("called as a tool that is there", tool("{ missing: true, called: lookup }")),
            ("numbers and interleaving", reply("indices: missing\n        interleave: true")),
            (
                "numbers and one id for two calls",
                with(
                    "      - - text: Let me look these up.\n        - call: { as: a, tool: lookup, args: { key: a } }\n        - call: { as: b, tool: lookup, args: { key: b } }\n",
                    "      - indices: missing\n        blocks:\n        - call: { as: a, tool: lookup, args: { key: a }, id: { text: call_1 } }\n        - call: { as: b, tool: lookup, args: { key: b }, id: { text: call_1 } }\n",
                ),
            ),
            ("stop", reply("stop: soon")),
            (
                "a call that never starts",
                mistake(&plain("{ after: { started: b }, do: abort }").replacen(
                    "{ as: b, tool: lookup, args: { key: b } }",
                    r#"{ as: b, tool: lookup, raw: "[]" }"#,
                    1,
                )),
            ),
        ],
    );
}

#[test]
fn points() {
    snapshot(
        "points",
        &[
            ("before and after", at("{ before: stop, after: stop, do: abort }")),
            ("nowhere", at("{ do: abort }")),
            ("unknown call", at("{ after: { end: d }, do: reset }")),
            ("delta too far", at("{ after: { delta: [b, 4] }, do: reset }")),
            ("text too far", at("{ after: { text: 3 }, do: reset }")),
            ("text 0", at("{ reply: 2, after: { text: 0 }, do: reset }")),
            ("reply out of range", at("{ reply: 3, after: stop, do: reset }")),
            ("attempt out of range", at("{ attempt: 2, after: stop, do: reset }")),
            ("call of another reply", at("{ reply: 2, after: { end: a }, do: reset }")),
            ("calls of a reply without", at("{ reply: 2, after: calls, do: reset }")),
            ("settled too far", at("{ after: { settled: 4 }, do: abort }")),
            ("before 0 results", at("{ before: { settled: 0 }, do: abort }")),
            ("before a start", at("{ before: { started: 1 }, do: abort }")),
            ("0 starts", at("{ after: { started: 0 }, do: abort }")),
            ("reply of a count", at("{ reply: 2, after: { settled: 1 }, do: abort }")),
            (
                "tools of a turn without",
                mistake(&format!(
                    "{}    at: [{{ after: {{ settled: 0 }}, do: abort }}]\n",
                    plain("{ after: stop, do: pause }")
                )),
            ),
            (
                "call of another turn",
                mistake(&format!(
                    "{}    at: [{{ after: {{ end: a }}, do: abort }}]\n",
                    plain("{ after: stop, do: pause }")
                )),
            ),
            ("http inside", at("{ after: { text: 1 }, do: { http: { status: 529 } } }")),
            ("http status", at("{ before: headers, do: { http: { status: 200 } } }")),
            ("http times", at("{ before: headers, do: { http: { status: 529, times: 21 } } }")),
            ("http wait", at("{ before: headers, do: { http: { status: 529, retry-after-ms: 60000 } } }")),
            ("error event before the stream", at("{ before: headers, do: { error: overloaded } }")),
            ("early end before the body", at("{ before: headers, do: end-early }")),
            ("early end at the end", at("{ after: reply, do: end-early }")),
            ("reset without a stream", at("{ after: { settled: 1 }, do: reset }")),
        ],
    );
}

#[test]
fn thinking() {
    let thinking = |from: &str, to: &str| {
        let good =
            GOOD.replace("      - - text: Let", "      - - think: Three look-ups.\n        - text: Let");
        assert!(good.contains(from), "{from}");
        mistake(&good.replacen(from, to, 1))
    };
    snapshot(
        "thinking",
        &[
            ("after the text", with("- call: { as: a,", "- think: Hm.\n        - call: { as: a,")),
            ("twice", thinking("- text: Let me look these up.", "- think: Hm.")),
            ("nothing else", with("- [{ text: Found. }]", "- [{ think: Hm. }]")),
            ("empty", thinking("Three look-ups.", "\" \"")),
            ("point too far", thinking("after: { settled: $k }", "after: { think: $k }")),
            ("point of a reply without", at("{ after: { think: 1 }, do: abort }")),
            ("point of what is not said", thinking("after: { settled: $k }", "after: { thinks: 1 }")),
        ],
    );
}

#[test]
fn questions() {
    let asking = |tool: &str, action: &str| {
        let text =
            plain(action).replace("  lookup: ", &format!("  pay: {{ asks: true, {tool} }}\n  lookup: "));
        mistake(
            &text.replace("as: b, tool: lookup", "as: b, tool: pay").replace("    settle: [b, a, c]\n", ""),
        )
    };
    let (yes, no) = ("returns: paid", "denies: no");
    snapshot(
        "questions",
        &[
            ("nobody is asked", at("{ after: { asked: b }, do: abort }")),
            ("unknown call", asking(yes, "{ after: { asked: d }, do: abort }")),
            ("before a question", asking(yes, "{ before: { asked: b }, do: abort }")),
            ("fault at a question", asking(yes, "{ after: { asked: b }, do: reset }")),
            ("settles at its own question", asking(yes, "{ after: { asked: b }, do: { settle: b } }")),
            ("start of a refused call", asking(no, "{ after: { started: b }, do: abort }")),
            ("result of a refused call", asking(no, "{ after: stop, do: { settle: b } }")),
            ("count with a refused call", asking(no, "{ after: { settled: 3 }, do: abort }")),
        ],
    );
}

#[test]
fn kills() {
    let both = |first: &str, second: &str| at(&format!("{first}\n      - {second}"));
    let free = |actions: &str| mistake(&plain(actions).replace("    settle: [b, a, c]\n", ""));
    let deaf =
        plain("{ after: { settled: 1 }, do: kill }").replace("found {key}\"", "found {key}\", deaf: true");
    let later = "    at: [{ before: headers, do: { settle: c } }]\n";
    snapshot(
        "kills",
        &[
            (
                "after a kill",
                both("{ after: { settled: 1 }, do: kill }", "{ reply: 2, after: stop, do: eof }"),
            ),
            ("two kills", both("{ after: { settled: 1 }, do: kill }", "{ after: { settled: 2 }, do: kill }")),
            ("a kill and a stop", both("{ after: stop, do: kill }", "{ after: { settled: 1 }, do: abort }")),
            (
                "result overtaken by a kill",
                free(
                    "{ after: { settled: b }, do: { settle: c } }\n      - { after: { settled: b }, do: kill }",
                ),
            ),
            ("late result of a dead tool", mistake(&format!("{deaf}{later}"))),
        ],
    );
}

#[test]
fn between_turns() {
    let quiet = plain("{ after: stop, do: pause }");
    let before = |actions: &str| mistake(&format!("{quiet}    at: [{actions}]\n"));
    let deaf = quiet.replace("found {key}\"", "found {key}\", deaf: true");
    let late = "{ before: prompt, do: kill }, { before: headers, do: { settle: c } }";
    snapshot(
        "between_turns",
        &[
            ("before the first turn", at("{ before: prompt, do: kill }")),
            ("after the prompt", before("{ after: prompt, do: kill }")),
            ("reply of a prompt", before("{ reply: 2, before: prompt, do: kill }")),
            ("a stop of no turn", before("{ before: prompt, do: abort }")),
            ("a fault of no reply", before("{ before: prompt, do: reset }")),
            ("two kills", before("{ before: prompt, do: kill }, { before: prompt, do: kill }")),
            ("late result of a dead tool", mistake(&format!("{deaf}    at: [{late}]\n"))),
        ],
    );
}

#[test]
fn changes() {
    let quiet = plain("{ after: stop, do: pause }");
    let before = |actions: &str| mistake(&format!("{quiet}    at: [{actions}]\n"));
    let late = format!("{quiet}    at: [{{ before: prompt, do: {{ trim: 1 }} }}]\n");
    let third = "  - user: And now?\n    at: [{ before: prompt, do: { rewind: 1 } }]\n    replies: [[{ text: Well. }]]\n";
    snapshot(
        "changes",
        &[
            ("nothing stays", before("{ before: prompt, do: { trim: 0 } }")),
            ("two cuts", before("{ before: prompt, do: { trim: 1 } }, { before: prompt, do: { trim: 2 } }")),
            ("a cut of a reply", at("{ after: { text: 1 }, do: { trim: 1 } }")),
            ("a rewind in a turn", at("{ after: { settled: 1 }, do: { rewind: 1 } }")),
            ("a rewind to no turn", before("{ before: prompt, do: { rewind: 0 } }")),
            ("a rewind to itself", before("{ before: prompt, do: { rewind: 2 } }")),
            ("a rewind to what was cut off", mistake(&format!("{late}{third}"))),
            ("a question in a turn", at("{ after: { settled: 1 }, do: { aside: Why? } }")),
            ("an empty question", before("{ before: prompt, do: { aside: ' ' } }")),
        ],
    );
}

#[test]
fn order() {
    let both = |first: &str, second: &str| at(&format!("{first}\n      - {second}"));
    let free = |actions: &str| mistake(&plain(actions).replace("    settle: [b, a, c]\n", ""));
    let attempts = "- attempts: [[{ text: One. }], [{ text: Two. }]]";
    snapshot(
        "order",
        &[
            ("unknown call", with("[b, a, c]", "[b, a, d]")),
            ("settled twice", with("[b, a, c]", "[b, a, b]")),
            ("two faults", both("{ after: stop, do: reset }", "{ after: stop, do: eof }")),
            ("after a reset", both("{ after: { end: a }, do: reset }", "{ after: { end: b }, do: pause }")),
            (
                "after a stop",
                both("{ after: { end: a }, do: abort }", "{ reply: 2, after: stop, do: reset }"),
            ),
            (
                "after a stop at a result",
                both("{ after: { settled: 1 }, do: abort }", "{ reply: 2, after: stop, do: eof }"),
            ),
            (
                "count after a stop",
                both("{ after: { end: a }, do: abort }", "{ after: { settled: 2 }, do: { settle: c } }"),
            ),
            (
                "start count after a stop",
                free(
                    "{ after: { end: b }, do: abort }\n      - { after: { started: 3 }, do: { settle: a } }",
                ),
            ),
            (
                "result after a stop",
                both("{ after: { settled: 1 }, do: abort }", "{ after: { settled: 2 }, do: { settle: c } }"),
            ),
            (
                "two stops",
                both("{ after: { settled: 1 }, do: abort }", "{ after: { settled: 2 }, do: abort }"),
            ),
            ("cut call", both("{ after: { end: a }, do: reset }", "{ after: { settled: b }, do: abort }")),
            ("settles unstarted", at("{ after: { start: a }, do: { settle: a } }")),
            ("settles in another reply", at("{ reply: 2, after: { text: 1 }, do: { settle: a } }")),
            ("settles before its count", at("{ after: { started: 1 }, do: { settle: c } }")),
            ("settles at itself", free("{ after: { settled: a }, do: { settle: a } }")),
            ("settles last at a count", free("{ after: { settled: 3 }, do: { settle: a } }")),
            ("settles against the order", at("{ after: { settled: c }, do: { settle: a } }")),
            (
                "settles twice by action",
                both("{ after: { end: a }, do: { settle: a } }", "{ after: stop, do: { settle: a } }"),
            ),
            ("idle attempt", with("- [{ text: Found. }]", attempts)),
            ("idle reply", with("- [{ text: Found. }]", "- [{ text: Found. }]\n      - [{ text: More. }]")),
        ],
    );
}

#[test]
fn mistakes_in_messages_and_in_the_end_of_a_turn() {
    let tool = r#"lookup: { returns: "found {key}" }"#;
    let tools =
        |tools: &str| mistake(&plain("{ after: { settled: 1 }, do: abort }").replacen(tool, tools, 1));
    let hangs = |actions: &str| {
        let hanging = r#"lookup: { returns: "found {key}", hangs: true }"#;
        mistake(&plain(actions).replacen(tool, hanging, 1).replace("    settle: [b, a, c]\n", ""))
    };
    let both = |one: &str, other: &str| at(&format!("{one}\n      - {other}"));
    snapshot(
        "endings",
        &[
            ("nothing is said", at("{ after: { settled: 1 }, do: { steer: \" \" } }")),
            ("said already", at("{ after: { settled: 1 }, do: { steer: three orders } }")),
            (
                "two prompts",
                both(
                    "{ after: { settled: 1 }, do: { prompt: One. } }",
                    "{ after: { settled: 2 }, do: { prompt: Two. } }",
                ),
            ),
            ("hook before a result", at("{ after: { started: a }, do: { inject: Note. } }")),
            ("nothing to ignore", at("{ after: { started: a }, do: ignore }")),
            ("unknown cause", at("{ after: { settled: 1 }, do: { interrupt: boredom } }")),
            (
                "two ends",
                both(
                    "{ after: { settled: 1 }, do: abort }",
                    "{ after: { settled: 2 }, do: { interrupt: tokens } }",
                ),
            ),
            ("no end to ends", tools(r#"lookup: { fails: "no {key}", ends: true }"#)),
            ("hangs and ends", tools(r#"lookup: { returns: "{key}", ends: true, hangs: true }"#)),
            ("hands over and returns", tools(r#"lookup: { returns: "{key}", hands_over: true }"#)),
            ("hands over and is deaf", tools("lookup: { hands_over: true, deaf: true }")),
            ("of the client and deaf", tools(r#"lookup: { returns: "{key}", client: true, deaf: true }"#)),
            ("reply after the end", tools(r#"lookup: { returns: "{key}", ends: true }"#)),
            ("hangs for ever", hangs("{ after: { started: a }, do: { steer: Hm. } }")),
            ("waits for what hangs", hangs("{ after: { settled: 1 }, do: abort }")),
            ("limit that is not reached", with("turns:\n", "limits: { steps: 2 }\nturns:\n")),
            ("no steps", with("turns:\n", "limits: { steps: 0 }\nturns:\n")),
            (
                "behind the limit",
                mistake(&plain("{ reply: 2, after: { text: 1 }, do: pause }").replacen(
                    "turns:\n",
                    "limits: { steps: 1 }\nturns:\n",
                    1,
                )),
            ),
        ],
    );
}

#[test]
fn colours_are_only_colours() {
    let error = plans("x", "broken.yaml", "schema: [", &Dialect::ALL, 7).unwrap_err();
    let plain: String = error.render(Colour::Plain);
    let coloured = error.render(Colour::Ansi);
    assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
}

#[test]
fn stores_and_processes() {
    let second = "  - user: What happened?\n";
    snapshot(
        "stores_and_processes",
        &[
            ("more than the turn saves", at("{ after: { saved: 9 }, do: kill }")),
            ("before anything is saved", at("{ before: { saved: 1 }, do: kill }")),
            ("not a kill", at("{ after: { saved: 2 }, do: abort }")),
            ("fails after the write", at("{ after: { saved: 2 }, do: fail }")),
            ("fails without a write", at("{ before: headers, do: { fail: half } }")),
            ("an unknown failure", at("{ before: { saved: 2 }, do: { fail: twice } }")),
            ("beside a reply", at("{ after: { saved: 2 }, reply: 2, do: kill }")),
            ("no such process", with(second, &format!("{second}    process: 3\n"))),
            (
                "the first turn",
                with(
                    "    replies:\n      - - text: Let",
                    "    process: 2\n    replies:\n      - - text: Let",
                ),
            ),
            (
                "a kill besides",
                mistake(
                    &plain("{ after: calls, do: kill }")
                        .replace(second, &format!("{second}    process: 2\n")),
                ),
            ),
        ],
    );
}
