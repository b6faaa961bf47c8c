//! The exchanges next to the fault as they were sent, and the history that the system had stored.

use std::fmt::Write;

use serde_json::Value;

use super::text::Tone;
use crate::record::{Exchange, Record};
use brickbat_rules::plain::is_plain;
use brickbat_scenario::trace::{Ending, Event, ExchangeId, RequestKind};

/// The maximum number of lines shown for one body; the case's files contain all of it.
const MAX_LINES: usize = 400;

/// The last exchange before the fault and the next one, the last that was rejected, and the store.
pub fn draw(record: &Record, paint: &dyn Fn(Tone, &str) -> String) -> String {
    let mut text = String::new();
    for id in chosen(record) {
        if let Some(exchange) = record.exchange(id) {
            one(&mut text, exchange, paint);
        }
    }
    if let Some(store) = record.observed.as_ref().and_then(|observed| observed.store.as_ref()) {
        let _ = writeln!(text, "{}", paint(Tone::Warn, "── stored history"));
        bounded(&mut text, &format!("{store:#}"));
    }
    text
}

/// The exchanges that are shown, in their order.
fn chosen(record: &Record) -> Vec<ExchangeId> {
    let Some(observed) = &record.observed else { return Vec::new() };
    let (mut before, mut next, mut refused) = (None, None, None);
    let mut is_after_fault = false;
    for event in observed.trace.events() {
        match event {
            Event::Requested { exchange, kind, .. } if kind.is_of_thread() => {
                if matches!(kind, RequestKind::Refused { .. }) {
                    refused = Some(*exchange);
                }
                if !is_after_fault {
                    before = Some(*exchange);
                } else if next.is_none() {
                    next = Some(*exchange);
                }
            }
            Event::Stopped
            | Event::Killed
            | Event::Interrupted { .. }
            | Event::Changed { .. }
            | Event::Said { .. } => is_after_fault = true,
            Event::Replied {
                ending: Ending::EndEarly | Ending::Eof | Ending::Reset | Ending::ErrorEvent,
                ..
            } => is_after_fault = true,
            _ => {}
        }
    }
    let mut ids: Vec<ExchangeId> = [before, next, refused].into_iter().flatten().collect();
    ids.sort();
    ids.dedup();
    ids
}

fn one(text: &mut String, exchange: &Exchange, paint: &dyn Fn(Tone, &str) -> String) {
    let title = format!("── request {}: {} {}", exchange.id.0 + 1, exchange.method, exchange.path);
    let _ = writeln!(text, "{}", paint(Tone::Warn, &title));
    for (name, value) in &exchange.headers {
        let _ = writeln!(text, "{name}: {value}");
    }
    let body = match serde_json::from_slice::<Value>(&exchange.body) {
        Ok(value) => format!("{value:#}"),
        Err(_) => String::from_utf8_lossy(&exchange.body).into_owned(),
    };
    text.push('\n');
    bounded(text, &body);
    let title = format!("── reply {}: status {}", exchange.id.0 + 1, exchange.reply.status);
    let _ = writeln!(text, "{}", paint(Tone::Warn, &title));
    exchange.reply.headers.iter().for_each(|header| {
        let _ = writeln!(text, "{header}");
    });
    text.push('\n');
    bounded(text, exchange.reply.frames.concat().trim_end());
}

/// A text without control characters, cut after a number of lines.
fn bounded(text: &mut String, body: &str) {
    let n_lines = body.lines().count();
    for line in body.lines().take(MAX_LINES) {
        text.extend(line.chars().map(|c| if is_plain(c) { c } else { ' ' }));
        text.push('\n');
    }
    if n_lines > MAX_LINES {
        let _ = writeln!(text, "… {} more lines", n_lines - MAX_LINES);
    }
    text.push('\n');
}
