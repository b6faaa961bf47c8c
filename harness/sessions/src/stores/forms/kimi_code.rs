//! Kimi Code: `agents/<agent>/wire.jsonl`, a log of events.
//!
//! Messages are appended as they are, and replies as events of a step: its beginning, its parts, its calls, its end and the
//! results. A message that comes while calls are open waits until these have results. When it resumes, Kimi Code answers the
//! calls that are still open, drops results without a call, and leaves out replies without content, which older versions
//! send (<https://github.com/MoonshotAI/kimi-code/issues/1404>, <https://github.com/MoonshotAI/kimi-code/issues/660>).
//! Source: `ContextMemory` and `project` in `packages/agent-core/src/agent/context`, and `agent/records/types.ts`, of
//! <https://github.com/MoonshotAI/kimi-code>.

use serde_json::{Map, Value, json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, BY_ROLE, CallAt, Form, Piece, ResultAt, Sends, Shape, Speaker};
use crate::json::{lines, trouble};
use crate::stores::Look;
use crate::{Files, FormError, Place, Product, Trouble};

pub(crate) const FORM: Form = Form {
    product: Product::KimiCode,
    generation: "JSONL of events",
    other: Some(Assembly { owns: is_log, assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[
            Piece::Result(ResultAt {
                call: "/toolCallId",
                name: "/name",
                output: "/content",
                failed: Some(("/isError", "true")),
            }),
            Piece::Parts(
                "/content",
                "/type",
                &[
                    ("text", Piece::Text("/text")),
                    ("think", Piece::Thinking("/think", "/encrypted")),
                    ("image_url", Piece::Skip),
                    ("audio_url", Piece::Skip),
                    ("video_url", Piece::Skip),
                ],
            ),
            Piece::Calls("/toolCalls", CallAt { id: "/id", name: "/name", arguments: "/arguments" }),
        ],
    }]),
    model: &["/model"],
    sends: Sends::Restores(
        "Tool execution was interrupted before its result was recorded. Do not assume the tool completed successfully.",
    ),
    ..BASE
};

/// The description of a reply without content.
const EMPTY_REPLY: &str = "a reply without content; recent versions leave it out, and 0.26 to 0.34 send it, which the provider refuses \
     (deleting the line helps there)";

/// Returns whether the first line is the header of a log, and one of the next lines an event of Kimi Code.
fn is_log(look: &Look<'_>) -> bool {
    const OWN: [&str; 4] = ["turn.", "context.", "config.", "permission."];
    let is_own = |kind: &str| OWN.iter().any(|own| kind.starts_with(own));
    look.is_headed(|line| line.field("type").is("metadata") && line.field("protocol_version").is_str())
        && look.head().iter().any(|line| line.root().field("type").as_str().is_some_and(|kind| is_own(&kind)))
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let mut log = Log::default();
    for line in lines(files.main()) {
        let place = Place::in_line(line.n, line.span(), "");
        match serde_json::from_slice::<Value>(line.bytes) {
            Ok(mut event) => log.take(&mut event, place),
            Err(_) => log.found.lose(place, trouble(line.bytes).to_string()),
        }
    }
    log.deliver();
    let Log { history, own, mut found, .. } = log;
    found.generation = FORM.generation;
    found.own = Some(Value::Object(own).to_string());
    for Entry { place, message, .. } in history {
        let is_empty = |list: &str| message[list].as_array().is_none_or(Vec::is_empty);
        let is_reply = message["role"] == "assistant";
        if is_reply && is_empty("toolCalls") && is_empty("content") {
            found.troubles.push(Trouble { place, words: EMPTY_REPLY.to_owned(), loses: None });
        } else {
            found.records.push((place, message.to_string()));
        }
    }
    Ok(vec![found])
}

/// A message of the history.
struct Entry {
    place: Place,
    message: Value,
    origin: String,
}

impl Entry {
    fn is_of_user(&self) -> bool {
        self.message["role"] == "user" && matches!(self.origin.as_str(), "" | "user")
    }
}

