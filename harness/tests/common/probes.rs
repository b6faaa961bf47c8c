//! Adapters and agents under `brickbat verify-adapter`.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// How many are examined at the same time: the probes mostly wait to see that nothing happens.
const N_AT_ONCE: usize = 8;

/// Examines each case, several at a time, and prints its name, so that a failure can be attributed.
pub fn examine_each(cases: &[(&str, fn())]) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..N_AT_ONCE {
            scope.spawn(|| {
                while let Some((name, examine)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    eprintln!("{name}");
                    examine();
                }
            });
        }
    });
}

/// The probes with that result, and the message of each.
pub fn with<'a>(found: &'a Value, result: &str, says: &str) -> Vec<(&'a str, &'a str)> {
    let probes = found["probes"].as_array().unwrap().iter();
    let meant = probes.filter(|examined| examined["result"] == result);
    meant.map(|examined| (examined["probe"].as_str().unwrap(), examined[says].as_str().unwrap())).collect()
}
