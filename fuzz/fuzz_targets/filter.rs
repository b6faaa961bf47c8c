//! Our own repair is right as a filter: what is valid stays as it is, and what can be mended is.
#![no_main]

use brickbat_filter_suite::{fuzz_filter, planted};

fuzz_filter!(planted::repair_mode(), planted::repaired);
