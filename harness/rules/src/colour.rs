//! Terminal colours.

/// Terminal colours in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Plain,
    /// ANSI escape sequences.
    Ansi,
}
