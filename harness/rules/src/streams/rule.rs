//! The requirements for a stream, as a table.

use crate::{Dialect, Severity};

/// The source of the rules about lines and events.
pub(crate) const SSE: &str = "https://html.spec.whatwg.org/multipage/server-sent-events.html";

/// One requirement of a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRule {
    /// The stable id, for example `anthropic-messages/stream/block-not-started`.
    pub id: &'static str,
    /// The dialect, with which the id begins.
    pub(crate) dialect: Dialect,
    /// How serious a violation is.
    pub severity: Severity,
    /// The requirement, on one line.
    pub summary: &'static str,
    /// The URL of the documentation or a real stream that demonstrates it.
    pub source: &'static str,
}

impl StreamRule {
    /// Returns every rule, grouped by dialect.
    pub fn all() -> impl Iterator<Item = &'static StreamRule> {
        Dialect::ALL.into_iter().flat_map(StreamRule::of)
    }

    /// Returns the rules of one dialect.
    pub fn of(dialect: Dialect) -> impl Iterator<Item = &'static StreamRule> {
        dialect.definition().stream_rules.iter().copied()
    }

    /// Returns the rules with this id, or with this id without its dialect (`stream/truncated`,
    /// `truncated`). Each dialect may have one of the latter.
    pub fn named(word: &str) -> Vec<&'static StreamRule> {
        let is_meant = |rule: &&StreamRule| {
            let name = rule.short_name();
            [rule.id, name].contains(&word) || word.strip_prefix("stream/") == Some(name)
        };
        StreamRule::all().filter(is_meant).collect()
    }

    /// Returns the last part of the id.
    pub fn short_name(&self) -> &'static str {
        self.id.rsplit('/').next().unwrap_or(self.id)
    }

    /// Returns the dialect of the rule.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the rule with this id.
    pub fn find(id: &str) -> Option<&'static StreamRule> {
        StreamRule::all().find(|rule| rule.id == id)
    }
}

pub(crate) const fn error(id: &'static str, summary: &'static str, source: &'static str) -> StreamRule {
    StreamRule { id, dialect: Dialect::of_rule(id), severity: Severity::Error, summary, source }
}

pub(crate) const fn warning(id: &'static str, summary: &'static str, source: &'static str) -> StreamRule {
    StreamRule { id, dialect: Dialect::of_rule(id), severity: Severity::Warning, summary, source }
}

/// Declares the stream rules of a dialect: a static for each, and the list `RULES` in this order.
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
