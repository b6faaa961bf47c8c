//! The canonical format of a vector file.

use serde_json::Value;

/// The file, its list and each vector always take several lines.
const N_UNFOLDED: usize = 3;

/// Maximum width of a value on one line. The name before it and the comma after it do not count.
const MAX_COLUMNS: usize = 110;

/// Formats a value, indented with two spaces per level, and on one line if it fits.
pub(super) fn text(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text.push('\n');
    text
}

fn write(text: &mut String, value: &Value, depth: usize) {
    let n_inside = match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    let line = line(value);
    if n_inside == 0 || (depth >= N_UNFOLDED && 2 * depth + line.chars().count() <= MAX_COLUMNS) {
        return text.push_str(&line);
    }
    match value {
        Value::Object(fields) => {
            text.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                begin(text, index, depth + 1);
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push_str(": ");
                write(text, value, depth + 1);
            }
            end(text, depth, '}');
        }
        _ => {
            text.push('[');
            for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                begin(text, index, depth + 1);
                write(text, item, depth + 1);
            }
            end(text, depth, ']');
        }
    }
}

fn begin(text: &mut String, index: usize, depth: usize) {
    text.push_str(if index > 0 { ",\n" } else { "\n" });
    text.push_str(&"  ".repeat(depth));
}

fn end(text: &mut String, depth: usize, close: char) {
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(close);
}

/// Formats a value on one line.
fn line(value: &Value) -> String {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let field =
                |(name, value): (&String, &Value)| format!("{}: {}", Value::from(name.as_str()), line(value));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<String>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(line).collect::<Vec<String>>().join(", "))
        }
        value => value.to_string(),
    }
}
