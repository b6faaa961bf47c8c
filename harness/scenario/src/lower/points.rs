//! Points: resolves the names of a scenario to positions in a plan.

use crate::plan::{
    CallKey, Mark, PlannedAction, PlannedPoint, PlannedReply, Script, ScriptBlock, SearchKey, ServerBlock,
    Side,
};
use crate::point::PointSpec;
use crate::scenario::{At, Point, Which, n_saved};

use super::call_table::CallTable;
use super::limits::MAX_COMPACTIONS;
use super::problem::Problem;

/// The number of calls in a turn that can settle.
pub(super) fn n_calls(replies: &[PlannedReply]) -> u32 {
    replies.iter().map(PlannedReply::n_calls).sum()
}

/// A turn in which points are looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnContext<'a> {
    pub table: &'a CallTable<'a>,
    pub turn: usize,
    pub replies: &'a [PlannedReply],
}

/// A turn that was built, as its checks see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuiltTurn<'a> {
    pub context: TurnContext<'a>,
    /// The names under `settle` in the scenario.
    pub settle: &'a [String],
    pub actions: &'a [PlannedAction],
    /// The order in which the calls of the scenario settle.
    pub order: &'a [CallKey],
    /// An action that names something unknown. It was left out.
    pub unresolved: Option<&'a Problem>,
    /// A contradiction in the order in which calls settle.
    pub unordered: Option<&'a Problem>,
    /// False if the dialect lacks a point that the turn names. Then the order of its points is undefined.
    pub has_all_points: bool,
}

/// The location of one `at` in the scenario, for messages.
struct PointWords<'a> {
    pointer: String,
    at: &'a At,
    side: Side,
}

impl PointWords<'_> {
    /// Checks that something can happen on that side of the point.
    fn stands(&self, spec: &PointSpec, pointer: String) -> Result<(), Problem> {
        match spec.region(self.side) {
            Ok(_) => Ok(()),
            Err(refusal) => Err(Problem::refused(pointer, refusal)),
        }
    }

    /// Rejects `reply` and `attempt` at a point that is not in a stream.
    fn of_no_reply(&self, base: &str, why: &str) -> Result<(), Problem> {
        for (key, value) in [("reply", self.at.reply), ("attempt", self.at.attempt)] {
            if value != 1 {
                let message = format!("`{key}` is only for points of the stream; {why}");
                return Err(Problem::new(format!("{base}/{key}"), message));
            }
        }
        Ok(())
    }
}

