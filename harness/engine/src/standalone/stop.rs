//! Points at which the program itself is stopped or killed, as a phrase: `after end a of reply 2`.

use std::fmt;
use std::time::Duration;

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
    /// The time after the point, while the program runs its tools.
    pub(crate) later: Duration,
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

    /// Reads `after POINT of reply N`, or `before`. Without a number, it means the first reply. After a reply, the
    /// program runs its tools, so `after reply of reply N + 500ms` is a point, too.
    fn from_str(words: &str) -> Result<ReplyPoint, NoPoint> {
        let unknown = || {
            NoPoint(format!(
                "`{words}` is no point of a reply; write `before` or `after` with headers, text K, start CALL, delta CALL K, \
                 end CALL, calls, stop or reply, and `of reply N`, such as `after end a of reply 2`; `after reply + 500ms` is \
                 a time while tools run"
            ))
        };
        let (at, later) = match words.split_once('+') {
            None => (words, Duration::ZERO),
            Some((at, time)) => (at, delay(time.trim()).ok_or_else(unknown)?),
        };
        let parts: Vec<&str> = at.split_whitespace().collect();
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
        let is_after_all = side == Side::After && point == Point::Reply;
        if reply == 0 || !(later.is_zero() || is_after_all) {
            return Err(unknown());
        }
        Ok(ReplyPoint { side, point, reply, later })
    }
}

impl fmt::Display for ReplyPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} of reply {}", self.side.name(), self.point, self.reply)?;
        match self.later.is_zero() {
            true => Ok(()),
            false => write!(f, " + {}ms", self.later.as_millis()),
        }
    }
}

/// The longest time after a reply, in milliseconds: a program that takes longer than a minute has another reason.
const MAX_DELAY_MS: u64 = 60_000;

/// Reads `500ms` or `2s`.
fn delay(words: &str) -> Option<Duration> {
    let (number, unit_ms) = match words.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (words.strip_suffix('s')?, 1000),
    };
    let time_ms = number.trim().parse::<u64>().ok()?.checked_mul(unit_ms)?;
    (1..=MAX_DELAY_MS).contains(&time_ms).then(|| Duration::from_millis(time_ms))
}

impl ReplyPoint {
    /// The time after the point.
    pub fn later(&self) -> Duration {
        self.later
    }

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
    ///
    /// If its tools are done before the time is over, the program is ended when its next request arrives.
    pub(super) fn planned(&self, number: u32, plan: &Plan, script: &Script) -> Option<PlannedAction> {
        let is_later = !self.at.later.is_zero();
        let is_next = self.at.reply.checked_add(1) == Some(number);
        let next =
            ReplyPoint { side: Side::Before, point: Point::Headers, reply: number, later: Duration::ZERO };
        match is_later {
            true => is_next.then(|| next.planned(plan, script, action(self.end))).flatten(),
            false => {
                (self.at.reply == number).then(|| self.at.planned(plan, script, action(self.end))).flatten()
            }
        }
    }

    /// True if the program is ended while it runs the tools of the reply with this number.
    pub(super) fn is_after(&self, number: u32) -> bool {
        self.at.reply == number && !self.at.later.is_zero()
    }

    /// The way and the point, as a phrase.
    pub(super) fn words(&self) -> String {
        format!("{} {}", action(self.end).spec().name, self.at)
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
            ("after reply + 500ms", "after terminal event of reply 1 + 500ms"),
            ("after reply of reply 2 + 2s", "after terminal event of reply 2 + 2000ms"),
        ] {
            assert_eq!(words.parse::<ReplyPoint>().map(|point| point.to_string()), Ok(shown.to_owned()));
        }
        for wrong in [
            "",
            "calls",
            "after",
            "after text",
            "after text 0",
            "after settled 1",
            "after calls of reply 0",
            "after calls + 1s",
            "after reply + 0s",
            "after reply + 1",
        ] {
            assert!(wrong.parse::<ReplyPoint>().is_err(), "{wrong}");
        }
    }
}
