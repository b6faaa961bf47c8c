//! Whether a text may hold terminal colours.

/// Whether a text may hold terminal colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Plain,
    /// ANSI escapes.
    Ansi,
}
