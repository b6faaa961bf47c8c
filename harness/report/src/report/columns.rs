//! Texts in the columns of a terminal.

use brickbat_rules::plain::is_plain;

/// A text broken into lines of at most `width` columns, between words if possible. Control characters
/// become spaces.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for word in text.split(|c: char| c.is_whitespace() || !is_plain(c)).filter(|word| !word.is_empty()) {
        let gap = usize::from(used > 0);
        if used + gap + columns(word) > width && used > 0 {
            lines.push(String::new());
            used = 0;
        } else if gap == 1 {
            lines.last_mut().into_iter().for_each(|line| line.push(' '));
            used += 1;
        }
        for c in word.chars() {
            if used + column_of(c) > width {
                lines.push(String::new());
                used = 0;
            }
            lines.last_mut().into_iter().for_each(|line| line.push(c));
            used += column_of(c);
        }
    }
    lines
}

pub(super) fn columns(text: &str) -> usize {
    text.chars().map(column_of).sum()
}

/// Terminals give two columns to East Asian scripts and to emoji.
fn column_of(c: char) -> usize {
    let wide = matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f300..=0x1faff | 0x20000..=0x3fffd);
    if wide { 2 } else { 1 }
}

/// A text on one line of at most `width` columns. A text that is too long is cut and ends in three
/// dots.
pub fn in_one_line(text: &str, width: usize) -> String {
    let mut lines = wrapped(text, width).into_iter();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_none() {
        return first;
    }
    let flat: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let (mut line, mut used) = (String::new(), 0);
    for c in flat.join(" ").chars() {
        if used + column_of(c) >= width {
            break;
        }
        line.push(c);
        used += column_of(c);
    }
    format!("{}…", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_not_wider_than_the_limit() {
        for text in ["a bc def ghij", "abcdefghijklmnop", "日本語のテキスト", "\u{1b}[31m\n\tx", "", "a  b"]
        {
            let lines = wrapped(text, 5);
            assert!(lines.iter().all(|line| columns(line) <= 5), "{lines:?}");
            let joined: String = lines.concat().split(' ').collect();
            let expected: String = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
            assert_eq!(joined, expected);
        }
        assert_eq!(wrapped("a bc def", 5), ["a bc", "def"]);
    }

    #[test]
    fn a_text_that_does_not_fit_in_a_line_is_cut() {
        assert_eq!(in_one_line("a bc", 4), "a bc");
        assert_eq!(in_one_line("a bc d", 4), "a b…");
        assert_eq!(in_one_line("a\nb", 4), "a b");
        assert!(columns(&in_one_line("日本語のテキスト", 7)) <= 7);
    }
}
