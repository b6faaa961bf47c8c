//! Sometimes lets the provider search the web within its replies.

use super::Source;
use brickbat_scenario::scenario::{Block, Reply, Scenario, Search, Stop};

/// Adds a search of the provider to a scenario.
pub(super) fn draw(source: &mut Source<'_>, scenario: &mut Scenario) {
    if !source.one_in(12) {
        return;
    }
    let mut n_searches = 0;
    for turn in &mut scenario.turns {
        let replies = std::mem::take(&mut turn.replies);
        for mut reply in replies {
            // The provider that runs searches numbers its calls, gives each an id, and sends one after the
            // other.
            (reply.interleave, reply.indices) = (false, None);
            reply.attempts.iter_mut().flatten().filter_map(Block::call_mut).for_each(|call| call.id = None);
            if source.one_in(2) {
                let count = 1 + usize::from(source.one_in(4));
                let made: Vec<Block> = (0..count).map(|_| search(source, &mut n_searches)).collect();
                // The search comes first, except for a thought, or just before the calls.
                let blocks = &mut reply.attempts[0];
                let first_call = blocks.iter().position(|block| block.call().is_some());
                let start = usize::from(matches!(blocks.first(), Some(Block::Think(_))));
                let at = first_call.filter(|_| source.one_in(2)).unwrap_or(start);
                blocks.splice(at..at, made);
            }
            if source.one_in(4) {
                let paused = Reply::new(vec![search(source, &mut n_searches)]);
                turn.replies.push(Reply { stop: Some(Stop::Pause), ..paused });
            }
            turn.replies.push(reply);
        }
    }
    crate::fixup::searches(scenario);
}

fn search(source: &mut Source<'_>, n_searches: &mut usize) -> Block {
    *n_searches += 1;
    Block::Search(Search {
        name: format!("s{n_searches}"),
        query: "orders".to_owned(),
        finds: source.one_in(2).then(|| "Two orders".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use brickbat_rules::dialect::Dialect;
    use brickbat_scenario::lower;
    use brickbat_scenario::scenario::Reply;

    #[test]
    fn some_scenarios_search_and_some_of_them_pause() {
        let (mut n_searching, mut n_pausing) = (0, 0);
        for scenario in (0..600).map(generate::scenario).filter(|scenario| scenario.searches()) {
            let plan = lower::lower("x", "", &scenario, Dialect::AnthropicMessages, 0);
            if plan.is_ok_and(|plan| plan.impossible.is_none()) {
                n_searching += 1;
                let mut replies = scenario.turns.iter().flat_map(|turn| &turn.replies);
                n_pausing += usize::from(replies.any(Reply::pauses));
            }
        }
        assert!(n_searching > 10 && n_pausing > 3, "{n_searching} {n_pausing}");
    }
}
