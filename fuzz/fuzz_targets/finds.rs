//! Searches for all planted bugs in one run and prints the CPU time until each was first found. `brickbat-bench race`
//! compares these times with those of other search methods.
#![no_main]

use std::sync::{LazyLock, Mutex};

use brickbat_engine::flaws::Canary;
use brickbat_search::{generate, oracle};

/// Bugs not found yet.
static LEFT: LazyLock<Mutex<Vec<Canary>>> = LazyLock::new(|| Mutex::new(Canary::all().collect()));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(plan) = oracle::plan(&generate::decode(bytes)) else { return };
    let mut left = LEFT.lock().expect("no other thread has it");
    let caught = oracle::caught(&plan, &left);
    left.retain(|canary| !caught.contains(canary));
    for canary in caught {
        // The first number is this thread's CPU time in nanoseconds.
        let spent = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
        eprintln!("found {} {}", canary.name(), spent.split(' ').next().unwrap_or_default());
    }
});

brickbat_search::mutate_scenarios!();
