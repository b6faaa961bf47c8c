//! Positions of blocks in a scenario.

use std::fmt;

use crate::plan::plain_attempt;
use crate::scenario::{Block, Call, Scenario, Stop, SubAgent, ends_with_search};

/// The position of a block: 0-based turn, reply, attempt and block. Displayed as a JSON pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockPosition {
    pub turn: usize,
    pub reply: usize,
    pub attempt: usize,
    pub block: usize,
    /// The position inside the sub-agent that this block's call starts: the reply and the block.
    pub within: Option<(usize, usize)>,
}

impl fmt::Display for BlockPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockPosition { turn, reply, attempt, block, within } = self;
        write!(f, "/turns/{turn}/replies/{reply}/attempts/{attempt}/{block}")?;
        match within {
            Some((reply, block)) => write!(f, "/call/agent/replies/{reply}/{block}"),
            None => Ok(()),
        }
    }
}

/// Every call in a scenario with its position, in file order; a sub-agent's calls follow the call that starts
/// it.
pub(super) fn calls(scenario: &Scenario) -> impl Iterator<Item = (BlockPosition, &Call)> {
    let turns = scenario.turns.iter().enumerate();
    let replies = turns.flat_map(|(turn, said)| {
        said.replies.iter().enumerate().map(move |(reply, said)| (turn, reply, said))
    });
    let attempts = replies.flat_map(|(turn, reply, said)| {
        said.attempts.iter().enumerate().map(move |(attempt, blocks)| (turn, reply, attempt, blocks))
    });
    let blocks = attempts.flat_map(|(turn, reply, attempt, blocks)| {
        blocks
            .iter()
            .enumerate()
            .map(move |(block, said)| (BlockPosition { turn, reply, attempt, block, within: None }, said))
    });
    blocks.flat_map(|(place, block)| {
        let within = block.call().and_then(|call| call.agent.as_ref());
        let within = within.into_iter().flat_map(move |agent| calls_within(place, agent));
        block.call().map(|call| (place, call)).into_iter().chain(within)
    })
}

fn calls_within(place: BlockPosition, agent: &SubAgent) -> impl Iterator<Item = (BlockPosition, &Call)> {
    let replies = agent.replies.iter().enumerate();
    let blocks = replies.flat_map(|(reply, blocks)| {
        blocks.iter().enumerate().map(move |(block, said)| ((reply, block), said))
    });
    blocks.filter_map(move |(within, said)| {
        Some((BlockPosition { within: Some(within), ..place }, said.call()?))
    })
}

/// True if a block is in the attempt that is served if nothing goes wrong.
pub(super) fn is_plain(scenario: &Scenario, place: BlockPosition) -> bool {
    let BlockPosition { turn, reply, attempt, .. } = place;
    let replies = &scenario.turns[turn].replies;
    let continues = |blocks: &Vec<Block>| goes_on(blocks, replies[reply].stop);
    plain_attempt(replies[reply].attempts.iter().map(continues), reply + 1 == replies.len()) == attempt
}

/// True if the turn continues after an attempt with these blocks and this stop reason.
fn goes_on(blocks: &[Block], stop: Option<Stop>) -> bool {
    let makes_calls = blocks.iter().any(|block| block.call().is_some());
    makes_calls || (stop == Some(Stop::Pause) && ends_with_search(blocks))
}

/// A name as a step of a JSON pointer.
pub(super) fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
