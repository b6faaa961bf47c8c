//! CPU time of whole plans in process: simulate one on the reference agent, and judge its run.
//!
//! `cargo bench --bench plans` prints a table; with `-- --quick` it takes less time and its figures are rougher.
//! Each row is compared with a floor of the same round: reading the request bodies of those plans once, with
//! `serde_json::from_slice::<Value>`. A busy machine slows both alike, so the ratio is what to compare.
//! `-- --figures FILE` and `-- --against FILE` are described in `figures.rs`.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

mod figures;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use brickbat::agent::{Agent, Delivery};
use brickbat::checks::Concurrency;
use brickbat::dialect::Dialect;
use brickbat::lower;
use brickbat::parse::{Variant, parse};
use brickbat::plan::Plan;
use brickbat::rules::{Profile, validate};
use brickbat::run::Run;
use brickbat::simulate::{assess, play};
use brickbat::trace::Event;
use brickbat::verdict::{Judgement, Verdict};
use figures::Wish;
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

/// How much is measured.
#[derive(Clone, Copy)]
struct Effort {
    n_rounds: usize,
    /// CPU time of one measurement in one round.
    spell: Duration,
}

const FULL: Effort = Effort { n_rounds: 11, spell: Duration::from_millis(100) };

const QUICK: Effort = Effort { n_rounds: 5, spell: Duration::from_millis(10) };

/// A scenario file.
struct File {
    id: String,
    text: String,
    variants: Vec<Variant>,
}

impl File {
    fn read(path: &Path, id: String) -> File {
        let text = std::fs::read_to_string(path).unwrap();
        let mut variants = parse(&id, &text).unwrap();
        let folder = path.parent().unwrap();
        let beside = |file: &str| std::fs::read_to_string(folder.join(file));
        variants.iter_mut().for_each(|variant| lower::fetch(&id, variant, &beside).unwrap());
        File { id, text, variants }
    }

    fn lower(&self) -> impl Iterator<Item = Plan> {
        self.variants.iter().flat_map(|variant| {
            let lower = |dialect| lower::lower(&self.id, &variant.name, &variant.scenario, dialect, 0);
            Dialect::ALL.into_iter().map(move |dialect| lower(dialect).unwrap())
        })
    }
}

/// Every file of the built-in suite, in order.
fn built_in() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let folders = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    // What levels require is no scenario.
    let has_scenarios = |path: &std::path::PathBuf| path.is_dir() && !path.ends_with("requirements");
    let files = folders.filter(has_scenarios).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let is_scenario = |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending == "yaml");
    let mut paths: Vec<_> = files.map(|entry| entry.unwrap().path()).filter(is_scenario).collect();
    paths.sort();
    let id = |path: &Path| path.strip_prefix(&root).unwrap().with_extension("").display().to_string();
    paths.iter().map(|path| File::read(path, id(path))).collect()
}

/// A plan with what its control plan has shown.
struct Prepared {
    plan: Arc<Plan>,
    concurrency: Concurrency,
}

impl Prepared {
    fn of(plan: Plan) -> Prepared {
        let control = Arc::new(lower::control(&plan));
        let concurrency = Concurrency::of(&control, &play(&control, agent(&control), None).trace);
        Prepared { plan: Arc::new(plan), concurrency }
    }

    fn run(&self) -> Run {
        play(&self.plan, agent(&self.plan), Some(&self.concurrency))
    }

    fn judge(&self, run: &Run) -> Judgement {
        assess(&self.plan, run, Some(&self.concurrency))
    }
}

fn agent(plan: &Plan) -> Agent {
    Agent::of_plan(plan, Delivery::Streamed, None)
}

/// Plans that are measured together, from their files to their requests.
struct Set {
    name: &'static str,
    files: Vec<File>,
    plans: Vec<Prepared>,
    bodies: Vec<Arc<[u8]>>,
}

impl Set {
    fn of(name: &'static str, files: Vec<File>) -> Set {
        let possible = files.iter().flat_map(File::lower).filter(|plan| plan.impossible.is_none());
        let plans: Vec<Prepared> = possible.map(Prepared::of).collect();
        let mut bodies = Vec::new();
        for plan in &plans {
            let run = plan.run();
            let judgement = plan.judge(&run);
            assert_eq!(judgement.verdict, Verdict::Pass, "{}: {judgement:#?}", plan.plan.id);
            bodies.extend(run.trace.events().iter().filter_map(|event| match event {
                Event::Requested { body, .. } => Some(Arc::clone(body)),
                _ => None,
            }));
        }
        Set { name, files, plans, bodies }
    }

    fn floor(&self) {
        for body in &self.bodies {
            black_box(serde_json::from_slice::<Value>(body).unwrap());
        }
    }

    fn simulate(&self) {
        self.plans.iter().for_each(|plan| drop(black_box(plan.run())));
    }

    fn simulate_and_judge(&self) {
        self.plans.iter().for_each(|plan| drop(black_box(plan.judge(&plan.run()))));
    }

