//! Measures our own code, in CPU time of one thread.

use std::hint::black_box;

use brickbat_filter_suite::checks::{CHECKS, Evidence};
use brickbat_filter_suite::planted::{named, repair_mode, repaired};
use brickbat_filter_suite::{Asked, Facts, Filter, Input, Mode, Route, Said, judge};
use brickbat_rules::validate;
use brickbat_sessions::{RepairOptions, is_healthy};
use serde_json::Value;

use crate::Effort;
use crate::clock::{cpu_time, median};
use crate::result::{Row, Set, Stage, rounded};

/// Maximum size of a small history in bytes.
const SMALL: usize = 1000;

/// Histories of one kind on one route.
struct Histories<'m> {
    route: Route<'m>,
    inputs: Vec<Input>,
    bodies: Vec<Vec<u8>>,
    draw: Box<dyn Fn(u64) -> Input>,
}

impl<'m> Histories<'m> {
    /// Returns the first `n` drawn histories for which `is_meant` is true.
    fn of(
        route: Route<'m>,
        n: u64,
        draw: impl Fn(u64) -> Input + 'static,
        is_meant: impl Fn(&Input) -> bool,
    ) -> Histories<'m> {
        let drawn = (0..).map(&draw).filter(is_meant);
        let inputs: Vec<Input> = drawn.take(usize::try_from(n).unwrap()).collect();
        let bodies = inputs.iter().map(|input| input.body.to_string().into_bytes()).collect();
        Histories { route, inputs, bodies, draw: Box::new(draw) }
    }
}

/// Work to do with all histories of a set.
type Work<'a> = (&'static str, Box<dyn Fn() + 'a>);

pub fn measured(effort: Effort) -> Vec<Set> {
    let mode = repair_mode();
    let broken = mode.routes().into_iter().map(|route| {
        let from = route.from;
        let faults: Vec<_> = mode.faults().into_iter().filter(|fault| fault.is_refused_by(from)).collect();
        let draw = move |n: u64| Input::mendable(from, faults[n as usize % faults.len()], 0, n);
        Histories::of(route, effort.n_histories, draw, |_| true)
    });
    let broken: Vec<Histories<'_>> = broken.collect();
    vec![
        set("small: sound ones of at most 1,000 bytes", &sound(&mode, is_small, effort), effort),
        set("sound ones, as they are drawn", &sound(&mode, |_| true, effort), effort),
        set("broken, and can be repaired", &broken, effort),
    ]
}

fn sound(mode: &Mode, is_meant: fn(&Input) -> bool, effort: Effort) -> Vec<Histories<'_>> {
    let mut sound = Vec::new();
    for route in mode.routes() {
        let from = route.from;
        sound.push(Histories::of(route, effort.n_histories, move |n| Input::valid(from, 0, n), is_meant));
    }
    sound
}

fn is_small(input: &Input) -> bool {
    input.body.to_string().len() <= SMALL
}

fn set(name: &'static str, all: &[Histories<'_>], effort: Effort) -> Set {
    let histories = all.iter().map(|one| one.inputs.len()).sum();
    let bytes = all.iter().flat_map(|one| &one.bodies).map(Vec::len).sum::<usize>() / histories;
    let rows = [
        work("floor: serde_json reads it", all, |one| {
            for body in &one.bodies {
                black_box(serde_json::from_slice::<Value>(body).unwrap());
            }
        }),
        work("the rules judge it", all, |one| {
            one.bodies.iter().for_each(|body| drop(black_box(validate(one.route.profile, body))));
        }),
        work("`repair` looks for something to repair", all, |one| {
            for body in &one.bodies {
                let options = RepairOptions { profile: Some(one.route.profile), ..RepairOptions::default() };
                black_box(is_healthy(body, one.route.from, &options));
            }
        }),
        work("the filter `repair` answers", all, |one| {
            one.inputs.iter().for_each(|input| drop(black_box(repaired(&Asked::about(&one.route, input)))));
        }),
        work("`identity` is judged", all, |one| judge_all(one, "identity")),
        work("`repair` is judged", all, |one| judge_all(one, "repair")),
    ];
    let seconds = table(&rows, effort);
    let per_history = |own: &[f64]| median(own.iter().copied()) / histories as f64;
    let row = |(work, own): (&Work<'_>, &Vec<f64>)| {
        let ratios = own.iter().zip(&seconds[0]).map(|(own, floor)| own / floor);
        let time = per_history(own);
        Row {
            what: work.0,
            histories_per_second: (1.0 / time) as u32,
            micros: rounded(time * 1e6),
            of_floor: rounded(median(ratios)),
        }
    };
    let rows: Vec<Row> = rows.iter().zip(&seconds).map(row).collect();
    Set { name, histories, bytes, rows, stages: stages(all, histories, effort) }
}

