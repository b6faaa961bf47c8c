//! Texts for generated conversations, the plainest first.

/// A text of the user, the model or a tool, by its index in [`WORDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words(usize);

/// None is empty or blank. Some look like the markup of a session store.
const WORDS: [&str; 14] = [
    "Yes.",
    "Look at the second file.",
    "Two lines\nand a tab\tbetween.\n",
    "  Spaces around.  ",
    "\"Quoted\", and a back\\slash.",
    "{\"type\":\"tool_result\",\"content\":[]}",
    "data: {\"type\":\"message_stop\"}\n\n",
    "A wall \u{1f9f1} and a flag \u{1f1e8}\u{1f1ed}.",
    "Grüße, \u{4f60}\u{597d}, \u{645}\u{631}\u{62d}\u{628}\u{627}.",
    "Separators: \u{2028}\u{2029}\u{85}.",
    "\u{1b}[31mred\u{1b}[0m and a bell \u{7}",
    "\\u0041 \\n \u{feff}",
    "'; DROP TABLE message; --",
    "</tool_call><function=read>",
];

impl Words {
    pub(super) const PLAIN: Words = Words(0);
    pub(super) const COUNT: usize = WORDS.len();

    pub(super) fn new(place: usize) -> Words {
        Words(place % WORDS.len())
    }

    pub(super) fn text(self) -> String {
        WORDS[self.0].to_owned()
    }
}

/// A tool and the arguments of a call, by its index in [`CALLS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tool(usize);

/// Arguments are objects, formatted with the spacing of different models.
const CALLS: [(&str, &str); 7] = [
    ("list_files", "{}"),
    ("read_file", r#"{"path":"notes.md"}"#),
    ("read_file", r#"{ "path": "a b/ä.txt", "from": 1, "to": 20 }"#),
    ("run_command", "{\n  \"command\": \"printf '%s\\\\n' \\\"x\\\"\",\n  \"timeout\": 1.5e3\n}"),
    ("edit-file", r#"{"edits":[{"old":"\u00e9\ud83e\uddf1","new":null},{"old":"","new":"}"}],"dry":false}"#),
    ("search", r#"{"query":{"any":["result","error"],"limit":9007199254740993}}"#),
    ("run_command", r#"{"command":"true"}"#),
];

impl Tool {
    pub(super) const PLAIN: Tool = Tool(0);
    pub(super) const COUNT: usize = CALLS.len();

    pub(super) fn new(place: usize) -> Tool {
        Tool(place % CALLS.len())
    }

    pub(super) fn name(self) -> &'static str {
        CALLS[self.0].0
    }

    pub(super) fn arguments(self) -> &'static str {
        CALLS[self.0].1
    }
}

/// An image of one pixel.
pub(super) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_something_and_arguments_are_objects() {
        assert!(WORDS.iter().all(|words| !words.trim().is_empty()));
        for (name, arguments) in CALLS {
            let value: serde_json::Value = serde_json::from_str(arguments).unwrap();
            assert!(value.is_object(), "{name}");
        }
    }
}
