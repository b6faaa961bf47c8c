//! Errors of servers that check the body with a schema of pydantic (<https://fastapi.tiangolo.com/tutorial/handling-errors/>):
//! a list of places, each with its requirement.

use serde_json::Value;

/// The names of the lists that hold a history.
const LISTS: [&str; 3] = ["messages", "input", "contents"];

/// An item of the history that does not fit the schema of a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Located {
    /// The place, such as `messages[1].role`.
    path: String,
    /// The requirement in the server's words.
    requirement: String,
}

/// The items of the history that such an error names.
pub(super) fn located(text: &str) -> Vec<Located> {
    let starts = text.match_indices(['{', '[']).map(|(at, _)| at).take(MAX_TRIED);
    let mut values = starts.filter_map(|at| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next()?.ok()
    });
    values.find_map(|value| Some(of_value(&value)).filter(|found| !found.is_empty())).unwrap_or_default()
}

/// The maximum number of places in a text at which JSON is tried.
const MAX_TRIED: usize = 20;

fn of_value(value: &Value) -> Vec<Located> {
    let list = value.get("detail").or_else(|| value.get("errors")).unwrap_or(value);
    let one = |error: &Value| {
        let places = error.get("loc")?.as_array()?;
        let begin = places.iter().position(|place| LISTS.iter().any(|list| place.as_str() == Some(list)))?;
        let mut path = String::new();
        for place in &places[begin..] {
            match place {
                Value::Number(n) => path.push_str(&format!("[{n}]")),
                Value::String(name) if path.is_empty() => path.push_str(name),
                Value::String(name) => path.push_str(&format!(".{name}")),
                _ => {}
            }
        }
        Some(Located { path, requirement: error.get("msg")?.as_str()?.to_owned() })
    };
    list.as_array().into_iter().flatten().filter_map(one).collect()
}

/// The page about such an error.
pub(super) fn page(found: &[Located]) -> String {
    let mut page = "This error is about the history. The server checks the body against a schema, and it names the places that \
                    do not fit:\n\n"
        .to_owned();
    for Located { path, requirement } in found.iter().take(MAX_SHOWN) {
        page.push_str(&format!("  {path}  {requirement}\n"));
    }
    page.push_str("\nwhat to do\n");
    let mut told: Vec<&str> = Vec::new();
    for Located { path, .. } in found {
        let advice = advice(path.rsplit('.').next().unwrap_or_default());
        if !told.contains(&advice) {
            told.push(advice);
            page.push_str(&format!("{advice}\n"));
        }
    }
    page.push_str("\n`brickbat check FILE --host HOST` judges the request itself.\n");
    page
}

/// The maximum number of places that a page lists. A union of types has one for each of its alternatives.
const MAX_SHOWN: usize = 8;

/// The advice about a field that does not fit.
fn advice(key: &str) -> &'static str {
    match key {
        "role" => {
            "This server takes other roles. Send instructions of the role `system` or `developer` in the field that it has for \
             them, or join them with a message of the user; send results in its own form."
        }
        "content" | "text" | "str" => {
            "This server takes only a text there. Send a text in place of a list, of null or of an image."
        }
        "tool_calls" | "arguments" | "function" => {
            "Write the call as this server has it: often its arguments as a JSON text."
        }
        "type" => "The part is of a kind that this server does not know. Leave it out, or send its text.",
        _ => "Leave the field out, or give it the form that the server names.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_a_schema_are_those_in_the_history() {
        let text = r#"422 {"detail":[{"type":"literal_error","loc":["body","messages",1,"role"],"msg":"Input should be 'user' or 'assistant'"},{"loc":["body","top_k"],"msg":"?"}]}"#;
        let found = located(text);
        let only = Located {
            path: "messages[1].role".to_owned(),
            requirement: "Input should be 'user' or 'assistant'".to_owned(),
        };
        assert_eq!(found, [only]);
        assert!(page(&found).contains("other roles"));
        assert_eq!(located(r#"{"detail":"Not Found"}"#), []);
        assert_eq!(located("no JSON at all ["), []);
    }
}
