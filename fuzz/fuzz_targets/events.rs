//! Events of calls in any order: a store that does it right is accused of nothing.
#![no_main]

use brickbat::generate::Source;
use brickbat::oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assert_eq!(oracle::events(&mut Source::of_bytes(bytes)), None);
});
