//! Characters that are not printed unchanged, because they move the terminal's cursor or change the text
//! direction.

/// Returns whether a character changes the direction of the text around it, so that a reader sees a
/// different text (<https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters>).
pub fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a character may be printed on a line.
pub fn is_plain(c: char) -> bool {
    !c.is_control() && !turns(c)
}
