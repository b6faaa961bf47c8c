//! How a session broke, if its store shows it: scenarios of the cause, which count only if a planted bug
//! fails them.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate::judged;
use brickbat_rules::histories::{Block, Role};
use brickbat_rules::{Dialect, Rule};
use brickbat_scenario::lower;
use brickbat_scenario::plan::Side;
use brickbat_scenario::point::{Point, Which};
use brickbat_scenario::scenario::{self as scenario, Action, At, Call, Reply, Scenario, Tool, Turn};
use brickbat_scenario::verdict::{Finding, Verdict};
use brickbat_sessions::{Ending, Judgement, Message, Progress, Session};

use super::shape::{Shape, ShapeArgs, ShapeBlock, ShapeMessage};

/// A sign in the store of how its thread broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// The user stopped the turn.
    Stopped,
    /// A result arrived after the turn had been stopped.
    CameLate,
    /// The reply failed on the way.
    Failed,
    /// Calls had begun, and nothing was recorded after them.
    BrokenOff,
}

impl Sign {
    /// The sign, as text.
    pub fn words(self) -> &'static str {
        match self {
            Sign::Stopped => "the user stopped the turn",
            Sign::CameLate => "a result came after the turn was over",
            Sign::Failed => "a reply failed on its way",
            Sign::BrokenOff => "calls had begun, and nothing was recorded after them",
        }
    }

    /// The actions that may have caused it, likeliest first.
    fn actions(self) -> Vec<Action> {
        match self {
            Sign::Stopped | Sign::CameLate => vec![Action::Abort],
            Sign::Failed => vec![Action::Reset, Action::Eof],
            Sign::BrokenOff => vec![Action::Kill, Action::Abort],
        }
    }
}

/// The text that Claude Code writes in the user's name when a turn is stopped (anthropics/claude-code#86001).
const INTERRUPTED: [&str; 2] =
    ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];

/// The signs in the store of how the thread broke.
pub(super) fn signs(session: &Session, judgement: &Judgement) -> BTreeSet<Sign> {
    let mut signs = BTreeSet::new();
    let Some(at) = broken_reply(session, judgement) else { return signs };
    let reply = &session.messages[at];
    let after = &session.messages[at + 1..];
    let next_user = after.iter().position(|message| message.role == Role::User && says_something(message));
    let is_marker = |message: &Message| texts(message).any(|text| INTERRUPTED.contains(&text));
    let is_next_marked = after.iter().take(2).any(is_marker);
    let is_next_stopped = after.first().is_some_and(|next| next.ending == Ending::Aborted);
    if reply.ending == Ending::Aborted || is_next_marked || is_next_stopped {
        signs.insert(Sign::Stopped);
    }
    if reply.ending == Ending::Failed {
        signs.insert(Sign::Failed);
    }
    let late = next_user.map_or(&[][..], |next| &after[next..]);
    let own: BTreeSet<&str> = reply.calls().map(|call| call.id.as_str()).collect();
    if late.iter().flat_map(Message::results).any(|result| own.contains(result.call.as_str())) {
        signs.insert(Sign::CameLate);
    }
    let is_unfinished =
        |state: &str| matches!(Progress::of(state), Some(Progress::Written | Progress::Begun));
    let has_begun = reply.blocks.iter().filter_map(|block| block.state.as_deref()).any(is_unfinished);
    if next_user.is_none() || has_begun {
        signs.insert(Sign::BrokenOff);
    }
    signs
}

/// The reply that the rejection refers to: the one at that position, or the last one before it that makes
/// calls.
fn broken_reply(session: &Session, judgement: &Judgement) -> Option<usize> {
    let place = judgement.refusals.first().and_then(|refusal| refusal.place.as_ref());
    let is_there = |message: &Message| {
        place.is_some_and(|place| {
            message.place == *place || message.blocks.iter().any(|block| block.place == *place)
        })
    };
    let end = session.messages.iter().position(is_there).map_or(session.messages.len(), |at| at + 1);
    session.messages[..end].iter().rposition(|message| message.calls().next().is_some())
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.blocks.iter().filter_map(|block| match &block.content {
        Block::Text(text) => Some(text.trim()),
        _ => None,
    })
}

fn says_something(message: &Message) -> bool {
    texts(message).any(|text| !text.is_empty())
}

/// Scenarios in which the thread may have broken like this: the batch of the minimised structure, with each
/// possible action.
pub(super) fn proposals(signs: &BTreeSet<Sign>, shape: &Shape, rule: &Rule) -> Vec<(Sign, Scenario)> {
    let Some(batch) = Batch::of(shape) else { return Vec::new() };
    let mut proposals = Vec::new();
    for sign in signs {
        for action in sign.actions() {
            for (side, point) in batch.points(*sign) {
                let proposal = batch.scenario(*sign, At::new(side, point, action.clone()), rule);
                proposals.push((*sign, proposal));
            }
        }
    }
    proposals
}

