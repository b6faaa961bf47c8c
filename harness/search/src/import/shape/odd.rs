//! Keeps only the odd features of texts, ids and names, by an allow-list of characters.

/// The maximum number of characters kept of one text. Threads do not break because of the hundredth space.
const MAX_KEPT: usize = 16;

/// The format of a text, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// True if the text contains any words.
    is_said: bool,
    /// White space at the end, and characters that programs often mishandle.
    tail: String,
}

impl Words {
    /// A plain text.
    pub(crate) fn plain() -> Words {
        Words { is_said: true, tail: String::new() }
    }

    /// The odd features of a text. Blank texts are kept as they are.
    pub(super) fn of(text: &str) -> Words {
        let is_said = !text.trim().is_empty();
        let odd = text.trim_end().chars().filter(|c| is_said && is_odd(*c));
        let end = text[text.trim_end().len()..].chars().filter(|c| c.is_whitespace());
        Words { is_said, tail: odd.chain(end).take(MAX_KEPT).collect() }
    }

    /// The text with `said` instead of its words.
    pub(super) fn text(&self, said: &str) -> String {
        let said = if self.is_said { said } else { "" };
        format!("{said}{}", self.tail)
    }
}

/// Control characters, separators that are line ends only in some programs, and the replacement for bytes
/// that are not text.
fn is_odd(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    is_control || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffd}' | '\u{fffe}' | '\u{ffff}')
}

/// The maximum length of an id or name that is kept. The longest provider limit for either is 128 characters,
/// and the longest id seen in public has 391.
const MAX_NAME: usize = 512;

/// The id prefixes of known providers.
const PREFIXES: [&str; 12] = [
    "toolu_",
    "tooluse_",
    "call_",
    "call-",
    "fc_",
    "tco_",
    "functions.",
    "chatcmpl-tool-",
    "toolcall_",
    "tool_",
    "ctc_",
    "srvtoolu_",
];

/// The format of an id: its prefix, if a known provider uses it, its length, and the characters that are
/// neither letters nor digits. `n` makes the id different for each call.
pub(super) fn id_form(id: &str, n: usize) -> String {
    let prefix = PREFIXES.into_iter().find(|prefix| id.starts_with(prefix)).unwrap_or_default();
    let mut form: Vec<char> = prefix.chars().collect();
    form.extend(id[prefix.len()..].chars().take(MAX_NAME).map(|c| kept(c, '0')));
    let number: Vec<char> = n.to_string().chars().rev().collect();
    let digits = form.iter_mut().skip(prefix.len()).rev().filter(|c| **c == '0');
    for (place, digit) in digits.zip(number) {
        *place = digit;
    }
    form.into_iter().collect()
}

/// The format of a tool's name, if it is odd.
pub(super) fn name_form(name: &str, n: usize) -> Option<String> {
    const MAX_PLAIN: usize = 64;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.len() <= MAX_PLAIN && name.chars().all(is_plain) {
        return None;
    }
    let mut form: String =
        name.chars().take(MAX_NAME).map(|c| if c.is_ascii_digit() { '0' } else { kept(c, 'x') }).collect();
    // Two odd tools keep different names if the names have room for a number.
    let number = n.to_string();
    if form.ends_with(&"x".repeat(number.len() + 1)) {
        form.replace_range(form.len() - number.len().., &number);
    }
    Some(form)
}

/// A letter or digit becomes `plain`; ASCII punctuation and white space are kept, and all other characters
/// become the same letter.
fn kept(c: char, plain: char) -> char {
    match c {
        c if c.is_ascii_alphanumeric() => plain,
        c if c.is_ascii() => c,
        _ => 'é',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_odd_characters_and_trailing_blanks_of_a_text_are_kept() {
        let kept = |text: &str| Words::of(text).text("Said.");
        assert_eq!(kept("the secret \u{0} plan\u{2028}"), "Said.\u{0}\u{2028}");
        assert_eq!(kept("the secret plan \n"), "Said. \n");
        assert_eq!(kept(" \n\n"), " \n\n");
        assert_eq!(kept(""), "");
    }

    #[test]
    fn only_the_form_of_an_id_is_kept() {
        assert_eq!(id_form("toolu_01AbC", 3), "toolu_00003");
        assert_eq!(id_form("Müller|7", 12), "0é0001|2");
        assert_eq!(id_form("", 3), "");
        assert_eq!(id_form("call_x", 12), "call_2");
        assert_eq!(id_form(&"a".repeat(900), 0).len(), MAX_NAME);
    }

    #[test]
    fn a_plain_name_is_not_odd() {
        assert_eq!(name_form("read_file", 0), None);
        assert_eq!(name_form("my.secret tool", 2).as_deref(), Some("xx.xxxxxx xxx2"));
        assert_eq!(name_form("", 2).as_deref(), Some(""));
        assert_eq!(name_form(&"a".repeat(70), 1).map(|form| form.len()), Some(70));
    }
}
