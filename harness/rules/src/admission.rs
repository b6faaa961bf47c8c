//! Recognises the text of a result that admits that its call failed. Dialects without an error flag have only
//! the text, so one word is enough.

/// The author of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A system that was to run the call.
    System,
    /// A filter that added a result to a history without one.
    Filter,
}

/// Returns whether a text contains a word with which this author admits a failure.
pub fn admits_failure(text: &str, author: Author) -> bool {
    let text = text.to_lowercase();
    let own = match author {
        Author::System => OF_SYSTEMS,
        Author::Filter => OF_FILTERS,
    };
    WORDS.iter().chain(own).any(|word| text.contains(word))
}

/// The words of all authors, in lower case.
const WORDS: &[&str] = &[
    "error",
    "fail",
    "interrupt",
    "abort",
    "cancel",
    "not ",
    "n't",
    "unknown",
    "skip",
    "denied",
    "deny",
    "refus",
    "reject",
    "timeout",
    "timed out",
    "stopped",
    "unavailable",
    "missing",
    "no result",
    "exception",
    "incomplete",
    "never",
];

/// A system parses the arguments before it runs the call, and returns the parser's error. Filters run nothing.
const OF_SYSTEMS: &[&str] = &[
    "invalid",
    // Of `JSON.parse`: "Unexpected end of JSON input", "Expected property name or '}' in JSON at position 1".
    "unexpected",
    "in json at position",
    // Of Semantic Kernel: "The tool call arguments are malformed. Arguments must be in JSON format."
    "malformed",
    // A sub-agent runs once at a time: "Agent 'task' is already processing a request."
    "already processing",
    "already running",
];

/// A filter describes its repair, or the state of the history. From a system, these words leave open whether
/// the call succeeded: its output may be truncated, or it may be pending.
const OF_FILTERS: &[&str] = &[
    "no output",
    "no response",
    "lost",
    "placeholder",
    "synthetic",
    "truncated",
    "unresolved",
    "dropped",
    "omitted",
    "pending",
    "without",
    "no tool",
    "repaired",
    "inserted",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_for_its_author() {
        for (text, of_system, of_filter) in [
            ("Tool execution FAILED.", true, true),
            ("Unexpected end of JSON input", true, false),
            ("Agent 'task' is already processing a request.", true, false),
            ("The tool call arguments are malformed.", true, false),
            ("[result omitted]", false, true),
            ("found a", false, false),
        ] {
            let admitted = [Author::System, Author::Filter].map(|author| admits_failure(text, author));
            assert_eq!(admitted, [of_system, of_filter], "{text}");
        }
    }
}