/// The first planted bug that fails a scenario with this rule, and the finding, if the reference agent passes
/// the scenario.
pub(super) fn shown_by(scenario: &Scenario, dialect: Dialect, rule: &Rule) -> Option<(Canary, Finding)> {
    let plan = lower::lower(super::PLAYED_AS, "", scenario, dialect, 0).ok()?;
    if plan.impossible.is_some() {
        return None;
    }
    let judgement = |canary| judged(&plan, |plan| Agent::of_plan(plan, Delivery::Streamed, canary)).ok();
    if judgement(None)?.verdict != Verdict::Pass {
        return None;
    }
    Canary::all().find_map(|canary| {
        let failed = judgement(Some(canary)).filter(|judgement| judgement.verdict == Verdict::Fail)?;
        let finding = failed.findings.into_iter().find(|finding| finding.rule == Some(rule.id))?;
        Some((canary, finding))
    })
}

/// A batch of calls in which only some were answered.
struct Batch {
    /// The calls, answered ones first.
    calls: Vec<Call>,
    tools: Vec<String>,
    n_answered: u32,
}

impl Batch {
    /// The last batch of a structure that the next message does not answer completely.
    fn of(shape: &Shape) -> Option<Batch> {
        let at = shape.messages.iter().enumerate().rposition(|(at, message)| {
            let next = shape.messages.get(at + 1).map_or(&[][..], ShapeMessage::results);
            message.made().any(|call| next.iter().all(|result| result.call != call))
        })?;
        let answers = shape.messages.get(at + 1).map_or(&[][..], ShapeMessage::results);
        let ShapeMessage::Assistant(blocks) = &shape.messages[at] else { return None };
        let mut numbered: Vec<(usize, Call)> = Vec::new();
        for block in blocks {
            // A batch with malformed arguments was not broken by an action.
            if let ShapeBlock::Call { call, args: args @ ShapeArgs::Object(_) } = block {
                numbered.push((*call, Call { id: None, ..shape.call(*call, Some(args)) }));
            }
        }
        let place = |call: usize| answers.iter().position(|result| result.call == call);
        let n_answered = numbered.iter().filter(|(call, _)| place(*call).is_some()).count() as u32;
        numbered.sort_by_key(|(call, _)| place(*call).unwrap_or(usize::MAX));
        let mut tools: Vec<String> = numbered.iter().map(|(_, call)| call.tool.clone()).collect();
        tools.sort();
        tools.dedup();
        let calls: Vec<Call> = numbered.into_iter().map(|(_, call)| call).collect();
        (!calls.is_empty()).then_some(Batch { calls, tools, n_answered })
    }

    /// The points at which it may have broken, likeliest first.
    fn points(&self, sign: Sign) -> Vec<(Side, Point)> {
        let n = self.calls.len() as u32;
        let mut points = match self.n_answered {
            0 => vec![Point::Started(Which::Count(n))],
            answered => vec![Point::Settled(Which::Count(answered))],
        };
        points.push(Point::Calls);
        points.push(Point::Reply);
        if sign == Sign::Failed {
            points.retain(|point| *point == Point::Calls);
            points.extend(self.calls.iter().rev().map(|call| Point::End(call.name.clone())));
        }
        points.into_iter().map(|point| (Side::After, point)).collect()
    }

    fn scenario(&self, sign: Sign, at: At, rule: &Rule) -> Scenario {
        let deaf = sign == Sign::CameLate;
        let tool =
            |name: &String| (name.clone(), Tool { deaf, ..Tool::returning(format!("result of {name}")) });
        let calls: Vec<scenario::Block> = self.calls.iter().cloned().map(scenario::Block::Call).collect();
        let settle = match self.calls.len() {
            1 => Vec::new(),
            _ => self.calls.iter().map(|call| call.name.clone()).collect(),
        };
        let done = || Reply::new(vec![scenario::Block::Text("It is done.".to_owned())]);
        let turns = vec![
            Turn { settle, at: vec![at], ..Turn::new("Message 1.", vec![Reply::new(calls), done()]) },
            Turn::new("Go on.", vec![Reply::new(vec![scenario::Block::Text("It goes on.".to_owned())])]),
        ];
        let comment = format!("How a stored session may have broken ({}): {}.", rule.id, sign.words());
        plain(comment, self.tools.iter().map(tool).collect(), turns)
    }
}

/// A scenario that consists only of tools and turns.
pub(super) fn plain(comment: String, tools: BTreeMap<String, Tool>, turns: Vec<Turn>) -> Scenario {
    Scenario { tools, turns, ..Scenario::new(comment) }
}
