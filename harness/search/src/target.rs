//! Code that fuzz targets share: it mutates and crosses scenarios as scenarios, not as bytes.
//!
//! Authors of a Rust SDK fuzz their own agent with [`crate::fuzz_agent`].

use crate::generate::{self, Source, cross, mutate};
use crate::oracle;
use brickbat_engine::agent::SansIo;
use brickbat_scenario::yaml;

/// Mutates a scenario of a corpus, and returns its new size. A result that does not fit leaves the scenario
/// unchanged.
pub fn change(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let source = &mut Source::seeded(u64::from(seed));
    let changed = match size {
        0..=1 => generate::draw(source),
        _ => mutate::mutate(&generate::decode(&data[..size]), source),
    };
    put(&generate::encode(&changed), &mut data[..max_size.max(size)], max_size).unwrap_or(size.min(max_size))
}

/// Crosses two scenarios from a corpus, and returns the size of the result.
pub fn join(one: &[u8], other: &[u8], out: &mut [u8], seed: u32) -> usize {
    let child = cross(&generate::decode(one), &generate::decode(other), &mut Source::seeded(u64::from(seed)));
    let max_size = out.len();
    put(&generate::encode(&child), out, max_size).unwrap_or(0)
}

fn put(bytes: &[u8], out: &mut [u8], max_size: usize) -> Option<usize> {
    let place = out.get_mut(..bytes.len()).filter(|place| place.len() <= max_size)?;
    place.copy_from_slice(bytes);
    Some(bytes.len())
}

/// Drives an agent through the scenario for a fuzzer's bytes.
///
/// # Panics
///
/// When the agent fails the scenario. The message contains the failure, and the scenario as a file.
pub fn drive<A: SansIo>(bytes: &[u8]) {
    let scenario = generate::decode(bytes);
    if let Some(wrong) = oracle::failure::<A>(&scenario) {
        panic!("{wrong}\n{}", yaml::text(&scenario));
    }
}

/// Makes libFuzzer mutate and cross scenarios with our own changes. Use it together with `fuzz_target!` in a
/// target whose bytes are read by [`generate::decode`]; the crate needs `libfuzzer-sys`.
#[macro_export]
macro_rules! mutate_scenarios {
    () => {
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::target::change(data, size, max_size, seed)
        });
        libfuzzer_sys::fuzz_crossover!(|one: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
            $crate::target::join(one, other, out, seed)
        });
    };
}

/// A complete fuzz target for your own agent: `brickbat_search::fuzz_agent!(MyAgent);`, where `MyAgent`
/// implements [`SansIo`]. It belongs in a file with `#![no_main]`; the crate needs `libfuzzer-sys`.
#[macro_export]
macro_rules! fuzz_agent {
    ($agent:ty) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::target::drive::<$agent>(bytes));
        $crate::mutate_scenarios!();
    };
}
