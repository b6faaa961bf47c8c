//! The environment variables for a system: no proxies, no credentials, and its own home.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::scratch;
use brickbat_rules::redact::is_credential_variable;

/// Sets a system's environment. With `folder`, its home and its temporary files are in that folder.
pub(super) fn set(command: &mut Command, folder: Option<&Path>) {
    for name in std::env::vars_os().map(|(name, _)| name).filter(is_withheld) {
        command.env_remove(name);
    }
    // A proxy in the system's own settings must not intercept the requests to our provider.
    command.env("NO_PROXY", OWN_HOSTS).env("no_proxy", OWN_HOSTS);
    let Some(folder) = folder else { return };
    let home = scratch::home(folder);
    for (name, place) in XDG {
        command.env(name, home.join(place));
    }
    command.env("TMPDIR", scratch::temporary(folder));
    if let Some(real) = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from) {
        for (name, place) in TOOLCHAINS {
            if std::env::var_os(name).is_none() && real.join(place).is_dir() {
                command.env(name, real.join(place));
            }
        }
    }
    command.env("HOME", home);
}

/// The addresses that the provider listens on.
const OWN_HOSTS: &str = "127.0.0.1,localhost";

/// The XDG folders and their paths in a home.
const XDG: [(&str, &str); 4] = [
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// Variables that lead a version switcher or an interpreter back to the installations in the real home.
/// Without them, `node`, `python` or `cargo` may be a link to a program that finds nothing in the other home.
const TOOLCHAINS: [(&str, &str); 7] = [
    ("ASDF_DATA_DIR", ".asdf"),
    ("CARGO_HOME", ".cargo"),
    ("MISE_DATA_DIR", ".local/share/mise"),
    ("PYENV_ROOT", ".pyenv"),
    ("PYTHONUSERBASE", ".local"),
    ("RUSTUP_HOME", ".rustup"),
    ("VOLTA_HOME", ".volta"),
];

/// True if a variable is withheld from systems. A proxy would intercept the SDK's requests, a base URL would
/// send them elsewhere, and a harness has no use for credentials.
fn is_withheld(name: &OsString) -> bool {
    // `NO_PROXY` is set above.
    const ENDINGS: [&str; 6] = ["_PROXY", "_BASE_URL", "_API_BASE", "_API_URL", "_API_HOST", "_ENDPOINT"];
    // Any variable of a provider or its cloud can change the server and the account that an SDK uses, and
    // observability tools forward what they see.
    const BEGINNINGS: &str = "ANTHROPIC_ AWS_ AZURE_ CLAUDE_ CODEX_ DEEPSEEK_ GEMINI_ GOOGLE_ GROQ_ LANGCHAIN_ LANGFUSE_ \
                              LANGSMITH_ MISTRAL_ MOONSHOT_ OPENAI_ OPENROUTER_ OTEL_ VERTEX_ XAI_";
    const NAMES: [&str; 12] = [
        // Other programs would hand out keys and passwords through these.
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_CONFIG",
        "GIT_ASKPASS",
        "GPG_AGENT_INFO",
        "KUBECONFIG",
        "NETRC",
        "PGPASSFILE",
        "SSH_ASKPASS",
        "SSH_AUTH_SOCK",
        // These change what runs inside the adapter.
        "NODE_OPTIONS",
        "NODE_USE_ENV_PROXY",
        "PYTHONSTARTUP",
    ];
    let name = name.to_string_lossy().to_ascii_uppercase();
    let is_npm_login = name.starts_with("NPM_CONFIG_") && name.contains("AUTH");
    NAMES.contains(&name.as_str())
        || is_npm_login
        || is_credential_variable(&name)
        || BEGINNINGS.split(' ').any(|beginning| name.starts_with(beginning))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict_server::variables::VARIABLES;

    /// A vendor with a base URL also has other variables, such as its model.
    #[test]
    fn every_variable_of_a_vendor_is_withheld() {
        for variable in VARIABLES {
            let vendor = variable.name.split('_').next().unwrap_or_default();
            assert!(is_withheld(&format!("{vendor}_MODEL").into()), "{vendor}");
        }
    }

    #[test]
    fn proxies_and_credentials_are_withheld() {
        let names = "http_proxy HTTPS_PROXY npm_config_https_proxy ANTHROPIC_API_KEY ANTHROPIC_MODEL GH_TOKEN \
                     NODE_OPTIONS AWS_PROFILE GOOGLE_APPLICATION_CREDENTIALS AZURE_TENANT_ID \
                     npm_config_//registry.example/:_authToken npm_config__auth SSH_AUTH_SOCK";
        for name in names.split(' ') {
            assert!(is_withheld(&name.into()), "{name}");
        }
        let kept =
            "PATH HOME LANG NODE_PATH VIRTUAL_ENV TOKENIZERS_PARALLELISM npm_config_cache BRICKBAT_CACHE";
        for name in kept.split(' ') {
            assert!(!is_withheld(&name.into()), "{name}");
        }
    }

    #[test]
    fn the_home_of_a_system_is_in_the_folder_of_the_run() {
        let mut command = Command::new("true");
        set(&mut command, Some(Path::new("/run-folder")));
        let set: Vec<_> = command.as_std().get_envs().collect();
        for (name, value) in [
            ("HOME", "/run-folder/home"),
            ("XDG_CONFIG_HOME", "/run-folder/home/.config"),
            ("TMPDIR", "/run-folder/tmp"),
            ("NO_PROXY", OWN_HOSTS),
        ] {
            assert!(set.contains(&(name.as_ref(), Some(value.as_ref()))), "{name} is not {value}");
        }
    }
}
