//! `brickbat check --stream`.

use serde_json::{Value, json};

use super::secrets::redactor;
use super::streams;
use super::{BAD_INPUT, bad_input, print};
use brickbat_rules::check::{
    CheckFormat, is_sound, stream_to_github, stream_to_json, stream_to_text, streams_to_sarif,
    unjudged_to_github,
};
use brickbat_rules::colour::Colour;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::streams::StreamReport;

/// A file, and what came of it: what the linter says, or why it could not be judged.
type Outcome = (String, Result<StreamReport, String>);

/// Judges a stream in each file. Gives the exit code.
pub(super) fn check(paths: &[String], dialect: Option<Dialect>, format: CheckFormat) -> u8 {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for path in paths {
        let judged = judged(path, dialect);
        match &judged {
            Ok(report) => match format {
                CheckFormat::Text => print(&stream_to_text(path, report, Colour::Ansi)),
                CheckFormat::Github => print(&stream_to_github(path, report)),
                CheckFormat::Json | CheckFormat::Sarif => {}
            },
            Err(words) => {
                bad_input(format!("error: {words}"));
                if format == CheckFormat::Github {
                    print(&unjudged_to_github(path, words));
                }
            }
        }
        outcomes.push((path.clone(), judged));
    }
    let count = |is_meant: fn(&Result<StreamReport, String>) -> bool| {
        outcomes.iter().filter(|(_, judged)| is_meant(judged)).count()
    };
    let n_sound = count(|judged| judged.as_ref().is_ok_and(is_sound));
    let n_unjudged = count(Result::is_err);
    let n_unsound = outcomes.len() - n_sound - n_unjudged;
    match format {
        CheckFormat::Text if paths.len() > 1 => print(&format!(
            "in all: {} streams: {n_sound} sound, {n_unsound} illegal or truncated, {n_unjudged} not judged\n",
            paths.len()
        )),
        CheckFormat::Text | CheckFormat::Github => {}
        CheckFormat::Json => {
            let told = outcomes.iter().map(|(path, judged)| match judged {
                Ok(report) => stream_to_json(path, report),
                Err(words) => json!({ "file": path, "ended": null, "reason": words }),
            });
            let summary = json!({ "sound": n_sound, "unsound": n_unsound, "unjudged": n_unjudged });
            let told: Vec<Value> = told.collect();
            let mut value = json!({ "schema": 1, "streams": told, "summary": summary });
            redactor().value(&mut value);
            print(&format!("{value:#}\n"));
        }
        CheckFormat::Sarif => print(&streams_to_sarif(&outcomes)),
    }
    match (n_unjudged, n_unsound) {
        (0, 0) => 0,
        (0, _) => 1,
        _ => BAD_INPUT,
    }
}

fn judged(path: &str, dialect: Option<Dialect>) -> Result<StreamReport, String> {
    match streams::lint(path, dialect) {
        Ok(Some(report)) => Ok(report),
        Ok(None) => Err(format!("{path} does not show its dialect\nhint: give --dialect")),
        Err(error) => Err(format!("cannot read {path}: {error}")),
    }
}
