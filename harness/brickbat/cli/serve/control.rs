//! The provider controlled by a test: it reads orders from standard input, and writes events to standard
//! output, each as a line of JSON. The provider ends with its standard input, so it does not outlive the test
//! runner.
//!
//! It ignores Ctrl-C and leaves it to the test runner, which still asks for a report when it is interrupted.

use std::io::{BufRead, Read};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::cli::output::{print_answer, print_plain};
use crate::cli::secrets::redactor;
use brickbat_drive::strict_server::variables::{WITHOUT, base_urls, for_url};
use brickbat_drive::strict_server::{Seen, StrictServer};
use brickbat_engine::standalone::{FaultKind, NoPoint, Notice, Order, Ordered, ReplyPoint};
use brickbat_scenario::trace::ExchangeId;

/// The maximum number of bytes in a line; an order has fewer than a hundred.
const MAX_LINE: u64 = 64 * 1024;

/// An order, as a line.
#[derive(Debug, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    /// Do something at a point of a later reply.
    Arm {
        id: u64,
        /// `stop`, or a kind of fault.
        what: String,
        /// The point. `overloaded` and `rate-limit` replace a reply, so they only need to name the reply.
        #[serde(default)]
        at: Option<String>,
    },
    /// Continue the reply that is held at a stop.
    Release { id: u64, armed: usize },
    /// Report the events so far.
    Report { id: u64 },
    /// Report the histories of the last requests.
    Histories { id: u64 },
}

/// Carries out orders until standard input ends.
pub(super) async fn play(server: &mut StrictServer) {
    let mut lines = lines();
    server.keep_histories();
    // Installs the Ctrl-C handler before the provider announces itself.
    tokio::select! {
        biased;
        Ok(()) = tokio::signal::ctrl_c() => {}
        () = std::future::ready(()) => {}
    }
    say(ready(server.base_url()));
    loop {
        // Biased, so that an event is reported before the answer to a later order.
        tokio::select! {
            biased;
            // Without a handler, the parent process ends this one.
            Ok(()) = tokio::signal::ctrl_c() => {}
            seen = server.next() => match seen {
                Some(seen) => tell(server, seen),
                None => return,
            },
            line = lines.recv() => match line {
                Some(line) => {
                    server.caught_up().await;
                    for seen in server.unread() {
                        tell(server, seen);
                    }
                    print_answer(&line_of(carried_out(server, &line)));
                }
                None => return,
            },
        }
    }
}

/// The lines of standard input. A detached thread reads them, because a read may never return.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = String::new();
            // A line that is not text, or is too long, counts as the end.
            let n_read = input.by_ref().take(MAX_LINE).read_line(&mut line).unwrap_or(0);
            if n_read == 0 || !line.ends_with('\n') || sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The first line: the provider's address.
fn ready(url: &str) -> Value {
    let own = |name: &str| std::env::var(name).ok();
    json!({
        "said": "ready",
        "url": url,
        "base_urls": base_urls(url),
        "variables": for_url(url, own),
        "without": WITHOUT,
    })
}

/// Reports an event.
fn tell(server: &StrictServer, seen: Seen) {
    match seen {
        Seen::Notice(notice) => {
            if let Some(value) = told(&notice) {
                say(value);
            }
        }
        Seen::EndProgram(exchange, ..) => match server.order_of(exchange) {
            Some(armed) => say(json!({ "said": "reached", "armed": armed, "exchange": exchange.0 })),
            // A stop of a scenario, which only `wrap` carries out.
            None => server.release(exchange),
        },
    }
}

/// A notice for the test. The profile of a path and the delivered faults are in the report instead.
fn told(notice: &Notice) -> Option<Value> {
    match notice {
        Notice::Refused { exchange, profile, rule, pointer, status, message, shape } => Some(json!({
            "said": "refused",
            "exchange": exchange,
            "profile": profile,
            "rule": rule,
            "pointer": pointer,
            "status": status,
            "message": message,
            "shape": shape,
        })),
        Notice::Unspoken { method, path } => {
            Some(json!({ "said": "unread", "words": format!("{method} {path}: nothing answers there") }))
        }
        Notice::Unreadable(words) => Some(json!({ "said": "unread", "words": words })),
        Notice::Chosen(_) | Notice::Delivered { .. } => None,
    }
}

/// Carries out an order, and returns the answer.
fn carried_out(server: &StrictServer, line: &str) -> Value {
    match serde_json::from_str(line) {
        Ok(Line::Arm { id, what, at }) => {
            match order(&what, at.as_deref()).and_then(|order| server.place(order)) {
                Ok(armed) => json!({ "said": "answer", "id": id, "armed": armed }),
                Err(error) => json!({ "said": "answer", "id": id, "error": error.to_string() }),
            }
        }
        Ok(Line::Release { id, armed }) => {
            let records = server.order_records();
            // Otherwise nothing is held.
            if let Some(exchange) = records.get(armed).and_then(|record| record.exchange) {
                server.release(ExchangeId(exchange));
            }
            json!({ "said": "answer", "id": id })
        }
        Ok(Line::Report { id }) => {
            let log = server.log();
            json!({
                "said": "answer",
                "id": id,
                "requests": log.n_requests(),
                "refused": log.n_refused(),
                "state": log,
                "exchanges": log.exchanges().collect::<Vec<_>>(),
                "faults": log.fault_records().collect::<Vec<_>>(),
                "orders": server.order_records(),
            })
        }
        Ok(Line::Histories { id }) => json!({ "said": "answer", "id": id, "histories": server.histories() }),
        Err(error) => json!({ "said": "answer", "id": null, "error": format!("not an order: {error}") }),
    }
}

fn order(what: &str, at: Option<&str>) -> Result<Order, NoPoint> {
    let Some(ordered) = Ordered::named(what) else {
        let kinds = FaultKind::ALL.map(FaultKind::name).join(", ");
        return Err(NoPoint::because(format!("unknown order `{what}`; expected stop, {kinds}")));
    };
    let is_whole = matches!(ordered, Ordered::Fault(FaultKind::Overloaded | FaultKind::RateLimit));
    let at: ReplyPoint = match at {
        Some(at) => at.parse()?,
        None if is_whole => "before headers".parse()?,
        None => return Err(NoPoint::because(format!("`{what}` needs a point, such as `after calls`"))),
    };
    Order::new(ordered, at)
}

fn say(value: Value) {
    print_plain(&line_of(value));
}

fn line_of(mut value: Value) -> String {
    redactor().value(&mut value);
    format!("{value}\n")
}
