//! Checks that do not depend on calls: the header, and the shape of every turn.

use crate::scenario::{Block, Call, MAX_DELTAS, Scenario, Turn};

use super::limits::{
    MAX_ACTIONS, MAX_ARGS, MAX_ATTEMPTS, MAX_BLOCKS, MAX_CALLS, MAX_REPLIES, MAX_STRING, MAX_TOOLS,
    MAX_TURNS, text, too_many,
};
use super::malformations;
use super::position::BlockPosition;
use super::problem::{Problem, Problems};

/// The maximum number of classes, and of evidence entries, in a file.
const MAX_LABELS: usize = 64;

/// Checks the header, and the number of turns, tools and calls.
pub(super) fn check(scenario: &Scenario, problems: &mut Problems) {
    labels(scenario, problems);
    problems.add_if(scenario.turns.is_empty(), || {
        Problem::new("/turns", "a scenario must have at least one turn")
    });
    too_many("/turns", "turns", scenario.turns.len(), MAX_TURNS, problems);
    too_many("/tools", "tools", scenario.tools.len(), MAX_TOOLS, problems);
    let calls = scenario.turns.iter().map(n_calls).sum();
    too_many("/turns", "calls", calls, MAX_CALLS, problems);
}

/// Checks the shape of every turn.
pub(super) fn check_turns(scenario: &Scenario, problems: &mut Problems) {
    scenario.turns.iter().enumerate().for_each(|(index, turn)| check_turn(index, turn, problems));
}

fn labels(scenario: &Scenario, problems: &mut Problems) {
    problems.add_if(scenario.schema != 1, || {
        Problem::new("/schema", format!("format version {} is unknown", scenario.schema))
            .with_hint("write `schema: 1`")
    });
    if !scenario.comment.is_empty() {
        text("/comment", "the comment", &scenario.comment, problems);
    }
    too_many("/class", "classes", scenario.class.len(), MAX_LABELS, problems);
    too_many("/evidence", "threads", scenario.evidence.len(), MAX_LABELS, problems);
    if let Some(model) = &scenario.model {
        text("/model", "the name of the model", model, problems);
        problems.add_if(scenario.profile.is_none(), || {
            Problem::new("/model", "a model is named without its provider")
                .with_hint("add `profile`, for example `profile: bedrock-converse`")
        });
    }
    for (index, class) in scenario.class.iter().enumerate() {
        problems.add_if(!is_kebab_case(class), || {
            Problem::new(format!("/class/{index}"), format!("the class `{class}` is not in kebab-case"))
                .with_hint("use lowercase words joined by `-`, for example `abort-batch`")
        });
    }
    for (index, evidence) in scenario.evidence.iter().enumerate() {
        problems.add_if(!is_evidence(evidence), || {
            Problem::new(format!("/evidence/{index}"), "this is not a link to a public thread")
                .with_hint("write `owner/repo#123` or an address that begins with `https://`")
        });
    }
}

fn check_turn(index: usize, turn: &Turn, problems: &mut Problems) {
    let base = format!("/turns/{index}");
    text(&format!("{base}/user"), "the user's message", &turn.user, problems);
    problems.add_if(turn.replies.is_empty(), || {
        Problem::new(format!("{base}/replies"), "a turn must have at least one reply")
    });
    too_many(&format!("{base}/replies"), "replies", turn.replies.len(), MAX_REPLIES, problems);
    too_many(&format!("{base}/settle"), "calls to settle", turn.settle.len(), MAX_CALLS, problems);
    too_many(&format!("{base}/at"), "actions", turn.at.len(), MAX_ACTIONS, problems);
    for (reply_index, reply) in turn.replies.iter().enumerate() {
        let attempts = format!("{base}/replies/{reply_index}/attempts");
        too_many(&attempts, "attempts", reply.attempts.len(), MAX_ATTEMPTS, problems);
        for (attempt, blocks) in reply.attempts.iter().enumerate() {
            let pointer = format!("{attempts}/{attempt}");
            problems
                .add_if(blocks.is_empty(), || Problem::new(&pointer, "a reply must have at least one block"));
            too_many(&pointer, "blocks", blocks.len(), MAX_BLOCKS, problems);
            check_thinking(&pointer, blocks, problems);
            for (block, content) in blocks.iter().enumerate() {
                let place = BlockPosition { turn: index, reply: reply_index, attempt, block, within: None };
                check_block(place, content, problems);
            }
        }
        malformations::check_reply(&format!("{base}/replies/{reply_index}"), reply, problems);
        let n_calls = reply.n_calls();
        problems.add_if(reply.interleave && n_calls < 2, || {
            Problem::new(
                format!("{base}/replies/{reply_index}/interleave"),
                "`interleave` needs at least two calls in one attempt",
            )
        });
    }
}