    fn lower_too(&self) {
        let shown = self.plans.iter().map(|plan| plan.concurrency);
        for (plan, concurrency) in self.files.iter().flat_map(File::lower).zip(shown) {
            let plan = Prepared { plan: Arc::new(plan), concurrency };
            black_box(plan.judge(&plan.run()));
        }
    }

    fn parse(&self) {
        self.files.iter().for_each(|file| drop(black_box(parse(&file.id, &file.text).unwrap())));
    }

    fn measure(&self, effort: Effort, wish: &mut Wish) {
        let kib = self.bodies.iter().map(|body| body.len()).sum::<usize>() as f64 / 1024.0;
        println!("{}: {} plans, {} requests, {kib:.0} KiB", self.name, self.plans.len(), self.bodies.len());
        let rows = [
            Row { name: "simulate and judge", work: &|| self.simulate_and_judge() },
            Row { name: "simulate alone", work: &|| self.simulate() },
            Row { name: "lower, simulate and judge", work: &|| self.lower_too() },
            Row { name: "parse the files alone", work: &|| self.parse() },
        ];
        let floor = Row { name: "their requests read into `Value`", work: &|| self.floor() };
        Table { of: self.name, unit: "plans/s", n_units: self.plans.len(), floor, rows: &rows }
            .measure(effort, wish);
    }
}

/// The rules on one typical request of each dialect: the longest of the set.
fn measure_rules(set: &Set, effort: Effort, wish: &mut Wish) {
    for dialect in Dialect::ALL {
        let bodies = set.plans.iter().filter(|plan| plan.plan.dialect == dialect).flat_map(requests);
        let body = bodies.max_by_key(|body| body.len()).unwrap();
        let of = format!("a request of {} bytes in {dialect}", body.len());
        println!("{of}");
        let profile = Profile::newest(dialect);
        let floor = || drop(black_box(serde_json::from_slice::<Value>(&body).unwrap()));
        let rows = [Row { name: "validate", work: &|| drop(black_box(validate(profile, &body))) }];
        let floor = Row { name: "read into `Value`", work: &floor };
        Table { of: &of, unit: "requests/s", n_units: 1, floor, rows: &rows }.measure(effort, wish);
    }
}

fn requests(plan: &Prepared) -> Vec<Arc<[u8]>> {
    let run = plan.run();
    let bodies = run.trace.events().iter().filter_map(|event| match event {
        Event::Requested { body, .. } => Some(Arc::clone(body)),
        _ => None,
    });
    bodies.collect()
}

/// One thing that is measured.
struct Row<'a> {
    name: &'static str,
    work: &'a dyn Fn(),
}

/// Rows that are measured in turns with their floor. `n_units` is what one call of a row does.
struct Table<'a> {
    of: &'a str,
    unit: &'static str,
    n_units: usize,
    floor: Row<'a>,
    rows: &'a [Row<'a>],
}

impl Table<'_> {
    /// Prints the median of each row and hands it to the file of figures.
    fn measure(&self, effort: Effort, wish: &mut Wish) {
        let mut seconds: Vec<Vec<f64>> = vec![Vec::new(); self.rows.len() + 1];
        for _ in 0..effort.n_rounds {
            for (row, seconds) in std::iter::once(&self.floor).chain(self.rows).zip(&mut seconds) {
                seconds.push(seconds_per_call(row.work, effort.spell) / self.n_units as f64);
            }
        }
        println!("  {:<34} {:>10} {:>8} {:>8}", "", self.unit, "µs", "÷ floor");
        for (at, (row, own)) in std::iter::once(&self.floor).chain(self.rows).zip(&seconds).enumerate() {
            let ratios = own.iter().zip(&seconds[0]).map(|(own, floor)| own / floor);
            let (time, ratio) = (median(own.iter().copied()), median(ratios));
            println!("  {:<34} {:>10.0} {:>8.2} {ratio:>8.2}", row.name, 1.0 / time, time * 1e6);
            if at > 0 {
                let what = format!("{}: {}", self.of, row.name);
                wish.take(what, (1.0 / time, self.unit), &[(self.floor.name, ratio)]);
            }
        }
    }
}

/// Calls again and again until the spell is over.
fn seconds_per_call(work: &dyn Fn(), spell: Duration) -> f64 {
    let start = cpu_time();
    let mut n_calls = 0_u32;
    loop {
        work();
        n_calls += 1;
        let spent = cpu_time() - start;
        if spent >= spell {
            return spent.as_secs_f64() / f64::from(n_calls);
        }
    }
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let effort = if std::env::args().any(|arg| arg == "--quick") { QUICK } else { FULL };
    println!("CPU time of one thread, median of {} rounds\n$ cargo bench --bench plans", effort.n_rounds);
    let mid_batch = built_in().into_iter().filter(|file| file.id == "abort/mid-batch");
    let mid_batch = Set::of("abort/mid-batch", mid_batch.collect());
    let mut wish = Wish::of_args("plans");
    mid_batch.measure(effort, &mut wish);
    Set::of("the built-in suite", built_in()).measure(effort, &mut wish);
    measure_rules(&mid_batch, effort, &mut wish);
    wish.close();
}
