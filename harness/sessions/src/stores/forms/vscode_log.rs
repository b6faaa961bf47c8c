//! The newer store of VS Code chat: `chatSessions/<id>.jsonl`, a log of changes to the session.
//!
//! The first line has the whole session, and each later one sets, appends to, or deletes a part of it. A log without such a
//! first line is not opened (<https://github.com/microsoft/vscode/issues/317478>). Source:
//! `src/vs/workbench/contrib/chat/common/model/objectMutationLog.ts` of <https://github.com/microsoft/vscode>.

use brickbat_rules::json::Json;
use serde_json::{Value, json};

use super::assembled::Assembled;
use crate::json::{Line, lines, trouble};
use crate::stores::Look;
use crate::{Files, FormError, Place, Trouble};

/// The value of [`Session::generation`](crate::Session::generation).
const GENERATION: &str = "JSONL";

/// The kinds of lines.
const INITIAL: u64 = 0;
const SET: u64 = 1;
const PUSH: u64 = 2;
const DELETE: u64 = 3;

/// The list of the session with a request in each item.
const REQUESTS: &str = "requests";

/// The description of a log without its first line. VS Code's own words are its beginning.
pub(super) const NO_BEGINNING: &str = "Log file is missing an initial entry, so VS Code does not open the chat. Its requests are in the file. It \
     helps to insert a first line with `kind` 0 and a session without requests, as another chat has it, with the \
     `sessionId` of this one.";

/// Returns whether the first line has a whole session, or the lines are changes to the requests of one.
pub(super) fn is_log(look: &Look<'_>) -> bool {
    is_whole(look) || is_headless(look)
}

fn is_headless(look: &Look<'_>) -> bool {
    let lines = look.head();
    let kind = |line: Json<'_, '_>| line.field("kind").as_u64();
    let is_change = |line: Json<'_, '_>| {
        kind(line).is_some_and(|kind| (SET..=DELETE).contains(&kind)) && line.field("k").is_array()
    };
    let is_of_request = |line: Json<'_, '_>| {
        line.pointer("/k/0").is(REQUESTS) && line.pointer("/v/0/requestId").is_str()
            || line.pointer("/k/2").is("response")
    };
    lines.iter().all(|line| is_change(line.root())) && lines.iter().any(|line| is_of_request(line.root()))
}

fn is_whole(look: &Look<'_>) -> bool {
    look.is_headed(|line| {
        let session = line.field("v");
        line.field("kind").as_number().is_some() && session.field(REQUESTS).is_array()
    })
}

/// The session after all changes.
pub(super) fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let look = Look::of(files);
    let is_headless = !is_whole(&look);
    let state = if is_headless { json!({}) } else { Value::Null };
    let mut log = Log { state, origins: Vec::new() };
    let mut found = Assembled { generation: GENERATION, ..Assembled::default() };
    for line in lines(files.main()) {
        let place = Place::in_line(line.n, line.span(), "");
        // A line that is nested deeper than this parser allows counts as unreadable.
        match serde_json::from_slice::<Value>(line.bytes) {
            Ok(entry) => {
                // Parts of the lost session are not there to be changed.
                if log.take(entry, &line).is_none() && !is_headless {
                    found.lose(place, "a change of an unknown form".to_owned());
                }
            }
            Err(_) => found.lose(place, trouble(line.bytes).to_string()),
        }
    }
    if is_headless {
        let place = lines(files.main()).next().map(|line| Place::in_line(line.n, line.span(), ""));
        let place = place.unwrap_or_default();
        found.troubles.push(Trouble { place, words: NO_BEGINNING.to_owned(), loses: None });
    }
    found.id = log.state.get("sessionId").and_then(Value::as_str).map(str::to_owned);
    let requests = log.state.get_mut(REQUESTS).map(Value::take);
    let Some(Value::Array(requests)) = requests else { return Ok(vec![found]) };
    for (n, request) in requests.iter().enumerate() {
        let origin = log.origins.get(n).cloned().unwrap_or_default();
        found.records.push((Place { pointer: format!("/{REQUESTS}/{n}"), ..origin }, request.to_string()));
    }
    Ok(vec![found])
}

struct Log {
    state: Value,
    /// The last line that changed each request.
    origins: Vec<Place>,
}

