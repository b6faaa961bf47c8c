//! What is odd about texts, ids and names, and nothing else of them: an allow-list of characters.

/// Characters of one text that are kept. What breaks a thread does not hang on the hundredth space.
const MAX_KEPT: usize = 16;

/// Words without what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// Whether anything is said.
    is_said: bool,
    /// White space at the end, and characters that programs stumble over.
    tail: String,
}

impl Words {
    /// Something plain.
    pub(crate) fn plain() -> Words {
        Words { is_said: true, tail: String::new() }
    }

    /// What is odd about a text. Blank ones stay as they are.
    pub(super) fn of(text: &str) -> Words {
        let is_said = !text.trim().is_empty();
        let odd = text.trim_end().chars().filter(|c| is_said && is_odd(*c));
        let end = text[text.trim_end().len()..].chars().filter(|c| c.is_whitespace());
        Words { is_said, tail: odd.chain(end).take(MAX_KEPT).collect() }
    }

    /// The text with something in the place of what was said.
    pub(super) fn text(&self, said: &str) -> String {
        let said = if self.is_said { said } else { "" };
        format!("{said}{}", self.tail)
    }
}

/// Control characters, separators that are no line ends everywhere, and what stands for bytes that were no text.
fn is_odd(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    is_control || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffd}' | '\u{fffe}' | '\u{ffff}')
}

/// The longest id or name that is kept; the longest limit of a provider for either is 128 characters, and the longest id that
/// was seen in public has 391.
const MAX_NAME: usize = 512;

/// What ids of known providers begin with.
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

/// The form of an id: what it begins with, if a provider is known to begin so, its length, and which characters are neither
/// letters nor digits. `n` makes it another one for each call.
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

/// The form of a tool's name, if it is odd.
pub(super) fn name_form(name: &str, n: usize) -> Option<String> {
    const MAX_PLAIN: usize = 64;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.len() <= MAX_PLAIN && name.chars().all(is_plain) {
        return None;
    }
    let mut form: String =
        name.chars().take(MAX_NAME).map(|c| if c.is_ascii_digit() { '0' } else { kept(c, 'x') }).collect();
    // Two odd tools stay two, as far as their names have room.
    let number = n.to_string();
    if form.ends_with(&"x".repeat(number.len() + 1)) {
        form.replace_range(form.len() - number.len().., &number);
    }
    Some(form)
}

/// A letter or digit becomes `plain`; punctuation and white space of ASCII stay, and other characters become one.
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
    fn of_a_text_only_odd_characters_and_blanks_at_the_end_are_kept() {
        let kept = |text: &str| Words::of(text).text("Said.");
        assert_eq!(kept("the secret \u{0} plan\u{2028}"), "Said.\u{0}\u{2028}");
        assert_eq!(kept("the secret plan \n"), "Said. \n");
        assert_eq!(kept(" \n\n"), " \n\n");
        assert_eq!(kept(""), "");
    }

    #[test]
    fn of_an_id_only_its_form_is_kept() {
        assert_eq!(id_form("toolu_01AbC", 3), "toolu_00003");
        assert_eq!(id_form("Müller|7", 12), "0é0001|2");
        assert_eq!(id_form("", 3), "");
        assert_eq!(id_form("call_x", 12), "call_2");
        assert_eq!(id_form(&"a".repeat(900), 0).len(), MAX_NAME);
    }

    #[test]
    fn a_plain_name_is_no_oddity() {
        assert_eq!(name_form("read_file", 0), None);
        assert_eq!(name_form("my.secret tool", 2).as_deref(), Some("xx.xxxxxx xxx2"));
        assert_eq!(name_form("", 2).as_deref(), Some(""));
        assert_eq!(name_form(&"a".repeat(70), 1).map(|form| form.len()), Some(70));
    }
}
