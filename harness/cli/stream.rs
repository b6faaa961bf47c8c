//! `brickbat check --stream`: recorded streams.

use std::fs::File;
use std::io::{self, Read};

use serde_json::{Value, json};

use super::error::BAD_INPUT;
use super::output::{error, print, print_json};
use brickbat_rules::check::{
    CheckFormat, is_sound, stream_to_github, stream_to_json, stream_to_text, streams_to_sarif,
    unjudged_to_github,
};
use brickbat_rules::colour::Colour;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::streams::{self, Linter, MAX_LOOK_BYTES, StreamReport};

/// A file with the report on its stream, or with the reason why there is none.
type StreamOutcome = (String, Result<StreamReport, String>);

/// Checks a stream in each file, and gives the exit code.
pub(super) fn check(paths: &[String], dialect: Option<Dialect>, format: CheckFormat) -> u8 {
    let mut outcomes: Vec<StreamOutcome> = Vec::new();
    for path in paths {
        let judged = judged(path, dialect);
        match &judged {
            Ok(report) => match format {
                CheckFormat::Text => print(&stream_to_text(path, report, Colour::Ansi)),
                CheckFormat::Github => print(&stream_to_github(path, report)),
                CheckFormat::Json | CheckFormat::Sarif => {}
            },
            Err(words) => {
                error(words);
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
            let streams = outcomes.iter().map(|(path, judged)| match judged {
                Ok(report) => stream_to_json(path, report),
                Err(words) => json!({ "file": path, "ended": null, "reason": words }),
            });
            let summary = json!({ "sound": n_sound, "unsound": n_unsound, "unjudged": n_unjudged });
            print_json(
                json!({ "schema": 1, "streams": streams.collect::<Vec<Value>>(), "summary": summary }),
            );
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
    match read(path, dialect) {
        Ok(Some(report)) => Ok(report),
        Ok(None) => Err(format!("{path} does not show its dialect\nhint: give --dialect")),
        Err(error) => Err(format!("cannot read {path}: {error}")),
    }
}

/// The report on the stream of a file, or of standard input for `-`; none if no dialect is given and the stream does not
/// show its own. It is checked while it is read, however long it is.
fn read(path: &str, dialect: Option<Dialect>) -> io::Result<Option<StreamReport>> {
    match path {
        "-" => lint_all(&mut io::stdin().lock(), dialect),
        path => lint_all(&mut File::open(path)?, dialect),
    }
}

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 << 10;

fn lint_all(file: &mut impl Read, dialect: Option<Dialect>) -> io::Result<Option<StreamReport>> {
    let mut head = Vec::new();
    file.take(MAX_LOOK_BYTES as u64).read_to_end(&mut head)?;
    let Some(dialect) = dialect.or_else(|| streams::detect(&head)) else {
        return Ok(None);
    };
    let mut linter = Linter::new(dialect);
    linter.feed(&head);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(Some(linter.finish())),
            Ok(n) => linter.feed(&chunk[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
