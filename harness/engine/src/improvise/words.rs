//! The phrases of improvised texts.

use brickbat_scenario::random::Random;

/// The model's text before it calls tools.
pub(super) fn before_calls(random: &mut Random) -> &'static str {
    pick(random, &["Let me look at this.", "I will check a few things first.", "Looking that up now."])
}

/// The model's text when the results have arrived.
pub(super) fn after_results(random: &mut Random) -> &'static str {
    pick(
        random,
        &["That is all I needed. Done.", "I have looked at the results. Done.", "Done, all results are in."],
    )
}

/// The model's text when it has nothing to call.
pub(super) fn without_tools(random: &mut Random) -> &'static str {
    pick(random, &["Here is a short answer.", "Yes, that is clear.", "All right, noted."])
}

/// A meaningless word to use in arguments.
pub(super) fn word(random: &mut Random) -> &'static str {
    pick(random, &["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath"])
}

fn pick(random: &mut Random, texts: &[&'static str]) -> &'static str {
    random.pick(texts).copied().unwrap_or_default()
}
