//! The sub-agents of a scenario: their replies, and the features that cannot be combined with them.

use crate::action::Action;
use crate::plan::ToolOutcome;
use crate::scenario::{Block, Call, Scenario, SubAgent, Tool};

use super::header::check_block;
use super::limits::{MAX_BLOCKS, MAX_REPLIES, text, too_many};
use super::position::{self, BlockPosition};
use super::problem::{Problem, Problems};
use super::tools;

/// The outcome of a call that starts a sub-agent: its last text, or the error of its provider.
pub(super) fn outcome(agent: &SubAgent, marker: &str) -> ToolOutcome {
    match agent.refused {
        Some(status) => ToolOutcome::Throw(format!("the provider of the sub-agent answers with {status}")),
        None => ToolOutcome::Return(last_words(&last_text(agent), marker)),
    }
}

/// The last text of a sub-agent with the marker of its call, by which the result is recognised.
pub(super) fn last_words(text: &str, marker: &str) -> String {
    format!("{text} [{marker}]")
}

fn last_text(agent: &SubAgent) -> String {
    let texts = agent.replies.last().into_iter().flatten().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Think(_) | Block::Call(_) | Block::Search(_) | Block::Found(_) => None,
    });
    texts.collect()
}

/// Rejects other keys for a tool that is a sub-agent.
pub(super) fn check_tool(name: &str, tool: &Tool, problems: &mut Problems) {
    let base = format!("/tools/{}", position::step(name));
    for key in tools::keys_beside(tool, &["agent", "called"]) {
        let message = format!("the tool `{name}` is an `agent`, which does not allow `{key}`");
        problems.add(Problem::new(format!("{base}/{key}"), message));
    }
}

/// Checks that a call fits its tool: a sub-agent, or any other tool.
pub(super) fn check_call(
    (place, call): (BlockPosition, &Call),
    (tool, scenario): (&Tool, &Scenario),
    problems: &mut Problems,
) {
    let base = format!("{place}/call");
    match &call.agent {
        None => problems.add_if(tool.agent, || {
            Problem::new(
                &base,
                format!("the tool `{}` is an `agent`, but this call does not say what it does", call.tool),
            )
            .with_hint("give the call `agent`, with `asked` and `replies`")
        }),
        Some(_) if !tool.agent => {
            let message = format!("the tool `{}` is not an `agent`", call.tool);
            problems.add(Problem::new(format!("{base}/agent"), message));
        }
        Some(agent) => {
            problems.add_if(!call.args.is_empty() || call.raw.is_some() || call.id.is_some(), || {
                Problem::new(&base, "the call of a sub-agent cannot have `args`, `raw` or `id`")
                    .with_hint("put its prompt into `agent`")
            });
            if place.within.is_some() {
                let message = "a sub-agent does not start sub-agents";
                return problems.add(Problem::new(format!("{base}/agent"), message));
            }
            check_replies(place, agent, scenario, problems);
        }
    }
}

fn check_replies(place: BlockPosition, agent: &SubAgent, scenario: &Scenario, problems: &mut Problems) {
    let base = format!("{place}/call/agent");
    text(&format!("{base}/asked"), "what the sub-agent is asked", &agent.asked, problems);
    too_many(&format!("{base}/replies"), "replies", agent.replies.len(), MAX_REPLIES, problems);
    problems.add_if(agent.replies.is_empty(), || {
        Problem::new(format!("{base}/replies"), "a sub-agent must have at least one reply")
    });
    problems.add_if(agent.refused.is_some_and(|status| !(400..=599).contains(&status)), || {
        Problem::new(format!("{base}/refused"), "`refused` is an error status, 400 to 599")
    });
    for (reply, blocks) in agent.replies.iter().enumerate() {
        let pointer = format!("{base}/replies/{reply}");
        let is_last = reply + 1 == agent.replies.len();
        too_many(&pointer, "blocks", blocks.len(), MAX_BLOCKS, problems);
        let has_calls = blocks.iter().any(|block| block.call().is_some());
        problems.add_if(has_calls == is_last, || {
            Problem::new(
                &pointer,
                "the last reply of a sub-agent must be text, and all others must make calls",
            )
        });
        problems.add_if(is_last && !has_calls && last_text(agent).trim().is_empty(), || {
            Problem::new(&pointer, "the last reply of a sub-agent contains text")
        });
        for (block, said) in blocks.iter().enumerate() {
            let place = BlockPosition { within: Some((reply, block)), ..place };
            check_block(place, said, problems);
            match said {
                Block::Think(_) => {
                    problems.add(Problem::new(format!("{place}/think"), "a sub-agent cannot use `think`"));
                }
                Block::Text(text) => problems.add_if(text.is_empty(), || {
                    Problem::new(format!("{place}/text"), "a sub-agent's text must not be empty")
                }),
                Block::Search(_) | Block::Found(_) => {
                    problems.add(Problem::new(format!("{place}"), "a sub-agent cannot search"));
                }
                Block::Call(call) => check_inner(&format!("{place}/call"), call, scenario, problems),
            }
        }
    }
}

/// Rejects unusual features in a sub-agent's calls.
fn check_inner(pointer: &str, call: &Call, scenario: &Scenario, problems: &mut Problems) {
    problems.add_if(call.raw.is_some() || call.id.is_some(), || {
        Problem::new(pointer, "the calls of a sub-agent cannot have `raw` or `id`")
    });
    let Some(tool) = scenario.tools.get(&call.tool) else { return };
    let common = ["returns", "fails", "throws", "denies", "bytes", "deaf", "called", "agent"];
    let is_uncommon = tools::keys_beside(tool, &common).next().is_some();
    problems.add_if(is_uncommon, || {
        Problem::new(
            format!("{pointer}/tool"),
            "a sub-agent cannot call a tool that is `missing`, that `asks`, `hangs`, `ends` or \
             `hands_over`, or a `client` tool",
        )
    });
}

/// Rejects a changed history, a given history and a window in a scenario with sub-agents, because a sub-agent
/// is recognised by the beginning of its conversation.
pub(super) fn check_scenario(scenario: &Scenario, problems: &mut Problems) {
    if !scenario.tools.values().any(|tool| tool.agent) {
        return;
    }
    for (turn, said) in scenario.turns.iter().enumerate() {
        for (index, at) in said.at.iter().enumerate() {
            let is_change = at.action.changes_history()
                || matches!(at.action, Action::Tokens(_) | Action::Provider(_) | Action::Thinking(_));
            problems.add_if(is_change, || {
                let message = "this cannot be combined with sub-agents";
                Problem::new(format!("/turns/{turn}/at/{index}/do"), message)
            });
        }
    }
    problems.add_if(scenario.given.is_some(), || {
        Problem::new("/given", "a given history cannot be combined with sub-agents")
    });
    problems.add_if(scenario.limits.window.is_some(), || {
        Problem::new("/limits/window", "a window cannot be combined with sub-agents")
    });
}
