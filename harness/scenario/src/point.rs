//! Points, which are positions in causal order, and the one table that describes them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::{Block, MAX_DELTAS, Need};

/// A position in causal order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// The user's message of this turn (only `before`): the previous turn has ended, and the system is idle.
    Prompt,
    /// The status line and headers of the reply.
    Headers,
    /// Fragment K of the model's thinking, from 1. The signature of all the thinking follows the last
    /// fragment.
    Think(u32),
    /// Fragment K of the reply's text, from 1.
    Text(u32),
    /// The call's opening: id and tool name.
    Start(String),
    /// Delta K of the call's arguments, from 1.
    Delta(String, u32),
    /// The call is complete on the wire.
    End(String),
    /// A search that the provider runs is called: its query is complete, and no part of its result has been
    /// sent.
    Search(String),
    /// The result of a search is complete on the wire.
    Found(String),
    /// The last call of the reply is complete; the stop reason has not been sent.
    Calls,
    /// The stop reason.
    Stop,
    /// The terminal event of the reply.
    Reply,
    /// The user has been asked about the call, and has not answered yet.
    Asked(String),
    /// A tool has started: a call by name, or the K-th of the turn.
    Started(Which),
    /// A result has been delivered: of a call by name, or the K-th of the turn. 0 means that all calls have started.
    Settled(Which),
    /// The K-th entry of the turn is written to the store, from 1: the user's message, then each call and
    /// each result.
    Saved(u32),
    /// The K-th reply to a request of the turn that asks for a summary of the history, from 1. `before` it, the request
    /// has arrived; `after` it, the first half of the summary has been sent. A request that gets an HTTP error has no
    /// reply, so the next request asks for the same one.
    Compaction(u32),
}

/// A call by its name, or a count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    /// The count.
    Count(u32),
    /// The name of the call.
    Call(String),
}

crate::named! {
    /// One side of a point.
    pub enum Side {
        /// Just before.
        Before = "before",
        /// Just after.
        After = "after",
    }
}

crate::named! {
    /// The kinds of points in a turn, by what can happen there, in the order in which a turn reaches them.
    pub enum Region {
        /// Between two turns.
        Between = "between",
        /// A request has arrived, and no part of its answer has been sent.
        Unanswered = "unanswered",
        /// After the headers of a stream, before anything else is sent.
        Opened = "opened",
        /// In a stream.
        Stream = "stream",
        /// After the terminal event of a stream.
        Over = "over",
        /// While the user is being asked.
        Question = "question",
        /// While tools run, except directly after a result.
        Tools = "tools",
        /// After a result.
        Result = "result",
        /// Before a write of the store.
        Store = "store",
        /// After a write of the store.
        Stored = "stored",
        /// A request for a summary has arrived, and no part of its answer has been sent.
        Unsummarised = "unsummarised",
        /// In the stream of a summary.
        Summary = "summary",
    }
}

impl Region {
    /// True if it belongs to one attempt of one reply.
    pub fn is_of_reply(self) -> bool {
        matches!(self, Region::Unanswered | Region::Opened | Region::Stream | Region::Over)
    }

    /// The message for most actions that are not allowed in this region.
    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Region::Store => Refusal {
                message: "only `kill` and `fail` are allowed before a write",
                hint: "write `do: kill` or `do: fail`",
            },
            Region::Stored => Refusal {
                message: "only `kill` is allowed after a write",
                hint: "write `do: kill`, or `do: fail` at `before: { saved: … }`",
            },
            Region::Unsummarised | Region::Summary => Refusal {
                message: "this cannot happen to a request for a summary",
                hint: "use an action that is allowed there, such as `http`, `reset` or `abort`",
            },
            Region::Between => Refusal {
                message: "no turn runs at this point",
                hint: "use a point of the turn; `before: headers` is its first request",
            },
            _ => Refusal {
                message: "no reply is being streamed at this point",
                hint: "use a point of the stream; `reply: 2, before: headers` is the request with the results",
            },
        }
    }
}

/// Why something is not allowed at a point, and what to do instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The error message.
    pub message: &'static str,
    /// Advice on what to write instead.
    pub hint: &'static str,
}

/// The properties of a point that do not depend on its call or number.
#[derive(Debug)]
pub struct PointSpec {
    /// The key in scenario files.
    pub name: &'static str,
    /// The capability that a system needs to reach it.
    pub needs: Option<Need>,
    /// The side before the point.
    before: PointSide,
    /// The side after the point.
    after: PointSide,
}

/// The region on one side of a point, or the reason why nothing can happen there.
#[derive(Debug)]
enum PointSide {
    In(Region),
    Nowhere(Refusal),
}

impl PointSpec {
    /// Every point.
    pub const ALL: [&'static PointSpec; 17] = [
        &PROMPT,
        &HEADERS,
        &THINK,
        &TEXT,
        &START,
        &DELTA,
        &END,
        &SEARCH,
        &FOUND,
        &CALLS,
        &STOP,
        &REPLY,
        &ASKED,
        &STARTED,
        &SETTLED,
        &SAVED,
        &COMPACTION,
    ];

