//! A record read back from its files.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::exchange::{Exchange, Reply, RequestFile};
use super::files::{STDERR_TITLE, reply_name, request_name};
use super::order::{self, Timing};
use super::{MAX_EXCHANGES, Observed, PlanNote, Record, SCHEMA};
use brickbat_scenario::trace::{Event, ExchangeId};
use brickbat_scenario::wire;

impl Record {
    /// Reads a record. `file` gives the text of a file by its name, nothing where there is none, or why it cannot be
    /// read.
    ///
    /// # Errors
    ///
    /// The name of the file that is missing or wrong, and what is wrong with it.
    pub fn read(file: &dyn Fn(&str) -> Result<Option<String>, String>) -> Result<Record, String> {
        let case: super::CaseNote = needed(file, "case.json")?;
        if case.schema != SCHEMA {
            return Err(format!("case.json: this brickbat reads version {SCHEMA}, not {}", case.schema));
        }
        let plan: PlanNote = needed(file, "plan.json")?;
        let Some(trace) = file("trace.jsonl")? else {
            return Ok(Record { case, plan, receipts: Vec::new(), observed: None });
        };
        let exchanges = exchanges(file)?;
        let mut events = events(&trace)?;
        let wire = wire::of(plan.dialect);
        for event in &mut events {
            if let Event::Requested { exchange, model, body, .. } = event
                && let Some(known) = exchanges.iter().find(|known| known.id == *exchange)
            {
                let route = wire.route(&known.method, &known.path);
                *model = route.and_then(|route| route.model).map(Cow::into_owned);
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

fn exchanges(file: &dyn Fn(&str) -> Result<Option<String>, String>) -> Result<Vec<Exchange>, String> {
    let mut exchanges = Vec::new();
    for number in 1..=MAX_EXCHANGES {
        let request: Option<RequestFile> = optional(file, &request_name(number))?;
        let Some(request) = request else { break };
        let reply: Reply = needed(file, &reply_name(number))?;
        exchanges.push(request.with(ExchangeId(number as u32 - 1), reply));
    }
    Ok(exchanges)
}

fn events(trace: &str) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    for (at, line) in trace.lines().enumerate() {
        let wrong = |error: serde_json::Error| format!("trace.jsonl: line {}: {error}", at + 1);
        let value: Value = serde_json::from_str(line).map_err(wrong)?;
        if value.get("cut").is_some() {
            break;
        }
        events.push(serde_json::from_value(value).map_err(wrong)?);
    }
    Ok(events)
}

fn needed<T: DeserializeOwned>(
    file: &dyn Fn(&str) -> Result<Option<String>, String>,
    name: &str,
) -> Result<T, String> {
    optional(file, name)?.ok_or_else(|| format!("{name} is not there"))
}

fn optional<T: DeserializeOwned>(
    file: &dyn Fn(&str) -> Result<Option<String>, String>,
    name: &str,
) -> Result<Option<T>, String> {
    let text = file(name)?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))).transpose()
}
