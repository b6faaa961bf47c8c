//! `brickbat-bench rules`: the cost of the rules for each dialect, compared with reading the same bytes
//! with serde_json.
//!
//! The floors are `serde_json::from_slice` into `IgnoredAny`, which only finds where values end, and into
//! `Value`. The histories come from the reference agent and are repeated with other ids: long ones with
//! texts of 19 kB, dense ones with hardly any text, and a page of JSON lines with small ones.

use std::hint::black_box;
use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::simulate::simulate;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::{Profile, validate};
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::Event;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::figures::Wish;
use crate::measure::{Effort, Row, Table};

/// Bytes in a history, in a line, and in a page of lines.
const HISTORY: usize = 10_000_000;
const LINE: usize = 4_600;
const PAGE: usize = 2_000_000;

/// Two batches of calls, and the texts that make a history long or dense.
fn scenario(words: &str) -> String {
    format!(
        "schema: 1\ncomment: A history to measure.\nclass: [control]\n\
         tools:\n  look: {{ returns: \"{words}\" }}\n\
         turns:\n\
         \x20 - user: \"{words}\"\n\
         \x20   replies:\n\
         \x20     - - text: \"{words}\"\n\
         \x20       - call: {{ as: a, tool: look }}\n\
         \x20       - call: {{ as: b, tool: look }}\n\
         \x20     - - text: \"{words}\"\n"
    )
}

/// One exchange of a dialect, which can be repeated.
struct Unit {
    /// The body with an empty list of messages.
    around: Value,
    list: String,
    /// All messages but the last, as JSON without brackets.
    exchange: String,
    last: String,
    ids: Vec<String>,
}

impl Unit {
    fn of(dialect: Dialect, words: &str) -> Unit {
        let plans = lower::plans("bench", "bench", &scenario(words), &[dialect], 0).unwrap();
        let plan: &Plan = &plans[0];
        let agent = Agent::of_plan(plan, Delivery::Whole, None);
        let run = simulate(&Arc::new(plan.clone()), Profile::newest(dialect), agent, None);
        let mut bodies = run.trace.events().iter().filter_map(|event| match event {
            Event::Requested { body, .. } => Some(body),
            _ => None,
        });
        let mut around: Value = serde_json::from_slice(bodies.next_back().unwrap()).unwrap();
        let fields = around.as_object_mut().unwrap();
        let lists = fields.iter_mut().filter(|(name, value)| *name != "tools" && value.is_array());
        let (list, messages) = lists.max_by_key(|(_, value)| value.as_array().unwrap().len()).unwrap();
        let body_items = std::mem::take(messages.as_array_mut().unwrap());
        let mut texts: Vec<String> = body_items.iter().map(Value::to_string).collect();
        let (list, last) = (list.clone(), texts.pop().unwrap());
        let of_items = body_items.iter().filter_map(|item| item["id"].as_str()).map(str::to_owned);
        let ids = plan.calls.iter().map(|call| call.id.clone()).chain(of_items).collect();
        Unit { around, list, exchange: texts.join(","), last, ids }
    }

    /// Builds a history of about `n_bytes`.
    fn repeated(&self, n_bytes: usize) -> Vec<u8> {
        let mut messages = String::new();
        let mut n = 0;
        while n == 0 || messages.len() + self.exchange.len() < n_bytes {
            let mut exchange = self.exchange.clone();
            for id in &self.ids {
                // Replaces only the end of an id, so that it keeps its format and length.
                let digits = format!("{n:07}");
                let kept = id.len().saturating_sub(digits.len() + 1);
                let other = format!("{}{}{digits}", &id[..kept], &id[id.len() - 1..]);
                exchange = exchange.replace(id.as_str(), &other[other.len() - id.len().min(other.len())..]);
            }
            messages += &exchange;
            messages.push(',');
            n += 1;
        }
        messages += &self.last;
        let empty = format!("\"{}\":[]", self.list);
        let full = format!("\"{}\":[{messages}]", self.list);
        self.around.to_string().replacen(&empty, &full, 1).into_bytes()
    }
}

/// Measures some bodies and compares them with the floors.
fn compare(effort: Effort, wish: &mut Wish, dialect: Dialect, what: &str, bodies: &[Vec<u8>]) {
    let profile = Profile::newest(dialect);
    for body in bodies {
        assert_eq!(validate(profile, body), [], "{dialect} {what}");
    }
    let each = |work: &dyn Fn(&[u8])| bodies.iter().for_each(|body| work(body));
    let ignore = |body: &[u8]| {
        black_box(serde_json::from_slice::<IgnoredAny>(body).unwrap());
    };
    let floors = [
        Row { name: "read into `IgnoredAny`", work: &|| each(&ignore) },
        Row {
            name: "read into `Value`",
            work: &|| each(&|body| drop(black_box(serde_json::from_slice::<Value>(body).unwrap()))),
        },
    ];
    let rows = [Row { name: "validate", work: &|| each(&|body| drop(black_box(validate(profile, body)))) }];
    let of = format!("{dialect}, {what}");
    Table { of: &of, unit: "histories/s", n_units: bodies.len(), floors: &floors, rows: &rows }
        .measure(effort, wish);
}

pub fn measure(effort: Effort, wish: &mut Wish) {
    let paragraph = "The quick brown fox jumps over the lazy dog and looks for its tools. ".repeat(280);
    for dialect in Dialect::ALL {
        let (dense, long) = (Unit::of(dialect, "hi"), Unit::of(dialect, paragraph.trim_end()));
        compare(effort, wish, dialect, "dense 10 MB", &[dense.repeated(HISTORY)]);
        compare(effort, wish, dialect, "long strings, 10 MB", &[long.repeated(HISTORY)]);
        let line = dense.repeated(LINE);
        let lines: Vec<Vec<u8>> = std::iter::repeat_n(line, PAGE / LINE).collect();
        compare(effort, wish, dialect, "lines of 4.6 kB", &lines);
    }
}

/// Returns work that judges a dense history of a dialect once.
pub fn dense(dialect: Dialect) -> impl Fn() {
    let body = Unit::of(dialect, "hi").repeated(HISTORY);
    move || drop(black_box(validate(Profile::newest(dialect), &body)))
}
