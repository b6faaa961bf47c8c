//! Kinds of faults that titles of issues describe in words of their own.
//!
//! A title such as "orphaned `tool_result` after compaction" quotes no sentence of a provider. It names a part of the history
//! and what is wrong with it. Each kind lists the words for both.

use serde::Deserialize;

use super::foreign;
use crate::{Dialect, Rule};

/// A kind of fault: a line of `kinds.jsonl`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    name: String,
    /// Groups of words. A text is about the kind if it has a word of each group. A star stands for any ending.
    groups: Vec<Vec<String>>,
    /// Words of the opposite fault. A text with one of them is not about the kind.
    #[serde(default)]
    unless: Vec<String>,
    /// The rules about it, of all dialects.
    rules: Vec<String>,
    advice: String,
}

impl Kind {
    fn all() -> Vec<Kind> {
        // A test reads every line.
        include_str!("kinds.jsonl").lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// The maximum number of words of a title. A longer text has words of many kinds by chance.
const MAX_WORDS: usize = 45;

/// The maximum number of kinds that a title is about.
const MAX_KINDS: usize = 2;

/// The page about the kinds of faults that a title describes. `None` if it describes none.
pub(super) fn page(text: &str) -> Option<String> {
    let title = Title::of(text)?;
    let mut found: Vec<Kind> = Kind::all();
    found.retain(|kind| title.is_about(kind));
    found.dedup_by(|kind, before| kind.name == before.name);
    found.truncate(MAX_KINDS);
    if found.is_empty() {
        return None;
    }
    let mut page = "No provider's complete sentence is in this text. By its words it is about:\n".to_owned();
    for Kind { name, rules, advice, .. } in found {
        page.push_str(&format!("\n{name}\n  {advice}\n"));
        for rule in title.of_its_dialect(&rules) {
            page.push_str(&format!("    {}  {}\n", rule.id, rule.summary));
        }
    }
    page.push_str("\n`brickbat explain RULE` has the page of a rule, and `brickbat check FILE` judges the request itself.\n");
    Some(page)
}

/// Returns whether a text names a dialect, and none of these rules is of it.
pub(super) fn is_of_other_dialect(text: &str, rules: &[&'static Rule]) -> bool {
    let Some(title) = Title::of(text) else { return false };
    let mut named = SIGNS.iter().filter(|(_, sign)| title.has(sign)).map(|(dialect, _)| dialect).peekable();
    named.peek().is_some() && named.all(|dialect| rules.iter().all(|rule| rule.dialect() != *dialect))
}

/// A title in lower case.
struct Title {
    folded: String,
    /// Its words in Latin letters, with a space before and after each.
    words: String,
}

impl Title {
    fn of(text: &str) -> Option<Title> {
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let folded = text.to_lowercase();
        // Underscores around a word are emphasis.
        let words = folded.split(|c: char| !is_of_word(c)).map(|word| word.trim_matches(['_', '-']));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let (n_words, terms) = (words.len(), foreign::words(text));
        let joined = words.join(" ");
        // The parts of words such as `tool-call` are words, too.
        let parts = joined.replace('-', " ");
        let words = format!(" {joined} {parts} {terms} ");
        (n_words <= MAX_WORDS).then_some(Title { folded, words })
    }

    fn is_about(&self, kind: &Kind) -> bool {
        let is_opposite = kind.unless.iter().any(|word| self.has(word));
        !is_opposite && kind.groups.iter().all(|group| group.iter().any(|word| self.has(word)))
    }

    fn has(&self, word: &str) -> bool {
        // Text in other scripts has no spaces.
        if !word.is_ascii() {
            return self.folded.contains(word);
        }
        match word.strip_suffix('*') {
            Some(begin) => self.words.contains(&format!(" {begin}")),
            None => self.words.contains(&format!(" {word} ")),
        }
    }

    /// The rules of the dialects with a sign in the title, or all.
    fn of_its_dialect(&self, rules: &[String]) -> Vec<&'static Rule> {
        let rules: Vec<&'static Rule> = rules.iter().filter_map(|id| Rule::find(id)).collect();
        let is_meant = |dialect: Dialect| SIGNS.iter().any(|(own, sign)| *own == dialect && self.has(sign));
        let meant: Vec<&'static Rule> =
            rules.iter().copied().filter(|rule| is_meant(rule.dialect())).collect();
        if meant.is_empty() { rules } else { meant }
    }
}

/// Words that name an API.
const SIGNS: [(Dialect, &str); 37] = [
    (Dialect::AnthropicMessages, "anthropic*"),
    (Dialect::AnthropicMessages, "claude*"),
    (Dialect::AnthropicMessages, "tool_use"),
    (Dialect::AnthropicMessages, "tool_result"),
    (Dialect::AnthropicMessages, "opus*"),
    (Dialect::AnthropicMessages, "sonnet*"),
    (Dialect::OpenaiChat, "tool_calls"),
    (Dialect::OpenaiChat, "tool_call_id"),
    (Dialect::OpenaiChat, "toolmessage"),
    (Dialect::OpenaiChat, "reasoning_content"),
    (Dialect::OpenaiChat, "deepseek*"),
    (Dialect::OpenaiChat, "openai*"),
    (Dialect::OpenaiChat, "kimi*"),
    (Dialect::OpenaiChat, "glm*"),
    (Dialect::OpenaiChat, "qwen*"),
    (Dialect::OpenaiChat, "groq*"),
    (Dialect::OpenaiChat, "vllm*"),
    (Dialect::OpenaiChat, "jinja*"),
    (Dialect::OpenaiChat, "cerebras*"),
    (Dialect::OpenaiChat, "mimo*"),
    (Dialect::OpenaiChat, "moonshot*"),
    (Dialect::OpenaiResponses, "reasoning item*"),
    (Dialect::OpenaiResponses, "function_call_output"),
    (Dialect::OpenaiResponses, "responses api"),
    (Dialect::OpenaiResponses, "codex*"),
    (Dialect::OpenaiResponses, "call_id"),
    (Dialect::Gemini, "gemini*"),
    (Dialect::Gemini, "vertex*"),
    (Dialect::Gemini, "thought_signature*"),
    (Dialect::Gemini, "thoughtsignature*"),
    (Dialect::Gemini, "functioncall"),
    (Dialect::Gemini, "functionresponse"),
    (Dialect::BedrockConverse, "bedrock*"),
    (Dialect::BedrockConverse, "converse*"),
    (Dialect::BedrockConverse, "toolconfig"),
    (Dialect::Mistral, "mistral*"),
    (Dialect::Mistral, "devstral*"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_a_kind_exists() {
        let kinds = Kind::all();
        assert_eq!(kinds.len(), include_str!("kinds.jsonl").lines().count());
        for id in kinds.iter().flat_map(|kind| &kind.rules) {
            assert!(Rule::find(id).is_some(), "{id}");
        }
    }

    #[test]
    fn a_title_in_words_of_its_own_leads_to_its_kind() {
        for (title, rule) in [
            // https://github.com/spring-projects/spring-ai/issues/5940
            (
                "MessageWindowChatMemory truncation breaks tool_use/tool_result pairs (Anthropic 400)",
                "anthropic-messages/tool-result-orphan",
            ),
            // https://github.com/eclipse-theia/theia/issues/17104
            ("Strict role alteration requirement by jinja template", "openai-chat/successive-roles"),
            (
                "Duplicate or empty tool_use ids are not deduplicated and can wedge an Anthropic-protocol session",
                "anthropic-messages/tool-use-id-duplicate",
            ),
            // https://github.com/openclaw/openclaw/issues/120596
            (
                "Thinking blocks persisted without signatures permanently wedge any think-enabled session",
                "anthropic-messages/thinking-field-required",
            ),
            (
                "Context assembler can emit a 'tool' message with no preceding 'tool_calls' carrier (HTTP 400 from OpenAI/Azure)",
                "openai-chat/tool-message-orphan",
            ),
            ("two assistant messages at end of list", "openai-chat/successive-roles"),
            // https://github.com/cc-switch/cc-switch/issues/4464
            (
                "统一 Codex 会话历史数据迁移引起全部历史会话encrypted_content解密失败",
                "openai-responses/encrypted-content-foreign",
            ),
            (
                "任务会话把「截断的 tool call」写入历史后，每次点「继续」都被上游 400 拒绝并静默回到待审阅",
                "openai-chat/arguments-not-json",
            ),
            (
                "Orphaned tool_result after compaction bricks the session",
                "anthropic-messages/tool-result-orphan",
            ),
            ("Interrupted tool call leaves session permanently broken on Gemini", "gemini/response-missing"),
            (
                "Kimi: reasoning_content dropped on replay, every later turn is a 400",
                "openai-chat/reasoning-content-not-returned",
            ),
        ] {
            let page = page(title).unwrap_or_default();
            assert!(page.contains(rule), "{title}: {page}");
        }
    }

    #[test]
    fn a_title_about_something_else_describes_no_kind() {
        for title in [
            "",
            "Something went wrong.",
            "The agent stops after the first tool call and never returns a message to the user.",
            "Add support for parallel tool calls in the messages API, please.",
            "Error: connect ECONNREFUSED 127.0.0.1:8080",
            "How do I pass a content block with an image to the assistant?",
            "KeyError: 'tool_call_id'",
            "Bug: streaming stops with an unexpected end of input",
            "docker: Error response from daemon: pull access denied for brickbat",
            "The model calls the same function twice with the same arguments",
            "npm ERR! peer dep missing: react@18",
        ] {
            assert_eq!(page(title), None, "{title}");
        }
    }
}
