//! The actions of a turn: what they mean, and whether each can happen where it stands.

use crate::plan::{Change, Mark, PlannedAction, PlannedFault, PlannedPoint, Side};
use crate::scenario::{Action, At, HttpFault, Point, Which};

use super::header;
use super::points::Stage;
use super::problem::{Problem, Problems};
use super::said;

/// How often one HTTP error may be repeated; clients give up after 2 to 10 tries.
const MAX_HTTP_TIMES: u32 = 20;

/// The longest wait that an HTTP error may ask a client for. Longer ones only make runs slow.
const MAX_RETRY_AFTER_MS: u32 = 10_000;

/// Resolves the actions of a turn, in the order of the file.
pub(super) fn resolve(stage: Stage<'_>, at: &[At], problems: &mut Problems) -> Vec<PlannedAction> {
    let base = |index: usize| format!("/turns/{}/at/{index}", stage.turn);
    let resolved = at.iter().enumerate().map(|(index, at)| action(stage, &base(index), at));
    resolved.filter_map(|action| action.map_err(|problem| problems.add(problem)).ok()).collect()
}

fn action(stage: Stage<'_>, base: &str, written: &At) -> Result<PlannedAction, Problem> {
    let at = stage.point(base, written)?;
    let pointer = format!("{base}/do");
    let what = match &written.action {
        Action::Abort => PlannedFault::Abort,
        Action::Kill => PlannedFault::Kill,
        Action::Stall => PlannedFault::Stall,
        Action::Pause => PlannedFault::Pause,
        Action::Reset => PlannedFault::Reset,
        Action::Eof => PlannedFault::Eof,
        Action::EndEarly => PlannedFault::EndEarly,
        Action::Error(kind) => PlannedFault::Error(*kind),
        Action::Http(fault) => PlannedFault::Http(http(&pointer, fault)?),
        Action::Duplicate => PlannedFault::Duplicate,
        Action::Malformed => PlannedFault::Malformed,
        Action::Settle(name) => PlannedFault::Settle(stage.settleable(format!("{pointer}/settle"), name)?),
        Action::StopAgain => PlannedFault::StopAgain,
        Action::Interrupt(cause) => PlannedFault::Interrupt(*cause),
        Action::Steer(text) => PlannedFault::Steer(said::text(&format!("{pointer}/steer"), text)?),
        Action::Prompt(text) => PlannedFault::Prompt(said::text(&format!("{pointer}/prompt"), text)?),
        Action::Inject(text) => PlannedFault::Inject(said::text(&format!("{pointer}/inject"), text)?),
        Action::Ignore => PlannedFault::Ignore,
        Action::Trim(keep) => PlannedFault::Change(Change::Trim { keep: kept(&pointer, *keep)? }),
        Action::Summarise(keep) => PlannedFault::Change(Change::Summarise { keep: *keep }),
        Action::Rewind(turn) => {
            let prompts = stage.prompts_since(format!("{pointer}/rewind"), *turn)?;
            PlannedFault::Change(Change::Rewind { prompts })
        }
        Action::Aside(question) => {
            PlannedFault::Change(Change::Aside { question: asked(&pointer, question)? })
        }
    };
    fits(&pointer, &at, &what)?;
    Ok(PlannedAction { words: words(written), at, what })
}

fn kept(pointer: &str, keep: u32) -> Result<u32, Problem> {
    match keep {
        0 => Err(Problem::new(
            format!("{pointer}/trim"),
            "a history of which nothing stays is another conversation",
        )
        .with_hint("keep at least 1 message".to_owned())),
        keep => Ok(keep),
    }
}

fn asked(pointer: &str, question: &str) -> Result<String, Problem> {
    let mut problems = Problems::default();
    header::text(&format!("{pointer}/aside"), "the question", question, &mut problems);
    match problems.settle() {
        Ok(()) => Ok(question.to_owned()),
        Err(mut problems) => Err(problems.swap_remove(0)),
    }
}

fn http(pointer: &str, fault: &HttpFault) -> Result<HttpFault, Problem> {
    let wrong = |key: &str, message: String| Err(Problem::new(format!("{pointer}/http/{key}"), message));
    if !(400..=599).contains(&fault.status) {
        return wrong("status", format!("{} is not an error status, 400 to 599", fault.status));
    }
    if !(1..=MAX_HTTP_TIMES).contains(&fault.times) {
        return wrong(
            "times",
            format!("an error is repeated 1 to {MAX_HTTP_TIMES} times, not {}", fault.times),
        );
    }
    if fault.retry_after_ms > MAX_RETRY_AFTER_MS {
        return wrong(
            "retry-after-ms",
            format!("a wait of more than {MAX_RETRY_AFTER_MS} ms makes runs slow"),
        );
    }
    Ok(fault.clone())
}

