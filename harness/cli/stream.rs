//! `brickbat check --stream`.

use serde_json::{Value, json};

use super::secrets::redactor;
use super::{BAD_INPUT, bad_input, print};
use crate::audit::{is_sound, stream_to_json, stream_to_text};
use crate::dialect::Dialect;
use crate::lint::{Grammar, Report};
use crate::parse::Colour;
use crate::runner::streams;

/// How the outcome is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Text,
    Json,
}

/// Judges a stream in each file. Gives the exit code.
pub(super) fn check(paths: &[String], dialect: Option<Dialect>, written: Written) -> u8 {
    let (mut n_sound, mut n_unsound, mut n_unjudged) = (0, 0, 0);
    let mut told = Vec::new();
    for path in paths {
        match judged(path, dialect) {
            Ok(report) => {
                *if is_sound(&report) { &mut n_sound } else { &mut n_unsound } += 1;
                match written {
                    Written::Text => print(&stream_to_text(path, &report, Colour::Ansi)),
                    Written::Json => told.push(stream_to_json(path, &report)),
                }
            }
            Err(words) => {
                n_unjudged += 1;
                bad_input(format!("error: {words}"));
                told.push(json!({ "file": path, "ended": null, "reason": words }));
            }
        }
    }
    let summary = json!({ "sound": n_sound, "unsound": n_unsound, "unjudged": n_unjudged });
    match written {
        Written::Text if paths.len() > 1 => print(&format!(
            "in all: {} streams: {n_sound} sound, {n_unsound} illegal or truncated, {n_unjudged} not judged\n",
            paths.len()
        )),
        Written::Text => {}
        Written::Json => {
            let mut value: Value = json!({ "schema": 1, "streams": told, "summary": summary });
            redactor().value(&mut value);
            print(&format!("{value:#}\n"));
        }
    }
    match (n_unjudged, n_unsound) {
        (0, 0) => 0,
        (0, _) => 1,
        _ => BAD_INPUT,
    }
}

fn judged(path: &str, dialect: Option<Dialect>) -> Result<Report, String> {
    match streams::lint(path, dialect.map(Grammar::of)) {
        Ok(Some(report)) => Ok(report),
        Ok(None) => Err(format!("{path} does not show its dialect\nhint: give --dialect")),
        Err(error) => Err(format!("cannot read {path}: {error}")),
    }
}
