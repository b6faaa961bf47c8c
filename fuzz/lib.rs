//! What the fuzz targets share: scenarios are changed and crossed as scenarios, and not as bytes.

use brickbat::generate::{self, Source, cross, mutate};

/// Changes a scenario of a corpus. What does not fit is told as the scenario of another seed, or as it was.
pub fn change(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let source = &mut Source::seeded(u64::from(seed));
    let changed = match size {
        0..=1 => generate::draw(source),
        _ => mutate::mutate(&generate::decode(&data[..size]), source),
    };
    put(&generate::encode(&changed), &mut data[..max_size.max(size)], max_size).unwrap_or(size.min(max_size))
}

/// A scenario out of two of a corpus.
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

/// Lets libFuzzer change and cross scenarios by our own changes.
#[macro_export]
macro_rules! mutate_scenarios {
    () => {
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            brickbat_fuzz::change(data, size, max_size, seed)
        });
        libfuzzer_sys::fuzz_crossover!(|one: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
            brickbat_fuzz::join(one, other, out, seed)
        });
    };
}
