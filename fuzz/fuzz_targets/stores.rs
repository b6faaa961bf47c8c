//! Checks that any bytes are read as a store without a panic, and that the judgement and the repair keep their promises.
#![no_main]

use brickbat_sessions::{File, Files, nearest, oracle};

/// File names that distinguish similar stores.
const NAMES: [&str; 8] = [
    "7c1f.jsonl",
    "session.json",
    "rollout-1.jsonl.zst",
    "store.db",
    "api_conversation_history.json",
    "1.messages.json",
    "agent.json",
    "messages.jsonl",
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let name = NAMES[usize::from(*first) % NAMES.len()];
    let mut files = Files::one(name, rest);
    if name == "agent.json" {
        // Each message of an agent is a file next to it.
        let agent = br#"{"agent_id":"a","conversation_manager_state":{}}"#;
        files = Files::one(name, agent.as_slice());
        let message = |(n, bytes): (usize, &[u8])| File {
            name: format!("messages/message_{n}.json"),
            bytes: bytes.to_vec(),
        };
        files.files.extend(rest.split(|byte| *byte == b'\n').take(64).enumerate().map(message));
    }
    assert!(nearest(&files).len() <= 3);
    assert_eq!(oracle::wrong_with_files(&files), None);
});
