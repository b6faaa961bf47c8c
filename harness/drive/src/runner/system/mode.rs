//! Selects a system's mode, and checks that the running adapter is the right one.

use super::Subject;
use crate::driver::{About, DriverError, Manifest};
use brickbat_scenario::parse::{did_you_mean, one_of};

/// The selected mode, if the adapter is the expected one: a report must not name a version that did not run.
pub(super) fn mode_of(about: &About, subject: &Subject) -> Result<String, DriverError> {
    let Manifest { sdk, version, .. } = &subject.manifest;
    let mode = subject.mode.clone().or_else(|| about.modes.first().cloned()).unwrap_or_default();
    let is_meant =
        |wanted: &Option<String>, said: &String| wanted.as_ref().is_none_or(|wanted| wanted == said);
    if is_meant(sdk, &about.sdk) && is_meant(version, &about.version) && about.modes.contains(&mode) {
        return Ok(mode);
    }
    let what = match (sdk, version) {
        (Some(sdk), _) if *sdk != about.sdk => {
            let said = &about.sdk;
            format!(
                "the adapter drives `{said}`, and `sdk` of its manifest names `{sdk}`; correct one of them"
            )
        }
        (_, Some(version)) if *version != about.version => format!(
            "the adapter drives version {} of {}, and `versions` of its manifest names {version}; correct one of them",
            about.version, about.sdk
        ),
        _ => {
            let known = did_you_mean(&mode, &about.modes);
            let known = known.or_else(|| one_of("it offers", &about.modes)).unwrap_or_default();
            format!(
                "the adapter offers no mode `{mode}`; {known} Correct `modes` of its manifest, or the adapter"
            )
        }
    };
    Err(DriverError::Misfit { what })
}

#[cfg(test)]
mod tests {
    use super::super::System;
    use super::*;
    use crate::driver::catalogue::ai_sdk;

    fn about(sdk: &str, version: &str) -> About {
        let modes = vec!["ui-messages".to_owned(), "ui-messages-clean".to_owned()];
        About {
            protocol: 1,
            sdk: sdk.to_owned(),
            version: version.to_owned(),
            modes,
            consumers: Vec::new(),
            capabilities: crate::driver::Capabilities::all(),
        }
    }

    #[test]
    fn an_adapter_of_another_version_is_refused() {
        let System::Adapted(subject) = System::named("ai-sdk", &ai_sdk()).unwrap() else { panic!() };
        let version = subject.manifest.version.clone().unwrap();
        assert_eq!(mode_of(&about("ai", &version), &subject), Ok("ui-messages".to_owned()));
        assert!(mode_of(&about("ai", "9.9.9"), &subject).is_err());
        assert!(mode_of(&about("ia", &version), &subject).is_err());
    }

    #[test]
    fn a_command_accepts_any_name_and_version() {
        let System::Adapted(subject) = System::of_command("node 'my adapter.mjs'", None).unwrap() else {
            panic!()
        };
        assert_eq!(subject.manifest.command, ["node", "my adapter.mjs"]);
        assert_eq!(mode_of(&about("any", "1"), &subject), Ok("ui-messages".to_owned()));
        assert!(System::of_command("node 'adapter", None).is_err());
        assert!(System::of_command(" ", None).is_err());
        let other = System::of_command("node a", Some("of-mine")).unwrap();
        let System::Adapted(subject) = other else { panic!() };
        assert!(mode_of(&about("any", "1"), &subject).is_err());
    }
}
