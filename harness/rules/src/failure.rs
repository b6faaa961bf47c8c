//! The words of a tool result that admits a failure.

/// Words that admit a failure in every result, in lower case.
pub const FAILURE: &[&str] = &[
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
