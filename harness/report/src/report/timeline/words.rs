//! Marks, endings and outcomes as text.

use super::super::shape::call_name;
use crate::record::Record;
use brickbat_scenario::action::{PoorSummary, ToolChange};
use brickbat_scenario::plan::{Change, Mark, Script, ScriptBlock, SearchKey, ServerBlock, Side, ToolOutcome};
use brickbat_scenario::trace::{Aside, Consent, Ending, Held, ShownState};

/// The position at which a reply is held.
pub(super) fn held(record: &Record, at: Held) -> String {
    let name = |key| call_name(record, key);
    let mark = match at.mark {
        Mark::Headers if at.side == Side::Before => return "before its first byte".to_owned(),
        Mark::Headers => "its headers".to_owned(),
        Mark::Think(n) => format!("piece {n} of its thinking"),
        Mark::Text(n) => format!("piece {n} of its text"),
        Mark::Start(key) => format!("the start of call {}", name(key)),
        Mark::Delta(key, n) => format!("piece {n} of the arguments of call {}", name(key)),
        Mark::End(key) => format!("the end of call {}", name(key)),
        Mark::Search(key) => format!("the call of search {}", search_name(record, key)),
        Mark::Found(key) => format!("what search {} found", search_name(record, key)),
        Mark::Calls => "its last call".to_owned(),
        Mark::Stop => "its stop reason".to_owned(),
        Mark::Reply => "its last event".to_owned(),
    };
    match at.side {
        Side::Before => format!("before {mark}"),
        Side::After => format!("after {mark}"),
    }
}

/// A summary of no use.
pub(super) fn poor_summary(poor: PoorSummary) -> &'static str {
    match poor {
        PoorSummary::Empty => "the summary is empty",
        PoorSummary::Length => "the summary is cut off at its length limit",
    }
}

/// The content of a scripted reply.
pub(super) fn script(record: &Record, script: &Script) -> String {
    let blocks = script.blocks.iter().map(|block| match block {
        ScriptBlock::Think(fragments) => format!("thinking {}", quoted(&fragments.concat())),
        ScriptBlock::Text(fragments) => format!("text {}", quoted(&fragments.concat())),
        ScriptBlock::Call(key) => {
            let tool = record.call(*key).map_or("?", |call| call.tool.as_str());
            format!("call {} of {tool}", call_name(record, *key))
        }
        ScriptBlock::Server(ServerBlock::Search(key)) => format!("search {}", search_name(record, *key)),
        ScriptBlock::Server(ServerBlock::Found(key)) => {
            format!("what search {} found", search_name(record, *key))
        }
    });
    blocks.collect::<Vec<_>>().join(", ")
}

fn search_name(record: &Record, key: SearchKey) -> &str {
    record.plan.searches.get(key.0 as usize).map_or("?", |search| search.name.as_str())
}

/// The end of a provider's reply.
pub(super) fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => "is complete",
        Ending::EndEarly => "ends without its last event",
        Ending::Eof => "is cut off: the connection is closed (FIN)",
        Ending::Reset => "is cut off: the connection is reset (RST)",
        Ending::ErrorEvent => "ends with an error event",
        Ending::Status => "is an HTTP error",
    }
}

/// The end of a tool run.
pub(super) fn outcome(outcome: &ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Return(text) => format!("returns {}", quoted(text)),
        ToolOutcome::Error(text) => format!("answers with an error: {}", quoted(text)),
        ToolOutcome::Throw(text) => format!("throws: {}", quoted(text)),
        ToolOutcome::Deny(text) => format!("is denied by the user: {}", quoted(text)),
    }
}

/// A sentence in which each call id is followed by the scenario's name for that call.
pub(super) fn with_names(record: &Record, sentence: String) -> String {
    // A model may give a call an empty id, which occurs in every sentence.
    let calls = record.plan.calls.iter().filter(|call| !call.id.is_empty());
    calls.fold(sentence, |sentence, call| sentence.replace(&call.id, &format!("{} ({})", call.id, call.name)))
}

/// The state of a call on the user's screen.
pub(super) fn state(state: ShownState) -> &'static str {
    match state {
        ShownState::Pending => "pending",
        ShownState::InProgress => "running",
        ShownState::Completed => "done",
        ShownState::Failed => "failed",
    }
}

/// The user's answer.
pub(super) fn consent(consent: Consent) -> &'static str {
    match consent {
        Consent::Given => "says yes",
        Consent::Refused => "says no",
        Consent::Withheld => "returns nothing: the turn was stopped",
    }
}

/// How the history is changed.
pub(super) fn change(change: &Change) -> String {
    match change {
        Change::Trim { keep } => format!("the history is cut to about {keep} messages"),
        Change::Summarise { keep } => format!("the history is summarised except for about {keep} messages"),
        Change::Rewind { prompts: 1 } => "takes back the last message and everything after it".to_owned(),
        Change::Rewind { prompts } => {
            format!("takes back the last {prompts} messages and everything after them")
        }
        Change::Aside { question } => {
            format!("asks a question outside the conversation: {}", quoted(question))
        }
        Change::Thinking { on: true } => "thinking is switched on".to_owned(),
        Change::Thinking { on: false } => "thinking is switched off".to_owned(),
        Change::Provider { dialect } => format!("the thread continues with the {dialect} provider"),
        Change::Tools { change } => match change {
            ToolChange::Withdraw(tool) => format!("the tool {tool} is withdrawn"),
            ToolChange::Offer(tool) => format!("the tool {tool} is added"),
            ToolChange::Extend(tool) => format!("the schema of the tool {tool} changes"),
        },
    }
}

/// Characters of a text that are quoted: enough for a line.
const MAX_QUOTED: usize = 60;

/// How a text is added to a running turn.
pub(super) fn aside(way: Aside) -> &'static str {
    match way {
        Aside::Steered => "steers the running turn:",
        Aside::Prompted => "sends another prompt:",
        Aside::Injected => "(a hook) adds:",
    }
}

/// The beginning of a text in quotes.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(MAX_QUOTED).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("\"{short}{more}\"")
}

/// The beginning of a text.
pub(super) fn beginning(text: &str) -> String {
    let short: String = text.chars().take(MAX_QUOTED).collect();
    if short.len() < text.len() { short + "…" } else { short }
}
