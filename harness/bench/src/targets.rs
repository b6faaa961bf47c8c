//! `brickbat-bench targets --folder DIR --corpus SEEDS [--seconds N] [--figures FILE]`: inputs per second
//! of the fuzz target `agent`, measured in turns with the target `floor`.
//!
//! DIR contains the built targets. SEEDS contains the seeds for `agent`, from which both start.
//! Time is the process's CPU time, so a busy machine changes little.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::clock::median;
use crate::figures::Wish;

/// One round per seed; both targets get the same one.
const SEEDS: [u64; 3] = [1, 2, 3];

/// Runs both targets for `seconds` in each round.
pub fn measure(folder: &Path, seeds: &Path, seconds: usize, wish: &mut Wish) {
    let run = |target: &str, seed: u64| {
        // libFuzzer writes new inputs to the first folder.
        let found = std::env::temp_dir().join(format!("brickbat-bench-{}", std::process::id()));
        std::fs::create_dir(&found).unwrap();
        let args = [found.display().to_string(), seeds.display().to_string()];
        let options = [format!("-seed={seed}"), format!("-max_total_time={seconds}")];
        let rate = runs_a_second(&folder.join(target), &[args, options].concat());
        std::fs::remove_dir_all(&found).unwrap();
        println!("{target}, seed {seed}: {rate:.0} runs a second");
        rate
    };
    let rounds = SEEDS.map(|seed| (run("floor", seed), run("agent", seed)));
    let ratio = median(rounds.iter().map(|(floor, agent)| floor / agent));
    let rate = median(rounds.iter().map(|(_, agent)| *agent));
    println!("agent: {rate:.0} runs a second, {ratio:.2} times the time of floor");
    wish.take("the fuzz target `agent`", (rate, "runs/s"), &[("the fuzz target `floor`", ratio)]);
}

/// Runs a target until it ends, and returns the number of inputs per second of CPU time.
fn runs_a_second(target: &Path, args: &[String]) -> f64 {
    let mut command = Command::new("sh");
    // The second line that `times` prints is for the shell's children: minutes and seconds in user mode,
    // then in the system.
    command.args(["-c", r#""$@" && times"#, "sh"]).arg(target).args(options(target)).args(args);
    let Output { status, stdout, stderr } =
        command.arg("-print_final_stats=1").stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{}: {said}", target.display());
    let n_runs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let times = String::from_utf8(stdout).unwrap();
    let seconds = times.lines().last().unwrap().split(' ').map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    n_runs.unwrap().trim().parse::<f64>().unwrap() / seconds.sum::<f64>()
}

/// Returns the options in a target's options file, as command-line arguments.
pub fn options(target: &Path) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let file = folder.join(target.file_name().unwrap()).with_extension("options");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(key, value)| format!("-{}={}", key.trim(), value.trim())).collect()
}
