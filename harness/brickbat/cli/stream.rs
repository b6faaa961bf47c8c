//! `brickbat check --stream`: recorded streams.

use std::borrow::Cow;
use std::io::{self, Read};

use serde_json::{Value, json};

use super::error::BAD_INPUT;
use super::output::{error, print, print_json};
use super::regular;
use brickbat_rules::check::{
    CheckFormat, is_sound, stream_to_github, stream_to_json, stream_to_text, streams_to_sarif,
    unjudged_to_github,
};
use brickbat_rules::colour::Colour;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::streams::{self, Linter, MAX_LOOK_BYTES, StreamKind, StreamReport, StreamStrictness};
use brickbat_rules::{Address, Api, Profile};

/// A file with the report on its stream, or with the reason why it was not judged.
type StreamOutcome = (String, Result<StreamReport, Unjudged>);

/// The reason why a stream was not judged.
#[derive(Debug, thiserror::Error)]
enum Unjudged {
    #[error("cannot read {path}: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error("{path} is a stream of {api}, which Brickbat does not support")]
    NotSpoken { path: String, api: &'static str },
    #[error("{path} does not show its dialect\nhint: give --dialect")]
    NoDialect { path: String },
}

/// The stream sender, as given by the user.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    pub(super) dialect: Option<Dialect>,
    pub(super) profile: Option<&'static Profile>,
    pub(super) address: Address,
    pub(super) model: Option<String>,
}

/// Checks a stream in each file, and returns the exit code.
pub(super) fn check(paths: &[String], sender: &Sender, format: CheckFormat) -> u8 {
    let mut outcomes: Vec<StreamOutcome> = Vec::new();
    for path in paths {
        let judged = judged(path, sender);
        match &judged {
            Ok(report) => match format {
                CheckFormat::Text => print(&stream_to_text(path, report, Colour::Ansi)),
                CheckFormat::Github => print(&stream_to_github(path, report)),
                CheckFormat::Json | CheckFormat::Sarif => {}
            },
            Err(why) => {
                error(why);
                if format == CheckFormat::Github {
                    print(&unjudged_to_github(path, &why.to_string()));
                }
            }
        }
        outcomes.push((path.clone(), judged));
    }
    let count = |is_meant: fn(&Result<StreamReport, Unjudged>) -> bool| {
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
                Err(why) => json!({ "file": path, "ended": null, "reason": why.to_string() }),
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

/// The report on a file's stream, or on standard input for `-`. The stream is checked while it is read, so its
/// length does not matter.
fn judged(path: &str, sender: &Sender) -> Result<StreamReport, Unjudged> {
    let unreadable = |source| Unjudged::Unreadable { path: path.to_owned(), source };
    let mut file = regular::open_or_stdin(path).map_err(unreadable)?;
    let mut head = Vec::new();
    file.by_ref().take(MAX_LOOK_BYTES as u64).read_to_end(&mut head).map_err(unreadable)?;
    let mut linter = Linter::with(sender.strictness(path, &head)?);
    linter.feed(&head);
    feed_rest(&mut linter, file).map_err(unreadable)?;
    Ok(linter.finish())
}

/// The number of bytes read at a time.
const CHUNK_BYTES: usize = 64 << 10;

fn feed_rest(linter: &mut Linter, mut file: impl Read) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(n) => linter.feed(&chunk[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Sender {
    /// The strictness for a stream that begins with these bytes.
    fn strictness(&self, path: &str, head: &[u8]) -> Result<StreamStrictness, Unjudged> {
        let not_spoken = |api| Err(Unjudged::NotSpoken { path: path.to_owned(), api });
        let recognised = streams::recognise(head);
        if let Some(StreamKind::NotSpoken(name)) = recognised {
            return not_spoken(name);
        }
        if let Some(profile) = self.profile {
            return Ok(StreamStrictness::Profile(profile));
        }
        let dialect = match (self.dialect, self.address.api(), recognised) {
            (Some(dialect), _, _) | (None, Some(Api::Spoken(dialect)), _) => dialect,
            (None, Some(Api::Unspoken(name)), _) => return not_spoken(name),
            (None, None, Some(StreamKind::Dialect(dialect))) => dialect,
            (None, None, None | Some(StreamKind::NotSpoken(_))) => {
                return Err(Unjudged::NoDialect { path: path.to_owned() });
            }
        };
        let of_path = self.address.model().map(Cow::into_owned);
        let model = self.model.clone().or(of_path).or_else(|| streams::model_of(head)).unwrap_or_default();
        Ok(StreamStrictness::at_host(dialect, &self.address.host, &model))
    }
}
