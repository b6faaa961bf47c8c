//! `brickbat recordings`.

use clap::{Args, ValueEnum};

use super::requests;
use super::run::{dialect, profile};
use super::secrets::redactor;
use super::{BAD_INPUT, bad_input, print};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::recordings::{self, Problem, Table, Terms};

/// Compares what providers answered with what our rules say: how far a profile can be trusted on your own traffic.
///
/// The dialect of a request is told by the URL's path, else by its body. Requests that ask for no reply are counted,
/// not judged.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Recordings {
    /// A cassette of VCR (YAML or JSON), a HAR, or JSONL with a row `{host, model, status, request, error}` on each
    /// line; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The dialect of all requests, if it is not to be guessed.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// The profile for the requests of its dialect; by default that of the host, else the newest.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    profile: Option<&'static Profile>,
    /// How the outcome is written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Written,
}

const EXAMPLES: &str = "Examples:
  brickbat recordings tests/cassettes/*.yaml
  brickbat recordings --profile openai-chat@2026-09 traffic.har
  brickbat recordings --format json rows.jsonl

too strict: we refuse what the provider took. too lax: we take what it refused, so a rule may be missing.
something else: a refusal that is not about the history, such as an unknown model or too many requests.

Exit code 1 means that we refuse a request that a provider took; 2 that something could not be read, while all else
is judged.";

/// How the outcome is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Written {
    /// For people.
    Text,
    /// JSON, for programs.
    Json,
}

impl Recordings {
    pub(super) fn execute(&self) -> u8 {
        let terms = Terms { dialect: self.dialect, profile: self.profile };
        let mut table = Table::default();
        let mut n_broken = 0;
        let mut complain = |file: &str, problem: Problem| {
            n_broken += 1;
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            bad_input(format!("error: cannot read {file}{line}: {}", problem.words));
        };
        for file in &self.files {
            requests::read(file, &mut |piece| {
                let exchanges = match piece {
                    Ok(piece) if piece.is_line => {
                        recordings::row(&piece.text, piece.start.line).map(|row| vec![row])
                    }
                    Ok(piece) => recordings::read(&piece.text),
                    Err((line, words)) => Err(Problem { line, words }),
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
                0 => bad_input("error: no recorded exchange was found"),
                _ => BAD_INPUT,
            };
        }
        match self.format {
            Written::Text => print(&table.to_text()),
            Written::Json => {
                let mut value = table.to_json();
                redactor().value(&mut value);
                print(&format!("{value:#}\n"));
            }
        }
        match (n_broken, table.n_too_strict()) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => BAD_INPUT,
        }
    }
}
