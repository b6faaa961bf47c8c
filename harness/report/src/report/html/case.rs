//! One case as HTML: the timeline, and the requests with their errors marked.

use std::fmt::Write;

use serde_json::Value;

use super::super::timeline::{Lane, Line, Weight, drawing};
use super::{escaped, json};
use crate::record::{Exchange, Record};

/// The timeline of a case, then its requests and replies, and the history that the system had stored.
pub(super) fn section(record: &Record) -> String {
    let mut html = String::from("<div class=\"lanes\">\n");
    html.push_str("<div class=\"step names\">");
    for (_, name) in Lane::ALL {
        let _ = write!(html, "<span>{name}</span>");
    }
    html.push_str("</div>\n");
    drawing(record).lines.iter().for_each(|drawn| line(&mut html, drawn));
    html.push_str("</div>\n");
    let Some(observed) = &record.observed else { return html };
    observed.exchanges.iter().for_each(|exchange| one(&mut html, record, exchange));
    if let Some(store) = &observed.store {
        let _ = writeln!(
            html,
            "<details><summary>stored history</summary><pre>{}</pre></details>",
            json::marked(store, None)
        );
    }
    html
}

fn line(html: &mut String, line: &Line) {
    let class = |weight: &Weight| match weight {
        Weight::Plain => "step",
        Weight::Fault => "step fault",
        Weight::Wrong => "step wrong",
    };
    let _ = match line {
        Line::Heading(title) => writeln!(html, "<div class=\"turn\">{}</div>", escaped(title)),
        Line::More { weight, words } => {
            writeln!(
                html,
                "<div class=\"{}\"><div class=\"words\">{}</div></div>",
                class(weight),
                escaped(words)
            )
        }
        Line::Step { from, to, weight, words } => {
            let (from, to) = (column(*from), column(*to));
            let drawn = match from.cmp(&to) {
                std::cmp::Ordering::Equal => {
                    format!("<div class=\"dot\" style=\"grid-column:{from}\"></div>")
                }
                std::cmp::Ordering::Less => {
                    format!("<div class=\"arrow right\" style=\"grid-column:{from}/{}\"></div>", to + 1)
                }
                std::cmp::Ordering::Greater => {
                    format!("<div class=\"arrow left\" style=\"grid-column:{to}/{}\"></div>", from + 1)
                }
            };
            let (class, words) = (class(weight), escaped(words));
            writeln!(html, "<div class=\"{class}\">{drawn}<div class=\"words\">{words}</div></div>")
        }
    };
}

fn column(lane: Lane) -> usize {
    Lane::ALL.iter().position(|(known, _)| *known == lane).unwrap_or_default() + 1
}

fn one(html: &mut String, record: &Record, exchange: &Exchange) {
    let number = exchange.id.0 + 1;
    let is_refused = exchange.reply.status >= 400;
    let class = if is_refused { " class=\"bad\"" } else { "" };
    let pointer = pointer_in(record, number as usize);
    let body = match serde_json::from_slice::<Value>(&exchange.body) {
        Ok(value) => json::marked(&value, pointer.as_deref()),
        Err(_) => escaped(&String::from_utf8_lossy(&exchange.body)),
    };
    let _ = writeln!(
        html,
        "<details{}><summary><span{class}>request {number}: {} {} → {}</span></summary><pre>{body}</pre>\
         <pre>{}</pre></details>",
        if pointer.is_some() { " open" } else { "" },
        escaped(&exchange.method),
        escaped(&exchange.path),
        exchange.reply.status,
        escaped(exchange.reply.frames.concat().trim_end()),
    );
}

/// The location in a request that a finding points to, as in `turn 2 request 3 /messages/1`.
fn pointer_in(record: &Record, number: usize) -> Option<String> {
    let request = format!("request {number} /");
    record.case.all_findings().find_map(|finding| {
        let (_, pointer) = finding.place.split_once(&request)?;
        Some(format!("/{}", pointer.split_whitespace().next().unwrap_or_default()))
    })
}
