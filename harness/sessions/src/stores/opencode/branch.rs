//! Selects the messages of a session that are sent: reverted messages are hidden, and compacted ones are
//! replaced.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::blocks;
use super::forms::Form;
use super::raw::{Raw, RawMessage, RawPart};
use crate::json::text;
use crate::names;
use crate::{Place, Product, RecordedRefusal, Session, Trouble};

/// The description of a session file without its messages.
const NO_MESSAGES: &str = "no messages are here: they are in `storage/message/<session>`, and their parts in `storage/part/<message>`; give \
     the file in its folder `storage`";

/// Maximum number of parents to follow. Sub-agents are nested only a few levels deep, and a cycle of parents
/// ends here.
const MAX_PARENTS: usize = 32;

/// The sessions that are not of sub-agents. The sub-agents of each session are off its branch.
pub(super) fn sessions(form: Form, raws: Vec<Raw>) -> Vec<Session> {
    let parents: BTreeMap<String, String> =
        raws.iter().filter_map(|raw| Some((raw.id.clone(), raw.parent.clone()?))).collect();
    let known: BTreeSet<String> = raws.iter().map(|raw| raw.id.clone()).collect();
    let mut children: BTreeMap<String, Vec<Raw>> = BTreeMap::new();
    let mut roots = Vec::new();
    for raw in raws {
        match root_of(&raw.id, &parents, &known) {
            Some(root) => children.entry(root).or_default().push(raw),
            None => roots.push(raw),
        }
    }
    let sessions = roots.into_iter().map(|root| {
        let own = children.remove(&root.id).unwrap_or_default();
        session(form, root, own)
    });
    sessions.collect()
}

/// The topmost ancestor of a session, if it has one. A session in an endless chain of parents counts as its
/// own top.
fn root_of(id: &str, parents: &BTreeMap<String, String>, known: &BTreeSet<String>) -> Option<String> {
    let mut at = id;
    for _ in 0..MAX_PARENTS {
        match parents.get(at).filter(|parent| known.contains(*parent)) {
            Some(parent) => at = parent,
            None => return (at != id).then(|| at.to_owned()),
        }
    }
    None
}

fn session(form: Form, raw: Raw, children: Vec<Raw>) -> Session {
    let n_records = raw.messages.iter().map(|message| 1 + message.parts.len()).sum();
    // The next request follows the last user message, so it uses the model of that message.
    let (provider, model) = model_of(&raw.messages);
    let mut unknown = BTreeSet::new();
    let current = format!("{provider}/{model}");
    let mut convert = |messages: &[RawMessage]| -> Vec<crate::Message> {
        messages.iter().flat_map(|message| blocks::messages(message, &current, &mut unknown)).collect()
    };
    let n_forks = usize::from(raw.revert.is_some());
    let mut troubles = raw.troubles;
    if form == Form::Folder && raw.messages.is_empty() && troubles.is_empty() {
        let place = Place::in_file(0..0, "");
        troubles.push(Trouble { place, words: NO_MESSAGES.to_owned(), loses: None });
    }
    let refused = refused(&raw.messages);
    let branch = branch_of(raw.messages, raw.revert.as_ref());
    let messages = convert(&branch.sent);
    let mut off_branch = convert(&branch.hidden);
    for child in children {
        off_branch.extend(convert(&child.messages));
    }
    Session {
        version: raw.version,
        id: Some(raw.id).filter(|id| !id.is_empty()),
        dialect: names::dialect_of(|names| names.opencode, &provider, &model),
        model: Some(model).filter(|model| !model.is_empty()),
        is_excerpt: messages.first().is_some_and(|first| first.role != brickbat_rules::histories::Role::User),
        messages,
        off_branch,
        n_records,
        n_compactions: branch.n_compactions,
        n_forks,
        troubles,
        refused,
        unknown: unknown.into_iter().collect(),
        ..Session::new(
            Product::Opencode,
            form.generation(),
            "all messages by their time, without what was taken back, from the last compaction on",
        )
    }
}

/// The error with the status 400 of the last reply (`APIError` in `session/message-v2.ts`).
fn refused(messages: &[RawMessage]) -> Option<RecordedRefusal> {
    let last = messages.iter().rfind(|message| text(&message.info, "role") == "assistant")?;
    let error = last.info.pointer("/error/data").filter(|data| data["statusCode"] == 400)?;
    let words = [text(error, "message"), text(error, "responseBody")].join("\n");
    Some(RecordedRefusal { words, place: last.place.clone() })
}

