//! Every planted bug is looked for in the same run, and a line says after how much CPU time each was found first: what
//! `brickbat-bench race` compares with other ways of searching.
#![no_main]

use std::sync::{LazyLock, Mutex};

use brickbat::flaws::Canary;
use brickbat::{generate, oracle};

/// The bugs that are still to be found.
static LEFT: LazyLock<Mutex<Vec<Canary>>> = LazyLock::new(|| Mutex::new(Canary::all().collect()));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(plan) = oracle::plan(&generate::decode(bytes)) else { return };
    let mut left = LEFT.lock().expect("no other thread has it");
    let caught = oracle::caught(&plan, &left);
    left.retain(|canary| !caught.contains(canary));
    for canary in caught {
        // The first number is how many nanoseconds this thread has run, as Linux counts them.
        let spent = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
        eprintln!("found {} {}", canary.name(), spent.split(' ').next().unwrap_or_default());
    }
});

brickbat::mutate_scenarios!();