impl TurnContext<'_> {
    /// The point that an `at` names. `base` is the pointer of the `at`.
    pub fn point(&self, base: &str, at: &At) -> Result<PlannedPoint, Problem> {
        let Some((side, point)) = at.place() else {
            return Err(match at.point() {
                Some(_) => {
                    Problem::new(format!("{base}/after"), "an action must have either `before` or `after`")
                        .with_hint("split it into two actions")
                }
                None => Problem::new(base, "the action does not say where it happens")
                    .with_hint("give `before` or `after`, for example `after: { settled: 1 }`"),
            });
        };
        let words = PointWords { pointer: format!("{base}/{}", side.name()), at, side };
        match point {
            Point::Prompt => self.prompt(base, &words),
            Point::Asked(name) => self.asked(base, &words, name),
            Point::Started(which) => self.started(base, &words, which),
            Point::Settled(which) => self.settled(base, &words, which),
            Point::Saved(entry) => self.saved(base, &words, *entry),
            Point::Compaction(number) => self.compaction(base, &words, *number),
            _ => self.stream(base, &words, point),
        }
    }

    /// The call with this name in this turn.
    pub fn call(&self, pointer: impl Into<String>, name: &str) -> Result<CallKey, Problem> {
        match self.table.find(name) {
            Some(key) if self.table[key].turn == self.turn => Ok(key),
            Some(key) => Err(Problem::new(
                pointer,
                format!("the call `{name}` belongs to turn {}, not to this one", self.table[key].turn + 1),
            )),
            None => {
                let known = self.table.names_in(self.turn);
                Err(Problem::unknown(pointer, "call", name, "this turn has", &known))
            }
        }
    }

    /// The number of user messages from the 1-based turn `turn` onwards.
    pub fn prompts_since(&self, live_prompts: &[usize], pointer: &str, turn: u32) -> Result<u32, Problem> {
        let wanted = (turn as usize).checked_sub(1).filter(|wanted| *wanted < self.turn);
        let Some(wanted) = wanted else {
            return Err(Problem::new(pointer, format!("turn {turn} does not come before this one"))
                .with_hint(format!("turns are counted from 1; this is turn {}", self.turn + 1)));
        };
        match live_prompts.iter().position(|turn| *turn == wanted) {
            Some(at) => Ok((live_prompts.len() - at) as u32),
            None => Err(Problem::new(pointer, format!("turn {turn} is no longer in the history"))
                .with_hint("it has been trimmed, summarised or rewound")),
        }
    }

    /// The call that may settle in this turn: one of its own, or one from an earlier turn whose tool ignored
    /// the stop and is still running.
    pub fn settleable(&self, pointer: &str, name: &str) -> Result<CallKey, Problem> {
        match self.table.find(name) {
            Some(key) if self.table[key].turn < self.turn && self.table[key].deaf => Ok(key),
            Some(key) if self.table[key].turn < self.turn => self
                .call(pointer, name)
                .map_err(|problem| problem.with_hint("only a tool with `deaf: true` outlives its turn")),
            _ => self.call(pointer, name),
        }
    }

    fn prompt(&self, base: &str, words: &PointWords<'_>) -> Result<PlannedPoint, Problem> {
        words.stands(Point::Prompt.spec(), words.pointer.clone())?;
        if self.turn == 0 {
            return Err(Problem::new(&words.pointer, "no turn comes before the first one")
                .with_hint("move it to a later turn"));
        }
        words.of_no_reply(base, "the prompt comes before all replies")?;
        Ok(PlannedPoint::Prompt)
    }

    fn asked(&self, base: &str, words: &PointWords<'_>, name: &str) -> Result<PlannedPoint, Problem> {
        self.tools(base, words)?;
        let pointer = format!("{}/asked", words.pointer);
        words.stands(Point::Asked(String::new()).spec(), pointer.clone())?;
        let key = self.call(pointer.clone(), name)?;
        if self.table[key].asks {
            Ok(PlannedPoint::Asked(key))
        } else {
            Err(Problem::new(pointer, format!("the user is not asked about the call `{name}`"))
                .with_hint(format!("add `asks: true` to the tool `{}`", self.table[key].tool)))
        }
    }

    fn started(&self, base: &str, words: &PointWords<'_>, which: &Which) -> Result<PlannedPoint, Problem> {
        self.tools(base, words)?;
        let pointer = format!("{}/started", words.pointer);
        words.stands(Point::Started(Which::Count(1)).spec(), pointer.clone())?;
        match which {
            Which::Call(name) => Ok(PlannedPoint::Started(self.call(pointer, name)?)),
            Which::Count(0) => Err(Problem::new(pointer, "started tools are counted from 1")
                .with_hint("use `before: headers` or another point of the stream")),
            Which::Count(count) => Ok(PlannedPoint::StartedCount(self.count(pointer, *count)?)),
        }
    }

    fn settled(&self, base: &str, words: &PointWords<'_>, which: &Which) -> Result<PlannedPoint, Problem> {
        self.tools(base, words)?;
        let pointer = format!("{}/settled", words.pointer);
        match (which, words.side) {
            (Which::Call(name), side) => Ok(PlannedPoint::Settled(self.call(pointer, name)?, side)),
            (Which::Count(count), Side::After) => {
                Ok(PlannedPoint::SettledCount(self.count(pointer, *count)?))
            }
            (Which::Count(0), Side::Before) => {
                Err(Problem::new(pointer, "there is no moment before the zeroth result")
                    .with_hint("use `after: { settled: 0 }`: all calls have started, none has settled"))
            }
            (Which::Count(count), Side::Before) => {
                Ok(PlannedPoint::SettledCount(self.count(pointer, *count)?.saturating_sub(1)))
            }
        }
    }

    fn saved(&self, base: &str, words: &PointWords<'_>, entry: u32) -> Result<PlannedPoint, Problem> {
        words.of_no_reply(base, "entries are counted over the whole turn")?;
        let pointer = format!("{}/saved", words.pointer);
        let n_entries = n_saved(n_calls(self.replies));
        if !(1..=n_entries).contains(&entry) {
            let message = format!("this turn saves {n_entries} entries, so there is no entry {entry}");
            return Err(Problem::new(pointer, message)
                .with_hint("the user's message is the first, then come calls and results"));
        }
        Ok(PlannedPoint::Saved(entry, words.side))
    }

    fn compaction(&self, base: &str, words: &PointWords<'_>, number: u32) -> Result<PlannedPoint, Problem> {
        words.of_no_reply(base, "requests for a summary are counted over the whole turn")?;
        if !(1..=MAX_COMPACTIONS).contains(&number) {
            let message =
                format!("compactions are counted from 1 to {MAX_COMPACTIONS}, so there is no {number}");
            return Err(Problem::new(format!("{}/compaction", words.pointer), message));
        }
        Ok(PlannedPoint::Compaction(number, words.side))
    }

    /// Points of the tools need tools, and belong to the turn, not to a reply.
    fn tools(&self, base: &str, words: &PointWords<'_>) -> Result<(), Problem> {
        if n_calls(self.replies) == 0 {
            return Err(Problem::new(&words.pointer, "this turn has no calls"));
        }
        words.of_no_reply(base, "calls are counted over the whole turn")
    }

    fn count(&self, pointer: String, count: u32) -> Result<u32, Problem> {
        let n_calls = n_calls(self.replies);
        if count <= n_calls {
            return Ok(count);
        }
        let calls = if n_calls == 1 { "1 call".to_owned() } else { format!("{n_calls} calls") };
        Err(Problem::new(pointer, format!("this turn has {calls}, so {count} is never reached")))
    }

    fn stream(&self, base: &str, words: &PointWords<'_>, point: &Point) -> Result<PlannedPoint, Problem> {
        let replies = self.replies;
        let reply = index(base, "reply", "replies", words.at.reply, replies.len())?;
        let attempts = &replies[reply].attempts;
        let attempt =
            index(base, "attempt", "attempts", words.at.attempt, attempts.len()).map_err(|problem| {
                let advice = "write the attempt explicitly under `attempts`";
                problem.with_hint(advice)
            })?;
        let mark = self.mark(words, point, (reply, attempt), &attempts[attempt])?;
        Ok(PlannedPoint::Stream { reply, attempt, mark, side: words.side })
    }

    fn mark(
        &self,
        words: &PointWords<'_>,
        point: &Point,
        at: (usize, usize),
        script: &Script,
    ) -> Result<Mark, Problem> {
        let inner = |key: &str| format!("{}/{key}", words.pointer);
        match point {
            Point::Headers => Ok(Mark::Headers),
            Point::Think(number) => fragment(inner("think"), "think", *number, script).map(Mark::Think),
            Point::Text(number) => fragment(inner("text"), "text", *number, script).map(Mark::Text),
            Point::Start(name) => Ok(Mark::Start(self.streamed(inner("start"), name, at)?)),
            Point::End(name) => Ok(Mark::End(self.streamed(inner("end"), name, at)?)),
            Point::Delta(name, delta) => self.delta(&inner("delta"), name, *delta, at),
            Point::Search(name) => {
                self.search(inner("search"), name, script, ServerBlock::Search).map(Mark::Search)
            }
            Point::Found(name) => {
                self.search(inner("found"), name, script, ServerBlock::Found).map(Mark::Found)
            }
            Point::Calls if !script.has_calls() => {
                Err(Problem::new(&words.pointer, "this reply has no calls"))
            }
            Point::Calls => Ok(Mark::Calls),
            Point::Stop => Ok(Mark::Stop),
            Point::Reply
            | Point::Prompt
            | Point::Asked(_)
            | Point::Started(_)
            | Point::Settled(_)
            | Point::Saved(_)
            | Point::Compaction(_) => Ok(Mark::Reply),
        }
    }

    fn delta(&self, pointer: &str, name: &str, delta: u32, at: (usize, usize)) -> Result<Mark, Problem> {
        let key = self.streamed(format!("{pointer}/0"), name, at)?;
        let n_deltas = self.table[key].deltas.len();
        if (1..=n_deltas as u32).contains(&delta) {
            return Ok(Mark::Delta(key, delta));
        }
        Err(Problem::new(format!("{pointer}/1"), format!("the call `{name}` has no delta {delta}"))
            .with_hint(format!("its arguments are sent in {n_deltas} deltas; `deltas` changes that")))
    }

    /// A search whose block is streamed in this attempt of this reply.
    fn search(
        &self,
        pointer: String,
        name: &str,
        script: &Script,
        block: fn(SearchKey) -> ServerBlock,
    ) -> Result<SearchKey, Problem> {
        let Some(key) = self.table.searches.find(name) else {
            let known = self.table.searches.names();
            return Err(Problem::unknown(pointer, "search", name, "the searches are", &known));
        };
        if script.server_blocks().any(|sent| sent == block(key)) {
            return Ok(key);
        }
        Err(Problem::new(pointer, format!("that of the search `{name}` is not in this reply"))
            .with_hint("add `reply` with the number of the reply that contains it"))
    }

    /// A call that is streamed in this attempt of this reply.
    fn streamed(
        &self,
        pointer: String,
        name: &str,
        (reply, attempt): (usize, usize),
    ) -> Result<CallKey, Problem> {
        let key = self.call(pointer.as_str(), name)?;
        let call = &self.table[key];
        if call.within.is_some() {
            return Err(Problem::new(pointer, format!("a sub-agent makes the call `{name}`"))
                .with_hint("use `started` or `settled`"));
        }
        if (call.reply, call.attempt) == (reply, attempt) {
            return Ok(key);
        }
        let there = match call.attempt {
            0 => format!("`reply: {}`", call.reply + 1),
            _ => format!("`reply: {}, attempt: {}`", call.reply + 1, call.attempt + 1),
        };
        Err(Problem::new(pointer, format!("the call `{name}` is not in this reply"))
            .with_hint(format!("add {there}")))
    }
}

/// A fragment of a reply's texts, or of its thinking.
fn fragment(pointer: String, key: &str, number: u32, script: &Script) -> Result<u32, Problem> {
    let count = script.blocks.iter().map(|block| match (block, key) {
        (ScriptBlock::Text(fragments), "text") | (ScriptBlock::Think(fragments), "think") => fragments.len(),
        _ => 0,
    });
    let n_fragments = count.sum::<usize>() as u32;
    if (1..=n_fragments).contains(&number) {
        return Ok(number);
    }
    let problem = Problem::new(pointer, format!("this reply has no fragment {number} of `{key}`"));
    Err(match n_fragments {
        0 => problem.with_hint(format!("it has no `{key}`")),
        _ => problem
            .with_hint(format!("every `{key}` is sent in two fragments: here they are 1 to {n_fragments}")),
    })
}

fn index(base: &str, key: &str, plural: &str, number: u32, count: usize) -> Result<usize, Problem> {
    match (number as usize).checked_sub(1).filter(|index| *index < count) {
        Some(index) => Ok(index),
        None => Err(Problem::new(format!("{base}/{key}"), format!("there is no {key} {number}"))
            .with_hint(format!("{plural} are counted from 1 to {count} here"))),
    }
}
