//! The request in a curl command.

use serde::de::IgnoredAny;

use super::{literal, shell};
use crate::recordings::Exchange;
use crate::{Address, Profile, is_known_host};

/// A command with a request.
pub(super) struct Command {
    pub(super) exchange: Exchange,
    pub(super) place: &'static str,
    /// The length of the command.
    pub(super) n_bytes: usize,
}

/// The options with a body.
const BODIES: [&str; 6] = ["-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json"];

/// The command at the beginning of a text.
///
/// LiteLLM logs a dictionary of Python's between single quotes (<https://github.com/BerriAI/litellm/issues/8014>). No
/// shell would read it, so it is read as Python does.
pub(super) fn command(text: &str, line: u64) -> Option<Command> {
    let (words, n_bytes) = shell::words(text);
    let (address, body) = parts(&words);
    let place = "the curl command";
    let is_json = |body: &str| serde_json::from_str::<IgnoredAny>(body).is_ok();
    if let Some(body) = body.as_deref().filter(|body| begins_json(body) && is_json(body)) {
        return Some(Command { exchange: exchange(address, body.to_owned(), line), place, n_bytes });
    }
    if let Some(at) = dictionary(text) {
        let place = "the curl command, read as a literal of a program because it is not JSON";
        let (value, n_bytes) = literal::read(&text[at..])?;
        let end = at + n_bytes;
        let mut exchange = exchange(address, value.to_string(), line);
        // The log has the address below which the API is.
        if exchange.address().api().is_none() {
            exchange.path.clear();
        }
        return Some(Command { exchange, place, n_bytes: end });
    }
    // The search of the text reports the part that is left out.
    let body = body.filter(|body| begins_json(body) && !body.contains("...") && !body.contains('…'))?;
    Some(Command { exchange: exchange(address, body, line), place, n_bytes })
}

fn begins_json(body: &str) -> bool {
    body.trim_start().starts_with(['{', '['])
}

fn exchange(address: Exchange, body: String, line: u64) -> Exchange {
    Exchange { line, request: body.into_bytes(), ..address }
}

/// Where a dictionary of Python's begins after the first option with a body.
fn dictionary(text: &str) -> Option<usize> {
    let is_option = |at: &usize| text[..*at].ends_with(|c: char| c.is_whitespace());
    let option = ["-d", "--data"].iter().filter_map(|name| text.find(name).filter(is_option)).min()?;
    let at = option + text[option..].find('{')?;
    let is_quoted = text[option..at].trim_end().ends_with(['\'', '"']);
    (is_quoted && text[at + 1..].trim_start().starts_with('\'')).then_some(at)
}

/// The address, and the body if there is one.
fn parts(words: &[String]) -> (Exchange, Option<String>) {
    let (mut url, mut body, mut version) = (None, None, None);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let (option, joined) = match (word.split_once('='), word.strip_prefix("-d")) {
            (Some((option, value)), _) if option.starts_with("--") => (option, Some(value)),
            (_, Some(value)) if begins_json(value) => ("-d", Some(value)),
            _ => (word.as_str(), None),
        };
        let mut value = || joined.map(str::to_owned).or_else(|| words.next().cloned());
        match option {
            _ if BODIES.contains(&option) => body = value(),
            "--url" => url = value(),
            "-H" | "--header" => version = version.or_else(|| version_of(&value()?)),
            // Options with a value that could look like a URL.
            "-X" | "--request" | "-A" | "-e" | "-u" | "-o" | "-x" | "--proxy" if joined.is_none() => {
                words.next();
            }
            _ if word.starts_with("http://") || word.starts_with("https://") => url = Some(word.clone()),
            // People write a host without its scheme, or a variable.
            _ if url.is_none() && !word.starts_with('-') && is_address(word) => url = Some(word.clone()),
            _ => {}
        }
    }
    let mut exchange = Exchange::at(&url.unwrap_or_default());
    if exchange.host.contains(['$', '{', '<', '[', '}', '>', ' ']) {
        exchange.host.clear();
    }
    (Exchange { version, ..exchange }, body)
}

/// True if an API is at this address, or a known provider.
fn is_address(word: &str) -> bool {
    let address = Address::of(word);
    address.api().is_some() || is_known_host(&address.host)
}

/// The version of the provider's API, if a header names it.
fn version_of(header: &str) -> Option<String> {
    let (name, value) = header.split_once(':')?;
    name.trim().eq_ignore_ascii_case(Profile::VERSION_HEADER).then(|| value.trim().to_owned())
}