/// The provider and the model of the last user message that names them, otherwise of the last reply.
fn model_of(messages: &[RawMessage]) -> (String, String) {
    let of_user = messages.iter().rev().filter_map(|message| message.info.get("model"));
    let of_reply = messages.iter().rev().map(|message| &message.info);
    let found = of_user.chain(of_reply).find(|value| !text(value, "modelID").is_empty());
    let found = found.unwrap_or(&Value::Null);
    (text(found, "providerID").to_owned(), text(found, "modelID").to_owned())
}

/// The messages of a session that are sent, and the hidden ones.
#[derive(Debug, Default)]
struct Branch {
    sent: Vec<RawMessage>,
    hidden: Vec<RawMessage>,
    n_compactions: usize,
}

fn branch_of(messages: Vec<RawMessage>, revert: Option<&(String, Option<String>)>) -> Branch {
    let (kept, hidden) = without_reverted(messages, revert);
    let branch = from_compaction(kept);
    Branch { hidden: branch.hidden.into_iter().chain(hidden).collect(), ..branch }
}

/// Separates the reverted messages, which the next prompt deletes (`SessionRevert.cleanup` in
/// `session/revert.ts` of <https://github.com/anomalyco/opencode>): a message and all after it, or a message
/// from one of its parts on.
fn without_reverted(
    mut messages: Vec<RawMessage>,
    revert: Option<&(String, Option<String>)>,
) -> (Vec<RawMessage>, Vec<RawMessage>) {
    let Some((id, part)) = revert else { return (messages, Vec::new()) };
    let Some(at) = messages.iter().position(|message| message.id == *id) else {
        return (messages, Vec::new());
    };
    let mut hidden = messages.split_off(at);
    let cut = part.as_ref().and_then(|part| hidden[0].parts.iter().position(|own| own.id == *part));
    if let Some(cut) = cut {
        let message = &mut hidden[0];
        let after = message.parts.split_off(cut);
        let before = std::mem::replace(&mut message.parts, after);
        messages.push(RawMessage {
            id: message.id.clone(),
            session: message.session.clone(),
            created: message.created,
            info: message.info.clone(),
            place: message.place.clone(),
            parts: before,
        });
    }
    (messages, hidden)
}

/// Starts at the last finished compaction: its question and summary, then the messages that it kept verbatim,
/// then all later ones. This is `filterCompacted` in `session/message-v2.ts` of 1.18.33.
fn from_compaction(messages: Vec<RawMessage>) -> Branch {
    let mut summaries: BTreeMap<String, usize> = BTreeMap::new();
    for (n, message) in messages.iter().enumerate() {
        let has = |key: &str| {
            message.info.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
        };
        let is_summary = text(&message.info, "role") == "assistant" && has("summary");
        if is_summary && has("finish") && !has("error") {
            summaries.insert(text(&message.info, "parentID").to_owned(), n);
        }
    }
    let compaction = |message: &RawMessage| message.parts.iter().any(is_compaction);
    let finished = |n: usize, message: &RawMessage| {
        let is_user = text(&message.info, "role") == "user";
        is_user && compaction(message) && summaries.get(&message.id).is_some_and(|summary| *summary > n)
    };
    let points: Vec<usize> =
        messages.iter().enumerate().filter(|(n, message)| finished(*n, message)).map(|(n, _)| n).collect();
    let n_compactions = points.len();
    let Some(&point) = points.last() else {
        return Branch { sent: messages, hidden: Vec::new(), n_compactions };
    };
    let summary = summaries[&messages[point].id];
    let kept = messages[point].parts.iter().find_map(|part| part.value.get("tail_start_id")?.as_str());
    let first_kept = match kept {
        None => point,
        Some(id) => match messages[..=point].iter().position(|message| message.id == id) {
            Some(at) => at,
            // The product searches for it back to the beginning, and then sends everything it visited.
            None => return Branch { sent: messages, hidden: Vec::new(), n_compactions },
        },
    };
    let mut parts: [Vec<RawMessage>; 4] = Default::default();
    for (n, message) in messages.into_iter().enumerate() {
        let which = match n {
            n if n < first_kept => 3,
            n if n < point => 1,
            n if n <= summary => 0,
            _ => 2,
        };
        parts[which].push(message);
    }
    let [asked, kept, after, hidden] = parts;
    Branch { sent: asked.into_iter().chain(kept).chain(after).collect(), hidden, n_compactions }
}

fn is_compaction(part: &RawPart) -> bool {
    text(&part.value, "type") == "compaction"
}
