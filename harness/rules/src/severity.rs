//! The two severities of a violation.

/// How serious a violation is for a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The provider rejects the request.
    Error,
    /// The provider of this profile accepts the request, but older or stricter providers reject it. For a
    /// stream: the provider does not send it, but compatible providers do, or readers are known to handle
    /// it.
    Warning,
}

impl Severity {
    /// Returns the word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}
