//! Points at which the program itself is stopped or killed, as a phrase: `after end a of reply 2`.

use std::fmt;

use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{BoundAction, Mark, Plan, PlannedAction, PlannedPoint, Script, Side};
use brickbat_scenario::point::Point;

/// The way in which the program is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramEnd {
    /// Like Ctrl-C.
    Interrupt,
    /// Immediately, by SIGKILL.
    Kill,
}

/// A point in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyPoint {
    pub(crate) side: Side,
    pub(crate) point: Point,
    /// The 1-based number of the reply.
    pub(crate) reply: u32,
}

/// A point at which the program is ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramStop {
    /// The point.
    pub at: ReplyPoint,
    /// The way.
    pub end: ProgramEnd,
}

/// The error for a text that does not name a point of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPoint(String);

impl NoPoint {
    /// An error with this reason.
    pub fn because(reason: String) -> NoPoint {
        NoPoint(reason)
    }
}

impl fmt::Display for NoPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoPoint {}

impl std::str::FromStr for ReplyPoint {
    type Err = NoPoint;

    /// Reads `after POINT of reply N`, or `before`. Without a number, it means the first reply.
    fn from_str(words: &str) -> Result<ReplyPoint, NoPoint> {
        let unknown = || {
            NoPoint(format!(
                "`{words}` is no point of a reply; write `before` or `after` with headers, text K, start CALL, delta CALL K, \
                 end CALL, calls, stop or reply, and `of reply N`, such as `after end a of reply 2`"
            ))
        };
        let parts: Vec<&str> = words.split_whitespace().collect();
        let (place, reply) = match parts.as_slice() {
            [place @ .., "of", "reply", number] => (place, number.parse().map_err(|_| unknown())?),
            place => (place, 1),
        };
        let number = |word: &str| word.parse::<u32>().ok().filter(|number| *number > 0).ok_or_else(unknown);
        let (side, point) = place.split_first().ok_or_else(unknown)?;
        let side = match *side {
            "before" => Side::Before,
            "after" => Side::After,
            _ => return Err(unknown()),
        };
        let point = match point {
            ["headers"] => Point::Headers,
            ["text", k] => Point::Text(number(k)?),
            ["start", call] => Point::Start((*call).to_owned()),
            ["delta", call, k] => Point::Delta((*call).to_owned(), number(k)?),
            ["end", call] => Point::End((*call).to_owned()),
            ["calls"] => Point::Calls,
            ["stop"] => Point::Stop,
            ["reply"] => Point::Reply,
            _ => return Err(unknown()),
        };
        if reply == 0 {
            return Err(unknown());
        }
        Ok(ReplyPoint { side, point, reply })
    }
}

impl fmt::Display for ReplyPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} of reply {}", self.side.name(), self.point, self.reply)
    }
}

impl ReplyPoint {
    /// An action at this point of a reply, if the reply has the point.
    pub(super) fn planned(&self, plan: &Plan, script: &Script, what: BoundAction) -> Option<PlannedAction> {
        let find = |name: &str| script.calls().find(|key| plan.calls[key.0 as usize].name == name);
        let mark = match &self.point {
            Point::Headers => Mark::Headers,
            Point::Text(k) => Mark::Text(*k),
            Point::Start(name) => Mark::Start(find(name)?),
            Point::Delta(name, k) => Mark::Delta(find(name)?, *k),
            Point::End(name) => Mark::End(find(name)?),
            Point::Calls => Mark::Calls,
            Point::Stop => Mark::Stop,
            Point::Reply => Mark::Reply,
            _ => return None,
        };
        let at = PlannedPoint::Stream { reply: 0, attempt: 0, mark, side: self.side };
        Some(PlannedAction { words: self.to_string(), at, what })
    }
}

impl ProgramStop {
    /// The stop as an action, if the number matches and the reply has the point.
    pub(super) fn planned(&self, number: u32, plan: &Plan, script: &Script) -> Option<PlannedAction> {
        (self.at.reply == number).then(|| self.at.planned(plan, script, action(self.end))).flatten()
    }
}

/// The action of a plan that ends a program this way.
fn action(end: ProgramEnd) -> BoundAction {
    match end {
        ProgramEnd::Interrupt => Action::Abort,
        ProgramEnd::Kill => Action::Kill,
    }
}

/// The way in which an action of a plan ends the program, if it does.
pub(super) fn end_of(what: &BoundAction) -> Option<ProgramEnd> {
    match what {
        Action::Abort | Action::StopAgain => Some(ProgramEnd::Interrupt),
        Action::Kill => Some(ProgramEnd::Kill),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_in_the_notation_of_scenarios() {
        for (words, shown) in [
            ("after calls", "after calls of reply 1"),
            ("before  headers of reply 2", "before headers of reply 2"),
            ("after delta b 2 of reply 3", "after delta b 2 of reply 3"),
            ("after reply", "after terminal event of reply 1"),
        ] {
            assert_eq!(words.parse::<ReplyPoint>().map(|point| point.to_string()), Ok(shown.to_owned()));
        }
        for wrong in
            ["", "calls", "after", "after text", "after text 0", "after settled 1", "after calls of reply 0"]
        {
            assert!(wrong.parse::<ReplyPoint>().is_err(), "{wrong}");
        }
    }
}
