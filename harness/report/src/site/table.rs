//! Tables that a phone shows as a list: each cell then has the name of its column.

use std::fmt::Write;

use crate::report::html::escaped;

/// A row: its first cell names it.
pub(super) struct Row {
    /// The words that a search finds; empty if the table has no search.
    words: String,
    cells: Vec<Cell>,
}

/// A cell, with its content as HTML.
pub(super) struct Cell {
    class: &'static str,
    html: String,
}

impl Row {
    pub(super) fn new(cells: Vec<Cell>) -> Row {
        Row { words: String::new(), cells }
    }

    pub(super) fn found_by(self, words: &str) -> Row {
        Row { words: words.to_lowercase(), ..self }
    }
}

impl Cell {
    /// A cell with HTML.
    pub(super) fn html(html: impl Into<String>) -> Cell {
        Cell { class: "", html: html.into() }
    }

    /// A cell with text.
    pub(super) fn text(text: &str) -> Cell {
        Cell::html(escaped(text))
    }

    /// A cell with a number or a day, which is not divided between lines.
    pub(super) fn number(number: impl ToString) -> Cell {
        Cell { class: "n", html: escaped(&number.to_string()) }
    }

    pub(super) fn with_class(self, class: &'static str) -> Cell {
        Cell { class, ..self }
    }
}

/// A column: its name, and its head as HTML.
pub(super) struct Column {
    name: &'static str,
    html: String,
}

impl Column {
    pub(super) fn new(name: &'static str) -> Column {
        Column { name, html: name.to_owned() }
    }

    /// A column with a name that is explained.
    pub(super) fn explained(name: &'static str, meaning: &str) -> Column {
        Column { name, html: format!("<abbr title=\"{}\">{name}</abbr>", escaped(meaning)) }
    }
}

/// Columns without an explanation.
pub(super) fn columns<const N: usize>(names: [&'static str; N]) -> Vec<Column> {
    names.into_iter().map(Column::new).collect()
}

/// A table in a region that scrolls by itself, or a sentence if it has no rows.
pub(super) fn table(name: &str, columns: &[Column], rows: &[Row], nothing: &str) -> String {
    if rows.is_empty() {
        return format!("<p>{}</p>\n", escaped(nothing));
    }
    let heads: String =
        columns.iter().map(|column| format!("<th scope=\"col\">{}</th>", column.html)).collect();
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n<table class=\"stack\">\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n",
        escaped(name)
    );
    for Row { words, cells } in rows {
        let words =
            if words.is_empty() { String::new() } else { format!(" data-words=\"{}\"", escaped(words)) };
        let _ = write!(html, "<tr{words}>");
        for (index, (Cell { class, html: content }, Column { name, .. })) in
            cells.iter().zip(columns).enumerate()
        {
            let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
            let _ = match index {
                0 => write!(html, "<th scope=\"row\"{class}>{content}</th>"),
                _ => write!(html, "<td data-name=\"{name}\"{class}>{content}</td>"),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
    html
}