impl Log {
    /// Makes the change of a line. `None` if there is nothing that it could change.
    fn take(&mut self, mut entry: Value, line: &Line<'_>) -> Option<()> {
        let place = Place::in_line(line.n, line.span(), "");
        let kind = entry.get("kind")?.as_u64()?;
        let value = entry.get_mut("v").map(Value::take);
        if kind == INITIAL {
            self.state = value?;
        } else {
            let Value::Array(path) = entry.get("k")? else { return None };
            let (last, steps) = path.split_last()?;
            let owner = steps.iter().try_fold(&mut self.state, |at, step| child(at, step))?;
            match kind {
                SET => set(owner, last, value.unwrap_or_default())?,
                DELETE => set(owner, last, Value::Null)?,
                PUSH => push(owner, last, value, entry.get("i").and_then(Value::as_u64))?,
                _ => return None,
            }
            if path.first().and_then(Value::as_str) == Some(REQUESTS)
                && let Some(n) = path.get(1).and_then(Value::as_u64)
                && let Some(origin) = usize::try_from(n).ok().and_then(|n| self.origins.get_mut(n))
            {
                *origin = place.clone();
            }
        }
        let n_requests = self.state.get(REQUESTS).and_then(Value::as_array).map_or(0, Vec::len);
        self.origins.resize(n_requests, place);
        Some(())
    }
}

/// The part of a value at a step of a path.
fn child<'v>(value: &'v mut Value, step: &Value) -> Option<&'v mut Value> {
    match (value, step) {
        (Value::Object(fields), Value::String(name)) => fields.get_mut(name),
        (Value::Array(items), Value::Number(n)) => items.get_mut(usize::try_from(n.as_u64()?).ok()?),
        _ => None,
    }
}

fn set(owner: &mut Value, step: &Value, value: Value) -> Option<()> {
    match (owner, step) {
        (Value::Object(fields), Value::String(name)) => {
            fields.insert(name.clone(), value);
        }
        (Value::Array(items), Value::Number(n)) => {
            let n = usize::try_from(n.as_u64()?).ok()?;
            if n == items.len() {
                items.push(value);
            } else {
                *items.get_mut(n)? = value;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Appends to a list, which ends at this length before that.
fn push(owner: &mut Value, step: &Value, values: Option<Value>, length: Option<u64>) -> Option<()> {
    if child(owner, step).is_none_or(|list| list.is_null()) {
        set(owner, step, Value::Array(Vec::new()))?;
    }
    let list = child(owner, step)?.as_array_mut()?;
    if let Some(length) = length {
        list.truncate(usize::try_from(length).ok()?);
    }
    match values {
        Some(Value::Array(values)) => list.extend(values),
        None | Some(Value::Null) => {}
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(entries: &str) -> Value {
        let mut log = Log { state: Value::Null, origins: Vec::new() };
        for line in lines(entries.as_bytes()) {
            log.take(serde_json::from_slice(line.bytes).unwrap(), &line).unwrap();
        }
        log.state
    }

    #[test]
    fn each_kind_of_change_is_made() {
        let log = r#"{"kind":0,"v":{"requests":[{"id":1},{"id":2}],"title":"a"}}
{"kind":1,"k":["requests",1,"id"],"v":3}
{"kind":2,"k":["requests"],"v":[{"id":4}],"i":1}
{"kind":2,"k":["requests",0,"parts"],"v":["x"]}
{"kind":3,"k":["title"]}"#;
        let after = state(log);
        assert_eq!(after, serde_json::json!({"requests":[{"id":1,"parts":["x"]},{"id":4}],"title":null}));
    }

    #[test]
    fn a_change_without_its_place_is_refused() {
        let mut log = Log { state: Value::Object(serde_json::Map::new()), origins: Vec::new() };
        let line = Line { n: 1, start: 0, bytes: b"" };
        for entry in [
            r#"{"kind":1,"k":["requests",7,"id"],"v":1}"#,
            r#"{"kind":2,"k":["requests",7],"v":[1]}"#,
            r#"{"kind":9,"k":["a"],"v":1}"#,
            r#"{"kind":1,"k":[]}"#,
            r#"{}"#,
        ] {
            assert_eq!(log.take(serde_json::from_str(entry).unwrap(), &line), None, "{entry}");
        }
    }
}