/// The state of the product when it reads the log.
#[derive(Default)]
struct Log {
    history: Vec<Entry>,
    /// Messages that wait for the results of the open calls.
    waiting: Vec<Entry>,
    /// The ids of the open calls.
    open: Vec<String>,
    /// The id of the newest step.
    step: Option<String>,
    /// The session's own fields: its provider and its model.
    own: Map<String, Value>,
    found: Assembled,
}

impl Log {
    fn take(&mut self, event: &mut Value, place: Place) {
        match event["type"].as_str().unwrap_or_default() {
            "config.update" => {
                let alias = event["modelAlias"].as_str().unwrap_or_default();
                if let Some((provider, model)) = alias.split_once('/') {
                    self.own.entry("provider").or_insert_with(|| json!(provider));
                    self.own.insert("model".to_owned(), json!(model));
                }
            }
            "llm.request" => {
                for field in ["provider", "model"] {
                    self.own.insert(field.to_owned(), event[field].take());
                }
            }
            "context.append_message" => self.append(event["message"].take(), place),
            "context.append_loop_event" => self.step(&mut event["event"], place),
            "context.clear" => self.forget(0, None),
            "context.apply_compaction" => self.compact(event, place),
            "context.undo" => self.undo(event["count"].as_u64().unwrap_or_default()),
            _ => {}
        }
    }

    fn append(&mut self, message: Value, place: Place) {
        // A message that was not complete is never sent.
        if message["partial"] == true || !message.is_object() {
            return;
        }
        let origin = message["origin"]["kind"].as_str().unwrap_or_default().to_owned();
        let entry = Entry { place, message: without_blanks(message), origin };
        if self.open.is_empty() { self.history.push(entry) } else { self.waiting.push(entry) }
    }

