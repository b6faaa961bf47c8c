//! What the rules cost for each dialect, compared with reading the same bytes with serde_json.
//!
//! `cargo bench --bench rules` prints criterion's figures, and after each group the medians with their ratios. The
//! floors are `serde_json::from_slice` into `IgnoredAny`, which only looks where values end, and into `Value`.
//! The histories are those that the reference agent sends, repeated with other ids: long ones with texts of 19 kB,
//! dense ones with hardly any text, and a page of JSON lines with small ones.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

mod figures;

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use brickbat::agent::{Agent, Delivery};
use brickbat::dialect::Dialect;
use brickbat::lower;
use brickbat::plan::Plan;
use brickbat::rules::{Profile, validate};
use brickbat::simulate::simulate;
use brickbat::trace::Event;
use criterion::{Criterion, Throughput};
use figures::Wish;
use rustix::time::{ClockId, clock_gettime};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Bytes of a history, of a line, and of a page of lines.
const HISTORY: usize = 10_000_000;
const LINE: usize = 4_600;
const PAGE: usize = 2_000_000;

/// Two batches of calls, and the words with which a history is made long or dense.
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
    /// The messages but the last, as JSON without brackets.
    exchange: String,
    /// The last message.
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

    /// A history of about so many bytes.
    fn repeated(&self, n_bytes: usize) -> Vec<u8> {
        let mut messages = String::new();
        let mut n = 0;
        while n == 0 || messages.len() + self.exchange.len() < n_bytes {
            let mut exchange = self.exchange.clone();
            for id in &self.ids {
                // The end of an id is replaced, so that it keeps its form and its length.
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

/// The median seconds of each row of a group.
#[derive(Default)]
struct Medians(RefCell<Vec<(String, f64)>>);

impl Medians {
    fn measure(&self, criterion: &mut Criterion, group: &str, name: &str, n_bytes: usize, work: impl Fn()) {
        let samples = RefCell::new(Vec::new());
        let mut group = criterion.benchmark_group(group);
        group.throughput(Throughput::Bytes(n_bytes as u64)).sample_size(15);
        group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|n| {
                let start = cpu_time();
                (0..n).for_each(|_| work());
                let spent = cpu_time() - start;
                samples.borrow_mut().push(spent.as_secs_f64() / n as f64);
                spent
            });
        });
        group.finish();
        let mut samples = samples.into_inner();
        if !samples.is_empty() {
            samples.sort_by(f64::total_cmp);
            self.0.borrow_mut().push((name.to_owned(), samples[samples.len() / 2]));
        }
    }

    fn of(&self, name: &str) -> Option<f64> {
        self.0.borrow().iter().find(|(own, _)| own == name).map(|(_, seconds)| *seconds)
    }

    fn print(&self, group: &str, n_bytes: usize, n_histories: usize, wish: &mut Wish) {
        let rows = (self.of("validate"), self.of("IgnoredAny"), self.of("Value"));
        if let (Some(own), Some(ignored), Some(value)) = rows {
            println!(
                "{group}: {:.0} MB/s, {:.0} histories/s, {:.2} × IgnoredAny, {:.2} × Value\n",
                n_bytes as f64 / own / 1e6,
                n_histories as f64 / own,
                own / ignored,
                own / value,
            );
            let rate = (n_histories as f64 / own, "histories/s");
            let floors = [("read into `IgnoredAny`", own / ignored), ("read into `Value`", own / value)];
            wish.take(format!("{group}: validate"), rate, &floors);
        }
    }
}

/// CPU time of this thread, which a busy machine does not lengthen.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

/// Measures some bodies, and how they compare.
fn compare(criterion: &mut Criterion, wish: &mut Wish, dialect: Dialect, what: &str, bodies: &[Vec<u8>]) {
    let profile = Profile::newest(dialect);
    for body in bodies {
        assert_eq!(validate(profile, body), [], "{dialect} {what}");
    }
    let group = format!("{dialect}, {what}");
    let n_bytes = bodies.iter().map(Vec::len).sum();
    let medians = Medians::default();
    let each = |work: &dyn Fn(&[u8])| bodies.iter().for_each(|body| work(body));
    medians.measure(criterion, &group, "IgnoredAny", n_bytes, || {
        each(&|body| {
            black_box(serde_json::from_slice::<IgnoredAny>(body).unwrap());
        });
    });
    medians.measure(criterion, &group, "validate", n_bytes, || {
        each(&|body| drop(black_box(validate(profile, body))));
    });
    medians.measure(criterion, &group, "Value", n_bytes, || {
        each(&|body| drop(black_box(serde_json::from_slice::<Value>(body).unwrap())));
    });
    medians.print(&group, n_bytes, bodies.len(), wish);
}

fn main() {
    let mut criterion = Criterion::default();
    let mut wish = Wish::of_args("rules");
    let paragraph = "The quick brown fox jumps over the lazy dog and looks for its tools. ".repeat(280);
    for dialect in Dialect::ALL {
        let (dense, long) = (Unit::of(dialect, "hi"), Unit::of(dialect, paragraph.trim_end()));
        compare(&mut criterion, &mut wish, dialect, "dense 10 MB", &[dense.repeated(HISTORY)]);
        compare(&mut criterion, &mut wish, dialect, "long strings, 10 MB", &[long.repeated(HISTORY)]);
        let line = dense.repeated(LINE);
        let lines: Vec<Vec<u8>> = std::iter::repeat_n(line, PAGE / LINE).collect();
        compare(&mut criterion, &mut wish, dialect, "lines of 4.6 kB", &lines);
    }
    criterion.final_summary();
    wish.close();
}
