//! Checks that any bytes are read as a store without a panic, and that the judgement and the repair keep their promises.
#![no_main]

use brickbat_sessions::{Files, oracle};

/// File names that distinguish similar stores.
const NAMES: [&str; 6] = [
    "7c1f.jsonl",
    "session.json",
    "rollout-1.jsonl.zst",
    "store.db",
    "api_conversation_history.json",
    "1.messages.json",
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let name = NAMES[usize::from(*first) % NAMES.len()];
    assert_eq!(oracle::wrong_with_files(&Files::one(name, rest)), None);
});
