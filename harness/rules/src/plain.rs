//! Characters that are not shown as they are: what moves a terminal's cursor, and what turns a line around.

/// Whether a character changes the direction of what stands next to it, so that a reader sees another text than is there
/// (<https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters>).
pub fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character may be shown on a line.
pub fn is_plain(c: char) -> bool {
    !c.is_control() && !turns(c)
}
