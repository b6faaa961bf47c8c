//! Conversations in recordings: `proxy` rows, cassettes and HAR files.

use super::error::CliError;
use super::requests;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::recordings::{self, Exchange, Spoken};
use brickbat_scenario::scenario::Scenario;
use brickbat_search::recorded::{Recorded, n_items, recorded};
use brickbat_sessions::Session;

/// A conversation from a recording.
pub(super) struct Conversation {
    /// The name: the file and the line.
    pub(super) name: String,
    pub(super) scenario: Scenario,
    /// A one-line description.
    pub(super) words: String,
}

/// The longest conversation in a recording, or the one on the line in `FILE#LINE`.
pub(super) fn conversation(word: &str) -> Result<Conversation, CliError> {
    let (file, line) = split(word);
    let spoken = spoken(&file)?;
    let is_meant = |exchange: &Exchange| match line {
        Some(line) => exchange.line == line,
        None => exchange.status < 400 && !exchange.is_ours,
    };
    let meant = spoken.iter().filter(|(exchange, _)| is_meant(exchange));
    // Of equally long conversations, the last one counts, because the others may be its earlier attempts.
    let longest = meant.max_by_key(|(exchange, dialect)| {
        n_items(*dialect, &exchange.request) + usize::from(exchange.reply.is_some())
    });
    let Some((exchange, dialect)) = longest else {
        let words = match line {
            Some(line) => format!("line {line} has no request for a reply"),
            None => "it has no request that a server accepted".to_owned(),
        };
        return Err(CliError::input(format!("{file}: {words}")));
    };
    let made = recorded(*dialect, &exchange.request, exchange.reply.as_ref());
    let Some(Recorded { scenario, left_out }) = made else {
        return Err(CliError::input(format!("{file}:{}: it has no user message", exchange.line)));
    };
    let n_calls = scenario.calls().count();
    let mut words =
        format!("{file}:{}: {} turns, {n_calls} calls, on {dialect}", exchange.line, scenario.turns.len());
    if !left_out.is_empty() {
        words.push_str(&format!("; left out: {}", left_out.join(", ")));
    }
    let stem = std::path::Path::new(&file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = format!("{}-{}", stem.unwrap_or_default(), exchange.line);
    Ok(Conversation { name, scenario, words })
}

/// The last refused request in a recording, or the request on the line in `FILE#LINE`, as a session. `None` if
/// the file is not a recording.
pub(super) fn refused(word: &str) -> Option<Result<Session, CliError>> {
    let (file, line) = split(word);
    let spoken = spoken(&file).ok()?;
    let is_meant = |exchange: &Exchange| match line {
        Some(line) => exchange.line == line,
        None => exchange.status >= 400,
    };
    let Some((exchange, dialect)) = spoken.into_iter().rev().find(|(exchange, _)| is_meant(exchange)) else {
        return Some(Err(CliError::input(format!("{file}: it has no refused request"))));
    };
    let read = brickbat_sessions::read_body(&exchange.request, dialect);
    Some(read.map_err(|error| CliError::input(format!("{file}:{}: {error}", exchange.line))))
}

/// Splits `FILE#LINE` into the file and the line.
fn split(word: &str) -> (String, Option<u64>) {
    let named = word.rsplit_once('#').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    match named {
        Some((file, line)) if !std::path::Path::new(word).exists() => (file.to_owned(), Some(line)),
        _ => (word.to_owned(), None),
    }
}

/// The exchanges in a recording that are requests for a reply in a dialect.
fn spoken(file: &str) -> Result<Vec<(Exchange, Dialect)>, CliError> {
    let mut found = Vec::new();
    let mut problem = None;
    requests::read(file, &mut |piece| {
        let exchanges = match piece {
            Ok(piece) if piece.is_line => recordings::row(&piece.text, piece.start.line)
                .map(|row| vec![row])
                .map_err(|error| error.to_string()),
            Ok(piece) => recordings::read(&piece.text).map_err(|error| error.to_string()),
            Err((line, words)) => Err(line.map_or(words.clone(), |line| format!("line {line}: {words}"))),
        };
        match exchanges {
            Ok(exchanges) => {
                found.extend(exchanges.into_iter().filter_map(|exchange| match exchange.spoken() {
                    Spoken::Dialect(dialect) => Some((exchange, dialect)),
                    _ => None,
                }))
            }
            Err(words) => {
                problem.get_or_insert(words);
            }
        }
    });
    match problem {
        Some(words) => Err(CliError::cannot_read(file, words)),
        None => Ok(found),
    }
}
