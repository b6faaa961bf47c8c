//! Faults for server replies, and their positions.

use std::fmt;

use crate::standalone::{FaultKind, ReplyPoint};
use brickbat_scenario::plan::Side;
use brickbat_scenario::point::Point;
use brickbat_scenario::random::Random;

/// A fault at a given point: `eof after end a of reply 2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoil {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The point of the reply.
    pub at: ReplyPoint,
}

/// The error for a text that does not name a fault at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSpoil(String);

impl fmt::Display for NoSpoil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoSpoil {}

impl std::str::FromStr for Spoil {
    type Err = NoSpoil;

    /// Reads `KIND after POINT of reply N`, or `before`. Without a number, it means the first reply.
    fn from_str(words: &str) -> Result<Spoil, NoSpoil> {
        let (first, point) = words.trim().split_once(' ').unwrap_or((words.trim(), ""));
        let Some(kind) = FaultKind::ALL.into_iter().find(|kind| kind.name() == first) else {
            let names = FaultKind::ALL.map(FaultKind::name).join(", ");
            return Err(NoSpoil(format!("`{first}` is not a fault; begin with one of {names}")));
        };
        let at: ReplyPoint = point.parse().map_err(|error| NoSpoil(format!("{error}")))?;
        Ok(Spoil { kind, at })
    }
}

/// The fault that is planned for one reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) kind: FaultKind,
    pub(super) at: At,
}

/// The position of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum At {
    Point(Side, Point),
    /// After this number of reply pieces, and in any case before the stop reason, because a complete reply is
    /// not a broken one. The length of a foreign reply is not known in advance.
    Pieces(u32),
}

/// The maximum number of pieces after which a random fault happens. Replies with calls have about ten.
const MAX_PIECES: u64 = 8;

impl Planned {
    pub(super) fn given(spoil: &Spoil) -> Planned {
        Planned { kind: spoil.kind, at: At::Point(spoil.at.side, spoil.at.point.clone()) }
    }

    pub(super) fn drawn(kind: FaultKind, random: &mut Random) -> Planned {
        let n_pieces = u32::try_from(random.below(MAX_PIECES + 1)).unwrap_or_default();
        Planned { kind, at: At::Pieces(n_pieces) }
    }

    /// A fault for a non-streamed reply, which contains no points.
    pub(super) fn of_whole(kind: FaultKind) -> Planned {
        Planned { kind, at: At::Point(Side::After, Point::Headers) }
    }

    pub(super) fn words(&self) -> String {
        let kind = self.kind.name();
        match &self.at {
            At::Point(side, point) => format!("{kind} {} {point}", side.name()),
            At::Pieces(0) => format!("{kind} after headers"),
            At::Pieces(1) => {
                format!("{kind} after the first piece of the reply, at the latest before its stop reason")
            }
            At::Pieces(n) => {
                format!("{kind} after {n} pieces of the reply, at the latest before its stop reason")
            }
        }
    }
}
