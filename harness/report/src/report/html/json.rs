//! A JSON value as HTML, with the value at a pointer marked.

use serde_json::Value;

use super::escaped;

/// Characters of a value that are written; a longer body is cut.
const MAX_CHARS: usize = 200_000;

/// The value, indented, with the part at the pointer in a `<mark>`.
pub(super) fn marked(value: &Value, pointer: Option<&str>) -> String {
    let mut html = String::new();
    write(&mut html, value, String::new(), pointer, 0);
    if html.len() > MAX_CHARS {
        let end = html.floor_char_boundary(MAX_CHARS);
        html.truncate(end);
        // A cut inside a tag or an entity would swallow the text after it.
        let end = html.rfind(['<', '&', '\n']).unwrap_or(0);
        html.truncate(end);
        let n_open = html.matches("<mark>").count() - html.matches("</mark>").count();
        html.push_str(&"</mark>".repeat(n_open));
        html.push_str("\n… the case file contains all of it");
    }
    html
}

fn write(html: &mut String, value: &Value, at: String, pointer: Option<&str>, depth: usize) {
    let is_marked = pointer == Some(at.as_str()) && !at.is_empty();
    if is_marked {
        html.push_str("<mark>");
    }
    let indent = "  ".repeat(depth + 1);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            html.push('{');
            for (n, (name, value)) in fields.iter().enumerate() {
                html.push_str(if n == 0 { "\n" } else { ",\n" });
                html.push_str(&indent);
                html.push_str(&escaped(&Value::from(name.as_str()).to_string()));
                html.push_str(": ");
                let step = name.replace('~', "~0").replace('/', "~1");
                write(html, value, format!("{at}/{step}"), pointer, depth + 1);
            }
            html.push_str(&format!("\n{}}}", "  ".repeat(depth)));
        }
        Value::Array(items) if !items.is_empty() => {
            html.push('[');
            for (n, value) in items.iter().enumerate() {
                html.push_str(if n == 0 { "\n" } else { ",\n" });
                html.push_str(&indent);
                write(html, value, format!("{at}/{n}"), pointer, depth + 1);
            }
            html.push_str(&format!("\n{}]", "  ".repeat(depth)));
        }
        plain => html.push_str(&escaped(&plain.to_string())),
    }
    if is_marked {
        html.push_str("</mark>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_value_at_the_pointer_is_marked_and_markup_is_escaped() {
        let html = marked(&json!({ "a": ["<b>", { "c/d": 1 }] }), Some("/a/1/c~1d"));
        assert_eq!(
            html,
            "{\n  &quot;a&quot;: [\n    &quot;&lt;b&gt;&quot;,\n    {\n      &quot;c/d&quot;: <mark>1</mark>\n    }\n  ]\n}"
        );
        let long = marked(&json!({ "a": "&".repeat(MAX_CHARS) }), Some("/a"));
        assert_eq!(long.matches("<mark>").count(), long.matches("</mark>").count());
        assert!(long.len() < MAX_CHARS + 100);
    }
}
