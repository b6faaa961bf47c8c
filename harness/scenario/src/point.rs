//! Points: positions in causal order, and the one table of what is known of each.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Refusal;
use crate::plan::Side;
use crate::scenario::{Block, MAX_DELTAS, Need};

/// A position in causal order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// What the user says in this turn (only `before`): the turn before is over, and the system is idle.
    Prompt,
    /// The status line and headers of the reply.
    Headers,
    /// Fragment K of what the model thinks, from 1. The signature of the whole comes after the last.
    Think(u32),
    /// Fragment K of the reply's text, from 1.
    Text(u32),
    /// The call's opening: id and tool name.
    Start(String),
    /// Delta K of the call's arguments, from 1.
    Delta(String, u32),
    /// The call is complete on the wire.
    End(String),
    /// A search of the provider's is called: its query is complete, and nothing of what it finds has been sent.
    Search(String),
    /// What a search found is complete on the wire.
    Found(String),
    /// The last call of the reply is complete, the stop reason is not yet sent.
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
    /// The K-th entry of the turn is written to the store, from 1: what the user said, then each call and each result.
    Saved(u32),
}

/// A call by its name, or a count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    /// So many.
    Count(u32),
    /// That one.
    Call(String),
}

/// The kinds of places in a turn, by what can happen there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Region {
    /// Between two turns.
    Between,
    /// A request has come, and nothing of its answer has been sent.
    Unanswered,
    /// After the headers of a stream, of which nothing else has been sent.
    Opened,
    /// In a stream.
    Stream,
    /// After the terminal event of a stream.
    Over,
    /// While the user is asked.
    Question,
    /// While tools run, and not just after a result.
    Tools,
    /// After a result.
    Result,
    /// Between two writes of the store.
    Store,
}

impl Region {
    /// Every region, in the order of the columns of [`crate::action::ActionSpec`].
    pub const ALL: [Region; 9] = [
        Region::Between,
        Region::Unanswered,
        Region::Opened,
        Region::Stream,
        Region::Over,
        Region::Question,
        Region::Tools,
        Region::Result,
        Region::Store,
    ];

    /// Whether it belongs to one attempt of one reply.
    pub fn is_of_reply(self) -> bool {
        matches!(self, Region::Unanswered | Region::Opened | Region::Stream | Region::Over)
    }

    /// Why most of what cannot happen there cannot.
    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Region::Store => {
                Refusal { message: "only `kill` is allowed at a `saved` point", hint: "write `do: kill`" }
            }
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

/// What is known of a point, whatever call or number it names.
#[derive(Debug)]
pub struct PointSpec {
    /// The key in scenario files.
    pub name: &'static str,
    /// What a system must be able to do to get there.
    pub needs: Option<Need>,
    /// Just before it.
    before: PointSide,
    /// Just after it.
    after: PointSide,
}

/// What a side of a point is.
#[derive(Debug)]
enum PointSide {
    In(Region),
    Nowhere(Refusal),
}

impl PointSpec {
    /// Every point.
    pub const ALL: [&'static PointSpec; 16] = [
        &PROMPT, &HEADERS, &THINK, &TEXT, &START, &DELTA, &END, &SEARCH, &FOUND, &CALLS, &STOP, &REPLY,
        &ASKED, &STARTED, &SETTLED, &SAVED,
    ];

    /// The region that a side of it lies in, or why nothing can happen there.
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

    /// Whether it belongs to one attempt of one reply; others belong to the turn.
    pub fn is_of_reply(&self) -> bool {
        matches!(self.after, PointSide::In(region) if region.is_of_reply())
    }
}

impl Point {
    /// What is known of it.
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
        }
    }

    /// The region that a side of it lies in, or why nothing can happen there.
    pub fn region(&self, side: Side) -> Result<Region, Refusal> {
        match (self, side) {
            // All calls have started, and no result has been delivered.
            (Point::Settled(Which::Count(0)), Side::After)
            | (Point::Settled(Which::Count(1)), Side::Before) => Ok(Region::Tools),
            // Before the second result is after the first.
            (Point::Settled(Which::Count(2..)), Side::Before) => Ok(Region::Result),
            _ => self.spec().region(side),
        }
    }

    /// The call that it names.
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
            | Point::Saved(_) => None,
        }
    }

    /// The same, to be changed.
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
            | Point::Saved(_) => None,
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

/// In words: `delta b 2`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Point::Think(number) | Point::Text(number) | Point::Saved(number) => {
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

/// A block as far as points are counted in it.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Shape<'a> {
    Think(u32),
    Text(u32),
    Call(&'a str, u32),
    /// A search of that name, and whether what it finds comes directly after it.
    Search(&'a str, bool),
    Found(&'a str),
}

impl<'a> From<&'a Block> for Shape<'a> {
    fn from(block: &'a Block) -> Shape<'a> {
        // A text is cut in two where it has as many characters; an empty one is opened and not filled.
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
    after: PointSide::In(Region::Store),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Call;
    use std::collections::BTreeMap;

    #[test]
    fn every_point_of_the_format_has_its_line() {
        let schema = serde_json::to_value(schemars::schema_for!(Point)).unwrap();
        let text = schema["oneOf"].to_string();
        assert!(PointSpec::ALL.iter().all(|spec| text.contains(&format!("\"{}\"", spec.name))));
        assert_eq!(schema["oneOf"].as_array().unwrap().len(), PointSpec::ALL.len());
    }

    #[test]
    fn points_come_in_the_order_in_which_they_are_sent() {
        let call = Call {
            name: "a".to_owned(),
            tool: "t".to_owned(),
            args: BTreeMap::new(),
            raw: None,
            id: None,
            deltas: 2,
            agent: None,
        };
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
