//! Texts as findings quote them: short, and visibly different if they differ.

/// The maximum number of characters of a result, or of arguments, that a finding quotes.
pub(super) const MAX_QUOTED: usize = 120;

/// The number of equal characters that are shown before the first difference of two long texts.
const CONTEXT: usize = 20;

/// The beginning of a text.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", text.chars().take(MAX_QUOTED).collect::<String>())
}

/// Two different texts, each with at most `max` characters. If they begin with the same characters, the first
/// difference is near the beginning of what is shown.
pub(super) fn quoted_apart(expected: &str, got: &str, max: usize) -> (String, String) {
    let n_same = expected.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
    let from = if n_same + CONTEXT < max { 0 } else { n_same.saturating_sub(CONTEXT) };
    let shown = |text: &str| {
        let dots = if from == 0 { "" } else { "…" };
        format!("`{dots}{}`", text.chars().skip(from).take(max).collect::<String>())
    };
    (shown(expected), shown(got))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_are_quoted_so_that_their_difference_is_visible() {
        let long = "Current Date: ".repeat(20);
        let (a, b) = (format!("{long}16:05:01.1"), format!("{long}16:05:02.7"));
        let (expected, got) = quoted_apart(&a, &b, 80);
        assert_ne!(expected, got);
        assert!(expected.starts_with("`…") && expected.contains("16:05:01.1"), "{expected}");
        assert_eq!(quoted_apart("short", "shorn", 80), ("`short`".to_owned(), "`shorn`".to_owned()));
        // One of them may be the beginning of the other.
        let (expected, got) = quoted_apart(&long, &a, 80);
        assert!(expected != got && got.contains("16:05:01.1"), "{expected} {got}");
    }
}
