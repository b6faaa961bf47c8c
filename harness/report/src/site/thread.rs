//! The public report of a cause, as a link.

use super::StoredCause;
use crate::report::html::escaped;

/// The public report with its state, or a remark that there is none.
pub(super) fn words(cause: &StoredCause) -> String {
    let Some(thread) = &cause.thread else { return "not reported".to_owned() };
    let shown = escaped(thread);
    let link = match address(thread) {
        Some(address) => format!("<a href=\"{}\">{shown}</a>", escaped(&address)),
        None => shown,
    };
    match &cause.state {
        Some(state) => format!("{link}, {}", escaped(state)),
        None => link,
    }
}

/// The address of a report on the web: an address with HTTP, or `owner/repository#number` at GitHub.
pub(super) fn address(thread: &str) -> Option<String> {
    let is_graphic = thread.bytes().all(|byte| byte.is_ascii_graphic());
    if (thread.starts_with("https://") || thread.starts_with("http://")) && is_graphic {
        return Some(thread.to_owned());
    }
    let (repository, number) = thread.split_once('#')?;
    let (owner, name) = repository.split_once('/')?;
    let is_name = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_report = is_name(owner) && is_name(name) && is_number;
    is_report.then(|| format!("https://github.com/{owner}/{name}/issues/{number}"))
}