    fn step(&mut self, event: &mut Value, place: Place) {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let is_of_step = |log: &Log| log.step.as_deref() == event["stepUuid"].as_str();
        match text("type").as_str() {
            "step.begin" => {
                // The calls of the step before were interrupted.
                self.deliver();
                self.step = Some(text("uuid"));
                let message = json!({ "role": "assistant", "content": [], "toolCalls": [] });
                self.history.push(Entry { place, message, origin: String::new() });
            }
            "content.part" if is_of_step(self) && !is_blank(&event["part"]) => {
                let part = event["part"].take();
                self.add("content", part);
            }
            "tool.call" if is_of_step(self) => {
                let id = text("toolCallId");
                // The arguments of a call are kept as an object.
                let call = json!({ "id": id, "name": text("name"), "arguments": event["args"].take() });
                self.add("toolCalls", call);
                self.open.push(id);
            }
            "tool.result" => {
                let id = text("toolCallId");
                let result = event["result"].take();
                let message = json!({ "role": "tool", "toolCallId": id, "content": output(&result["output"]),
                    "isError": result["isError"] == true });
                let Some(at) = self.open.iter().position(|open| *open == id) else {
                    // A second result, or one without a call, is not read.
                    self.found.before.push((place, message.to_string()));
                    return;
                };
                self.open.remove(at);
                self.history.push(Entry { place, message, origin: String::new() });
                if self.open.is_empty() {
                    self.deliver();
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, list: &str, item: Value) {
        let reply = self.history.iter_mut().rev().find(|entry| entry.message["role"] == "assistant");
        if let Some(Value::Array(items)) = reply.map(|entry| &mut entry.message[list]) {
            items.push(item);
        }
    }

    /// Appends the messages that waited.
    fn deliver(&mut self) {
        self.open.clear();
        self.history.append(&mut self.waiting);
    }

    /// Takes the messages before an index off the branch, and begins with a summary.
    fn forget(&mut self, n_kept: usize, summary: Option<Entry>) {
        let kept = self.history.split_off(self.history.len() - n_kept.min(self.history.len()));
        let gone = std::mem::replace(&mut self.history, summary.into_iter().chain(kept).collect());
        self.found.before.extend(gone.into_iter().map(|entry| (entry.place, entry.message.to_string())));
        self.open.clear();
        self.waiting.clear();
        self.step = None;
    }

    /// A compaction keeps messages of the user and puts the summary behind them. Before, it kept the messages after the
    /// summarised ones.
    fn compact(&mut self, event: &Value, place: Place) {
        self.found.n_compactions += 1;
        let number = |name: &str| event[name].as_u64().and_then(|n| usize::try_from(n).ok());
        let words = event["contextSummary"].as_str().or(event["summary"].as_str()).unwrap_or_default();
        let message = json!({ "role": "user", "content": [{ "type": "text", "text": words }] });
        let summary = Entry { place, message, origin: "compaction_summary".to_owned() };
        let Some(n_kept) = number("keptUserMessageCount") else {
            let n_gone = number("compactedCount").unwrap_or_default();
            return self.forget(self.history.len().saturating_sub(n_gone), Some(summary));
        };
        let of_user: Vec<usize> = (0..self.history.len()).filter(|n| self.history[*n].is_of_user()).collect();
        let n_head = number("keptHeadUserMessageCount").unwrap_or_default().min(n_kept);
        let n_tail = of_user.len().saturating_sub(n_kept - n_head);
        let is_kept = |n: usize| {
            of_user.binary_search(&n).is_ok_and(|order| order < n_head || order >= n_tail.max(n_head))
        };
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (n, entry) in std::mem::take(&mut self.history).into_iter().enumerate() {
            if is_kept(n) { kept.push(entry) } else { gone.push(entry) }
        }
        self.history = gone;
        self.forget(0, None);
        self.history = kept;
        self.history.push(summary);
    }

    /// Takes the last turns of the user back. Messages that the product has injected stay.
    fn undo(&mut self, count: u64) {
        let mut n_left = count;
        let mut at = self.history.len();
        while at > 0 && n_left > 0 {
            at -= 1;
            match self.history[at].origin.as_str() {
                "injection" => continue,
                "compaction_summary" => break,
                _ => {}
            }
            let entry = self.history.remove(at);
            n_left -= u64::from(entry.is_of_user());
            self.found.before.push((entry.place, entry.message.to_string()));
        }
        self.open.clear();
        self.waiting.clear();
        self.step = None;
    }
}

/// The output of a result as the model gets it; an empty one is called empty.
fn output(output: &Value) -> Value {
    let is_empty = output.as_str().is_some_and(|text| text.trim().is_empty())
        || output.as_array().is_some_and(Vec::is_empty);
    if is_empty { json!("<system>Tool output is empty.</system>") } else { output.clone() }
}

/// Returns whether a part is not sent: a blank text, or an empty thought without a signature.
fn is_blank(part: &Value) -> bool {
    let is_blank = |field: &str| part[field].as_str().is_some_and(|text| text.trim().is_empty());
    match part["type"].as_str() {
        Some("text") => is_blank("text"),
        Some("think") => is_blank("think") && part.get("encrypted").is_none(),
        _ => false,
    }
}

fn without_blanks(mut message: Value) -> Value {
    if let Some(parts) = message.get_mut("content").and_then(Value::as_array_mut) {
        parts.retain(|part| !is_blank(part));
    }
    message
}

#[cfg(test)]
mod tests {
    use brickbat_rules::histories::Role;

    use super::*;
    use crate::{Session, read};

    fn session(events: &[Value]) -> Session {
        let head = json!({ "type": "metadata", "protocol_version": "1.5" });
        let lines = std::iter::once(&head).chain(events).map(|event| format!("{event}\n"));
        read(&Files::one("wire.jsonl", lines.collect::<String>())).unwrap().remove(0)
    }

    fn said(text: &str) -> Value {
        let message = json!({ "role": "user", "content": [{ "type": "text", "text": text }], "toolCalls": [],
            "origin": { "kind": "user" } });
        json!({ "type": "context.append_message", "message": message })
    }

    fn event(event: Value) -> Value {
        json!({ "type": "context.append_loop_event", "event": event })
    }

    fn reply(step: &str, parts: &[Value]) -> Vec<Value> {
        let begin = event(json!({ "type": "step.begin", "uuid": step, "step": 1 }));
        let part = |part: &Value| {
            let mut part = part.clone();
            part["stepUuid"] = json!(step);
            event(part)
        };
        std::iter::once(begin).chain(parts.iter().map(part)).collect()
    }

    fn text(text: &str) -> Value {
        json!({ "type": "content.part", "part": { "type": "text", "text": text } })
    }

    fn call(id: &str) -> Value {
        json!({ "type": "tool.call", "toolCallId": id, "name": "find", "args": {} })
    }

    fn result(id: &str) -> Value {
        event(json!({ "type": "tool.result", "toolCallId": id, "result": { "output": "" } }))
    }

    /// The roles of the messages on the branch, by their first letters.
    fn roles(session: &Session) -> String {
        let letter = |role: Role| match role {
            Role::System => 's',
            Role::User => 'u',
            Role::Assistant => 'a',
            Role::Tool => 't',
        };
        session.messages.iter().map(|message| letter(message.role)).collect()
    }

    #[test]
    fn a_message_waits_for_open_calls_and_a_second_result_is_not_read() {
        let turn = [vec![said("Go.")], reply("s1", &[call("c1"), call("c2")])].concat();
        let late = [vec![result("c1"), said("And?"), result("c1"), result("c2"), result("c2")]].concat();
        let whole = session(&[turn.clone(), late].concat());
        assert_eq!(roles(&whole), "uattu");
        let next = [vec![said("Wait.")], reply("s2", &[text("Yes.")])].concat();
        assert_eq!(roles(&session(&[turn, next].concat())), "uaua");
    }

    #[test]
    fn what_is_blank_is_not_sent_and_an_empty_reply_is_reported() {
        let thought = json!({ "type": "content.part", "part": { "type": "think", "think": " " } });
        let own =
            session(&[vec![said("Go.")], reply("s1", &[thought, text(" ")]), vec![said("And?")]].concat());
        assert_eq!(
            (roles(&own).as_str(), own.troubles.len(), own.troubles[0].place.line),
            ("uu", 1, Some(3))
        );
    }

    #[test]
    fn clearing_undoing_and_compacting_take_messages_off_the_branch() {
        let turn = |n: usize| [vec![said(&format!("{n}"))], reply("s", &[text("Yes.")])].concat();
        let turns = [turn(1), turn(2), turn(3)].concat();
        let with = |last: Value| session(&[turns.clone(), vec![last, said("And?")]].concat());
        assert_eq!(roles(&with(json!({ "type": "context.clear" }))), "u");
        assert_eq!(roles(&with(json!({ "type": "context.undo", "count": 2 }))), "uau");
        let compacted = |kept: Value| {
            let mut last =
                json!({ "type": "context.apply_compaction", "summary": "In short.", "compactedCount": 4 });
            last.as_object_mut().unwrap().extend(kept.as_object().unwrap().clone());
            with(last)
        };
        let old = compacted(json!({}));
        assert_eq!((roles(&old).as_str(), old.n_compactions), ("uuau", 1));
        assert_eq!(roles(&compacted(json!({ "keptUserMessageCount": 2 }))), "uuuu");
        let both = compacted(json!({ "keptUserMessageCount": 2, "keptHeadUserMessageCount": 1 }));
        let texts: Vec<String> =
            both.messages.iter().map(|message| format!("{:?}", message.blocks[0].content)).collect();
        assert!(
            texts[0].contains('1') && texts[1].contains('3') && texts[2].contains("In short."),
            "{texts:?}"
        );
    }

    #[test]
    fn logs_of_other_products_are_not_taken() {
        let cli = r#"{"type":"metadata","protocol_version":"1.2"}
{"timestamp":1.0,"message":{"type":"TurnBegin","payload":{"user_input":"Go."}}}"#;
        for text in [cli, "{}", "", "[[[", r#"{"type":"metadata","protocol_version":1}"#] {
            assert!(!is_log(&Look::of(&Files::one("wire.jsonl", text))), "{text}");
        }
    }
}
