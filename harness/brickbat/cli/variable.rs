//! Options of the form `NAME=VALUE`.

/// Splits a word at its first `=`.
pub(super) fn parse(word: &str) -> Result<(String, String), NoVariable> {
    let (name, value) = word.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(NoVariable)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The word has no `=`, or nothing before it.
#[derive(Debug, thiserror::Error)]
#[error("expected NAME=VALUE")]
pub(super) struct NoVariable;