    /// The region of one side, or the reason why nothing can happen there.
    pub fn region(&self, side: Side) -> Result<Region, Refusal> {
        let place = match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        };
        match place {
            PointSide::In(region) => Ok(*region),
            PointSide::Nowhere(refusal) => Err(*refusal),
        }
    }

    /// True if it belongs to one attempt of one reply; other points belong to the turn.
    pub fn is_of_reply(&self) -> bool {
        matches!(self.after, PointSide::In(region) if region.is_of_reply())
    }
}

impl Point {
    /// The entry of this point in the table.
    pub fn spec(&self) -> &'static PointSpec {
        match self {
            Point::Prompt => &PROMPT,
            Point::Headers => &HEADERS,
            Point::Think(_) => &THINK,
            Point::Text(_) => &TEXT,
            Point::Start(_) => &START,
            Point::Delta(..) => &DELTA,
            Point::End(_) => &END,
            Point::Search(_) => &SEARCH,
            Point::Found(_) => &FOUND,
            Point::Calls => &CALLS,
            Point::Stop => &STOP,
            Point::Reply => &REPLY,
            Point::Asked(_) => &ASKED,
            Point::Started(_) => &STARTED,
            Point::Settled(_) => &SETTLED,
            Point::Saved(_) => &SAVED,
            Point::Compaction(_) => &COMPACTION,
        }
    }

    /// The region of one side, or the reason why nothing can happen there.
    pub fn region(&self, side: Side) -> Result<Region, Refusal> {
        match (self, side) {
            // All calls have started, and no result has been delivered.
            (Point::Settled(Which::Count(0)), Side::After)
            | (Point::Settled(Which::Count(1)), Side::Before) => Ok(Region::Tools),
            // Before the second result means after the first one.
            (Point::Settled(Which::Count(2..)), Side::Before) => Ok(Region::Result),
            _ => self.spec().region(side),
        }
    }

    /// The call that the point names, if it names one.
    pub fn call(&self) -> Option<&str> {
        match self {
            Point::Start(name)
            | Point::Delta(name, _)
            | Point::End(name)
            | Point::Asked(name)
            | Point::Started(Which::Call(name))
            | Point::Settled(Which::Call(name)) => Some(name),
            Point::Prompt
            | Point::Headers
            | Point::Think(_)
            | Point::Text(_)
            | Point::Search(_)
            | Point::Found(_)
            | Point::Calls
            | Point::Stop
            | Point::Reply
            | Point::Started(Which::Count(_))
            | Point::Settled(Which::Count(_))
            | Point::Saved(_)
            | Point::Compaction(_) => None,
        }
    }

    /// Mutable version of [`Point::call`].
    pub fn call_mut(&mut self) -> Option<&mut String> {
        match self {
            Point::Start(name)
            | Point::Delta(name, _)
            | Point::End(name)
            | Point::Asked(name)
            | Point::Started(Which::Call(name))
            | Point::Settled(Which::Call(name)) => Some(name),
            Point::Prompt
            | Point::Headers
            | Point::Think(_)
            | Point::Text(_)
            | Point::Search(_)
            | Point::Found(_)
            | Point::Calls
            | Point::Stop
            | Point::Reply
            | Point::Started(Which::Count(_))
            | Point::Settled(Which::Count(_))
            | Point::Saved(_)
            | Point::Compaction(_) => None,
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Which::Count(count) => write!(f, "{count}"),
            Which::Call(name) => f.write_str(name),
        }
    }
}

/// A short description, such as `delta b 2`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Point::Think(number) | Point::Text(number) | Point::Saved(number) | Point::Compaction(number) => {
                write!(f, "{} {number}", self.spec().name)
            }
            Point::Start(name)
            | Point::End(name)
            | Point::Search(name)
            | Point::Found(name)
            | Point::Asked(name) => {
                write!(f, "{} {name}", self.spec().name)
            }
            Point::Delta(name, delta) => write!(f, "delta {name} {delta}"),
            Point::Started(which) | Point::Settled(which) => write!(f, "{} {which}", self.spec().name),
            Point::Reply => f.write_str("terminal event"),
            Point::Prompt | Point::Headers | Point::Calls | Point::Stop => f.write_str(self.spec().name),
        }
    }
}

