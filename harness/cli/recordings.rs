//! `brickbat recordings`.

use clap::Args;

use super::error::{BAD_INPUT, CliError, Outcome};
use super::options::{TextOrJson, dialect, profile};
use super::output::{error, print, print_json};
use super::requests;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::recordings::{self, CompareOptions, RecordingError, Table};

/// Compare the answers of providers in recorded traffic with the rules, to see how far a profile fits your own traffic.
///
/// The URL's path shows the dialect of a request, or else its body does. Requests for something other than a reply are
/// only counted.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Recordings {
    /// A VCR cassette (YAML or JSON), a HAR file, or JSONL with an object `{host, model, status, request, error}` on each
    /// line; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The dialect of all requests; by default it is detected for each.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// The profile for requests in its dialect; by default that of the host, else the newest.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    profile: Option<&'static Profile>,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: TextOrJson,
}

const EXAMPLES: &str = "Examples:
  brickbat recordings tests/cassettes/*.yaml
  brickbat recordings --profile openai-chat@2026-09 traffic.har
  brickbat recordings --format json rows.jsonl

too strict: the rules refuse what the provider accepted. too lax: the rules accept what the provider refused, so one
may be missing. something else: a refusal that is not about the history, such as an unknown model or a rate limit.

Exit codes: 0 no request is refused wrongly, 1 the rules refuse a request that a provider accepted, 2 something could
not be read; everything else is compared even then.";

impl Recordings {
    pub(super) fn execute(&self) -> Outcome {
        let terms = CompareOptions { dialect: self.dialect, profile: self.profile };
        let mut table = Table::default();
        let mut n_broken = 0;
        let mut complain = |file: &str, problem: RecordingError| {
            n_broken += 1;
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            error(format!("cannot read {file}{line}: {}", problem.words));
        };
        for file in &self.files {
            requests::read(file, &mut |piece| {
                let exchanges = match piece {
                    Ok(piece) if piece.is_line => {
                        recordings::row(&piece.text, piece.start.line).map(|row| vec![row])
                    }
                    Ok(piece) => recordings::read(&piece.text),
                    Err((line, words)) => Err(RecordingError { line, words }),
                };
                match exchanges {
                    Ok(exchanges) => exchanges.iter().for_each(|exchange| {
                        table.add(file, exchange, recordings::compare(exchange, &terms));
                    }),
                    Err(problem) => complain(file, problem),
                }
            });
        }
        if table.n_seen() == 0 {
            return match n_broken {
                0 => Err(CliError::input("no recorded exchange was found")),
                _ => Ok(BAD_INPUT),
            };
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
