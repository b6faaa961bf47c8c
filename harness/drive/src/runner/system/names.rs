//! A system's names in reports, and the command-line options that select it again.

use std::path::Path;

use super::{Origin, Subject, System};
use crate::driver::catalogue::SHEET;
use crate::runner::quoted;
use brickbat_engine::agent::Delivery;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::parse::did_you_mean;

/// A file with a similar name, or the manifest in the folder with that name, if there is no file at the path.
pub(super) fn near(path: &Path) -> Option<String> {
    if path.is_dir() {
        let inner = path.join(SHEET);
        return inner.is_file().then(|| format!("did you mean `{}`?", inner.display()));
    }
    if path.exists() {
        return None;
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?.flatten();
    let mut known: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    known.sort();
    did_you_mean(&path.file_name()?.to_string_lossy(), &known)
}

impl System {
    /// The dialects that the system can be configured for.
    pub fn dialects(&self) -> Vec<Dialect> {
        match self {
            System::Adapted(subject) => subject.manifest.dialects_of(subject.mode.as_deref()),
            System::Simulated(_) | System::Live(..) => Dialect::ALL.to_vec(),
        }
    }

    /// The command-line options that select this system, given the full name under which it ran.
    pub fn options(&self, full_name: &str) -> String {
        let System::Adapted(subject) = self else { return format!("--system {full_name}") };
        // Every field is named here, so that a new one is either in the command or left out on purpose.
        let Subject { manifest, mode, origin, patience, mend: _ } = &**subject;
        let pinned = match &manifest.pinned {
            Some(version) => format!(" --sdk-version {version}"),
            None => String::new(),
        };
        let of_mode = mode.as_ref().map(|mode| format!("/{mode}")).unwrap_or_default();
        // If the version of a system is pinned, the manifest may not list it.
        let name =
            if pinned.is_empty() { full_name.to_owned() } else { format!("{}{of_mode}", manifest.name) };
        let options = match origin {
            Origin::BuiltIn | Origin::Own(_) => format!("--system {name}{pinned}"),
            Origin::Manifest(path) => {
                format!("--manifest {} --system {name}{pinned}", quoted(&path.to_string_lossy()))
            }
            Origin::Command(command) => {
                // If a command never answered, even its name is unknown.
                let found = full_name.rsplit('/').next().filter(|_| full_name != command);
                let mode = mode.as_deref().or(found);
                let mode = mode.map(|mode| format!(" --mode {}", quoted(mode))).unwrap_or_default();
                format!("--command {}{mode}", quoted(command))
            }
        };
        let patience = if *patience == 1.0 { String::new() } else { format!(" --patience {patience}") };
        let repair = if subject.mend.is_some() { " --repair" } else { "" };
        format!("{options}{patience}{repair}")
    }

    /// True if a system that ran under that full name may have been this one. The version of some systems is
    /// known only after their start.
    pub fn may_be(&self, full_name: &str) -> bool {
        let of_any_version = |subject: &Subject| {
            let rest = full_name.strip_prefix(&subject.manifest.name).and_then(|rest| rest.strip_prefix('@'));
            rest.and_then(|rest| rest.split_once('/'))
                .is_some_and(|(_, mode)| subject.mode.as_deref() == Some(mode))
        };
        match self {
            System::Adapted(subject) if subject.manifest.version.is_none() => {
                self.name() == full_name || of_any_version(subject)
            }
            known => known.name() == full_name,
        }
    }

    /// The full name, as far as known before the start of the system.
    pub fn name(&self) -> String {
        match self {
            System::Simulated(None) => "reference/simulated".to_owned(),
            System::Live(None, Delivery::Streamed) => "reference".to_owned(),
            System::Live(None, Delivery::Whole) => "reference/blocking".to_owned(),
            System::Simulated(Some(canary)) => format!("canary/{}/simulated", canary.name()),
            System::Live(Some(canary), _) => format!("canary/{}", canary.name()),
            System::Adapted(subject) => match (&subject.origin, &subject.mode) {
                (Origin::Command(command), _) => command.clone(),
                (Origin::Own(None), _) => "reference/acp".to_owned(),
                (Origin::Own(Some(canary)), _) => format!("canary/{}/acp", canary.name()),
                (_, mode) => subject.manifest.full_name(mode.as_deref().unwrap_or_default()),
            },
        }
    }
}

/// A word of a command with a `~/` at its beginning or after `=` expanded to the user's home.
pub(super) fn at_home(word: String) -> String {
    let Some(home) = std::env::home_dir().filter(|home| !home.as_os_str().is_empty()) else { return word };
    let (option, path) = match word.split_once("=~/") {
        Some((option, path)) => (format!("{option}="), Some(path)),
        None => (String::new(), word.strip_prefix("~/")),
    };
    match path {
        Some(path) => format!("{option}{}", home.join(path).to_string_lossy()),
        None => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::catalogue::ai_sdk;

    #[test]
    fn the_options_select_the_same_system_again() {
        let built_in = System::named("ai-sdk@6/ui-messages-clean", &ai_sdk()).unwrap();
        assert_eq!(built_in.options(&built_in.name()), "--system ai-sdk@6.0.326/ui-messages-clean");
        let repairing = built_in.clone().with_mend(crate::runner::Mend(std::sync::Arc::new(|_| ())));
        let options = "--system ai-sdk@6.0.326/ui-messages-clean --repair";
        assert_eq!(
            repairing.options(&built_in.name()),
            options,
            "the command that runs it again repairs, too"
        );
        let patient = built_in.clone().with_patience(2.5);
        let options = "--system ai-sdk@6.0.326/ui-messages-clean --patience 2.5";
        assert_eq!(patient.options(&built_in.name()), options, "the same waits apply again");
        let pinned = built_in.with_sdk_version("6.0.1").unwrap();
        let options = "--system ai-sdk/ui-messages-clean --sdk-version 6.0.1";
        assert_eq!(pinned.options("ai-sdk@6.0.1/ui-messages-clean"), options);
        assert!(System::named("reference", &ai_sdk()).unwrap().with_sdk_version("1").is_err());
        let command = System::of_command("sh a.sh", None).unwrap();
        assert_eq!(command.options("sh@1/m"), "--command 'sh a.sh' --mode m");
        // It may never have reported its name.
        let broken = System::of_command("sh b/a.sh", None).unwrap();
        assert_eq!(broken.options(&broken.name()), "--command 'sh b/a.sh'");
        let broken = System::of_command("sh b/a.sh", Some("m")).unwrap();
        assert_eq!(broken.options(&broken.name()), "--command 'sh b/a.sh' --mode m");
        assert!(System::named("ai-sdk", &ai_sdk()).unwrap().with_sdk_version(" ").is_err());
    }

    #[test]
    fn a_system_with_an_open_version_matches_any_version() {
        let open =
            System::named("ai-sdk/ui-messages", &ai_sdk()).unwrap().with_sdk_version("latest").unwrap();
        assert!(open.may_be("ai-sdk@9.0.1/ui-messages"));
        assert!(!open.may_be("ai-sdk@9.0.1/ui-messages-clean"));
        assert!(!open.may_be("opencode@9.0.1/ui-messages"));
        let known = System::named("ai-sdk@6/ui-messages", &ai_sdk()).unwrap();
        assert!(known.may_be("ai-sdk@6.0.326/ui-messages") && !known.may_be("ai-sdk@5.0.0/ui-messages"));
    }

    #[test]
    fn a_tilde_in_a_command_means_the_users_home() {
        let home = std::env::home_dir().unwrap();
        let System::Adapted(subject) = System::of_command("sh '~/a b.sh' --x=~/c ~", None).unwrap() else {
            panic!()
        };
        let at_home = |word: &str| home.join(word).to_string_lossy().into_owned();
        let words = ["sh".to_owned(), at_home("a b.sh"), format!("--x={}", at_home("c")), "~".to_owned()];
        assert_eq!(subject.manifest.command, words);
    }
}