/// Whether that can happen at a point of that kind.
fn fits(pointer: &str, at: &PlannedPoint, what: &PlannedFault) -> Result<(), Problem> {
    let wrong = |message: &str, hint: &str| Err(Problem::new(pointer, message).with_hint(hint.to_owned()));
    let (mark, side) = match (at, what) {
        (PlannedPoint::Saved(..), PlannedFault::Kill) => return Ok(()),
        (PlannedPoint::Saved(..), _) => {
            return wrong("between two writes only a kill is noticed", "write `do: kill`");
        }
        (_, PlannedFault::Inject(_) | PlannedFault::Ignore) => return said::fits(pointer, at, what),
        (PlannedPoint::Prompt, PlannedFault::Kill | PlannedFault::Change(_)) => return Ok(()),
        (_, PlannedFault::Change(Change::Rewind { .. } | Change::Aside { .. })) => {
            return wrong("the user does this between two turns", "use `before: prompt`");
        }
        (PlannedPoint::Stream { .. } | PlannedPoint::Asked(_), PlannedFault::Change(_)) => {
            return wrong(
                "a history is changed between two turns, or while tools run",
                "use `before: prompt`, or a point of the tools such as `after: { settled: 1 }`",
            );
        }
        (_, PlannedFault::Change(_)) => return Ok(()),
        (PlannedPoint::Prompt, _) => {
            return wrong(
                "no turn runs at this point",
                "use a point of the turn; `before: headers` is its first request",
            );
        }
        (PlannedPoint::Stream { mark, side, .. }, _) => (*mark, *side),
        (_, PlannedFault::Abort | PlannedFault::Kill | PlannedFault::Settle(_)) => return Ok(()),
        (_, PlannedFault::StopAgain | PlannedFault::Interrupt(_)) => return Ok(()),
        (_, PlannedFault::Steer(_) | PlannedFault::Prompt(_)) => return Ok(()),
        _ => {
            return wrong(
                "no reply is being streamed at this point",
                "use a point of the stream; `reply: 2, before: headers` is the request with the results",
            );
        }
    };
    let unopened = (mark, side) == (Mark::Headers, Side::Before);
    match what {
        PlannedFault::Http(_) if !unopened => {
            wrong("an HTTP error comes in place of a reply", "use `before: headers`")
        }
        PlannedFault::Error(_) if unopened => {
            wrong("no stream is open before the headers", "use `http`, or `after: headers`")
        }
        PlannedFault::Duplicate if side == Side::Before || mark == Mark::Headers => wrong(
            "nothing has been sent here that could be sent again",
            "use `after` and a point behind the headers",
        ),
        PlannedFault::Duplicate if matches!(mark, Mark::Delta(..) | Mark::Think(_)) => wrong(
            "nobody can tell that a piece of arguments or of a thought was sent twice",
            "use `start`, `end` or a point behind the calls",
        ),
        PlannedFault::Malformed if unopened => {
            wrong("no stream is open before the headers", "use `after: headers`")
        }
        PlannedFault::Malformed if (mark, side) == (Mark::Reply, Side::After) => {
            wrong("the terminal event has been sent, so nobody reads on", "use `before: reply`")
        }
        PlannedFault::EndEarly if unopened => {
            wrong("no body is open before the headers", "use `eof`, or `after: headers`")
        }
        PlannedFault::EndEarly if (mark, side) == (Mark::Reply, Side::After) => {
            wrong("the terminal event has been sent, so this ends as it should", "use `before: reply`")
        }
        _ => Ok(()),
    }
}

/// An action in words: `reset after delta b 2 of reply 1`.
pub fn words(at: &At) -> String {
    let (side, point) = match (&at.before, &at.after) {
        (Some(point), _) => ("before", Some(point)),
        (None, point) => ("after", point.as_ref()),
    };
    let mut words = format!("{} {side}", action_words(&at.action));
    let Some(point) = point else { return words };
    words.push(' ');
    words.push_str(&point_words(point));
    let of_reply = !matches!(
        point,
        Point::Prompt | Point::Asked(_) | Point::Started(_) | Point::Settled(_) | Point::Saved(_)
    );
    if of_reply {
        words.push_str(&format!(" of reply {}", at.reply));
        if at.attempt > 1 {
            words.push_str(&format!(", attempt {}", at.attempt));
        }
    }
    words
}

fn action_words(action: &Action) -> String {
    match action {
        Action::Abort => "abort".to_owned(),
        Action::Kill => "kill".to_owned(),
        Action::Stall => "stall".to_owned(),
        Action::Pause => "pause".to_owned(),
        Action::Reset => "reset".to_owned(),
        Action::Eof => "eof".to_owned(),
        Action::EndEarly => "end-early".to_owned(),
        Action::Error(kind) => {
            let kind = serde_json::to_value(kind).ok();
            format!("error {}", kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default())
        }
        Action::Http(fault) if fault.times > 1 => format!("http {} ({} times)", fault.status, fault.times),
        Action::Http(fault) => format!("http {}", fault.status),
        Action::Duplicate => "duplicate".to_owned(),
        Action::Malformed => "malformed".to_owned(),
        Action::Settle(name) => format!("settle {name}"),
        Action::StopAgain => "stop-again".to_owned(),
        Action::Interrupt(cause) => format!("interrupt {}", cause.name()),
        Action::Steer(_) => "steer".to_owned(),
        Action::Prompt(_) => "prompt".to_owned(),
        Action::Inject(_) => "inject".to_owned(),
        Action::Ignore => "ignore".to_owned(),
        Action::Trim(keep) => format!("trim {keep}"),
        Action::Summarise(keep) => format!("summarise {keep}"),
        Action::Rewind(turn) => format!("rewind {turn}"),
        Action::Aside(_) => "aside".to_owned(),
    }
}

fn point_words(point: &Point) -> String {
    let which = |which: &Which| match which {
        Which::Count(count) => count.to_string(),
        Which::Call(name) => name.clone(),
    };
    match point {
        Point::Prompt => "prompt".to_owned(),
        Point::Headers => "headers".to_owned(),
        Point::Think(fragment) => format!("think {fragment}"),
        Point::Text(fragment) => format!("text {fragment}"),
        Point::Start(name) => format!("start {name}"),
        Point::Delta(name, delta) => format!("delta {name} {delta}"),
        Point::End(name) => format!("end {name}"),
        Point::Calls => "calls".to_owned(),
        Point::Stop => "stop".to_owned(),
        Point::Reply => "terminal event".to_owned(),
        Point::Asked(name) => format!("asked {name}"),
        Point::Started(started) => format!("started {}", which(started)),
        Point::Settled(settled) => format!("settled {}", which(settled)),
        Point::Saved(entry) => format!("saved {entry}"),
    }
}
