//! The points of a turn as a scenario speaks of them, without lowering it.

use brickbat_scenario::lower::MAX_DELTAS;
use brickbat_scenario::scenario::{Action, At, Block, Call, Point, Reply, Scenario, Tool, Which};

/// A point of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub reply: u32,
    pub attempt: u32,
    pub is_before: bool,
    pub point: Point,
    /// The call whose tool the point is about, or the reply whose.
    pub of_reply: usize,
}

/// The kinds of points, by what can happen there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// Between two turns.
    Prompt,
    /// Before a request is answered.
    Headers,
    /// In a stream.
    Stream,
    /// While the user is asked.
    Question,
    /// While tools run.
    Tools,
    /// Behind a result.
    Result,
    /// Between two writes of the store.
    Store,
}

impl Spot {
    /// An action here.
    pub fn at(&self, action: Action) -> At {
        let point = Some(self.point.clone());
        let (before, after) = if self.is_before { (point, None) } else { (None, point) };
        At { reply: self.reply, attempt: self.attempt, before, after, action }
    }

    /// Whether an action stands here.
    pub fn is_of(&self, at: &At) -> bool {
        let said = if self.is_before { (&at.before, &at.after) } else { (&at.after, &at.before) };
        (at.reply, at.attempt) == (self.reply, self.attempt)
            && said.0.as_ref() == Some(&self.point)
            && said.1.is_none()
    }

    /// What kind of point it is.
    pub fn region(&self) -> Region {
        match (&self.point, self.is_before) {
            (Point::Prompt, _) => Region::Prompt,
            (Point::Headers, true) => Region::Headers,
            (Point::Asked(_), _) => Region::Question,
            (Point::Started(_), _) | (Point::Settled(Which::Count(0)), _) => Region::Tools,
            (Point::Settled(_), true) => Region::Tools,
            (Point::Settled(_), false) => Region::Result,
            (Point::Saved(_), _) => Region::Store,
            _ => Region::Stream,
        }
    }

    /// Whether it is in a stream.
    pub fn is_streamed(&self) -> bool {
        matches!(self.region(), Region::Headers | Region::Stream)
    }
}

/// Every point of a turn (from 0) at which something may go wrong, in causal order where there is one.
pub(super) fn of(scenario: &Scenario, index: usize) -> Vec<Spot> {
    let Some(turn) = scenario.turns.get(index) else { return Vec::new() };
    let mut spots = Vec::new();
    if index > 0 {
        spots.push(of_turn(true, Point::Prompt, 0));
    }
    let limit = scenario.limits.steps.map_or(usize::MAX, |steps| steps as usize);
    let mut counted = Counted::default();
    for (number, reply) in turn.replies.iter().enumerate().take(limit) {
        for (attempt, blocks) in reply.attempts.iter().enumerate() {
            streamed(&mut spots, (number, attempt), blocks);
        }
        tools(&mut spots, scenario, (number, reply), &turn.settle, &mut counted);
    }
    spots.push(of_turn(false, Point::Saved(1), 0));
    for entry in 2..=1 + 2 * counted.n_calls {
        spots.push(of_turn(true, Point::Saved(entry), 0));
        spots.push(of_turn(false, Point::Saved(entry), 0));
    }
    spots
}

/// The calls that have started at a point of the turn, and need not have settled.
pub(super) fn started<'s>(spots: &'s [Spot], at: &Spot) -> Vec<&'s str> {
    let place = spots.iter().position(|spot| spot == at).unwrap_or(0);
    let before = spots[..place].iter().chain(spots.get(place));
    let names = before.filter_map(|spot| match &spot.point {
        Point::End(name) if at.is_streamed() && (spot.reply, spot.attempt) == (at.reply, at.attempt) => {
            Some(name.as_str())
        }
        Point::Started(Which::Call(name)) if !at.is_streamed() && spot.of_reply == at.of_reply => {
            Some(name.as_str())
        }
        _ => None,
    });
    let own = match &at.point {
        Point::Settled(Which::Call(name)) => Some(name.as_str()),
        _ => None,
    };
    names.filter(|name| own != Some(*name)).collect()
}

/// A point that belongs to the turn and not to an attempt.
fn of_turn(is_before: bool, point: Point, of_reply: usize) -> Spot {
    Spot { reply: 1, attempt: 1, is_before, point, of_reply }
}

