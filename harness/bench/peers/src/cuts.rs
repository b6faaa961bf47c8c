//! Cuts: a broken connection must end a reply exactly after a randomly chosen event.
//!
//! Other servers count events. `brickbat serve` takes a named position, such as `after delta a 2`. The
//! matching event is found in the same reply of a second server that gets no such order.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Connection, End, Reply, events, post};
use crate::contestant::{Contestant, Who};
use crate::fixtures::{self, Pace};
use crate::result::Cuts;

/// Number of cuts per server.
const N_CUTS: usize = 200;

/// How late a busy client reads. Half of the clients read late.
const LATE: Duration = Duration::from_millis(5);

/// Requests all cuts, in each way that the server supports.
pub fn ask(who: Who, brickbat: &Path, folder: &Path) -> Vec<Cuts> {
    let all = |by, pace| ask_for(who, brickbat, folder, by, pace);
    match who {
        Who::Ours => vec![all("`reset` and `eof` in turns, at a named point", Pace::AtOnce)],
        Who::Aimock => {
            vec![all("`truncateAfterChunks`", Pace::AtOnce), all("the same with `latency: 5`", Pace::Slow)]
        }
        Who::Llmock => vec![all("`disconnect` with `after_chunks`", Pace::AtOnce)],
        Who::Llmposter => vec![all("`truncate_after_frames`", Pace::AtOnce)],
        Who::Wiremock => vec![Cuts { by: "none: a body is sent in one piece, and whole", ..Cuts::default() }],
    }
}

fn ask_for(who: Who, brickbat: &Path, folder: &Path, by: &'static str, pace: Pace) -> Cuts {
    let start = || Contestant::start(who, brickbat, folder);
    let mut cuts = Cuts { asked: N_CUTS, by, ..Cuts::default() };
    let (mut cut, whole) = (start(), start());
    let mut draw = Draw(0x5eed);
    for round in 0..N_CUTS {
        let is_late = round % 2 == 1;
        let expected = events(&reply(&whole, "cut nothing", false).body).0;
        let (got, n_events) = match who {
            Who::Ours => {
                let places = places(&expected);
                let (n_events, place) = &places[draw.below(places.len())];
                let what = if round % 4 < 2 { "reset" } else { "eof" };
                order(&mut cut, what, place);
                (reply(&cut, "cut nothing", is_late), *n_events)
            }
            _ => {
                // Draw an event after the first and before the last.
                let n_events = 1 + draw.below(expected.len() - 1);
                if who == Who::Llmock {
                    disconnect(&cut, n_events);
                }
                (reply(&cut, &fixtures::prompt(pace, n_events), is_late), n_events)
            }
        };
        let (got_events, has_more) = events(&got.body);
        let is_same = |expected: &[String]| match who {
            // The same seed gives the same bytes.
            Who::Ours => got_events == expected,
            _ => essence(&got_events) == essence(expected),
        };
        let is_exact = is_same(&expected[..n_events]) && !has_more;
        match got.end {
            End::Broken if is_exact => cuts.exact += 1,
            End::Whole if is_exact => cuts.exact_but_whole += 1,
            End::Broken if got.status == 0 => cuts.nothing += 1,
            End::Broken if is_same(&expected[..n_events - 1]) && !has_more => cuts.one_early += 1,
            _ => cuts.elsewhere += 1,
        }
    }
    cuts
}

fn reply(contestant: &Contestant, prompt: &str, is_late: bool) -> Reply {
    let mut connection = Connection::open(contestant.at).unwrap();
    connection.send(&post(&contestant.who.path("anthropic-messages", ""), &fixtures::request(prompt)));
    if is_late {
        std::thread::sleep(LATE);
    }
    let nothing = Reply { status: 0, body: Vec::new(), end: End::Broken };
    connection.receive().unwrap_or(nothing)
}

/// Reduces events to the parts that are compared. Ids are dropped because they differ between two replies,
/// and texts because a server may repeat the prompt in them.
fn essence(events: &[String]) -> Vec<Value> {
    let essence = |event: &String| {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default();
        let data: Value = serde_json::from_str(data).unwrap_or_default();
        json!([data["type"], data["index"], data["delta"]["type"]])
    };
    events.iter().map(essence).collect()
}

/// Returns the named positions in a reply, each with the number of events before it.
fn places(events: &[String]) -> Vec<(usize, String)> {
    let (mut places, mut n_texts, mut n_deltas) = (Vec::new(), 0, 0);
    let mut calls = 'a'..='z';
    let mut call = None;
    for (at, event) in events.iter().enumerate() {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default();
        let data: Value = serde_json::from_str(data).unwrap();
        let is_call = data["content_block"]["type"] == "tool_use";
        let place = match (data["type"].as_str().unwrap(), call) {
            ("content_block_start", _) if is_call => {
                (call, n_deltas) = (calls.next(), 0);
                None
            }
            // A call begins with two events; the second has no arguments.
            ("content_block_delta", Some(call)) if data["delta"]["partial_json"] == "" => {
                Some(format!("after start {call}"))
            }
            ("content_block_delta", Some(call)) => {
                n_deltas += 1;
                Some(format!("after delta {call} {n_deltas}"))
            }
            ("content_block_delta", None) => {
                n_texts += 1;
                Some(format!("after text {n_texts}"))
            }
            ("content_block_stop", Some(ended)) => {
                call = None;
                Some(format!("after end {ended}"))
            }
            _ => None,
        };
        places.extend(place.map(|place| (at + 1, place)));
    }
    places
}

/// Orders a fault for the next reply.
fn order(ours: &mut Contestant, what: &str, at: &str) {
    let line = json!({ "order": "arm", "id": 0, "what": what, "at": at });
    writeln!(ours.orders.as_mut().unwrap(), "{line}").unwrap();
    loop {
        let mut line = String::new();
        ours.said.as_mut().unwrap().read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        if said["said"] == "answer" {
            assert!(said.get("error").is_none(), "{said}");
            return;
        }
    }
}

/// Tells llmock to break the next stream.
fn disconnect(llmock: &Contestant, n_events: usize) {
    let fault = json!({ "type": "stream_fault", "kind": "disconnect", "after_chunks": n_events });
    let mut connection = Connection::open(llmock.at).unwrap();
    connection.send(&post("/_llmock/scenario", &json!({ "behaviors": [fault] }).to_string()));
    assert_eq!(connection.receive().unwrap().status, 201);
}

/// Numbers that are the same in each run (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
