//! The next step for a file that no known product wrote: how its messages become a list that `brickbat check` judges.

use brickbat_rules::json::{Document, Json};

use crate::Files;
use crate::json::lines;

/// Fields that name the speaker of a message, by how clearly they do.
const ROLES: [&str; 8] = ["role", "type", "sender", "author", "from", "speaker", "kind", "is_user"];

/// Fields with the words of a message.
const WORDS: [&str; 8] = ["content", "text", "message", "parts", "body", "value", "mes", "data"];

/// Fields with calls, and with the call of a result.
const CALLS: [&str; 3] = ["tool_calls", "toolCalls", "calls"];
const ANSWERS: [&str; 3] = ["tool_call_id", "toolCallId", "call_id"];

/// The depth of the search for a list of messages.
const MAX_DEPTH: usize = 6;

/// The number of fields or items that are examined in each value.
const MAX_FIELDS: usize = 64;

/// The next step for a file that no known product wrote, as lines. It names no content of the file, and no field but those of
/// the lists above.
pub fn next_step(files: &Files, name: &str) -> String {
    let name = quoted(name);
    let take = take(files, &name);
    format!(
        "\n  To judge its messages, bring them into one list in a form that `brickbat check` knows, such as:\n    \
         {take} > messages.json\n    brickbat check --dialect openai-chat messages.json\n  \
         There, a message has a `role` and its text as `content`, a call an `id`, a name and arguments in `tool_calls`, and a \
         result is a message of the role `tool` with `tool_call_id`."
    )
}

/// The command that takes the messages out.
fn take(files: &Files, name: &str) -> String {
    let bytes = files.main();
    if bytes.starts_with(b"SQLite format 3") {
        return format!("sqlite3 -json {name} 'SELECT role, content FROM messages ORDER BY id'");
    }
    if let Ok(document) = Document::parse(bytes) {
        let root = document.root();
        return match messages(root, "", MAX_DEPTH) {
            Some((at, list)) => command("jq", name, &format!("{at}[]"), list.items().next()),
            None => command("jq", name, ".messages[]", None),
        };
    }
    let first = lines(bytes).find_map(|line| Document::parse(line.bytes).ok());
    match &first {
        Some(first) if first.root().is_object() => command("jq -s", name, ".[]", Some(first.root())),
        _ => command("jq", name, ".messages[]", None),
    }
}

/// A command of jq that makes a list of the records at a path.
fn command(jq: &str, name: &str, records: &str, first: Option<Json<'_, '_>>) -> String {
    let field = |names: &[&'static str], own: &str| {
        let found = names.iter().find(|name| first.is_some_and(|first| first.get(name).is_some()));
        match found {
            Some(found) if *found != own => format!("{own}: .{found}"),
            _ => own.to_owned(),
        }
    };
    let fields = [
        field(&ROLES, "role"),
        field(&WORDS, "content"),
        field(&CALLS, "tool_calls"),
        field(&ANSWERS, "tool_call_id"),
    ];
    let dot = if records.starts_with('.') { "" } else { "." };
    format!("{jq} '[{dot}{records} | {{{}}} | del(..|nulls)]' {name}", fields.join(", "))
}

/// The first list of objects with a speaker or words, and the path to it.
fn messages<'t, 'a>(value: Json<'t, 'a>, at: &str, depth: usize) -> Option<(String, Json<'t, 'a>)> {
    let is_message = |item: Json<'_, '_>| {
        let has = |names: &[&str]| names.iter().any(|name| item.get(name).is_some());
        has(&ROLES) && (has(&WORDS) || has(&CALLS))
    };
    let first = value.items().next();
    if value.is_array() && first.is_some_and(is_message) {
        return Some((at.to_owned(), value));
    }
    if depth == 0 {
        return None;
    }
    // Only fields with a name that says nothing about the user are shown.
    let below = value.fields().take(MAX_FIELDS).filter_map(|(name, field)| {
        let name = name.as_str()?;
        let path = if is_plain(&name) { format!("{at}.{name}") } else { format!("{at}[]") };
        messages(field, &path, depth - 1)
    });
    let mut found: Vec<_> = below.take(1).collect();
    found.pop().or_else(|| messages(first?, &format!("{at}[]"), depth - 1))
}

/// Returns whether a name is one that programs give to a list of messages.
fn is_plain(name: &str) -> bool {
    const NAMES: [&str; 16] = [
        "messages",
        "history",
        "chat",
        "conversation",
        "conversations",
        "thread",
        "threads",
        "session",
        "sessions",
        "items",
        "events",
        "data",
        "state",
        "turns",
        "memory",
        "log",
    ];
    NAMES.contains(&name)
}

/// The name of the file, for a shell.
fn quoted(name: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match name.chars().all(is_safe) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_for(text: &str) -> String {
        take(&Files::one("x", text), "x.json")
    }

    #[test]
    fn the_command_takes_the_list_where_it_is() {
        let own = r#"{"chat":{"turns":[{"sender":"user","text":"Look."}]}}"#;
        let taken = "jq '[.chat.turns[] | {role: .sender, content: .text, tool_calls, tool_call_id} | del(..|nulls)]' x.json";
        assert_eq!(command_for(own), taken);
        let list = r#"[{"role":"user","content":"Look.","toolCalls":[]}]"#;
        let taken =
            "jq '[.[] | {role, content, tool_calls: .toolCalls, tool_call_id} | del(..|nulls)]' x.json";
        assert_eq!(command_for(list), taken);
        let lines = "{\"from\":\"user\",\"value\":\"a\"}\n{\"from\":\"bot\",\"value\":\"b\"}";
        assert!(
            command_for(lines).starts_with("jq -s '[.[] | {role: .from, content: .value,"),
            "{}",
            command_for(lines)
        );
    }

    #[test]
    fn names_of_the_user_are_not_shown() {
        let own = r#"{"Secret project":[{"type":"x","text":"a"}]}"#;
        assert_eq!(command_for(own).split(" | ").next(), Some("jq '[.[][]"));
        assert!(next_step(&Files::one("x", "no JSON"), "it's").contains("'it'\\''s'"));
    }

    #[test]
    fn hostile_files_have_a_step_too() {
        for text in ["", "{}", "[[[[[[[[[]]]]]]]]]", "\u{0}", "SQLite format 3\u{0}"] {
            assert!(command_for(text).contains("x.json"), "{text}");
        }
        assert!(command_for(&"[".repeat(20_000)).contains("x.json"));
    }
}