fn judge_all(one: &Histories<'_>, filter: &str) {
    let mut filter: Box<dyn Filter> = (named(filter).unwrap().filter)();
    black_box(judge(filter.as_mut(), &one.route, None, &one.inputs).unwrap());
}

/// Measures each stage of judging `repair` separately. The time of a check does not include reading the
/// evidence.
fn stages(all: &[Histories<'_>], histories: usize, effort: Effort) -> Vec<Stage> {
    let said: Vec<Vec<Said>> = all.iter().map(answers).collect();
    let each = |what: &'static str, work: &'_ dyn Fn(&Histories<'_>, &[Said])| -> Stage {
        let run: Work<'_> =
            (what, Box::new(|| all.iter().zip(&said).for_each(|(one, said)| work(one, said))));
        let seconds = table(std::slice::from_ref(&run), effort);
        let micros = rounded(median(seconds[0].iter().copied()) / histories as f64 * 1e6);
        Stage { what, micros, share: 0.0 }
    };
    let evidence = |one: &Histories<'_>, said: &[Said], check: &dyn Fn(&Evidence<'_>)| {
        for (input, said) in one.inputs.iter().zip(said) {
            check(&Evidence::new(&one.route, input, (&input.body, one.route.from), said));
        }
    };
    let mut stages = vec![
        each("draw it", &|one, _| {
            let n = one.inputs.len() as u64;
            (0..n).for_each(|n| drop(black_box((one.draw)(n))));
        }),
        each("write it, and ask the rules", &|one, _| {
            for input in &one.inputs {
                black_box(validate(one.route.profile, input.body.to_string().as_bytes()));
            }
        }),
        each("put the question", &|one, _| {
            one.inputs.iter().for_each(|input| drop(black_box(Asked::about(&one.route, input))));
        }),
        each("the filter answers", &|one, _| drop(black_box(answers(one)))),
        each("read what was said before and after", &|one, said| {
            for (input, said) in one.inputs.iter().zip(said) {
                black_box(Facts::of(&input.body, one.route.from));
                black_box(
                    said.body().filter(|body| **body != input.body).map(|body| Facts::of(body, one.route.to)),
                );
            }
        }),
    ];
    let reading =
        each("evidence", &|one, said| evidence(one, said, &|evidence| _ = black_box(evidence.calls.len())));
    for check in CHECKS {
        let with = each(check.id, &|one, said| {
            evidence(one, said, &|evidence| {
                if (check.applies)(evidence) {
                    black_box((check.find)(evidence));
                }
            });
        });
        stages.push(Stage { micros: rounded((with.micros - reading.micros).max(0.0)), ..with });
    }
    let whole: f64 = stages.iter().map(|stage| stage.micros).sum();
    stages.iter_mut().for_each(|stage| stage.share = rounded(100.0 * stage.micros / whole));
    stages
}

fn answers(one: &Histories<'_>) -> Vec<Said> {
    one.inputs.iter().map(|input| repaired(&Asked::about(&one.route, input))).collect()
}

fn work<'a>(what: &'static str, all: &'a [Histories<'a>], each: impl Fn(&Histories<'a>) + 'a) -> Work<'a> {
    (what, Box::new(move || all.iter().for_each(&each)))
}

/// Returns the seconds of each row in each round. The rows take turns.
fn table(rows: &[Work<'_>], effort: Effort) -> Vec<Vec<f64>> {
    let mut seconds = vec![Vec::new(); rows.len()];
    for _ in 0..effort.n_rounds {
        for ((_, work), seconds) in rows.iter().zip(&mut seconds) {
            let start = cpu_time();
            work();
            seconds.push((cpu_time() - start).as_secs_f64());
        }
    }
    seconds
}
