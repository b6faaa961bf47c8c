//! The requirements that a stream must meet, as a table.

use crate::{Dialect, Severity};

/// What the rules about lines and events rest on.
pub(crate) const SSE: &str = "https://html.spec.whatwg.org/multipage/server-sent-events.html";

/// One requirement of a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRule {
    /// The stable name, for example `anthropic-messages/stream/block-not-started`.
    pub id: &'static str,
    /// What a violation means.
    pub severity: Severity,
    /// The requirement in one line.
    pub summary: &'static str,
    /// The address of the documentation, or of a real stream, that shows it.
    pub source: &'static str,
}

impl StreamRule {
    /// Every rule, dialect by dialect.
    pub fn all() -> impl Iterator<Item = &'static StreamRule> {
        Dialect::ALL.into_iter().flat_map(StreamRule::of)
    }

    /// The rules of one dialect.
    pub fn of(dialect: Dialect) -> impl Iterator<Item = &'static StreamRule> {
        dialect.definition().stream_rules.iter().copied()
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

pub(crate) const fn error(id: &'static str, summary: &'static str, source: &'static str) -> StreamRule {
    StreamRule { id, severity: Severity::Error, summary, source }
}

pub(crate) const fn warning(id: &'static str, summary: &'static str, source: &'static str) -> StreamRule {
    StreamRule { id, severity: Severity::Warning, summary, source }
}

/// Declares the stream rules of a dialect, each as a static, and the list `RULES` of them in this order.
macro_rules! stream_rules {
    ($dialect:literal; $($severity:ident $name:ident = $id:literal, $summary:literal, $source:expr;)*) => {
        $(
            pub(crate) static $name: $crate::streams::StreamRule =
                $crate::streams::$severity(concat!($dialect, "/stream/", $id), $summary, $source);
        )*
        pub(crate) static RULES: &[&$crate::streams::StreamRule] = &[$(&$name),*];
    };
}
pub(crate) use stream_rules;
