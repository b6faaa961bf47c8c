//! The points of a turn as they are named in a scenario, without lowering it.

use brickbat_scenario::plan::Side;
use brickbat_scenario::point::{Point, Region, Shape, Which, in_stream};
use brickbat_scenario::scenario::{Action, At, Block, Call, Reply, Scenario, Tool};

/// A side of a point in a turn, at which something may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The reply, from 1; 1 if the point belongs to the turn.
    pub reply: u32,
    /// The 1-based number of the attempt at the reply.
    pub attempt: u32,
    pub side: Side,
    pub point: Point,
    pub region: Region,
    /// The 0-based index of the reply that streams the point, or whose tools the point concerns.
    pub of_reply: usize,
}

impl Spot {
    pub fn at(&self, action: Action) -> At {
        At { reply: self.reply, attempt: self.attempt, ..At::new(self.side, self.point.clone(), action) }
    }

    pub fn is_of(&self, at: &At) -> bool {
        (at.reply, at.attempt) == (self.reply, self.attempt) && at.place() == Some((self.side, &self.point))
    }
}

/// Every point of a turn (from 0) at which something may go wrong, in causal order where the order is
/// defined.
pub(crate) fn of(scenario: &Scenario, index: usize) -> Vec<Spot> {
    let Some(turn) = scenario.turns.get(index) else { return Vec::new() };
    let mut spots = Vec::new();
    if index > 0 {
        add(&mut spots, (1, 1), 0, Side::Before, Point::Prompt);
    }
    let limit = scenario.limits.steps.map_or(usize::MAX, |steps| steps as usize);
    let mut counted = Counted::default();
    for (number, reply) in turn.replies.iter().enumerate().take(limit) {
        for (attempt, blocks) in reply.attempts.iter().enumerate() {
            streamed(&mut spots, (number, attempt), blocks);
        }
        tools(&mut spots, scenario, (number, reply), &turn.settle, &mut counted);
    }
    if scenario.may_compact(index) {
        add(&mut spots, (1, 1), 0, Side::Before, Point::Compaction(1));
        add(&mut spots, (1, 1), 0, Side::After, Point::Compaction(1));
    }
    for entry in 1..=turn.n_saved() {
        // A turn is not visible before its first entry is saved.
        if entry > 1 {
            add(&mut spots, (1, 1), 0, Side::Before, Point::Saved(entry));
        }
        add(&mut spots, (1, 1), 0, Side::After, Point::Saved(entry));
    }
    spots
}

/// The calls that have started at a point of the turn, and may not have settled.
pub(crate) fn started<'s>(spots: &'s [Spot], at: &Spot) -> Vec<&'s str> {
    let is_streamed = at.region.is_of_reply();
    let place = spots.iter().position(|spot| spot == at).unwrap_or(0);
    let before = spots[..place].iter().chain(spots.get(place));
    let names = before.filter_map(|spot| match &spot.point {
        Point::End(name) if is_streamed && (spot.reply, spot.attempt) == (at.reply, at.attempt) => {
            Some(name.as_str())
        }
        Point::Started(Which::Call(name)) if !is_streamed && spot.of_reply == at.of_reply => {
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

fn add(spots: &mut Vec<Spot>, (reply, attempt): (u32, u32), of_reply: usize, side: Side, point: Point) {
    if let Ok(region) = point.region(side) {
        spots.push(Spot { reply, attempt, side, point, region, of_reply });
    }
}

fn streamed(spots: &mut Vec<Spot>, (number, attempt): (usize, usize), blocks: &[Block]) {
    let place = (number as u32 + 1, attempt as u32 + 1);
    for point in in_stream(blocks.iter().map(Shape::from)) {
        // Before any other point is the same as after the previous point.
        if matches!(point, Point::Headers | Point::Stop | Point::Reply) {
            add(spots, place, number, Side::Before, point.clone());
        }
        add(spots, place, number, Side::After, point);
    }
}

/// The number of calls in the replies so far.
#[derive(Default)]
struct Counted {
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
    if reply.n_calls() == 0 {
        return;
    }
    let mut add = |side: Side, point: Point| add(spots, (1, 1), number, side, point);
    let mut running: Vec<&Call> = Vec::new();
    for call in reply.attempts.last().into_iter().flatten().filter_map(Block::call) {
        let tool = scenario.tools.get(&call.tool);
        if tool.is_some_and(|tool| tool.asks) && call.raw.is_none() {
            add(Side::After, Point::Asked(call.name.clone()));
        }
        if runs(call, tool) {
            running.push(call);
        }
    }
    for (n, call) in running.iter().enumerate() {
        add(Side::After, Point::Started(Which::Call(call.name.clone())));
        add(Side::After, Point::Started(Which::Count(counted.n_running + n as u32 + 1)));
    }
    let mut settling: Vec<&Call> = running.iter().copied().filter(|call| !hangs(scenario, call)).collect();
    settling.sort_by_key(|call| settle.iter().position(|name| *name == call.name).unwrap_or(usize::MAX));
    if number == 0 {
        add(Side::After, Point::Settled(Which::Count(0)));
    }
    for (n, call) in settling.iter().enumerate() {
        add(Side::Before, Point::Settled(Which::Call(call.name.clone())));
        add(Side::After, Point::Settled(Which::Call(call.name.clone())));
        add(Side::After, Point::Settled(Which::Count(counted.n_settling + n as u32 + 1)));
    }
    counted.n_running += running.len() as u32;
    counted.n_settling += settling.len() as u32;
}

/// True if the tool of a call ever starts.
pub(crate) fn runs(call: &Call, tool: Option<&Tool>) -> bool {
    let starts = |tool: &Tool| !(tool.missing || (tool.asks && tool.denies.is_some()));
    call.raw.is_none() && tool.is_some_and(starts)
}

/// True if the tool of a call does not settle on its own.
pub(crate) fn hangs(scenario: &Scenario, call: &Call) -> bool {
    scenario.tools.get(&call.tool).is_some_and(|tool| tool.hangs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::parse::parse;
    use brickbat_scenario::point::PointSpec;
    use std::collections::BTreeSet;

    /// Two turns with every kind of block, and a tool that asks.
    const EVERY_BLOCK: &str = "\
schema: 1
comment: x
tools: { lookup: { returns: ok, asks: true } }
turns:
  - user: Hi.
    replies:
      - - think: I think.
        - text: I look.
        - search: { as: s, query: orders, finds: Two orders }
        - call: { as: a, tool: lookup, args: {} }
      - - text: Done.
  - user: Thanks.
    replies: [[{ text: Bye. }]]
    at: [{ before: headers, do: { tokens: 190000 } }]
";

    #[test]
    fn every_point_of_the_table_is_drawn() {
        let scenario = parse("x.yaml", EVERY_BLOCK).unwrap().remove(0).scenario;
        let spots = (0..scenario.turns.len()).flat_map(|turn| of(&scenario, turn));
        let drawn: BTreeSet<&str> = spots.map(|spot| spot.point.spec().name).collect();
        assert_eq!(drawn, PointSpec::ALL.iter().map(|spec| spec.name).collect());
    }
}