fn streamed(spots: &mut Vec<Spot>, (number, attempt): (usize, usize), blocks: &[Block]) {
    let mut add = |is_before: bool, point: Point| {
        let (reply, attempt) = (number as u32 + 1, attempt as u32 + 1);
        spots.push(Spot { reply, attempt, is_before, point, of_reply: number });
    };
    let fragments = |text: &str| text.chars().take(2).count().max(1) as u32;
    let (mut n_thoughts, mut n_texts, mut n_calls) = (0, 0, 0);
    add(true, Point::Headers);
    add(false, Point::Headers);
    for block in blocks {
        match block {
            Block::Think(text) => {
                (0..fragments(text)).for_each(|fragment| add(false, Point::Think(n_thoughts + fragment + 1)));
                n_thoughts += fragments(text);
            }
            Block::Text(text) => {
                (0..fragments(text)).for_each(|fragment| add(false, Point::Text(n_texts + fragment + 1)));
                n_texts += fragments(text);
            }
            Block::Call(call) => {
                n_calls += 1;
                add(false, Point::Start(call.name.clone()));
                (1..=call.deltas.min(MAX_DELTAS))
                    .for_each(|delta| add(false, Point::Delta(call.name.clone(), delta)));
                add(false, Point::End(call.name.clone()));
            }
        }
    }
    if n_calls > 0 {
        add(false, Point::Calls);
    }
    add(true, Point::Stop);
    add(false, Point::Stop);
    add(true, Point::Reply);
    add(false, Point::Reply);
}

/// The calls of the replies so far.
#[derive(Default)]
struct Counted {
    n_calls: u32,
    n_running: u32,
    n_settling: u32,
}

fn tools(
    spots: &mut Vec<Spot>,
    scenario: &Scenario,
    (number, reply): (usize, &Reply),
    settle: &[String],
    counted: &mut Counted,
) {
    let attempts = reply.attempts.iter().map(|blocks| of_attempt(blocks).count());
    let n_calls = attempts.max().unwrap_or(0) as u32;
    if n_calls == 0 {
        return;
    }
    let mut add = |is_before: bool, point: Point| spots.push(of_turn(is_before, point, number));
    let mut running: Vec<&Call> = Vec::new();
    for call in reply.attempts.last().into_iter().flat_map(|blocks| of_attempt(blocks)) {
        let tool = scenario.tools.get(&call.tool);
        if tool.is_some_and(|tool| tool.asks) && call.raw.is_none() {
            add(false, Point::Asked(call.name.clone()));
        }
        if runs(call, tool) {
            running.push(call);
        }
    }
    let before = counted.n_running;
    for (n, call) in running.iter().enumerate() {
        add(false, Point::Started(Which::Call(call.name.clone())));
        add(false, Point::Started(Which::Count(before + n as u32 + 1)));
    }
    let mut settling: Vec<&Call> = running.iter().copied().filter(|call| !hangs(scenario, call)).collect();
    settling.sort_by_key(|call| settle.iter().position(|name| *name == call.name).unwrap_or(usize::MAX));
    if number == 0 {
        add(false, Point::Settled(Which::Count(0)));
    }
    for (n, call) in settling.iter().enumerate() {
        add(true, Point::Settled(Which::Call(call.name.clone())));
        add(false, Point::Settled(Which::Call(call.name.clone())));
        add(false, Point::Settled(Which::Count(counted.n_settling + n as u32 + 1)));
    }
    counted.n_calls += n_calls;
    counted.n_running += running.len() as u32;
    counted.n_settling += settling.len() as u32;
}

/// The calls of an attempt.
pub(super) fn of_attempt(blocks: &[Block]) -> impl Iterator<Item = &Call> {
    blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        Block::Think(_) | Block::Text(_) => None,
    })
}

/// Whether the tool of a call ever starts.
pub(super) fn runs(call: &Call, tool: Option<&Tool>) -> bool {
    let starts = |tool: &Tool| !(tool.missing || (tool.asks && tool.denies.is_some()));
    call.raw.is_none() && tool.is_some_and(starts)
}

/// Whether the tool of a call does not settle by itself.
pub(super) fn hangs(scenario: &Scenario, call: &Call) -> bool {
    scenario.tools.get(&call.tool).is_some_and(|tool| tool.hangs)
}
