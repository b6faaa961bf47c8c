//! `brickbat-bench plans`: simulates complete plans on the reference agent and judges the runs.
//!
//! Each row's floor is a single pass over the same plans' request bodies with
//! `serde_json::from_slice::<Value>`.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::Concurrency;
use brickbat_engine::run::Run;
use brickbat_engine::simulate::{assess, play};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::{Profile, validate};
use brickbat_scenario::lower;
use brickbat_scenario::parse::{Variant, parse};
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::Event;
use brickbat_scenario::verdict::{Judgement, Verdict};
use brickbat_search::generate;
use brickbat_search::oracle;
use serde_json::Value;

use crate::figures::Wish;
use crate::measure::{Effort, Row, Table};

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

/// Returns every file of the built-in suite, in order.
fn built_in() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let folders = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let is_scenario = |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending == "yaml");
    let mut paths: Vec<_> = files.map(|entry| entry.unwrap().path()).filter(is_scenario).collect();
    paths.sort();
    let id = |path: &Path| path.strip_prefix(&root).unwrap().with_extension("").display().to_string();
    paths.iter().map(|path| File::read(path, id(path))).collect()
}

/// A plan with the result of its control plan.
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
        let floors = [Row { name: "their requests read into `Value`", work: &|| self.floor() }];
        Table { of: self.name, unit: "plans/s", n_units: self.plans.len(), floors: &floors, rows: &rows }
            .measure(effort, wish);
    }
}

/// Measures the rules on one typical request of each dialect: the longest in the set.
fn measure_rules(set: &Set, effort: Effort, wish: &mut Wish) {
    for dialect in Dialect::ALL {
        let bodies = set.plans.iter().filter(|plan| plan.plan.dialect == dialect).flat_map(requests);
        let body = bodies.max_by_key(|body| body.len()).unwrap();
        let of = format!("a request of {} bytes in {dialect}", body.len());
        let profile = Profile::newest(dialect);
        let floor = || drop(black_box(serde_json::from_slice::<Value>(&body).unwrap()));
        let rows = [Row { name: "validate", work: &|| drop(black_box(validate(profile, &body))) }];
        let floors = [Row { name: "read into `Value`", work: &floor }];
        Table { of: &of, unit: "requests/s", n_units: 1, floors: &floors, rows: &rows }.measure(effort, wish);
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

/// Measures one scenario's plans, the complete suite, and the rule checks on their requests.
pub fn measure(effort: Effort, wish: &mut Wish) {
    let mid_batch = built_in().into_iter().filter(|file| file.id == "abort/mid-batch");
    let mid_batch = Set::of("abort/mid-batch", mid_batch.collect());
    mid_batch.measure(effort, wish);
    Set::of("the built-in suite", built_in()).measure(effort, wish);
    measure_rules(&mid_batch, effort, wish);
}

/// Returns work that runs and judges the plans of the complete suite once.
pub fn whole() -> impl Fn() {
    let set = Set::of("the built-in suite", built_in());
    move || set.simulate_and_judge()
}

/// Returns the work of the fuzz target `agent` on all scenarios of the suite, as a corpus stores them.
pub fn inputs() -> impl Fn() {
    let files = built_in();
    let variants = files.iter().flat_map(|file| &file.variants);
    let inputs: Vec<Vec<u8>> = variants.map(|variant| generate::encode(&variant.scenario)).collect();
    move || {
        for plan in inputs.iter().filter_map(|bytes| oracle::plan(&generate::decode(bytes))) {
            assert_eq!(black_box(oracle::accusation(&plan)), None);
        }
    }
}