/// The model thinks at most once, before any other output. A reply that contains only thinking is refused
/// when it is sent back.
fn check_thinking(pointer: &str, blocks: &[Block], problems: &mut Problems) {
    let thinks = |block: &Block| matches!(block, Block::Think(_));
    let late = blocks.iter().skip(1).position(thinks);
    if let Some(late) = late {
        problems.add(
            Problem::new(
                format!("{pointer}/{}/think", late + 1),
                "`think` is allowed once, as the first block of a reply",
            )
            .with_hint("keep one `think`, at the start of the reply"),
        );
    } else {
        problems.add_if(blocks.len() == 1 && blocks.iter().all(thinks), || {
            Problem::new(pointer, "the reply contains only `think`")
                .with_hint("add a `text` or a `call` after `think`")
        });
    }
}

pub(super) fn check_block(place: BlockPosition, block: &Block, problems: &mut Problems) {
    match block {
        Block::Think(said) => text(&format!("{place}/think"), "the model's thinking", said, problems),
        // A model may open a text without filling it.
        Block::Text(said) if said.is_empty() => {}
        Block::Text(said) => text(&format!("{place}/text"), "the model's text", said, problems),
        // Searches are checked separately, all at once.
        Block::Search(_) | Block::Found(_) => {}
        Block::Call(call) => {
            problems.add_if(!(1..=MAX_DELTAS).contains(&call.deltas), || {
                Problem::new(
                    format!("{place}/call/deltas"),
                    format!("`deltas` must be 1 to {MAX_DELTAS}, not {}", call.deltas),
                )
            });
            too_many(&format!("{place}/call/args"), "arguments", call.args.len(), MAX_ARGS, problems);
            let length: usize =
                call.args.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
            problems.add_if(length > MAX_STRING, || {
                Problem::new(
                    format!("{place}/call/args"),
                    format!("the arguments are longer than {MAX_STRING} bytes"),
                )
            });
        }
    }
}

fn n_calls(turn: &Turn) -> usize {
    turn.replies.iter().flat_map(|reply| &reply.attempts).map(|blocks| calls_in(blocks)).sum()
}

fn calls_in(blocks: &[Block]) -> usize {
    let within = |call: &Call| {
        call.agent.iter().flat_map(|agent| &agent.replies).map(|blocks| calls_in(blocks)).sum::<usize>()
    };
    blocks.iter().filter_map(Block::call).map(|call| 1 + within(call)).sum()
}

fn is_kebab_case(word: &str) -> bool {
    let part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    word.split('-').all(part)
}

pub(super) fn is_evidence(text: &str) -> bool {
    let name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let is_address = text.strip_prefix("https://").is_some_and(|rest| {
        rest.contains('.') && !rest.starts_with('.') && !rest.contains(char::is_whitespace)
    });
    let is_thread = text.split_once('#').is_some_and(|(repository, number)| {
        let number_is_one = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        number_is_one && repository.split_once('/').is_some_and(|(owner, repo)| name(owner) && name(repo))
    });
    is_address || is_thread
}
