//! The width of the terminal, and the length of a line elsewhere.

use terminal_size::{Width, terminal_size_of};

/// The number of columns: that of the terminal, else `$COLUMNS`, else 80.
pub(super) fn width() -> usize {
    let of_variable = || std::env::var("COLUMNS").ok()?.parse::<usize>().ok();
    let of_terminal = terminal_size_of(std::io::stdout()).map(|(Width(columns), _)| usize::from(columns));
    of_terminal.or_else(of_variable).unwrap_or(DEFAULT).clamp(MIN, MAX)
}

/// A line is cut after this number of columns. In a file or a pipe, lines keep their full length.
pub(super) fn room() -> usize {
    let is_elsewhere = terminal_size_of(std::io::stdout()).is_none() && std::env::var_os("COLUMNS").is_none();
    if is_elsewhere { usize::MAX } else { width() }
}

const DEFAULT: usize = 80;
const MIN: usize = 40;
const MAX: usize = 200;
