//! The requirements that a stream must meet, as a table.

use super::{Grammar, anthropic, bedrock, gemini, mistral, openai, responses};

/// One requirement of a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRule {
    /// The stable name, for example `anthropic-messages/stream/block-not-started`.
    pub id: &'static str,
    /// What a breach means.
    pub severity: Severity,
    /// The requirement in one line.
    pub summary: &'static str,
    /// The address of the documentation, or of a real stream, that shows it.
    pub source: &'static str,
}

/// What a breach means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The provider never sends such a stream.
    Error,
    /// The provider does not send it itself, but its relatives do, or readers are known to survive it.
    Warning,
}

impl Severity {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl StreamRule {
    /// Every rule, grammar by grammar.
    pub fn all() -> impl Iterator<Item = &'static StreamRule> {
        Grammar::ALL.into_iter().flat_map(StreamRule::of)
    }

    /// The rules of one grammar.
    pub fn of(grammar: Grammar) -> impl Iterator<Item = &'static StreamRule> {
        let rules = match grammar {
            Grammar::AnthropicMessages => anthropic::RULES,
            Grammar::OpenaiChat => openai::RULES,
            Grammar::OpenaiResponses => responses::RULES,
            Grammar::Gemini => gemini::RULES,
            Grammar::BedrockConverse => bedrock::RULES,
            Grammar::Mistral => mistral::RULES,
        };
        rules.iter().copied()
    }

    /// The rules that a word means: an id, or one without its dialect (`stream/truncated`, `truncated`), of which each
    /// dialect may have one.
    pub fn named(word: &str) -> Vec<&'static StreamRule> {
        let is_meant = |rule: &&StreamRule| {
            let name = rule.short_name();
            [rule.id, name].contains(&word) || word.strip_prefix("stream/") == Some(name)
        };
        StreamRule::all().filter(is_meant).collect()
    }

    /// The last part of the id.
    pub fn short_name(&self) -> &'static str {
        self.id.rsplit('/').next().unwrap_or(self.id)
    }

    /// The name of the dialect, the first part of the id.
    pub fn dialect(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }

    /// The rule of that id.
    pub fn find(id: &str) -> Option<&'static StreamRule> {
        StreamRule::all().find(|rule| rule.id == id)
    }
}

pub(super) const fn error(id: &'static str, summary: &'static str, source: &'static str) -> StreamRule {
    StreamRule { id, severity: Severity::Error, summary, source }
}

pub(super) const fn warning(id: &'static str, summary: &'static str, source: &'static str) -> StreamRule {
    StreamRule { id, severity: Severity::Warning, summary, source }
}
