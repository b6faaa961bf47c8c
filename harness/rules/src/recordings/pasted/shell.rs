//! Splits a command into words, as a shell does.

/// The words of a command, as a POSIX shell reads them, up to the end of the command
/// (<https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02>). Variables stay as they are.
/// Returns them with the length of the command.
pub(super) fn words(text: &str) -> (Vec<String>, usize) {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = text.chars().peekable();
    let mut n_bytes = text.len();
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
            // The shells of Windows continue a command with these.
            '^' | '`' if chars.peek() == Some(&'\n') => drop(chars.next()),
            '\n' | ';' | '|' | '&' => {
                n_bytes = text.len() - 1 - chars.map(char::len_utf8).sum::<usize>();
                break;
            }
            _ if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (words, n_bytes)
}
