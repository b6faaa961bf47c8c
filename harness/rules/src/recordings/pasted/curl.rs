//! The request in a curl command.

use crate::Profile;
use crate::recordings::Exchange;

/// The request of a curl command at the beginning of a text.
pub(super) fn command(text: &str, line: u64) -> Option<Exchange> {
    let words = shell_words(text);
    let (mut url, mut body, mut version) = (None, None, None);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (word.as_str(), None),
        };
        match option {
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-ascii" | "--json" => {
                body = joined.map(str::to_owned).or_else(|| words.next().cloned());
            }
            "--url" => url = joined.map(str::to_owned).or_else(|| words.next().cloned()),
            "-H" | "--header" => {
                let header = joined.map(str::to_owned).or_else(|| words.next().cloned());
                version = version.or_else(|| version_of(&header?));
            }
            // Options with a value that could look like a URL.
            "-X" | "--request" | "-A" | "-e" | "-u" | "-o" | "-x" | "--proxy" if joined.is_none() => {
                words.next();
            }
            _ if word.starts_with("http://") || word.starts_with("https://") => url = Some(word.clone()),
            _ => {}
        }
    }
    let body = body?;
    let begins_json = body.trim_start().starts_with(['{', '[']);
    let at = Exchange::at(&url.unwrap_or_default());
    let exchange = Exchange { line, version, request: body.into_bytes(), ..at };
    begins_json.then_some(exchange)
}

/// The version of the provider's API, if a header names it.
fn version_of(header: &str) -> Option<String> {
    let (name, value) = header.split_once(':')?;
    name.trim().eq_ignore_ascii_case(Profile::VERSION_HEADER).then(|| value.trim().to_owned())
}

/// The words of a command, as a POSIX shell reads them, up to the end of the command
/// (<https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02>). Variables stay as they are.
fn shell_words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                // The command continues in the next line.
                Some('\n') | None => {}
                Some('\r') => drop(chars.next_if_eq(&'\n')),
                Some(c) => word.get_or_insert_default().push(c),
            },
            '\'' => {
                // `$'…'` also has escapes.
                let has_escapes = word.as_deref().is_some_and(|word| word.ends_with('$'));
                let word = word.get_or_insert_default();
                if has_escapes {
                    word.pop();
                }
                while let Some(c) = chars.next().filter(|c| *c != '\'') {
                    match (c, has_escapes) {
                        ('\\', true) => word.extend(chars.next().map(|c| if c == 'n' { '\n' } else { c })),
                        _ => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    match c {
                        '\\' => match chars.next() {
                            Some('\n') | None => {}
                            Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                            Some(c) => word.extend(['\\', c]),
                        },
                        _ => word.push(c),
                    }
                }
            }
            '\n' | ';' | '|' | '&' => break,
            _ if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
