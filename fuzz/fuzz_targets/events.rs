//! Checks that a correct store gets no finding, in whatever order the events of calls arrive.
#![no_main]

use brickbat_search::generate::Source;
use brickbat_search::oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assert_eq!(oracle::events(&mut Source::of_bytes(bytes)), None);
});
