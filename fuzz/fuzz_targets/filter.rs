//! Checks our own repair as a filter: it leaves valid histories unchanged and fixes everything that it can.
#![no_main]

use brickbat_filter_suite::{fuzz_filter, planted};

fuzz_filter!(planted::repair_mode(), planted::repaired);
