//! Repairs the provider's searches: each is called before its result, and its result comes before any other
//! content.

use std::collections::BTreeSet;

use brickbat_scenario::scenario::{Block, Found, Reply, Scenario, Search, Stop, Turn};

/// The default result of a search.
const FINDS: &str = "A page";

/// Repairs the searches of a scenario.
pub(super) fn fix(scenario: &mut Scenario) {
    if !scenario.searches() {
        return;
    }
    let mut named = BTreeSet::new();
    for turn in &mut scenario.turns {
        fix_turn(turn, &mut named);
    }
    let mut replies = scenario.turns.iter().flat_map(|turn| &turn.replies);
    // Systems differ in whether a pause ends a step.
    if replies.any(Reply::pauses) {
        scenario.limits.steps = None;
    }
}

fn fix_turn(turn: &mut Turn, named: &mut BTreeSet<String>) {
    let n_replies = turn.replies.len();
    let mut waiting: Vec<String> = Vec::new();
    for (index, reply) in turn.replies.iter_mut().enumerate() {
        let is_last = index + 1 == n_replies;
        let before = std::mem::take(&mut waiting);
        let is_paused = reply.pauses() && !is_last;
        for blocks in &mut reply.attempts {
            let mut open = before.clone();
            let said = std::mem::take(blocks);
            let mut has_called = false;
            for block in said {
                match &block {
                    Block::Found(found) => {
                        let Some(at) = open.iter().position(|name| *name == found.search) else { continue };
                        if has_called {
                            continue;
                        }
                        open.remove(at);
                    }
                    Block::Search(search) => {
                        if (search.finds.is_some() && has_called) || !named.insert(search.name.clone()) {
                            continue;
                        }
                        let is_own = |name: &String| !before.contains(name);
                        if search.finds.is_some() || !open.iter().all(is_own) {
                            close(&mut open, blocks);
                        }
                        if search.finds.is_none() {
                            open.push(search.name.clone());
                        }
                    }
                    // The client's calls are sent with the searches of their own reply.
                    Block::Call(_) => {
                        if open.iter().any(|name| before.contains(name)) {
                            close(&mut open, blocks);
                        }
                        has_called = true;
                    }
                    Block::Think(_) | Block::Text(_) if has_called => {
                        // Searches after the calls do not complete before the client has answered.
                        blocks.retain(|block| !is_open(block, &open));
                        open.clear();
                    }
                    Block::Think(_) | Block::Text(_) => close(&mut open, blocks),
                }
                blocks.push(block);
            }
            let is_left = has_called || is_paused;
            if !is_left || open.iter().any(|name| before.contains(name)) {
                close(&mut open, blocks);
            }
            waiting = open;
        }
        let is_searched = reply.attempts.iter().flatten().any(Block::is_of_search);
        let makes_calls = reply.calls().next().is_some();
        if reply.stop == Some(Stop::Pause) && is_searched && (makes_calls || is_last) {
            reply.stop = None;
        }
    }
}

/// Ends the open searches here, by adding their results.
fn close(open: &mut Vec<String>, blocks: &mut Vec<Block>) {
    let found = |search| Block::Found(Found { search, finds: FINDS.to_owned() });
    blocks.extend(open.drain(..).map(found));
}

fn is_open(block: &Block, open: &[String]) -> bool {
    matches!(block, Block::Search(Search { name, .. }) if open.contains(name))
}
