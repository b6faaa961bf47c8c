//! A record as files.

use serde::Serialize;
use serde_json::{Value, json};

use super::{MAX_EXCHANGES, MAX_FILE_BYTES, Observed, Record, cut, order, pieces};
use brickbat_rules::redact::Redactor;
use brickbat_scenario::trace::{Event, Ledger, TurnOutcome};

/// One file of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordFile {
    /// Its name below the folder of the case, with `/` between its parts.
    pub name: String,
    pub text: String,
}

impl Record {
    /// The files of the record, redacted. Their names are the same in each run.
    pub fn files(&self, redactor: &Redactor) -> Vec<RecordFile> {
        let mut plan = self.plan.clone();
        pieces::redact_plan(&mut plan, redactor);
        let mut files = vec![pretty("case.json", &self.case, redactor), pretty("plan.json", &plan, redactor)];
        if let Some(observed) = &self.observed {
            files.push(pretty("receipts.json", &self.receipts, redactor));
            files.push(pretty("ledger.json", &self.ledger(observed), redactor));
            files.extend(observed.files(redactor));
        }
        files
    }

    /// The real runs of the tools, by the scenario's name of each call.
    fn ledger(&self, observed: &Observed) -> Value {
        let ledger = Ledger::of(&observed.trace, self.plan.calls.len());
        let calls = self.plan.calls.iter().zip(&ledger.calls).map(|(call, account)| {
            let mut value = json!({ "name": call.name, "tool": call.tool, "id": call.id });
            if let (Some(fields), Ok(Value::Object(account))) =
                (value.as_object_mut(), serde_json::to_value(account))
            {
                fields.extend(account);
                // Timing decides whether a result came before or after the stop at the same moment.
                fields.shift_remove("settled_late");
                if !call.asks {
                    // The user need not be asked about this call.
                    fields.shift_remove("unasked");
                }
            }
            value
        });
        json!({ "calls": calls.collect::<Vec<_>>(), "strangers": ledger.strangers })
    }
}

impl Observed {
    fn files(&self, redactor: &Redactor) -> Vec<RecordFile> {
        let (events, timing) = order::stored(&self.trace);
        let mut files = vec![
            RecordFile { name: "trace.jsonl".to_owned(), text: trace(&events, redactor) },
            RecordFile { name: "timing.json".to_owned(), text: line(&timing) },
        ];
        for exchange in self.exchanges.iter().take(MAX_EXCHANGES) {
            // People count requests from 1, and so do reports.
            let number = exchange.id.0 as usize + 1;
            let request = exchange.request_file(redactor);
            let reply = exchange.reply_file(redactor, &self.trace);
            files.push(pretty(&request_name(number), &request, redactor));
            files.push(pretty(&reply_name(number), &reply, redactor));
        }
        if let Some(stderr) = &self.stderr {
            let text = cut(&redactor.text(stderr), MAX_FILE_BYTES);
            files.push(RecordFile { name: "stderr.txt".to_owned(), text: format!("{STDERR_TITLE}\n{text}") });
        }
        if let Some(store) = &self.store {
            files.push(pretty("store.json", store, redactor));
        }
        files
    }
}

/// The file of a request, counted from 1 as in reports.
pub(super) fn request_name(number: usize) -> String {
    format!("requests/{number:03}.json")
}

/// The file of the reply to that request.
pub(super) fn reply_name(number: usize) -> String {
    format!("responses/{number:03}.json")
}

/// The first line of `stderr.txt`.
pub(super) const STDERR_TITLE: &str = "# The adapter's standard error while this plan ran. \
     Plans that ran in the same process at the same time wrote to it too.";

/// The maximum number of bytes on one trace line. Longer lines, such as endless arguments, are cut.
const MAX_LINE_TEXT: usize = 64 << 10;

/// The trace, one event per line. A trace that is too long ends in a line about the cut.
fn trace(events: &[&Event], redactor: &Redactor) -> String {
    let mut text = String::new();
    for (at, event) in events.iter().enumerate() {
        let mut value = serde_json::to_value(shortened(event, redactor)).unwrap_or_default();
        redactor.value(&mut value);
        let next = line(&value);
        if text.len() + next.len() > MAX_FILE_BYTES {
            text.push_str(&line(&json!({ "cut": format!("{at} of {} events are kept", events.len()) })));
            break;
        }
        text.push_str(&next);
    }
    text
}

/// An event with texts of limited length. They are redacted before they are cut, because half a secret is not
/// recognised.
fn shortened(event: &Event, redactor: &Redactor) -> Event {
    let mut event = event.clone();
    let texts = match &mut event {
        Event::ToolStarted { args, .. } => [Some(args), None],
        Event::CallShown { id, .. } | Event::Asked { id, .. } => [Some(id), None],
        Event::TurnEnded { outcome: TurnOutcome::Raised { class, text } } => [Some(class), Some(text)],
        _ => [None, None],
    };
    for text in texts.into_iter().flatten() {
        *text = cut(&redactor.text(text), MAX_LINE_TEXT);
    }
    event
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

fn pretty(name: &str, value: &impl Serialize, redactor: &Redactor) -> RecordFile {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    redactor.value(&mut value);
    let text = serde_json::to_string_pretty(&value).unwrap_or_default() + "\n";
    // A file that was cut would not be JSON, so the part that is kept becomes a JSON text.
    let text = match text.len() {
        n if n > 2 * MAX_FILE_BYTES => line(&json!({ "cut": cut(&text, MAX_FILE_BYTES) })),
        _ => text,
    };
    RecordFile { name: name.to_owned(), text }
}
