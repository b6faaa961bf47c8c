//! `brickbat-bench race --libfuzzer TARGET [--seeds N] [--seconds N] [--file FILE]`: the time until each
//! planted bug is found by guided search, random search, proptest and libFuzzer's coverage.
//!
//! For each seed and search method, one run looks for all bugs. Every plan runs against the agent
//! for each remaining bug, so a run takes longer than one for a single bug. Time is the CPU time of
//! one thread, which a busy machine does not lengthen. TARGET is the fuzz target `finds`. Build
//! this program with `--features proptest`. The figures are written to FILE, the source for the
//! table in the book.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use brickbat_engine::flaws::Canary;
use brickbat_scenario::plan::Plan;
use brickbat_search::fuzz::{Campaign, Guidance};
use brickbat_search::generate::strategy;
use brickbat_search::oracle;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Serialize;

use crate::clock::cpu_time;
use crate::targets::options;

#[derive(Serialize)]
struct Report {
    schema: u32,
    /// CPU time after which a run ends.
    seconds: u64,
    seeds: Vec<u64>,
    bugs: Vec<Row>,
}

/// A planted bug: seconds until it is found, one value per seed in order. Empty if the run did not find
/// it.
#[derive(Serialize)]
struct Row {
    bug: &'static str,
    guided: Vec<Option<f64>>,
    random: Vec<Option<f64>>,
    proptest: Vec<Option<f64>>,
    libfuzzer: Vec<Option<f64>>,
}

/// When each bug was first found, in the order of the bugs.
struct Finds(Vec<Option<Duration>>);

impl Finds {
    /// Runs drawn plans until all bugs are found or the time is up.
    fn of(limit: Duration, mut draw: impl FnMut() -> Arc<Plan>) -> Finds {
        let began = cpu_time();
        let mut finds = Finds(vec![None; Canary::all().len()]);
        loop {
            let left = Canary::all().zip(&finds.0).filter(|(_, find)| find.is_none());
            let left: Vec<Canary> = left.map(|(canary, _)| canary).collect();
            let caught = oracle::caught(&draw(), &left);
            let spent = cpu_time() - began;
            if left.is_empty() || spent > limit {
                return finds;
            }
            caught.into_iter().for_each(|canary| finds.note(canary, spent));
        }
    }

    fn campaign(seed: u64, guidance: Guidance, limit: Duration) -> Finds {
        let mut campaign = Campaign::new(seed, guidance);
        Finds::of(limit, || {
            let cases = campaign.cases(1, |scenario| oracle::plan(scenario).is_some());
            oracle::plan(&cases[0]).unwrap()
        })
    }

    fn proptest(seed: u64, limit: Duration) -> Finds {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), random);
        let plans = strategy::plans();
        Finds::of(limit, || plans.new_tree(&mut runner).unwrap().current())
    }

    /// Runs the fuzz target with its own options and an empty corpus. Linux stops it when its CPU time is
    /// used up.
    fn libfuzzer(target: &Path, seed: u64, limit: Duration) -> Finds {
        let mut run = Command::new("sh")
            .args(["-c", r#"ulimit -S -t "$1" && shift && exec "$@""#, "sh", &limit.as_secs().to_string()])
            .arg(target)
            .args(options(target))
            .arg(format!("-seed={seed}"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut finds = Finds(vec![None; Canary::all().len()]);
        for line in BufReader::new(run.stderr.take().unwrap()).lines() {
            let line = line.unwrap();
            if let ["found", name, spent] = line.split(' ').collect::<Vec<_>>()[..] {
                let spent = Duration::from_nanos(spent.parse().unwrap());
                // Linux checks the limit only now and then, so finds after it do not count.
                if spent <= limit {
                    finds.note(Canary::from_name(name).unwrap(), spent);
                }
            }
        }
        let status = run.wait().unwrap();
        assert_eq!(status.signal(), Some(SIGXCPU), "{}: {status}", target.display());
        finds
    }

    fn note(&mut self, canary: Canary, spent: Duration) {
        let place = Canary::all().zip(&mut self.0).find(|(own, _)| *own == canary);
        place.into_iter().for_each(|(_, find)| *find = Some(spent));
    }

    fn seconds(&self, at: usize) -> Option<f64> {
        self.0[at].map(|spent| spent.as_millis() as f64 / 1e3)
    }
}

/// The signal for a process that has used up its CPU time.
const SIGXCPU: i32 = 24;

/// Runs every search method with every seed, one after the other.
pub fn race(target: &Path, n_seeds: u64, seconds: u64, file: Option<&Path>) {
    let seeds: Vec<u64> = (1..=n_seeds).collect();
    let limit = Duration::from_secs(seconds);
    let each = |way: &str, of: &dyn Fn(u64) -> Finds| -> Vec<Finds> {
        let run = |seed: &u64| {
            let finds = of(*seed);
            eprintln!("{way}, seed {seed}: {} bugs", finds.0.iter().flatten().count());
            finds
        };
        seeds.iter().map(run).collect()
    };
    let guided = each("guided", &|seed| Finds::campaign(seed, Guidance::Rarity, limit));
    let random = each("random", &|seed| Finds::campaign(seed, Guidance::None, limit));
    let proptest = each("proptest", &|seed| Finds::proptest(seed, limit));
    let libfuzzer = each("libfuzzer", &|seed| Finds::libfuzzer(target, seed, limit));
    let bugs = Canary::all().enumerate().map(|(at, canary)| {
        let cell = |all: &[Finds]| all.iter().map(|finds| finds.seconds(at)).collect();
        Row {
            bug: canary.name(),
            guided: cell(&guided),
            random: cell(&random),
            proptest: cell(&proptest),
            libfuzzer: cell(&libfuzzer),
        }
    });
    let bugs = bugs.collect();
    crate::write(file, &Report { schema: 1, seconds, seeds, bugs });
}
