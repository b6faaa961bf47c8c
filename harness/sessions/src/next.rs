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

/// The first bytes of compressed files, and the command that unpacks them: gzip (RFC 1952), Zstandard (RFC 8878).
const PACKED: [(&[u8], &str); 2] = [(&[0x1f, 0x8b], "gzip -dc"), (&[0x28, 0xb5, 0x2f, 0xfd], "zstd -dc")];

/// The next step for a file that no known product wrote, as lines. It names no content of the file, and no field but those of
/// the lists above.
pub fn next_step(files: &Files, name: &str) -> String {
    let name = quoted(name);
    if let Some((_, unpack)) = PACKED.iter().find(|(magic, _)| files.main().starts_with(magic)) {
        return format!(
            "\n  It is compressed. Unpack it first:\n    {unpack} {name} > unpacked.jsonl\n    brickbat session unpacked.jsonl"
        );
    }
    let take = take(files, &name);
    format!(
        "\n  To judge its messages, bring them into one list in a form that `brickbat check` knows, such as:\n    \
         {take} > messages.json\n    brickbat check messages.json\n  \
         If it does not show its dialect, add `--dialect openai-chat`. There, a message has a `role` and its text as `content`, a call an `id`, a name and arguments in `tool_calls`, and a \
         result is a message of the role `tool` with `tool_call_id`."
    )
}

/// The command that takes the messages out.
fn take(files: &Files, name: &str) -> String {
    let bytes = files.main();
    if bytes.starts_with(b"SQLite format 3") {
        return format!("sqlite3 -json {name} '{}'", query(bytes));
    }
    if let Ok(document) = Document::parse(bytes) {
        let root = document.root();
        return match messages(root, "", MAX_DEPTH) {
            // Below names that are not shown there may be other values.
            Some((at, list)) if at.contains("[]") => {
                command("jq", name, &format!("{at}[]? | objects"), list.items().next())
            }
            Some((at, list)) => command("jq", name, &format!("{at}[]"), list.items().next()),
            None => command("jq", name, ".PATH[]", None),
        };
    }
    let first = lines(bytes).find_map(|line| Document::parse(line.bytes).ok());
    match &first {
        Some(first) if first.root().is_object() => command("jq -s", name, ".[]", Some(first.root())),
        _ => command("jq", name, ".PATH[]", None),
    }
}

/// The number of bytes of a database that are searched for its tables.
const MAX_SEARCHED: usize = 1 << 20;

/// The query for the messages in a database: of the first table with a role and a text, or with a text. The file has the
/// statements that made its tables (<https://www.sqlite.org/fileformat2.html#storage_of_the_sql_database_schema>).
fn query(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SEARCHED)]);
    let tables: Vec<(&str, Vec<&str>)> = text.split("CREATE TABLE ").skip(1).filter_map(table).collect();
    let column =
        |columns: &[&str], names: &[&'static str]| names.iter().copied().find(|name| columns.contains(name));
    let both = tables.iter().find_map(|(name, columns)| {
        Some(format!("SELECT {}, {} FROM {name}", column(columns, &ROLES)?, column(columns, &WORDS)?))
    });
    // A name that says more comes first.
    let words = || {
        WORDS.iter().find_map(|word| {
            let (name, _) = tables.iter().find(|(_, columns)| columns.contains(word))?;
            Some(format!("SELECT {word} FROM {name}"))
        })
    };
    both.or_else(words).unwrap_or_else(|| "SELECT role, content FROM TABLE".to_owned())
}

/// The name of a table and the names of its columns, from the statement behind `CREATE TABLE`.
fn table(statement: &str) -> Option<(&str, Vec<&str>)> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let bare = |name: &'_ str| name.len() <= 64 && !name.is_empty() && name.chars().all(is_of_name);
    let (name, columns) = statement.split_once('(')?;
    let name = name.trim().trim_matches(['"', '`', '[', ']', '\'']);
    let columns = columns.split([',', ')']).filter_map(|column| {
        let word = column.split_whitespace().next()?.trim_matches(['"', '`', '[', ']', '\'']);
        bare(word).then_some(word)
    });
    bare(name).then(|| (name, columns.collect()))
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
        let path = if is_plain(&name) { format!("{at}.{name}") } else { format!("{at}[]?") };
        messages(field, &path, depth - 1)
    });
    let mut found: Vec<_> = below.take(1).collect();
    found.pop().or_else(|| messages(first?, &format!("{at}[]?"), depth - 1))
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
    fn a_compressed_file_is_unpacked_first() {
        let packed = Files::one("x", [0x28, 0xb5, 0x2f, 0xfd, 0]);
        let step = next_step(&packed, "session.jsonl.zstd");
        assert!(
            step.contains("zstd -dc session.jsonl.zstd > unpacked.jsonl") && !step.contains("jq"),
            "{step}"
        );
    }

    #[test]
    fn names_of_the_user_are_not_shown() {
        let own = r#"{"Secret project":[{"type":"x","text":"a"}]}"#;
        assert_eq!(command_for(own).split(" | ").next(), Some("jq '[.[]?[]?"));
        assert!(next_step(&Files::one("x", "no JSON"), "it's").contains("'it'\\''s'"));
    }

    #[test]
    fn a_database_is_asked_for_a_table_that_it_has() {
        let of = |schema: &str| command_for(&format!("SQLite format 3\u{0}\u{1}{schema}\u{2}"));
        let chats = "CREATE TABLE users (id INTEGER, name TEXT)\u{3}CREATE TABLE \"chat_lines\" (\n  id INTEGER PRIMARY KEY, role TEXT, \"content\" TEXT)";
        assert_eq!(of(chats), "sqlite3 -json x.json 'SELECT role, content FROM chat_lines'");
        let one = "CREATE TABLE conversations (id VARCHAR(36), content JSON)";
        assert_eq!(of(one), "sqlite3 -json x.json 'SELECT content FROM conversations'");
        assert_eq!(of("CREATE TABLE a; DROP"), "sqlite3 -json x.json 'SELECT role, content FROM TABLE'");
    }

    #[test]
    fn hostile_files_have_a_step_too() {
        for text in ["", "{}", "[[[[[[[[[]]]]]]]]]", "\u{0}", "SQLite format 3\u{0}"] {
            assert!(command_for(text).contains("x.json"), "{text}");
        }
        assert!(command_for(&"[".repeat(20_000)).contains("x.json"));
    }
}
