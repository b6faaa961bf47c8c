//! `brickbat recordings`.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;

use super::error::{BAD_INPUT, CliError, Outcome};
use super::options::{TextOrJson, dialect, profile};
use super::output::{error, print, print_json, tell};
use super::regular;
use super::requests::{self, MAX_ERRORS};
use super::secrets::redactor;
use brickbat_drive::whole_file;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::explain::{Collection, Counts};
use brickbat_rules::recordings::{self, CompareOptions, Promoted, RecordingError, Table};

/// Compare recorded provider responses with the rules, to see how well a profile fits your own traffic.
///
/// The dialect of a request is detected from the URL's path, otherwise from its body. Requests for anything other than
/// a reply are counted but not checked.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Recordings {
    /// A VCR cassette (YAML or JSON), a HAR file, or JSONL with an object `{host, model, status, request, error}` on
    /// each line, as written by `proxy --record`; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The dialect of all requests; by default it is detected for each request.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// The profile for requests in its dialect; by default the profile of the host. Requests to hosts without a profile
    /// are counted but not judged; if no host is recorded, the newest profile applies.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    profile: Option<&'static Profile>,
    /// Add the counts for each rule to this file, which is built into `explain`; needs --source.
    #[arg(long, value_name = "FILE", requires = "source")]
    counts: Option<PathBuf>,
    /// A short description of where these recordings come from, which `explain` shows.
    #[arg(long, value_name = "TEXT", requires = "counts")]
    source: Option<String>,
    /// Write a vector for each cause of a disagreement to this directory, without the words of the conversations.
    #[arg(long, value_name = "DIR")]
    promote: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: TextOrJson,
}

const EXAMPLES: &str = "Examples:
  brickbat recordings tests/cassettes/*.yaml
  brickbat recordings --profile openai-chat@2026-09 traffic.har
  brickbat recordings --format json rows.jsonl
  brickbat recordings --promote vectors rows.jsonl
  brickbat recordings --counts corpora/recordings.json --source 'our traffic' rows.jsonl

Columns:
  too strict      the rules refuse what the provider accepted
  too lax         the rules accept what the provider refused, so a rule may be missing
  something else  a refusal that is not about the history, such as an unknown model or
                  a rate limit

Exit codes:
  0  the rules accept every request that a provider accepted
  1  the rules refuse a request that a provider accepted
  2  something could not be read; everything else is still compared";

impl Recordings {
    pub(super) fn execute(&self) -> Outcome {
        let terms = CompareOptions { dialect: self.dialect, profile: self.profile };
        let mut table = if self.promote.is_some() { Table::keeping_requests() } else { Table::default() };
        let mut n_broken = 0;
        let mut complain = |file: &str, problem: RecordingError| {
            n_broken += 1;
            if n_broken <= MAX_ERRORS {
                let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
                error(format!("cannot read {file}{line}: {}", problem.words));
            }
        };
        for file in &self.files {
            requests::read(file, &mut |piece| {
                if piece.as_ref().is_ok_and(|piece| piece.has_mark) {
                    tell(requests::marked(file));
                }
                let exchanges = match piece {
                    Ok(piece) if piece.is_line => {
                        recordings::row(&piece.text, piece.start.line).map(|row| vec![row])
                    }
                    Ok(piece) => recordings::read(&piece.text),
                    Err((line, words)) => Err(RecordingError { line, words }),
                };
                match exchanges {
                    // Brickbat's own answers show nothing about a provider.
                    Ok(exchanges) => {
                        exchanges.iter().filter(|exchange| !exchange.is_ours).for_each(|exchange| {
                            table.add(file, exchange, recordings::compare(exchange, &terms));
                        })
                    }
                    Err(problem) => complain(file, problem),
                }
            });
        }
        requests::tell_unprinted(n_broken, "read");
        if table.n_seen() == 0 {
            return match n_broken {
                0 => Err(CliError::input("no recorded exchange was found")),
                _ => Ok(BAD_INPUT),
            };
        }
        if let (Some(path), Some(source)) = (&self.counts, &self.source) {
            keep(path, &table.counts(source, &today()))?;
        }
        if let Some(folder) = &self.promote {
            promote(folder, &table.promoted())?;
        }
        match self.format {
            TextOrJson::Text => print(&table.to_text()),
            TextOrJson::Json => print_json(table.to_json()),
        }
        Ok(match (n_broken, table.n_too_strict()) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => BAD_INPUT,
        })
    }
}

/// Writes the disagreements as files of vectors. Nothing is written if one of the files exists.
fn promote(folder: &Path, Promoted { files, n_left_out }: &Promoted) -> Result<(), CliError> {
    if let Some(path) = files.keys().map(|name| folder.join(name)).find(|path| path.exists()) {
        let words = format!("{} exists\nhint: move it, or name another directory", path.display());
        return Err(CliError::input(words));
    }
    for (name, file) in files {
        let path = folder.join(name);
        let cannot_write = |error| CliError::cannot_write(path.display(), error);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(cannot_write)?;
        let text = redactor().text(&file.to_text()).into_owned();
        whole_file::write(&path, text.as_bytes()).map_err(cannot_write)?;
        let n = file.vectors.len();
        tell(format!("{}: {n} {}", path.display(), if n == 1 { "vector" } else { "vectors" }));
    }
    if *n_left_out > 0 {
        let words = "large, not JSON, or judged otherwise without their words";
        tell(format!("causes without a vector: {n_left_out} ({words})"));
    }
    Ok(())
}

/// The maximum size, in bytes, of a counts file, which has one line per rule and collection.
const MAX_COUNTS_BYTES: u64 = 16 << 20;

/// Adds the counts of these recordings to a file of counts.
fn keep(path: &Path, collection: &Collection) -> Result<(), CliError> {
    let text = regular::text(path, MAX_COUNTS_BYTES);
    let text = text.map_err(|error| CliError::cannot_read(path.display(), error))?;
    let mut counts = Counts::read(&text).map_err(|error| CliError::cannot_read(path.display(), error))?;
    counts.add(collection.clone());
    whole_file::write(path, counts.to_text().as_bytes())
        .map_err(|error| CliError::cannot_write(path.display(), error))
}

/// The day in UTC, as `YYYY-MM-DD`.
pub(super) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / SECONDS_OF_A_DAY)
}

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

/// The date of a day, counted from 1970-01-01. The calculation uses years that begin in March, so that a leap
/// day is the last day.
fn date(n_days: u64) -> String {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    const FROM_YEAR_0_TO_1970: u64 = 719_468;
    let n_days = n_days + FROM_YEAR_0_TO_1970;
    let (era, day) = (n_days / DAYS_OF_400_YEARS, n_days % DAYS_OF_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!([0, 59, 789, 20_780].map(date), ["1970-01-01", "1970-03-01", "1972-02-29", "2026-11-23"]);
    }
}
