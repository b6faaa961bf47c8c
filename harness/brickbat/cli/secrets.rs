//! The secrets to redact, collected once from the environment.

use std::sync::OnceLock;

use brickbat_rules::redact::{Redactor, is_credential_variable};

/// Removes the values of variables that look like credentials, keys of known shapes, and the path of the user's home
/// directory.
pub(super) fn redactor() -> &'static Redactor {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    REDACTOR.get_or_init(|| {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        let secrets: Vec<String> =
            variables.filter(|(name, _)| is_credential_variable(name)).map(|(_, value)| value).collect();
        let home = std::env::home_dir().map(|home| home.to_string_lossy().into_owned());
        Redactor::new(secrets.iter().map(String::as_str), home.as_deref())
    })
}

/// Replaces the `~` in a run folder's path with the user's home directory.
pub(super) fn with_home(path: &str) -> String {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(below), Some(home)) => home.join(below).to_string_lossy().into_owned(),
        _ => path.to_owned(),
    }
}
