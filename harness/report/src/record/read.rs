//! A record read back from its files.

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::exchange::{Exchange, Reply, RequestFile};
use super::files::{STDERR_TITLE, reply_name, request_name};
use super::order::{self, Timing};
use super::{CaseNote, MAX_EXCHANGES, Observed, PlanNote, Record, SCHEMA};
use brickbat_rules::Profile;
use brickbat_scenario::trace::{Event, ExchangeId};
use brickbat_scenario::wire;

/// Returns a file's text by its name, `None` if there is no such file, or the reason why it cannot be
/// read.
pub type FileReader<'a> = &'a dyn Fn(&str) -> Result<Option<String>, RecordError>;

/// The reason why a record cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {why}")]
pub struct RecordError {
    file: String,
    why: String,
}

impl RecordError {
    /// An error in the file with this name.
    pub fn new(file: &str, why: impl fmt::Display) -> RecordError {
        RecordError { file: file.to_owned(), why: why.to_string() }
    }
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// A file is missing or wrong.
    pub fn read(file: FileReader<'_>) -> Result<Record, RecordError> {
        let case: CaseNote = needed(file, "case.json")?;
        if case.schema != SCHEMA {
            let why = format!("this Brickbat reads version {SCHEMA}, not {}", case.schema);
            return Err(RecordError::new("case.json", why));
        }
        let plan: PlanNote = needed(file, "plan.json")?;
        let Some(trace) = file("trace.jsonl")? else {
            return Ok(Record { case, plan, receipts: Vec::new(), observed: None });
        };
        let exchanges = exchanges(file)?;
        let mut events = events(&trace)?;
        let mut dialect = plan.dialect;
        for event in &mut events {
            if let Event::Prompted { turn } = event {
                dialect = plan.dialect_of(*turn);
            }
            if let Event::Requested { exchange, head, body, .. } = event
                && let Some(known) = exchanges.iter().find(|known| known.id == *exchange)
            {
                let route = wire::of(dialect).route(&known.method, &known.path);
                head.model = route.and_then(|route| route.model).map(Cow::into_owned);
                head.version = known.header(Profile::VERSION_HEADER).map(str::to_owned);
                *body = known.body.clone();
            }
        }
        let timing: Option<Timing> = optional(file, "timing.json")?;
        let stderr = file("stderr.txt")?.map(|text| match text.strip_prefix(STDERR_TITLE) {
            Some(rest) => rest.trim_start_matches('\n').to_owned(),
            None => text,
        });
        let observed = Observed {
            trace: order::seen(events, timing),
            exchanges,
            stderr,
            store: optional(file, "store.json")?,
        };
        let receipts = optional(file, "receipts.json")?.unwrap_or_default();
        Ok(Record { case, plan, receipts, observed: Some(observed) })
    }
}

fn exchanges(file: FileReader<'_>) -> Result<Vec<Exchange>, RecordError> {
    let mut exchanges = Vec::new();
    for number in 1..=MAX_EXCHANGES {
        let request: Option<RequestFile> = optional(file, &request_name(number))?;
        let Some(request) = request else { break };
        let reply: Reply = needed(file, &reply_name(number))?;
        exchanges.push(request.with(ExchangeId(number as u32 - 1), reply));
    }
    Ok(exchanges)
}

fn events(trace: &str) -> Result<Vec<Event>, RecordError> {
    let mut events = Vec::new();
    for (at, line) in trace.lines().enumerate() {
        let wrong =
            |error: serde_json::Error| RecordError::new("trace.jsonl", format!("line {}: {error}", at + 1));
        let value: Value = serde_json::from_str(line).map_err(wrong)?;
        if value.get("cut").is_some() {
            break;
        }
        events.push(serde_json::from_value(value).map_err(wrong)?);
    }
    Ok(events)
}

fn needed<T: DeserializeOwned>(file: FileReader<'_>, name: &str) -> Result<T, RecordError> {
    optional(file, name)?.ok_or_else(|| RecordError::new(name, "it is missing"))
}

fn optional<T: DeserializeOwned>(file: FileReader<'_>, name: &str) -> Result<Option<T>, RecordError> {
    let parse = |text: String| serde_json::from_str(&text).map_err(|error| RecordError::new(name, error));
    file(name)?.map(parse).transpose()
}
