//! Errors of servers that check the body with a schema of pydantic (<https://fastapi.tiangolo.com/tutorial/handling-errors/>):
//! a list of places, each with its requirement.

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

/// The items of the history that such an error names. The error may be cut, and be a text inside other JSON.
pub(super) fn located(text: &str) -> Vec<Located> {
    let plain: String = text.chars().filter(|c| *c != '\\').collect();
    let mut found = Vec::new();
    for (at, _) in plain.match_indices("loc").take(MAX_TRIED) {
        let rest = plain[at + 3..].trim_start_matches(['"', '\'', ':', ' ']);
        let Some(places) = rest.strip_prefix(['[', '(']) else { continue };
        let Some(end) = places.find([']', ')']) else { continue };
        let (places, after) = places.split_at(end);
        let Some(path) = path_of(places) else { continue };
        let requirement = after.find("msg").and_then(|at| said(&after[at + 3..])).unwrap_or_default();
        let one = Located { path, requirement };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// The maximum number of places that are read.
const MAX_TRIED: usize = 100;

/// The path of a list of places, from the list of messages on.
fn path_of(places: &str) -> Option<String> {
    let places: Vec<&str> = places
        .split(',')
        .map(|place| place.trim().trim_matches(['"', '\'']))
        .filter(|it| !it.is_empty())
        .collect();
    let begin = places.iter().position(|place| LISTS.contains(place))?;
    let mut path = places[begin].to_owned();
    for place in &places[begin + 1..] {
        match place.chars().all(|c| c.is_ascii_digit()) {
            true => path.push_str(&format!("[{place}]")),
            false => path.push_str(&format!(".{place}")),
        }
    }
    Some(path)
}

/// The text behind the name of a field.
fn said(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['"', '\'']).trim_start_matches([':', ' ']);
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = &text[1..];
    let ends = [format!("{quote},"), format!("{quote}}}")];
    let end = ends.iter().filter_map(|end| text.find(end)).min()?;
    Some(text[..end].to_owned())
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
    for Located { path, requirement } in found {
        let advice = match requirement.to_lowercase().contains("required") {
            true => "Send the field that is missing: an empty text for the `content` of a reply with calls.",
            false => advice(path.rsplit('.').next().unwrap_or_default()),
        };
        if !told.contains(&advice) {
            told.push(advice);
            page.push_str(&format!("{advice}\n"));
        }
    }
    page.push_str("\n`brickbat check FILE --host HOST` judges the request itself.\n");
    page
}

/// The line with the places and the ids that an error names. Empty if it names none.
pub(super) fn places(text: &str) -> String {
    let is_of_place = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
    let mut named: Vec<&str> = Vec::new();
    for word in text.split(|c: char| !is_of_place(c)).map(|word| word.trim_matches(['.', '-'])) {
        let rest = LISTS.iter().find_map(|list| word.strip_prefix(list)?.strip_prefix(['.', '[']));
        let is_path = rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let is_id = IDS.iter().any(|begin| word.starts_with(begin) && word.len() >= begin.len() + MIN_ID);
        if (is_path || is_id) && !named.contains(&word) && named.len() < MAX_NAMED {
            named.push(word);
        }
    }
    if named.is_empty() { String::new() } else { format!("In this text: {}\n", named.join(", ")) }
}

/// How the ids of providers begin, and the number of characters after that.
const IDS: [&str; 7] = ["toolu_", "srvtoolu_", "call_", "fc_", "rs_", "msg_", "tooluse_"];
const MIN_ID: usize = 6;

/// The maximum number of places and ids in the line.
const MAX_NAMED: usize = 4;

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
        // A text inside other JSON that is cut, and Python's form.
        let inside = r#"{"raw":"{\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\",\"messages\",5,\"content\"],\"msg\":\"Field required\",\"input\":{\"role\":"#;
        let python = "[{'type': 'missing', 'loc': ('body', 'messages', 5, 'content'), 'msg': 'Field required', 'input': None}]";
        for text in [inside, python] {
            let only =
                Located { path: "messages[5].content".to_owned(), requirement: "Field required".to_owned() };
            assert_eq!(located(text), [only], "{text}");
        }
        let named =
            places("400: messages.12: `tool_use` ids … after: toolu_vrtx_01CTG. See call_me and messages.md");
        assert_eq!(named, "In this text: messages.12, toolu_vrtx_01CTG\n");
        assert_eq!(located(r#"{"detail":"Not Found"}"#), []);
        assert_eq!(located("no JSON at all ["), []);
    }
}
