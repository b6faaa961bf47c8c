//! The example of `fuzz/`: an agent that is not ours is driven by the same scenarios. With its bug it is
//! caught; without it, it is accused of nothing.

use crate::small_agent::OwnAgent;
use brickbat_scenario::yaml;
use brickbat_search::{generate, oracle};

const N_SEEDS: u64 = 2_000;

#[test]
fn the_agent_without_the_bug_is_accused_of_nothing() {
    for seed in 0..N_SEEDS {
        let scenario = generate::scenario(seed);
        let failure = oracle::failure::<OwnAgent<false>>(&scenario);
        assert_eq!(failure, None, "seed {seed}\n{}", yaml::text(&scenario));
    }
}

#[test]
fn the_bug_is_found() {
    let mut found =
        (0..N_SEEDS).filter_map(|seed| oracle::failure::<OwnAgent<true>>(&generate::scenario(seed)));
    let told = found.next().unwrap();
    assert!(told.contains("thread-survives") && told.contains("tool_call"), "{told}");
}