/// The properties of a block that determine its points.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Shape<'a> {
    Think(u32),
    Text(u32),
    Call(&'a str, u32),
    /// A search with this name; true if its result follows directly.
    Search(&'a str, bool),
    Found(&'a str),
}

impl<'a> From<&'a Block> for Shape<'a> {
    fn from(block: &'a Block) -> Shape<'a> {
        // A text of two or more characters is cut in two; an empty one is opened but not filled.
        let fragments = |text: &str| text.chars().take(2).count().max(1) as u32;
        match block {
            Block::Think(text) => Shape::Think(fragments(text)),
            Block::Text(text) => Shape::Text(fragments(text)),
            Block::Call(call) => Shape::Call(&call.name, call.deltas.min(MAX_DELTAS)),
            Block::Search(search) => Shape::Search(&search.name, search.finds.is_some()),
            Block::Found(found) => Shape::Found(&found.search),
        }
    }
}

/// The points in the stream of an attempt after which something can happen, in causal order.
pub fn in_stream<'a>(blocks: impl IntoIterator<Item = Shape<'a>>) -> Vec<Point> {
    let mut points = vec![Point::Headers];
    let (mut n_thoughts, mut n_texts, mut has_calls) = (0, 0, false);
    for block in blocks {
        match block {
            Shape::Think(n_fragments) => {
                points.extend((1..=n_fragments).map(|fragment| Point::Think(n_thoughts + fragment)));
                n_thoughts += n_fragments;
            }
            Shape::Text(n_fragments) => {
                points.extend((1..=n_fragments).map(|fragment| Point::Text(n_texts + fragment)));
                n_texts += n_fragments;
            }
            Shape::Call(name, n_deltas) => {
                has_calls = true;
                points.push(Point::Start(name.to_owned()));
                points.extend((1..=n_deltas).map(|delta| Point::Delta(name.to_owned(), delta)));
                points.push(Point::End(name.to_owned()));
            }
            Shape::Search(name, is_over) => {
                points.push(Point::Search(name.to_owned()));
                points.extend(is_over.then(|| Point::Found(name.to_owned())));
            }
            Shape::Found(name) => points.push(Point::Found(name.to_owned())),
        }
    }
    points.extend(has_calls.then_some(Point::Calls));
    points.extend([Point::Stop, Point::Reply]);
    points
}

const fn nowhere(message: &'static str, hint: &'static str) -> PointSide {
    PointSide::Nowhere(Refusal { message, hint })
}

const fn streamed(name: &'static str, after: Region) -> PointSpec {
    PointSpec { name, needs: None, before: PointSide::In(Region::Stream), after: PointSide::In(after) }
}

static PROMPT: PointSpec = PointSpec {
    name: "prompt",
    needs: None,
    before: PointSide::In(Region::Between),
    after: nowhere(
        "the prompt is followed by the first request, which has points of its own",
        "use `before: headers`, or `before: prompt` for the time between two turns",
    ),
};

static HEADERS: PointSpec =
    PointSpec { before: PointSide::In(Region::Unanswered), ..streamed("headers", Region::Opened) };

static THINK: PointSpec = streamed("think", Region::Stream);
static TEXT: PointSpec = streamed("text", Region::Stream);
static START: PointSpec = streamed("start", Region::Stream);
static DELTA: PointSpec = streamed("delta", Region::Stream);
static END: PointSpec = streamed("end", Region::Stream);
static SEARCH: PointSpec = streamed("search", Region::Stream);
static FOUND: PointSpec = streamed("found", Region::Stream);
static CALLS: PointSpec = streamed("calls", Region::Stream);
static STOP: PointSpec = streamed("stop", Region::Stream);
static REPLY: PointSpec = streamed("reply", Region::Over);

static ASKED: PointSpec = PointSpec {
    name: "asked",
    needs: Some(Need::Approvals),
    before: nowhere(
        "a question cannot be observed before it is asked",
        "use `after`: the question is then open",
    ),
    after: PointSide::In(Region::Question),
};

static STARTED: PointSpec = PointSpec {
    name: "started",
    needs: None,
    before: nowhere(
        "a tool cannot be observed before it has started",
        "use `after`, or a point of the stream such as `before: { end: … }`",
    ),
    after: PointSide::In(Region::Tools),
};

static SETTLED: PointSpec = PointSpec {
    name: "settled",
    needs: None,
    before: PointSide::In(Region::Tools),
    after: PointSide::In(Region::Result),
};

static SAVED: PointSpec = PointSpec {
    name: "saved",
    needs: Some(Need::Saving),
    before: PointSide::In(Region::Store),
    after: PointSide::In(Region::Stored),
};

static COMPACTION: PointSpec = PointSpec {
    name: "compaction",
    needs: None,
    before: PointSide::In(Region::Unsummarised),
    after: PointSide::In(Region::Summary),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Call;

    #[test]
    fn every_point_of_the_format_has_its_line() {
        let schema = serde_json::to_value(schemars::schema_for!(Point)).unwrap();
        let text = schema["oneOf"].to_string();
        assert!(PointSpec::ALL.iter().all(|spec| text.contains(&format!("\"{}\"", spec.name))));
        assert_eq!(schema["oneOf"].as_array().unwrap().len(), PointSpec::ALL.len());
    }

    #[test]
    fn points_come_in_the_order_in_which_they_are_sent() {
        let call = Call { deltas: 2, ..Call::new("a", "t") };
        let blocks = [Block::Text("Hello".to_owned()), Block::Call(call), Block::Text("!".to_owned())];
        let names: Vec<String> = in_stream(blocks.iter().map(Shape::from))
            .iter()
            .map(|point| serde_json::to_string(point).unwrap())
            .collect();
        let expected = "\"headers\" {\"text\":1} {\"text\":2} {\"start\":\"a\"} {\"delta\":[\"a\",1]} \
                        {\"delta\":[\"a\",2]} {\"end\":\"a\"} {\"text\":3} \"calls\" \"stop\" \"reply\"";
        assert_eq!(names.join(" "), expected);
    }
}
